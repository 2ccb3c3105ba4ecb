// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The lists of the rows of views, as records.h has those of tables: of each row the view and the columns it is read
// from, by name. They are only read. load.cpp reads them; a test holds them against schema.sql. Private to this folder
// and its tests.
#pragma once

#include <tuple>

#include "store/field.h"
#include "store/rows.h"

namespace tailor::store {

template <>
struct ViewRecord<StrategyTotals> {
  static constexpr Table table{.name = "strategies"};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.graph);
    field("model", row.model);
    field("strategy", row.strategy);
    field("price", row.price);
    field("device_id", row.device);
    field("device", row.device_name);
    field("kernels", row.kernels);
    field("distinct_groups", row.distinct_groups);
    field("launches", row.launches);
    field("dram_bytes", row.dram);
    field("kernel_s", row.kernel_time);
    field("predicted_s", row.predicted_time);
    field("launches_measured", row.launches_measured);
    field("groups_without_plan", row.groups_without_plan);
    field("groups_without_time", row.groups_without_time);
    field("launches_without_plan", row.launches_without_plan);
    field("library_calls", row.library_calls);
    field("library_s", row.library_time);
  }
};

template <>
struct ViewRecord<StrategySearchAdded> {
  static constexpr Table table{.name = "strategy_search_added"};
  static void walk(auto& field, auto& row) {
    field("graph_id", row.graph);
    field("strategy", row.strategy);
    field("price", row.price);
    field("device_id", row.device);
    field("kernels", row.kernels);
    field("same_launch", row.same_launch);
    field("xla_s", row.as_xla);
    field("best_s", row.best);
  }
};

template <>
struct ViewRecord<SearchAdded> {
  static constexpr Table table{.name = "search_added"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group);
    field("emitter", row.emitter);
    field("launch", row.launch);
    field("level", row.level);
    field("xla_s", row.as_xla);
    field("best_s", row.best);
  }
};

template <>
struct ViewRecord<GroupTime> {
  static constexpr Table table{.name = "groups_by_time"};
  static void walk(auto& field, auto& row) {
    field("place", row.place);
    field("group_id", row.group);
    field("title", row.title);
    field("example", row.example);
    field("occurrences", row.occurrences);
    field("times", row.times);
    field("read_bytes", row.read);
    field("written_bytes", row.written);
    field("plan_id", row.plan);
    field("level", row.level);
    field("total_s", row.total);
    field("all_times_s", row.all_times);
  }
};

template <>
struct ViewRecord<MeasuredPlan> {
  static constexpr Table table{.name = "measured_plans"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group);
    field("plan_id", row.plan);
    field("kernel_id", row.kernel);
    field("binary_id", row.binary);
    field("measurement_id", row.measurement);
    field("title", row.title);
    field("plan", row.text);
    field("profiler", row.profiler);
    field("cache", row.cache);
    field("timed_by", row.timed_by);
    field("launch_mode", row.launch_mode);
    field("median_s", row.median);
    field("low_s", row.low);
    field("high_s", row.high);
    field("samples", row.samples);
    field("useful_fraction", row.useful_fraction);
    field("dram_fraction", row.dram_fraction);
    field("place", row.place);
  }
};

template <>
struct ViewRecord<PredictedPlan> {
  static constexpr Table table{.name = "measured_vs_predicted"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group);
    field("plan_id", row.plan);
    field("cache", row.cache);
    field("timed_by", row.timed_by);
    field("launch_mode", row.launch_mode);
    field("level", row.level);
    field("model", row.model);
    field("predicted_s", row.predicted);
    field("predicted_low_s", row.low);
    field("predicted_high_s", row.high);
    field("measured_s", row.measured);
    field("measured_low_s", row.measured_low);
    field("measured_high_s", row.measured_high);
  }
};

template <>
struct ViewRecord<ModuleSpeedup> {
  static constexpr Table table{.name = "module_speedups"};
  static void walk(auto& field, auto& row) {
    field("run_id", row.run);
    field("graph_id", row.graph);
    field("device_id", row.device);
    field("model", row.model);
    field("cache", row.cache);
    field("timed_by", row.timed_by);
    field("launch_mode", row.launch_mode);
    field("strategy", row.strategy);
    field("baseline", row.baseline);
    field("median_s", row.median);
    field("baseline_s", row.baseline_median);
    field("speedup", row.speedup);
    field("launches", row.launches);
    field("baseline_launches", row.baseline_launches);
    field("groups_left_out", row.left_out);
    field("baseline_groups_left_out", row.baseline_left_out);
  }
};

template <>
struct ViewRecord<RejectedRule> {
  static constexpr Table table{.name = "rejected_why"};
  static void walk(auto& field, auto& row) {
    field("device", row.device);
    field("rule", row.rule);
    field("sound", row.sound);
    field("groups", row.groups);
    field("plans", row.plans);
    field("groups_without_plan", row.groups_without_plan);
    field("example", row.example);
  }
};

template <>
struct ViewRecord<KernelState> {
  static constexpr Table table{.name = "kernel_states"};
  static void walk(auto& field, auto& row) {
    field("kernel_id", row.kernel);
    field("name", row.name);
    field("state", row.state);
  }
};

template <>
struct ViewRecord<TwinRace> {
  static constexpr Table table{.name = "twin_races"};
  static void walk(auto& field, auto& row) {
    field("group_id", row.group);
    field("measurement_id", row.measurement);
    field("cache", row.cache);
    field("timed_by", row.timed_by);
    field("launch_mode", row.launch_mode);
    field("ratio", row.ratio);
    field("told_apart", row.told_apart);
  }
};

using ViewRows = std::tuple<StrategyTotals, StrategySearchAdded, SearchAdded, GroupTime, MeasuredPlan, TwinRace,
                            PredictedPlan, ModuleSpeedup, RejectedRule, KernelState>;

}  // namespace tailor::store
