// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The median's interval against oracles: every pattern of signs for small n, sums of long doubles, and how often it
// covers the truth under noise of many shapes. Noise comes from support/noise.h with fixed seeds, so every figure
// repeats. Part of the suite `base`.
#include "base/statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "support/approx.h"
#include "support/noise.h"
#include "support/thorough.h"

using namespace tailor;
using testing::Noise;
using testing::NoiseKind;

namespace {

/// How often the interval of n samples holds 1, out of `runs`.
double coverage(NoiseKind kind, int n, double confidence, int runs, std::uint64_t seed) {
  int held = 0;
  for (int run = 0; run < runs; ++run) {
    Noise noise(kind, 0.02, seed + static_cast<std::uint64_t>(run));
    std::vector<double> values;
    for (int i = 0; i < n; ++i) values.push_back(noise.next());
    const Spread spread = spread_of(values, confidence);
    held += spread.low <= 1 && 1 <= spread.high ? 1 : 0;
  }
  return static_cast<double>(held) / runs;
}

}  // namespace

TEST_CASE("binomial tails equal the count over every pattern of coins") {
  for (int n = 1; n <= 14; ++n) {
    std::vector<int> patterns(static_cast<std::size_t>(n) + 1);
    for (unsigned pattern = 0; pattern < (1U << n); ++pattern)
      ++patterns[static_cast<std::size_t>(std::popcount(pattern))];
    int sum = 0;
    for (int k = 0; k <= n; ++k) {
      CHECK(std::exp(log_choose(n, k)) == approx(patterns[static_cast<std::size_t>(k)]));
      sum += patterns[static_cast<std::size_t>(k)];
      CHECK(fair_tail(n, k) == approx(std::ldexp(sum, -n)).epsilon(1e-12));
    }
    CHECK(fair_tail(n, -1) == 0);
    CHECK(fair_tail(n, n + 3) == 1);
  }
}

TEST_CASE("binomial tails keep their digits for thousands of coins") {
  for (const int n : {100, 1000, 5000}) {
    long double term = 1, sum = 0;  // scaled by 2^n; long doubles reach 2^16383
    for (int k = 0; k < n / 2; ++k) {
      sum += term;
      term *= static_cast<long double>(n - k) / (k + 1);
      const long double exact = std::ldexp(sum, -n);
      if (exact > 1e-300L) CHECK(fair_tail(n, k) == approx(static_cast<double>(exact)).epsilon(1e-9));
    }
  }
}

TEST_CASE("the interval covers the median exactly as often as it says, over every pattern of signs") {
  // Sample i lies above the median or not, each equally likely: the interval of ranks k and n + 1 - k misses exactly
  // where fewer than k lie on a side.
  for (int n = 1; n <= 14; ++n)
    for (int k = 1; k <= (n + 1) / 2; ++k) {
      int held = 0;
      for (unsigned pattern = 0; pattern < (1U << n); ++pattern)
        held += std::popcount(pattern) >= k && n - std::popcount(pattern) >= k ? 1 : 0;
      CHECK(std::fabs(rank_confidence(n, k) - std::ldexp(held, -n)) < 1e-12);
    }
}

TEST_CASE("ranks are the narrowest that reach the confidence, and too few samples say so") {
  for (const double confidence : {0.5, 0.9, 0.95, 0.99, 0.9999}) {
    for (int n = 1; n <= 300; ++n) {
      const int k = median_rank(n, confidence);
      if (k == 0) {
        CHECK(rank_confidence(n, 1) < confidence);
        CHECK(n < samples_for(confidence));
        continue;
      }
      CHECK(rank_confidence(n, k) >= confidence);
      if (k < (n + 1) / 2) CHECK(rank_confidence(n, k + 1) < confidence);
    }
    CHECK(median_rank(samples_for(confidence), confidence) == 1);
  }
  CHECK(samples_for(0.95) == 6);
  CHECK(samples_for(0.99) == 8);
  CHECK(median_rank(20, 0.95) == 6);    // the published table of the sign test's interval
  CHECK(median_rank(100, 0.95) == 40);  // likewise
}

TEST_CASE("a spread is made of the samples") {
  const std::vector<double> five = {5, 1, 4, 2, 3};
  const Spread few = spread_of(five, 0.95);
  CHECK(few.too_few);
  CHECK(few.median == 3);
  CHECK(few.low == 1);
  CHECK(few.high == 5);
  CHECK(few.confidence == approx(1 - 2.0 / 32));
  CHECK(std::isinf(few.relative_half_width()));
  const std::vector<double> six = {6, 5, 1, 4, 2, 3};
  const Spread enough = spread_of(six, 0.95);
  CHECK_FALSE(enough.too_few);
  CHECK(enough.median == 3.5);
  CHECK(enough.relative_half_width() == approx(2.5 / 3.5));
  CHECK(spread_of({}, 0.95) == Spread{});
  const std::vector<double> same(50, 7.0);
  CHECK(spread_of(same, 0.95).relative_half_width() == 0);
  const std::vector<double> sorted = {1, 2, 3, 4};
  CHECK(quantile(sorted, 0) == 1);
  CHECK(quantile(sorted, 0.25) == approx(1.75));
  CHECK(quantile(sorted, 0.5) == median_of(sorted));
  CHECK(quantile(sorted, 1) == 4);
}

