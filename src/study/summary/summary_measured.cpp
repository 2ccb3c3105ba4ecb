// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU measured of a model's groups, beside what the most precise model said. In: a database, a graph, a device.
// Out: rows of the summary. Called by load_summary. Only times under the plain protocol (cold caches, a stream) are
// drawn against predictions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "base/statistics.h"
#include "study/summary/summary_rows.h"

namespace tailor::study {

namespace {

/// The protocol under which predictions are drawn: models predict a kernel that finds nothing in L2.
bool is_plain(const store::MeasuredPlan& plan) { return plan.cache == "cold" && plan.launch_mode == "stream"; }

/// The most precise prediction of each plan under each protocol (cache, timed_by, launch_mode).
using Predictions = std::map<std::tuple<Id, std::string, std::string, std::string>, store::PredictedPlan>;

Predictions most_precise(std::vector<store::PredictedPlan> all) {
  Predictions found;
  for (store::PredictedPlan& one : all)  // rows come by precision
    found.insert_or_assign({one.plan, one.cache, one.timed_by, one.launch_mode}, std::move(one));
  return found;
}

/// Times of one model on one device, by run, strategy and protocol (cache, timed_by, launch_mode).
using ModuleTimes = std::map<std::tuple<Id, std::string, std::string, std::string, std::string>, store::ModuleTimeRow>;

void add_module_times(const store::Store& store, const Subject& subject, report::Summary& summary) {
  ModuleTimes times;
  for (store::ModuleTimeRow& row : store.module_times(subject.graph.id))
    if (row.device == subject.device.id)
      times.insert_or_assign({row.run, row.strategy, std::string(ir::name(row.protocol.cache)),
                              std::string(ir::name(row.protocol.timed_by)), std::string(ir::name(row.protocol.launch))},
                             std::move(row));
  for (const store::ModuleSpeedup& one : store.module_speedups(subject.graph.id, subject.device.id)) {
    if (one.speedup < 1) continue;  // the other half says the same the other way round
    const auto of = [&](const std::string& strategy) -> const store::ModuleTimeRow& {
      return times.at({one.run, strategy, one.cache, one.timed_by, one.launch_mode});
    };
    summary.modules.push_back({one.strategy, one.baseline, one.cache, one.launch_mode, one.median, one.baseline_median,
                               one.speedup, one.launches, one.baseline_launches, one.left_out, one.baseline_left_out,
                               same_work(of(one.strategy), of(one.baseline))});
  }
}

/// How far plans were from themselves, protocol by protocol.
void add_twins(const store::Store& store, const Subject& subject, const Gathered& gathered, report::Summary& summary) {
  std::map<std::array<std::string, 3>, std::vector<const store::TwinRace*>> by_protocol;
  const std::vector<store::TwinRace> races = store.twin_races(subject.device.id);
  for (const store::TwinRace& race : races)
    if (gathered.groups.contains(race.group))
      by_protocol[{race.cache, race.timed_by, race.launch_mode}].push_back(&race);
  for (const auto& [protocol, all] : by_protocol) {
    report::TwinSpread spread{protocol[0], protocol[1], protocol[2], std::ssize(all)};
    std::vector<double> apart;
    for (const store::TwinRace* race : all) {
      apart.push_back(std::abs(race->ratio - 1));
      spread.told_apart += race->told_apart ? 1 : 0;
    }
    spread.middle = median_of(apart);
    spread.most = *std::max_element(apart.begin(), apart.end());
    summary.twins.push_back(std::move(spread));
  }
}

}  // namespace

void add_measured(const store::Store& store, const Subject& subject, const Gathered& gathered,
                  report::Summary& summary) {
  const Predictions predictions = most_precise(store.measured_vs_predicted(subject.device.id));
  std::map<std::string, std::size_t> fastest;  // of a group under a protocol; rows come by time
  for (const store::MeasuredPlan& plan : store.measured_plans(subject.device.id)) {
    if (!gathered.groups.contains(plan.group)) continue;
    const std::string race = fmt::format("{} {} {} {}", hex(plan.group), plan.cache, plan.timed_by, plan.launch_mode);
    const auto [best, first] = fastest.try_emplace(race, summary.times.size());
    const auto prediction = predictions.find({plan.plan, plan.cache, plan.timed_by, plan.launch_mode});
    const bool predicted = prediction != predictions.end();
    report::MeasuredTime time;
    time.group = plan.title;
    time.plan = plan.text;
    time.cache = plan.cache;
    time.launch_mode = plan.launch_mode;
    time.median = plan.median;
    time.low = plan.low;
    time.high = plan.high;
    time.samples = plan.samples;
    time.place = plan.place;
    time.dram_fraction = plan.useful_fraction;
    if (predicted) {
      time.predicted = prediction->second.predicted;
      time.level = prediction->second.level;
    }
    if (predicted && is_plain(plan))
      summary.measured.push_back(
          {fmt::format("{}, {}", plan.title, plan.text), prediction->second.predicted, plan.median});
    if (!first) {
      report::MeasuredTime& leader = summary.times[best->second];
      time.tied = time.low.value_or(time.median) <= leader.high.value_or(leader.median);
      leader.tied = leader.tied || time.tied;
    }
    summary.times.push_back(std::move(time));
  }
  if (!summary.times.empty()) summary.measured_on = store.measured_gpus(subject.device.id);
  add_twins(store, subject, gathered, summary);
  add_module_times(store, subject, summary);
}

}  // namespace tailor::study
