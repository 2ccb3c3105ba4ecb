// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Races among synthetic kernels whose order is known, under noise as unkind as a GPU's. Everything is counted in
// samples and races; no clock is read. Noise comes from support/noise.h with fixed seeds; how often a wrong winner may
// appear is bounded by a binomial tail. Part of the suite `profiler`.
#include "profiler/measure/race.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "support/noise.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::profiler;
using testing::Noise;
using testing::NoiseKind;

namespace {

constexpr double base = 20e-6;

/// Kernels on one machine: contender i takes relative[i] times the base, and all share the machine's noise.
struct Machine {
  Machine(NoiseKind kind, double size, std::uint64_t seed, std::vector<double> relative_times)
      : noise(kind, size, seed), relative(std::move(relative_times)) {}

  std::vector<Contender> contenders() {
    std::vector<Contender> all;
    for (std::size_t i = 0; i < relative.size(); ++i)
      all.push_back({"kernel " + std::to_string(i), [this, i](int samples) { return take(i, samples); }});
    return all;
  }
  SampleBatch take(std::size_t i, int samples) {
    SampleBatch taken;
    for (int k = 0; k < samples; ++k, ++total) {
      runs += i == 0 ? 1 : 0;
      if (total == jump_at) {
        speed = 1.05;
        jumped_in = runs;
      }
      const double exact = base * relative[i] * speed * noise.next();
      taken.samples.push_back({{resolution > 0 ? std::round(exact / resolution) * resolution : exact}, 0, throttle});
    }
    return taken;
  }

  Noise noise;
  std::vector<double> relative;
  double resolution = 0;  ///< of the timer, seconds
  double speed = 1;       ///< grows by 5 % at sample `jump_at`
  int total = 0, jump_at = -1;
  int runs = 0, jumped_in = 0;  ///< samples of kernel 0, also at the jump
  std::uint32_t throttle = 0;
};

/// P(X > count) for X binomial(n, p), the slow way.
double tail_above(int count, int n, double p) {
  double sum = 0;
  for (int k = count + 1; k <= n; ++k) sum += std::exp(log_choose(n, k) + k * std::log(p) + (n - k) * std::log1p(-p));
  return sum;
}

struct Tally {
  int races = 0, dropped = 0, winners = 0, found = 0, tied = 0;
  double share = 0;  ///< samples spent, of an equal allocation's
};

Tally tally(NoiseKind kind, double size, const std::vector<double>& relative, const RaceOptions& options, int races,
            std::uint64_t seed, double resolution = 0) {
  Tally sum;
  for (int run = 0; run < races; ++run) {
    Machine machine(kind, size, seed + static_cast<std::uint64_t>(run), relative);
    machine.resolution = resolution;
    RaceOptions mine = options;
    mine.seed = seed * 31 + static_cast<std::uint64_t>(run);
    const RaceResult result = race(machine.contenders(), mine);
    ++sum.races;
    sum.dropped += result.tie.size() < relative.size() ? 1 : 0;
    sum.winners += result.tie.size() == 1 ? 1 : 0;
    sum.found += result.tie == std::vector<int>{0} ? 1 : 0;
    sum.tied += result.tie.size() == 2 && result.tie[0] + result.tie[1] == 1 ? 1 : 0;
    sum.share += static_cast<double>(result.samples) / static_cast<double>(result.equal_samples) / races;
  }
  return sum;
}

}  // namespace

TEST_CASE("identical kernels have no winner more often than the stated level, whatever the noise") {
  const std::uint64_t seed = 20260201;
  INFO("seed ", seed);
  RaceOptions options;
  options.rule.max_samples = 150;
  const int races = testing::effort(40, 100, 250);
  for (const NoiseKind kind :
       {NoiseKind::skewed, NoiseKind::heavy, NoiseKind::two_humps, NoiseKind::resembling, NoiseKind::spiky_drift})
    for (const std::size_t contenders : {std::size_t{2}, std::size_t{8}}) {
      const Tally sum = tally(kind, 0.02, std::vector<double>(contenders, 1.0), options, races, seed);
      INFO(testing::noise_names[static_cast<int>(kind)], ", ", contenders, " kernels: ", sum.dropped, " dropped one, ",
           sum.winners, " had a winner, of ", sum.races);
      // Were the level broken by a little only, this many would still be unlikely; were it kept, they are impossible.
      CHECK(tail_above(sum.dropped - 1, races, options.error) > 1e-4);
      CHECK(sum.winners <= sum.dropped);
    }
}

