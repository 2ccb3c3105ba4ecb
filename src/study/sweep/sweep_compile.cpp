// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Short lists as the database has them, and the compile step. In: a sweep after scoring. Out: binaries as rows, and
// the candidates of each place for the steps that follow. Called by run_sweep(), and by the check and measure steps
// for their candidates.
//
// A place is a group on a device. Its short list is what scoring kept; after a resume it is read from the database,
// and a plan that comes from there is lowered once. Every kernel is compiled once per architecture however many plans
// share it, in batches that are committed as they finish.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "study/pipeline/to_rows.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

ir::Estimate estimate_of(const store::EstimateRow& row) {
  ir::Estimate estimate;
  for (const ir::Level level :
       {ir::Level::sol, ir::Level::projected, ir::Level::compiled, ir::Level::counted, ir::Level::profiled})
    if (ir::name(level) == row.level) estimate.level = level;
  estimate.total = row.total;
  estimate.low = row.low;
  estimate.high = row.high;
  return estimate;
}

namespace {

/// A plan of an earlier run: its program is text, it is not lowered yet.
Candidate stored_candidate(Sweep& sweep, const Place& place, const store::PlanRow& row, Id kernel) {
  Candidate candidate;
  candidate.of = place.group;
  candidate.on = place.target;
  candidate.plan = ir::parse_plan(row.text);
  candidate.kernel_id = kernel;
  candidate.cuda = sweep.store().kernel(kernel)->cuda;
  candidate.standing.group = place.group->group.id;
  candidate.standing.device = place.target->id;
  for (const store::EstimateRow& estimate : sweep.store().estimates(row.id, place.target->id)) {
    if (!estimate.model.ends_with("@" + sweep.calibration.name)) continue;  // made with other numbers
    const ir::Estimate one = estimate_of(estimate);
    if (candidate.standing.at(one.level) == nullptr) candidate.standing.estimates.push_back(one);
  }
  return candidate;
}

}  // namespace

std::vector<Candidate>& short_list(Sweep& sweep, const Place& place) {
  const auto [found, fresh] = sweep.short_lists.try_emplace(place);
  if (!fresh) return found->second;
  std::vector<Candidate>& scored = sweep.chosen[place];
  const std::optional<store::XlaPlanRow> xla = sweep.store().xla_plan(place.group->group.id, place.target->id);
  // Other sweeps' lists may stand beside this one's.
  const Id group = place.group->group.id;
  const std::vector<Id> own = sweep.store().short_list(group, place.target->id, space_on(sweep, *place.target));
  for (const store::PlanRow& row : sweep.store().plans(group)) {
    const bool is_xla = xla && xla->plan == row.id;
    if ((!is_xla || own.empty()) && std::find(own.begin(), own.end(), row.id) == own.end()) continue;
    if (!ir::older_field_in(row.text).empty()) continue;  // score_groups() has put others in its place
    const std::optional<Id> kernel = sweep.store().lowering(row.id, place.target->id);
    if (!kernel) continue;
    const auto known =
        std::find_if(scored.begin(), scored.end(), [&](const Candidate& one) { return one.plan_id() == row.id; });
    if (known != scored.end()) {
      found->second.push_back(std::move(*known));
      scored.erase(known);
    } else if (Candidate stored = stored_candidate(sweep, place, row, *kernel); !stored.standing.estimates.empty()) {
      found->second.push_back(std::move(stored));
    } else {
      continue;  // no sweep with these numbers found it to be legal
    }
    found->second.back().is_xla = is_xla;
    found->second.back().standing.refuted = !sweep.store().plan_rejections(row.id, place.target->id).empty();
  }
  sweep.chosen.erase(place);
  return found->second;
}

void add_xla(std::span<Candidate* const> all, std::vector<std::size_t>& numbers) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Candidate& one = *all[i];
    if (!one.is_xla || one.standing.refuted || one.standing.at(ir::Level::compiled) == nullptr) continue;
    if (std::find(numbers.begin(), numbers.end(), i) == numbers.end()) numbers.push_back(i);
  }
}

std::vector<Place> open_places(Sweep& sweep, const std::function<std::string(const Target&)>& key) {
  std::vector<Place> open;
  for (const Target& target : sweep.devices)
    for (const auto& group : sweep.groups)
      if (group->ready() != nullptr &&
          !sweep.store().is_done(group->group.id, target.id, space_on(sweep, target), key(target)))
        open.push_back({group.get(), &target});
  return open;
}

void mark_done(Sweep& sweep, const Place& place, const std::string& key, std::int64_t legal, std::int64_t rejected) {
  sweep.store().save(store::ProgressRow{place.group->group.id, place.target->id, space_on(sweep, *place.target), key,
                                        legal, rejected, place.target->figures});
}

bool runs_on_device(const Sweep& sweep) { return sweep.options.measure && sweep.options.measure->profiler == "gpu"; }

