// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Strategies side by side: what one run of a model takes as each of them cuts it. Every figure of time has two sides,
// over all groups and over those that a kernel can be written for today, because only the second one can be had. Comes
// in: a graph, fusions of it, devices. Goes out: figures and their table. Called by `tailor fuse`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/model.h"
#include "explore/partition.h"
#include "explore/plans/xla_style.h"
#include "explore/strategy.h"
#include "report/table.h"
#include "study/pipeline/observer.h"

namespace tailor::study {

/// The plan of a group that is as XLA would write its kernel.
struct XlaPlanTime {
  double seconds = 0;
  explore::SameLaunch launches = explore::SameLaunch::differs;
};

/// The best plan of a group on a device, as far as it was looked for.
struct BestPlan {
  double seconds = 0;
  double workspace_bytes = 0;  ///< memory that its kernel needs beside what it reads and writes
  std::optional<XlaPlanTime> xla = {};
};

/// Best plans by group and device: strategies share most of their groups. Nothing where no plan was found.
using BestPlans = std::map<std::pair<Id, std::string>, std::optional<BestPlan>>;

/// Of one run of the model on one device, in seconds.
struct TimesOnDevice {
  double bound = 0, price = 0;                  ///< of all groups
  double planned_bound = 0, planned_price = 0;  ///< of groups with a plan
  std::optional<double> projected;  ///< of the best plans of the same groups; absent: not asked for, or one has none
  std::optional<double> workspace_bytes;  ///< the most that one of these kernels needs
  std::int64_t xla_kernels = 0;           ///< that have a plan as XLA would write them
  std::int64_t xla_same_launch = 0;       ///< of these, with XLA's launch
  std::int64_t xla_same_warps = 0;        ///< of these, with XLA's launch but for idle threads of the last warp
  double as_xla = 0;                      ///< of these kernels under those plans
  double best_of_xla = 0;                 ///< of the same under the best plans; 0 where these were not asked for
};

struct StrategyFigures {
  explore::Partition partition;  ///< its name is what the row is called
  std::int64_t kernels_without_plan = 0;
  double launches_without_plan = 0;
  double planned_bytes = 0;       ///< moved by groups with a plan in a run
  double again = 0;               ///< operations of a run that another kernel does too
  double again_elements = 0;      ///< elements of their results
  double between_bytes = 0;       ///< values that one kernel writes for others, each in a place of its own
  std::vector<TimesOnDevice> on;  ///< one per device
};

/// `plans`: where best plans are kept, and looked for when they are not there; null: times of plans are not asked for.
StrategyFigures strategy_figures(const ir::Graph& graph, const ir::Fusion& fusion, explore::Partition partition,
                                 std::span<const costmodel::CalibratedDevice> devices, BestPlans* plans,
                                 const std::stop_token& stop = {});

/// Every strategy of the table, those that decide for a GPU once per device; what has no device, or none that
/// XLA has a description of, is left out with a sentence in `left_out`. Throws Error(interrupted) when asked to stop.
std::vector<StrategyFigures> all_strategies(const ir::Graph& graph,
                                            std::span<const costmodel::CalibratedDevice> devices,
                                            std::vector<std::string>& left_out, const Watch& watch);

/// What its counts take for granted: loops of unknown trips, branches that all run. Sentences.
std::vector<std::string> caveats(const explore::Partition& partition);

/// Where a row that leaves no more launches without a plan is cheaper than that of `tailor` by the price: what both
/// take by the price and by plans, and whether plans decided for `tailor` or it takes more by both. A sentence for each
/// GPU; nothing where no row is.
std::vector<std::string> decided_by_plans(std::span<const StrategyFigures> strategies,
                                          std::span<const costmodel::CalibratedDevice> devices);

/// How well those that imitate XLA agree with the real one, by data/agreement.json; no columns when none does. The
/// score is of texts as XLA's fusion got them; a note says where the graph shows that its text is from before.
report::Table agreement_table(const ir::Graph& graph, std::span<const StrategyFigures> strategies,
                              std::span<const costmodel::CalibratedDevice> devices, const std::filesystem::path& data);

/// One row each.
report::Table strategy_table(std::span<const StrategyFigures> strategies,
                             std::span<const costmodel::CalibratedDevice> devices);

}  // namespace tailor::study
