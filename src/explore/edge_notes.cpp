// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading the decision on each edge off the groups. In: a graph, its def-use facts, groups of nodes in a fixed order.
// Out: one note for each edge between working nodes and each group that computes the consumer, without a reason.
// Called by every strategy that finds its groups first and explains them afterwards.
//
// A node may be in several groups (a cover). An edge is seen from each group that computes its consumer. When that
// group computes the producer too, the edge is stitched if it is the first group to do so and recomputed if an earlier
// group computes the producer as well; otherwise the value crosses between kernels and the edge is cut.
//
// The level is a bound from the producer alone: a row or column reduction can hand its result to the block at most,
// other reductions, sorts and scatters only to the whole grid, everything else stays in a register. A plan may keep the
// value at a narrower level. Where a group is cut into stages, what waits between them is handed to the whole grid.
#include "explore/edge_notes.h"

#include <algorithm>

#include "codegen/structure/structure.h"

namespace tailor::explore {

using namespace ir;

StitchLevel widest_level(const Graph& graph, NodeId producer) {
  const Node& node = graph[producer];
  switch (class_of(node.op)) {
    case OpClass::reduction:
      return codegen::reduce_kind(graph, producer) == codegen::ReduceKind::full ? StitchLevel::grid
                                                                                : StitchLevel::block;
    case OpClass::window:
      // A window is computed where it is read; what sorts needs all its elements first.
      return node.op == Op::sort ? StitchLevel::grid : StitchLevel::registers;
    case OpClass::lookup:
      return node.op == Op::scatter ? StitchLevel::grid : StitchLevel::registers;
    default:
      return StitchLevel::registers;
  }
}

namespace {

/// What waits between stages of this group, ascending; nothing where a loop holds it.
std::vector<NodeId> waits_of(const Graph& graph, const DefUse& def_use, const std::vector<NodeId>& nodes) {
  if (std::none_of(nodes.begin(), nodes.end(), [&](NodeId id) { return graph[id].op == Op::reduce; })) return {};
  codegen::Stages cut;
  codegen::analyse_stages(graph, boundary(graph, def_use, nodes), &cut);
  return cut.waits;
}

}  // namespace

std::vector<EdgeNote> edge_notes(const Graph& graph, const DefUse& def_use,
                                 const std::vector<std::vector<NodeId>>& groups) {
  std::vector<std::vector<std::int32_t>> groups_of(graph.nodes.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const NodeId id : groups[g]) groups_of[index(id)].push_back(static_cast<std::int32_t>(g));
  std::vector<std::vector<NodeId>> waits;
  for (const std::vector<NodeId>& nodes : groups) waits.push_back(waits_of(graph, def_use, nodes));
  std::vector<EdgeNote> notes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (def_use.roles[i] != Role::work) continue;
    const auto consumer = static_cast<NodeId>(i);
    const std::vector<NodeId> producers = suppliers(graph, def_use, consumer);
    for (const std::int32_t group : groups_of[i])
      for (const NodeId producer : producers) {
        if (def_use.roles[index(producer)] != Role::work) continue;
        EdgeNote note;
        note.producer = producer;
        note.consumer = consumer;
        note.group = group;
        const std::vector<std::int32_t>& makers = groups_of[index(producer)];
        if (std::binary_search(makers.begin(), makers.end(), group)) {
          note.decision = makers.front() == group ? EdgeDecision::stitched : EdgeDecision::recomputed;
          const std::vector<NodeId>& wait = waits[index(group)];
          note.level = std::binary_search(wait.begin(), wait.end(), producer) ? StitchLevel::grid
                                                                              : widest_level(graph, producer);
        }
        notes.push_back(std::move(note));
      }
  }
  return notes;
}

}  // namespace tailor::explore
