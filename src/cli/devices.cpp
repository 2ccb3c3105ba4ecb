// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor devices: the GPUs that there is a file for, or every figure of one with its unit and source: the facts of its
// file, and beside them what a calibration has fitted or assumes. In: a name or none, and a calibration. Out: tables
// on stdout.
#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "ir/device_template.h"
#include "study/tables/catalogue.h"

namespace tailor::cli {

namespace {

/// A file with what GPUs of the architecture have alike, and a table of what is still to be found.
void write_device(const DevicesOptions& options, const Context& context) {
  if (options.from.empty())
    throw Error(Fault::usage, "devices new needs --from: a GPU of the same architecture", "tailor devices lists them");
  const ir::Device from = load_device(context, options.from);
  const std::string& name = options.words[1];
  const std::filesystem::path path = name.ends_with(".json") ? name : name + ".json";
  refuse_own_input(std::array{path.string()}, context.output);
  if (std::filesystem::exists(path))
    throw Error(Fault::usage, Position{path.string()}, "is there already, expected a new file");
  write_whole(context, path, ir::device_template(from, path.stem().string()));
  show(context, {"tailor.devices_new/1", from.name, {{"missing", study::open_figure_table(from)}}, ""});
  context.console->note(fmt::format("fill them in, each with its source; tailor devices {} says what is still missing",
                                    shell_word(path.parent_path().empty() ? "./" + path.string() : path.string())));
}

}  // namespace

void run_devices(const DevicesOptions& options, const Context& context) {
  CommandOutput answer{"tailor.devices/1", "", {}, ""};
  if (options.words.size() > 2 || (options.words.size() == 2 && options.words.front() != "new"))
    throw Error(Fault::usage, fmt::format("found {} names, expected one, or new and a name", options.words.size()),
                "tailor devices new NAME --from GPU writes a file");
  if (options.words.size() == 1 && options.words.front() == "new")
    throw Error(Fault::usage, "found new and no name, expected new and a name",
                "tailor devices new NAME --from GPU writes a file");
  if (options.words.size() == 2) return write_device(options, context);
  if (!options.from.empty())
    throw Error(Fault::usage, "found --from without new, expected both or neither",
                "tailor devices new NAME --from GPU writes a file");
  if (options.words.empty()) {
    answer.sections.push_back({"devices", study::device_table(context.data)});
    if (answer.sections.front().table.rows.empty())
      throw Error(Fault::missing, fmt::format("no device files in {}", (context.data / "devices").string()),
                  "--data names a folder with devices/");
  } else {
    const ir::Device device = load_device(context, options.words.front());
    answer.device = device.name;
    answer.sections.push_back({"figures", study::figure_table(device)});
    answer.sections.push_back(
        {"calibration", study::fitted_figure_table(device, load_calibration(context, options.calibration))});
  }
  show(context, answer);
}

}  // namespace tailor::cli