TEST_CASE("the stated level is what keeps winners away: at a level of nothing they appear") {
  RaceOptions options;
  options.rule.max_samples = 150;
  options.error = 2.0 * 0.5;  // each of the two pairs at one half
  const Tally loose = tally(NoiseKind::spiky_drift, 0.02, {1, 1}, options, 200, 20260202);
  CHECK(tail_above(loose.dropped - 1, 200, 0.05) < 1e-6);
}

TEST_CASE("the ledger's bets: a tail of a fair coin is never longer than they allow, looking after every toss") {
  // Exact, by walking all states of (tosses, losses) and absorbing where the bet is won.
  for (const double level : {0.2, 0.05, 0.001}) {
    constexpr int rounds = 400;
    std::vector<double> mass(rounds + 2, 0.0);
    mass[0] = 1;
    double absorbed = 0;
    for (int n = 1; n <= rounds; ++n) {
      for (int k = n; k >= 0; --k) mass[k] = 0.5 * mass[k] + (k > 0 ? 0.5 * mass[k - 1] : 0.0);
      for (int k = losses_needed(n, level); k <= n; ++k) {
        absorbed += mass[k];
        mass[k] = 0;
      }
    }
    CHECK(absorbed <= level);
    CHECK(absorbed > level / 4);  // and not much is wasted
  }
  CHECK(losses_needed(3, 0.001) == 4);
  CHECK(losses_needed(rounds_to_decide(0.001), 0.001) == rounds_to_decide(0.001));
  CHECK(rounds_to_decide(0.05 / (64 * 63)) <= 22);
}

TEST_CASE("a kernel 3 % faster than seven others is found, at 2 % noise") {
  const std::uint64_t seed = 20260203;
  INFO("seed ", seed);
  const std::vector<double> relative = {1, 1.03, 1.03, 1.03, 1.03, 1.03, 1.03, 1.03};
  for (const NoiseKind kind : {NoiseKind::normal, NoiseKind::skewed, NoiseKind::two_humps}) {
    const Tally sum = tally(kind, 0.02, relative, {}, 100, seed);
    INFO(testing::noise_names[static_cast<int>(kind)], ": ", sum.found, " of 100, ", sum.share, " of equal samples");
    CHECK(sum.found >= 90);
    CHECK(sum.dropped >= sum.found);
  }
}

TEST_CASE("slow kernels get few samples") {
  const std::uint64_t seed = 20260204;
  INFO("seed ", seed);
  std::vector<double> relative = {1, 1.005};
  for (int i = 0; i < 30; ++i) relative.push_back(1.2 + 0.1 * i);
  int all = 0, slow = 0;
  for (std::uint64_t run = 0; run < 20; ++run) {
    Machine machine(NoiseKind::skewed, 0.02, seed + run, relative);
    RaceOptions options;
    options.seed = seed + run;
    const RaceResult result = race(machine.contenders(), options);
    CHECK(result.order[0] <= 1);
    const int screening = rounds_to_decide(options.error / (32 * 31));
    for (std::size_t i = 0; i < relative.size(); ++i) {
      const int mine = static_cast<int>(result.standings[i].samples.size());
      all += options.rule.max_samples;
      if (i < 2) continue;
      slow += mine;
      CHECK(mine <= 2 * screening);
      CHECK(result.standings[i].beaten_by >= 0);
    }
    CHECK(result.samples < result.equal_samples);
  }
  CHECK(slow <= 0.06 * all);  // of what they would get if all ran to the rule's maximum
}

