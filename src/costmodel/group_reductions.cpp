// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far results of reductions reach in the group that they are in. In: nodes that enter and leave. Out: the reach of
// each reduction there, and which others it changed. Called by group_summary.cpp.
//
// Columns. A block that has a band of columns from end to end has their numbers as one that has a row has its number:
// nobody waits for the grid. That is a kernel of columns, which goes over nothing else: a group whose reductions are
// all of columns that lie alike. With the first other reduction in it, or a sort or a scatter, they reach as far as the
// grid again, as sums across the rows of the others do. So what a reduction of columns is hangs on all members, and
// when that changes they are looked at again.
//
// Steps. What a group folds of a chain hangs on the members of the chain that it has, from the last one on
// (ir::folded_reductions). A chain that arrives at columns is the grid's.
#include <algorithm>

#include "costmodel/group_summary.h"

namespace tailor::costmodel {

using ir::NodeId;

void GroupSummaries::count_reach(std::int32_t group, NodeId node, int sign) {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  if (fact.reach == ResultReach::element) return;
  OneGroup& one = groups_[static_cast<std::size_t>(group)];
  const auto at = one.reaching.try_emplace(fact.columns, 0).first;
  at->second += sign;
  if (at->second == 0) one.reaching.erase(at);
  if (fact.columns == 0) return;
  if (sign > 0)
    one.of_columns.insert(node);
  else
    one.of_columns.erase(node);
}

GroupSummaries::Reach GroupSummaries::reach_in(std::int32_t group, NodeId node) const {
  const GroupNode& fact = facts_.nodes[ir::index(node)];
  const bool has_band = fact.columns != 0 && groups_[static_cast<std::size_t>(group)].columns() == fact.columns;
  return has_band ? Reach{ResultReach::row, fact.bands, fact.columns} : Reach{fact.reach, fact.rows, fact.domain};
}

/// Whether that is another way than before.
bool GroupSummaries::fold_as(NodeId node, const Folded& folded) {
  State& state = states_[ir::index(node)];
  if (state.folded == folded) return false;
  count_work(node, -1);
  count_steps(node, -1);
  state.folded = folded;
  count_work(node, 1);
  count_steps(node, 1);
  return true;
}

/// After a node that reaches beyond an element has entered or left: those of columns that are now seen otherwise,
/// ascending. Those of chains are refold()'s.
std::vector<NodeId> GroupSummaries::see_columns(std::int32_t group) {
  std::vector<NodeId> changed;
  for (const NodeId id : groups_[static_cast<std::size_t>(group)].of_columns) {
    if (const std::int32_t chain = facts_.nodes[ir::index(id)].chain; chain >= 0) {
      for (const NodeId one : refold(group, chain)) changed.push_back(one);
      continue;
    }
    if (fold_as(id, {reach_in(group, id), facts_.nodes[ir::index(id)].elements, false})) changed.push_back(id);
  }
  return changed;
}

/// A reduction of rows by those that must end before it.
void GroupSummaries::count_steps(NodeId node, int sign) {
  const State& state = states_[ir::index(node)];
  if (state.folded.seen.reach != ResultReach::row || state.folded.follows) return;
  GroupSummary& summary = groups_[static_cast<std::size_t>(state.group)].summary;
  summary.row_sums += sign;
  if (state.folded.seen.domain < 0) summary.column_sums += sign;
  summary.rows += sign * state.folded.seen.rows;
  count_at(summary.steps, static_cast<std::size_t>(std::max(state.steps, 1) - 1), sign);
}

/// What of a chain the group folds, from the last reduction on (ir::folded_reductions). Returns whose part changed,
/// ascending.
std::vector<NodeId> GroupSummaries::refold(std::int32_t group, std::int32_t chain) {
  std::vector<std::pair<NodeId, Folded>> parts;  // of those in the group, ascending
  for (const NodeId id : facts_.chains[static_cast<std::size_t>(chain)])
    if (const GroupNode& fact = facts_.nodes[ir::index(id)]; states_[ir::index(id)].group == group)
      parts.push_back({id, {reach_in(group, id), fact.elements, false}});
  const auto part_of = [&](NodeId id) {
    return std::lower_bound(parts.begin(), parts.end(), id, [](const auto& one, NodeId at) { return one.first < at; });
  };
  std::vector<bool> taken(parts.size(), false);
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (taken[i]) continue;
    auto first = parts.begin() + static_cast<std::ptrdiff_t>(i);
    for (const GroupStep& step : facts_.nodes[ir::index(parts[i].first)].steps) {
      const auto found = part_of(step.reduce);
      if (found == parts.end() || found->first != step.reduce) break;
      taken[static_cast<std::size_t>(found - parts.begin())] = true;
      first->second = {{}, 0, true};
      const double results = facts_.nodes[ir::index(parts[i].first)].elements;
      found->second = {{step.reach, step.rows, step.domain}, results, false};
      first = found;
    }
  }
  std::vector<NodeId> changed;
  for (const auto& [id, part] : parts)
    if (fold_as(id, part)) changed.push_back(id);
  return changed;
}

}  // namespace tailor::costmodel
