// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading what was measured, and the answers of the views over it.
#include <fmt/format.h>

#include "store/query.h"
#include "store/store.h"

namespace tailor::store {

namespace {

/// A word of one of ir's enumerations, as the database holds it.
template <class Enum>
Enum meant(const Connection& connection, std::optional<Enum> value, std::string_view word) {
  if (value) return *value;
  throw Error(Fault::failed, Position{connection.path().string(), 0, 0},
              fmt::format("found '{}' in a measurement, which is no word of this program", word),
              "was the file changed by hand?");
}

struct ProtocolWords {
  std::string cache, timed_by, launch, stop;
  void read(Columns& columns) { columns.into(cache, timed_by, launch, stop); }
};

ir::Protocol parse_protocol_words(const Connection& connection, const ProtocolWords& words) {
  return {meant(connection, ir::cache_state_named(words.cache), words.cache),
          meant(connection, ir::timed_by_named(words.timed_by), words.timed_by),
          meant(connection, ir::launch_mode_named(words.launch), words.launch), words.stop};
}

/// duration_s, sm_clock_hz, throttle.
void read_sample(Columns& columns, ir::Sample& sample) {
  std::optional<double> clock;
  std::int64_t throttle = 0;
  columns.into(sample.duration, clock, throttle);
  sample.sm_clock = clock.value_or(0);
  sample.throttle = static_cast<std::uint32_t>(throttle);
}

std::vector<MeasurementRow> measurements_where(Connection& connection, std::string_view condition, Id id) {
  std::vector<MeasurementRow> all = rows<MeasurementRow>(
      connection,
      fmt::format("SELECT measurement_id, run_id, binary_id, device_id, profiler, protocol, cache, timed_by, "
                  "launch_mode, stop_rule, gpu, driver, outcome, reason, attempts, median_s, low_s, high_s, "
                  "sm_clock_hz, dram_clock_hz, measured_at FROM measurements WHERE {} ORDER BY measurement_id",
                  condition),
      [&](Columns& columns, MeasurementRow& row) {
        ProtocolWords words;
        columns.into(row.id, row.run, row.binary, row.device, row.profiler, row.protocol);
        words.read(columns);
        if (!words.cache.empty()) row.timing = parse_protocol_words(connection, words);
        columns.into(row.gpu, row.driver, row.outcome, row.reason, row.attempts, row.median, row.low, row.high,
                     row.sm_clock, row.dram_clock, row.measured_at);
      },
      id);
  for (MeasurementRow& row : all) {
    row.samples = rows<ir::Sample>(
        connection, "SELECT duration_s, sm_clock_hz, throttle FROM samples WHERE measurement_id = ? ORDER BY sample",
        read_sample, row.id);
    row.counts = rows<CountRow>(
        connection, "SELECT counter, value, unit FROM counters WHERE measurement_id = ? ORDER BY counter",
        [](Columns& columns, CountRow& one) { columns.into(one.counter, one.value, one.unit); }, row.id);
  }
  return all;
}

std::vector<ModuleTimeRow> module_times_where(Connection& connection, std::string_view condition, Id id) {
  std::vector<ModuleTimeRow> all = rows<ModuleTimeRow>(
      connection,
      fmt::format("SELECT module_time_id, run_id, graph_id, strategy, device_id, profiler, cache, timed_by, "
                  "launch_mode, stop_rule, gpu, driver, outcome, reason, groups_timed, launches, buffers_bytes, "
                  "median_s, low_s, high_s, measured_at FROM module_times WHERE {} ORDER BY module_time_id",
                  condition),
      [&](Columns& columns, ModuleTimeRow& row) {
        ProtocolWords words;
        columns.into(row.id, row.run, row.graph, row.strategy, row.device, row.profiler);
        words.read(columns);
        row.protocol = parse_protocol_words(connection, words);
        columns.into(row.gpu, row.driver, row.outcome, row.reason, row.groups_timed, row.launches, row.buffers,
                     row.median, row.low, row.high, row.measured_at);
      },
      id);
  for (ModuleTimeRow& row : all) {
    row.left_out = rows<LeftOutRow>(
        connection, "SELECT reason, places FROM module_left_out WHERE module_time_id = ? ORDER BY reason",
        [](Columns& columns, LeftOutRow& one) { columns.into(one.reason, one.places); }, row.id);
    row.samples = rows<ModuleSampleRow>(
        connection,
        "SELECT round, place, duration_s, sm_clock_hz, throttle FROM module_samples WHERE module_time_id = ? "
        "ORDER BY round, place",
        [](Columns& columns, ModuleSampleRow& one) {
          columns.into(one.round, one.place);
          read_sample(columns, one.sample);
        },
        row.id);
  }
  return all;
}

}  // namespace

std::vector<MeasurementRow> Store::measurements(Id binary) const {
  return measurements_where(*connection_, "binary_id = ?", binary);
}
std::vector<MeasurementRow> Store::timings(Id device) const {
  return measurements_where(*connection_, "profiler <> 'simulator' AND device_id = ?", device);
}
std::vector<ModuleTimeRow> Store::module_times(Id graph) const {
  return module_times_where(*connection_, "graph_id = ?", graph);
}
std::vector<ModuleTimeRow> Store::module_times_on(Id device) const {
  return module_times_where(*connection_, "device_id = ?", device);
}

std::vector<CalibrationRow> Store::calibrations(Id device) const {
  return rows<CalibrationRow>(
      *connection_,
      "SELECT calibration_id, parameter, device_id, value, low, high, unit, observations, fitted_at FROM calibrations "
      "WHERE device_id = ? ORDER BY calibration_id, parameter",
      [](Columns& columns, CalibrationRow& row) {
        columns.into(row.calibration, row.parameter, row.device, row.value, row.low, row.high, row.unit,
                     row.observations, row.fitted_at);
      },
      device);
}

std::vector<MeasuredPlan> Store::measured_plans(Id device) const {
  return rows<MeasuredPlan>(
      *connection_,
      "SELECT group_id, plan_id, kernel_id, binary_id, measurement_id, title, plan, profiler, cache, timed_by, "
      "launch_mode, median_s, low_s, high_s, samples, useful_fraction, dram_fraction, place FROM measured_plans "
      "WHERE device_id = ? ORDER BY title, group_id, profiler, cache, timed_by, launch_mode, place",
      [](Columns& columns, MeasuredPlan& row) {
        columns.into(row.group, row.plan, row.kernel, row.binary, row.measurement, row.title, row.text, row.profiler,
                     row.cache, row.timed_by, row.launch_mode, row.median, row.low, row.high, row.samples,
                     row.useful_fraction, row.dram_fraction, row.place);
      },
      device);
}

std::vector<PredictedPlan> Store::measured_vs_predicted(Id device) const {
  return rows<PredictedPlan>(
      *connection_,
      "SELECT group_id, plan_id, cache, timed_by, launch_mode, level, model, predicted_s, predicted_low_s, "
      "predicted_high_s, measured_s, measured_low_s, measured_high_s FROM measured_vs_predicted WHERE device_id = ? "
      "ORDER BY group_id, plan_id, cache, timed_by, launch_mode, precision, model, measured_s",
      [](Columns& columns, PredictedPlan& row) {
        columns.into(row.group, row.plan, row.cache, row.timed_by, row.launch_mode, row.level, row.model, row.predicted,
                     row.low, row.high, row.measured, row.measured_low, row.measured_high);
      },
      device);
}

std::vector<ModuleSpeedup> Store::module_speedups(Id graph, Id device) const {
  return rows<ModuleSpeedup>(
      *connection_,
      "SELECT run_id, graph_id, device_id, model, cache, timed_by, launch_mode, strategy, baseline, median_s, "
      "baseline_s, speedup, launches, baseline_launches, groups_left_out, baseline_groups_left_out "
      "FROM module_speedups WHERE graph_id = ? AND device_id = ? "
      "ORDER BY cache, timed_by, launch_mode, speedup DESC, strategy, baseline, run_id",
      [](Columns& columns, ModuleSpeedup& row) {
        columns.into(row.run, row.graph, row.device, row.model, row.cache, row.timed_by, row.launch_mode, row.strategy,
                     row.baseline, row.median, row.baseline_median, row.speedup, row.launches, row.baseline_launches,
                     row.left_out, row.baseline_left_out);
      },
      graph, device);
}

std::vector<std::string> Store::measured_devices() const {
  return rows<std::string>(*connection_,
                           "SELECT name FROM devices WHERE device_id IN (SELECT device_id FROM measurements WHERE "
                           "profiler <> 'simulator' UNION SELECT device_id FROM module_times) GROUP BY name ORDER BY 1",
                           [](Columns& columns, std::string& name) { columns.read(name); });
}

std::vector<std::string> Store::measured_gpus(Id device) const {
  return rows<std::string>(
      *connection_,
      "SELECT gpu FROM measurements WHERE device_id = ?1 AND gpu <> '' UNION "
      "SELECT gpu FROM module_times WHERE device_id = ?1 AND gpu <> '' ORDER BY 1",
      [](Columns& columns, std::string& name) { columns.read(name); }, device);
}

}  // namespace tailor::store
