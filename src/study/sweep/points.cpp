// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep comes to by its own plans. In: a sweep whose steps are done. Out: totals, rows of a grid's points.
// Called by run_sweep(). The time of a group is that of its best plan as the view best_plans has it: by the most
// precise level that looked at a plan of the list, refuted plans left out.
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

/// What a group takes on a device; without a plan by its bound, without either nothing.
struct GroupTotal {
  std::optional<Seconds> time;
  bool planned = false;
};

/// Of a short list, those that a check of this sweep executes: the best by the compiled estimate, and XLA's.
std::vector<std::size_t> executed_of(const Sweep& sweep, const std::vector<Candidate>& list) {
  std::vector<const explore::Standing*> standings;
  for (const Candidate& one : list) standings.push_back(&one.standing);
  std::vector<std::size_t> numbers =
      explore::best_by(standings, ir::Level::compiled, sweep.config.check.top.value_or(0));
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].is_xla) numbers.push_back(i);
  return numbers;
}

/// Plans that several points list have estimates of all of them: those count that this sweep asks for, so that a point
/// comes to the same in whatever order points are swept.
GroupTotal group_total(Sweep& sweep, const PreparedGroup& group, const Target& target) {
  const Id id = group.group.id;
  const bool compiles = sweep.config.compile && sweep.options.compile, checks = compiles && sweep.options.check;
  GroupTotal total;
  std::int64_t most_precise = -1;
  explore::Place best;
  if (group.ready() != nullptr) {
    const std::vector<Id> own = sweep.store().short_list(id, target.id, space_on(sweep, target));
    const std::vector<Candidate>& list = short_list(sweep, {&group, &target});
    const std::vector<std::size_t> executed = checks ? executed_of(sweep, list) : std::vector<std::size_t>();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Id plan = list[i].plan_id();
      if (list[i].standing.refuted || std::find(own.begin(), own.end(), plan) == own.end()) continue;
      if (!sweep.store().plan_rejections(plan, target.id).empty()) continue;
      const int from_usual = explore::steps_between(list[i].plan, explore::usual_plan(*group.ready()));
      const bool is_executed = std::find(executed.begin(), executed.end(), i) != executed.end();
      for (const ir::Estimate& estimate : list[i].standing.estimates) {
        const bool asked = estimate.level == sweep.model->level ||
                           (compiles && estimate.level == ir::Level::compiled) ||
                           (is_executed && estimate.level == ir::Level::counted);
        const auto precision = static_cast<std::int64_t>(estimate.level);
        if (!asked || precision < most_precise) continue;
        const explore::Place place{std::round(estimate.total.value * 1e9),
                                   row_for(estimate.parts, ir::Part::issue).value, from_usual, plan};
        if (precision > most_precise || place < best) {
          total.time = estimate.total;
          best = place;
        }
        most_precise = precision;
      }
    }
  }
  total.planned = total.time.has_value();
  if (!total.planned)
    for (const store::GroupBoundRow& bound : sweep.store().group_bounds(id, target.id))
      if (bound.model == model_name(sweep, "sol")) total.time = bound.total;
  return total;
}

}  // namespace

std::vector<store::StrategyTotals> own_totals(Sweep& sweep) {
  std::map<std::pair<Id, Id>, GroupTotal> groups;
  for (const Target& target : sweep.devices)
    for (const auto& group : sweep.groups) {
      stop_if_asked(sweep.watch.stop);
      groups[{group->group.id, target.id}] = group_total(sweep, *group, target);
    }
  std::vector<store::StrategyTotals> totals;
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
    for (const store::FusionGroupRow& group : fusion->groups) {
      const GroupTotal& total = groups[{group.group, target->id}];
      row.kernel_time += total.time.value_or(Seconds{}) * group.times;
      row.groups_without_plan += total.planned ? 0 : 1;
      row.groups_without_time += total.time ? 0 : 1;
      row.launches_without_plan += total.planned ? 0 : group.times;
    }
    row.predicted_time = row.kernel_time;
    totals.push_back(std::move(row));
  }
  std::stable_sort(totals.begin(), totals.end(), [](const auto& a, const auto& b) {
    return std::tie(a.model, a.device_name, a.kernel_time.value) <
           std::tie(b.model, b.device_name, b.kernel_time.value);
  });
  return totals;
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
