// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The border of every group of a fusion. In a cover a value belongs to the first group that computes it, and is written
// only if a group that does not compute it itself, or something outside, reads it. In: a graph and its groups. Out:
// what each group reads, holds and writes. Called when a partition is counted and when it is priced.
#pragma once

#include <optional>
#include <vector>

#include "codegen/structure/structure.h"
#include "ir/fusion.h"

namespace tailor::explore {

/// Nothing is owned; graph, facts and groups outlive it.
class Borders {
 public:
  Borders(const ir::Graph& graph, const ir::DefUse& def_use, const std::vector<std::vector<ir::NodeId>>& groups);

  ir::Boundary of(std::size_t group) const;
  /// Whether a group computes the node: a file's own fusion may hold a library call.
  bool grouped(ir::NodeId id) const { return !groups_of(id).empty(); }
  /// The groups that compute the node, ascending.
  const std::vector<std::size_t>& groups_of(ir::NodeId id) const { return groups_of_[ir::index(id)]; }
  /// A group gets a node, or loses it: whoever changes the groups says so.
  void add(std::size_t group, ir::NodeId id);
  void forget(std::size_t group, ir::NodeId id);

 private:
  bool covered(std::size_t group, ir::NodeId id) const;
  bool awaited(std::size_t group, ir::NodeId id) const;
  struct Readers {
    std::vector<ir::NodeId> nodes;
    bool stored = false;
  };
  Readers readers(ir::NodeId id) const;
  bool make_all(const std::vector<std::size_t>& makers, ir::NodeId user) const;

  const ir::Graph& graph_;
  const ir::DefUse& def_use_;
  const std::vector<std::vector<ir::NodeId>>& groups_;
  std::vector<std::vector<std::size_t>> groups_of_;
};

/// How a kernel would go through a group; nothing where the lowering of today has none, or has a doubt.
std::optional<codegen::Layout> planned_layout(const ir::Graph& graph, const ir::Boundary& border);

}  // namespace tailor::explore
