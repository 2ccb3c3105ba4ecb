// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Racing: which of several kernels is fastest, with samples spent where the answer is still open. All contenders run in
// every round, in an order drawn anew; the round is the unit, and two contenders are compared within rounds only, so
// drift, spikes and neighbours that resemble one another fall on both alike. For equal contenders the slower one of a
// round is then a fair coin whatever the noise. A contender that loses too many tosses against any other drops out.
//
// Error level: for each ordered pair a bet against the coin's fairness is kept (a mixture over every bias, a test
// martingale), and by Ville's inequality it ever reaches 1 / level with probability at most `level`. So looking after
// every round costs nothing, and level = error / (m (m - 1)) bounds over all pairs of m contenders the probability that
// any contender drops out though none beats it. What is not told apart is a tie.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/indexed.h"
#include "base/statistics.h"
#include "ir/measurement.h"
#include "profiler/measure/stop.h"

namespace tailor::profiler {

/// What one batch came to. A batch that is not ok ends its contender's race.
struct SampleBatch {
  ir::Outcome outcome = ir::Outcome::ok;
  std::string reason;
  std::vector<ir::Sample> samples;
};

struct Contender {
  std::string name;                              ///< for messages
  std::function<SampleBatch(int samples)> take;  ///< warms up as its cache state needs; durations are finite
};

struct RaceOptions {
  StopRule rule = stop_rule("standard");  ///< precision wanted, samples of each contender
  double error = 0.05;                    ///< that any contender drops out though none is faster
  Seconds floor;                          ///< of the timer or launch; rounds that differ by less count for nobody
  int batch = 1;                          ///< samples of a contender in one round; their median is the round's time
  std::uint64_t seed = 1;                 ///< of the orders
  Seconds max_time;                       ///< of the whole race; 0: rule.max_time for each contender
  const Contender* sentinel = nullptr;    ///< measured before, after and every `sentinel_rounds`; not in the race
  int sentinel_rounds = 20, sentinel_samples = 12;
  std::function<Seconds()> now = {};  ///< wall time since any origin; empty: time is not looked at
};

struct Standing {
  ir::Outcome outcome = ir::Outcome::ok;  ///< of the batch that ended it, or ok
  std::string reason;
  std::vector<ir::Sample> samples;  ///< all of them, in the order taken
  std::vector<int> rounds;          ///< of each sample
  Spread time;                      ///< of all samples, seconds; by the rule's confidence
  int beaten_by = -1;               ///< the contender against which it dropped out; -1: in the race to its end
  int throttled = 0;                ///< samples taken while clocks were held down for power, heat or hardware
};

/// Rounds from first to last, both included.
struct RoundRange {
  int first = 0, last = 0;
  bool operator==(const RoundRange&) const = default;
};

enum class RaceEnd { decided, tied, out_of_samples, out_of_time, nobody_left };
/// "decided", "tied", "out of samples", "out of time", "nobody left".
std::string_view name(RaceEnd end);

struct RaceResult {
  RaceEnd end = RaceEnd::nobody_left;
  IndexedVector<Standing> standings;  ///< in the order of the contenders
  std::vector<int> order;             ///< contenders, fastest first: the tie set, those beaten, those that failed
  std::vector<int> tie;               ///< who may be fastest: one when there is a winner
  int rounds = 0;
  double error = 0;                  ///< as asked
  std::int64_t samples = 0;          ///< taken, without the sentinel's
  std::int64_t equal_samples = 0;    ///< had everyone got as many as who got most
  std::vector<ir::Sample> sentinel;  ///< all its samples
  std::vector<RoundRange> suspect;   ///< rounds whose times are not comparable with others': the sentinel had moved
  std::string sentinel_failure;      ///< why there is no drift to speak of; empty when it never failed
  bool drifted() const { return !suspect.empty(); }
};

/// Runs the race. No contender: nobody_left. One: sampled until the rule stops.
RaceResult race(std::span<const Contender> contenders, const RaceOptions& options);

/// The fewest rounds lost out of `rounds` that prove, at `level`, that more than half are lost in the long run, however
/// often one looks; rounds + 1 when none do.
int losses_needed(int rounds, double level);
/// The first round after which anybody can drop out.
int rounds_to_decide(double level);

}  // namespace tailor::profiler
