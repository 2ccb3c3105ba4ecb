// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Order statistics: medians with intervals. In: samples in the order they were taken. Out: the median, an interval
// with its confidence, and how much neighbours resemble each other. Called wherever a time is reported, compared or
// used to stop.
//
// Each sample lies below the true median with probability one half, so how many do is binomial, whatever the
// distribution of the samples. The interval between the k-th smallest and the k-th largest sample misses the median
// with probability 2 * P(fewer than k of n below); median_rank() finds the largest k that is still confident enough.
// With too few samples no k is, and the result says so instead of inventing one.
//
// Samples that resemble their predecessor are worth less than their number. The correlation of their signs about the
// median, where it is beyond what chance gives, widens the interval by sqrt((1 + r) / (1 - r)) in ranks.
//
// Sums of binomial terms run from the largest down, in logarithms at the start, so that thousands of samples neither
// underflow nor lose digits.
#include "base/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <vector>

namespace tailor {

double log_choose(int n, int k) {
  assert(0 <= k && k <= n);
  k = std::min(k, n - k);
  double sum = 0;
  for (int i = 1; i <= k; ++i) sum += std::log(static_cast<double>(n - k + i) / i);
  return sum;
}

double fair_tail(int n, int k) {
  if (k < 0) return 0;
  if (k >= n) return 1;
  if (2 * k >= n) return 1 - fair_tail(n, n - k - 1);
  const double largest = std::exp(log_choose(n, k) - n * std::numbers::ln2);
  double term = 1, sum = 1;
  for (int i = k; i > 0 && term > 1e-18 * sum; --i) sum += term *= static_cast<double>(i) / (n - i + 1);
  return largest * sum;
}

double rank_confidence(int n, int k) { return k < 1 ? 1 : std::max(0.0, 1 - 2 * fair_tail(n, k - 1)); }

int median_rank(int n, double confidence) {
  int low = 0, high = (n + 1) / 2;  // low is right, or 0; high + 1 is too far
  while (low < high) {
    const int middle = (low + high + 1) / 2;
    if (rank_confidence(n, middle) >= confidence)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

int samples_for(double confidence) {
  int n = 1;
  while (rank_confidence(n, 1) < confidence) ++n;
  return n;
}

double quantile(std::span<const double> ascending, double p) {
  assert(!ascending.empty() && p >= 0 && p <= 1);
  const double place = p * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return std::lerp(ascending[below], ascending[above], place - static_cast<double>(below));
}

double median_of(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5);
}

double dependence(std::span<const double> in_time) {
  constexpr std::size_t fewest = 16;  // below, the correlation of signs is mostly noise
  const std::size_t n = in_time.size();
  if (n < fewest) return 1;
  const double median = median_of(in_time);
  const auto sign = [&](std::size_t i) { return in_time[i] < median ? -1.0 : in_time[i] > median ? 1.0 : 0.0; };
  double together = 0, alone = 0;
  for (std::size_t i = 0; i < n; ++i) {
    alone += sign(i) * sign(i);
    if (i > 0) together += sign(i) * sign(i - 1);
  }
  if (alone == 0) return 1;
  const auto count = static_cast<double>(n);
  // The signs sum to about zero, which alone makes neighbours look opposed by 1 / n.
  const double r = std::min(together / alone + 1 / count, 1 - 2 / count);
  return r <= 1.645 / std::sqrt(count) ? 1 : (1 + r) / (1 - r);
}

double Spread::relative_half_width() const {
  return too_few || median <= 0 ? std::numeric_limits<double>::infinity() : (high - low) / 2 / median;
}

Spread spread_of(std::span<const double> in_time, double confidence) {
  assert(confidence > 0 && confidence < 1);
  if (in_time.empty()) return {};
  std::vector<double> sorted(in_time.begin(), in_time.end());
  std::sort(sorted.begin(), sorted.end());
  assert(std::isfinite(sorted.front()) && std::isfinite(sorted.back()));
  const int n = static_cast<int>(sorted.size());
  Spread spread{.median = quantile(sorted, 0.5), .dependence = dependence(in_time), .n = n};
  int rank = median_rank(n, confidence);
  spread.too_few = rank == 0;
  spread.confidence = rank_confidence(n, std::max(rank, 1));
  if (spread.dependence > 1) {
    // The number of samples below the median spreads sqrt(dependence) times as far about n / 2.
    const double reach = (n / 2.0 - rank) * std::sqrt(spread.dependence);
    const int widened = static_cast<int>(std::floor(n / 2.0 - reach));
    spread.too_few = spread.too_few || widened < 1;
    if (spread.too_few) spread.confidence = std::min(spread.confidence, confidence);
    rank = widened;
  }
  rank = std::max(rank, 1);
  spread.low = sorted[static_cast<std::size_t>(rank - 1)];
  spread.high = sorted[static_cast<std::size_t>(n - rank)];
  return spread;
}

namespace {

/// The place of each among all, from 0; equal ones have the mean of their places.
std::vector<double> places_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> places(values.size());
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() && !(values[order[from]] < values[order[to]])) ++to;
    for (std::size_t k = from; k < to; ++k) places[order[k]] = 0.5 * static_cast<double>(from + to - 1);
  }
  return places;
}

}  // namespace

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 3) return {};
  const std::vector<double> x = places_of(a), y = places_of(b);
  const double middle = 0.5 * static_cast<double>(a.size() - 1);
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  if (xx == 0 || yy == 0) return {};
  return xy / std::sqrt(xx * yy);
}

}  // namespace tailor
