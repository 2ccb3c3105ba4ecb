// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups held against their plans. In: the partition that a search by price ended with, and those that it has met on
// its way. Out: the best mixture of them by the best of a few plans of each group, as far as plans were looked at.
// Called by strategy "tailor" when it has searched.
#pragma once

#include <cstdint>
#include <vector>

#include "explore/merge_search.h"
#include "explore/plans/tune.h"
#include "explore/spending.h"
#include "explore/strategy.h"

namespace tailor::explore {

/// How much is looked at. Work is counted in nodes of groups times plans of them that are lowered.
struct PlanEffort {
  std::int64_t whole_nodes = 512;         ///< of all groups together, up to which every group is looked at in full
  std::int64_t plans = plans_in_passing;  ///< of a group in full
  std::int64_t few_plans = 16;            ///< of a group where not all are looked at in full
  std::int64_t nodes_times_plans =
      32'768;                        ///< of one group there: fewer plans of large ones, an eighth of them at first
  std::int64_t most_work = 200'000;  ///< of a graph there
  /// Of ours and what other strategies make together, up to which these are looked at in full at the end; work that
  /// may go there.
  std::int64_t strategies_nodes = 8192;
  std::int64_t strategies_work = 160'000;
  double doubt = 1.25;  ///< times its price that a plan may take before other ways are looked at there
  double dear = 2;      ///< times its price that a plan of a group takes which is put together anew, in full alone
  double gain = 0.02;   ///< least share that another way must save there: few plans are few
};

struct HeldAgainstPlans {
  NodeSets groups;
  std::vector<bool> changed;  ///< by node: plans put it into another group than the price
};

/// A partition that was met on the way.
struct MetPartition {
  NodeSets groups;
  bool of_strategy = false;  ///< what another strategy makes, as far as it can be written
  double price = 0;          ///< seconds, of all groups
};

/// `task.plans` is set. Groups may be joined that no partition has, where the lowering had a doubt about them. `others`
/// cover the same working nodes; what does not, or waits in a circle, is left out. The cheapest are looked at first, of
/// equal ones the last. Where the groups of all of them together are small, the answer's best plans take no more than
/// those of `ours` or of any of `others`, a group without a plan counting more than all that have one. Of large ones
/// only groups are looked at whose plans take much more than their price; then the answer is held against those of
/// strategies in full, as far as `strategies_work` goes. Deterministic as long as `spending` has seconds left; when
/// they are over, or when stopped, it returns what it has.
HeldAgainstPlans hold_against_plans(const FusionTask& task, NodeSets ours, const std::vector<MetPartition>& others,
                                    const Spending& spending, const PlanEffort& effort = {});

}  // namespace tailor::explore
