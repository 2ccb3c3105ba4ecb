// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading, fusing and scoring. In: the models, strategies and devices of a sweep. Out: graphs, groups, bounds, plans
// with their estimates and the reasons of rejected ones, as rows; and the short lists. Called by run_sweep() first of
// all.
//
// Groups that several strategies or places share are scored once per device. They are scored in waves by several
// threads, each with its own memory, and stored by one thread in the groups' order, so equal sweeps give equal
// databases. A group that cannot be planned is stored with the reason, and with the bound that its bytes give.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "base/counted.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "base/text.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "study/pipeline/question.h"
#include "study/pipeline/to_rows.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

namespace {

std::string graph_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  for (const std::string_view suffix : {".gz", ".hlo", ".txt", ".graph"})
    if (name.ends_with(suffix)) name.erase(name.size() - suffix.size());
  return name;
}

void store_groups(Sweep& sweep, const explore::Partition& partition, std::set<Id>& known) {
  for (const explore::DistinctGroup& distinct : partition.groups) {
    stop_if_asked(sweep.watch.stop);
    if (!known.insert(distinct.group.id).second) continue;
    auto group = std::make_unique<PreparedGroup>(distinct, sweep.groups.size());
    sweep.recorder.save(*group);
    for (const Target& device : sweep.devices) {
      const ir::Estimate bound = costmodel::sol(group->work, device.calibrated);
      const store::GroupBoundRow row{
          group->group.id, device.id, model_name(sweep, "sol"), bound.total, std::string(name(bound.bottleneck)),
          device.figures};
      if (sweep.store().forget_other_figures(row)) ++sweep.changed[&device];
      sweep.store().save(row);
    }
    sweep.groups.push_back(std::move(group));
  }
}

void store_library(Sweep& sweep, Id graph, const explore::Partition& partition) {
  const costmodel::Model& model = *costmodel::find_model("library");
  for (const explore::LibraryCall& call : partition.library) {
    stop_if_asked(sweep.watch.stop);
    store::LibraryCallRow row;
    row.graph = graph;
    row.node = call.where.empty() ? call.name : fmt::format("{}/{}", call.where, call.name);
    row.kind = call.what;
    row.shape = call.shape;
    row.times = call.times;
    row.flops = call.flops;
    row.bytes = {call.bytes};
    sweep.store().save(row);
    for (const Target& device : sweep.devices) {
      const costmodel::LibraryWork work{call.bytes, call.flops};
      const ir::Estimate bound = model.estimate({.device = &device.calibrated, .library = &work});
      sweep.store().save(store::LibraryTimeRow{graph, row.node, device.id, model_name(sweep, model.name), bound.total,
                                               device.figures});
    }
  }
}

/// The strategy's partition of the graph; one per device where it decides for a GPU.
std::vector<ir::Fusion> fusions(const Sweep& sweep, const explore::ChosenStrategy& strategy, const ir::Graph& graph) {
  explore::FusionSetting setting = fusion_setting(nullptr, sweep.watch);
  setting.seed = static_cast<std::uint64_t>(sweep.config.seed);
  if (!strategy.needs().device) return {explore::fuse(strategy, graph, setting)};
  std::vector<ir::Fusion> result;
  for (const Target& device : sweep.devices) {
    setting.device = &device.calibrated;
    result.push_back(explore::fuse(strategy, graph, setting));
  }
  return result;
}

/// The model, or nothing where its file is no good: the sweep goes on without it.
std::optional<hlo::Imported> load_one(Sweep& sweep, const std::filesystem::path& path) {
  try {
    return hlo::import_file(path.string(), sweep.watch.stop);
  } catch (const Error& error) {
    if (error.fault == Fault::interrupted) throw;
    std::string reason(trim(error_text(error)).substr(std::string_view("error: ").size()));
    for (std::size_t at = 0; (at = reason.find("\n  ", at)) != reason.npos;) reason.replace(at, 3, "; ");
    sweep.watch.observer.note(fmt::format("left out: {}", reason));
    sweep.outcome.left_out.push_back({path, std::move(reason)});
    return std::nullopt;
  }
}

}  // namespace

