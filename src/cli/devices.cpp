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
#include "study/tables/catalogue.h"

namespace tailor::cli {

void run_devices(const DevicesOptions& options, const Context& context) {
  CommandOutput answer{"tailor.devices/1", "", {}, ""};
  if (options.name.empty()) {
    answer.sections.push_back({"devices", study::device_table(context.data)});
    if (answer.sections.front().table.rows.empty())
      throw Error(Fault::missing, fmt::format("no device files in {}", (context.data / "devices").string()),
                  "--data names a folder with devices/");
  } else {
    const ir::Device device = load_device(context, options.name);
    answer.device = device.name;
    answer.sections.push_back({"figures", study::figure_table(device)});
    answer.sections.push_back(
        {"calibration", study::fitted_figure_table(device, load_calibration(context, options.calibration))});
  }
  show(context, answer);
}

}  // namespace tailor::cli
