// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of a race one by one, on times that are written down and not drawn: who may put whom out and when, what
// ends it, which samples count as held down, and which rounds the sentinel calls suspect. Both sides of each boundary.
// The statistics over noise are race_test's. Part of the suite `profiler`.
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "profiler/measure/race.h"
#include "profiler/measure/stop.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// A contender whose sample `k` takes `time(k)` seconds.
Contender scripted(std::function<double(int)> time, std::uint32_t throttle = 0) {
  return {"scripted", [time = std::move(time), throttle, taken = 0](int samples) mutable {
            SampleBatch batch;
            for (int i = 0; i < samples; ++i) batch.samples.push_back({{time(taken++)}, 0, throttle});
            return batch;
          }};
}

Contender always(double seconds) {
  return scripted([seconds](int) { return seconds; });
}

/// Of the median's interval, over the median.
double half_width_of(const std::vector<double>& seconds, double confidence) {
  const Spread spread = spread_of(seconds, confidence);
  REQUIRE_FALSE(spread.too_few);
  return (spread.high - spread.low) / 2 / spread.median;
}

RaceOptions of_samples(int most) {
  RaceOptions options;
  options.rule.max_samples = most;
  return options;
}

}  // namespace

TEST_CASE("three that beat one another in a circle do not put each other all out") {
  // Each is faster than the next in two rounds of three.
  std::vector<Contender> all;
  for (int i = 0; i < 3; ++i) all.push_back(scripted([i](int round) { return 1 + (i + round) % 3; }));
  RaceOptions options = of_samples(300);
  options.rule.half_width = 1e-6;
  const RaceResult result = race(all, options);
  REQUIRE_FALSE(result.tie.empty());
  CHECK(result.end != RaceEnd::nobody_left);
  int beaten = 0;
  for (int i = 0; i < 3; ++i) {
    int at = i, steps = 0;  // whoever was beaten was so, in the end, by one who was not
    while (result.standings[at].beaten_by >= 0 && ++steps < 4) at = result.standings[at].beaten_by;
    CHECK(steps < 4);
    beaten += result.standings[i].beaten_by >= 0 ? 1 : 0;
  }
  CHECK(beaten > 0);
}

TEST_CASE("the allowed error is shared among all pairs: a loser of every round goes when that many prove it") {
  for (const int contenders : {2, 4, 8}) {
    std::vector<Contender> all;
    for (int i = 0; i < contenders; ++i) all.push_back(always(i == 0 ? 2 : 1));
    RaceOptions options = of_samples(100);
    options.error = 0.05;
    const RaceResult result = race(all, options);
    const int rounds = rounds_to_decide(0.05 / (contenders * (contenders - 1)));
    CHECK(static_cast<int>(result.standings[0].samples.size()) == rounds);
    CHECK(result.standings[0].beaten_by > 0);
    CHECK(result.tie.size() == static_cast<std::size_t>(contenders) - 1);
    CHECK(result.error == 0.05);
  }
  CHECK(rounds_to_decide(0.05 / 2) < rounds_to_decide(0.05 / 12));
  CHECK(rounds_to_decide(0.05 / 12) < rounds_to_decide(0.05 / 56));
}

TEST_CASE("a round is lost by more than the floor: not by as much, and not by nothing") {
  struct Row {
    double slower, floor;
    std::size_t left;
  };
  for (const Row& row : {Row{1, 0, 2}, Row{1.25, 0.25, 2}, Row{1.3125, 0.25, 1}, Row{1.0625, 0, 1}}) {
    const std::vector<Contender> all{always(1), always(row.slower)};
    RaceOptions options = of_samples(60);
    options.floor = {row.floor};
    CAPTURE(row.slower);
    CHECK(race(all, options).tie.size() == row.left);
  }
}

TEST_CASE("contenders that take turns are tied within the precision, and else race on to their last sample") {
  for (const auto& [apart, end] : {std::pair(0.008, RaceEnd::tied), std::pair(0.03, RaceEnd::out_of_samples)}) {
    const auto turns = [&, apart = apart](int turn) {
      return scripted([apart, turn](int k) { return k % 2 == turn ? 1 : 1 + apart; });
    };
    const std::vector<Contender> all{turns(0), turns(1)};
    RaceOptions options = of_samples(80);
    options.rule.half_width = 0.01;
    const RaceResult result = race(all, options);
    CHECK(name(result.end) == name(end));
    CHECK(result.tie.size() == 2);
    CHECK((result.rounds == 80) == (end == RaceEnd::out_of_samples));
  }
}

