// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor validate: how well models and their rivals say the times that were observed. In: files of observations and
// databases, models, calibrations. Out: tables of errors, ranks and coverage on stdout, and on stderr what was left out
// and why. The work is study's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/evidence/validation.h"

namespace tailor::cli {

void run_validate(const ValidateCommand& command, const Context& context) {
  study::ValidationQuestion question;
  question.sources = command.sources;
  question.device = command.device;
  if (!command.models.empty()) question.models = command.models;
  if (!command.calibrations.empty()) question.calibrations = command.calibrations;
  if (!command.by.empty()) question.by = command.by;
  question.split = command.split;
  const study::ValidationAnswer answer = study::validate(question, context.data, context.watch());
  CommandOutput out{"tailor.validate/1", command.device, {}, ""};
  for (const auto& [key, table] : answer.tables) out.sections.push_back({key, table});
  show(context, out);
  Console& console = *context.console;
  console.note(fmt::format("{} observations scored; {} left out that a calibration rests on",
                           with_commas(answer.scored), with_commas(answer.fitted)));
  if (answer.samples.without_device > 0)
    console.warning(fmt::format("{} observations are of GPUs that no device file describes: {}",
                                with_commas(answer.samples.without_device),
                                fmt::join(answer.samples.unknown_devices, ", ")));
  if (answer.samples.without_kernel > 0)
    console.warning(fmt::format("{} observations are of plans that are not there or cannot be lowered",
                                with_commas(answer.samples.without_kernel)));
  if (answer.samples.undescribed > 0)
    console.warning(fmt::format("{} observations say neither launch nor traffic of their kernel",
                                with_commas(answer.samples.undescribed)));
}

}  // namespace tailor::cli
