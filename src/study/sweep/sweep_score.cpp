// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading, fusing and scoring.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <set>
#include <thread>
#include <unordered_map>

#include "base/text.h"
#include "codegen/cuda/cuda.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "study/pipeline/to_rows.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

std::string model_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  for (const std::string_view suffix : {".gz", ".hlo", ".txt", ".graph"})
    if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
  return name;
}

void store_groups(Sweep& sweep, const explore::Partition& partition, std::set<Id>& known) {
  for (const explore::DistinctGroup& distinct : partition.groups) {
    if (!known.insert(distinct.group.id).second) continue;
    auto group = std::make_unique<SweepGroup>();
    group->group = distinct.group;
    group->work = explore::needed_work(distinct);
    group->prepared = codegen::prepare(group->group);
    const codegen::Prepared* ready = std::get_if<codegen::Prepared>(&group->prepared);
    sweep.store.save(group_row(group->group, group->work, ready ? ready->title : group->group.graph.name));
    for (const SweepDevice& device : sweep.devices) {
      const ir::Estimate bound = costmodel::sol(group->work, device.device, sweep.calibration);
      sweep.store.save(
          store::GroupBoundRow{group->group.id, device.id, "sol", bound.total, std::string(name(bound.bottleneck))});
    }
    sweep.groups.push_back(std::move(group));
  }
}

/// A library call takes at least the time its bytes need; what else it needs is not modelled here.
void store_library(Sweep& sweep, Id graph, const explore::Partition& partition) {
  for (const explore::LibraryCall& call : partition.library) {
    store::LibraryCallRow row;
    row.graph = graph;
    row.node = call.where.empty() ? call.name : fmt::format("{}/{}", call.where, call.name);
    row.kind = call.what;
    row.times = call.times;
    row.flops = call.flops;
    row.bytes = {call.bytes};
    sweep.store.save(row);
    for (const SweepDevice& device : sweep.devices) {
      const Seconds bytes = Bytes{call.bytes} / BytesPerSecond{device.device.dram_bandwidth.value};
      const Seconds launch{device.device.launch_overhead.value};
      sweep.store.save(store::LibraryTimeRow{graph, row.node, device.id, "bytes", bytes + launch});
    }
  }
}

}  // namespace

void load_and_fuse(Sweep& sweep) {
  std::set<Id> known;
  for (const std::filesystem::path& path : sweep.config.models) {
    if (sweep.stop.stop_requested()) return;
    const std::string name = model_name(path);
    sweep.console.progress({"importing " + name, 0, 0, {}});
    const hlo::Imported imported = hlo::import_file(path.string());
    for (const std::string& warning : imported.report.warnings)
      sweep.console.detail(fmt::format("{}: {}", name, warning));
    store::Store::Transaction unit(sweep.store);
    const store::GraphRow graph = graph_row(imported, name, path.filename().string());
    sweep.store.save(graph);
    sweep.graphs.insert(graph.id);
    for (const std::string& strategy : sweep.config.strategies) {
      const ir::Fusion fusion = fuse(explore::find_strategy(strategy), imported.graph);
      const explore::Partition partition = explore::partition(imported.graph, fusion);
      store_groups(sweep, partition, known);
      store_library(sweep, graph.id, partition);
      sweep.store.save(fusion_row(graph.id, imported.graph, fusion, partition));
      sweep.console.detail(fmt::format("{}: {} makes {} kernels of {} distinct groups", name, strategy,
                                       partition.kernels, partition.groups.size()));
    }
    unit.commit();
    ++sweep.outcome.models;
  }
  sweep.outcome.distinct_groups = static_cast<std::int64_t>(sweep.groups.size());
}

explore::Axes restricted_axes(const Sweep& sweep, const codegen::Prepared& prepared, const ir::Limits& limits) {
  explore::Axes axes = explore::default_axes(prepared, limits);
  for (const AxisRestriction& limit : sweep.config.axes) explore::restrict_axis(axes, {limit.axis, limit.values});
  return axes;
}

