// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The profile stage: the short list of every group, measured by whoever the command line named, a group at a time; each
// is committed when it is done. Groups that were measured in the same way before are not measured again.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "codegen/cuda/cuda.h"
#include "profiler/check/small_shape.h"
#include "profiler/compile/pool.h"
#include "study/pipeline/profile_store.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

/// One plan of the group that is measured. Candidates point into it: it does not move.
struct ProfileTask {
  ShortListed listed;
  ir::Kernel kernel;
  std::optional<profiler::SmallShape> odd = {};
  std::string odd_is = {};
  std::optional<ir::Binary> binary = {}, odd_binary = {};
};

/// How the stage is called in `progress`: another way to measure is another stage.
std::string stage_key(const Sweep& sweep, const SweepMeasurer& by) {
  const ProfileConfig& config = sweep.config.profile;
  return fmt::format("profile, {}, top {}, {}, stop {}, counters {}{}, seed {}", by.name, config.top.value_or(0),
                     fmt::join(config.cache, "+"), config.stop, config.counters, config.graph ? ", graph" : "",
                     sweep.config.seed);
}

void compile_tasks(Sweep& sweep, const profiler::Nvrtc& api, const SweepDevice& device,
                   std::deque<ProfileTask>& tasks) {
  std::vector<profiler::CompileRequest> requests;
  for (const ProfileTask& task : tasks) {
    profiler::CompileRequest own;
    own.cuda = sweep.store.kernel(task.listed.kernel)->cuda;
    own.arch = arch_of(sweep, device);
    profiler::CompileRequest odd = own;
    if (task.odd) odd.cuda = codegen::cuda(task.odd->kernel, &task.listed.plan);
    requests.push_back(std::move(own));
    requests.push_back(std::move(odd));
  }
  const profiler::BinaryCache cache{sweep.options.cache};
  profiler::CompileStage stage;
  stage.workers = sweep.options.workers;
  stage.cache = sweep.options.cache.empty() ? nullptr : &cache;
  stage.stop = sweep.stop;
  profiler::CompiledAll compiled = profiler::compile_all(api, requests, stage);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].binary = std::move(compiled.binaries[2 * i]);
    if (tasks[i].odd) tasks[i].odd_binary = std::move(compiled.binaries[2 * i + 1]);
  }
}

std::deque<ProfileTask> make_tasks(Sweep& sweep, const SweepGroup& group, const SweepDevice& device, bool odd_shapes) {
  std::deque<ProfileTask> tasks;
  for (ShortListed& listed : best_compiled(sweep, group, device, sweep.config.profile.top.value_or(0))) {
    ProfileTask& task = tasks.emplace_back();
    task.listed = std::move(listed);
    task.kernel = lowered_again(task.listed);
    if (!odd_shapes) continue;
    auto found = profiler::odd_shape(group.group, task.listed.plan, task.kernel, device.limits);
    if (auto* odd = std::get_if<profiler::SmallShape>(&found)) {
      task.odd_is = odd->text();
      task.odd = std::move(*odd);
    } else {
      task.odd_is = std::get<std::string>(found);
    }
  }
  return tasks;
}

profiler::Candidate make_candidate(const SweepGroup& group, const ProfileTask& task) {
  profiler::Candidate candidate;
  candidate.name = fmt::format("{} {}", task.kernel.name, text(task.listed.plan));
  candidate.kernel_id = task.listed.kernel;
  candidate.own = {&group.group, &task.kernel, &*task.binary};
  candidate.odd_is = task.odd_is;
  if (task.odd && task.odd_binary && task.odd_binary->outcome == ir::CompileOutcome::ok)
    candidate.odd = profiler::ShapedKernel{&task.odd->group, &task.odd->kernel, &*task.odd_binary};
  return candidate;
}

void count_result(Sweep& sweep, const ProfileTask& task, const profiler::CandidateResult& result) {
  if (result.outcome == ir::Outcome::ok) {
    ++sweep.outcome.kernels_measured;
  } else if (ir::is_refuted(result.outcome)) {
    ++sweep.outcome.kernels_failed_on_gpu;
    sweep.console.warning(fmt::format("{} under plan {}: {}: {}", task.kernel.name, text(task.listed.plan),
                                      ir::name(result.outcome), result.reason));
  } else if (sweep.outcome.kernels_unmeasured++ == 0) {
    sweep.console.warning(fmt::format("{}: {}", task.kernel.name, result.reason));
  }
}

bool lacks_an_answer(const profiler::CandidateResult& result) {
  return result.outcome == ir::Outcome::unavailable || result.outcome == ir::Outcome::not_recorded ||
         result.outcome == ir::Outcome::stopped;
}

/// Measures one group; false when it was stopped before all of it was done.
bool profile_group(Sweep& sweep, const profiler::Nvrtc& api, const SweepGroup& group, const SweepDevice& device,
                   const SweepMeasurer& by) {
  std::deque<ProfileTask> tasks = make_tasks(sweep, group, device, by.name != "replay");
  compile_tasks(sweep, api, device, tasks);
  std::vector<profiler::Candidate> candidates;
  std::vector<const ProfileTask*> asked;
  for (const ProfileTask& task : tasks) {
    if (!task.binary || task.binary->outcome != ir::CompileOutcome::ok) continue;
    asked.push_back(&task);
    candidates.push_back(make_candidate(group, task));
  }
  profiler::MeasuredGroup measured;
  if (!candidates.empty()) measured = by.measure(candidates, by.how);
  if (sweep.stop.stop_requested()) return false;
  store::Store::Transaction unit(sweep.store);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Id plan = id_of(asked[i]->listed.plan, group.group.id);
    save_profiled(sweep.store, {&*asked[i]->binary, asked[i]->listed.kernel, plan, measured.plans[i]},
                  {sweep.run, device.id, by.name});
    count_result(sweep, *asked[i], measured.plans[i]);
  }
  // A GPU that was lost, or records that lack something, may answer the next time.
  if (std::none_of(measured.plans.begin(), measured.plans.end(), lacks_an_answer))
    sweep.store.save(store::ProgressRow{group.group.id, device.id, sweep.space, stage_key(sweep, by), 0, 0});
  unit.commit();
  return true;
}

}  // namespace

void profile_short_lists(Sweep& sweep, const profiler::Nvrtc& api) {
  const auto started = std::chrono::steady_clock::now();
  for (const SweepDevice& device : sweep.devices) {
    SweepMeasurer by = sweep.options.measurer(device.device, sweep.config.profile, sweep.stop);
    if (by.opened.outcome == ir::Outcome::ok) sweep.outcome.opened_gpu = by.opened;
    by.how.seed = static_cast<std::uint64_t>(sweep.config.seed);
    std::vector<const SweepGroup*> open;
    for (const auto& group : sweep.groups)
      if (std::holds_alternative<codegen::Prepared>(group->prepared) &&
          !sweep.store.is_done(group->group.id, device.id, sweep.space, stage_key(sweep, by)))
        open.push_back(group.get());
    std::int64_t done = 0;
    for (const SweepGroup* group : open) {
      sweep.console.progress({"measuring groups", done++, static_cast<std::int64_t>(open.size()), {}});
      if (sweep.stop.stop_requested() || !profile_group(sweep, api, *group, device, by)) break;
    }
  }
  sweep.outcome.measuring += Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
}

}  // namespace tailor::study
