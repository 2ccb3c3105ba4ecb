// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The stages that need a compiler, the simulator or a GPU. Each turns candidates into the requests of its part of the
// right arm, says how far it is, and puts the answers back into the candidates. Called by sweeps and by the commands
// that execute.
#include <pwd.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.h"
#include "base/indexed.h"
#include "codegen/cuda/cuda.h"
#include "costmodel/occupancy.h"
#include "profiler/check/simulate.h"
#include "profiler/compile/machine_work.h"
#include "study/pipeline/stages.h"

namespace tailor::study {

namespace {

/// A part's progress as that of the whole work.
Progress progress_of(std::string what, std::size_t done, std::size_t total, std::int64_t before, std::int64_t all) {
  return {
      std::move(what), before + static_cast<std::int64_t>(done), all > 0 ? all : static_cast<std::int64_t>(total), {}};
}

profiler::MeasureRequest make_request(const Candidate& candidate) {
  profiler::MeasureRequest request;
  request.name = candidate.of->title() + " " + ir::text(candidate.plan);
  request.kernel_id = candidate.kernel_id;
  request.own = {&candidate.of->group, &candidate.kernel, candidate.binary ? &*candidate.binary : nullptr};
  request.odd_is = candidate.other_is;
  if (const auto& odd = candidate.other; odd && odd->binary && odd->binary->outcome == ir::CompileOutcome::ok)
    request.odd = profiler::ShapedKernel{&odd->shape.group, &odd->shape.kernel, &*odd->binary};
  return request;
}

/// Null: its inputs are drawn.
const profiler::GivenArrays* given_to(const Checking& how, const Candidate& candidate) {
  if (how.given == nullptr) return nullptr;
  const auto at = how.given->find(candidate.of->number);
  return at == how.given->end() ? nullptr : &at->second;
}

RacedGroup measure_one(std::span<Candidate> candidates, std::size_t first, const Measuring& how) {
  RacedGroup group{first, candidates.size(), {}, {}, {}};
  std::vector<profiler::MeasureRequest> requests;
  IndexedVector<std::size_t> asked;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (how.needs_binary && !candidates[i].compiled()) continue;
    asked.push_back(i);
    requests.push_back(make_request(candidates[i]));
  }
  if (requests.empty()) return group;
  profiler::MeasuredGroup measured = how.by(requests, how.how);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Candidate& candidate = candidates[asked[k]];
    candidate.measured = std::move(measured.plans[k]);
    candidate.standing.refuted = candidate.standing.refuted || ir::is_refuted(candidate.measured->outcome);
  }
  group.unjudged = std::move(measured.unjudged);
  group.floor = measured.floor;
  group.rankings = std::move(measured.rankings);
  for (profiler::Ranking& ranking : group.rankings) {
    for (int& k : ranking.order) k = static_cast<int>(asked[k]);
    for (int& k : ranking.tie) k = static_cast<int>(asked[k]);
    if (ranking.twin.plan >= 0) ranking.twin.plan = static_cast<int>(asked[ranking.twin.plan]);
  }
  return group;
}

/// What the launch of a compiled kernel executes, by its machine code.
void read_machine(Candidate& candidate) {
  if (!candidate.lowered || !candidate.compiled() || candidate.machine) return;
  const costmodel::Work work = costmodel::by_launch(candidate.work);
  const Chain<costmodel::Work> works = costmodel::works_of(work);
  const std::vector<Chain<ir::Kernel>> launches = launches_of(candidate.kernel);
  const Chain<ir::CompiledEntry> entries = entries_of(*candidate.binary);
  std::vector<ir::MachineWork> machines;
  for (std::size_t i = 0; i < launches.size() && i < entries.size(); ++i) {
    const ir::MachineRequests expected = costmodel::program_requests(works[i]);
    machines.push_back(
        profiler::machine_work(*candidate.binary, entries[i], {ir::launch_shape(launches[i]), &expected, false}));
  }
  candidate.machine = machines.front();
  candidate.machine->followers.assign(machines.begin() + 1, machines.end());
  const std::string &arch = candidate.binary->arch, &own = candidate.on->device.arch;
  std::string& note = candidate.machine->note;
  if (arch != own)
    note = fmt::format("compiled for {} in the place of {}{}{}", arch, own, note.empty() ? "" : "; ", note);
}

