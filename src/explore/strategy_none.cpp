// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "none": what eager execution launches. Free nodes are still absorbed, so this is not a straw man: a reshape
// or the broadcast of a bias costs nothing here either.
#include "explore/edge_notes.h"
#include "explore/strategy.h"

namespace tailor::explore {

ir::Fusion fuse_none(const FusionTask& task) {
  ir::Fusion fusion;
  for (std::size_t i = 0; i < task.graph.nodes.size(); ++i)
    if (task.def_use.roles[i] == ir::Role::work) fusion.groups.push_back({static_cast<ir::NodeId>(i)});
  fusion.edges = edge_notes(task.graph, task.def_use, fusion.groups);
  for (ir::EdgeNote& note : fusion.edges) note.reason = "refused: nothing is fused";
  return fusion;
}

}  // namespace tailor::explore
