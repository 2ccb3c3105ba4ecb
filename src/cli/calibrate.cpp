// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor calibrate: fits the numbers of the models to observations of one GPU. In: observations, a device, a
// calibration to begin with. Out: a table of the fitted figures, and with --write a calibration file, whole or not at
// all. The work is study's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/evidence/calibrating.h"

namespace tailor::cli {

void run_calibrate(const CalibrateCommand& command, const Context& context) {
  study::CalibrationQuestion question;
  question.sources = command.sources;
  question.device = command.device;
  question.calibration = command.calibration;
  question.few = command.few;
  question.shots = command.shots;
  question.seed = command.seed;
  const study::CalibrationAnswer answer = study::calibrate_device(question, context.data, context.watch());
  if (!command.write.empty()) write_file(command.write, text(answer.fitted.calibration));
  CommandOutput out{"tailor.calibrate/1", answer.fitted.calibration.device, {{"figures", answer.figures}}, ""};
  show(context, out);
  Console& console = *context.console;
  console.note(
      fmt::format("{} observations fitted: median error {} % before, {} % after; a new one is expected to be off "
                  "by {} %",
                  with_commas(answer.fitted.used), three_figures(100 * answer.fitted.median_before),
                  three_figures(100 * answer.fitted.median_after), three_figures(100 * answer.fitted.expected_error)));
  if (!answer.fitted.left.empty())
    console.note(fmt::format("no observation tells of {}: left as in {}", fmt::join(answer.fitted.left, ", "),
                             command.calibration));
  if (!answer.priors_from.empty())
    console.note(fmt::format("believed before: what {} have in common", fmt::join(answer.priors_from, ", ")));
  if (!command.write.empty()) console.note(fmt::format("written to {}", command.write));
}

}  // namespace tailor::cli
