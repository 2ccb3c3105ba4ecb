// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Asking recorded measurements. In: a kernel, or a model and a strategy, and a protocol. Out: the measurement that
// fits best, or a sentence on what there is instead. Called by the profiler `replay`.
//
// A time under another cache state, timer or launch mode is another quantity, so it never answers; a time under
// another stop rule is the same quantity, known better or worse, so it may. Of several that fit, one that refutes the
// kernel speaks before all others, because a wrong kernel has no time; then the one with the stop rule that was asked
// for; then the latest. When nothing fits, the reason names what was recorded of the kernel, the nearest protocol
// first: what the caches hold matters most for that, then the launch mode, then the timer.
//
// Records of several GPUs may lie in one file. A question is about one device, and rows of others are dropped when the
// file is opened.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <tuple>

#include "base/counted.h"
#include "base/error.h"
#include "base/text.h"
#include "store/recorded.h"
#include "store/schema.h"
#include "store/store.h"

namespace tailor::store {

namespace {

/// Times under protocols that differ in more than the stop rule are different quantities.
bool same_question(const ir::Protocol& a, const ir::Protocol& b) {
  return a.cache == b.cache && a.timed_by == b.timed_by && a.launch == b.launch;
}

/// How far a protocol is from the one asked for: what the caches hold matters most, the stop rule least.
int distance(const ir::Protocol& a, const ir::Protocol& b) {
  return 8 * (a.cache != b.cache) + 4 * (a.launch != b.launch) + 2 * (a.timed_by != b.timed_by) + (a.stop != b.stop);
}

bool is_refuting(const MeasurementRow& row) {
  const std::optional<ir::Outcome> outcome = ir::outcome_named(row.outcome);
  return outcome && is_refuted(*outcome);
}

/// Keeps what belongs to the devices of one name.
void keep_device(RecordedRows& rows, std::string_view name) {
  std::erase_if(rows.devices, [&](const DeviceRow& row) { return row.name != name; });
  const auto stranger = [&](const auto& row) {
    return std::none_of(rows.devices.begin(), rows.devices.end(),
                        [&](const DeviceRow& device) { return device.id == row.device; });
  };
  std::erase_if(rows.lowerings, stranger);
  std::erase_if(rows.measurements, stranger);
  std::erase_if(rows.module_times, stranger);
  std::erase_if(rows.observations, [&](const ObservationRow& row) { return row.device != name; });
}

}  // namespace

Recorded Recorded::open(const std::filesystem::path& path, std::string_view device) {
  return doing("opening recorded measurements", [&] {
    if (!std::filesystem::exists(path))
      throw Error(Fault::missing, Position{path.string(), 0, 0}, "there is no such file",
                  "give a database, or a file that 'tailor db export --recorded' wrote");
    RecordedRows rows = is_database(path) ? recorded_rows(Store::open_read_only(path)) : read_recorded(path);
    std::vector<std::string> names;
    for (const DeviceRow& row : rows.devices) names.push_back(row.name);
    const std::string chosen = chosen_device(names, device, path);
    keep_device(rows, chosen);
    return Recorded(std::move(rows));
  });
}

Recorded::Recorded(RecordedRows rows) : rows_(std::move(rows)) {
  std::map<Id, Id> kernels;
  for (const BinaryRow& row : rows_.binaries) kernels[row.id] = row.kernel;
  for (std::size_t i = 0; i < rows_.measurements.size(); ++i) {
    const auto kernel = kernels.find(rows_.measurements[i].binary);
    if (kernel == kernels.end())
      throw Error(Fault::failed, fmt::format("measurement {} is of binary {}, which is not recorded",
                                             hex(rows_.measurements[i].id), hex(rows_.measurements[i].binary)));
    by_kernel_[kernel->second].push_back(i);
  }
}

const MeasurementRow* Recorded::row(Id kernel, const ir::Protocol& protocol) const {
  const auto places = by_kernel_.find(kernel);
  if (places == by_kernel_.end()) return nullptr;
  const auto rank = [&](const MeasurementRow& row) {
    return std::make_tuple(is_refuting(row), row.timing->stop == protocol.stop, std::string_view(row.measured_at),
                           row.samples.size(), row.id);
  };
  const MeasurementRow* best = nullptr;
  for (const std::size_t place : places->second) {
    const MeasurementRow& row = rows_.measurements[place];
    if (!row.timing || !same_question(*row.timing, protocol)) continue;
    if (best == nullptr || rank(row) > rank(*best)) best = &row;
  }
  return best;
}

std::optional<ir::Measurement> Recorded::measurement(Id kernel, const ir::Protocol& protocol) const {
  const MeasurementRow* found = row(kernel, protocol);
  return found == nullptr ? std::nullopt : std::optional(to_measurement(*found));
}

std::string Recorded::why_missing(Id kernel, const ir::Protocol& protocol) const {
  const auto places = by_kernel_.find(kernel);
  if (places == by_kernel_.end())
    return fmt::format("kernel {} was not measured, {} were", short_hex(kernel),
                       counted(by_kernel_.size(), "other kernel"));
  std::vector<std::pair<int, std::string>> others;
  for (const std::size_t place : places->second)
    if (const std::optional<ir::Protocol>& timing = rows_.measurements[place].timing)
      others.emplace_back(distance(*timing, protocol), ir::text(*timing));
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  std::vector<std::string> words;
  for (const auto& [far, text] : others)
    if (words.size() < 3) words.push_back(text);
  return fmt::format("kernel {} was not measured as '{}'; recorded: {}", short_hex(kernel), ir::text(protocol),
                     fmt::join(words, "; "));
}

std::vector<Id> Recorded::measured_kernels() const {
  std::vector<Id> kernels;
  for (const auto& [kernel, places] : by_kernel_) kernels.push_back(kernel);
  return kernels;
}

ir::Measurement Recorded::replayed(Id kernel, const ir::Protocol& protocol) const {
  if (std::optional<ir::Measurement> found = measurement(kernel, protocol)) return *std::move(found);
  ir::Measurement none;
  none.outcome = ir::Outcome::not_recorded;
  none.reason = why_missing(kernel, protocol);
  none.protocol = protocol;
  return none;
}

const ModuleTimeRow* Recorded::module_time(Id graph, std::string_view strategy, const ir::Protocol& protocol) const {
  const auto rank = [&](const ModuleTimeRow& row) {
    return std::make_tuple(row.protocol.stop == protocol.stop, std::string_view(row.measured_at), row.id);
  };
  const ModuleTimeRow* best = nullptr;
  for (const ModuleTimeRow& row : rows_.module_times)
    if (row.graph == graph && row.strategy == strategy && same_question(row.protocol, protocol))
      if (best == nullptr || rank(row) > rank(*best)) best = &row;
  return best;
}

}  // namespace tailor::store
