// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening records, and asking them one after the other. In: a file, a database or a folder of recorded files, and a
// device. Out: the first record that answers; a folder's files are asked in the order of their names. Called by the
// profiler `replay` of profile, explain, microbench and sweep.
#include "study/pipeline/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <vector>

#include "base/counted.h"
#include "base/error.h"
#include "store/recorded.h"

namespace tailor::study {

namespace {

namespace fs = std::filesystem;

/// In a folder, beside other files, recordings are packed.
bool is_recorded_file(const fs::path& path) { return path.filename().string().ends_with(".jsonl.gz"); }

std::vector<fs::path> find_recorded_files(const fs::path& place) {
  if (!fs::is_directory(place)) return {place};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(place))
    if (is_recorded_file(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

bool measured_device(const store::Recorded& records, const std::string& name) {
  const std::vector<store::DeviceRow>& devices = records.rows().devices;
  return std::any_of(devices.begin(), devices.end(), [&](const store::DeviceRow& row) { return row.name == name; });
}

/// The kernel of this name that was measured; null where none was.
const store::KernelRow* measured_as(const std::vector<store::Recorded>& records, std::string_view name,
                                    const std::set<Id>& measured) {
  for (const store::Recorded& one : records)
    for (const store::KernelRow& kernel : one.rows().kernels)
      if (kernel.name == name && measured.contains(kernel.id)) return &kernel;
  return nullptr;
}

}  // namespace

std::shared_ptr<const std::vector<store::Recorded>> recorded_files(const std::string& recorded,
                                                                   const std::filesystem::path& data,
                                                                   const ir::Device& device) {
  const fs::path place = recorded.empty() ? data / "recorded" : fs::path(recorded);
  const auto records = std::make_shared<std::vector<store::Recorded>>();
  for (const fs::path& file : find_recorded_files(place)) {
    // In a folder each file may be of another GPU.
    store::Recorded one = recorded.empty() || fs::is_directory(place) ? store::Recorded::open(file)
                                                                      : store::Recorded::open(file, device.name);
    if (measured_device(one, device.name)) records->push_back(std::move(one));
  }
  if (records->empty())
    throw Error(Fault::missing, fmt::format("no measurements of {} in {}", device.name, place.string()),
                "--recorded names a file or a database; measuring needs a GPU (tailor doctor)");
  return records;
}

ir::Measurement ask(const std::vector<store::Recorded>& records, Id kernel, const ir::Protocol& protocol,
                    std::string_view named) {
  std::set<Id> others;
  const store::Recorded* knows = nullptr;
  for (const store::Recorded& one : records) {
    if (std::optional<ir::Measurement> found = one.measurement(kernel, protocol)) return std::move(*found);
    const std::vector<Id> kernels = one.measured_kernels();
    if (knows == nullptr && std::binary_search(kernels.begin(), kernels.end(), kernel)) knows = &one;
    others.insert(kernels.begin(), kernels.end());
  }
  if (knows != nullptr) return knows->replayed(kernel, protocol);
  ir::Measurement none;
  none.outcome = ir::Outcome::not_recorded;
  none.protocol = protocol;
  none.reason = fmt::format("kernel {} was not measured, ", short_hex(kernel));
  const store::KernelRow* older = named.empty() ? nullptr : measured_as(records, named, others);
  none.reason += older == nullptr
                     ? fmt::format("{} were", counted(others.size(), "other kernel"))
                     : fmt::format("an older one of this name was ({}): its program has changed", short_hex(older->id));
  return none;
}

profiler::Lookup recorded_lookup(const std::string& recorded, const std::filesystem::path& data,
                                 const ir::Device& device) {
  const auto records = recorded_files(recorded, data, device);
  return [records](Id kernel, const ir::Protocol& protocol) { return ask(*records, kernel, protocol); };
}

}  // namespace tailor::study
