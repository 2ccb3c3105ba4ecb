// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of claim metrics and the judgement. In: totals by model, device and strategy. Out: sums by strategy, the
// proportion of the baseline's to the smallest other one, and whether that reaches the threshold. Called by
// run_sweep().
#include "study/sweep/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"

namespace tailor::study {

namespace {

constexpr std::array metric_table = std::to_array<ClaimMetric>({
    {"predicted_speedup_of_kernels", "predicted time of the fused kernels alone", true,
     [](const RunTotals& t) { return t.kernel_time.value; }},
    {"predicted_speedup_with_library", "predicted time of fused kernels and library calls", true,
     [](const RunTotals& t) { return t.kernel_time.value + t.library_time.value; }},
    {"launch_reduction_of_kernels", "launches of fused kernels alone", false,
     [](const RunTotals& t) { return t.launches; }},
    {"launch_reduction_with_library", "launches of fused kernels and library calls", false,
     [](const RunTotals& t) { return t.launches + t.library_calls; }},
    {"traffic_reduction_of_kernels", "bytes that the fused kernels alone move", false,
     [](const RunTotals& t) { return t.traffic.value; }},
    {"traffic_reduction_with_library", "bytes that fused kernels and library calls move", false,
     [](const RunTotals& t) { return t.traffic.value + t.library_traffic.value; }},
});

}  // namespace

std::span<const ClaimMetric> claim_metrics() { return metric_table; }

const ClaimMetric& find_metric(const std::string& name) {
  std::vector<std::string_view> known;
  std::string endings;
  for (const ClaimMetric& metric : metric_table) {
    if (metric.name == name) return metric;
    known.push_back(metric.name);
    if (metric.name.starts_with(name + "_")) endings += fmt::format("{}{}", endings.empty() ? "" : " or ", metric.name);
  }
  throw Error(Fault::usage,
              fmt::format("found claim metric '{}', expected one that says what it looks at: fused kernels alone, or "
                          "library calls too",
                          name),
              endings.empty() ? suggestion(name, known) : "say which: " + endings);
}

namespace {

/// Launches without a plan that a predicted time may hold, of all. A bound is less than any time: in a baseline it
/// makes the claim harder than it is, in another strategy easier.
constexpr double most_without_plan = 0.1;

bool is_predicted(const RunTotals& sum) { return sum.launches_without_plan <= most_without_plan * sum.launches; }

/// Why a claim about these has no verdict: nobody fuses anything, or the baseline's time is no prediction.
std::string nothing_to_judge(const std::map<std::string, RunTotals>& sums, const RunTotals& baseline,
                             const ClaimMetric& metric) {
  const auto idle = [](const auto& one) { return one.second.launches == 0; };
  if (std::all_of(sums.begin(), sums.end(), idle)) return "no strategy makes a kernel, so there is nothing to fuse";
  if (metric.predicted && !is_predicted(baseline))
    return fmt::format("{} of {} of the baseline have no plan, and a bound is no prediction",
                       with_commas(whole_count(baseline.launches_without_plan)),
                       counted(whole_count(baseline.launches), "launch"));
  return {};
}

}  // namespace

JudgedClaim judge(const Claim& claim, std::span<const store::StrategyTotals> strategies, Bytes library_traffic,
                  const std::string& baseline) {
  JudgedClaim judged{&find_metric(claim.metric), 0, {}, claim.threshold};
  std::map<std::string, RunTotals> sums;
  for (const store::StrategyTotals& one : strategies) {
    RunTotals& sum = sums[one.strategy];
    sum.launches += one.launches;
    sum.library_calls += one.library_calls;
    sum.traffic += one.dram;
    sum.library_traffic = library_traffic;
    sum.kernel_time += one.predicted_time;
    sum.library_time += one.library_time;
    sum.launches_without_plan += one.launches_without_plan;
  }
  judged.not_judged = nothing_to_judge(sums, sums[baseline], *judged.metric);
  const double base = judged.metric->of(sums[baseline]);
  for (const auto& [strategy, sum] : sums)
    if (judged.metric->predicted && strategy != baseline &&
        (!is_predicted(sum) || sum.launches_without_plan > sums[baseline].launches_without_plan))
      judged.left_out.push_back(strategy);
    else if (const double other = judged.metric->of(sum); strategy != baseline && other > 0)
      judged.value = std::max(judged.value, base / other);
  if (judged.not_judged.empty() && !judged.left_out.empty() && judged.value == 0)
    judged.not_judged = fmt::format(
        "nothing is left to compare with: of {}, a tenth of the launches have no plan, or more of them than of {}",
        fmt::join(judged.left_out, ", "), baseline);
  return judged;
}

}  // namespace tailor::study
