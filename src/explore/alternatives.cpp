// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Pricing the choice that was not taken for one edge. In: groups and the note on the edge. Out: two prices. Called edge
// by edge for the few that somebody asked about, so each makes its groups anew and nothing is kept.
//
// Both prices are sums over the groups that the choice changes, with the borders they have then: a value that nobody
// outside reads any more is not written, one that crosses now is. Other groups keep their prices, for what they read
// does not change.
#include "explore/alternatives.h"

#include <algorithm>

#include "explore/borders.h"
#include "explore/price.h"
#include "explore/runnable.h"

namespace tailor::explore {

using namespace ir;

namespace {

using Sets = std::vector<std::vector<NodeId>>;

double price_of_some(const Graph& graph, const DefUse& def_use, const Sets& groups,
                     const std::vector<std::size_t>& which, const costmodel::CalibratedDevice& device) {
  const Borders borders(graph, def_use, groups);
  double sum = 0;
  for (const std::size_t g : which)
    if (!groups[g].empty()) sum += group_price(outline(graph, borders.of(g)).graph, device);
  return sum;
}

/// Members of the group that `last` needs, itself included.
std::vector<NodeId> needed_in(const Graph& graph, const std::vector<NodeId>& group, NodeId last) {
  std::vector<NodeId> found{last};
  std::vector<bool> seen(graph.nodes.size(), false);
  seen[index(last)] = true;
  std::vector<NodeId> pending{last};
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    for (const NodeId operand : graph[id].operands) {
      if (seen[index(operand)]) continue;
      seen[index(operand)] = true;
      const bool member = std::binary_search(group.begin(), group.end(), operand);
      // Free nodes on the way may be absent from the group; a walk that left it does not come back.
      if (!member && !is_free(graph, operand)) continue;
      if (member) found.push_back(operand);
      pending.push_back(operand);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Alternative alternative(const Graph& graph, const DefUse& def_use, const Sets& groups, const EdgeNote& note,
                        const costmodel::CalibratedDevice& device) {
  const auto here = static_cast<std::size_t>(note.group);
  const auto holds = [&](const std::vector<NodeId>& group) {
    return std::binary_search(group.begin(), group.end(), note.producer);
  };
  const auto owner = static_cast<std::size_t>(std::find_if(groups.begin(), groups.end(), holds) - groups.begin());
  Sets changed = groups;
  Alternative other;
  std::vector<std::size_t> before{here}, after{here};
  if (note.decision == EdgeDecision::cut) {
    other.what = "one kernel";
    if (owner == groups.size()) return other;  // nobody computes it
    std::vector<NodeId> both;
    std::set_union(groups[here].begin(), groups[here].end(), groups[owner].begin(), groups[owner].end(),
                   std::back_inserter(both));
    before.push_back(owner);
    changed[owner].clear();
    changed[here] = std::move(both);
  } else if (note.decision == EdgeDecision::stitched) {
    other.what = "two kernels";
    std::vector<NodeId> first = needed_in(graph, groups[here], note.producer), rest;
    std::set_difference(groups[here].begin(), groups[here].end(), first.begin(), first.end(), std::back_inserter(rest));
    changed[here] = std::move(rest);
    after.push_back(changed.size());
    changed.push_back(std::move(first));
  } else {
    other.what = "read from memory";
    std::erase(changed[here], note.producer);
    if (owner != here) before.push_back(owner), after.push_back(owner);
  }
  other.as_is = price_of_some(graph, def_use, groups, before, device);
  other.otherwise = price_of_some(graph, def_use, changed, after, device);
  if (!find_circle(graph, def_use, changed).empty())
    other.against = "kernels would wait for each other in a circle";
  else
    for (const std::size_t g : after) {
      const Borders borders(graph, def_use, changed);
      if (other.against.empty() && !changed[g].empty() && !planned_layout(graph, borders.of(g)))
        other.against = "no kernel can be written for it today";
    }
  return other;
}

}  // namespace tailor::explore
