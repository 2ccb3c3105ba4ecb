// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The check stage: every compiled kernel on a short list is executed and compared with the reference, in batches that
// are committed as they finish. Groups that were checked in the same way before are not checked again.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "codegen/cuda/cuda.h"
#include "costmodel/count.h"
#include "profiler/check/check_pool.h"
#include "profiler/check/simulate.h"
#include "profiler/check/small_shape.h"
#include "profiler/compile/pool.h"
#include "study/pipeline/to_rows.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

/// One kernel to execute, with what that needs.
struct CheckTask {
  ShortListed listed;
  ir::Kernel kernel;
  std::optional<profiler::SmallShape> small = {};  ///< executed in the kernel's place
  std::optional<ir::Binary> binary = {};           ///< of what is executed

  const ir::Group& executed_group() const { return small ? small->group : listed.group->group; }
  const ir::Kernel& executed_kernel() const { return small ? small->kernel : kernel; }
};

void shrink(CheckTask& task) {
  auto found =
      profiler::small_shape(task.listed.group->group, task.listed.plan, task.kernel, task.listed.device->limits);
  if (auto* small = std::get_if<profiler::SmallShape>(&found)) task.small = std::move(*small);
}

profiler::CheckOptions make_options(const Sweep& sweep) {
  profiler::CheckOptions options;
  options.seed = static_cast<std::uint64_t>(sweep.config.seed);
  options.sample_blocks = sweep.config.check.blocks;
  options.stop = sweep.stop;
  return options;
}

std::string method_of(const Sweep& sweep, const SweepDevice& device) {
  return fmt::format("{}, {}", check_method(make_options(sweep), static_cast<int>(sweep.config.check.seeds)),
                     arch_of(sweep, device));
}

std::int64_t top_of(const Sweep& sweep) { return sweep.config.check.top.value_or(0); }

/// How the stage is called in `progress`: another way to check is another stage.
std::string stage_key(const Sweep& sweep, const SweepDevice& device) {
  return fmt::format("check, top {}, {}{}", top_of(sweep), method_of(sweep, device),
                     sweep.config.check.small_shape ? ", fewer rows where they can be" : "");
}

void count_verdict(Sweep& sweep, const CheckTask& task, const profiler::Checked& checked) {
  if (checked.state == profiler::Verdict::passed) {
    ++sweep.outcome.kernels_passed;
  } else if (profiler::is_refuted(checked.state)) {
    ++sweep.outcome.kernels_refuted;
    sweep.console.warning(fmt::format("{} under plan {} is {}: {}", task.kernel.name, text(task.listed.plan),
                                      profiler::name(checked.state), checked.reason));
  } else if (sweep.outcome.kernels_not_executed++ == 0) {
    sweep.console.warning(fmt::format("{}: {}", task.kernel.name, checked.reason));
  }
}

void store_verdict(Sweep& sweep, const CheckTask& task, const profiler::Checked& checked) {
  const SweepDevice& device = *task.listed.device;
  const Id plan = id_of(task.listed.plan, task.listed.group->group.id);
  const std::string method = method_of(sweep, device) + (task.small ? ", " + task.small->text() : std::string());
  sweep.store.save(check_row(checked, task.listed.kernel, method));
  if (profiler::is_refuted(checked.state)) sweep.store.save(plan_rejection_row(checked, plan, device.id));
  // Counters of a smaller shape are not this kernel's.
  if (checked.counts.blocks_run > 0 && !task.small)
    sweep.store.save(measurement_row(checked, task.kernel, sweep.run, task.binary->source, device.id, method));
  if (checked.state == profiler::Verdict::passed && checked.counts.blocks_run > 0 && !task.small) {
    const costmodel::Work work = costmodel::count(task.kernel, costmodel::Mode::fast);
    const ir::Estimate estimate =
        costmodel::simulated(work, *task.binary, checked.counts, device.device, sweep.calibration);
    sweep.store.save(estimate_row(plan, device.id, estimate, "simulated"));
  }
  count_verdict(sweep, task, checked);
}

