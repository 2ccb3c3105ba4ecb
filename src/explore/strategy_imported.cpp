// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "imported": the fusion instructions of the file, in its order. With an optimised dump this is the partition
// of the compiler that wrote it, overlaps (recomputed nodes) included. Working nodes of no fusion run alone; a fusion
// of free nodes only is no kernel, its readers compute it. A fusion may hold a matrix product with its epilogue: then
// the library call is part of the group.
#include <fmt/format.h>

#include <algorithm>

#include "explore/strategy.h"

namespace tailor::explore {

using namespace ir;

namespace {

bool does_something(const DefUse& def_use, NodeId id) {
  const Role role = def_use.roles[static_cast<std::size_t>(id)];
  return role == Role::work || role == Role::outside;
}

}  // namespace

ir::Fusion fuse_imported(const Graph& graph) {
  const DefUse def_use = ir::def_use(graph);
  Fusion fusion;
  std::vector<std::vector<std::size_t>> memberships(graph.nodes.size());
  for (std::size_t g = 0; g < graph.given.size(); ++g) {
    const std::vector<NodeId>& nodes = graph.given[g].nodes;
    if (std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return does_something(def_use, id); }))
      fusion.groups.push_back(nodes);
    for (const NodeId id : graph.given[g].nodes) memberships[static_cast<std::size_t>(id)].push_back(g);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (def_use.roles[i] != Role::work) continue;
    const auto id = static_cast<NodeId>(i);
    if (memberships[i].empty()) fusion.groups.push_back({id});
    for (const NodeId producer : suppliers(graph, def_use, id)) {
      const auto p = static_cast<std::size_t>(producer);
      if (def_use.roles[p] != Role::work) continue;
      const auto shared = std::find_first_of(memberships[i].begin(), memberships[i].end(), memberships[p].begin(),
                                             memberships[p].end());
      if (shared != memberships[i].end())
        fusion.edges.push_back({producer, id, true, fmt::format("given: both in %{}", graph.given[*shared].name)});
      else
        fusion.edges.push_back({producer, id, false, "given: in no common fusion of the file"});
    }
  }
  return fusion;
}

}  // namespace tailor::explore
