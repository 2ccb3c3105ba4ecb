// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cuts a group at its windows. In: a group of a graph, what its nodes read. Out: its pieces, which wait for one another
// in no circle. Called when a search has ended (by_plans.cpp): the pieces are then put together again as plans say, for
// the price of a group does not see what windows take beside one another.
#pragma once

#include <vector>

#include "costmodel/group_facts.h"
#include "ir/graph/graph.h"

namespace tailor::explore {

/// Every reduction, over windows or not, alone. What else the group holds stays together where it is connected and
/// behind equally many of them, so no piece waits for itself. One piece where the group has no window. Nodes that do no
/// work are left out. Precondition: `group` ascends.
std::vector<std::vector<ir::NodeId>> cut_at_windows(const ir::Graph& graph, const costmodel::GroupFacts& facts,
                                                    const std::vector<ir::NodeId>& group);

}  // namespace tailor::explore
