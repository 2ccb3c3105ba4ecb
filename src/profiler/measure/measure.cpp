// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Check, race, count, for the plans of one group. In: compiled kernels and a worker. Out: for each plan a verdict and
// a measurement per cache state; for each cache state a ranking. Called by sweeps and by `tailor profile`;
// replayed_group() answers the same from records.
//
// Each plan is run on fresh inputs and held against the reference before anything is timed, at an odd shape first and
// then at its own, as often as asked. Plans of one group share the reference and the bytes of the inputs. A group
// without a reference is run all the same and called not judged. A plan that is wrong, traps or hangs keeps that as
// its outcome and takes no part in the race. Inputs of checks have edges (infinities, the largest numbers), which a
// time would have too; what is right is loaded once more for the race, with inputs of the same kind without any.
//
// All plans whose inputs lie at the same places share their memory, because where buffers lie shows in a time as much
// as a plan does. The first right plan runs twice in every race: it says what a race cannot tell apart (Twin). It
// counts for its plan when that is ranked and leaves no samples.
//
// The floor of the timer, from an empty kernel, is the difference that counts for nobody in a race (race.h). A race is
// held under each cache state. Times of both clocks do not compare, so all plans are timed by the same one: activity
// where the GPU has it. A batch that CUPTI lost is taken once more.
//
// Counters of the first few plans are collected last, in runs that nobody times, because a kernel is slower under the
// profiler, and in a process of their own, because CUPTI does not count where kernels are recorded.
//
// Replay has medians and intervals but no rounds, so it ranks by medians and calls those a tie whose interval touches
// the best one's.
#include "profiler/measure/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include "base/indexed.h"
#include "base/stop.h"
#include "profiler/check/check.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/measure/sampled.h"
#include "profiler/measure/sequence_cache.h"
#include "reference/inputs.h"

namespace tailor::profiler {

namespace {

/// Of the launches of a program: the most that any takes, the fewest blocks that are resident of any.
gpu::KernelAttributes worst_of(std::span<const gpu::KernelAttributes> launches) {
  gpu::KernelAttributes worst = launches.front();
  for (const gpu::KernelAttributes& one : launches) {
    worst.registers = std::max(worst.registers, one.registers);
    worst.local_bytes = std::max(worst.local_bytes, one.local_bytes);
    worst.static_shared = std::max(worst.static_shared, one.static_shared);
    worst.dynamic_shared = std::max(worst.dynamic_shared, one.dynamic_shared);
    worst.blocks_per_sm = std::min(worst.blocks_per_sm, one.blocks_per_sm);
    if (one.clusters >= 0) worst.clusters = worst.clusters < 0 ? one.clusters : std::min(worst.clusters, one.clusters);
  }
  return worst;
}

using ir::Outcome;

Seconds now() { return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()}; }

/// Of each contender; a question to the worker takes longer than a sample.
constexpr int samples_a_round = 3;

/// A kernel that does nothing, for every GPU of today.
constexpr std::string_view empty_kernel =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry empty()\n{\n  ret;\n}\n";

class Measuring {
 public:
  Measuring(Worker& timing, Worker& counting, std::span<const MeasureRequest> candidates, const MeasureOptions& options)
      : candidates_(candidates), options_(options), counting_(counting), sequences_(timing, options.time_limit) {
    all_.plans.resize(candidates.size());
    numbers_.resize(candidates.size(), -1);
    inputs_are_.resize(candidates.size());
    share_memory();
  }

  MeasuredGroup run() {
    check_all_shapes();
    load_plain_inputs();
    if (std::any_of(all_.plans.begin(), all_.plans.end(),
                    [](const CandidateResult& plan) { return plan.outcome == Outcome::ok; }))
      all_.floor = launch_floor(sequences_.worker(), timed_by(), options_.launch, options_.time_limit);
    for (const ir::CacheState cache : options_.caches) race_under(cache);
    if (!options_.counters.counters.empty() && !all_.rankings.empty()) count_best();
    return std::move(all_);
  }

 private:
  void tell(std::string_view doing) const {
    if (options_.progress) options_.progress(doing);
  }

