// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of somebody's groups kernels of today can hold. In: a graph and a cover of its working nodes. Out: a cover
// whose groups have a plan, or had none before either. Called by strategy "tailor" and by whoever compares it with
// other strategies over groups that can be written.
//
// Method. A group is asked with the border that it has among the others (borders.h): by its structure first, which
// settles nearly all, else by a trial lowering. What a strategy calls a doubt is no refusal here: a kernel that is made
// badly is a kernel. A group that falls apart changes the borders of others, for what it computed for itself is now
// read by single nodes; so all are asked again until none falls.
#include "explore/writable.h"

#include <algorithm>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"
#include "explore/borders.h"

namespace tailor::explore {

using namespace ir;

namespace {

bool can_be_written(const Graph& graph, const Boundary& border, bool in_stages) {
  if (planned_layout(graph, border)) return true;
  if (std::holds_alternative<codegen::Layout>(codegen::analyse(graph, border)))
    return std::holds_alternative<codegen::Layout>(codegen::classify(outline(graph, border)));
  codegen::Stages cut;  // no loop holds it, but several in a launch may
  return in_stages && std::holds_alternative<codegen::Layout>(codegen::analyse_stages(graph, border, &cut)) &&
         std::holds_alternative<codegen::Prepared>(codegen::prepare(outline(graph, border)));
}

/// Whether the group could not be written in parts either: one of them has a structure that no kernel has yet. A type
/// or a form of an operation that has no text is no such thing, and what stands around it can be written.
bool is_beyond(const Graph& graph, const std::vector<NodeId>& group) {
  return std::any_of(group.begin(), group.end(), [&](NodeId id) {
    const std::optional<Rejection> refused = codegen::refused_alone(graph, id);
    return refused.has_value() && !refused->rule.starts_with("operation-");
  });
}

}  // namespace

std::vector<std::vector<NodeId>> writable(const Graph& graph, const DefUse& def_use,
                                          const std::vector<std::vector<NodeId>>& groups, const std::stop_token& stop,
                                          const Writable& wanted) {
  std::vector<std::vector<NodeId>> kept;
  std::vector<bool> loose(graph.nodes.size(), false);  // nodes of groups that fell apart
  for (const std::vector<NodeId>& group : groups) {
    const bool calls =
        std::any_of(group.begin(), group.end(), [&](NodeId id) { return def_use.roles[index(id)] == Role::outside; });
    if (!calls) kept.push_back(group);
    for (const NodeId id : group)
      if (calls && def_use.roles[index(id)] == Role::work) loose[index(id)] = true;
  }
  while (true) {
    bool changed = false;
    std::vector<bool> held(graph.nodes.size(), false);
    for (const std::vector<NodeId>& group : kept)
      for (const NodeId id : group) held[index(id)] = true;
    std::vector<std::vector<NodeId>> all = kept;
    for (std::size_t i = 0; i < loose.size(); ++i)
      if (loose[i] && !held[i]) all.push_back({static_cast<NodeId>(i)});
    const Borders borders(graph, def_use, all);
    std::vector<std::vector<NodeId>> next;
    for (std::size_t g = 0; g < kept.size(); ++g) {
      const auto may_stay = [&] {
        return can_be_written(graph, borders.of(g), wanted.stages) || (wanted.unplanned && is_beyond(graph, kept[g]));
      };
      const bool stays = kept[g].size() == 1 || (!stop.stop_requested() && may_stay());
      if (stays) {
        next.push_back(kept[g]);
        continue;
      }
      changed = true;
      for (const NodeId id : kept[g])
        if (def_use.roles[index(id)] == Role::work) loose[index(id)] = true;
    }
    if (!changed) return all;
    kept = std::move(next);
  }
}

}  // namespace tailor::explore