TEST_CASE("a difference below the floor ends a race though it is above the precision, with samples to spare") {
  // Always 1.5 % apart, which the floor of 2 % calls nothing; the precision is 1 %.
  const std::vector<Contender> all{always(1), always(1.015)};
  RaceOptions options = of_samples(200);
  options.rule.half_width = 0.01;
  options.floor = {0.02};
  const RaceResult result = race(all, options);
  CHECK(name(result.end) == "tied");
  CHECK(result.rounds < 100);
}

TEST_CASE("samples count as held down for power, for heat and for hardware, and not for clocks that were chosen") {
  struct Row {
    std::uint32_t throttle;
    bool counts;
  };
  for (const Row& row :
       {Row{0, false}, Row{ir::throttle_sync, false}, Row{ir::throttle_power, true}, Row{ir::throttle_thermal, true},
        Row{ir::throttle_hardware, true}, Row{ir::throttle_sync | ir::throttle_thermal, true}}) {
    const std::vector<Contender> all{scripted([](int) { return 1.0; }, row.throttle), always(1)};
    const RaceResult result = race(all, of_samples(40));
    CAPTURE(row.throttle);
    CHECK(result.standings[0].throttled == (row.counts ? static_cast<int>(result.standings[0].samples.size()) : 0));
    CHECK(result.standings[1].throttled == 0);
  }
}

TEST_CASE("rounds are suspect from the last good look to the next good one, whichever way the machine moved") {
  struct Row {
    std::vector<double> looks;  ///< the sentinel's time at each, every five rounds; the last stands for all later ones
    std::vector<RoundRange> suspect;
  };
  for (const Row& row :
       {Row{{1}, {}}, Row{{1, 1, 1.2, 1}, {{5, 14}}}, Row{{1, 1, 0.8, 1}, {{5, 14}}}, Row{{1, 0.8, 0.8, 1}, {{0, 14}}},
        Row{{1, 1, 1, 1.2}, {{10, 39}}}, Row{{1, 1, 1, 0.8}, {{10, 39}}},
        Row{{1, 1.2, 1, 1, 0.8, 1}, {{0, 9}, {15, 24}}}, Row{{1, 1.009, 0.991, 1}, {}},  // within the precision of 1 %
        Row{{1, 1, 1.011, 1}, {{5, 14}}}}) {
    RaceOptions options = of_samples(40);
    options.rule.half_width = 0.01;
    options.sentinel_rounds = 5;
    options.sentinel_samples = 12;
    const Contender sentinel = scripted([&](int k) {
      const auto look = static_cast<std::size_t>(k / 12);
      return row.looks[std::min(look, row.looks.size() - 1)];
    });
    options.sentinel = &sentinel;
    // So far apart, in turns, that the race takes all its samples.
    const std::vector<Contender> all{scripted([](int k) { return k % 2 == 0 ? 1.0 : 3.0; }),
                                     scripted([](int k) { return k % 2 == 0 ? 3.0 : 1.0; })};
    const RaceResult result = race(all, options);
    CHECK(result.rounds == 40);
    CHECK(result.suspect == row.suspect);
    CHECK(result.sentinel.size() == 9 * 12);
  }
}

TEST_CASE("a rule calls times precise at its half width and not above, whatever the spread") {
  for (const StopRule& rule : stop_rules()) {
    int precise = 0, not_yet = 0;
    for (int step = 1; step <= 60; ++step) {
      std::vector<double> seconds;
      const int count = rule.min_samples;
      for (int i = 0; i < count; ++i) {  // strided: in the order of time there is no drift
        const int place = i * 7 % count;
        seconds.push_back(1 + rule.half_width * step / 10 * (2.0 * place / (count - 1) - 1));
      }
      const bool is_precise = half_width_of(seconds, rule.confidence) <= rule.half_width;
      CHECK((stop_after(rule, seconds, {}) == Stop::precise) == is_precise);
      ++(is_precise ? precise : not_yet);
    }
    CHECK(precise > 5);
    CHECK(not_yet > 5);
  }
}