  /// A reference with its inputs as bytes; candidates of the same group that are as exact share it.
  struct InputSet {
    Reference reference;
    std::shared_ptr<const std::vector<std::byte>> contents;
  };

  using InputSets = std::map<std::pair<Id, ir::Arithmetic>, InputSet>;

  InputSet inputs_of(const ShapedKernel& shape, std::uint64_t seed) {
    InputSet inputs{
        evaluate_reference(*shape.group, seed, nullptr, options_.stop, {.arithmetic = shape.kernel->arithmetic}),
        nullptr};
    if (!inputs.reference.reason.empty()) {
      // No reference does not mean no time: the kernel runs on inputs of the same kind, unjudged.
      all_.unjudged = inputs.reference.reason;
      inputs.reference.inputs = plain_inputs(*shape.group, inputs.reference, options_.stop);
    }
    inputs.contents = std::make_shared<std::vector<std::byte>>(contents_of(*shape.kernel, inputs.reference.inputs));
    return inputs;
  }

  /// Those whose inputs lie where the first one's do share an arena.
  void share_memory() {
    std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> first;
    shares_.resize(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const gpu::Sequence sequence =
          sequence_of(*candidates_[i].own.kernel, *candidates_[i].own.binary, options_.image);
      const auto places = gpu::input_places(sequence.buffers);
      if (i == 0) first = places;
      shares_[i] = places && places == first;
      if (shares_[i]) arena_bytes_ = std::max(arena_bytes_, gpu::lay_out_arena(sequence.buffers).bytes);
    }
    arena_ = sequences_.worker().new_number();
  }

  void check_all_shapes() {
    for (int round = 0; round < options_.checks; ++round) {
      InputSets inputs;  // the odd shapes of plans differ
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (options_.stop.stop_requested()) return;
        const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(round);
        const bool done = done_unless_stopped([&] {
          if (candidates_[i].odd) check_shape(i, *candidates_[i].odd, seed, inputs, false);
          check_shape(i, candidates_[i].own, seed, inputs, true);
        });
        if (!done) return;
      }
    }
  }

  void check_shape(std::size_t i, const ShapedKernel& shape, std::uint64_t seed, InputSets& known, bool keep) {
    CandidateResult& plan = all_.plans[i];
    if (plan.outcome != Outcome::ok) return;
    tell(fmt::format("checking {}", candidates_[i].name));
    const InputSets::key_type key{shape.group->id, shape.kernel->arithmetic};
    auto found = known.find(key);
    if (found == known.end()) found = known.emplace(key, inputs_of(shape, seed)).first;
    const InputSet& inputs = found->second;
    // Later rounds have other inputs.
    const bool shared = keep && shares_[i] && numbers_[i] < 0;
    const int number = sequences_.add({sequence_of(*shape.kernel, *shape.binary, options_.image), inputs.contents,
                                       shared ? arena_ : -1, shared ? arena_bytes_ : 0});
    const gpu::Response load = sequences_.loaded(number);
    gpu::Response run = load;
    if (load.outcome == Outcome::ok) run = sequences_.call(number, gpu::RunRequest{number, seed, true});
    plan.outcome = run.outcome;
    plan.reason = run.reason;
    if (keep && !load.entries.empty()) plan.entry = worst_of(load.entries);
    if (run.outcome == Outcome::ok) hold_against(inputs, shape, run, plan);
    if (plan.outcome != Outcome::ok && !keep) plan.reason += fmt::format(" (at {})", candidates_[i].odd_is);
    if (plan.outcome == Outcome::ok && plan.judged)
      plan.checked_on = keep ? (candidates_[i].odd ? "its own shape and " + candidates_[i].odd_is : "its own shape")
                             : candidates_[i].odd_is;
    if (keep && plan.outcome == Outcome::ok && numbers_[i] < 0) {
      numbers_[i] = number;
      inputs_are_[i] = inputs.reference.inputs_are;
    } else {
      sequences_.drop(number);
    }
  }

