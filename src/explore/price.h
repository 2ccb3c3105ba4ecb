// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The price of whole fusions: what every strategy is scored by, whoever made the groups. In: a graph, its groups, a
// device. Out: seconds of one run, the sum over groups. Called by the search for its final choice, by tables that set
// strategies side by side, and by tests that hold one strategy against another.
#pragma once

#include <stop_token>
#include <vector>

#include "costmodel/model.h"
#include "ir/fusion.h"

namespace tailor::explore {

/// One group that is a graph of its own.
double group_price(const ir::Graph& group, const costmodel::CalibratedDevice& device);

/// The groups of one graph, bodies not included; groups may overlap. Throws Error(interrupted) when asked to stop.
double price_of(const ir::Graph& graph, const ir::DefUse& def_use, const std::vector<std::vector<ir::NodeId>>& groups,
                const costmodel::CalibratedDevice& device, const std::stop_token& stop = {});

}  // namespace tailor::explore
