// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// NVBench's JSON, version 1.0.0, for its comparators: a group is a benchmark, a plan and the protocol are axes. In it
// 64-bit and floating-point values of axes and summaries are strings, and the tags of all times begin with nv/cold,
// whatever the cache held: the Cache axis tells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/statistics.h"
#include "store/export_source.h"

namespace tailor::store {

namespace {

Json named_value(std::string_view name, std::string_view type, std::string value) {
  return {{"name", name}, {"type", type}, {"value", std::move(value)}};
}

Json summary(std::string_view tag, std::string_view name, std::string_view hint, double value) {
  Json out = {{"tag", tag}, {"name", name}};
  if (!hint.empty()) out["hint"] = hint;
  out["data"] = Json::Array{named_value("value", "float64", fmt::format("{}", value))};
  return out;
}

Json count_summary(std::size_t samples) {
  return {{"tag", "nv/cold/sample_size"},
          {"name", "Samples"},
          {"hint", "sample_size"},
          {"data", Json::Array{named_value("value", "int64", std::to_string(samples))}}};
}

Json summaries_json(const MeasurementRow& row) {
  std::vector<double> times;
  double total = 0, clocks = 0;
  std::int64_t clocked = 0;
  for (const ir::Sample& sample : row.samples) {
    times.push_back(sample.duration.value);
    total += sample.duration.value;
    clocks += sample.sm_clock;
    clocked += sample.sm_clock > 0 ? 1 : 0;
  }
  Json out = Json::Array();
  if (times.empty()) return out;
  std::sort(times.begin(), times.end());
  const auto count = static_cast<double>(times.size());
  const double mean = total / count, q1 = quantile(times, 0.25), q3 = quantile(times, 0.75);
  double squares = 0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  const double deviation = times.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  const double median = quantile(times, 0.5);
  out.push_back(count_summary(times.size()));
  out.push_back(summary("nv/cold/time/gpu/min", "Min GPU Time", "duration", times.front()));
  out.push_back(summary("nv/cold/time/gpu/max", "Max GPU Time", "duration", times.back()));
  out.push_back(summary("nv/cold/time/gpu/mean", "GPU Time", "duration", mean));
  out.push_back(summary("nv/cold/time/gpu/stdev/absolute", "Stdev", "duration", deviation));
  out.push_back(summary("nv/cold/time/gpu/stdev/relative", "Noise", "percentage", mean > 0 ? deviation / mean : 0));
  out.push_back(summary("nv/cold/time/gpu/q1", "Q1 GPU Time", "duration", q1));
  out.push_back(summary("nv/cold/time/gpu/median", "Median GPU Time", "duration", median));
  out.push_back(summary("nv/cold/time/gpu/q3", "Q3 GPU Time", "duration", q3));
  out.push_back(summary("nv/cold/time/gpu/iqr/absolute", "IQR", "duration", q3 - q1));
  out.push_back(
      summary("nv/cold/time/gpu/iqr/relative", "IQR Noise", "percentage", median > 0 ? (q3 - q1) / median : 0));
  if (clocked > 0)
    out.push_back(
        summary("nv/cold/sm_clock_rate/mean", "Clock Rate", "frequency", clocks / static_cast<double>(clocked)));
  for (const ir::CounterValue& counter : row.counts)
    out.push_back(summary(fmt::format("tailor/{}", counter.name), fmt::format("{} [{}]", counter.name, counter.unit),
                          "", counter.value));
  return out;
}

/// A plan by its text, another compiler's kernel by origin and name.
std::string name_of(const Tried& tried) {
  if (tried.plan) return tried.plan->text;
  return tried.origin.empty() ? tried.kernel.name : fmt::format("{}: {}", tried.origin, tried.kernel.name);
}

/// The axes of a state and their values.
std::vector<std::pair<std::string_view, std::string>> axes_of(const Tried& tried, const ir::Protocol& protocol) {
  return {{"Kernel", name_of(tried)},
          {"Cache", std::string(ir::name(protocol.cache))},
          {"Timer", std::string(ir::name(protocol.timed_by))},
          {"Launch", std::string(ir::name(protocol.launch))}};
}

Json state_json(const Tried& tried, const ir::Protocol& protocol) {
  Json values = Json::Array();
  std::string name = "Device=0";
  for (const auto& [axis, value] : axes_of(tried, protocol)) {
    values.push_back(named_value(axis, "string", value));
    name += fmt::format(" {}={}", axis, value);
  }
  const bool well = tried.ending.kernel_tuner.empty();
  Json state = {{"name", name},
                {"min_samples", 1},
                {"skip_time", -1.0},
                {"timeout", -1.0},
                {"device", 0},
                {"type_config_index", 0},
                {"axis_values", std::move(values)},
                {"summaries", well ? summaries_json(*tried.row) : Json(Json::Array())},
                {"is_skipped", !well}};
  if (!well) state["skip_reason"] = fmt::format("{}: {}", tried.outcome, tried.reason);
  return state;
}

/// A benchmark: all states of one name, and the values of each of its axes in the order they first came.
struct Benchmark {
  Json::Array states;
  std::vector<std::pair<std::string_view, std::vector<std::string>>> axes;

