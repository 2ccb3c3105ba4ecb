// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Pricing a fusion group by group. In: a graph, groups that may overlap, a device. Out: the sum of the prices of the
// groups, each taken out of the graph with its border and summarised alone. Called where a whole partition is judged;
// the search itself keeps summaries and asks only for what a move changes.
#include "explore/price.h"

#include "base/stop.h"
#include "explore/borders.h"

namespace tailor::explore {

double group_price(const ir::Graph& group, const costmodel::CalibratedDevice& device) {
  return costmodel::group(costmodel::summarise(group, costmodel::row_room(device)), device).total.value;
}

double price_of(const ir::Graph& graph, const ir::DefUse& def_use, const std::vector<std::vector<ir::NodeId>>& groups,
                const costmodel::CalibratedDevice& device, const std::stop_token& stop) {
  const Borders borders(graph, def_use, groups);
  double sum = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    stop_if_asked(stop);
    sum += group_price(ir::outline(graph, borders.of(g)).graph, device);
  }
  return sum;
}

}  // namespace tailor::explore
