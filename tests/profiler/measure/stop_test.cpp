// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The stop rules: every row is sound, the question is answered in the order it promises, and stopping where the
// interval is narrow does not wear its confidence off. Samples are synthetic noise with fixed seeds. Part of the suite
// `profiler`.
#include "profiler/measure/stop.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "support/noise.h"

using namespace tailor;
using namespace tailor::profiler;

TEST_CASE("every stop rule can be kept") {
  for (const StopRule& rule : stop_rules()) {
    INFO(rule.name);
    CHECK(&stop_rule(rule.name) == &rule);
    CHECK(rule.min_samples >= samples_for(rule.confidence));
    CHECK(rule.min_samples < rule.max_samples);
    CHECK(rule.half_width > 0);
    CHECK(rule.max_time > Seconds{});
    // Batches from nothing to the end: the first is the minimum, none is empty before the maximum.
    int taken = 0, batches = 0;
    while (const int next = next_batch(rule, taken)) {
      if (taken == 0) CHECK(next == rule.min_samples);
      taken += next;
      ++batches;
    }
    CHECK(taken == rule.max_samples);
    CHECK(batches <= 13);
  }
  CHECK_THROWS_WITH_AS(stop_rule("standart"),
                       "no stop rule is named 'standart', expected one of quick, standard, thorough", Error);
}

TEST_CASE("a rule stops when precise, out of samples or out of time, in that order") {
  const StopRule& rule = stop_rule("quick");
  const std::vector<double> same(static_cast<std::size_t>(rule.min_samples), 1e-5);
  CHECK(stop_after(rule, same, rule.max_time) == Stop::precise);
  CHECK(stop_after(rule, std::span(same).first(9), {}) == Stop::go_on);
  CHECK(stop_after(rule, std::span(same).first(9), rule.max_time) == Stop::out_of_time);
  std::vector<double> wild;
  for (int i = 0; i < rule.max_samples; ++i) wild.push_back(i % 2 == 0 ? 1.0 : 2.0);
  CHECK(stop_after(rule, std::span(wild).first(40), {}) == Stop::go_on);
  CHECK(stop_after(rule, wild, {}) == Stop::out_of_samples);
  CHECK(stop_after(rule, {}, {}) == Stop::go_on);
}

TEST_CASE("a median that a rule calls precise is as precise as it says, in most of the runs it promises") {
  const std::uint64_t seed = 20260103;
  INFO("seed ", seed);
  const StopRule& rule = stop_rule("standard");
  for (const auto kind : {testing::NoiseKind::normal, testing::NoiseKind::skewed, testing::NoiseKind::heavy}) {
    INFO(testing::noise_names[static_cast<int>(kind)]);
    int stopped = 0, right = 0, held = 0;
    for (std::uint64_t run = 0; run < 1000; ++run) {
      testing::Noise noise(kind, 0.02, seed + run);
      std::vector<double> values;
      Stop stop = Stop::go_on;
      while (stop == Stop::go_on) {
        for (int more = next_batch(rule, static_cast<int>(values.size())); more > 0; --more)
          values.push_back(noise.next());
        stop = stop_after(rule, values, {});
      }
      if (stop != Stop::precise) continue;
      const Spread spread = spread_of(values, rule.confidence);
      ++stopped;
      right += std::abs(spread.median - 1) <= 2 * rule.half_width ? 1 : 0;
      held += spread.low <= 1 && 1 <= spread.high ? 1 : 0;
    }
    CHECK(stopped > 950);
    CHECK(right >= 0.99 * stopped);
    CHECK(held >= 0.90 * stopped);  // asked 0.95: narrow ones are chosen, at most 12 times
  }
}
