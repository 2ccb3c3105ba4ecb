// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The race. In: contenders, a rule and somebody who takes one round of times. Out: who is fastest, who dropped out
// when, and which ties remain. The method and its error level are told in race.h. Called by the measuring of a group's
// plans.
//
// A round times every contender once, in an order drawn anew. The ledger holds, for each ordered pair, how often the
// one was slower than the other by more than the timer can tell; from it comes the bet whose size says whether that
// may still be a fair coin. losses_needed() turns the bet around: how many of n rounds must be lost for it to reach 1
// / level, so a round costs a comparison per pair. Nobody can drop out before rounds_to_decide() rounds, and nobody is
// asked before.
//
// A contender drops out when it lost that often against any other that is still in. It still judges the others of the
// same round; but nobody may be beaten by a contender that it has beaten itself, however indirectly. A contender that
// was beaten by one that fails later comes back, since its judge was no kernel at all.
//
// The leader is who lost fewest rounds, not who has the least median: under drift, medians of all rounds compare
// different times. The race ends when one contender is left and its median is known precisely enough, as a tie once
// nobody left can be slower than the leader by more than the rule's precision, or when samples or time run out.
//
// The sentinel is a kernel outside of the race that is measured again every so often. When its interval has moved away
// from the first one by more than the precision, the machine has changed, and the rounds since the last good look are
// marked as suspect.
#include "profiler/measure/race.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "base/indexed.h"

namespace tailor::profiler {

namespace {

constexpr std::array<std::string_view, 5> words = {"decided", "tied", "out of samples", "out of time", "nobody left"};
constexpr double absent = std::numeric_limits<double>::quiet_NaN();

std::uint32_t held_down() { return ir::throttle_power | ir::throttle_thermal | ir::throttle_hardware; }

/// Of each pair: in how many rounds both ran, and in how many of them the first was the slower one.
class Ledger {
 public:
  explicit Ledger(std::size_t contenders) : m_(contenders), met_(m_ * m_), lost_(m_ * m_) {}
  void enter(std::span<const double> times, double floor) {
    for (std::size_t i = 0; i < m_; ++i)
      for (std::size_t j = 0; j < m_; ++j) {
        if (i == j || std::isnan(times[i]) || std::isnan(times[j])) continue;
        ++met_[i * m_ + j];
        lost_[i * m_ + j] += times[i] - times[j] > floor ? 1 : 0;
      }
  }
  int met(int i, int j) const { return met_[place(i, j)]; }
  int lost(int i, int j) const { return lost_[place(i, j)]; }

 private:
  std::size_t place(int i, int j) const { return static_cast<std::size_t>(i) * m_ + static_cast<std::size_t>(j); }

  std::size_t m_;
  std::vector<int> met_, lost_;
};

/// Re-measures a reference and says since when it no longer is what it was.
class Sentinel {
 public:
  Sentinel(const RaceOptions& options, RaceResult& result) : options_(options), result_(result) {}

  /// After `round` rounds.
  void look(int round) {
    if (options_.sentinel == nullptr || !result_.sentinel_failure.empty() || (round > 0 && round == looked_)) return;
    const SampleBatch taken = options_.sentinel->take(options_.sentinel_samples);
    result_.sentinel.insert(result_.sentinel.end(), taken.samples.begin(), taken.samples.end());
    if (taken.outcome != ir::Outcome::ok || taken.samples.empty()) {
      result_.sentinel_failure = taken.reason.empty() ? "the sentinel gave no samples" : taken.reason;
      return;
    }
    const Spread now = spread_of(durations(taken.samples), options_.rule.confidence);
    if (round == 0) first_ = now;
    const double gap = std::max(now.low - first_.high, first_.low - now.high);
    const bool moved = gap > std::max(options_.floor.value, options_.rule.half_width * first_.median);
    // Since the last look all was well or not: a move was some time between, and so is a return.
    if ((moved || moved_) && round > looked_) {
      if (!result_.suspect.empty() && result_.suspect.back().last == looked_ - 1)
        result_.suspect.back().last = round - 1;
      else
        result_.suspect.push_back({looked_, round - 1});
    }
    moved_ = moved;
    looked_ = round;
  }
  bool is_due(int round) const { return round - looked_ >= options_.sentinel_rounds; }

