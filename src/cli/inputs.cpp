// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the data folder is, and what a context's commands read from it. In: names as they were typed on the command
// line. Out: records, or an Error that names the nearest file or device. Nothing is kept between calls. Called by
// nearly every command.
#include "cli/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/ranges.h"

namespace tailor::cli {

namespace fs = std::filesystem;

hlo::Imported load_model(const Context& context, const std::string& path) {
  return study::load_model(context.data, path, context.watch());
}

ir::Device load_device(const Context& context, const std::string& name) {
  return study::load_device(context.data, name);
}

ir::Calibration load_calibration(const Context& context, const std::string& name) {
  return study::load_calibration(context.data, name);
}

void warn_beyond(const Context& context, const ir::Calibration& calibration, const study::Candidate& candidate) {
  for (const std::string& what : calibrate::beyond(calibration, candidate.on->device.name, candidate.work))
    context.console->warning(
        fmt::format("beyond what calibration '{}' was fitted to: the kernel {}", calibration.name, what));
}

void refuse_not_above_zero(std::string_view option, double amount, std::string_view unit) {
  if (!(amount > 0) || std::isinf(amount))
    throw Error(Fault::usage, fmt::format("{}: found {}, expected {} above 0", option, amount, unit));
}

void refuse_twice(std::string_view option, std::span<const std::string> words) {
  for (auto one = words.begin(); one != words.end(); ++one)
    if (std::find(words.begin(), one, *one) != one)
      throw Error(Fault::usage, fmt::format("{}: found '{}' twice, expected it once", option, *one));
}

fs::path cache_folder(const std::string& word) { return word.empty() ? study::default_cache_folder() : fs::path(word); }

ChosenGroup::ChosenGroup(const Context& context, const GroupOptions& options)
    : model(options, context.data, context.watch()), number(model.chosen_group()) {}

}  // namespace tailor::cli
