// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor devices: the GPUs that there is a file for, or every figure of one with its unit and source: the facts of its
// file, and beside them what a calibration has fitted or assumes. In: a name or none, and a calibration. Out: tables
// on stdout.
#include <fmt/format.h>

#include "base/error.h"
#include "cli/inputs.h"
#include "cli/output.h"

namespace tailor::cli {

namespace {

using report::Hint;
using report::Table;

Table all_devices(const Context& context) {
  Table table;
  table.title = "devices";
  table.columns = {column("device", "name"),
                   column("device_title", "GPU", Hint::text, 1),
                   column("arch", "arch"),
                   column("sms", "SMs", Hint::integer),
                   column("dram_bandwidth", "DRAM", Hint::rate),
                   column("dram_capacity", "capacity", Hint::bytes, 2),
                   column("l2", "L2", Hint::bytes, 3),
                   column("shared_per_sm", "shared per SM", Hint::bytes, 4),
                   column("f32_peak_per_s", "f32 per s", Hint::flops, 5)};
  for (const std::string& name : ir::device_names((context.data / "devices").string())) {
    const ir::Device d = load_device(context, name);
    table.rows.push_back({d.name, d.title, d.arch, static_cast<std::int64_t>(d.sms.value), d.dram_bandwidth.value,
                          d.dram_bytes.value, d.l2_bytes.value, d.shared_per_sm.value, d.f32_peak.value});
  }
  return table;
}

Table one_device(const ir::Device& device) {
  Table table;
  table.title = fmt::format("{} ({}, {})", device.title, device.name, device.arch);
  table.columns = {column("figure", "figure"), column("value", "value", Hint::number), column("unit", "unit"),
                   column("source", "source")};
  for (const ir::FigureRow& row : ir::figure_table) {
    const ir::Figure& figure = device.*row.member;
    table.rows.push_back({std::string(row.key), figure.value, figure.unit, figure.source});
  }
  return table;
}

/// What a calibration puts beside those figures or in their place.
Table fitted_figures(const ir::Device& device, const ir::Calibration& calibration) {
  Table table;
  table.title = fmt::format("how it behaves, as calibration '{}' has it", calibration.name);
  table.columns = {column("figure", "figure"), column("value", "value", Hint::number), column("unit", "unit"),
                   column("source", "source")};
  for (const ir::FigureName& row : ir::figure_names())
    if (const ir::Fit* fit = ir::find_fit(calibration, device.name, row.key))
      table.rows.push_back({fit->figure, fit->value, fit->unit, fit->source});
  return table;
}

}  // namespace

void run_devices(const DevicesOptions& options, const Context& context) {
  CommandOutput answer{"tailor.devices/1", "", {}, ""};
  if (options.name.empty()) {
    answer.sections.push_back({"devices", all_devices(context)});
    if (answer.sections.front().table.rows.empty())
      throw Error(Fault::missing, fmt::format("no device files in {}", (context.data / "devices").string()),
                  "--data names a folder with devices/");
  } else {
    const ir::Device device = load_device(context, options.name);
    answer.device = device.name;
    answer.sections.push_back({"figures", one_device(device)});
    answer.sections.push_back({"calibration", fitted_figures(device, load_calibration(context, options.calibration))});
  }
  show(context, answer);
}

}  // namespace tailor::cli
