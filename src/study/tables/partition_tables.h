// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a strategy cut a model, as tables: group by group, strategy by strategy, edge by edge. Times are lower bounds
// (level sol), so nothing here depends on a plan. In: partitions and the devices whose bounds stand beside them. Out:
// tables of report/table.h. Called by `tailor fuse`.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string_view>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "report/table.h"

namespace tailor::study {

/// One row per distinct group, the dearest first, at most `top` rows (0: all): by the price `group` of all its runs on
/// the first device, without a device by the bytes they move. Its number is its name and stays what it is. `reasons`:
/// with columns that say why a group cannot be planned yet, and which emitter of XLA's would write it with a launch
/// that a plan has or not.
report::Table group_table(const explore::Partition& partition, std::span<const costmodel::CalibratedDevice> devices,
                          std::int64_t top, bool reasons);

/// One row per decision and reason, names, extents and numbers left out of it: how many edges, and the bytes of their
/// values. The one that carries most comes first. Error(interrupted) when asked to stop.
report::Table reason_table(const ir::Graph& graph, const ir::Fusion& fusion, const std::stop_token& stop = {});

/// One row per edge that the strategy noted, at most `top` rows (0: all); of one node's edges where `node` names one,
/// which throws Error(usage) when there are none. With a node and a device each row has the choice that was not taken
/// and both prices. `for_person`: without the columns that say nothing here. Error(interrupted) when asked to stop.
report::Table edge_table(const ir::Graph& graph, const ir::Fusion& fusion, std::string_view node,
                         const costmodel::CalibratedDevice* device, std::int64_t top, bool for_person,
                         const std::stop_token& stop = {});

}  // namespace tailor::study
