// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep comes to by its own plans. In: a sweep whose steps are done. Out: totals, rows of a grid's points.
// Called by run_sweep(). The time of a group is that of its best plan as the view best_plans has it, but of the plans
// that this sweep lists alone: by the most precise level that looked at a plan of the list, refuted plans left out.
#include "study/sweep/points.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/indexed.h"
#include "base/json.h"
#include "base/stop.h"
#include "explore/plans/ranking.h"
#include "explore/plans/usual.h"

namespace tailor::study {

namespace {

/// The best plan of those that the most precise level has looked at.
struct BestTime {
  std::optional<Seconds> time;
  ir::Level level = ir::Level::sol;
  explore::Place place;

  void offer(const ir::Estimate& estimate, const explore::Place& at) {
    const auto of = [](ir::Level one) { return static_cast<std::int64_t>(one); };
    if (time && (of(estimate.level) < of(level) || (estimate.level == level && !(at < place)))) return;
    time = estimate.total;
    level = estimate.level;
    place = at;
  }
};

/// What a group takes on a device, and what it was predicted to; without a plan by its bound, without either nothing.
struct GroupTotal {
  BestTime best, predicted;
  bool planned = false;
  std::optional<Seconds> as_xla;  ///< of the plan that is as XLA's kernel, at the level of the best
  bool same_launch = false;       ///< and it has XLA's launch
};

/// Of a short list, those that a check of this sweep executes: the best by the compiled estimate, and XLA's.
std::vector<std::size_t> executed_of(const Sweep& sweep, const std::vector<Candidate>& list) {
  if (sweep.config.check.top.value_or(0) == 0) return {};
  std::vector<const explore::Standing*> standings;
  for (const Candidate& one : list) standings.push_back(&one.standing);
  std::vector<std::size_t> numbers =
      explore::best_by(standings, ir::Level::compiled, sweep.config.check.top.value_or(0));
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].is_xla) numbers.push_back(i);
  return numbers;
}

/// What the plan was measured to take, by the way of measuring that the view level_times takes; points of a grid are
/// told apart by predictions.
std::optional<ir::Estimate> measured_of(Sweep& sweep, const Candidate& candidate) {
  if (!sweep.options.measure && !sweep.options.measurer) return std::nullopt;
  if (!sweep.config.setting.empty()) return std::nullopt;
  for (const store::EstimateRow& row : sweep.store().estimates(candidate.plan_id(), candidate.standing.device))
    if (row.level == ir::name(ir::Level::profiled)) return estimate_of(row);
  return std::nullopt;
}

/// Estimates of a plan that this sweep asks for. Of a plan that several sweeps list there are those of all of them.
std::vector<ir::Estimate> asked_of(Sweep& sweep, const Candidate& candidate, bool is_executed) {
  const bool compiles = sweep.config.compile && sweep.options.compile;
  std::vector<ir::Estimate> asked;
  for (const ir::Estimate& estimate : candidate.standing.estimates)
    if (estimate.level == sweep.model->level || (compiles && estimate.level == ir::Level::compiled) ||
        (is_executed && estimate.level == ir::Level::counted))
      asked.push_back(estimate);
  const std::optional<ir::Estimate> measured = compiles ? measured_of(sweep, candidate) : std::nullopt;
  if (measured) asked.push_back(*measured);
  return asked;
}

