// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategy "imported": the fusion instructions of the file, in its order. In: a graph with the groups that the import
// found given in the file. Out: a partition with a note for every edge. Called through its row of strategy.cpp.
//
// With an optimised dump this is the partition of the compiler that wrote it, overlaps (recomputed nodes) included; a
// dump from before optimisation has no fusions, and then every working node runs alone, as under "unfused".
//
// Working nodes of no fusion run alone. A fusion of free nodes only is no kernel: its readers compute it. Arrays
// without elements, which an import makes constants of, are there without a launch, so no group makes them. A fusion
// may hold a matrix product with its epilogue; then the library call is part of the group. Edges are read off the
// groups (edge_notes.h); the reason on each names the fusion that holds it, and says of a cut edge whether some other
// fusion keeps it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "explore/edge_notes.h"
#include "explore/strategy.h"

namespace tailor::explore {

using namespace ir;

namespace {

bool does_something(const DefUse& def_use, NodeId id) {
  const Role role = def_use.roles[id];
  return role == Role::work || role == Role::outside;
}

bool is_empty(const Node& node) { return node.shape.dtype != DType::tuple && elements(node.shape) == 0; }

}  // namespace

ir::Fusion fuse_imported(const FusionTask& task) {
  const Graph& graph = task.graph;
  const DefUse& def_use = task.def_use;
  Fusion fusion;
  std::vector<std::string_view> names;  // of the groups; empty for a node that runs alone
  std::vector<bool> given(graph.nodes.size(), false);
  for (const GivenGroup& group : graph.given) {
    for (const NodeId id : group.nodes) given[index(id)] = true;
    if (std::none_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) { return does_something(def_use, id); }))
      continue;
    fusion.groups.push_back(group.nodes);
    std::erase_if(fusion.groups.back(), [&](NodeId id) { return is_empty(graph[id]); });
    names.emplace_back(group.name);
  }
  names.resize(graph.nodes.size() + names.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    if (def_use.roles[i] == Role::work && !given[i]) fusion.groups.push_back({static_cast<NodeId>(i)});
  fusion.edges = edge_notes(graph, def_use, fusion.groups);
  std::set<std::pair<NodeId, NodeId>> inside;  // edges that some group keeps
  for (const EdgeNote& note : fusion.edges)
    if (note.decision != EdgeDecision::cut) inside.emplace(note.producer, note.consumer);
  for (EdgeNote& note : fusion.edges) {
    const std::string_view group = names[static_cast<std::size_t>(note.group)];
    if (note.decision == EdgeDecision::stitched)
      note.reason = fmt::format("given: both in %{}", group);
    else if (note.decision == EdgeDecision::recomputed)
      note.reason = fmt::format("given: %{} computes it too", group);
    else if (inside.contains({note.producer, note.consumer}))
      note.reason = fmt::format("given: %{} reads it from memory", group);
    else
      note.reason = "given: in no common fusion of the file";
  }
  return fusion;
}

}  // namespace tailor::explore
