// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A database small enough to check by hand: one model, two strategies, a device, a few groups with plans, rejections
// and kernels. Also a folder that goes away with the test. Used by all tests of the suite `store` and by those of
// `tailor db`.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "store/observations.h"
#include "store/store.h"

namespace tailor::store {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tailor_store_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline Id named(const std::string& name) { return id_of(name); }

inline RunRow a_run() {
  return {named("run"),
          "tailor 0.1.0",
          "tailor sweep a.json",
          named("config"),
          "config",
          "uncalibrated",
          "NVRTC 13.0",
          "",
          "",
          "",
          "host",
          2,
          1,
          "2026-01-01T00:00:00Z",
          "",
          "running",
          {}};
}
inline DeviceRow a_device() { return {named("h200"), "h200", "NVIDIA H200", "sm_90", "{}"}; }
inline GraphRow a_graph() {
  return {named("graph"), named("structure"), "layernorm", "a.hlo", "text", 9, 1, "one opaque"};
}
inline GroupRow a_group(int i) {
  return {named(fmt::format("group{}", i)), "add_rsqrt", fmt::format("text {}", i), 5, 2, {1000.0 * i}, {500}, 1e6};
}
inline PlanRow a_plan(int group, int i) {
  const std::string text = fmt::format(
      "row dominant=%{} threads={} threads_per_row=32 vector=4 in_flight=1 homes=%0@register grid=tile "
      "index_cache=on value_cache=off",
      group, 32 * (i + 1));
  return {named(text), a_group(group).id, text, "row"};
}
inline EstimateRow an_estimate(const PlanRow& plan, const std::string& level, double total) {
  EstimateRow row{plan.id, a_device().id, level, level, {total}, {total * 0.9}, {total * 1.1}, "dram"};
  for (std::size_t i = 0; i < row.parts.size(); ++i) row.parts[i] = {total * 0.125 * static_cast<double>(i)};
  row.occupancy = 0.75;
  row.waves = 3;
  row.registers = 40;
  return row;
}
/// What level "projected" says that a time by this clock should be.
inline PredictionRow a_prediction(const PlanRow& plan, const std::string& cache, const std::string& timed_by,
                                  double total) {
  return {plan.id,  a_device().id, "projected", "projected",   cache,
          timed_by, "stream",      {total},     {total * 0.9}, {total * 1.1}};
}
/// A published time of somebody else's kernel.
inline ir::Observation a_foreign(const std::string& shape, const std::string& device = "h200") {
  ir::Regime regime;
  regime.timer = ir::Timer::host;
  regime.includes = ir::includes(ir::Timer::host);
  return ir::make_observation(device, regime, {3e-5}, {2.5e-5}, {3.5e-5}, "table.csv row 7",
                              ir::ForeignKernel{"softmax f32", shape, 64, 128, 1024, 0, 1048576, 524288.5});
}
inline ObservationRow an_observation(const std::string& shape) { return observation_row(a_foreign(shape)); }
inline KernelRow a_kernel(const PlanRow& plan) {
  return {named("kernel " + plan.text), "add_rsqrt_row", "text", "__global__ ...", 128, 4096, 0, true};
}
inline BinaryRow a_binary(const KernelRow& kernel, bool ok) {
  BinaryRow row;
  row.id = named("binary" + hex(kernel.id));
  row.kernel = kernel.id;
  row.arch = "sm_90";
  row.compiler = "NVRTC 13.0";
  row.ok = ok;
  row.log = ok ? "" : "line 3: expected a ';'";
  row.registers = 38;
  row.cubin_bytes = 9000;
  row.compile_time = {0.05};
  return row;
}

inline MeasurementRow a_measurement(const BinaryRow& binary) {
  MeasurementRow row;
  row.run = a_run().id;
  row.binary = binary.id;
  row.device = a_device().id;
  row.profiler = "simulator";
  row.protocol = "full shape, seed 1";
  row.outcome = "ok";
  row.measured_at = "2026-01-01T00:00:01Z";
  row.counts = {{"global_load_sectors", 4096, "sectors"}, {"instructions", 1e9, "warp instructions"}};
  row.id = measurement_id(row);
  return row;
}

/// A timed execution on a GPU: samples around `median` seconds under a protocol, with counted traffic.
inline MeasurementRow a_timing(const BinaryRow& binary, double median, const ir::Protocol& protocol = {}) {
  ir::Measurement measured;
  measured.outcome = ir::Outcome::ok;
  measured.protocol = protocol;
  measured.samples = {{{median * 1.25}, 1.98e9, 0}, {{median}, 0, ir::throttle_power}, {{median * 0.875}, 1.755e9, 0}};
  measured.counters = {{"dram_read_bytes", 1000, "B"}, {"dram_write_bytes", 500, "B"}};
  measured.sm_clock = 1.98e9;
  measured.gpu = "NVIDIA H200, GPU-0001";
  measured.driver = "580.1, CUPTI 13.0";
  measured.measured_at = "2026-01-01T00:00:02Z";
  measured.twin = ir::TwinTime{{median * 1.02}, {median * 0.9}, {median * 1.1}, 3, true};
  return measurement_row(measured, a_run().id, binary.id, a_device().id, Seconds{median * 0.9}, Seconds{median * 1.1});
}

/// A strategy's time of the model, in turns with others.
inline ModuleTimeRow a_module_time(const std::string& strategy, double median, std::int64_t place) {
  ModuleTimeRow row;
  row.run = a_run().id;
  row.graph = a_graph().id;
  row.strategy = strategy;
  row.device = a_device().id;
  row.protocol = {ir::CacheState::produced, ir::TimedBy::events, ir::LaunchMode::graph, "standard"};
  row.gpu = "NVIDIA H200, GPU-0001";
  row.driver = "580.1, CUPTI 13.0";
  row.outcome = "ok";
  row.groups_timed = 5;
  row.left_out = {{"no plan covers a sort", 2}, {"too large", 1}};
  row.launches = 12;
  row.buffers = {1e6};
  row.median = Seconds{median};
  row.low = Seconds{median * 0.99};
  row.high = Seconds{median * 1.01};
  row.measured_at = "2026-01-01T00:00:03Z";
  for (std::int64_t round = 0; round < 3; ++round)
    row.samples.push_back(
        {round, (place + round) % 2, {{median * (0.99 + 0.01 * static_cast<double>(round))}, 1.9e9, 0}});
  row.id = module_time_id(row);
  return row;
}

/// What a shard of work on one group leaves: `plans` plans scored, the first compiled and lowered.
inline void save_group(Store& store, int group, int plans) {
  Store::Transaction transaction(store);
  store.save(a_group(group));
  store.save(GroupBoundRow{a_group(group).id, a_device().id, "sol", {1e-6 * group}, "dram"});
  for (int i = 0; i < plans; ++i) {
    const PlanRow plan = a_plan(group, i);
    store.save(plan);
    store.save(an_estimate(plan, "projected", 1e-6 * (10 * group + i)));
  }
  if (plans > 0) {
    const PlanRow plan = a_plan(group, 0);
    const KernelRow kernel = a_kernel(plan);
    store.save(kernel);
    store.save(LoweringRow{plan.id, a_device().id, kernel.id});
    store.save(a_binary(kernel, group % 2 == 1));
  }
  store.save(RejectionRow{a_group(group).id, a_device().id, "", plans > 0 ? "registers" : "skeleton-column", true,
                          plans > 0 ? 7 : 0, "row threads=1024", "needs 300 registers, 255 are possible"});
  store.save(ProgressRow{a_group(group).id, a_device().id, "", "scored", plans, 7});
  transaction.commit();
}

/// The second plan of a group was executed, and is wrong.
inline void save_wrong_plan(Store& store, int group) {
  Store::Transaction transaction(store);
  const PlanRow plan = a_plan(group, 1);
  const KernelRow kernel = a_kernel(plan);
  store.save(kernel);
  store.save(LoweringRow{plan.id, a_device().id, kernel.id});
  store.save(CheckRow{kernel.id, "simulator, seed 1", "wrong", 8.0, "y: 1 of 9 elements is wrong", 0});
  store.save(PlanRejectionRow{plan.id, a_device().id, "check", "y: 1 of 9 elements is wrong"});
  store.save(a_binary(kernel, true));
  store.save(a_run());
  store.save(a_measurement(a_binary(kernel, true)));
  transaction.commit();
}

/// The plan of a group that save_group lowered was timed cold and warm, and two strategies of the model in turns.
inline void save_timings(Store& store, int group) {
  Store::Transaction transaction(store);
  store.save(a_run());
  const BinaryRow binary = a_binary(a_kernel(a_plan(group, 0)), true);
  store.save(a_timing(binary, 8e-6));
  store.save(a_timing(binary, 4e-6, {ir::CacheState::warm, ir::TimedBy::activity, ir::LaunchMode::stream, "standard"}));
  store.save(a_module_time("stitch-v1", 20e-6, 0));
  store.save(a_module_time("unfused", 50e-6, 1));
  transaction.commit();
}

/// One edge kept in registers, and one cut in a body.
inline std::vector<EdgeRow> two_edges() {
  return {{"", "a", "b", 0, "stitched", "register", Seconds{2e-6}, "fits"}, {"0", "a", "b", 1, "cut", {}, {}, "cycle"}};
}

inline void save_model(Store& store, int groups) {
  Store::Transaction transaction(store);
  store.save(a_device());
  store.save(a_graph());
  FusionRow none{a_graph().id, "unfused", "", "", {}, {}};
  FusionRow stitched{a_graph().id, "stitch-v1", "", "", {}, two_edges()};
  for (int group = 1; group <= groups; ++group) {
    store.save(a_group(group));
    none.groups.push_back({a_group(group).id, 2, 24, "fusion.1"});
    if (group == 1) stitched.groups.push_back({a_group(group).id, 1, 12, "fusion.1"});
  }
  store.save(none);
  store.save(stitched);
  store.save(LibraryCallRow{a_graph().id, "dot.1", "dot", "f32[8,8]", 2, 1024, {768}});
  store.save(LibraryTimeRow{a_graph().id, "dot.1", a_device().id, "roof", {1e-6}});
  transaction.commit();
}

/// A kernel of another compiler that computes the first group.
inline GivenKernelRow a_given_kernel() {
  return {a_graph().id, named("xla kernel"), a_group(1).id, "XLA", "loop_add_fusion.1", 2, 24, {4096}};
}

/// A point of a grid that turns the length of short lists, and what a strategy comes to there.
inline PointRow a_point() {
  return {named("grid"), named("point"), 1, "shortlist=2", R"({"shortlist":"2"})", "unfused"};
}

inline PointResultRow a_point_result(const std::string& strategy, double kernel_time) {
  return {a_point().id, a_graph().id, strategy, "", a_device().id, 3, 3, 0, {4096}, {kernel_time}, {}};
}

}  // namespace tailor::store
