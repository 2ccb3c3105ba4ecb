// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Contraction: the graph of groups while groups grow. Its units are working nodes and everything they must wait for
// (library calls, control flow); parameters are left out, free nodes are seen through. Merging two units is refused
// when a path between them leads through a third, for then each would wait for the other.
//
// A topological order of the units is kept while they merge, after Pearce and Kelly: a check looks only at units whose
// place lies between the two, so in practice the whole search stays near linear.
#pragma once

#include <vector>

#include "ir/fusion.h"

namespace tailor::explore {

class Contraction {
 public:
  Contraction(const ir::Graph& graph, const ir::DefUse& def_use);

  /// The unit a node is in, named by one of its nodes.
  ir::NodeId unit(ir::NodeId node);
  /// Nodes of a unit, ascending.
  const std::vector<ir::NodeId>& nodes(ir::NodeId unit) const { return nodes_[static_cast<std::size_t>(unit)]; }
  /// Grows with every merge into the unit.
  int version(ir::NodeId unit) const { return static_cast<int>(nodes(unit).size()); }

  /// A node on a path that a merge of `a` and `b` would close to a cycle (an outside node when there is one on the path
  /// found), or no_node when they may merge.
  ir::NodeId blocker(ir::NodeId a, ir::NodeId b);
  /// Precondition: blocker(a, b) == no_node. Returns the merged unit.
  ir::NodeId merge(ir::NodeId a, ir::NodeId b);

 private:
  std::vector<ir::NodeId>& around(ir::NodeId unit, bool forward);
  std::vector<ir::NodeId> reached(ir::NodeId from, ir::NodeId to, bool forward);

  const ir::DefUse& def_use_;
  std::vector<ir::NodeId> parent_;
  std::vector<std::vector<ir::NodeId>> nodes_, before_, after_;
  std::vector<int> place_;    ///< topological order of units
  std::vector<int> visited_;  ///< mark of the last search that saw the unit
  std::vector<ir::NodeId> came_from_;
  int mark_ = 0;
};

}  // namespace tailor::explore
