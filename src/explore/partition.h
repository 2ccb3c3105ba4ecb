// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Partition: what a fusion of a whole model means in kernels. Equal groups are listed once with the number of places
// they stand at and the times they run: loop bodies count by their trips, a loop of unknown trips counts once and is
// flagged, every branch of a conditional counts.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "codegen/lower/lower.h"
#include "costmodel/model.h"
#include "ir/fusion.h"

namespace tailor::explore {

/// One occurrence of a group in the model.
struct Occurrence {
  std::string where;               ///< path of graph names: "main/while.3.body"
  std::vector<ir::NodeId> nodes;   ///< in the graph of that path
  double times = 0;                ///< runs per run of the model
  std::vector<ir::NodeId> reads;   ///< what the group's parameters are here, in their order
  std::vector<ir::NodeId> writes;  ///< what its outputs are here, in their order
};

struct DistinctGroup {
  ir::Group group;
  codegen::Classified needs;  ///< the skeleton, or what is missing
  std::vector<Occurrence> occurrences;
  double times = 0;  ///< sum over occurrences
  double bytes = 0;  ///< of one run: inputs and outputs once; look-ups and slices what they touch
};

struct LibraryCall {
  std::string name;
  std::string what;  ///< the operation, or a custom call's target
  std::string where;
  std::string shape;            ///< of a product its factors, else of the result: "f32[8,4] x f32[4,2]"
  double bytes = 0, flops = 0;  ///< of one run
  double times = 0;
};

struct Partition {
  std::string strategy;
  std::vector<DistinctGroup> groups;  ///< in order of first appearance
  std::vector<LibraryCall> library;
  std::int64_t kernels = 0;        ///< groups each occurrence counted once
  std::int64_t least_kernels = 0;  ///< no fusion has fewer: chains of work that library calls interrupt
  double launches = 0;             ///< per run, groups only
  double least_launches = 0;       ///< the same bound with loop bodies counted by their trips
  double library_launches = 0;     ///< per run
  double bytes = 0;                ///< per run, groups only
  double library_bytes = 0;
  std::int64_t unknown_trips = 0;  ///< loops counted as one trip
  std::int64_t branches = 0;       ///< bodies of conditionals, each counted as taken
};

/// What the group needs however it is written, with only the touched part of arrays that are looked up, sliced or
/// updated in place: read and written together are `group.bytes`.
costmodel::GroupWork needed_work(const DistinctGroup& group);

/// The path of body `i` of a loop or conditional that stands at `where`: how Occurrence::where spells it.
std::string body_path(const std::string& where, const ir::Node& node, std::size_t i);

/// Precondition: `fusion` was made for `graph`. Throws Error(interrupted) when asked to stop.
Partition partition(const ir::Graph& graph, const ir::Fusion& fusion, const std::stop_token& stop = {});

/// Bytes a group moves when each input and output passes once: an input of which only slices or looked-up elements are
/// read counts those, an array updated in place counts the updates.
double bytes_once(const ir::Graph& group);

/// The longest chain of working nodes with library calls (or control flow) in between, in kernels. Grouping by place in
/// the chain reaches it, so it is the fewest kernels possible. Bodies are not included.
std::int64_t least_kernels(const ir::Graph& graph, const ir::DefUse& def_use);

}  // namespace tailor::explore