TEST_CASE("the interval covers under skewed, heavy and two-humped noise, whatever the number of samples" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::uint64_t seed = 20260101;
  INFO("seed ", seed);
  const int runs = testing::effort(1000, 3000, 3000);
  for (const NoiseKind kind : {NoiseKind::normal, NoiseKind::skewed, NoiseKind::heavy, NoiseKind::two_humps})
    for (const int n : {6, 7, 10, 20, 50, 101})
      for (const double confidence : {0.9, 0.95}) {
        if (n < samples_for(confidence)) continue;
        INFO(testing::noise_names[static_cast<int>(kind)], ", n ", n, ", confidence ", confidence);
        const double stated = rank_confidence(n, median_rank(n, confidence));
        const double deviation = std::sqrt(stated * (1 - stated) / runs);
        const double held = coverage(kind, n, confidence, runs, seed);
        CHECK(held >= stated - 4.5 * deviation);
        // Not wider than it must be, but for the few runs in which chance looks like dependence.
        CHECK(held <= stated + 4.5 * deviation + 0.02);
      }
}

TEST_CASE("samples that resemble their predecessor are worth less, and the interval knows" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::uint64_t seed = 20260102;
  INFO("seed ", seed);
  for (const int n : {50, 100, 400}) {
    INFO("n ", n);
    CHECK(coverage(NoiseKind::resembling, n, 0.95, 2000, seed) >= (n < 100 ? 0.87 : 0.90));
    // What it would be without: the rank of independent samples.
    int held = 0;
    for (std::uint64_t run = 0; run < 2000; ++run) {
      Noise noise(NoiseKind::resembling, 0.02, seed + run);
      std::vector<double> values;
      for (int i = 0; i < n; ++i) values.push_back(noise.next());
      std::sort(values.begin(), values.end());
      const auto k = static_cast<std::size_t>(median_rank(n, 0.95));
      held += values[k - 1] <= 1 && 1 <= values[static_cast<std::size_t>(n) - k] ? 1 : 0;
    }
    CHECK(held < 0.75 * 2000);
  }
  // Runs of three on one side: each sample says what 2 r of its neighbour said, and ranks move by the root of that.
  std::vector<double> in_runs;
  for (int i = 0; i < 120; ++i) in_runs.push_back((i / 3 % 2 == 0 ? 1000 : 2000) + i);
  const Spread wide = spread_of(in_runs, 0.95);
  const int rank = median_rank(120, 0.95);
  CHECK(rank == 49);
  // 80 of 119 neighbours agree, 39 do not: r = 41 / 120 + 1 / 120, (1 + r) / (1 - r) = 162 / 78.
  CHECK(wide.dependence == approx(162.0 / 78.0));
  std::sort(in_runs.begin(), in_runs.end());
  const auto moved = static_cast<std::size_t>(60 - 11 * 1.4411534);  // the root of 162 / 78
  CHECK(wide.low == in_runs[moved - 1]);
  CHECK(wide.high == in_runs[120 - moved]);
  std::vector<double> alternating, independent;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    alternating.push_back(i % 2);
    independent.push_back(static_cast<double>(random() % 1000));
  }
  CHECK(dependence(alternating) == 1);
  CHECK(dependence(independent) == 1);
  std::sort(independent.begin(), independent.end());
  CHECK(dependence(independent) > 20);  // a trend
}

TEST_CASE("an interval of runs that are too long for their number is all samples and says so") {
  // 16 samples in two runs: of 15 neighbours 14 agree and one does not, r = 13 / 16 + 1 / 16, (1 + r) / (1 - r) = 15.
  std::vector<double> halves;
  for (int i = 0; i < 16; ++i) halves.push_back((i < 8 ? 1000 : 2000) + i);
  const Spread spread = spread_of(halves, 0.9);
  CHECK(spread.dependence == approx(15));
  CHECK(spread.too_few);  // rank 5 of 16: 8 - 3 * 3.87 is below the first
  CHECK(spread.low == 1000);
  CHECK(spread.high == 2015);
  CHECK(spread.confidence <= 0.9);
  CHECK(std::isinf(spread.relative_half_width()));
  // One sample fewer is too few to tell, and chance alone makes no dependence.
  CHECK(dependence(std::span(halves).first(15)) == 1);
  std::vector<double> pairs;  // two by two: 8 of 15 neighbours agree, r = 1 / 16 + 1 / 16 is below 1.645 / 4
  for (int i = 0; i < 16; ++i) pairs.push_back((i / 2 % 2 == 0 ? 1000 : 2000) + i);
  CHECK(dependence(pairs) == 1);
  const std::vector<double> negative{-3, -2, -1, -4, -5, -6, -7};
  CHECK(std::isinf(spread_of(negative, 0.9).relative_half_width()));
}

TEST_CASE("a rank correlation is 1 for the same order, -1 for the reverse, and Pearson's of the places with ties") {
  const std::vector<double> a = {1, 5, 2, 9, 4}, squared = {1, 25, 4, 81, 16}, reverse = {-1, -5, -2, -9, -4};
  CHECK(rank_correlation(a, squared).value() == approx(1));
  CHECK(rank_correlation(a, reverse).value() == approx(-1));
  // Places 0, 1.5, 1.5, 3 against 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
  const std::vector<double> tied = {1, 2, 2, 3}, counted = {1, 2, 3, 4}, same = {7, 7, 7, 7};
  CHECK(rank_correlation(tied, counted).value() == approx(4.5 / std::sqrt(4.5 * 5)));
  CHECK_FALSE(rank_correlation(same, counted).has_value());
  CHECK_FALSE(rank_correlation(a, counted).has_value());
  CHECK_FALSE(rank_correlation(std::span(a).first(2), std::span(squared).first(2)).has_value());
}
