// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From rows to observations: the way from a measurement over its binary and kernel to the plan or the group it came
// from; and observations as rows of their own, whether they were made here or read from text. In: the rows of a
// recorded file, or lines. Out: observations in the order of the measurements. Called by whoever fits or validates, and
// by `tailor db`.
#include "store/observations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/compressed.h"
#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "store/store.h"

namespace tailor::store {

namespace {

/// Rows by id, and who made each kernel.
struct Index {
  explicit Index(const RecordedRows& rows) {
    for (const DeviceRow& row : rows.devices) devices[row.id] = &row;
    for (const BinaryRow& row : rows.binaries) binaries[row.id] = &row;
    for (const KernelRow& row : rows.kernels) kernels[row.id] = &row;
    for (const GroupRow& row : rows.groups) groups[row.id] = &row;
    for (const PlanRow& row : rows.plans) plans[row.id] = &row;
    for (const LoweringRow& row : rows.lowerings) {
      const auto [at, fresh] = plan_of.try_emplace({row.kernel, row.device}, row.plan);
      if (!fresh) at->second = std::min(at->second, row.plan);
    }
    for (const GivenKernelRow& row : rows.given) {
      const auto [at, fresh] = given.try_emplace(row.kernel, &row);
      if (!fresh && row.graph < at->second->graph) at->second = &row;
    }
  }

