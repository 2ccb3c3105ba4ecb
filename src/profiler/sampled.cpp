// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Batches grow, so the rule is asked seldom enough.
#include "profiler/sampled.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "profiler/stop.h"

namespace tailor::profiler {

std::string gpu_text(const gpu::Facts& facts) {
  return facts.uuid.empty() ? facts.name : fmt::format("{}, {}", facts.name, facts.uuid);
}

std::string driver_text(const gpu::Facts& facts) {
  return fmt::format("{}, driver API {}, CUPTI {}", facts.driver.empty() ? "unknown" : facts.driver, facts.driver_api,
                     facts.cupti_api);
}

Spread time_of(const ir::Measurement& measured) {
  if (measured.samples.empty()) return {};
  return spread_of(durations(measured.samples), stop_rule(measured.protocol.stop).confidence);
}

ir::Measurement blank_measurement(Worker& worker, ir::CacheState cache, std::optional<ir::TimedBy> timed_by,
                                  ir::LaunchMode launch, std::string_view stop_rule) {
  const gpu::Facts& facts = worker.opened().facts;
  ir::Measurement measured;
  const ir::TimedBy by = timed_by.value_or(facts.can_time_activity ? ir::TimedBy::activity : ir::TimedBy::events);
  measured.outcome = ir::Outcome::ok;
  measured.protocol = {cache, by, launch, std::string(stop_rule)};
  measured.gpu = gpu_text(facts);
  measured.driver = driver_text(facts);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  measured.measured_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return measured;
}

void sample(Workbench& bench, int number, const std::stop_token& stop, ir::Measurement& into) {
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
    const gpu::AskTime ask{number, protocol.cache, protocol.timed_by, protocol.launch, batch, warmup, false};
    const gpu::Answer answer = bench.ask(number, ask);
    if (answer.outcome != ir::Outcome::ok) {
      into.outcome = answer.outcome;
      into.reason = answer.reason;
      return;
    }
    into.sm_clock = answer.state.sm_clock;
    into.dram_clock = answer.state.dram_clock;
    into.samples.insert(into.samples.end(), answer.samples.begin(), answer.samples.end());
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started;
    state = stop_after(rule, durations(into.samples), {spent.count()});
  }
}

}  // namespace tailor::profiler