void load_and_fuse(Sweep& sweep) {
  std::set<Id> known;
  std::map<Id, std::filesystem::path> loaded_from;
  std::map<std::string, std::filesystem::path> named;
  for (const std::filesystem::path& path : sweep.config.models) {
    if (sweep.watch.stopped()) return;
    const std::string name = graph_name(path);
    sweep.watch.observer.progress({"importing " + name, 0, 0, {}});
    const std::optional<hlo::Imported> loaded = load_one(sweep, path);
    if (!loaded) continue;
    const hlo::Imported& imported = *loaded;
    for (const std::string& warning : imported.report.warnings)
      sweep.watch.observer.warning(fmt::format("{}: {}", name, warning));
    const store::GraphRow graph = graph_row(imported, name, path.filename().string(), sweep.watch.stop);
    if (const auto [other, is_new] = loaded_from.insert({graph.id, path}); !is_new) {
      sweep.watch.observer.warning(
          fmt::format("{} is the model of {} once more: it counts once", path.string(), other->second.string()));
      continue;
    }
    if (const auto [other, is_new] = named.insert({name, path}); !is_new)
      sweep.watch.observer.warning(
          fmt::format("{} and {} are both called {}: rows and the report's verdict cannot tell them apart, so give one "
                      "another name",
                      other->second.string(), path.string(), name));
    store::Store::Transaction unit(sweep.store());
    sweep.store().save(graph);
    sweep.graphs.insert(graph.id);
    for (const std::string& strategy : sweep.config.strategies)
      for (const ir::Fusion& fusion : fusions(sweep, explore::find_strategy(strategy), imported.graph)) {
        if (sweep.watch.stopped()) return;  // a search that was stopped answers with half of its work
        const explore::Partition partition = explore::partition(imported.graph, fusion, sweep.watch.stop);
        store_groups(sweep, partition, known);
        store_library(sweep, graph.id, partition);
        sweep.fusions.push_back(fusion_row(graph.id, imported.graph, fusion, partition));
        sweep.store().save(sweep.fusions.back());
        sweep.fusions.back().edges = {};
        sweep.watch.observer.detail(fmt::format("{}: {} makes {} of {}", name, strategy,
                                                counted(partition.kernels, "kernel"),
                                                counted(partition.groups.size(), "distinct group")));
      }
    unit.commit();
    ++sweep.outcome.models;
  }
  sweep.outcome.distinct_groups = static_cast<std::int64_t>(sweep.groups.size());
  for (const Target& device : sweep.devices)
    if (const auto changed = sweep.changed.find(&device); changed != sweep.changed.end())
      sweep.watch.observer.note(fmt::format(
          "{}: its file or calibration '{}' says other numbers than when {} of {} were estimated: these are "
          "estimated again, measurements stay",
          device.device.name, sweep.calibration.name, changed->second, counted(sweep.groups.size(), "group")));
}

namespace {

Choice score(const Sweep& sweep, const Place& place) {
  Choosing how;
  how.model = sweep.model;
  for (const AxisRestriction& limit : sweep.config.axes) how.limits.push_back({limit.axis, limit.values});
  how.max_plans = sweep.config.max_plans_per_group;
  how.keep = sweep.config.shortlist;
  how.short_list = true;
  how.with_xla = true;
  how.random = sweep.config.profile.random;
  how.seed = static_cast<std::uint64_t>(sweep.config.seed);
  Choice choice = choose(*place.group, *place.target, how, sweep.watch.stop);
  print(choice.candidates);
  return choice;
}

/// How XLA would write the group. The plan that is like it is among the candidates, or another that lowers to the same
/// kernel.
void store_xla(Sweep& sweep, const Place& place, std::span<const Candidate> candidates) {
  const Target& on = *place.target;
  const auto xla = xla_beside(place.group->group, place.group->prepared, on.calibrated, *sweep.model);
  if (!xla) return;
  store::XlaPlanRow row = xla_plan_row(*xla, place.group->group.id, on.id);
  for (const Candidate& candidate : candidates)
    if (candidate.is_xla) row.plan = candidate.plan_id();
  sweep.store().save(row);
}

void store_unplanned(Sweep& sweep, const Place& place, const ir::Rejection& no) {
  const std::string space = space_on(sweep, *place.target);
  store_xla(sweep, place, {});
  sweep.store().save(
      store::RejectionRow{place.group->group.id, place.target->id, space, no.rule, no.sound, 0, "", no.reason});
  mark_done(sweep, place, "score");
}

/// Stores what was found and keeps the short list.
void store_scored(Sweep& sweep, const Place& place, Choice& choice) {
  const Id group = place.group->group.id, device = place.target->id;
  const std::string space = space_on(sweep, *place.target);
  std::int64_t rejected = 0;
  for (const explore::RejectedPlans& no : choice.tuned.rejections) {
    rejected += no.plans;
    sweep.store().save(store::RejectionRow{group, device, space, no.rule, no.sound, no.plans, no.example, no.reason});
  }
  for (const explore::Scored& scored : choice.tuned.ranked) {
    const store::PlanRow plan = plan_row(scored.plan, *place.group->ready());
    sweep.store().save(plan);
    sweep.store().save(estimate_row(plan.id, device, scored.estimate, model_name(sweep, sweep.model->name)));
  }
  for (const Candidate& candidate : choice.candidates) {
    sweep.recorder.save_lowered(candidate);
    // What XLA would write is compiled beside the others; it is of the space where that is the whole one.
    if (candidate.rank > 0 || !candidate.is_xla || sweep.config.axes.empty())
      sweep.store().save(store::ShortListRow{space, device, candidate.plan_id()});
    if (candidate.is_xla)  // its plan may be of no space that was searched
      sweep.recorder.save_estimate(candidate, sweep.model->level, model_name(sweep, sweep.model->name));
  }
  if (!choice.candidates.empty()) store_xla(sweep, place, choice.candidates);
  const auto legal = static_cast<std::int64_t>(choice.tuned.ranked.size());
  mark_done(sweep, place, "score", legal, rejected);
  sweep.outcome.plans_scored += legal;
  sweep.outcome.plans_rejected += rejected;
  sweep.outcome.plans_lowered += choice.tuned.lowerings;
  sweep.chosen[place] = std::move(choice.candidates);
}

}  // namespace