  std::map<Id, const DeviceRow*> devices;
  std::map<Id, const BinaryRow*> binaries;
  std::map<Id, const KernelRow*> kernels;
  std::map<Id, const GroupRow*> groups;
  std::map<Id, const PlanRow*> plans;
  std::map<std::pair<Id, Id>, Id> plan_of;  ///< by kernel and device
  std::map<Id, const GivenKernelRow*> given;
};

template <class Row>
const Row& found(const std::map<Id, const Row*>& among, Id id, std::string_view what, const MeasurementRow& of) {
  const auto at = among.find(id);
  if (at == among.end())
    throw Error(Fault::failed,
                fmt::format("measurement {} is of {} {}, which is not there", hex(of.id), what, hex(id)));
  return *at->second;
}

double counted(const MeasurementRow& row, std::string_view counter) {
  for (const ir::CounterValue& count : row.counts)
    if (count.name == counter) return count.value;
  return 0;
}

std::string kernel_name(const Index& index, const MeasurementRow& row) {
  const Id kernel = found(index.binaries, row.binary, "binary", row).kernel;
  return found(index.kernels, kernel, "kernel", row).name;
}

ir::Subject make_subject(const Index& index, const MeasurementRow& row) {
  const BinaryRow& binary = found(index.binaries, row.binary, "binary", row);
  if (const auto own = index.plan_of.find({binary.kernel, row.device}); own != index.plan_of.end())
    return ir::OwnKernel{found(index.plans, own->second, "plan", row).group, own->second, binary.registers};
  const KernelRow& kernel = found(index.kernels, binary.kernel, "kernel", row);
  ir::ForeignKernel foreign;
  foreign.operation = kernel.name;
  foreign.shape = fmt::format("{} blocks of {}", kernel.blocks, kernel.threads);
  foreign.blocks = kernel.blocks;
  foreign.threads = kernel.threads;
  foreign.shared = kernel.shared;
  foreign.registers = binary.registers;
  foreign.read = counted(row, "dram_read_bytes");
  foreign.written = counted(row, "dram_write_bytes");
  const auto given = index.given.find(binary.kernel);
  if (given == index.given.end()) return foreign;
  // The group is operation and shape in one: kernels that anybody made for it stand on one side of the split.
  foreign.operation = hex(given->second->group);
  foreign.shape = "";
  if (const auto group = index.groups.find(given->second->group); group != index.groups.end()) {
    foreign.read = group->second->read.value;
    foreign.written = group->second->written.value;
  }
  return foreign;
}

}  // namespace

std::vector<ir::Observation> make_observations(const RecordedRows& rows) {
  const Index index(rows);
  std::vector<ir::Observation> all;
  for (const MeasurementRow& row : rows.measurements) {
    const bool timed = row.outcome == ir::name(ir::Outcome::ok) && row.timing && row.median && row.median->value > 0;
    if (!timed) continue;
    const Seconds low = std::min(row.low.value_or(*row.median), *row.median);
    const Seconds high = std::max(row.high.value_or(*row.median), *row.median);
    all.push_back(ir::make_observation(
        found(index.devices, row.device, "device", row).name, ir::make_regime(*row.timing), *row.median, low, high,
        fmt::format("measurement {} of {}", hex(row.id), kernel_name(index, row)), make_subject(index, row)));
  }
  std::sort(all.begin(), all.end(), [](const ir::Observation& a, const ir::Observation& b) { return a.id < b.id; });
  return all;
}

ObservationRow observation_row(const ir::Observation& observation) {
  ObservationRow row;
  row.id = observation.id;
  row.split = name(observation.split);
  row.device = observation.device;
  row.regime = text(observation.regime);
  row.time = observation.time;
  row.low = observation.low;
  row.high = observation.high;
  row.source = observation.source;
  if (const auto* own = std::get_if<ir::OwnKernel>(&observation.subject)) {
    row.group = own->group;
    row.plan = own->plan;
    row.registers = own->registers;
    return row;
  }
  const auto& foreign = std::get<ir::ForeignKernel>(observation.subject);
  row.operation = foreign.operation;
  row.shape = foreign.shape;
  row.blocks = foreign.blocks;
  row.threads = foreign.threads;
  row.shared = foreign.shared;
  row.registers = foreign.registers;
  row.read = foreign.read;
  row.written = foreign.written;
  row.variant = foreign.variant;
  row.reread = foreign.reread;
  row.far_trips = foreign.far_trips;
  row.near_trips = foreign.near_trips;
  row.shuffles = foreign.shuffles;
  row.barriers = foreign.barriers;
  row.instructions = foreign.instructions;
  row.transcendental = foreign.transcendental;
  return row;
}

ir::Observation to_observation(const ObservationRow& row) {
  ir::Subject subject =
      ir::ForeignKernel{row.operation, row.shape,    row.blocks,       row.threads,       row.shared,    row.registers,
                        row.read,      row.written,  row.variant,      row.reread,        row.far_trips, row.near_trips,
                        row.shuffles,  row.barriers, row.instructions, row.transcendental};
  if (row.plan && row.group) subject = ir::OwnKernel{*row.group, *row.plan, static_cast<int>(row.registers)};
  ir::Observation made = ir::make_observation(row.device, ir::parse_regime(row.regime), row.time, row.low, row.high,
                                              row.source, std::move(subject));
  const std::optional<ir::Split> split = ir::split_named(row.split);
  if (made.id != row.id || !split)
    throw Error(
        Fault::failed,
        fmt::format("observation {}: found columns that make {}, split '{}'", hex(row.id), hex(made.id), row.split),
        "was the database changed by hand?");
  made.split = *split;
  return made;
}

std::int64_t add_observations(Store& store) {
  std::set<Id> known;
  for (const ObservationRow& row : store.observations()) known.insert(row.id);
  std::int64_t fresh = 0;
  Store::Transaction transaction(store);
  for (const ir::Observation& one : make_observations(recorded_rows(store))) {
    if (!known.insert(one.id).second) continue;
    store.save(observation_row(one));
    ++fresh;
  }
  transaction.commit();
  return fresh;
}

namespace {

/// What stands on a line; nothing for one that is left out.
std::string_view said_on(std::string_view line) {
  line = trim(line);
  return line.starts_with('#') ? std::string_view{} : line;
}

}  // namespace

std::vector<ObservationRow> parse_observations(std::string_view text, const std::string& file,
                                               const std::stop_token& stop) {
  std::vector<ObservationRow> rows;
  std::map<Id, std::int64_t> lines;
  std::int64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    stop_if_asked(stop);
    if (said_on(line).empty()) continue;
    with_position(
        [&] {
          return Position{file, number, 0};
        },
        [&] {
          rows.push_back(observation_row(ir::parse_observation(said_on(line))));
          const auto [first, fresh] = lines.try_emplace(rows.back().id, number);
          if (!fresh)
            throw Error(Fault::failed, fmt::format("observation: found what line {} says already", first->second),
                        "repeats of a measurement differ in their source: say which row each is");
        });
  }
  std::sort(rows.begin(), rows.end(), [](const ObservationRow& a, const ObservationRow& b) { return a.id < b.id; });
  return rows;
}

bool holds_observations(std::string_view text) {
  for (const std::string_view line : split(text, '\n'))
    if (const std::string_view said = said_on(line); !said.empty()) return said.starts_with("observation");
  return false;
}

RecordedRows read_recorded_or_observations(const std::filesystem::path& path, const std::stop_token& stop) {
  const std::string text = read_unpacked(path.string());
  if (!holds_observations(text)) return parse_recorded(text, path.string(), stop);
  RecordedRows rows;
  rows.observations = parse_observations(text, path.string(), stop);
  return rows;
}

}  // namespace tailor::store
