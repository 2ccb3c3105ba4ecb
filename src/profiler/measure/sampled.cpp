// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches of samples until the rule is content. In: a sequence's number and a protocol. Out: a
// Measurement. Batches grow, so the rule is asked seldom enough; what a GPU limits is kept with the
// measurement.
#include "profiler/measure/sampled.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "profiler/measure/stop.h"

namespace tailor::profiler {

std::string gpu_text(const gpu::GpuProperties& properties) {
  return properties.uuid.empty() ? properties.name : fmt::format("{}, {}", properties.name, properties.uuid);
}

std::string driver_text(const gpu::GpuProperties& properties) {
  return fmt::format("{}, driver API {}, CUPTI {}", properties.driver.empty() ? "unknown" : properties.driver,
                     properties.driver_api, properties.cupti_api);
}

Spread time_of(const ir::Measurement& measured) {
  if (measured.samples.empty()) return {};
  return spread_of(durations(measured.samples), stop_rule(measured.protocol.stop).confidence);
}

ir::Measurement blank_measurement(Worker& worker, ir::CacheState cache, std::optional<ir::TimedBy> timed_by,
                                  ir::LaunchMode launch, std::string_view stop_rule) {
  const gpu::GpuProperties& properties = worker.opened().properties;
  ir::Measurement measured;
  const ir::TimedBy by = timed_by.value_or(properties.can_time_activity ? ir::TimedBy::activity : ir::TimedBy::events);
  measured.outcome = ir::Outcome::ok;
  measured.protocol = {cache, by, launch, std::string(stop_rule)};
  measured.gpu = gpu_text(properties);
  measured.driver = driver_text(properties);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  measured.measured_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return measured;
}

void sample(SequenceCache& sequences, int number, const std::stop_token& stop, ir::Measurement& into) {
  const StopRule& rule = stop_rule(into.protocol.stop);
  const auto started = std::chrono::steady_clock::now();
  const ir::Protocol& protocol = into.protocol;
  for (Stop state = Stop::go_on; state == Stop::go_on;) {
    const int batch = next_batch(rule, static_cast<int>(into.samples.size()));
    if (batch == 0) return;
    if (stop.stop_requested()) {
      into.outcome = ir::Outcome::stopped;
      into.reason = "stopped";
      return;
    }
    const int warmup = into.samples.empty() ? rule.warmup : 0;
    const gpu::TimeRequest request{number, protocol.cache, protocol.timed_by, protocol.launch, batch, warmup, false};
    const gpu::Response response = sequences.call(number, request);
    if (response.outcome != ir::Outcome::ok) {
      into.outcome = response.outcome;
      into.reason = response.reason;
      return;
    }
    if (into.samples.empty()) {
      into.sm_clock = response.state.sm_clock;
      into.dram_clock = response.state.dram_clock;
    }
    into.samples.insert(into.samples.end(), response.samples.begin(), response.samples.end());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
    state = stop_after(rule, durations(into.samples), {spent.count()});
  }
}

}  // namespace tailor::profiler