namespace {

/// Groups whose plans an older version wrote are scored as if they had none.
void say_older_plans(Sweep& sweep, const std::vector<Place>& places) {
  std::int64_t groups = 0;
  std::set<Id> known;
  for (const Place& place : places) {
    if (!known.insert(place.group->group.id).second) continue;
    const std::vector<store::PlanRow> plans = sweep.store().plans(place.group->group.id);
    const auto older = std::find_if(plans.begin(), plans.end(),
                                    [](const store::PlanRow& plan) { return !ir::older_field_in(plan.text).empty(); });
    if (older == plans.end()) continue;
    ++groups;
    if (groups == 1) sweep.watch.observer.detail(fmt::format("a plan of an older version: {}", older->text));
  }
  if (groups > 0)
    sweep.watch.observer.note(
        fmt::format("the database has plans of an older version of {}: they stay as they are, and the groups get plans "
                    "of today beside them",
                    counted(groups, "group")));
}

}  // namespace

void score_groups(Sweep& sweep) {
  const auto started = std::chrono::steady_clock::now();
  std::vector<Place> tasks;
  for (const Target& device : sweep.devices)
    for (const auto& group : sweep.groups) {
      if (sweep.store().is_done(group->group.id, device.id, space_on(sweep, device), "score")) {
        ++sweep.outcome.groups_resumed;
        continue;
      }
      const Place place{group.get(), &device};
      if (const ir::Rejection* no = std::get_if<ir::Rejection>(&group->prepared)) {
        store::Store::Transaction unit(sweep.store());
        store_unplanned(sweep, place, *no);
        unit.commit();
      } else {
        tasks.push_back(place);
      }
    }
  say_older_plans(sweep, tasks);

  const std::size_t workers = sweep.options.workers > 0 ? static_cast<std::size_t>(sweep.options.workers)
                                                        : std::max(std::thread::hardware_concurrency(), 1U);
  const std::size_t wave = 4 * workers;  // results wait for the slowest of a wave; then they are stored in order
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
  for (std::size_t first = 0; first < tasks.size() && !sweep.watch.stopped(); first += wave) {
    if (sweep.scoring_limit && spent() > sweep.scoring_limit->value) break;
    const std::size_t count = std::min(wave, tasks.size() - first);
    std::vector<Choice> results(count);
    std::atomic<std::size_t> next = 0;
    std::vector<std::future<void>> running;
    for (std::size_t w = 0; w < std::min(workers, count); ++w)
      running.push_back(std::async(std::launch::async, [&] {
        const ThreadLimit alone(1);
        for (std::size_t i = next++; i < count; i = next++) results[i] = score(sweep, tasks[first + i]);
      }));
    for (std::future<void>& one : running) one.get();
    store::Store::Transaction unit(sweep.store());
    for (std::size_t i = 0; i < count; ++i)
      if (!results[i].tuned.stopped) store_scored(sweep, tasks[first + i], results[i]);
    unit.commit();
    sweep.watch.observer.progress(
        {"scoring groups", static_cast<std::int64_t>(first + count), static_cast<std::int64_t>(tasks.size()), {}});
  }
  sweep.outcome.scoring = {spent()};
}

}  // namespace tailor::study
