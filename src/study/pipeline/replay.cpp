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
#include <vector>

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

profiler::Lookup recorded_lookup(const std::string& recorded, const std::filesystem::path& data,
                                 const ir::Device& device) {
  const auto records = recorded_files(recorded, data, device);
  return [records](Id kernel, const ir::Protocol& protocol) {
    for (const store::Recorded& one : *records)
      if (std::optional<ir::Measurement> found = one.measurement(kernel, protocol)) return std::move(*found);
    return records->front().replayed(kernel, protocol);
  };
}

}  // namespace tailor::study