 private:
  const RaceOptions& options_;
  RaceResult& result_;
  Spread first_;
  bool moved_ = false;
  int looked_ = 0;
};

class Race {
 public:
  Race(std::span<const Contender> contenders, const RaceOptions& options)
      : contenders_(contenders), options_(options), ledger_(contenders.size()), random_(options.seed) {
    const auto m = static_cast<double>(contenders.size());
    level_ = contenders.size() < 2 ? 1 : options.error / (m * (m - 1));
    screening_ = contenders.size() < 2 ? 1 : rounds_to_decide(level_);
    result_.standings.resize(contenders.size());
    result_.error = options.error;
    times_.resize(contenders.size());
    started_ = options.now ? options.now() : Seconds{};
  }

  RaceResult run() {
    Sentinel sentinel(options_, result_);
    sentinel.look(0);
    while (!ended()) {
      round();
      if (result_.rounds >= screening_) drop_out();
      if (sentinel.is_due(result_.rounds)) sentinel.look(result_.rounds);
    }
    if (result_.rounds > 0) sentinel.look(result_.rounds);
    conclude();
    return std::move(result_);
  }

 private:
  Standing& standing(int i) { return result_.standings[i]; }
  bool is_in(int i) { return standing(i).outcome == ir::Outcome::ok && standing(i).beaten_by < 0; }
  std::vector<int> field() {
    std::vector<int> in;
    for (int i = 0; i < static_cast<int>(contenders_.size()); ++i)
      if (is_in(i)) in.push_back(i);
    return in;
  }

  void round() {
    std::vector<int> order = field();
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
    for (std::vector<double>& times : times_) times.push_back(absent);
    for (const int i : order) take(i);
    std::vector<double> now(times_.size());
    for (std::size_t i = 0; i < now.size(); ++i) now[i] = times_[i].back();
    ledger_.enter(now, options_.floor.value);
    ++result_.rounds;
  }

  void take(int i) {
    Standing& mine = standing(i);
    const int room = options_.rule.max_samples - static_cast<int>(mine.samples.size());
    if (room <= 0) return;
    SampleBatch taken = contenders_[i].take(std::min(options_.batch, room));
    if (taken.outcome == ir::Outcome::ok && taken.samples.empty())
      taken = {ir::Outcome::crashed, "gave no samples and no reason", {}};
    mine.samples.insert(mine.samples.end(), taken.samples.begin(), taken.samples.end());
    mine.rounds.resize(mine.samples.size(), result_.rounds);
    for (const ir::Sample& sample : taken.samples) mine.throttled += (sample.throttle & held_down()) != 0 ? 1 : 0;
    result_.samples += static_cast<std::int64_t>(taken.samples.size());
    if (taken.outcome != ir::Outcome::ok) return fail(i, taken);
    times_[i].back() = median_of(durations(taken.samples));
  }

  void fail(int i, const SampleBatch& taken) {
    standing(i).outcome = taken.outcome;
    standing(i).reason = taken.reason;
    for (Standing& other : result_.standings)
      if (other.beaten_by == i) other.beaten_by = -1;
  }

  void drop_out() {
    const std::vector<int> in = field();  // a contender that drops out now still judges the others of this round
    for (const int i : in) {
      for (const int judge : in) {
        const int met = ledger_.met(i, judge);
        const int lost = ledger_.lost(i, judge);
        if (i == judge || lost < needed(met) || leads_back(judge, i)) continue;
        standing(i).beaten_by = judge;
        break;
      }
    }
  }

  /// Whether following who beat whom from `judge` ends at `i`: then i may not be beaten by it.
  bool leads_back(int judge, int i) {
    while (judge >= 0 && judge != i) judge = standing(judge).beaten_by;
    return judge == i;
  }

  int needed(int met) {
    while (static_cast<int>(needed_.size()) <= met)
      needed_.push_back(losses_needed(static_cast<int>(needed_.size()), level_));
    return needed_[met];
  }

  Spread spread(int i) { return spread_of(durations(standing(i).samples), options_.rule.confidence); }

  bool ended() {
    const std::vector<int> in = field();
    if (in.empty()) return result_.end = RaceEnd::nobody_left, true;
    if (options_.now && result_.rounds > 0 && options_.now() - started_ >= time_allowed())
      return result_.end = RaceEnd::out_of_time, true;
    bool full = true;
    for (const int i : in) full = full && static_cast<int>(standing(i).samples.size()) >= options_.rule.max_samples;
    const bool early = result_.rounds < screening_ && in.size() > 1;
    if (full) return result_.end = in.size() == 1 ? RaceEnd::decided : RaceEnd::out_of_samples, true;
    if (early || result_.rounds < next_question_) return false;
    next_question_ = result_.rounds + std::max(result_.rounds / 8, 1);  // seldom: asking sorts every sample
    const int leader = leader_of(in);
    if (stop_after(options_.rule, durations(standing(leader).samples), {}) != Stop::precise) return false;
    for (const int i : in)
      if (i != leader && !is_level(i, leader)) return false;
    return result_.end = in.size() == 1 ? RaceEnd::decided : RaceEnd::tied, true;
  }

