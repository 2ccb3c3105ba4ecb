// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The compile stage: every kernel on a short list, once per architecture, in batches that are committed as they finish.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "codegen/lower/lower.h"
#include "costmodel/count.h"
#include "profiler/compile/pool.h"
#include "study/pipeline/to_rows.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

std::string arch_of(const Sweep& sweep, const SweepDevice& device) {
  return sweep.config.arch == "auto" ? device.device.arch : sweep.config.arch;
}

std::vector<ShortListed> short_list(Sweep& sweep, const SweepGroup& group, const SweepDevice& device) {
  std::vector<ShortListed> tasks;
  for (const store::PlanRow& row : sweep.store.plans(group.group.id))
    if (const std::optional<Id> kernel = sweep.store.lowering(row.id, device.id))
      tasks.push_back({&group, &device, ir::parse_plan(row.text), *kernel});
  return tasks;
}

std::vector<ShortListed> best_compiled(Sweep& sweep, const SweepGroup& group, const SweepDevice& device,
                                       std::int64_t top) {
  std::vector<std::pair<double, ShortListed>> timed;
  for (ShortListed& listed : short_list(sweep, group, device)) {
    const Id plan = id_of(listed.plan, group.group.id);
    if (!sweep.store.plan_rejections(plan, device.id).empty()) continue;
    for (const store::EstimateRow& row : sweep.store.estimates(plan, device.id))
      if (row.level == ir::name(ir::Level::compiled)) {
        timed.emplace_back(row.total.value, std::move(listed));
        break;
      }
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ShortListed> best;
  for (auto& [time, listed] : timed)
    if (static_cast<std::int64_t>(best.size()) < top) best.push_back(std::move(listed));
  return best;
}

ir::Kernel lowered_again(const ShortListed& task) {
  codegen::LowerScratch scratch;
  return std::get<ir::Kernel>(
      lower(std::get<codegen::Prepared>(task.group->prepared), task.plan, task.device->limits, scratch));
}

namespace {

void store_compiled(Sweep& sweep, const ShortListed& task, const ir::Binary& binary) {
  sweep.store.save(binary_row(binary, task.kernel));
  switch (binary.outcome) {
    case ir::CompileOutcome::ok:
      break;
    case ir::CompileOutcome::failed:
    case ir::CompileOutcome::unsupported:
      if (sweep.outcome.kernels_failed++ == 0)
        sweep.console.warning(fmt::format("{}: {}", binary.arch, binary.log.substr(0, binary.log.find('\n'))));
      return;
  }
  (binary.cached ? sweep.outcome.kernels_cached : sweep.outcome.kernels_compiled) += 1;
  const costmodel::Work work = costmodel::count(lowered_again(task), costmodel::Mode::fast);
  const ir::Estimate estimate = costmodel::compiled(work, binary, task.device->device, sweep.calibration);
  sweep.store.save(estimate_row(id_of(task.plan, task.group->group.id), task.device->id, estimate, "compiled"));
}

/// Compiles one batch; returns false when it was stopped before all of it was done.
bool compile_batch(Sweep& sweep, const profiler::Nvrtc& api, const std::vector<ShortListed>& tasks,
                   const std::vector<std::pair<const SweepGroup*, const SweepDevice*>>& finished,
                   profiler::CompileAccount& account, std::int64_t done, std::int64_t total) {
  std::vector<profiler::CompileRequest> requests;
  for (const ShortListed& task : tasks) {
    profiler::CompileRequest request;
    request.cuda = sweep.store.kernel(task.kernel)->cuda;
    request.arch = arch_of(sweep, *task.device);
    requests.push_back(std::move(request));
  }
  const profiler::BinaryCache cache{sweep.options.cache};
  profiler::CompileStage stage;
  stage.workers = sweep.options.workers;
  stage.cache = sweep.options.cache.empty() ? nullptr : &cache;
  stage.stop = sweep.stop;
  stage.progress = [&](const profiler::CompileProgress& progress) {
    sweep.console.progress({"compiling kernels", done + static_cast<std::int64_t>(progress.done), total, {}});
  };
  const profiler::CompiledAll compiled = profiler::compile_all(api, requests, stage);
  account.in_compiler += compiled.account.in_compiler;
  account.worker_time += compiled.account.worker_time;
  account.wall += compiled.account.wall;
  store::Store::Transaction unit(sweep.store);
  bool whole = true, supported = true;  // another compiler may know an architecture that this one does not
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    supported = supported && compiled.binaries[i] && compiled.binaries[i]->outcome != ir::CompileOutcome::unsupported;
    if (compiled.binaries[i])
      store_compiled(sweep, tasks[i], *compiled.binaries[i]);
    else
      whole = false;
  }
  if (whole && supported)
    for (const auto& [group, device] : finished)
      sweep.store.save(store::ProgressRow{group->group.id, device->id, sweep.space, "compile", 0, 0});
  unit.commit();
  return whole;
}

}  // namespace

void compile_short_lists(Sweep& sweep, const profiler::Nvrtc& api) {
  constexpr std::size_t batch = 64;  // kernels per commit: a few seconds of work are at stake in an interrupt
  std::vector<std::pair<const SweepGroup*, const SweepDevice*>> open;
  for (const SweepDevice& device : sweep.devices)
    for (const auto& group : sweep.groups)
      if (std::holds_alternative<codegen::Prepared>(group->prepared) &&
          !sweep.store.is_done(group->group.id, device.id, sweep.space, "compile"))
        open.emplace_back(group.get(), &device);

  profiler::CompileAccount account;
  std::vector<ShortListed> tasks;
  std::vector<std::pair<const SweepGroup*, const SweepDevice*>> finished;
  const auto total = static_cast<std::int64_t>(open.size()) * sweep.config.shortlist;
  std::int64_t done = 0;
  for (std::size_t i = 0; i < open.size() && !sweep.stop.stop_requested(); ++i) {
    for (ShortListed& task : short_list(sweep, *open[i].first, *open[i].second)) tasks.push_back(std::move(task));
    finished.push_back(open[i]);
    if (tasks.size() < batch && i + 1 < open.size()) continue;
    if (!compile_batch(sweep, api, tasks, finished, account, done, total)) break;
    done += static_cast<std::int64_t>(tasks.size());
    tasks.clear();
    finished.clear();
  }
  sweep.outcome.compiling = account.wall;
  sweep.outcome.in_compiler = account.in_compiler;
  sweep.outcome.compiler_share = account.compiler_share();
}

}  // namespace tailor::study
