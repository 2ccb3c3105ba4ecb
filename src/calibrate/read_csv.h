// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Measurements in CSV as observations: Tailor's own columns, and the tables that others have published. In: the text of
// a file, and the devices that names in it may mean. Out: observations with their side of the split. Which kind of
// table a file is, its columns say (table of formats in read_csv.cpp; docs/calibration.md has them with their units).
#pragma once

#include <filesystem>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ir/device.h"
#include "ir/observation.h"

namespace tailor::calibrate {

/// The GPU that a published table calls `name`: the device whose file says it is reported so, or that is called so
/// itself; `name` where none is.
std::string device_called(std::span<const ir::Device> devices, std::string_view name);

struct CsvFormat {
  std::string_view name, columns, what;
};
std::span<const CsvFormat> csv_formats();

/// Whether the first line of `text` that says something is a line of column names, not an observation or a record.
bool is_csv(std::string_view text);

/// In the order of the file. A row that another says word for word is a repeat and has its line in its source; `facts`
/// is the text of the JSON file beside a brute-forced tuning space, "" where there is none. Throws Error(failed) naming
/// file, line and column: a number without its unit, a time that is not above 0, an unknown operation or regime,
/// columns of no known format, two rows with the same source.
std::vector<ir::Observation> parse_measurements(std::string_view text, const std::string& file, std::string_view facts,
                                                std::span<const ir::Device> devices, const std::stop_token& stop = {});
/// The same from a file, packed or not.
std::vector<ir::Observation> read_measurements(const std::filesystem::path& path, std::span<const ir::Device> devices,
                                               const std::stop_token& stop = {});

}  // namespace tailor::calibrate
