// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From rows to observations: the way from a measurement over its binary and kernel to the plan or the group it came
// from. In: the rows of a recorded file. Out: observations in the order of the measurements. Called by whoever fits or
// validates.
#include "store/observations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.h"

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

}  // namespace tailor::store