/// PTX is not in the database: it comes from the cache, or once more from the compiler.
void find_binaries(Sweep& sweep, const profiler::Nvrtc& api, std::deque<CheckTask>& tasks) {
  std::vector<profiler::CompileRequest> requests;
  for (const CheckTask& task : tasks) {
    profiler::CompileRequest request;
    request.cuda = task.small ? codegen::cuda(task.small->kernel, &task.listed.plan)
                              : sweep.store.kernel(task.listed.kernel)->cuda;
    request.arch = arch_of(sweep, *task.listed.device);
    requests.push_back(std::move(request));
  }
  const profiler::BinaryCache cache{sweep.options.cache};
  profiler::CompileStage stage;
  stage.workers = sweep.options.workers;
  stage.cache = sweep.options.cache.empty() ? nullptr : &cache;
  stage.stop = sweep.stop;
  profiler::CompiledAll compiled = profiler::compile_all(api, requests, stage);
  for (std::size_t i = 0; i < tasks.size(); ++i) tasks[i].binary = std::move(compiled.binaries[i]);
}

using Open = std::pair<const SweepGroup*, const SweepDevice*>;

/// Executes one batch; returns false when it was stopped before all of it was done.
bool check_batch(Sweep& sweep, const profiler::Nvrtc& api, std::deque<CheckTask>& tasks,
                 const std::vector<Open>& finished, std::int64_t done, std::int64_t total) {
  find_binaries(sweep, api, tasks);
  std::vector<profiler::CheckRequest> requests;
  std::vector<const CheckTask*> asked;
  bool whole = true;
  for (const CheckTask& task : tasks) {
    whole = whole && task.binary;
    if (!task.binary || task.binary->outcome != ir::CompileOutcome::ok) continue;
    asked.push_back(&task);
    requests.push_back({&task.executed_group(), &task.executed_kernel(), &*task.binary,
                        profiler::machine_limits(task.listed.device->device, task.listed.plan.blocks_per_sm)});
  }
  profiler::CheckStage stage;
  stage.workers = sweep.options.workers;
  stage.seeds = static_cast<int>(sweep.config.check.seeds);
  stage.each = make_options(sweep);
  stage.executor = sweep.options.executor ? sweep.options.executor : profiler::make_simulator;
  stage.progress = [&](const profiler::CheckProgress& progress) {
    sweep.console.progress({"executing kernels", done + static_cast<std::int64_t>(progress.done), total, {}});
  };
  const profiler::CheckedAll all = profiler::check_all(requests, stage);
  sweep.outcome.checking += all.account.wall;
  store::Store::Transaction unit(sweep.store);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    whole = whole && all.verdicts[i];
    if (all.verdicts[i]) store_verdict(sweep, *asked[i], *all.verdicts[i]);
  }
  if (whole)
    for (const auto& [group, device] : finished)
      sweep.store.save(store::ProgressRow{group->group.id, device->id, sweep.space, stage_key(sweep, *device), 0, 0});
  unit.commit();
  return whole;
}

}  // namespace

void check_short_lists(Sweep& sweep, const profiler::Nvrtc& api) {
  if (top_of(sweep) == 0) return;
  constexpr std::size_t batch = 32;  // kernels per commit
  std::vector<Open> open;
  for (const SweepDevice& device : sweep.devices)
    for (const auto& group : sweep.groups)
      if (std::holds_alternative<codegen::Prepared>(group->prepared) &&
          !sweep.store.is_done(group->group.id, device.id, sweep.space, stage_key(sweep, device)))
        open.emplace_back(group.get(), &device);
  const auto total = static_cast<std::int64_t>(open.size()) * top_of(sweep);
  std::int64_t done = 0;
  std::deque<CheckTask> tasks;
  std::vector<Open> finished;
  for (std::size_t i = 0; i < open.size() && !sweep.stop.stop_requested(); ++i) {
    for (ShortListed& listed : best_compiled(sweep, *open[i].first, *open[i].second, top_of(sweep))) {
      ir::Kernel kernel = lowered_again(listed);
      CheckTask task{.listed = std::move(listed), .kernel = std::move(kernel)};
      if (sweep.config.check.small_shape) shrink(task);
      tasks.push_back(std::move(task));
    }
    finished.push_back(open[i]);
    if (tasks.size() < batch && i + 1 < open.size()) continue;
    if (!check_batch(sweep, api, tasks, finished, done, total)) break;
    done += static_cast<std::int64_t>(tasks.size());
    tasks.clear();
    finished.clear();
  }
}

}  // namespace tailor::study
