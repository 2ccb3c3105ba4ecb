// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Exports: measured plans in the files of other tools, for their statistics, dashboards and search strategies. What a
// format has no word for (cache states, wrong results, tie sets) is kept in keys of our own, never bent: a file holds
// times of one protocol, others stand in files beside it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tailor::store {

class Store;

struct ExportFile {
  std::string path;  ///< relative, with '/'
  std::string text;
};

/// kernel-tuner: a Kernel Tuner cache file per group. t4: results and metadata of the autotuning community's T4 schema.
/// nvbench: one NVBench JSON file. csv: tables of measurements, samples, counters and times of models, in seconds.
struct ExportFormat {
  std::string_view name, what;
  std::vector<ExportFile> (*files)(const struct ExportSource& source);
};
std::span<const ExportFormat> export_formats();
/// Throws Error(usage) naming the nearest.
const ExportFormat& find_export_format(std::string_view name);

/// Everything measured of the device called `device`; `group` is the beginning of an id, empty for all groups. Equal
/// contents, equal files. Throws Error(usage) when `group` means none or several.
std::vector<ExportFile> exported(const Store& store, const ExportFormat& format, std::string_view device,
                                 std::string_view group);

}  // namespace tailor::store
