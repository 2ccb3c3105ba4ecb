// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The other choice for one edge of a fusion, priced: what is one kernel as two, what is two as one, what is computed
// again as read from memory. Comes in: a graph, its groups, one note, a device. Goes out: seconds as it is and
// otherwise, and what stands against the other choice. Called where somebody asks why (`tailor fuse --why NODE`).
#pragma once

#include <string>
#include <string_view>

#include "costmodel/model.h"
#include "ir/fusion.h"

namespace tailor::explore {

struct Alternative {
  std::string_view what;  ///< "one kernel", "two kernels", "read from memory"
  double as_is = 0;       ///< seconds, by the price, of the groups that the other choice would change
  double otherwise = 0;   ///< of what would stand in their place
  std::string against;    ///< why it cannot be had, whatever it takes; empty: nothing
};

/// Precondition: `note` is one of the fusion's. Linear in the graph.
///
/// A cut edge: the group of the consumer together with the first group that computes the producer. A stitched one: the
/// producer with all that it needs of its group, and the rest. A recomputed one: the group without the producer.
Alternative alternative(const ir::Graph& graph, const ir::DefUse& def_use,
                        const std::vector<std::vector<ir::NodeId>>& groups, const ir::EdgeNote& note,
                        const costmodel::CalibratedDevice& device);

}  // namespace tailor::explore
