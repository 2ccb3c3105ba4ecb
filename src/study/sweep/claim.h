// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep may claim. In: the totals of strategies as a database has them, the bytes of library calls, a claim.
// Out: the claim's figure and whether it holds. Called by the reader of sweep files for the metric's name, and by
// run_sweep() at the end. Every metric is there twice, because a strategy decides about fused kernels and a model's run
// holds library calls too: `_of_kernels` looks at fused kernels alone, `_with_library` at everything a run does.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"
#include "study/sweep/config.h"

namespace tailor::study {

/// What one strategy takes for one run of every model of a sweep, added up.
struct RunTotals {
  double launches = 0;       ///< of fused kernels, loop bodies by their trips
  double library_calls = 0;  ///< executions
  Bytes traffic, library_traffic;
  Seconds kernel_time, library_time;  ///< predicted, also where a kernel was measured: not everything may have been
  double launches_without_plan = 0;
};

struct ClaimMetric {
  std::string_view name;
  std::string_view meaning;  ///< "launches of fused kernels alone"
  bool predicted;            ///< a time: what has no plan is in it with a bound
  double (*of)(const RunTotals&);
};
std::span<const ClaimMetric> claim_metrics();

/// Throws Error(usage) naming the nearest; for one of the words without its ending, both endings.
const ClaimMetric& find_metric(const std::string& name);

/// A claim held against what is stored.
struct JudgedClaim {
  const ClaimMetric* metric = nullptr;
  double value = 0;  ///< baseline over the best other strategy
  /// Strategies that are not compared by a predicted time, because more than a tenth of their launches are of groups
  /// without a plan, or more than of the baseline's: a bound is less than any time.
  std::vector<std::string> left_out;
  double threshold = 0;
  std::string not_judged = {};  ///< why there is nothing to judge; empty: the value says it
  bool holds() const { return not_judged.empty() && value >= threshold; }
};

/// `strategies` are of the sweep's models, devices and strategies; `library_traffic` of one run of all its models on
/// all its devices.
JudgedClaim judge(const Claim& claim, std::span<const store::StrategyTotals> strategies, Bytes library_traffic,
                  const std::string& baseline);

}  // namespace tailor::study