  /// What is timed, and counted, with inputs that have no edges. Memory is not held twice.
  void load_plain_inputs() {
    std::map<std::pair<Id, std::string>, std::shared_ptr<const std::vector<std::byte>>> plain;
    const int arena = sequences_.worker().new_number();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (numbers_[i] < 0) continue;
      const ShapedKernel& own = candidates_[i].own;
      auto& contents = plain[{own.group->id, inputs_are_[i]}];
      const bool made = contents != nullptr || done_unless_stopped([&] {
                          Reference checked;
                          checked.seed = options_.seed;
                          checked.inputs_are = inputs_are_[i];
                          contents = std::make_shared<std::vector<std::byte>>(
                              contents_of(*own.kernel, plain_inputs(*own.group, checked, options_.stop)));
                        });
      if (!made) return;
      LoadableSequence one = sequences_.at(numbers_[i]);
      if (*one.contents == *contents) continue;
      sequences_.drop(numbers_[i]);
      one.contents = contents;
      if (one.arena >= 0) one.arena = arena;
      numbers_[i] = sequences_.add(std::move(one));
    }
  }

  void hold_against(const InputSet& inputs, const ShapedKernel& shape, const gpu::Response& run,
                    CandidateResult& plan) {
    if (!inputs.reference.reason.empty()) return;
    const Judgement judgement =
        judge(*shape.kernel, inputs.reference, outputs_in(*shape.kernel, run.blob), {}, options_.stop);
    plan.worst = std::max(plan.worst, judgement.worst);
    plan.judged = plan.judged || judgement.telling > 0;
    plan.judged_share = std::max(plan.judged_share, judgement.fraction());
    if (judgement.reason.empty()) return;
    plan.outcome = Outcome::wrong;
    plan.reason = judgement.reason;
  }

  ir::TimedBy timed_by() {
    if (options_.timed_by) return *options_.timed_by;
    return sequences_.worker().opened().properties.can_time_activity ? ir::TimedBy::activity : ir::TimedBy::events;
  }

  SampleBatch take(int number, ir::CacheState cache, int samples, std::optional<gpu::GpuState>& before) {
    SampleBatch taken;
    const gpu::TimeRequest request{number, cache, timed_by(), options_.launch, samples, 1, false};
    gpu::Response response = sequences_.call(number, request);
    // A record of CUPTI's that was dropped costs a batch, not a plan.
    if (response.outcome == Outcome::unavailable && !response.context_lost) response = sequences_.call(number, request);
    taken.outcome = response.outcome;
    taken.reason = std::move(response.reason);
    taken.samples = std::move(response.samples);
    if (response.outcome == Outcome::ok && !before) before = response.state;
    return taken;
  }

  void race_under(ir::CacheState cache) {
    std::vector<Contender> contenders;
    IndexedVector<std::size_t> who;
    std::vector<std::optional<gpu::GpuState>> before(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      all_.plans[i].times.push_back(blank(cache, all_.plans[i].outcome, all_.plans[i].reason));
      if (all_.plans[i].outcome != Outcome::ok) continue;
      who.push_back(i);
      contenders.push_back(contender(i, numbers_[i], cache, before));
    }
    const std::size_t plans = who.size();
    const bool twice = plans > 0 && numbers_[who[0]] >= 0;  // not when somebody stopped before it was loaded
    if (twice) {
      who.push_back(who[0]);
      contenders.push_back(contender(who[0], twin_of(who[0]), cache, before));
    }
    RaceOptions how;
    how.rule = stop_rule(options_.stop_rule);
    how.error = options_.error;
    how.seed = options_.seed;
    how.now = now;
    how.batch = samples_a_round;
    how.floor = all_.floor.noise;
    const RaceResult result = race(contenders, how);
    Ranking ranking{
        cache, {}, {}, std::string(name(result.end)), result.drifted(), result.samples, result.equal_samples, {}};
    for (std::size_t k = 0; k < plans; ++k) {
      CandidateResult& plan = all_.plans[who[k]];
      const Standing& standing = result.standings[k];
      ir::Measurement& into = plan.times.back();
      into.outcome = standing.outcome;
      into.reason = standing.reason;
      into.samples = standing.samples;
      if (const std::optional<gpu::GpuState>& state = before[who[k]]) {
        into.sm_clock = state->sm_clock;
        into.dram_clock = state->dram_clock;
      }
      if (standing.outcome == Outcome::ok) continue;
      plan.outcome = standing.outcome;
      plan.reason = standing.reason;
    }
    for (const int k : result.order)
      if (all_.plans[who[k]].outcome == Outcome::ok) add_once(ranking.order, static_cast<int>(who[k]));
    for (const int k : result.tie)
      if (all_.plans[who[k]].outcome == Outcome::ok) add_once(ranking.tie, static_cast<int>(who[k]));
    if (result.end == RaceEnd::tied && ranking.tie.size() == 1) ranking.end = name(RaceEnd::decided);
    if (twice) {
      ranking.twin = compared(result, static_cast<int>(plans), static_cast<int>(who[0]));
      const Spread& second = result.standings[static_cast<int>(plans)].time;
      if (ranking.twin.plan >= 0)
        all_.plans[who[0]].times.back().twin =
            ir::TwinTime{{second.median}, {second.low}, {second.high}, ranking.twin.samples, ranking.twin.told_apart};
    }
    all_.rankings.push_back(std::move(ranking));
  }

  static void add_once(std::vector<int>& to, int plan) {
    if (std::find(to.begin(), to.end(), plan) == to.end()) to.push_back(plan);
  }

  /// The first contender beside its twin, which is the last.
  static Twin compared(const RaceResult& result, int twin, int plan) {
    const Standing &first = result.standings[0], &second = result.standings[twin];
    if (first.samples.empty() || second.samples.empty()) return {};
    return {plan, second.time.median / first.time.median, first.beaten_by == twin || second.beaten_by == 0,
            static_cast<int>(second.samples.size())};
  }

  /// `before` is filled with what the driver tells before the first samples of the plan.
  Contender contender(std::size_t i, int number, ir::CacheState cache,
                      std::vector<std::optional<gpu::GpuState>>& before) {
    return {candidates_[i].name, [this, i, number, cache, &before](int samples) {
              if (options_.stop.stop_requested()) return SampleBatch{Outcome::stopped, "stopped", {}};
              tell(fmt::format("timing {}, {}", candidates_[i].name, ir::name(cache)));
              return take(number, cache, samples, before[i]);
            }};
  }

  /// Under a number of its own, so that its code is loaded once more.
  int twin_of(std::size_t i) {
    int& number = twins_.try_emplace(i, -1).first->second;
    if (number < 0) number = sequences_.add(sequences_.at(numbers_[i]));
    return number;
  }

  ir::Measurement blank(ir::CacheState cache, Outcome outcome, const std::string& reason) {
    ir::Measurement measurement =
        blank_measurement(sequences_.worker(), cache, options_.timed_by, options_.launch, options_.stop_rule);
    measurement.outcome = outcome;
    measurement.reason = reason;
    return measurement;
  }

  void count_best() {
    const std::vector<int>& order = all_.rankings.front().order;
    std::vector<std::string> metrics;
    for (const gpu::PlannedCounter& counter : options_.counters.counters) metrics.push_back(counter.metric);
    const std::size_t counted = std::min(order.size(), options_.count_top);
    SequenceCache sequences(counting_, options_.time_limit);
    for (std::size_t k = 0; k < counted; ++k) {
      if (options_.stop.stop_requested()) return;
      const auto i = static_cast<std::size_t>(order[k]);
      CandidateResult& plan = all_.plans[i];
      tell(fmt::format("counting {}", candidates_[i].name));
      LoadableSequence one = sequences_.at(numbers_[i]);
      one.arena = -1;  // memory of its own, in the other process
      const int number = sequences.add(std::move(one));
      const gpu::Response response =
          sequences.call(number, gpu::CountRequest{number, options_.caches.front(), metrics, k + 1 < counted});
      sequences.drop(number);
      if (response.outcome != Outcome::ok) {
        plan.uncounted = response.reason;
        continue;
      }
      plan.times.front().counters = gpu::counter_values(options_.counters, response.values);
    }
  }

  std::span<const MeasureRequest> candidates_;
  const MeasureOptions& options_;
  Worker& counting_;
  SequenceCache sequences_;
  MeasuredGroup all_;
  std::vector<std::string> inputs_are_;  ///< of what was checked: the variant's name
  std::vector<int> numbers_;             ///< in the cache, of what is timed; -1: not loaded
  std::map<std::size_t, int> twins_;     ///< candidate to number
  std::vector<bool> shares_;             ///< by candidate: lies in the arena
  int arena_ = -1;
  std::int64_t arena_bytes_ = 0;
};

}  // namespace

