// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Measurements as rows: takes what a profiler found and gives the row of it, and the way back for replay; makes the
// names of executions and the median of samples. Called by whoever stores measurements, and by recorded files. On the
// simulator an execution is named by what was executed and how; on a GPU every execution has a name of its own.
#include <fmt/format.h>

#include "base/statistics.h"
#include "store/rows.h"

namespace tailor::store {

namespace {

/// A clock that is not known is none.
std::optional<double> known(double clock) { return clock > 0 ? std::optional(clock) : std::nullopt; }

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

bool same_work(const ModuleTimeRow& one, const ModuleTimeRow& other) { return one.left_out == other.left_out; }

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
  row.counts = measured.counters;
  if (measured.twin) row.twins = {*measured.twin};
  row.id = measurement_id(row);
  return row;
}

ir::Measurement to_measurement(const MeasurementRow& row) {
  ir::Measurement measured;
  measured.outcome = ir::outcome_named(row.outcome).value_or(ir::Outcome::unavailable);
  measured.reason = row.reason;
  if (row.timing) measured.protocol = *row.timing;
  measured.samples = row.samples;
  measured.counters = row.counts;
  if (!row.twins.empty()) measured.twin = row.twins.front();
  measured.sm_clock = row.sm_clock.value_or(0);
  measured.dram_clock = row.dram_clock.value_or(0);
  measured.gpu = row.gpu;
  measured.driver = row.driver;
  measured.measured_at = row.measured_at;
  return measured;
}

}  // namespace tailor::store
