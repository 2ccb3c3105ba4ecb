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
#include <nlohmann/json.hpp>

#include "base/statistics.h"
#include "store/export_source.h"

namespace tailor::store {

namespace {

using Json = nlohmann::ordered_json;

Json named_value(std::string_view name, std::string_view type, std::string value) {
  return {{"name", name}, {"type", type}, {"value", std::move(value)}};
}

Json summary(std::string_view tag, std::string_view name, std::string_view hint, double value) {
  Json out = {{"tag", tag}, {"name", name}};
  if (!hint.empty()) out["hint"] = hint;
  out["data"] = Json::array({named_value("value", "float64", fmt::format("{}", value))});
  return out;
}

Json count_summary(std::size_t samples) {
  return {{"tag", "nv/cold/sample_size"},
          {"name", "Samples"},
          {"hint", "sample_size"},
          {"data", Json::array({named_value("value", "int64", std::to_string(samples))})}};
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
  Json out = Json::array();
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
  for (const CountRow& counter : row.counts)
    out.push_back(summary(fmt::format("tailor/{}", counter.counter),
                          fmt::format("{} [{}]", counter.counter, counter.unit), "", counter.value));
  return out;
}

/// A plan by its text, another compiler's kernel by origin and name.
std::string name_of(const Tried& tried) {
  if (tried.plan) return tried.plan->text;
  return tried.origin.empty() ? tried.kernel.name : fmt::format("{}: {}", tried.origin, tried.kernel.name);
}

Json state_json(const Tried& tried, const ir::Protocol& protocol) {
  Json axes = Json::array();
  std::string name = "Device=0";
  const auto add = [&](std::string_view axis, std::string_view value) {
    axes.push_back(named_value(axis, "string", std::string(value)));
    name += fmt::format(" {}={}", axis, value);
  };
  add("Kernel", name_of(tried));
  add("Cache", ir::name(protocol.cache));
  add("Timer", ir::name(protocol.timed_by));
  add("Launch", ir::name(protocol.launch));
  const bool well = tried.ending.kernel_tuner.empty();
  Json state = {{"name", name},
                {"min_samples", 1},
                {"skip_time", -1.0},
                {"timeout", -1.0},
                {"device", 0},
                {"type_config_index", 0},
                {"axis_values", std::move(axes)},
                {"summaries", well ? summaries_json(*tried.row) : Json::array()},
                {"is_skipped", !well}};
  if (!well) state["skip_reason"] = fmt::format("{}: {}", tried.outcome, tried.reason);
  return state;
}

/// The values of an axis of a benchmark, in the order they first came.
Json axis_json(const Json& states, std::size_t place) {
  Json values = Json::array();
  std::vector<std::string> seen;
  for (const Json& state : states) {
    const std::string value = state["axis_values"][place]["value"];
    if (std::find(seen.begin(), seen.end(), value) != seen.end()) continue;
    seen.push_back(value);
    values.push_back({{"input_string", value}, {"description", ""}, {"value", value}});
  }
  return {{"name", states[0]["axis_values"][place]["name"]}, {"type", "string"}, {"flags", ""}, {"values", values}};
}

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
  const Json file = Json::parse(device.file, nullptr, false);
  Json out = {{"id", 0}, {"name", device.title}};
  for (const DeviceKey& entry : device_keys) {
    const Json::json_pointer place(fmt::format("/figures/{}/value", entry.figure));
    const bool known = file.is_object() && file.contains(place) && file.at(place).is_number();
    out[std::string(entry.key)] = known ? std::llround(file.at(place).get<double>() * entry.factor) : 0;
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
  std::map<std::string, Json> states;
  for (const TriedGroup& group : source.groups)
    for (const Tried& tried : group.tried) states[group.name].push_back(state_json(tried, group.protocol));
  Json benchmarks = Json::array();
  for (auto& [name, list] : states) {
    Json axes = Json::array();
    for (std::size_t i = 0; i < list[0]["axis_values"].size(); ++i) axes.push_back(axis_json(list, i));
    benchmarks.push_back({{"name", name},
                          {"index", benchmarks.size()},
                          {"min_samples", 1},
                          {"skip_time", -1.0},
                          {"timeout", -1.0},
                          {"devices", {0}},
                          {"axes", std::move(axes)},
                          {"states", std::move(list)}});
  }
  const Json file = {{"meta",
                      {{"argv", {"tailor", "db", "export"}},
                       {"version", {{"json", version(1, 0, 0)}, {"nvbench", version(0, 1, 0)}}}}},
                     {"devices", Json::array({device_json(source.device)})},
                     {"benchmarks", std::move(benchmarks)}};
  return {{fmt::format("{}.json", source.device.name),
           file.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n"}};
}

}  // namespace tailor::store
