// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fusion: a partition of a graph's work into groups; Group: one of them as a small graph of its own. A node may be
// duplicated into several groups. Nodes in no group run as they are: library calls, control flow, what no group wants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "ir/graph.h"

namespace tailor::ir {

/// Why an edge was or was not fused.
struct EdgeNote {
  NodeId producer = no_node;
  NodeId consumer = no_node;
  bool fused = false;
  std::string why;
  bool operator==(const EdgeNote&) const = default;
};

struct Fusion {
  std::string strategy;
  std::vector<std::vector<NodeId>> groups;  ///< nodes of each group, ascending; free nodes may be absent
  std::vector<EdgeNote> edges;
  std::vector<Fusion> bodies;               ///< parallel to Graph::bodies of while and conditional nodes
};

/// One fused group: a graph whose parameters are what the group reads and whose outputs are what others read. Free
/// producers (constants, broadcasts of constants, reshapes) are absorbed. `id` hashes the canonical text, so equal
/// groups of a model (twelve identical layers) share it.
struct Group {
  Graph graph;
  Id id;
};

/// Cuts `nodes` out of `graph`. Parameters are numbered in the order the canonical walk meets them.
Group cut(const Graph& graph, const std::vector<NodeId>& nodes);

}  // namespace tailor::ir
