// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cutting a group at its windows. In: a group, what its nodes read. Out: pieces. Called when a search has ended and the
// group's plans take more than it was priced at.
//
// Method. A window is computed by going through its taps, and all that stands before it in its kernel is computed for
// each of them; what stands behind it waits with the registers of all taps. So its borders are where one kernel may do
// worse than several. A reduction of the same kernel decides which rows a block has, and few rows leave most of the
// machine idle while windows are computed, so it is a border too. Nodes are counted by the borders before them, most on
// any way: edges lead from few to as many or more, so pieces of equal counts that are not connected wait for none of
// each other.
#include "explore/window_cut.h"

#include <algorithm>
#include <map>

namespace tailor::explore {

using namespace ir;

std::vector<std::vector<NodeId>> cut_at_windows(const Graph& graph, const costmodel::GroupFacts& facts,
                                                const std::vector<NodeId>& group) {
  struct Place {
    std::int64_t borders_before = 0;
    NodeId piece = no_node;  // an earlier node of it, or itself: the first one
  };
  const auto is_border = [&](NodeId id) { return graph[id].op == Op::reduce_window || facts.nodes[index(id)].reduces; };
  if (std::none_of(group.begin(), group.end(), [&](NodeId id) { return graph[id].op == Op::reduce_window; }))
    return {group};
  std::map<NodeId, Place> places;
  // Ways to the first node of a piece are halved as they are walked, so all of them together are about linear.
  const auto first_of = [&](NodeId id) {
    while (places[id].piece != id) id = places[id].piece = places[places[id].piece].piece;
    return id;
  };
  const auto join = [&](NodeId a, NodeId b) {
    const auto [into, from] = std::minmax({first_of(a), first_of(b)});
    places[from].piece = into;
  };
  for (const NodeId id : group) {
    if (!facts.nodes[index(id)].alive) continue;
    Place& place = places[id] = {0, id};
    for (const costmodel::GroupRead& read : facts.nodes[index(id)].reads)
      if (const auto maker = places.find(read.maker); maker != places.end() && maker->first != id)
        place.borders_before =
            std::max(place.borders_before, maker->second.borders_before + (is_border(maker->first) ? 1 : 0));
    if (is_border(id)) continue;
    for (const costmodel::GroupRead& read : facts.nodes[index(id)].reads)
      if (const auto maker = places.find(read.maker);
          maker != places.end() && !is_border(maker->first) && maker->second.borders_before == place.borders_before)
        join(id, maker->first);
  }
  std::map<NodeId, std::vector<NodeId>> pieces;
  for (const auto& [id, place] : places) pieces[first_of(id)].push_back(id);
  std::vector<std::vector<NodeId>> cut;
  for (auto& [first, piece] : pieces) cut.push_back(std::move(piece));
  return cut;
}

}  // namespace tailor::explore