  void add(const Tried& tried, const ir::Protocol& protocol) {
    states.push_back(state_json(tried, protocol));
    const auto values = axes_of(tried, protocol);
    axes.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& [axis, value] = values[i];
      axes[i].first = axis;
      std::vector<std::string>& seen = axes[i].second;
      if (std::find(seen.begin(), seen.end(), value) == seen.end()) seen.push_back(value);
    }
  }

  Json axes_json() const {
    Json all = Json::Array();
    for (const auto& [axis, seen] : axes) {
      Json values = Json::Array();
      for (const std::string& value : seen)
        values.push_back({{"input_string", value}, {"description", ""}, {"value", value}});
      all.push_back({{"name", axis}, {"type", "string"}, {"flags", ""}, {"values", std::move(values)}});
    }
    return all;
  }
};

/// Name in the file, figure of the device, and the factor between them.
struct DeviceKey {
  std::string_view key, figure;
  double factor;
};
constexpr auto device_keys = std::to_array<DeviceKey>({
    {"sm_version", "compute_capability", 10},
    {"ptx_version", "compute_capability", 10},
    {"sm_default_clock_rate", "clock", 1},
    {"number_of_sms", "sms", 1},
    {"max_blocks_per_sm", "blocks_per_sm", 1},
    {"max_threads_per_sm", "threads_per_sm", 1},
    {"max_threads_per_block", "threads_per_block", 1},
    {"registers_per_sm", "registers_per_sm", 1},
    {"registers_per_block", "registers_per_block", 1},
    {"global_memory_size", "dram_bytes", 1},
    {"global_memory_bus_peak_clock_rate", "dram_pin_rate", 0.5},
    {"global_memory_bus_width", "dram_width", 1},
    {"global_memory_bus_bandwidth", "dram_bandwidth", 1},
    {"l2_cache_size", "l2_bytes", 1},
    {"shared_memory_per_sm", "shared_per_sm", 1},
    {"shared_memory_per_block", "shared_per_block", 1},
});

/// The device's figures by NVBench's names; those that its file does not have are 0.
Json device_json(const DeviceRow& device) {
  const Json file = try_parse_json(device.file).value_or(Json());
  const Json* figures = file.find("figures");
  Json out = {{"id", 0}, {"name", device.title}};
  for (const DeviceKey& entry : device_keys) {
    const Json* figure = figures == nullptr ? nullptr : figures->find(entry.figure);
    const Json* value = figure == nullptr ? nullptr : figure->find("value");
    const std::optional<double> number = value == nullptr ? std::nullopt : value->number();
    out[entry.key] = number ? std::llround(*number * entry.factor) : 0;
  }
  out["ecc_state"] = false;
  return out;
}

Json version(int major, int minor, int patch) {
  return {
      {"major", major}, {"minor", minor}, {"patch", patch}, {"string", fmt::format("{}.{}.{}", major, minor, patch)}};
}

}  // namespace

std::vector<ExportFile> nvbench_files(const ExportSource& source) {
  std::map<std::string, Benchmark> by_name;
  for (const TriedGroup& group : source.groups)
    for (const Tried& tried : group.tried) by_name[group.name].add(tried, group.protocol);
  Json::Array benchmarks;
  for (auto& [name, benchmark] : by_name)
    benchmarks.push_back({{"name", name},
                          {"index", benchmarks.size()},
                          {"min_samples", 1},
                          {"skip_time", -1.0},
                          {"timeout", -1.0},
                          {"devices", Json::Array{0}},
                          {"axes", benchmark.axes_json()},
                          {"states", std::move(benchmark.states)}});
  const Json file = {{"meta",
                      {{"argv", Json::Array{"tailor", "db", "export"}},
                       {"version", Json{{"json", version(1, 0, 0)}, {"nvbench", version(0, 1, 0)}}}}},
                     {"devices", Json::Array{device_json(source.device)}},
                     {"benchmarks", std::move(benchmarks)}};
  return {{fmt::format("{}.json", source.device.name), json_text(file, 2) + "\n"}};
}

}  // namespace tailor::store
