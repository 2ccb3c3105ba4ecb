// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "unfused": every working node is a group of its own, which is what eager execution launches. In: a graph.
// Out: its partition, with each edge noted as cut. Free nodes (reshapes, broadcasts, constants) are still absorbed by
// those that read them, so that the comparison with it is fair: a reshape or the broadcast of a bias costs nothing here
// either. Called through its row of strategy.cpp.
#include "explore/edge_notes.h"
#include "explore/strategy.h"

namespace tailor::explore {

ir::Fusion fuse_unfused(const FusionTask& task) {
  ir::Fusion fusion;
  for (std::size_t i = 0; i < task.graph.nodes.size(); ++i)
    if (task.def_use.roles[i] == ir::Role::work) fusion.groups.push_back({static_cast<ir::NodeId>(i)});
  fusion.edges = edge_notes(task.graph, task.def_use, fusion.groups);
  for (ir::EdgeNote& note : fusion.edges) note.reason = "refused: nothing is fused";
  return fusion;
}

}  // namespace tailor::explore
