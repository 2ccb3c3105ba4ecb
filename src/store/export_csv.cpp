// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables for spreadsheets and data frames: takes what was measured and gives every measurement, whatever its protocol
// and outcome. Heads and cells are the columns of records.h, units in their names; a table of measurements or models
// has some columns of the tables it refers to behind its own. An empty cell is a value that is not known.
#include <fmt/format.h>

#include <map>

#include "store/export_source.h"
#include "store/records.h"

namespace tailor::store {

namespace {

/// A cell as it stands in the file; quoted only where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}
std::string cell(Id id) { return hex(id); }
std::string cell(double value) { return fmt::format("{}", value); }
std::string cell(std::int64_t value) { return fmt::format("{}", value); }
std::string cell(int value) { return fmt::format("{}", value); }
std::string cell(std::size_t value) { return fmt::format("{}", value); }
template <class Dimension>
std::string cell(Quantity<Dimension> value) {
  return cell(value.value);
}
template <class Number>
std::string cell(ZeroIsNull<Number> value) {
  return value.value > 0 ? cell(value.value) : std::string();
}
template <class Bits>
std::string cell(ThrottleBits<Bits> value) {
  return ir::throttle_text(value.bits);
}
template <class Value>
std::string cell(const std::optional<Value>& value) {
  return value ? cell(*value) : std::string();
}

/// A table as it grows: each line names its cells again, and the first names are the heads.
class Lines {
 public:
  static constexpr bool reads = false;
  template <class Value>
  void operator()(const char* head, const Value& value, unsigned = 0) {
    if (first_) heads_ += (heads_.empty() ? "" : ",") + std::string(head);
    line_ += (line_.empty() ? "" : ",") + cell(value);
  }
  template <class Rows>
  void list(const Rows&) {}
  void end_line() {
    if (!first_) text_ += line_ + "\n";
    first_ = false;
    line_.clear();
  }
  std::string text() const { return heads_ + "\n" + text_; }

 private:
  std::string heads_, text_, line_;
  bool first_ = true;  ///< the first line is of empty rows and gives the heads alone
};

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

/// A measurement beside what it was of. The columns of records.h come first, then those of other tables.
void measurement_line(Lines& field, const MeasurementRow& row, const BinaryRow& binary, const KernelRow& kernel,
                      const RankedMeasurement& one, const std::string& device) {
  Record<MeasurementRow>::walk(field, row);
  field("samples", row.samples.size());
  field("device", device);
  field("group_id", one.group ? std::optional(one.group->id) : std::nullopt);
  field("group", one.group ? one.group->title : std::string());
  field("group_bytes", one.group ? cell(one.group->read + one.group->written) : std::string());
  field("plan_id", one.plan ? std::optional(one.plan->id) : std::nullopt);
  field("plan", one.plan ? one.plan->text : std::string());
  field("origin", one.origin);
  field("kernel_id", kernel.id);
  field("kernel", kernel.name);
  field("threads", kernel.threads);
  field("blocks", kernel.blocks);
  field("shared_bytes", kernel.shared);
  field("registers", binary.registers);
  field("spill_store_bytes", binary.spill_stores);
  field("compile_s", binary.compile_time);
  field.end_line();
}

std::string measurement_lines(const ExportSource& source) {
  const RecordedRows& rows = source.recorded.rows();
  std::map<Id, const KernelRow*> kernels;
  std::map<Id, const BinaryRow*> binaries;
  for (const KernelRow& row : rows.kernels) kernels[row.id] = &row;
  for (const BinaryRow& row : rows.binaries) binaries[row.id] = &row;
  const std::map<Id, std::vector<RankedMeasurement>> standings = standings_of(rows);
  Lines lines;
  measurement_line(lines, {}, {}, {}, {}, "");
  for (const MeasurementRow& row : rows.measurements) {
    const BinaryRow& binary = *binaries.at(row.binary);
    const KernelRow& kernel = *kernels.at(binary.kernel);
    for (const RankedMeasurement& one : standings.at(kernel.id))
      measurement_line(lines, row, binary, kernel, one, source.device.name);
  }
  return lines.text();
}

void module_line(Lines& field, const ModuleTimeRow& row, const std::string& device, const std::string& model) {
  std::int64_t left_out = 0;
  for (const LeftOutRow& one : row.left_out) left_out += one.places;
  Record<ModuleTimeRow>::walk(field, row);
  field("samples", row.samples.size());
  field("device", device);
  field("model", model);
  field("groups_left_out", left_out);
  field.end_line();
}

std::string module_lines(const ExportSource& source) {
  std::map<Id, std::string> names;
  for (const GraphRow& row : source.recorded.rows().graphs) names[row.id] = row.name;
  Lines lines;
  module_line(lines, {}, "", "");
  for (const ModuleTimeRow& row : source.recorded.rows().module_times)
    module_line(lines, row, source.device.name, names[row.graph]);
  return lines.text();
}

/// The rows of a list inside a record, each after the key of the record; `number` where they have none of their own.
template <class Owner, class Row>
void list_line(Lines& field, const Owner& owner, std::size_t number, const Row& row) {
  OnlyMarked<Lines, mark::key> keys{field};
  Record<Owner>::walk(keys, owner);
  constexpr Table table = Record<Row>::table;
  if (!table.number.empty()) field(table.number.data(), number);
  Record<Row>::walk(field, row);
  field.end_line();
}

template <class Owner, class Row>
std::string list_lines(const std::vector<Owner>& owners, std::vector<Row> Owner::*list) {
  Lines lines;
  list_line(lines, Owner{}, 0, Row{});
  for (const Owner& owner : owners)
    for (std::size_t i = 0; i < (owner.*list).size(); ++i) list_line(lines, owner, i, (owner.*list)[i]);
  return lines.text();
}

std::string observation_lines(const std::vector<ObservationRow>& rows) {
  Lines lines;
  const ObservationRow none;
  Record<ObservationRow>::walk(lines, none);
  lines.end_line();
  for (const ObservationRow& row : rows) {
    Record<ObservationRow>::walk(lines, row);
    lines.end_line();
  }
  return lines.text();
}

}  // namespace

std::vector<ExportFile> csv_files(const ExportSource& source) {
  const RecordedRows& rows = source.recorded.rows();
  const std::string& device = source.device.name;
  std::vector<ExportFile> files = {
      {device + "-measurements.csv", measurement_lines(source)},
      {device + "-samples.csv", list_lines(rows.measurements, &MeasurementRow::samples)},
      {device + "-counters.csv", list_lines(rows.measurements, &MeasurementRow::counts)},
      {device + "-twins.csv", list_lines(rows.measurements, &MeasurementRow::twins)},
      {device + "-module_times.csv", module_lines(source)},
      {device + "-module_samples.csv", list_lines(rows.module_times, &ModuleTimeRow::samples)}};
  if (!rows.observations.empty()) files.push_back({device + "-observations.csv", observation_lines(rows.observations)});
  return files;
}

}  // namespace tailor::store
