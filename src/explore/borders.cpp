// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who writes what when groups overlap. In: a graph and groups of its nodes. Out: the border of each. Called by the
// counting of partitions and by the price of a fusion. A group alone writes what others read; of that it leaves out
// what an earlier group owns and what every reader computes for itself. And it writes what only members of its own read
// where another group computes such a member too and takes the value from memory.
#include "explore/borders.h"

#include <algorithm>

namespace tailor::explore {

using namespace ir;

Borders::Borders(const Graph& graph, const DefUse& def_use, const std::vector<std::vector<NodeId>>& groups)
    : graph_(graph), def_use_(def_use), groups_(groups), groups_of_(graph.nodes.size()) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const NodeId id : groups[g]) groups_of_[index(id)].push_back(g);
}

Boundary Borders::of(std::size_t group) const {
  const Boundary alone = boundary(graph_, def_use_, groups_[group]);
  std::vector<NodeId> writes;
  for (const NodeId id : alone.writes)
    if (!covered(group, id)) writes.push_back(id);
  for (const NodeId id : groups_[group])
    if (!std::binary_search(alone.writes.begin(), alone.writes.end(), id) && awaited(group, id)) writes.push_back(id);
  if (writes == alone.writes || writes.empty()) return alone;
  std::sort(writes.begin(), writes.end());
  return boundary(graph_, def_use_, groups_[group], writes);
}

void Borders::add(std::size_t group, NodeId id) {
  std::vector<std::size_t>& makers = groups_of_[index(id)];
  makers.insert(std::upper_bound(makers.begin(), makers.end(), group), group);
}

void Borders::forget(std::size_t group, NodeId id) { std::erase(groups_of_[index(id)], group); }

/// Whether the group need not write `id`: another group owns it, or every reader computes it for itself.
bool Borders::covered(std::size_t group, NodeId id) const {
  const std::vector<std::size_t>& makers = groups_of_[index(id)];
  if (makers.size() < 2) return false;
  if (makers.front() != group) return true;
  const Readers all = readers(id);
  return !all.stored && std::all_of(all.nodes.begin(), all.nodes.end(), [&](NodeId user) {
    return !groups_of_[index(user)].empty() && make_all(makers, user);
  });
}

/// Who reads the value, also through nodes that cost nothing, and whether it is stored under one of their names.
Borders::Readers Borders::readers(NodeId id) const {
  Readers all;
  std::vector<NodeId> names{id};
  for (std::size_t i = 0; i < names.size(); ++i) {
    all.stored = all.stored || def_use_.stored[index(names[i])];
    for (const NodeId user : def_use_.users[index(names[i])])
      (def_use_.roles[index(user)] == Role::free ? names : all.nodes).push_back(user);
  }
  return all;
}

/// Whether all groups that compute `user` are among `makers`.
bool Borders::make_all(const std::vector<std::size_t>& makers, NodeId user) const {
  const std::vector<std::size_t>& holders = groups_of_[index(user)];
  return std::includes(makers.begin(), makers.end(), holders.begin(), holders.end());
}

/// Whether the group has all readers of `id`, and yet another group that has one of them too reads it.
bool Borders::awaited(std::size_t group, NodeId id) const {
  const std::vector<std::size_t>& makers = groups_of_[index(id)];
  if (def_use_.roles[index(id)] != Role::work || makers.front() != group) return false;
  const Readers all = readers(id);
  return std::any_of(all.nodes.begin(), all.nodes.end(),
                     [&](NodeId user) { return groups_of_[index(user)].size() > 1 && !make_all(makers, user); });
}

std::optional<codegen::Layout> planned_layout(const Graph& graph, const Boundary& border) {
  const codegen::JudgedStructure judged = codegen::judge(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&judged.structure);
  if (layout == nullptr || judged.doubt) return std::nullopt;
  return *layout;
}

}  // namespace tailor::explore