TEST_CASE("two equal best are a tie, and the others are out") {
  const std::uint64_t seed = 20260205;
  INFO("seed ", seed);
  const Tally sum = tally(NoiseKind::skewed, 0.01, {1, 1, 1.1, 1.2, 1.3, 1.4}, {}, 100, seed);
  INFO(sum.tied, " ties, ", sum.winners, " winners");
  CHECK(sum.tied >= 95);
  CHECK(sum.winners <= 5);
}

TEST_CASE("a difference below the floor, or below the timer's resolution, is a tie however long the race") {
  RaceOptions options;
  options.floor = Seconds{0.02 * base};
  const Tally below = tally(NoiseKind::normal, 0.001, {1, 1.015}, options, 50, 20260206);
  CHECK(below.dropped == 0);
  options.floor = Seconds{0.01 * base};
  CHECK(tally(NoiseKind::normal, 0.001, {1, 1.015}, options, 50, 20260206).found == 50);
  options.floor = {};
  CHECK(tally(NoiseKind::normal, 1e-5, {1, 1.001}, options, 50, 20260206, 0.05 * base).dropped == 0);
}

TEST_CASE("a race is the same for the same seed, and its orders differ from round to round") {
  const auto run = [](std::uint64_t seed, std::vector<std::vector<int>>& orders) {
    std::vector<Contender> all;
    for (int i = 0; i < 4; ++i)
      all.push_back({"", [&orders, i](int samples) {
                       if (orders.empty() || orders.back().size() == 4) orders.emplace_back();
                       orders.back().push_back(i);
                       return SampleBatch{
                           .reason = {},
                           .samples = std::vector<ir::Sample>(static_cast<std::size_t>(samples), ir::Sample{{1e-5}})};
                     }});
    RaceOptions options;
    options.seed = seed;
    return race(all, options);
  };
  std::vector<std::vector<int>> first, again, other;
  const RaceResult result = run(7, first);
  CHECK(run(7, again).tie == result.tie);
  run(8, other);
  CHECK(first == again);
  CHECK(first != other);
  CHECK(std::set(first.begin(), first.end()).size() > 5);
  CHECK(result.end == RaceEnd::tied);
  CHECK(result.tie.size() == 4);
  CHECK(result.samples == result.equal_samples);
}

TEST_CASE("a contender that fails drops out with its reason, and those it had beaten come back") {
  Machine machine(NoiseKind::normal, 0.01, 3, {1, 1.2, 1.2});
  std::vector<Contender> all = machine.contenders();
  int batches = 0;
  all[0].take = [&](int samples) {
    if (++batches > 30) return SampleBatch{ir::Outcome::illegal_access, "wrote where nothing is", {}};
    SampleBatch fast = machine.take(0, samples);
    return fast;
  };
  RaceOptions options;
  options.rule.half_width = 0.0005;
  options.rule.max_samples = 200;
  const RaceResult result = race(all, options);
  CHECK(result.standings[0].outcome == ir::Outcome::illegal_access);
  CHECK(result.standings[0].reason == "wrote where nothing is");
  CHECK(result.standings[0].samples.size() == 30);
  CHECK(result.tie.size() == 2);
  CHECK(result.order.back() == 0);
  CHECK(result.standings[1].beaten_by == -1);

  for (Contender& one : all) one.take = [](int) { return SampleBatch{ir::Outcome::timed_out, "hung", {}}; };
  const RaceResult none = race(all, {});
  CHECK(none.end == RaceEnd::nobody_left);
  CHECK(none.tie.empty());
  CHECK(none.order.size() == 3);
  all[1].take = [](int) { return SampleBatch{}; };
  CHECK(race(all, {}).standings[1].outcome == ir::Outcome::crashed);
  CHECK(race({}, {}).end == RaceEnd::nobody_left);
}

