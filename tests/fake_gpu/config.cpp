// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reading fake_gpu.json. In: the file beside the shared object. Out: a Config. Keys are the fields' names;
// the chip's stand under "chip". An unknown key is an error, so that a test's misspelling is not taken for
// health.
#include "fake_gpu/config.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

namespace tailor::fake {
namespace {

using Json = nlohmann::json;
using Readers = std::map<std::string, std::function<void(const Json&)>>;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "fake_gpu.json: %s\n", why.c_str());
  std::abort();
}

template <class Value>
auto into(Value& to) {
  return [&to](const Json& from) { from.get_to(to); };
}

void read(const Json& object, const Readers& readers) {
  for (const auto& [key, value] : object.items()) {
    const auto reader = readers.find(key);
    if (reader == readers.end()) give_up("unknown key \"" + key + "\"");
    reader->second(value);
  }
}

template <class Row>
auto rows(std::vector<Row>& to, Readers (*readers)(Row&)) {
  return [&to, readers](const Json& from) {
    for (const Json& one : from) read(one, readers(to.emplace_back()));
  };
}

Readers of_chip(Chip& chip) {
  return {{"count", into(chip.count)},
          {"name", into(chip.name)},
          {"chip", into(chip.chip)},
          {"uuid", into(chip.uuid)},
          {"bus", into(chip.bus)},
          {"driver", into(chip.driver)},
          {"driver_api", into(chip.driver_api)},
          {"compute_capability", into(chip.compute_capability)},
          {"sms", into(chip.sms)},
          {"memory_bytes", into(chip.memory_bytes)},
          {"l2_bytes", into(chip.l2_bytes)},
          {"shared_per_sm", into(chip.shared_per_sm)},
          {"shared_per_block", into(chip.shared_per_block)},
          {"shared_per_block_optin", into(chip.shared_per_block_optin)},
          {"shared_reserved", into(chip.shared_reserved)},
          {"registers_per_sm", into(chip.registers_per_sm)},
          {"threads_per_sm", into(chip.threads_per_sm)},
          {"blocks_per_sm", into(chip.blocks_per_sm)},
          {"bus_bits", into(chip.bus_bits)},
          {"gpcs", into(chip.gpcs)},
          {"sm_clock", into(chip.sm_clock)},
          {"dram_clock", into(chip.dram_clock)},
          {"dram_bandwidth", into(chip.dram_bandwidth)},
          {"l2_bandwidth", into(chip.l2_bandwidth)},
          {"issue_rate", into(chip.issue_rate)},
          {"dispatch_rate", into(chip.dispatch_rate)},
          {"kernel_floor", into(chip.kernel_floor)},
          {"stream_gap", into(chip.stream_gap)},
          {"graph_gap", into(chip.graph_gap)},
          {"record_time", into(chip.record_time)},
          {"call_time", into(chip.call_time)},
          {"launch_time", into(chip.launch_time)},
          {"sync_time", into(chip.sync_time)},
          {"tick", into(chip.tick)}};
}

Readers of_failure(Failure& one) {
  return {{"call", into(one.call)},   {"act", into(one.act)},     {"nth", into(one.nth)},
          {"times", into(one.times)}, {"error", into(one.error)}, {"seconds", into(one.seconds)},
          {"once", into(one.once)}};
}

Readers of_time(PlantedTime& one) { return {{"kernel", into(one.kernel)}, {"seconds", into(one.seconds)}}; }

Readers of_throttle(ThrottleStep& one) {
  return {{"launches", into(one.launches)}, {"reasons", into(one.reasons)}, {"sm_clock", into(one.sm_clock)}};
}

Readers of_config(Config& config) {
  return {{"chip", [&config](const Json& from) { read(from, of_chip(config.chip)); }},
          {"failures", rows<Failure>(config.failures, of_failure)},
          {"times", rows<PlantedTime>(config.times, of_time)},
          {"throttle", rows<ThrottleStep>(config.throttle, of_throttle)},
          {"seed", into(config.seed)},
          {"noise", into(config.noise)},
          {"placement", into(config.placement)},
          {"outliers", into(config.outliers)},
          {"outlier", into(config.outlier)},
          {"warp_instructions", into(config.warp_instructions)},
          {"queue_depth", into(config.queue_depth)},
          {"drop_activity", into(config.drop_activity)},
          {"activity_without_times", into(config.activity_without_times)},
          {"counters_permitted", into(config.counters_permitted)},
          {"other_profiler", into(config.other_profiler)},
          {"other_subscriber", into(config.other_subscriber)},
          {"ecc", into(config.ecc)},
          {"mig", into(config.mig)},
          {"persistence", into(config.persistence)},
          {"nvml_clocks", into(config.nvml_clocks)},
          {"power_limit", into(config.power_limit)},
          {"power_limit_default", into(config.power_limit_default)},
          {"power", into(config.power)},
          {"temperature", into(config.temperature)},
          {"other_processes", into(config.other_processes)},
          {"metrics_per_pass", into(config.metrics_per_pass)},
          {"metrics", into(config.metrics)},
          {"attributes", into(config.attributes)},
          {"log", into(config.log)}};
}

}  // namespace

Config config_in(const std::filesystem::path& folder) {
  Config config;
  config.folder = folder;
  std::ifstream file(folder / "fake_gpu.json");
  if (!file) return config;
  try {
    read(Json::parse(file), of_config(config));
  } catch (const Json::exception& wrong) {
    give_up(wrong.what());
  }
  return config;
}

}  // namespace tailor::fake
