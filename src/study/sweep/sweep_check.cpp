// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check step. In: the short lists of a sweep, with their binaries. Out: verdicts and, for kernels that ran at full
// shape, estimates of level `counted`, as rows. Called by run_sweep() after the compile step.
//
// Groups are taken until about 32 kernels wait, then these are executed together and committed. A batch that was
// stopped half-way stores its verdicts but does not mark its groups as done, so the next run looks at them again. The
// key under which a group counts as done (step_keys.h) holds how it was checked: another way to check is another step.
#include <fmt/format.h>

#include <algorithm>

#include "study/pipeline/to_rows.h"
#include "study/sweep/step_keys.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

Checking make_checking(const Sweep& sweep) {
  Checking how = make_checking(sweep.config);
  how.workers = sweep.options.workers;
  how.executor = sweep.options.executor;
  return how;
}

std::int64_t top_of(const Sweep& sweep) { return sweep.config.check.top.value_or(0); }

void count_verdict(Sweep& sweep, const Candidate& candidate) {
  const profiler::Checked& checked = *candidate.verdict;
  if (checked.state == profiler::Verdict::passed) {
    ++sweep.outcome.kernels_passed;
    sweep.outcome.kernels_judged_in_part += checked.judged < 1 ? 1 : 0;
    sweep.outcome.kernels_sampled += candidate.sampled() ? 1 : 0;
  } else if (profiler::is_refuted(checked.state)) {
    ++sweep.outcome.kernels_refuted;
    sweep.watch.observer.warning(fmt::format("{} under plan {} is {}: {}", candidate.kernel.name, text(candidate.plan),
                                             profiler::name(checked.state), checked.reason));
  } else if (checked.state == profiler::Verdict::not_judged) {
    if (sweep.outcome.kernels_not_judged++ == 0)
      sweep.watch.observer.warning(fmt::format("{} is not judged: {}", candidate.kernel.name, checked.reason));
  } else if (sweep.outcome.kernels_not_executed++ == 0) {
    sweep.watch.observer.warning(fmt::format("{}: {}", candidate.kernel.name, checked.reason));
  }
}

/// Executes candidates; false when that was stopped before all of it was done.
bool check_batch(Sweep& sweep, const profiler::Nvrtc& api, std::span<Candidate> batch, std::int64_t done,
                 std::int64_t total) {
  sweep.outcome.plans_lowered += lower(batch);
  if (sweep.config.check.small_shape) add_shapes(batch, ShapeKind::small);
  compile(batch, compiling(sweep, api, Shapes::executed, 0, 0), {silent(), sweep.watch.stop});
  Checking how = make_checking(sweep);
  how.done = done;
  how.total = total;
  sweep.outcome.checking += check(batch, how, sweep.watch).wall;
  return std::all_of(batch.begin(), batch.end(), [](const Candidate& candidate) {
    const std::optional<ir::Binary>& binary = candidate.executed_binary();
    return binary && (binary->outcome != ir::CompileOutcome::ok || candidate.refused || candidate.verdict);
  });
}

/// How times of this sweep may be taken: as its file says, by whichever clock the GPU then has. A later run that
/// measures has no counts of executions, so what they predict is stored with them.
std::vector<ir::Regime> measured_regimes(const ProfileConfig& config) {
  std::vector<ir::Regime> regimes;
  for (const std::string& word : config.cache)
    for (const ir::TimedBy timed_by : {ir::TimedBy::activity, ir::TimedBy::events})
      if (const std::optional<ir::CacheState> cache = ir::cache_state_named(word))
        regimes.push_back(
            ir::make_regime({*cache, timed_by, config.graph ? ir::LaunchMode::graph : ir::LaunchMode::stream}));
  return regimes;
}

/// Stores what was found of a batch and, when that is all, that its places are done.
void store_batch(Sweep& sweep, std::span<Candidate> batch, std::span<const Place> finished) {
  const Checking how = make_checking(sweep);
  sweep.recorder.unit([&] {
    for (Candidate& candidate : batch) {
      if (!candidate.verdict) continue;
      sweep.recorder.save_checked(
          candidate, make_method(sweep.config, candidate.on->device, check_method(how.each, how.seeds, candidate)));
      const profiler::Checked& checked = *candidate.verdict;
      const bool judged = checked.state == profiler::Verdict::passed || checked.state == profiler::Verdict::not_judged;
      if (judged && candidate.counted()) {
        estimate({&candidate, 1}, ir::Level::counted);
        sweep.recorder.save_estimate(candidate, ir::Level::counted, model_name(sweep, "counted"));
        for (const ir::Regime& regime : measured_regimes(sweep.config.profile))
          sweep.recorder.save_prediction(candidate, ir::Level::counted, regime);
      }
      count_verdict(sweep, candidate);
    }
    for (const Place& place : finished) mark_done(sweep, place, check_key(sweep.config, place.target->device));
  });
  for (Candidate& candidate : batch) {
    candidate.binary.reset();
    candidate.other.reset();
  }
}

}  // namespace

void check_short_lists(Sweep& sweep, const profiler::Nvrtc& api) {
  if (top_of(sweep) == 0) return;
  constexpr std::int64_t full = 32;  // kernels per commit
  const std::vector<Place> open =
      open_places(sweep, [&](const Target& target) { return check_key(sweep.config, target.device); });
  std::int64_t done = 0, waiting = 0;
  std::vector<Place> places;
  std::vector<std::vector<Candidate>*> lists;
  for (std::size_t i = 0; i < open.size() && !sweep.watch.stopped(); ++i) {
    places.push_back(open[i]);
    lists.push_back(&short_list(sweep, open[i]));
    waiting += std::min<std::int64_t>(top_of(sweep), std::ssize(*lists.back()));
    if (waiting < full && i + 1 < open.size()) continue;
    bool whole = true;
    // What later lists have is known when they are made: some have a kernel as XLA would write it too.
    const std::int64_t later = std::ssize(open) - static_cast<std::int64_t>(i) - 1;
    with_best_compiled(lists, top_of(sweep), [&](std::span<Candidate> batch) {
      whole = check_batch(sweep, api, batch, done, done + std::ssize(batch) + later * top_of(sweep));
      store_batch(sweep, batch, whole ? std::span<const Place>(places) : std::span<const Place>());
      done += static_cast<std::int64_t>(batch.size());
    });
    if (!whole) break;
    waiting = 0;
    places.clear();
    lists.clear();
  }
}

}  // namespace tailor::study