/// By the kernel's own binary, or, where that of the other shape alone was asked for, by that.
void refuse_few_residents(Candidate& candidate) {
  if (candidate.refused || !candidate.lowered) return;
  if (candidate.binary)
    candidate.refused = too_few_residents(candidate.kernel, *candidate.binary, candidate.on->limits);
  else if (candidate.executed_binary())
    candidate.refused =
        too_few_residents(candidate.executed_kernel(), *candidate.executed_binary(), candidate.on->limits);
  candidate.standing.refuted = candidate.standing.refuted || candidate.refused.has_value();
}

}  // namespace

std::optional<ir::Rejection> too_few_residents(const ir::Kernel& program, const ir::Binary& binary,
                                               const ir::Limits& limits) {
  if (binary.outcome != ir::CompileOutcome::ok) return {};
  const auto entries = entries_of(binary);
  auto entry = entries.begin();
  for (const Chain<ir::Kernel>& launch : launches_of(program)) {
    const ir::CompiledEntry& made = *entry;
    ++entry;
    const ir::LaunchShape shape = launch_shape(launch);
    if (shape.min_blocks == 0) continue;
    const std::int64_t shared = shape.dynamic_shared + std::max<std::int64_t>(made.static_shared, shape.static_shared);
    const int threads = launch[0].threads;
    const costmodel::Occupancy found = costmodel::occupancy(limits, threads, made.registers, shared);
    if (found.blocks_per_sm >= shape.min_blocks) continue;
    return ir::Rejection{
        "min-blocks",
        fmt::format("compiled to {} per thread and {} bytes of shared memory, of which an SM holds {} of "
                    "{} threads, limited by {}; {} must be resident",
                    counted(made.registers, "register"), shared, counted(found.blocks_per_sm, "block"), threads,
                    costmodel::name(found.limiter), shape.min_blocks),
        true};
  }
  return {};
}

profiler::CompiledAll compile_texts(std::span<const profiler::CompileRequest> requests, const Compiling& how,
                                    const Watch& watch) {
  const profiler::BinaryCache cache{how.cache};
  profiler::CompileStage stage;
  stage.workers = how.workers;
  stage.cache = how.cache.empty() ? nullptr : &cache;
  stage.compiler = how.compiler;
  stage.stop = watch.stop;
  stage.progress = [&](const profiler::CompileProgress& progress) {
    watch.observer.progress(progress_of("compiling kernels", progress.done, progress.total, how.done, how.total));
  };
  profiler::CompiledAll all = profiler::compile_all(*how.api, requests, stage);
  if (!all.cache_fault.empty())
    watch.observer.warning(fmt::format(
        "the cache of compiled kernels {} cannot be written ({}): going on without it; --cache names another "
        "folder",
        how.cache.string(), all.cache_fault));
  return all;
}

profiler::CompileAccount compile(std::span<Candidate> candidates, const Compiling& how, const Watch& watch) {
  std::vector<profiler::CompileRequest> requests;
  std::vector<std::optional<ir::Binary>*> answers;
  const auto ask = [&](const Candidate& candidate, const std::string& cuda, std::optional<ir::Binary>& binary) {
    if (binary) return;
    const std::string& own = candidate.on->device.arch;
    requests.push_back({.cuda = cuda,
                        .arch = !how.arch.empty() ? how.arch
                                : how.for_device  ? own
                                                  : profiler::nearest_arch(*how.api, own)});
    if (std::vector<std::string> entries = codegen::entries_in(cuda); entries.size() > 1) {
      requests.back().entry = entries.front();
      requests.back().followers.assign(entries.begin() + 1, entries.end());
    }
    answers.push_back(&binary);
  };
  for (Candidate& candidate : candidates)
    if (how.shapes != Shapes::executed || !candidate.other) ask(candidate, candidate.cuda, candidate.binary);
  for (Candidate& candidate : candidates)
    if (how.shapes != Shapes::own && candidate.other) ask(candidate, candidate.other->cuda, candidate.other->binary);
  profiler::CompiledAll compiled = compile_texts(requests, how, watch);
  for (std::size_t i = 0; i < answers.size(); ++i) *answers[i] = std::move(compiled.binaries[i]);
  for (Candidate& candidate : candidates) {
    refuse_few_residents(candidate);
    read_machine(candidate);
  }
  return compiled.account;
}

