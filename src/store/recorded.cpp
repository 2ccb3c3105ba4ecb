// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorded measurements between databases and files. In: a store and a device, or a path. Out: the rows that belong
// together, a file, or rows saved. Called by `tailor db`, by exports, by replay and by whoever fits.
//
// What belongs together is gathered by following references from the measurements: their runs and binaries, the
// kernels of these, the plans that were lowered to those kernels or the modules they came from, the groups, graphs and
// devices. So a file holds nothing that no measurement needs. What a record's list (records.h) marks as local stays
// behind. Rows are sorted by id, so equal contents give equal files.
//
// Saving goes in the order of references, in one transaction: either all of a file is in the database or nothing. A
// row that is known already stays.
#include "store/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/compressed.h"
#include "base/error.h"
#include "base/text.h"
#include "store/observations.h"
#include "store/records.h"
#include "store/store.h"

namespace tailor::store {

namespace {

/// Ids that the gathered rows refer to.
struct Wanted {
  std::set<Id> devices, runs, graphs, groups, plans, kernels, binaries;
};

template <class Row>
void by_id(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
}

/// Without what stays in its database.
template <class Row>
Row travelling(Row row) {
  ForgetLocal forget;
  Record<Row>::walk(forget, row);
  return row;
}

/// Rows of binaries and kernels, and what kernels are made from or stand for.
void gather_kernels(const Store& store, Wanted& wanted, RecordedRows& rows) {
  for (const Id id : wanted.binaries) {
    rows.binaries.push_back(travelling(store.binary(id).value()));
    wanted.kernels.insert(rows.binaries.back().kernel);
  }
  for (const Id id : wanted.kernels) {
    rows.kernels.push_back(travelling(store.kernel(id).value()));
    for (const Id device : wanted.devices)
      for (const LoweringRow& lowering : store.lowerings_to(id, device)) {
        wanted.plans.insert(lowering.plan);
        rows.lowerings.push_back(lowering);
      }
    for (const GivenKernelRow& given : store.given_as(id)) {
      wanted.graphs.insert(given.graph);
      wanted.groups.insert(given.group);
      rows.given.push_back(given);
    }
  }
  for (const Id id : wanted.plans) {
    rows.plans.push_back(store.plan(id).value());
    wanted.groups.insert(rows.plans.back().group);
  }
  for (const Id id : wanted.groups) rows.groups.push_back(store.group(id).value());
}

}  // namespace

std::string chosen_device(const std::vector<std::string>& names, std::string_view wanted,
                          const std::filesystem::path& of) {
  const std::set<std::string> all(names.begin(), names.end());
  if (wanted.empty() && all.size() <= 1) return all.empty() ? std::string() : *all.begin();
  const Position place{of.string(), 0, 0};
  if (wanted.empty())
    throw Error(Fault::usage, place,
                fmt::format("found measurements of {} devices: {}; expected one, named with --device", all.size(),
                            fmt::join(all, ", ")),
                fmt::format("for example --device {}", *all.begin()));
  if (all.contains(std::string(wanted))) return std::string(wanted);
  if (all.empty()) throw Error(Fault::usage, place, "nothing was measured on any GPU, so not on this device either");
  throw Error(Fault::usage, place,
              fmt::format("found no measurements of '{}', only of {}", wanted, fmt::join(all, ", ")),
              "name one of these with --device");
}

RecordedRows recorded_rows(const Store& store, std::string_view device) {
  RecordedRows rows;
  Wanted wanted;
  for (const DeviceRow& row : store.devices()) {
    if (!device.empty() && row.name != device) continue;
    std::vector<MeasurementRow> timings = store.timings(row.id);
    std::vector<ModuleTimeRow> times = store.module_times_on(row.id);
    if (timings.empty() && times.empty()) continue;
    wanted.devices.insert(row.id);
    rows.devices.push_back(row);
    std::move(timings.begin(), timings.end(), std::back_inserter(rows.measurements));
    std::move(times.begin(), times.end(), std::back_inserter(rows.module_times));
  }
  for (const MeasurementRow& row : rows.measurements) {
    wanted.runs.insert(row.run);
    wanted.binaries.insert(row.binary);
  }
  for (const ModuleTimeRow& row : rows.module_times) {
    wanted.runs.insert(row.run);
    wanted.graphs.insert(row.graph);
  }
  gather_kernels(store, wanted, rows);
  for (RunRow& row : store.runs())
    if (wanted.runs.contains(row.id)) {
      rows.runs.push_back(travelling(std::move(row)));
      std::erase_if(rows.runs.back().devices,
                    [&](const RunDeviceRow& one) { return !wanted.devices.contains(one.device); });
    }
  for (GraphRow& row : store.graphs())
    if (wanted.graphs.contains(row.id)) rows.graphs.push_back(travelling(std::move(row)));
  rows.observations = store.observations(device);
  by_id(rows.devices);
  by_id(rows.runs);
  by_id(rows.graphs);
  by_id(rows.measurements);
  by_id(rows.module_times);
  return rows;
}

void write_recorded(const std::filesystem::path& path, const RecordedRows& rows, const std::stop_token& stop) {
  const std::string text = recorded_text(rows, stop);
  write_file(path, path.extension() == ".gz" ? packed(text, path, stop) : text);
}

RecordedRows read_recorded(const std::filesystem::path& path) {
  return parse_recorded(read_unpacked(path.string()), path.string());
}

void save_recorded(Store& store, const RecordedRows& rows) {
  Store::Transaction transaction(store);
  const std::vector<DeviceRow> known = store.devices();
  for (const DeviceRow& row : rows.devices)  // a file that a run here read says more than one from elsewhere
    if (std::none_of(known.begin(), known.end(), [&](const DeviceRow& one) { return one.id == row.id; }))
      store.save(row);
  for (const RunRow& row : rows.runs) store.save(row);
  for (const GraphRow& row : rows.graphs) store.save(row);
  for (const GroupRow& row : rows.groups) store.save(row);
  for (const PlanRow& row : rows.plans) store.save(row);
  for (const KernelRow& row : rows.kernels) store.save(row);
  for (const LoweringRow& row : rows.lowerings) store.save(row);
  for (const GivenKernelRow& row : rows.given) store.save(row);
  for (const BinaryRow& row : rows.binaries) store.save(row);
  for (const MeasurementRow& row : rows.measurements) store.save(row);
  for (const ModuleTimeRow& row : rows.module_times) store.save(row);
  for (const ObservationRow& row : rows.observations) {
    to_observation(row);  // refuses what no observation is
    store.save(row);
  }
  transaction.commit();
}

}  // namespace tailor::store