/// Sweeps that share a database share their plans: those count that this one lists and the estimates that it asks for,
/// so that it comes to the same whatever was swept before it. XLA's plan stands beside every list, and is in a space
/// whose axes nobody narrowed.
GroupTotal group_total(Sweep& sweep, const PreparedGroup& group, const Target& target) {
  const Id id = group.group.id;
  const bool checks = sweep.config.compile && sweep.options.compile && sweep.options.check;
  GroupTotal total;
  if (group.ready() != nullptr) {
    const std::vector<Id> own = sweep.store().short_list(id, target.id, space_on(sweep, target));
    const std::vector<Candidate>& list = short_list(sweep, {&group, &target});
    const std::vector<std::size_t> executed = checks ? executed_of(sweep, list) : std::vector<std::size_t>();
    std::vector<ir::Estimate> of_xla;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Id plan = list[i].plan_id();
      const bool is_beside = list[i].is_xla && std::find(own.begin(), own.end(), plan) == own.end();
      if (list[i].standing.refuted || (is_beside && !sweep.config.axes.empty())) continue;
      if (!sweep.store().plan_rejections(plan, target.id).empty()) continue;
      const int from_usual = explore::steps_between(list[i].plan, explore::usual_plan(*group.ready()));
      const bool is_executed = std::find(executed.begin(), executed.end(), i) != executed.end();
      const std::vector<ir::Estimate> asked = asked_of(sweep, list[i], is_executed);
      if (list[i].is_xla) of_xla = asked;
      for (const ir::Estimate& estimate : asked) {
        const explore::Place place{std::round(estimate.total.value * 1e9),
                                   row_for(estimate.parts, ir::Part::issue).value, from_usual, plan};
        total.best.offer(estimate, place);
        if (estimate.level != ir::Level::profiled) total.predicted.offer(estimate, place);
      }
    }
    for (const ir::Estimate& estimate : of_xla)
      if (estimate.level == total.best.level) total.as_xla = estimate.total;
    if (total.as_xla)
      if (const auto xla = sweep.store().xla_plan(id, target.id)) total.same_launch = xla->launch == "equal";
  }
  total.planned = total.best.time.has_value();
  if (!total.planned)
    for (const store::GroupBoundRow& bound : sweep.store().group_bounds(id, target.id))
      if (bound.model == model_name(sweep, "sol")) total.best.time = total.predicted.time = bound.total;
  return total;
}

}  // namespace

OwnTotals own_totals(Sweep& sweep) {
  std::map<std::pair<Id, Id>, GroupTotal> groups;
  for (const Target& target : sweep.devices)
    for (const auto& group : sweep.groups) {
      stop_if_asked(sweep.watch.stop);
      groups[{group->group.id, target.id}] = group_total(sweep, *group, target);
    }
  OwnTotals all;
  std::vector<store::StrategyTotals>& totals = all.strategies;
  for (store::StrategyTotals& row : sweep.store().strategies()) {
    const auto target = std::find_if(sweep.devices.begin(), sweep.devices.end(),
                                     [&](const Target& one) { return one.id == row.device; });
    const auto fusion = std::find_if(sweep.fusions.begin(), sweep.fusions.end(), [&](const store::FusionRow& one) {
      return one.graph == row.graph && one.strategy == row.strategy && one.price == row.price &&
             (one.device.empty() || one.device == row.device_name);
    });
    if (target == sweep.devices.end() || fusion == sweep.fusions.end()) continue;
    row.kernel_time = row.predicted_time = {};
    row.launches_measured = 0;
    row.groups_without_plan = row.groups_without_time = 0;
    row.launches_without_plan = 0;
    store::StrategySearchAdded added{row.graph, row.strategy, row.price, row.device, 0, 0, {}, {}};
    for (const store::FusionGroupRow& group : fusion->groups) {
      const GroupTotal& total = groups[{group.group, target->id}];
      if (total.as_xla) {
        added.kernels += group.occurrences;
        added.same_launch += total.same_launch ? group.occurrences : 0;
        added.as_xla += *total.as_xla * group.times;
        added.best += *total.best.time * group.times;
      }
      row.kernel_time += total.best.time.value_or(Seconds{}) * group.times;
      row.predicted_time += total.predicted.time.value_or(Seconds{}) * group.times;
      row.launches_measured += total.best.level == ir::Level::profiled ? group.times : 0;
      row.groups_without_plan += total.planned ? 0 : 1;
      row.groups_without_time += total.best.time ? 0 : 1;
      row.launches_without_plan += total.planned ? 0 : group.times;
    }
    if (added.kernels > 0) all.search_added.push_back(std::move(added));
    totals.push_back(std::move(row));
  }
  std::stable_sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) {
    return std::tie(a.model, a.device_name, a.kernel_time.value) <
           std::tie(b.model, b.device_name, b.kernel_time.value);
  });
  return all;
}

void save_point(Sweep& sweep, Id grid, std::int64_t number, const std::vector<store::StrategyTotals>& totals) {
  const Id point = id_of(sweep.config);
  Json setting = Json::Object();
  for (const GridValue& one : sweep.config.setting) setting[one.key] = one.value;
  sweep.recorder.unit([&] {
    sweep.store().save(
        store::PointRow{grid, point, number, label(sweep.config), json_text(setting), sweep.config.baseline});
    for (const store::StrategyTotals& one : totals)
      sweep.store().save(store::PointResultRow{point, one.graph, one.strategy, one.price, one.device, one.kernels,
                                               one.launches, one.launches_without_plan, one.dram, one.kernel_time,
                                               one.library_time});
  });
}

}  // namespace tailor::study
