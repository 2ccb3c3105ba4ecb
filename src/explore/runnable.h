// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether groups can be run one after another. Comes in: a graph and groups of its nodes, from a strategy or from a
// person. Goes out: what keeps them from running, in terms that a message can name: a circle of groups and library
// calls that wait for each other, or working nodes that no group computes. Called by the reader of partition files and
// by the tests of every strategy.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/fusion.h"

namespace tailor::explore {

/// One station of a circle.
struct Wait {
  std::int32_t group = -1;         ///< index into the groups; -1: a node that runs by itself,
  ir::NodeId node = ir::no_node;   ///< namely this one
  ir::NodeId value = ir::no_node;  ///< what it waits for: the next station computes it, the last waits for the first
  bool operator==(const Wait&) const = default;
};

/// A circle of groups and nodes outside groups that wait for each other's values; empty when the groups can be run. A
/// value that several groups compute comes from the first of them. Linear in the graph.
std::vector<Wait> find_circle(const ir::Graph& graph, const ir::DefUse& def_use,
                              const std::vector<std::vector<ir::NodeId>>& groups);

/// Working nodes that are in no group, ascending.
std::vector<ir::NodeId> find_left_out(const ir::DefUse& def_use, const std::vector<std::vector<ir::NodeId>>& groups);

}  // namespace tailor::explore
