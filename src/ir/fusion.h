// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion: a partition of a graph's work into groups; Group: one of them as a small graph of its own. A node may be
// duplicated into several groups. Nodes in no group run as they are: library calls, control flow, what no group wants.
//
// Work is what a kernel has to do. Free nodes (constants, reshapes, broadcasts ...) are no work: every group that needs
// one computes it for itself, so what crosses a border is the small array in front of a broadcast. One exception: a
// broadcast or iota whose every element must exist in memory, because a library call or the outside reads it, is work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/indexed.h"
#include "ir/graph/graph.h"
#include "ir/kernel/stitch_level.h"

namespace tailor::ir {

/// How the consumer of an edge gets the value. stitched: its group computes the value and passes it on inside the
/// kernel. recomputed: likewise, but an earlier group computes the same node too, so this is work done again. cut:
/// another kernel writes the value to memory and this one reads it.
enum class EdgeDecision : std::uint8_t { stitched, recomputed, cut };

/// What was decided about one edge between working nodes, and why. An edge has one note for each group that holds its
/// consumer.
struct EdgeNote {
  NodeId producer = no_node;
  NodeId consumer = no_node;
  std::int32_t group = -1;  ///< index into Fusion::groups: the group in which the consumer needs the value
  EdgeDecision decision = EdgeDecision::cut;
  /// Absent exactly when cut. The widest level that the edge can need, as far as the strategy knows: a plan may serve
  /// it by a narrower one, so `block` means at most block.
  std::optional<StitchLevel> level;
  /// What keeping the edge inside one kernel gains over cutting it, by the price the strategy was given; negative when
  /// it loses. Absent when nothing was priced.
  std::optional<double> seconds;
  std::string reason;
  bool operator==(const EdgeNote&) const = default;
};

struct Fusion {
  std::string strategy = {};
  std::string device = {};                  ///< name of the GPU it was decided for; empty: it holds for every GPU
  std::string price = {};                   ///< name of the cost model that priced it; empty: nothing was priced
  std::vector<std::vector<NodeId>> groups;  ///< nodes of each group, ascending; free nodes may be absent
  std::vector<EdgeNote> edges = {};
  std::vector<Fusion> bodies = {};  ///< parallel to Graph::bodies of while and conditional nodes
  bool operator==(const Fusion&) const = default;
};

/// "stitched", "recomputed", "cut".
std::string_view name(EdgeDecision decision);
std::optional<EdgeDecision> edge_decision_named(std::string_view name);

/// One fused group: a graph whose parameters are what the group reads and whose outputs are what others read. Free
/// producers (constants, broadcasts of constants, reshapes) are absorbed. `id` hashes the canonical text, so equal
/// groups of a model (twelve identical layers) share it.
struct Group {
  Graph graph;
  Id id = {};
};

/// What a node is to a fusion.
enum class Role : std::uint8_t {
  work,     ///< a kernel has to do it: groups are made of these
  free,     ///< absorbed by whoever needs it
  source,   ///< a parameter, a constant of several elements or of unknown value: an array in memory; an empty result
  outside,  ///< library call, control flow, communication, opaque: runs as it is and orders the groups around it.
            ///< Only groups that a file brings along may hold one (a matrix product with its epilogue)
};

/// Facts about a graph that every outlining needs, computed once: O(nodes + edges).
struct DefUse {
  IndexedVector<std::vector<NodeId>> users;
  IndexedVector<Role> roles;
  IndexedVector<bool> stored;  ///< an output of the graph: in memory when it ends
};
DefUse def_use(const Graph& graph);

/// Whether `read` is a dynamic slice of the very window that `update` writes, and all that comes of it goes into that
/// element by element: in one kernel each element is read by who writes it, before it is written.
bool is_updated_itself(const Graph& graph, const DefUse& def_use, NodeId read, NodeId update);

/// The border of a set of nodes.
struct Boundary {
  std::vector<NodeId> reads;   ///< values read from outside, in the order the walk from the outputs meets them
  std::vector<NodeId> inside;  ///< what is computed inside, absorbed free nodes too, operands before users
  std::vector<NodeId> writes;  ///< members that others read, ascending; results of a tuple node as their element nodes
  /// Writes that update a part of a read and may do so in its memory (output: index into writes, parameter: into
  /// reads): nobody else reads that memory but for what is updated there, and it is the graph's own or one that
  /// Graph::in_place gives up.
  std::vector<InPlace> in_place;
  /// An update that could be written in place if nothing inside read its result; no_node: none.
  NodeId kept_from_place = no_node;
};

/// `nodes` in any order. Members that are free views count for nothing unless the set has no work at all: then its last
/// nodes are its outputs.
Boundary boundary(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes);

/// As above with the writes given by the caller: for covers, where a value computed in several groups has one owner.
Boundary boundary(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes,
                  const std::vector<NodeId>& writes);

/// The working nodes a node reads, seen through free nodes; ascending, each once. Outside nodes are among them.
std::vector<NodeId> suppliers(const Graph& graph, const DefUse& def_use, NodeId node);

/// Outlines `nodes` of `graph`: a graph of their own. Parameters are numbered in the order the canonical walk meets
/// them; parameter i is boundary().reads[i], output i is boundary().writes[i], in_place as there. Names are kept; the
/// id does not depend on them.
Group outline(const Graph& graph, const std::vector<NodeId>& nodes);
Group outline(const Graph& graph, const Boundary& boundary);

}  // namespace tailor::ir