Compiling compiling(const Sweep& sweep, const profiler::Nvrtc& api, Shapes shapes, std::int64_t done,
                    std::int64_t total) {
  Compiling how;
  how.api = &api;
  if (sweep.config.arch != "auto") how.arch = sweep.config.arch;
  how.for_device = runs_on_device(sweep);
  how.cache = sweep.options.cache;
  how.compiler = sweep.options.compiler;
  how.workers = sweep.options.workers;
  how.shapes = shapes;
  how.done = done;
  how.total = total;
  return how;
}

namespace {

void count_compiled(Sweep& sweep, const ir::Binary& binary) {
  SweepOutcome& outcome = sweep.outcome;
  if (binary.outcome == ir::CompileOutcome::ok)
    (binary.cached ? outcome.kernels_cached : outcome.kernels_compiled) += 1;
  else if (outcome.kernels_failed++ == 0)
    sweep.watch.observer.warning(fmt::format("{}: {}", binary.arch, binary.log.substr(0, binary.log.find('\n'))));
}

struct Batch {
  std::vector<Candidate> candidates;
  std::vector<Place> places;       ///< whole, one after the other
  std::vector<std::size_t> sizes;  ///< candidates of each
};

/// Compiles one batch; returns false when it was stopped before all of it was done.
bool compile_batch(Sweep& sweep, const Compiling& how, Batch& batch, profiler::CompileAccount& account) {
  sweep.outcome.plans_lowered += lower(batch.candidates);
  const profiler::CompileAccount spent = compile(batch.candidates, how, sweep.watch);
  account.in_compiler += spent.in_compiler;
  account.worker_time += spent.worker_time;
  account.wall += spent.wall;
  estimate(batch.candidates, ir::Level::compiled);
  bool whole = true, supported = true;  // another compiler may know an architecture that this one does not
  sweep.recorder.unit([&] {
    for (Candidate& candidate : batch.candidates) {
      whole = whole && candidate.binary;
      supported = supported && candidate.binary && candidate.binary->outcome != ir::CompileOutcome::unsupported;
      if (!candidate.binary) continue;
      sweep.recorder.save_compiled(candidate);
      // One that did not compile may have an estimate of an earlier run, which is stored in full.
      if (candidate.compiled())
        sweep.recorder.save_estimate(candidate, ir::Level::compiled, model_name(sweep, "compiled"));
      count_compiled(sweep, *candidate.binary);
      candidate.standing.refuted |= ir::has_no_kernel(candidate.binary->outcome);
      candidate.binary.reset();  // machine code of a whole sweep does not fit: later steps find it in the cache
    }
    // Of a group none of whose kernels compiled, nobody knows whether the rest would: it has no plan.
    std::size_t first = 0;
    for (const std::size_t size : batch.sizes) {
      const std::span<const Candidate> list = std::span<const Candidate>(batch.candidates).subspan(first, size);
      first += size;
      if (whole && supported && size > 0 && std::all_of(list.begin(), list.end(), [](const Candidate& one) {
            return one.standing.refuted && !one.refused;
          }))
        sweep.recorder.reject_uncompiled(list.front());
    }
    if (whole && supported)
      for (const Place& place : batch.places) mark_done(sweep, place, "compile");
  });
  return whole;
}

/// Moves the short list of a place into the batch, and back.
void take(Sweep& sweep, const Place& place, Batch& batch) {
  std::vector<Candidate>& list = short_list(sweep, place);
  batch.places.push_back(place);
  batch.sizes.push_back(list.size());
  for (Candidate& candidate : list) batch.candidates.push_back(std::move(candidate));
}

void give_back(Sweep& sweep, Batch& batch) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < batch.places.size(); ++i)
    for (Candidate& candidate : short_list(sweep, batch.places[i])) candidate = std::move(batch.candidates[next++]);
  batch = {};
}

}  // namespace

void compile_short_lists(Sweep& sweep, const profiler::Nvrtc& api) {
  constexpr std::size_t full = 64;  // kernels per commit: a few seconds of work are at stake in an interrupt
  const std::vector<Place> open = open_places(sweep, [](const Target&) { return "compile"; });
  profiler::CompileAccount account;
  std::int64_t done = 0;
  Batch batch;
  for (std::size_t i = 0; i < open.size() && !sweep.watch.stopped(); ++i) {
    take(sweep, open[i], batch);
    if (batch.candidates.size() < full && i + 1 < open.size()) continue;
    const auto count = static_cast<std::int64_t>(batch.candidates.size());
    // What later lists have is known when they are made: some have a kernel as XLA would write it too.
    const std::int64_t later = (std::ssize(open) - static_cast<std::int64_t>(i) - 1) * sweep.config.shortlist;
    const bool whole =
        compile_batch(sweep, compiling(sweep, api, Shapes::own, done, done + count + later), batch, account);
    give_back(sweep, batch);
    if (!whole) break;
    done += count;
  }
  sweep.outcome.compiling = account.wall;
  sweep.outcome.in_compiler = account.in_compiler;
  sweep.outcome.compiler_share = account.compiler_share();
}

}  // namespace tailor::study
