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
  const std::size_t needed = writes.size();
  for (const NodeId id : groups_[group])
    if (std::find(alone.writes.begin(), alone.writes.end(), id) == alone.writes.end() && awaited(group, id))
      writes.push_back(id);
  if ((needed == alone.writes.size() && writes.size() == needed) || writes.empty()) return alone;
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
  std::vector<NodeId> pending{id};
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (def_use_.stored[index(pending[i])]) return false;
    for (const NodeId user : def_use_.users[index(pending[i])]) {
      if (def_use_.roles[index(user)] == Role::free)
        pending.push_back(user);
      else if (!std::includes(makers.begin(), makers.end(), groups_of_[index(user)].begin(),
                              groups_of_[index(user)].end()) ||
               groups_of_[index(user)].empty())
        return false;
    }
  }
  return true;
}

/// Whether the group has all readers of `id`, and yet another group that has one of them too reads it.
bool Borders::awaited(std::size_t group, NodeId id) const {
  const std::vector<std::size_t>& makers = groups_of_[index(id)];
  if (def_use_.roles[index(id)] != Role::work || makers.front() != group) return false;
  std::vector<NodeId> pending{id};
  for (std::size_t i = 0; i < pending.size(); ++i)
    for (const NodeId user : def_use_.users[index(pending[i])]) {
      const std::vector<std::size_t>& holders = groups_of_[index(user)];
      if (def_use_.roles[index(user)] == Role::free)
        pending.push_back(user);
      else if (holders.size() > 1 && !std::includes(makers.begin(), makers.end(), holders.begin(), holders.end()))
        return true;
    }
  return false;
}

std::optional<codegen::Layout> planned_layout(const Graph& graph, const Boundary& border) {
  const codegen::JudgedStructure judged = codegen::judge(graph, border);
  const auto* layout = std::get_if<codegen::Layout>(&judged.structure);
  if (layout == nullptr || judged.doubt) return std::nullopt;
  return *layout;
}

}  // namespace tailor::explore