namespace {

struct ScoreTask {
  const SweepGroup* group = nullptr;
  const SweepDevice* device = nullptr;
};

struct ScoreResult {
  explore::Tuned tuned;
  std::vector<explore::Listed> list;
  std::vector<std::string> cuda;  ///< parallel to list
};

ScoreResult score(const Sweep& sweep, const ScoreTask& task) {
  const codegen::Prepared& prepared = std::get<codegen::Prepared>(task.group->prepared);
  const explore::Axes axes = restricted_axes(sweep, prepared, task.device->limits);
  explore::TuneOptions options;
  options.model = sweep.model;
  options.max_plans = sweep.config.max_plans_per_group;
  options.stop = sweep.stop;
  ScoreResult result;
  result.tuned = explore::tune(prepared, axes, task.device->device, sweep.calibration, options);
  if (result.tuned.stopped) return result;
  result.list = explore::shortlist(prepared, result.tuned, task.device->limits, sweep.config.shortlist);
  for (const explore::Listed& listed : result.list) result.cuda.push_back(codegen::cuda(listed.kernel, &listed.plan));
  return result;
}

void store_unplanned(Sweep& sweep, const ScoreTask& task, const ir::Rejection& no) {
  sweep.store.save(
      store::RejectionRow{task.group->group.id, task.device->id, sweep.space, no.rule, no.sound, 0, "", no.reason});
  sweep.store.save(store::ProgressRow{task.group->group.id, task.device->id, sweep.space, "score", 0, 0});
}

void store_scored(Sweep& sweep, const ScoreTask& task, const ScoreResult& result) {
  const Id group = task.group->group.id, device = task.device->id;
  std::int64_t rejected = 0;
  for (const explore::RejectedPlans& no : result.tuned.rejections) {
    rejected += no.plans;
    sweep.store.save(
        store::RejectionRow{group, device, sweep.space, no.rule, no.sound, no.plans, no.example, no.reason});
  }
  for (const explore::Scored& scored : result.tuned.ranked) {
    const store::PlanRow plan = plan_row(scored.plan, group);
    sweep.store.save(plan);
    sweep.store.save(estimate_row(plan.id, device, scored.estimate, sweep.model->name));
  }
  for (std::size_t i = 0; i < result.list.size(); ++i) {
    const explore::Listed& listed = result.list[i];
    sweep.store.save(kernel_row(listed.kernel, listed.kernel_id, result.cuda[i]));
    sweep.store.save(store::LoweringRow{id_of(listed.plan, group), device, listed.kernel_id});
  }
  const auto legal = static_cast<std::int64_t>(result.tuned.ranked.size());
  sweep.store.save(store::ProgressRow{group, device, sweep.space, "score", legal, rejected});
  sweep.outcome.plans_scored += legal;
  sweep.outcome.plans_rejected += rejected;
}

}  // namespace

void score_groups(Sweep& sweep) {
  const auto started = std::chrono::steady_clock::now();
  std::vector<ScoreTask> tasks;
  for (const SweepDevice& device : sweep.devices)
    for (const auto& group : sweep.groups) {
      if (sweep.store.is_done(group->group.id, device.id, sweep.space, "score")) {
        ++sweep.outcome.groups_resumed;
        continue;
      }
      const ScoreTask task{group.get(), &device};
      if (const ir::Rejection* no = std::get_if<ir::Rejection>(&group->prepared)) {
        store::Store::Transaction unit(sweep.store);
        store_unplanned(sweep, task, *no);
        unit.commit();
      } else {
        tasks.push_back(task);
      }
    }

  const std::size_t workers = sweep.options.workers > 0 ? static_cast<std::size_t>(sweep.options.workers)
                                                        : std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t wave = 4 * workers;  // results wait for the slowest of a wave; then they are stored in order
  for (std::size_t first = 0; first < tasks.size() && !sweep.stop.stop_requested(); first += wave) {
    const std::size_t count = std::min(wave, tasks.size() - first);
    std::vector<ScoreResult> results(count);
    std::atomic<std::size_t> next = 0;
    std::vector<std::future<void>> running;
    for (std::size_t w = 0; w < std::min(workers, count); ++w)
      running.push_back(std::async(std::launch::async, [&] {
        for (std::size_t i = next++; i < count; i = next++) results[i] = score(sweep, tasks[first + i]);
      }));
    for (std::future<void>& one : running) one.get();
    store::Store::Transaction unit(sweep.store);
    for (std::size_t i = 0; i < count; ++i)
      if (!results[i].tuned.stopped) store_scored(sweep, tasks[first + i], results[i]);
    unit.commit();
    sweep.console.progress(
        {"scoring groups", static_cast<std::int64_t>(first + count), static_cast<std::int64_t>(tasks.size()), {}});
  }
  sweep.outcome.scoring = {std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count()};
}

}  // namespace tailor::study
