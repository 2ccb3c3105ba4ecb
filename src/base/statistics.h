// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What samples of a time say about its median, without assuming how they are distributed: times of kernels are skewed,
// spiky and have two humps. The interval runs between two order statistics, and its confidence is a sum of binomial
// terms, exact at every number of samples. Samples that resemble their predecessor count for less: the interval is
// widened by what the signs about the median tell. Trends are not seen here; a race (profiler/measure/race.h) pairs
// them away.
#pragma once

#include <optional>
#include <span>

namespace tailor {

/// P(X <= k) for X binomial with n trials of probability one half; 0 for k < 0, 1 for k >= n.
double fair_tail(int n, int k);
/// ln(n choose k), for 0 <= k <= n.
double log_choose(int n, int k);

/// The rank k (from 1) so that [x(k), x(n+1-k)] covers the median with at least `confidence`, as narrow as possible; 0
/// when even [x(1), x(n)] does not.
int median_rank(int n, double confidence);
/// 1 - 2 P(X < k): how surely [x(k), x(n+1-k)] of n independent samples covers the median.
double rank_confidence(int n, int k);
/// The smallest n for which median_rank is not 0. 6 for 0.95.
int samples_for(double confidence);

/// The p-quantile of values in ascending order, interpolated linearly between neighbours (p = 0.5 is the median: the
/// mean of the two in the middle when their number is even). At least one value.
double quantile(std::span<const double> ascending, double p);
/// Of values in any order; at least one.
double median_of(std::span<const double> values);

/// How much wider an interval must be, in variance, because samples resemble their predecessor: (1 + r) / (1 - r), r
/// the correlation of neighbours' signs about the median. 1 when r is not clearly above 0, or with fewer than 16
/// values.
double dependence(std::span<const double> in_time);

/// A median and the interval that holds it.
struct Spread {
  double median = 0;
  double low = 0, high = 0;  ///< ends of the interval: two of the samples
  double confidence = 0;     ///< that the interval has; at least what was asked, unless `too_few`
  double dependence = 1;     ///< see above; the interval is already widened by it
  int n = 0;
  bool too_few = true;  ///< the samples cannot give the asked confidence; the interval is then all of them
  /// Half of the interval's width as a fraction of the median; infinite where too_few or the median is not positive.
  double relative_half_width() const;
  bool operator==(const Spread&) const = default;
};

/// Of finite values in the order they were taken; 0 < confidence < 1. Nothing gives Spread{}.
Spread spread_of(std::span<const double> in_time, double confidence);

/// Spearman's: how well one list ranks the other, from -1 to 1; ties share their places. Nothing for fewer than three,
/// for lists of different length, and where one list is all the same.
std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace tailor
