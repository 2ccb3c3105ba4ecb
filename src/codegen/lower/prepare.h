// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What lowering needs to know of a group whatever the plan: computed once per group, read by every plan of it. Which
// skeleton it has, its row reductions and their phases, which values are full (one per row and column), and what later
// phases would need from earlier ones (the frontier that a residence keeps).
//
// A phase is the depth of a reduction in reductions: phase 0 reduces inputs, phase 1 values that need a phase-0 result.
// After the last reduction comes one more phase for the outputs that need it. Sums across rows are of the phase that
// computes what they add up, and count for nobody's depth: what needs them is of no phase.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/indexed.h"
#include "codegen/lower/structure.h"
#include "ir/fusion.h"
#include "ir/graph/gather_numbers.h"
#include "ir/plan.h"

namespace tailor::codegen {

struct Phase {
  std::vector<ir::NodeId> reductions;
  std::vector<ir::NodeId> across;       ///< row: sums across rows of what this phase computes
  std::vector<std::int32_t> outputs;    ///< indices into the group's outputs, stored in this phase
  std::vector<ir::NodeId> kept;         ///< full values that later phases need (the frontier), most computed form
  std::vector<ir::NodeId> kept_inputs;  ///< full parameters that later phases need, directly or through others
};

/// From one node's coordinates to a neighbour's: to operand `operand` of `from`, or to the user `to` of `from`.
struct Step {
  ir::NodeId from = ir::no_node;
  ir::NodeId to = ir::no_node;
  bool to_user = false;
  std::int32_t operand = 0;
};

/// How an output's coordinates follow from the dominant's; `found` is false when no one-to-one path leads there.
struct Route {
  bool found = false;
  std::vector<Step> steps;
};

struct Prepared {
  const ir::Group* group = nullptr;
  /// What is lowered: the group's graph, or one with the same node numbers whose reductions are folded where they
  /// arrive in steps (ir/graph/split_reduction.h). A check's reference evaluates the group's own.
  std::shared_ptr<const ir::Graph> graph;
  ir::Skeleton skeleton = ir::Skeleton::map;
  std::int64_t rows = 1, columns = 1;  ///< as in Layout
  Domain domain;                       ///< the same
  IndexedVector<ir::NodeId> stored;    ///< per output: whose elements are stored (stored_node)
  IndexedVector<Phase> phases;
  bool sums_across = false;                ///< some phase has sums across rows
  std::vector<std::int32_t> late_outputs;  ///< of no phase: they need sums across rows
  /// Of no phase, in rows and columns: neither one per result nor one per element. Free ones need no reduction; others
  /// are of a kernel of one row.
  std::vector<std::int32_t> free_aside, reduced_aside;
  IndexedVector<std::uint8_t> full;  ///< per node: holds rows x columns elements and is no index operation
  /// Per node: a value computed in a wider type than its own that some plan keeps between phases. It is rounded to its
  /// own type for all who read it, whether the plan at hand keeps it or not.
  IndexedVector<std::uint8_t> rounded;
  IndexedVector<std::vector<ir::NodeId>> users;
  IndexedVector<std::string> names;          ///< per node: its name as a C identifier
  std::vector<ir::NodeId> dominants;         ///< candidates for Plan::dominant, the usual choice first
  std::vector<IndexedVector<Route>> routes;  ///< per dominant candidate, per output; from what a reduction reads
  /// The same from the results of reductions: all of the first phase's, then of the next.
  std::vector<std::pair<ir::NodeId, IndexedVector<Route>>> result_routes;
  std::string title;                                              ///< name of the kernel: its telling operations
  std::vector<std::pair<ir::NodeId, ir::GatherNumbers>> gathers;  ///< ascending
  IndexedVector<std::uint8_t> places;                             ///< per node: what a gather's indices are made of
  int widest_vector = 1;  ///< most elements of any parameter or output in 16 bytes
  bool straight = true;   ///< nothing turns, cuts or joins arrays: neighbours stay neighbours
};

/// What a residence carries over from a phase: the inputs, or their most computed form. (reload keeps neither.)
const std::vector<ir::NodeId>& kept_nodes(const Phase& phase, ir::Residence residence);

/// row: vectors of one row that a thread handles, of as many threads as share it in all blocks.
std::int64_t trips_per_row(const Prepared& prepared, const ir::Plan& plan);

/// row: nothing of a row that takes several trips, or that blocks share, stays in registers, so the loop over it is
/// rolled.
bool is_streamed(const Prepared& prepared, const ir::Plan& plan);

/// row: the reductions, ascending, each at the level that this many threads per row give it.
std::vector<ir::SubRoot> sub_roots(const Prepared& prepared, int threads_per_row, int warp_size);
/// The same as the plan's skeleton deals them out; sub-roots of the plan are not looked at.
std::vector<ir::SubRoot> sub_roots(const Prepared& prepared, const ir::Plan& plan, int warp_size);

/// Either the preparation or what analyse() has against the group. The group must outlive the result.
std::variant<Prepared, ir::Rejection> prepare(const ir::Group& group);

/// The operations that tell a group apart from others, as a C identifier: "sum_exp_maximum_divide".
std::string title_of(const ir::Graph& graph);

}  // namespace tailor::codegen