profiler::CheckAccount check(std::span<Candidate> candidates, const Checking& how, const Watch& watch) {
  std::vector<profiler::CheckRequest> requests;
  std::vector<Candidate*> asked;
  for (Candidate& candidate : candidates) {
    const std::optional<ir::Binary>& binary = candidate.executed_binary();
    if (!binary || binary->outcome != ir::CompileOutcome::ok || candidate.refused) continue;
    asked.push_back(&candidate);
    requests.push_back({&candidate.executed_group(), &candidate.executed_kernel(), &*binary,
                        profiler::machine_limits(candidate.on->device, candidate.plan.blocks_per_sm),
                        given_to(how, candidate)});
  }
  profiler::CheckStage stage;
  stage.workers = how.workers;
  stage.seeds = how.seeds;
  stage.memory = how.memory;
  stage.each = how.each;
  stage.each.stop = watch.stop;
  stage.executor = how.executor ? how.executor : profiler::make_simulator;
  stage.progress = [&](const profiler::CheckProgress& progress) {
    Progress line = progress_of("executing kernels", progress.done, progress.total, how.done, how.total);
    line.share = (static_cast<double>(how.done) + progress.share * static_cast<double>(progress.total)) /
                 static_cast<double>(std::max<std::int64_t>(line.total, 1));
    if (progress.refuted > progress.late) line.best = fmt::format("{} wrong", progress.refuted - progress.late);
    watch.observer.progress(line);
  };
  for (Candidate* candidate : asked) candidate->verdict_is_of_other = candidate->other.has_value();
  stage.reached = [&](std::size_t at, const profiler::Checked& verdict) {
    const std::unique_lock lock =
        how.reading != nullptr ? std::unique_lock(*how.reading) : std::unique_lock<std::mutex>();
    asked[at]->verdict = verdict;
    if (profiler::is_refuted(verdict.state)) asked[at]->standing.refuted = true;
  };
  return profiler::check_all(requests, stage).account;
}

profiler::CheckAccount check_in_parts(std::span<Candidate> candidates, Compiling compiling, Checking checking,
                                      const std::function<void(std::span<Candidate>)>& finished, const Watch& watch,
                                      std::size_t at_once) {
  profiler::CheckAccount all;
  compiling.total = checking.total = std::ssize(candidates);
  for (std::size_t first = 0, end = 0; first < candidates.size() && !watch.stopped(); first = end) {
    while (end < candidates.size() && (end < first + at_once || candidates[end].of == candidates[end - 1].of)) ++end;
    const std::span<Candidate> part = candidates.subspan(first, end - first);
    compile(part, compiling, watch);
    if (!watch.stopped()) all += check(part, checking, watch);
    compiling.done = checking.done = static_cast<std::int64_t>(end);
    finished(part);
  }
  return all;
}

std::vector<RacedGroup> measure(std::span<Candidate> candidates, const Measuring& how,
                                const std::function<void(const RacedGroup&)>& finished) {
  std::vector<RacedGroup> groups;
  for (std::size_t first = 0, end = 0; first < candidates.size() && !how.how.stop.stop_requested(); first = end) {
    while (end < candidates.size() && candidates[end].of == candidates[first].of) ++end;
    groups.push_back(measure_one(candidates.subspan(first, end - first), first, how));
    finished(groups.back());
  }
  return groups;
}

std::filesystem::path default_cache_folder() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry != nullptr ? std::filesystem::path(entry->pw_dir) / ".cache" / "tailor" : std::filesystem::path();
}

}  // namespace tailor::study