  /// Who lost the fewest rounds to the others: with two humps or a drift the medians of all rounds would not tell.
  int leader_of(const std::vector<int>& in) const {
    const auto losses = [&](int i) {
      int sum = 0;
      for (const int j : in) sum += ledger_.lost(i, j);
      return sum;
    };
    return *std::min_element(in.begin(), in.end(), [&](int a, int b) { return losses(a) < losses(b); });
  }

  double middle(int i) { return median_of(durations(standing(i).samples)); }

  /// Whether i is known not to be slower than the leader by more than the precision wanted.
  bool is_level(int i, int leader) {
    std::vector<double> differences;
    const std::vector<double>& mine = times_[i];
    const std::vector<double>& theirs = times_[leader];
    for (std::size_t round = 0; round < mine.size(); ++round)
      if (!std::isnan(mine[round]) && !std::isnan(theirs[round])) differences.push_back(mine[round] - theirs[round]);
    const Spread spread = spread_of(differences, options_.rule.confidence);
    return !spread.too_few && spread.high <= std::max(options_.rule.half_width * middle(leader), options_.floor.value);
  }

  Seconds time_allowed() const {
    return options_.max_time.value > 0 ? options_.max_time
                                       : options_.rule.max_time * static_cast<double>(contenders_.size());
  }

  void conclude() {
    std::size_t most = 0;
    for (Standing& one : result_.standings) {
      one.time = spread_of(durations(one.samples), options_.rule.confidence);
      most = std::max(most, one.samples.size());
    }
    result_.equal_samples = static_cast<std::int64_t>(most * contenders_.size());
    result_.tie = field();
    const auto faster = [&](int a, int b) { return standing(a).time.median < standing(b).time.median; };
    std::stable_sort(result_.tie.begin(), result_.tie.end(), faster);
    result_.order.resize(contenders_.size());
    std::iota(result_.order.begin(), result_.order.end(), 0);
    const auto rank = [&](int i) { return is_in(i) ? 0 : standing(i).outcome == ir::Outcome::ok ? 1 : 2; };
    std::stable_sort(result_.order.begin(), result_.order.end(),
                     [&](int a, int b) { return rank(a) != rank(b) ? rank(a) < rank(b) : faster(a, b); });
  }

  IndexedSpan<const Contender> contenders_;
  const RaceOptions& options_;
  Ledger ledger_;
  std::mt19937_64 random_;
  double level_ = 1;
  int screening_ = 1;
  int next_question_ = 0;
  Seconds started_;
  IndexedVector<std::vector<double>> times_;  ///< [contender][round], absent where it did not run
  IndexedVector<int> needed_;                 ///< losses_needed by rounds
  RaceResult result_;
};

}  // namespace

std::string_view name(RaceEnd end) { return row_for(words, end); }

int losses_needed(int rounds, double level) {
  // The bet after n rounds with k lost: the mean over p uniform on [1/2, 1] of (2p)^k (2(1-p))^(n-k), a Beta integral
  // whose upper half is a binomial tail.
  const double wanted = -std::log(level);
  const auto reaches = [&](int lost) {
    return (rounds + 1) * std::numbers::ln2 - std::log(rounds + 1) - log_choose(rounds, lost) +
               std::log(fair_tail(rounds + 1, lost)) >=
           wanted;
  };
  // A loss in the place of a win makes every product greater, so those that reach it lie above those that do not.
  int least = 0, most = rounds + 1;
  while (least < most) {
    const int middle = (least + most) / 2;
    reaches(middle) ? most = middle : least = middle + 1;
  }
  return most;
}

int rounds_to_decide(double level) {
  int rounds = 1;
  while (losses_needed(rounds, level) > rounds) ++rounds;
  return rounds;
}

RaceResult race(std::span<const Contender> contenders, const RaceOptions& options) {
  return Race(contenders, options).run();
}

}  // namespace tailor::profiler