LaunchFloor launch_floor(Worker& worker, ir::TimedBy timed_by, ir::LaunchMode launch, Seconds time_limit) {
  gpu::Sequence sequence;
  const auto text = std::as_bytes(std::span(empty_kernel));
  gpu::Image image{"empty", {text.begin(), text.end()}};
  image.code.push_back(std::byte{0});
  sequence.images.push_back(std::move(image));
  gpu::Launch one;
  one.entry = "empty";
  one.block[0] = 32;
  sequence.launches.push_back(std::move(one));
  SequenceCache sequences(worker, time_limit);
  const int number = sequences.add({std::move(sequence), nullptr});
  constexpr int samples = 40, warmup = 5;
  const gpu::Response response =
      sequences.call(number, gpu::TimeRequest{number, ir::CacheState::warm, timed_by, launch, samples, warmup, false});
  LaunchFloor floor;
  if (response.outcome != Outcome::ok || response.samples.empty()) return floor;
  std::vector<double> seconds = durations(response.samples);
  std::sort(seconds.begin(), seconds.end());
  floor.time = {quantile(seconds, 0.5)};
  floor.noise = {quantile(seconds, 0.75) - quantile(seconds, 0.25)};
  floor.samples = static_cast<int>(seconds.size());
  return floor;
}

