// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tuning one group without a GPU: enumerate, drop by rules, lower, count, score by a cost model, rank. A prepared
// group, axes and a device come in; ranked plans, counts of what was dropped with the reasons, and the best plans as
// different kernels go out. Each plan is lowered and counted once: the kernels of the best are kept as they are found.
// Called by study, which prints, compiles and checks them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "codegen/lower/prepare.h"
#include "costmodel/calibration.h"
#include "costmodel/model.h"
#include "costmodel/work.h"
#include "explore/plans/space.h"
#include "ir/device.h"
#include "ir/estimate.h"
#include "ir/kernel/kernel.h"
#include "ir/plan.h"

namespace tailor::explore {

struct Scored {
  ir::Plan plan;
  ir::Estimate estimate;
  int from_usual = 0;  ///< steps from the usual plan of the group (usual.h)
  Id plan_id;
};

/// A plan of the short list with what it lowers to.
struct Listed {
  ir::Plan plan;
  ir::Estimate estimate;
  int from_usual = 0;
  Id plan_id;
  ir::Kernel kernel;
  Id kernel_id;
  costmodel::Work work;
};

/// All plans that one rule, or the lowering under one rule's name, refused.
struct RejectedPlans {
  std::string rule;
  bool sound = true;
  std::int64_t plans = 0;
  std::string example;  ///< text of the first
  std::string reason;   ///< what was said of it, with its numbers
};

struct Tuned {
  std::vector<Scored> ranked;  ///< fastest first; ties by steps from the usual plan, then by id
  /// The first of `ranked` that lower to different kernels, at most `keep`. With a short list: this first, in the order
  /// of the ranking, then the first of the others.
  std::vector<Listed> best;
  /// Most plans first. Where no plan is left and one rule holds against every plan of the space, that one alone.
  std::vector<RejectedPlans> rejections;
  std::int64_t space = 0;       ///< combinations of the axes
  std::int64_t enumerated = 0;  ///< plans that mean something
  std::int64_t left_out = 0;    ///< legal as far as rules know, but beyond the limit on plans
  std::int64_t refused = 0;     ///< plans that the lowering refused, under the rules that were in force last
  std::int64_t lowerings = 0;   ///< plans that were lowered, refused ones included; those known to be refused are not
  bool stopped = false;         ///< the stop token ended it early
};

/// Every different kernel.
inline constexpr std::int64_t keep_all = std::numeric_limits<std::int64_t>::max();

struct TuneOptions {
  const costmodel::Model* model = nullptr;     ///< needs no binary; nullptr: projected
  std::optional<std::int64_t> max_plans = {};  ///< lower at most so many, spread evenly over the space
  /// With `max_plans`: looks of counting (costmodel/count.h) that they may take, about; where plans are slow to count
  /// fewer of them are lowered, as evenly spread. 0: no limit.
  std::int64_t most_looks = 0;
  std::int64_t keep = 0;  ///< different kernels that are kept, the best
  /// So many kernels whose plans differ in more than their blocks, where the group has them, one of them the nearest to
  /// the usual plan when there are two or more; 0: none. At most `keep`.
  std::int64_t short_list = 0;
  bool heuristics = true;  ///< apply heuristic rules, not only sound ones
  bool reasons = true;     ///< of a group without a plan look for the one rule that refuses all
  std::stop_token stop = {};
};

/// Plans that are lowered of a group whose best one is asked for in passing: a fraction of a second.
inline constexpr std::int64_t plans_in_passing = 256;
/// How a group is tuned in passing: so many plans spread over its space, and the best kernel.
TuneOptions in_passing(std::int64_t plans, const std::stop_token& stop);

/// Combinations of the axes that tune() goes over; of a pack those of its bodies.
std::int64_t size_of_space(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits);

/// Pure: the same arguments give the same answer on any machine.
Tuned tune(const codegen::Prepared& prepared, const Axes& axes, const costmodel::CalibratedDevice& device,
           const TuneOptions& options);

}  // namespace tailor::explore
