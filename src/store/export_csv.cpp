// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables for spreadsheets and data frames: every measurement, whatever its protocol and outcome, with units in the
// heads. An empty cell is a value that is not known.
#include <fmt/format.h>

#include <map>

#include "store/export_source.h"

namespace tailor::store {

namespace {

/// A cell as it stands in the file; quoted only where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}
std::string cell(std::string_view text) { return cell(std::string(text)); }
std::string cell(Id id) { return hex(id); }
std::string cell(double value) { return fmt::format("{}", value); }
std::string cell(std::int64_t value) { return fmt::format("{}", value); }
std::string cell(int value) { return fmt::format("{}", value); }
std::string cell(std::size_t value) { return fmt::format("{}", value); }
template <class Dimension>
std::string cell(Quantity<Dimension> value) {
  return cell(value.value);
}
template <class Value>
std::string cell(const std::optional<Value>& value) {
  return value ? cell(*value) : std::string();
}
std::string clock(double value) { return value > 0 ? cell(value) : std::string(); }

template <class... Values>
std::string line(const Values&... values) {
  std::string out;
  ((out += (out.empty() ? "" : ",") + cell(values)), ...);
  return out + "\n";
}

/// What a measured kernel is: for each group it belongs to a pair of plan and group, or one pair of nothing.
struct RankedMeasurement {
  const GroupRow* group = nullptr;
  const PlanRow* plan = nullptr;
  std::string origin;
};

std::map<Id, std::vector<RankedMeasurement>> standings_of(const RecordedRows& rows) {
  std::map<Id, const GroupRow*> groups;
  std::map<Id, const PlanRow*> plans;
  std::map<Id, std::vector<RankedMeasurement>> result;
  for (const GroupRow& row : rows.groups) groups[row.id] = &row;
  for (const PlanRow& row : rows.plans) plans[row.id] = &row;
  for (const LoweringRow& row : rows.lowerings)
    if (const PlanRow* plan = plans[row.plan]; plan != nullptr)
      result[row.kernel].push_back({groups[plan->group], plan, "Tailor"});
  for (const GivenKernelRow& row : rows.given) result[row.kernel].push_back({groups[row.group], nullptr, row.origin});
  for (const KernelRow& row : rows.kernels)
    if (result[row.id].empty()) result[row.id].push_back({});
  return result;
}

constexpr std::string_view measurement_heads =
    "measurement_id,device,gpu,driver,group_id,group,origin,kernel_id,kernel,plan_id,plan,threads,blocks,shared_bytes,"
    "registers,spill_store_bytes,compile_s,cache,timed_by,launch_mode,stop_rule,outcome,reason,attempts,samples,median_"
    "s,"
    "low_s,high_s,group_bytes,sm_clock_hz,dram_clock_hz,measured_at\n";

std::string measurement_lines(const ExportSource& source) {
  const RecordedRows& rows = source.recorded.rows();
  std::map<Id, const KernelRow*> kernels;
  std::map<Id, const BinaryRow*> binaries;
  for (const KernelRow& row : rows.kernels) kernels[row.id] = &row;
  for (const BinaryRow& row : rows.binaries) binaries[row.id] = &row;
  const std::map<Id, std::vector<RankedMeasurement>> standings = standings_of(rows);
  std::string out(measurement_heads);
  for (const MeasurementRow& row : rows.measurements) {
    const BinaryRow& binary = *binaries.at(row.binary);
    const KernelRow& kernel = *kernels.at(binary.kernel);
    const ir::Protocol& how = row.timing.value_or(ir::Protocol{});
    for (const RankedMeasurement& one : standings.at(kernel.id))
      out +=
          line(row.id, source.device.name, row.gpu, row.driver, one.group ? hex(one.group->id) : "",
               one.group ? one.group->title : "", one.origin, kernel.id, kernel.name, one.plan ? hex(one.plan->id) : "",
               one.plan ? one.plan->text : "", kernel.threads, kernel.blocks, kernel.shared, binary.registers,
               binary.spill_stores, binary.compile_time, name(how.cache), name(how.timed_by), name(how.launch),
               how.stop, row.outcome, row.reason, row.attempts, row.samples.size(), row.median, row.low, row.high,
               one.group ? std::optional(one.group->read + one.group->written) : std::nullopt, row.sm_clock,
               row.dram_clock, row.measured_at);
  }
  return out;
}

std::string sample_lines(const RecordedRows& rows) {
  std::string out = "measurement_id,sample,duration_s,sm_clock_hz,throttle\n";
  for (const MeasurementRow& row : rows.measurements)
    for (std::size_t i = 0; i < row.samples.size(); ++i)
      out += line(row.id, i, row.samples[i].duration, clock(row.samples[i].sm_clock),
                  ir::throttle_text(row.samples[i].throttle));
  return out;
}

std::string counter_lines(const RecordedRows& rows) {
  std::string out = "measurement_id,counter,value,unit\n";
  for (const MeasurementRow& row : rows.measurements)
    for (const CountRow& one : row.counts) out += line(row.id, one.counter, one.value, one.unit);
  return out;
}

std::string module_lines(const ExportSource& source) {
  std::map<Id, std::string> names;
  for (const GraphRow& row : source.recorded.rows().graphs) names[row.id] = row.name;
  std::string out =
      "module_time_id,run_id,device,gpu,driver,graph_id,model,strategy,cache,timed_by,launch_mode,stop_rule,outcome,"
      "reason,groups_timed,groups_left_out,launches,buffers_bytes,samples,median_s,low_s,high_s,measured_at\n";
  for (const ModuleTimeRow& row : source.recorded.rows().module_times) {
    std::int64_t left_out = 0;
    for (const LeftOutRow& one : row.left_out) left_out += one.places;
    out += line(row.id, row.run, source.device.name, row.gpu, row.driver, row.graph, names[row.graph], row.strategy,
                name(row.protocol.cache), name(row.protocol.timed_by), name(row.protocol.launch), row.protocol.stop,
                row.outcome, row.reason, row.groups_timed, left_out, row.launches, row.buffers, row.samples.size(),
                row.median, row.low, row.high, row.measured_at);
  }
  return out;
}

std::string module_sample_lines(const RecordedRows& rows) {
  std::string out = "module_time_id,round,place,duration_s,sm_clock_hz,throttle\n";
  for (const ModuleTimeRow& row : rows.module_times)
    for (const ModuleSampleRow& one : row.samples)
      out += line(row.id, one.round, one.place, one.sample.duration, clock(one.sample.sm_clock),
                  ir::throttle_text(one.sample.throttle));
  return out;
}

}  // namespace

std::vector<ExportFile> csv_files(const ExportSource& source) {
  const RecordedRows& rows = source.recorded.rows();
  const std::string& device = source.device.name;
  return {{device + "-measurements.csv", measurement_lines(source)},
          {device + "-samples.csv", sample_lines(rows)},
          {device + "-counters.csv", counter_lines(rows)},
          {device + "-module_times.csv", module_lines(source)},
          {device + "-module_samples.csv", module_sample_lines(rows)}};
}

}  // namespace tailor::store
