// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The profile step: the best compiled kernels of every short list, measured by whoever the command line named, a group
// at a time; each is committed when it is done. Groups that were measured in the same way before are not measured
// again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "study/sweep/step_keys.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

std::string step_key(const Sweep& sweep, const SweepMeasurer& by) {
  return profile_key(sweep.config, by, sweep.options.measure ? sweep.options.measure->recorded : std::string());
}

/// As the command line and the sweep's file say.
SweepMeasurer make_sweep_measurer(const Sweep& sweep, const Target& target) {
  const ProfileConfig& config = sweep.config.profile;
  if (sweep.options.measurer) return sweep.options.measurer(target.device, config, sweep.watch);
  MeasureWords words = *sweep.options.measure;
  words.cache_states = fmt::format("{}", fmt::join(config.cache, ","));
  words.stop_rule = config.stop;
  words.counters = config.counters;
  words.graph = config.graph;
  words.checks = config.checks;
  SweepMeasurer by;
  by.how = measure_options(words, target.device, sweep.watch);
  by.who = make_measurer(words, sweep.options.data, target.device, sweep.watch);
  return by;
}

void count_result(Sweep& sweep, const Candidate& candidate) {
  const profiler::CandidateResult& result = *candidate.measured;
  if (result.outcome == ir::Outcome::ok) {
    ++sweep.outcome.kernels_measured;
  } else if (ir::is_refuted(result.outcome)) {
    ++sweep.outcome.kernels_failed_on_gpu;
    sweep.watch.observer.warning(fmt::format("{} under plan {}: {}: {}", candidate.kernel.name, text(candidate.plan),
                                             ir::name(result.outcome), result.reason));
  } else if (sweep.outcome.kernels_unmeasured++ == 0) {
    sweep.watch.observer.warning(fmt::format("{}: {}", candidate.kernel.name, result.reason));
  }
}

bool lacks_an_answer(const Candidate& candidate) {
  if (!candidate.measured) return false;
  const ir::Outcome outcome = candidate.measured->outcome;
  return outcome == ir::Outcome::unavailable || outcome == ir::Outcome::not_recorded || outcome == ir::Outcome::stopped;
}

/// The numbers of the plans of a short list that are measured: of its `shortlist` best by the model that ranked them
/// the `top` best by the compiled estimate, then those that were drawn from the ranking behind them. Where sweeps of
/// other lengths left more plans of the group in the database, every so many-th of these.
std::vector<std::size_t> chosen_plans(const Sweep& sweep, std::span<Candidate* const> list) {
  std::vector<const explore::Standing*> all;
  for (const Candidate* candidate : list) all.push_back(&candidate->standing);
  const ProfileConfig& config = sweep.config.profile;
  if (config.random == 0) return explore::best_by(all, ir::Level::compiled, config.top.value_or(0));
  const std::vector<std::size_t> ranked = explore::best_by(all, sweep.model->level, std::ssize(all));
  const auto first = static_cast<std::size_t>(std::min(sweep.config.shortlist, std::ssize(ranked)));
  std::vector<const explore::Standing*> best;
  for (std::size_t i = 0; i < first; ++i) best.push_back(all[ranked[i]]);
  std::vector<std::size_t> numbers;
  for (const std::size_t i : explore::best_by(best, ir::Level::compiled, config.top.value_or(0)))
    numbers.push_back(ranked[i]);
  std::vector<std::size_t> drawn;
  for (std::size_t i = first; i < ranked.size(); ++i)
    if (all[ranked[i]]->at(ir::Level::compiled) != nullptr) drawn.push_back(ranked[i]);
  const std::size_t wanted = std::min(static_cast<std::size_t>(config.random), drawn.size());
  for (std::size_t k = 0; k < wanted; ++k) numbers.push_back(drawn[k * drawn.size() / wanted]);
  return numbers;
}

/// The same and the plan that XLA would write.
std::vector<std::size_t> measured_plans(const Sweep& sweep, std::span<Candidate* const> list) {
  std::vector<std::size_t> numbers = chosen_plans(sweep, list);
  if (!numbers.empty()) add_xla(list, numbers);
  return numbers;
}

/// Measures one group; false when it was stopped before all of it was done.
bool profile_group(Sweep& sweep, const profiler::Nvrtc& api, const Place& place, const SweepMeasurer& by) {
  std::vector<Candidate*> list;
  for (Candidate& candidate : short_list(sweep, place)) list.push_back(&candidate);
  bool whole = true;
  with_batch(std::span<Candidate* const>(list), measured_plans(sweep, list), [&](std::span<Candidate> batch) {
    sweep.outcome.plans_lowered += lower(batch);
    if (by.who.name != "replay") add_shapes(batch, ShapeKind::odd);
    compile(batch, compiling(sweep, api, Shapes::both, 0, 0), {silent(), sweep.watch.stop});
    measure(batch, {by.who.measure, true, by.how}, [](const RacedGroup&) {});
    whole = !sweep.watch.stopped();
    if (!whole) return;
    sweep.recorder.unit([&] {
      for (const Candidate& candidate : batch) {
        if (!candidate.measured) continue;
        sweep.recorder.save_measured(candidate, by.who.name);
        count_result(sweep, candidate);
      }
      // A GPU that was lost, or records that lack something, may answer the next time.
      if (std::none_of(batch.begin(), batch.end(), lacks_an_answer)) mark_done(sweep, place, step_key(sweep, by));
    });
    for (Candidate& candidate : batch) {
      candidate.binary.reset();
      candidate.other.reset();
    }
  });
  return whole;
}

}  // namespace

void profile_short_lists(Sweep& sweep, const profiler::Nvrtc& api) {
  const auto started = std::chrono::steady_clock::now();
  for (const Target& target : sweep.devices) {
    SweepMeasurer by = make_sweep_measurer(sweep, target);
    if (gpu::Response opened = by.who.opened(); opened.outcome == ir::Outcome::ok)
      sweep.outcome.opened_gpu = std::move(opened);
    by.how.seed = static_cast<std::uint64_t>(sweep.config.seed);
    std::vector<Place> open = open_places(sweep, [&](const Target&) { return step_key(sweep, by); });
    std::erase_if(open, [&](const Place& place) { return place.target != &target; });
    std::int64_t done = 0;
    for (const Place& place : open) {
      sweep.watch.observer.progress({"measuring groups", done++, static_cast<std::int64_t>(open.size()), {}});
      if (sweep.watch.stopped() || !profile_group(sweep, api, place, by)) break;
    }
  }
  sweep.outcome.measuring += Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
}

}  // namespace tailor::study