TEST_CASE("one contender is sampled until the rule is content, and the race ends in time") {
  Machine machine(NoiseKind::skewed, 0.02, 5, {1});
  const RaceResult alone = race(machine.contenders(), {});
  CHECK(alone.end == RaceEnd::decided);
  CHECK(alone.tie == std::vector<int>{0});
  CHECK(alone.standings[0].time.relative_half_width() <= stop_rule("standard").half_width);

  Machine pair(NoiseKind::skewed, 0.3, 5, {1, 1});
  double clock = 0;
  RaceOptions options;
  options.max_time = {10};
  options.now = [&] { return Seconds{clock += 1}; };
  const RaceResult timed = race(pair.contenders(), options);
  CHECK(timed.end == RaceEnd::out_of_time);
  CHECK(timed.rounds <= 10);
  CHECK(timed.tie.size() == 2);
  options.now = {};
  options.rule.max_samples = 25;
  CHECK(race(pair.contenders(), options).end == RaceEnd::out_of_samples);
}

TEST_CASE("a batch's samples are kept raw, with their round, and throttled ones are counted") {
  Machine machine(NoiseKind::skewed, 0.02, 5, {1, 1.01});
  machine.throttle = ir::throttle_power | ir::throttle_sync;
  RaceOptions options;
  options.batch = 4;
  const RaceResult result = race(machine.contenders(), options);
  for (const Standing& one : result.standings) {
    CHECK(one.samples.size() == one.rounds.size());
    CHECK(std::is_sorted(one.rounds.begin(), one.rounds.end()));
    for (const int round : {0, 1}) CHECK(std::count(one.rounds.begin(), one.rounds.end(), round) == 4);
    CHECK(one.throttled == static_cast<int>(one.samples.size()));
  }
  machine.throttle = ir::throttle_sync;
  CHECK(race(machine.contenders(), options).standings[0].throttled == 0);
}

TEST_CASE("a drift of the machine is seen by the sentinel, and the rounds since are suspect") {
  const std::uint64_t seed = 20260207;
  INFO("seed ", seed);
  int seen = 0, wrongly = 0, upset = 0;
  for (std::uint64_t run = 0; run < 100; ++run) {
    for (const bool jumps : {true, false}) {
      Machine machine(NoiseKind::skewed, 0.005, seed + run, {1, 1.002, 2});
      const Contender reference{"reference", [&](int samples) { return machine.take(2, samples); }};
      std::vector<Contender> all = machine.contenders();
      all.pop_back();
      RaceOptions options;
      options.rule.half_width = 0.0005;  // so that it is a long race
      options.rule.max_samples = 200;
      options.sentinel = &reference;
      options.seed = seed + run;
      machine.jump_at = jumps ? 150 : -1;  // a 5 % slower clock, in the middle of the race
      const RaceResult result = race(all, options);
      CHECK(result.sentinel_failure.empty());
      if (!jumps) wrongly += result.drifted() ? 1 : 0;
      if (!jumps) continue;
      seen += result.drifted() ? 1 : 0;
      upset += result.tie == std::vector<int>{1} ? 1 : 0;
      REQUIRE(result.suspect.size() == 1);
      CHECK(result.suspect[0].last == result.rounds - 1);
      // The look before the jump was the last that all was well. A look of twelve may begin before the jump and end
      // after it, and see too little of it: then the next one does.
      CHECK(result.suspect[0].first <= machine.jumped_in);
      CHECK(result.suspect[0].first >= machine.jumped_in - options.sentinel_rounds);
    }
  }
  CHECK(seen == 100);
  CHECK(wrongly <= 5);
  CHECK(upset <= 5);  // rounds pair a drift away

  const Contender broken{"", [](int) { return SampleBatch{ir::Outcome::crashed, "the worker ended", {}}; }};
  Machine machine(NoiseKind::skewed, 0.01, 1, {1, 1.5});
  RaceOptions options;
  options.sentinel = &broken;
  const RaceResult result = race(machine.contenders(), options);
  CHECK(result.sentinel_failure == "the worker ended");
  CHECK(result.tie == std::vector<int>{0});
}
