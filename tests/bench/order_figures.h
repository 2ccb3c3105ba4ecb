// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How well numbers order plans that a GPU timed. In: for each group, what a model said of each plan and what was
// measured. Out: errors, how much slower than the fastest the first plan and the best of the first four are, and the
// rank correlation, these in the mean of the groups of eight plans and more. Called by ranking_bench and
// recorded_bench.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "base/statistics.h"

namespace tailor {

/// Seconds, both above 0.
struct SaidAndSeen {
  double said = 0, seen = 0;
};

/// Groups of fewer plans have no order to speak of.
inline constexpr std::size_t least_plans = 8;

inline double mean_of(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Of one group; 0 where all numbers are the same.
inline double order_of(const std::vector<SaidAndSeen>& group) {
  std::vector<double> said, seen;
  for (const SaidAndSeen& one : group) said.push_back(one.said), seen.push_back(one.seen);
  return rank_correlation(said, seen).value_or(0);
}

inline void print_order(const char* name, const std::vector<std::vector<SaidAndSeen>>& groups) {
  std::vector<double> errors, bias, first, of_four, correlation;
  for (std::vector<SaidAndSeen> group : groups) {
    for (const SaidAndSeen& one : group) bias.push_back(one.said / one.seen - 1);
    if (group.size() < least_plans) continue;
    correlation.push_back(order_of(group));
    const auto faster = [](const SaidAndSeen& a, const SaidAndSeen& b) { return a.seen < b.seen; };
    const double fastest = std::min_element(group.begin(), group.end(), faster)->seen;
    std::stable_sort(group.begin(), group.end(),
                     [](const SaidAndSeen& a, const SaidAndSeen& b) { return a.said < b.said; });
    first.push_back(group[0].seen / fastest);
    of_four.push_back(std::min_element(group.begin(), group.begin() + 4, faster)->seen / fastest);
  }
  for (const double one : bias) errors.push_back(std::abs(one));
  const auto median = [](const std::vector<double>& values) { return values.empty() ? 0 : median_of(values); };
  const auto near = std::count_if(of_four.begin(), of_four.end(), [](double one) { return one <= 1.05; });
  fmt::print(
      "# {}: {} plans, error median {:.2f} % mean {:.1f} % bias {:+.1f} %; {} groups: first {:.4f} (median {:.3f}), of "
      "four {:.4f} ({} within 5 %), rank correlation {:.3f}\n",
      name, bias.size(), 100 * median(errors), 100 * mean_of(errors), 100 * median(bias), first.size(), mean_of(first),
      median(first), mean_of(of_four), near, mean_of(correlation));
}

}  // namespace tailor