MeasuredGroup measure_group(Worker& timing, Worker& counting, std::span<const MeasureRequest> candidates,
                            const MeasureOptions& options) {
  return Measuring(timing, counting, candidates, options).run();
}

namespace {

/// By whom the times were taken that are asked for: as wished; else activity, and events where nothing else is known of
/// the whole group, as times of both kinds do not compare.
ir::TimedBy recorded_by(const Lookup& lookup, std::span<const MeasureRequest> candidates, const MeasureOptions& options,
                        ir::CacheState cache) {
  if (options.timed_by) return *options.timed_by;
  const auto knows = [&](ir::TimedBy by) {
    return std::any_of(candidates.begin(), candidates.end(), [&](const MeasureRequest& one) {
      return lookup(one.kernel_id, {cache, by, options.launch, options.stop_rule}).outcome != Outcome::not_recorded;
    });
  };
  return !knows(ir::TimedBy::activity) && knows(ir::TimedBy::events) ? ir::TimedBy::events : ir::TimedBy::activity;
}

}  // namespace

MeasuredGroup replayed_group(const Lookup& lookup, std::span<const MeasureRequest> candidates,
                             const MeasureOptions& options) {
  MeasuredGroup all;
  all.plans.resize(candidates.size());
  const double confidence = stop_rule(options.stop_rule).confidence;
  for (const ir::CacheState cache : options.caches) {
    Ranking ranking;
    ranking.cache = cache;
    ranking.end = "replayed";
    std::vector<std::pair<double, int>> medians;
    IndexedVector<Spread> spreads(candidates.size());
    const ir::Protocol asked{cache, recorded_by(lookup, candidates, options, cache), options.launch, options.stop_rule};
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      ir::Measurement found = lookup(candidates[i].kernel_id, asked);
      CandidateResult& plan = all.plans[i];
      if (found.outcome != Outcome::ok && plan.outcome == Outcome::ok) {
        plan.outcome = found.outcome;
        plan.reason = found.reason;
      }
      if (found.outcome == Outcome::ok && !found.samples.empty()) {
        spreads[i] = spread_of(durations(found.samples), confidence);
        medians.emplace_back(spreads[i].median, static_cast<int>(i));
        ranking.samples += static_cast<std::int64_t>(found.samples.size());
      }
      plan.times.push_back(std::move(found));
    }
    std::sort(medians.begin(), medians.end());
    for (const auto& [median, i] : medians) {
      ranking.order.push_back(i);
      const Spread& best = spreads[ranking.order.front()];
      if (spreads[i].low <= best.high) ranking.tie.push_back(i);
    }
    ranking.equal_samples = ranking.samples;
    all.rankings.push_back(std::move(ranking));
  }
  return all;
}

}  // namespace tailor::profiler
