// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Saving what was measured, and the names of measurements.
//
// What was measured never changes: a row that is known stays with the samples it came with.
#include <fmt/format.h>

#include "base/statistics.h"
#include "store/connection.h"
#include "store/insert.h"
#include "store/store.h"

namespace tailor::store {

namespace {

/// A clock that is not known is none.
std::optional<double> known(double clock) { return clock > 0 ? std::optional(clock) : std::nullopt; }

std::string words(const std::optional<ir::Protocol>& timing, std::string_view (*word)(const ir::Protocol&)) {
  return timing ? std::string(word(*timing)) : std::string();
}

std::string_view cache_of(const ir::Protocol& protocol) { return name(protocol.cache); }
std::string_view timer_of(const ir::Protocol& protocol) { return name(protocol.timed_by); }
std::string_view launch_of(const ir::Protocol& protocol) { return name(protocol.launch); }
std::string_view stop_of(const ir::Protocol& protocol) { return protocol.stop; }

}  // namespace

std::optional<Seconds> median_of(const std::vector<ir::Sample>& samples) {
  std::vector<double> durations;
  for (const ir::Sample& sample : samples) durations.push_back(sample.duration.value);
  return durations.empty() ? std::nullopt : std::optional(Seconds{tailor::median_of(durations)});
}

Id measurement_id(const MeasurementRow& row) {
  std::string occasion;
  if (row.profiler != "simulator") {
    occasion = hex(row.run) + row.measured_at;
    for (const ir::Sample& sample : row.samples) occasion += fmt::format(" {}", sample.duration.value);
  }
  return id_of(
      fmt::format("{}\n{}\n{}\n{}\n{}", row.profiler, row.protocol, hex(row.binary), hex(row.device), occasion));
}

Id module_time_id(const ModuleTimeRow& row) {
  std::string all = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", row.profiler, text(row.protocol), hex(row.graph),
                                row.strategy, hex(row.device), hex(row.run), row.measured_at);
  for (const ModuleSampleRow& one : row.samples)
    all += fmt::format(" {} {} {}", one.round, one.place, one.sample.duration.value);
  return id_of(std::string_view(all));
}

MeasurementRow measurement_row(const ir::Measurement& measured, Id run, Id binary, Id device,
                               std::optional<Seconds> low, std::optional<Seconds> high, int attempts) {
  MeasurementRow row;
  row.run = run;
  row.binary = binary;
  row.device = device;
  row.profiler = "gpu";
  row.protocol = text(measured.protocol);
  row.timing = measured.protocol;
  row.gpu = measured.gpu;
  row.driver = measured.driver;
  row.outcome = name(measured.outcome);
  row.reason = measured.reason;
  row.attempts = attempts;
  row.median = median_of(measured.samples);
  if (row.median) {
    row.low = low;
    row.high = high;
  }
  row.sm_clock = known(measured.sm_clock);
  row.dram_clock = known(measured.dram_clock);
  row.measured_at = measured.measured_at;
  row.samples = measured.samples;
  for (const ir::CounterValue& counter : measured.counters)
    row.counts.push_back({counter.name, counter.value, counter.unit});
  row.id = measurement_id(row);
  return row;
}

ir::Measurement to_measurement(const MeasurementRow& row) {
  ir::Measurement measured;
  measured.outcome = ir::outcome_named(row.outcome).value_or(ir::Outcome::unavailable);
  measured.reason = row.reason;
  if (row.timing) measured.protocol = *row.timing;
  measured.samples = row.samples;
  for (const CountRow& count : row.counts) measured.counters.push_back({count.counter, count.value, count.unit});
  measured.sm_clock = row.sm_clock.value_or(0);
  measured.dram_clock = row.dram_clock.value_or(0);
  measured.gpu = row.gpu;
  measured.driver = row.driver;
  measured.measured_at = row.measured_at;
  return measured;
}

void Store::save(const MeasurementRow& row) {
  static const std::string sql =
      insert("measurements", {"measurement_id", "run_id",        "binary_id",   "device_id", "profiler", "protocol",
                              "cache",          "timed_by",      "launch_mode", "stop_rule", "gpu",      "driver",
                              "outcome",        "reason",        "attempts",    "median_s",  "low_s",    "high_s",
                              "sm_clock_hz",    "dram_clock_hz", "measured_at"});
  static const std::string sample =
      insert("samples", {"measurement_id", "sample", "duration_s", "sm_clock_hz", "throttle"});
  static const std::string count = insert("counters", {"measurement_id", "counter", "value", "unit"});
  Savepoint several(*connection_);
  const bool fresh =
      connection_->execute(sql, row.id, row.run, row.binary, row.device, row.profiler, row.protocol,
                           words(row.timing, cache_of), words(row.timing, timer_of), words(row.timing, launch_of),
                           words(row.timing, stop_of), row.gpu, row.driver, row.outcome, row.reason, row.attempts,
                           row.median, row.low, row.high, row.sm_clock, row.dram_clock, row.measured_at) > 0;
  if (fresh) {
    std::int64_t place = 0;
    for (const ir::Sample& one : row.samples)
      connection_->execute(sample, row.id, place++, one.duration, known(one.sm_clock),
                           static_cast<std::int64_t>(one.throttle));
    for (const CountRow& one : row.counts) connection_->execute(count, row.id, one.counter, one.value, one.unit);
  }
  several.release();
}

void Store::save(const ModuleTimeRow& row) {
  static const std::string sql = insert(
      "module_times", {"module_time_id", "run_id",   "graph_id",     "strategy",        "device_id", "profiler",
                       "cache",          "timed_by", "launch_mode",  "stop_rule",       "gpu",       "driver",
                       "outcome",        "reason",   "groups_timed", "groups_left_out", "launches",  "buffers_bytes",
                       "median_s",       "low_s",    "high_s",       "measured_at"});
  static const std::string left = insert("module_left_out", {"module_time_id", "reason", "places"});
  static const std::string sample =
      insert("module_samples", {"module_time_id", "round", "place", "duration_s", "sm_clock_hz", "throttle"});
  std::int64_t left_out = 0;
  for (const LeftOutRow& one : row.left_out) left_out += one.places;
  Savepoint several(*connection_);
  const bool fresh =
      connection_->execute(sql, row.id, row.run, row.graph, row.strategy, row.device, row.profiler,
                           name(row.protocol.cache), name(row.protocol.timed_by), name(row.protocol.launch),
                           row.protocol.stop, row.gpu, row.driver, row.outcome, row.reason, row.groups_timed, left_out,
                           row.launches, row.buffers, row.median, row.low, row.high, row.measured_at) > 0;
  if (fresh) {
    for (const LeftOutRow& one : row.left_out) connection_->execute(left, row.id, one.reason, one.places);
    for (const ModuleSampleRow& one : row.samples)
      connection_->execute(sample, row.id, one.round, one.place, one.sample.duration, known(one.sample.sm_clock),
                           static_cast<std::int64_t>(one.sample.throttle));
  }
  several.release();
}

void Store::save(const CalibrationRow& row) {
  static const std::vector<std::string_view> columns = {
      "calibration_id", "parameter", "device_id", "value", "low", "high", "unit", "observations", "fitted_at"};
  static const std::string sql = insert("calibrations", columns, replacing(columns, 2));
  connection_->execute(sql, row.calibration, row.parameter, row.device, row.value, row.low, row.high, row.unit,
                       row.observations, row.fitted_at);
}

}  // namespace tailor::store
