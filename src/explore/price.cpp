// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Pricing a fusion group by group. In: a graph, groups that may overlap, a device. Out: the sum of the prices of the
// groups. Groups that share nothing are summarised where they stand; of a cover each is taken out of the graph with the
// border that it has among the others, and summarised alone. Called where a whole partition is judged; the search
// itself keeps summaries and asks only for what a move changes.
#include "explore/price.h"

#include <algorithm>
#include <iterator>

#include "base/stop.h"
#include "explore/borders.h"
#include "ir/outline.h"

namespace tailor::explore {

using namespace ir;

namespace {

/// Whether the groups share no work, hold no library call and nothing that nobody reads: then each has alone what it
/// has in the graph.
bool are_apart(const DefUse& def_use, const costmodel::GroupFacts& facts,
               const std::vector<std::vector<NodeId>>& groups) {
  std::vector<bool> taken(def_use.stored.size(), false);
  for (const std::vector<NodeId>& group : groups)
    for (const NodeId id : group) {
      const Role role = def_use.roles[index(id)];
      const bool dead = facts.nodes[index(id)].readers.empty() && !facts.nodes[index(id)].stored;
      if (role == Role::outside || (role == Role::work && (dead || taken[index(id)]))) return false;
      taken[index(id)] = true;
    }
  return true;
}

}  // namespace

double group_price(const Graph& group, const costmodel::CalibratedDevice& device) {
  return costmodel::group(costmodel::summarise(group), device).total.value;
}

double price_of(const Graph& graph, const DefUse& def_use, const std::vector<std::vector<NodeId>>& groups,
                const costmodel::CalibratedDevice& device, const std::stop_token& stop) {
  double sum = 0;
  const costmodel::GroupFacts facts = costmodel::group_facts(graph, def_use);
  if (are_apart(def_use, facts, groups)) {
    costmodel::GroupSummaries summaries(facts);
    for (const std::vector<NodeId>& group : groups) {
      stop_if_asked(stop);
      const std::int32_t one = summaries.create();
      std::vector<NodeId> work;
      std::copy_if(group.begin(), group.end(), std::back_inserter(work),
                   [&](NodeId id) { return def_use.roles[index(id)] == Role::work; });
      summaries.add(one, work);
      sum += costmodel::group(summaries.summary(one), device).total.value;
    }
    return sum;
  }
  const Borders borders(graph, def_use, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    stop_if_asked(stop);
    sum += group_price(outlined(graph, borders.of(g)), device);
  }
  return sum;
}

}  // namespace tailor::explore
