// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "none": what eager execution launches. Free nodes are still absorbed, so this is not a straw man: a reshape
// or the broadcast of a bias costs nothing here either.
#include "explore/strategy.h"

namespace tailor::explore {

ir::Fusion fuse_none(const ir::Graph& graph) {
  const ir::DefUse def_use = ir::def_use(graph);
  ir::Fusion fusion;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (def_use.roles[i] != ir::Role::work) continue;
    const auto id = static_cast<ir::NodeId>(i);
    fusion.groups.push_back({id});
    for (const ir::NodeId producer : ir::suppliers(graph, def_use, id))
      if (def_use.roles[static_cast<std::size_t>(producer)] == ir::Role::work)
        fusion.edges.push_back({producer, id, false, "refused: nothing is fused"});
  }
  return fusion;
}

}  // namespace tailor::explore
