// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Tailor's own tables as answers: operations, strategies, models, rules, passes and what else multiplies, and the
// devices that there is a file for. In: the data folder. Out: tables. Called by tailor list and tailor devices. A new
// table to list is one row of catalogue.cpp.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "ir/calibration.h"
#include "report/table.h"

namespace tailor::study {

/// A table of the code that can be shown.
struct CatalogueRow {
  std::string_view name;
  /// Gives the table its columns and rows. Throws Error for a file in `data` that cannot be read.
  void (*fill)(const std::filesystem::path& data, report::Table& table);
};
std::span<const CatalogueRow> catalogue();

/// A row for each device file of `data`, with the figures one asks for first.
report::Table device_table(const std::filesystem::path& data);
/// Every figure of a device's file, with unit and source.
report::Table figure_table(const ir::Device& device);
/// The figures that a file made from this device lacks (ir/device_template.h), with this device's.
report::Table open_figure_table(const ir::Device& from);
/// What a calibration puts beside those figures or in their place.
report::Table fitted_figure_table(const ir::Device& device, const ir::Calibration& calibration);

}  // namespace tailor::study
