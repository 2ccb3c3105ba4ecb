// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading rows as they were saved, and the rows of the views. Which columns a record has is in its list (records.h); a
// function here says which rows, in which order. Called by commands and reports through store.h. Order is part of the
// contract: by name or id where nothing else is said, so that equal databases give equal lists.
#include <fmt/format.h>

#include "store/record_sql.h"
#include "store/store.h"
#include "store/view_records.h"

namespace tailor::store {

namespace {

template <class Row>
std::optional<Row> only(std::vector<Row> found) {
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

/// SQL: when the calibration of a model was used last; '' for one that no sweep names.
std::string used_at(std::string_view model) {
  return fmt::format(
      "coalesce((SELECT used_at FROM calibration_uses WHERE calibration = substr({0}, instr({0}, '@') + 1)), '')",
      model);
}

/// The values of a query's only column.
template <class Value, class... Values>
std::vector<Value> values_of(Connection& connection, const std::string& sql, const Values&... values) {
  std::vector<Value> all;
  connection.each(
      sql, [&](Columns& columns) { columns.read(all.emplace_back()); }, values...);
  return all;
}

}  // namespace

std::vector<RunRow> Store::runs() const { return load_records<RunRow>(*connection_, "ORDER BY started_at, run_id"); }
std::vector<DeviceRow> Store::devices() const {
  return load_records<DeviceRow>(*connection_, "ORDER BY name, device_id");
}
std::string Store::device_files(const RunRow& run) const {
  std::string all;
  for (const DeviceRow& device : devices())
    for (const RunDeviceRow& one : run.devices)
      if (one.device == device.id) all += fmt::format(", {}.json {}", device.name, short_hex(one.file));
  return all;
}
std::vector<GraphRow> Store::graphs() const { return load_records<GraphRow>(*connection_, "ORDER BY name, graph_id"); }
std::vector<GroupRow> Store::groups() const { return load_records<GroupRow>(*connection_, "ORDER BY group_id"); }
std::optional<GroupRow> Store::group(Id id) const {
  return only(load_records<GroupRow>(*connection_, "WHERE group_id = ?", id));
}

std::vector<FusionRow> Store::fusions(Id graph, std::string_view device) const {
  return load_records<FusionRow>(
      *connection_, "WHERE graph_id = ? AND device IN ('', ?) ORDER BY strategy, device, price", graph, device);
}
std::optional<FusionRow> Store::fusion(Id graph, std::string_view strategy, std::string_view device,
                                       std::string_view price) const {
  return only(load_records<FusionRow>(*connection_, "WHERE graph_id = ? AND strategy = ? AND device = ? AND price = ?",
                                      graph, strategy, device, price));
}
std::vector<LibraryCallRow> Store::library_calls(Id graph) const {
  return load_records<LibraryCallRow>(*connection_, "WHERE graph_id = ? ORDER BY node", graph);
}
std::vector<LibraryTimeRow> Store::library_times(Id graph, Id device) const {
  return load_records<LibraryTimeRow>(
      *connection_, "WHERE graph_id = ? AND device_id = ? ORDER BY node, " + used_at("model") + " DESC, model", graph,
      device);
}

std::vector<PlanRow> Store::plans(Id group) const {
  return load_records<PlanRow>(*connection_, "WHERE group_id = ? ORDER BY plan_id", group);
}
std::optional<PlanRow> Store::plan(Id id) const {
  return only(load_records<PlanRow>(*connection_, "WHERE plan_id = ?", id));
}
std::optional<KernelRow> Store::kernel(Id id) const {
  return only(load_records<KernelRow>(*connection_, "WHERE kernel_id = ?", id));
}
std::optional<Id> Store::lowering(Id plan, Id device) const {
  return only(
      values_of<Id>(*connection_, "SELECT kernel_id FROM lowerings WHERE plan_id = ? AND device_id = ?", plan, device));
}
std::vector<LoweringRow> Store::lowerings_to(Id kernel, Id device) const {
  return load_records<LoweringRow>(*connection_, "WHERE kernel_id = ? AND device_id = ? ORDER BY plan_id", kernel,
                                   device);
}
std::vector<GivenKernelRow> Store::given_kernels(Id graph) const {
  return load_records<GivenKernelRow>(*connection_, "WHERE graph_id = ? ORDER BY kernel_id", graph);
}
std::vector<GivenKernelRow> Store::given_as(Id kernel) const {
  return load_records<GivenKernelRow>(*connection_, "WHERE kernel_id = ? ORDER BY graph_id", kernel);
}

std::vector<RejectionRow> Store::rejections(Id group, Id device) const {
  return load_records<RejectionRow>(
      *connection_, "WHERE group_id = ? AND device_id = ? ORDER BY plans DESC, space, rule", group, device);
}
std::vector<PlanRejectionRow> Store::plan_rejections(Id plan, Id device) const {
  return load_records<PlanRejectionRow>(*connection_, "WHERE plan_id = ? AND device_id = ? ORDER BY rule", plan,
                                        device);
}
std::vector<PlanRejectionRow> Store::plan_rejections_of(Id group, Id device) const {
  return load_records<PlanRejectionRow>(*connection_,
                                        "WHERE plan_id IN (SELECT plan_id FROM plans WHERE group_id = ?) "
                                        "AND device_id = ? ORDER BY plan_id, rule",
                                        group, device);
}

std::optional<XlaPlanRow> Store::xla_plan(Id group, Id device) const {
  return only(load_records<XlaPlanRow>(*connection_, "WHERE group_id = ? AND device_id = ?", group, device));
}

std::vector<Id> Store::short_list(Id group, Id device, std::string_view space) const {
  return values_of<Id>(
      *connection_,
      "SELECT plan_id FROM short_lists JOIN plans USING (plan_id) WHERE group_id = ? AND device_id = ? "
      "AND space = ? ORDER BY plan_id",
      group, device, space);
}
std::vector<PointRow> Store::points() const { return load_records<PointRow>(*connection_, "ORDER BY grid_id, number"); }
std::vector<PointResultRow> Store::point_results(Id point) const {
  return load_records<PointResultRow>(*connection_, "WHERE point_id = ? ORDER BY graph_id, strategy, price, device_id",
                                      point);
}

std::vector<BinaryRow> Store::binaries(Id kernel) const {
  return load_records<BinaryRow>(*connection_, "WHERE kernel_id = ? ORDER BY arch, binary_id", kernel);
}
std::optional<BinaryRow> Store::binary(Id id) const {
  return only(load_records<BinaryRow>(*connection_, "WHERE binary_id = ?", id));
}
std::vector<EstimateRow> Store::estimates(Id plan, Id device) const {
  return load_records<EstimateRow>(
      *connection_,
      "JOIN levels USING (level) WHERE plan_id = ? AND device_id = ? ORDER BY precision, " + used_at("model") +
          " DESC, model",
      plan, device);
}
std::vector<PredictionRow> Store::predictions(Id plan, Id device) const {
  return load_records<PredictionRow>(*connection_,
                                     "JOIN levels USING (level) WHERE plan_id = ? AND device_id = ? "
                                     "ORDER BY precision, model, cache, timed_by, launch_mode",
                                     plan, device);
}
std::vector<GroupBoundRow> Store::group_bounds(Id group, Id device) const {
  return load_records<GroupBoundRow>(*connection_, "WHERE group_id = ? AND device_id = ? ORDER BY model", group,
                                     device);
}
std::vector<CheckRow> Store::checks(Id kernel) const {
  return load_records<CheckRow>(*connection_, "WHERE kernel_id = ? ORDER BY method", kernel);
}

std::vector<MeasurementRow> Store::measurements(Id binary) const {
  return load_records<MeasurementRow>(*connection_, "WHERE binary_id = ? ORDER BY measurement_id", binary);
}
std::vector<MeasurementRow> Store::timings(Id device) const {
  return load_records<MeasurementRow>(
      *connection_, "WHERE profiler <> 'simulator' AND device_id = ? ORDER BY measurement_id", device);
}
std::vector<ModuleTimeRow> Store::module_times(Id graph) const {
  return load_records<ModuleTimeRow>(*connection_, "WHERE graph_id = ? ORDER BY module_time_id", graph);
}
std::vector<ModuleTimeRow> Store::module_times_on(Id device) const {
  return load_records<ModuleTimeRow>(*connection_, "WHERE device_id = ? ORDER BY module_time_id", device);
}
std::vector<ObservationRow> Store::observations(std::string_view device) const {
  return load_records<ObservationRow>(*connection_, "WHERE ?1 = '' OR device = ?1 ORDER BY observation_id", device);
}
std::vector<CalibrationRow> Store::calibrations(Id device) const {
  return load_records<CalibrationRow>(*connection_, "WHERE device_id = ? ORDER BY calibration_id, parameter", device);
}

std::vector<ProgressRow> Store::progress_of(Id group, Id device) const {
  return load_records<ProgressRow>(*connection_, "WHERE group_id = ? AND device_id = ? ORDER BY space, stage", group,
                                   device);
}
std::vector<ProgressRow> Store::progress(Id device, std::string_view space) const {
  return load_records<ProgressRow>(*connection_, "WHERE device_id = ? AND space = ? ORDER BY group_id, stage", device,
                                   space);
}
bool Store::is_done(Id group, Id device, std::string_view space, std::string_view stage) const {
  return !values_of<int>(*connection_,
                         "SELECT 1 FROM progress WHERE group_id = ? AND device_id = ? AND space = ? AND stage = ?",
                         group, device, space, stage)
              .empty();
}

// ---- rows of the views ----

std::vector<StrategyTotals> Store::strategies() const {
  return load_records<StrategyTotals>(*connection_,
                                      "ORDER BY model, graph_id, device, device_id, kernel_s, strategy, price");
}
std::vector<StrategySearchAdded> Store::strategy_search_added() const {
  return load_records<StrategySearchAdded>(*connection_, "ORDER BY graph_id, strategy, price, device_id");
}
std::optional<SearchAdded> Store::search_added(Id group, Id device) const {
  return only(load_records<SearchAdded>(*connection_, "WHERE group_id = ? AND device_id = ?", group, device));
}
std::vector<GroupTime> Store::groups_by_time(Id graph, std::string_view strategy, Id device,
                                             std::string_view price) const {
  return load_records<GroupTime>(*connection_,
                                 "WHERE graph_id = ? AND strategy = ? AND device_id = ? AND price = ? ORDER BY place",
                                 graph, strategy, device, price);
}

std::vector<BestPlan> Store::best_plans(Id group, Id device, int limit) const {
  std::vector<BestPlan> result;
  connection_->each(
      fmt::format("SELECT b.place, b.plan, k.kernel_id, {} FROM best_plans b "
                  "JOIN estimates e USING (plan_id, device_id, level, model) "
                  "LEFT JOIN lowerings k USING (plan_id, device_id) "
                  "WHERE b.group_id = ? AND b.device_id = ? AND b.place <= ? ORDER BY b.place",
                  names_of(columns_of<EstimateRow>(), "e.")),
      [&](Columns& columns) {
        BestPlan& row = result.emplace_back();
        columns.into(row.place, row.plan, row.kernel);
        Loader loader(columns);
        Record<EstimateRow>::walk(loader, row.estimate);
      },
      group, device, limit);
  return result;
}

std::vector<LevelBest> Store::level_bests(Id graph, Id device) const {
  std::vector<LevelBest> result;
  connection_->each(
      "SELECT e.group_id, e.level, min(e.total_s) "
      "FROM (SELECT DISTINCT group_id FROM fusion_groups WHERE graph_id = ?) used "
      "JOIN level_times e ON e.group_id = used.group_id AND e.device_id = ? "
      "WHERE NOT EXISTS (SELECT 1 FROM plan_rejections r WHERE r.plan_id = e.plan_id AND r.device_id = e.device_id) "
      "AND NOT EXISTS (SELECT 1 FROM lowerings k JOIN refuted_kernels r USING (kernel_id, device_id) "
      "WHERE k.plan_id = e.plan_id AND k.device_id = e.device_id) "
      "GROUP BY e.group_id, e.level ORDER BY e.group_id, e.precision",
      [&](Columns& columns) {
        LevelBest& row = result.emplace_back();
        columns.into(row.group, row.level, row.total);
      },
      graph, device);
  return result;
}

std::vector<Seconds> Store::plan_times(Id group, Id device, std::string_view level) const {
  return values_of<Seconds>(
      *connection_,
      "SELECT total_s FROM level_times WHERE group_id = ? AND device_id = ? AND level = ? ORDER BY total_s", group,
      device, level);
}

std::vector<MeasuredPlan> Store::measured_plans(Id device) const {
  return load_records<MeasuredPlan>(
      *connection_, "WHERE device_id = ? ORDER BY title, group_id, profiler, cache, timed_by, launch_mode, place",
      device);
}
std::vector<TwinRace> Store::twin_races(Id device) const {
  return load_records<TwinRace>(
      *connection_, "WHERE device_id = ? ORDER BY group_id, cache, timed_by, launch_mode, measurement_id", device);
}
std::vector<PredictedPlan> Store::measured_vs_predicted(Id device) const {
  return load_records<PredictedPlan>(*connection_,
                                     "WHERE device_id = ? ORDER BY group_id, plan_id, cache, timed_by, launch_mode, "
                                     "precision, " +
                                         used_at("model") + ", model DESC, measured_s",
                                     device);
}
std::vector<ModuleSpeedup> Store::module_speedups(Id graph, Id device) const {
  return load_records<ModuleSpeedup>(*connection_,
                                     "WHERE graph_id = ? AND device_id = ? ORDER BY cache, timed_by, launch_mode, "
                                     "speedup DESC, strategy, baseline, run_id",
                                     graph, device);
}
std::vector<std::string> Store::measured_devices() const {
  return values_of<std::string>(
      *connection_,
      "SELECT name FROM devices WHERE device_id IN (SELECT device_id FROM measurements WHERE "
      "profiler <> 'simulator' UNION SELECT device_id FROM module_times) GROUP BY name ORDER BY 1");
}
std::vector<std::string> Store::measured_gpus(Id device) const {
  return values_of<std::string>(*connection_,
                                "SELECT gpu FROM measurements WHERE device_id = ?1 AND gpu <> '' UNION "
                                "SELECT gpu FROM module_times WHERE device_id = ?1 AND gpu <> '' ORDER BY 1",
                                device);
}
std::vector<RejectedRule> Store::rejected_why() const {
  return load_records<RejectedRule>(*connection_, "ORDER BY plans DESC, groups DESC, device, rule");
}
std::vector<KernelState> Store::kernel_states() const {
  return load_records<KernelState>(*connection_, "ORDER BY state, name, kernel_id");
}

}  // namespace tailor::store
