// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The commands that work on observations. tailor calibrate fits the numbers of the models to those of one GPU; tailor
// validate scores models and their rivals on them; tailor replay searches a space that was measured whole. In:
// observations, a device, calibrations. Out: tables on stdout, on stderr what was left out and why, and with --write a
// calibration file, whole or not at all. The work is study's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/counted.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/evidence/calibrating.h"
#include "study/evidence/proposing.h"
#include "study/evidence/replaying.h"
#include "study/evidence/validation.h"

namespace tailor::cli {

namespace {

void show_proposals(const CalibrateCommand& command, const study::CalibrationQuestion& question,
                    const Context& context) {
  const study::ProposalAnswer answer =
      study::propose_measurements(question, command.models, command.budget, context.data, context.watch());
  show(context, {"tailor.calibrate/1", command.device, {{"proposals", answer.table}}, ""});
  Console& console = *context.console;
  console.note(
      fmt::format("predictions are expected to be off by {} % before", three_figures(100 * answer.error_before)));
  console.note(answer.priors_from.empty()
                   ? std::string("no other GPU is calibrated: what is believed before is wide")
                   : fmt::format("believed before: what {} have in common", fmt::join(answer.priors_from, ", ")));
  if (!answer.left.empty()) console.note(fmt::format("none of them tells of {}", fmt::join(answer.left, ", ")));
}

/// From here on the observations tell next to nothing of a figure: the width of its interval, over that of what was
/// believed before.
constexpr double nearly_open = 0.95;

std::vector<std::string> open_figures(const calibrate::Fitted& fitted) {
  std::vector<std::string> open;
  for (const calibrate::Moved& one : fitted.moved)
    if (one.operation.empty() && one.shrink >= nearly_open) open.push_back(one.figure);
  return open;
}

}  // namespace

void run_calibrate(const CalibrateCommand& command, const Context& context) {
  context.interrupts->holds_nothing();
  study::CalibrationQuestion question;
  question.sources = command.sources;
  question.device = command.device;
  question.calibration = command.calibration;
  question.few = command.few;
  question.residual = command.residual;
  question.shots = command.shots;
  question.seed = command.seed;
  question.informative = command.informative;
  if (command.budget > 0) return show_proposals(command, question, context);
  if (question.sources.empty())
    throw Error(Fault::usage, "tailor calibrate needs OBSERVATIONS, or --budget N to ask what to observe",
                "for example: tailor calibrate campaign.db --device h200");
  refuse_own_input(question.sources, command.write);
  const study::CalibrationAnswer answer = study::calibrate_device(question, context.data, context.watch());
  show(context, {"tailor.calibrate/1", answer.fitted.calibration.device, {{"figures", answer.figures}}, ""});
  Console& console = *context.console;
  console.note(
      fmt::format("{} fitted: median error {} % before, {} % after; a new one is expected to be off "
                  "by {} %",
                  counted(answer.fitted.used, "observation"), three_figures(100 * answer.fitted.median_before),
                  three_figures(100 * answer.fitted.median_after), three_figures(100 * answer.fitted.expected_error)));
  for (const std::string& why : study::left_out(answer.samples)) console.warning(why);
  if (!(answer.fitted.median_after < answer.fitted.median_before))
    console.warning("the fit says these times no better than what was known before: are their units and bytes right?");
  else if (constexpr double far_off = 0.5; answer.fitted.median_after > far_off)
    console.warning(
        fmt::format("half of these times are off by {} % or more after the fit: are their units and bytes right?",
                    three_figures(100 * answer.fitted.median_after)));
  if (answer.sooner_than_dram > 0)
    console.warning(fmt::format(
        "{} with cold caches sooner than the data sheet's bandwidth lets its input arrive: are units and bytes right?",
        counted(answer.sooner_than_dram, "kernel", "ends", "end")));
  if (answer.fitted.weightless > 0)
    console.note(fmt::format("{} of them are so far off what was fitted that they have no weight",
                             with_commas(answer.fitted.weightless)));
  if (!answer.fitted.learned.empty()) console.note(fmt::format("residual: {}", answer.fitted.learned));
  if (!answer.fitted.left.empty())
    console.note(fmt::format("no observation tells of {}: left as in {}", fmt::join(answer.fitted.left, ", "),
                             command.calibration));
  if (const std::vector<std::string> open = open_figures(answer.fitted); !open.empty())
    console.note(fmt::format("of these the observations tell next to nothing ({:.0f} % left open or more): {}",
                             100 * nearly_open, fmt::join(open, ", ")));
  if (!answer.priors_from.empty())
    console.note(fmt::format("believed before: what {} have in common", fmt::join(answer.priors_from, ", ")));
  if (!command.write.empty()) write_whole(context, command.write, text(answer.fitted.calibration));
}

namespace {

std::vector<int> counts_of(const std::vector<std::string>& words, std::string_view option, std::string_view what) {
  std::vector<int> counts;
  for (const std::string& word : words) {
    int count = 0;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (fault != std::errc() || end != word.data() + word.size())
      throw Error(Fault::usage, fmt::format("found '{}' in {}, expected {}", word, option, what),
                  fmt::format("for example: {} 10,50,200", option));
    counts.push_back(count);
  }
  return counts;
}

}  // namespace

void run_replay(const ReplayCommand& command, const Context& context) {
  context.interrupts->holds_nothing();
  study::ReplayQuestion question;
  question.table = command.table;
  question.columns = {command.time, command.parameters};
  question.options.searchers = command.searchers;
  question.options.runs = static_cast<int>(std::min<std::int64_t>(command.runs, 1'000'000));
  question.options.seed = static_cast<std::uint64_t>(command.seed);
  if (!command.tries.empty()) question.options.tries = counts_of(command.tries, "--tries", "numbers of tries");
  question.options.learn_from = counts_of(command.learn_from, "--learn-from", "numbers of configurations");
  CommandOutput out{"tailor.replay/1", "", {}, ""};
  for (const auto& [key, table] : study::replay_tables(question, context.watch())) out.sections.push_back({key, table});
  show(context, out);
}

void run_validate(const ValidateCommand& command, const Context& context) {
  context.interrupts->holds_nothing();
  refuse_twice("--calibration", command.calibrations);
  study::ValidationQuestion question;
  question.sources = command.sources;
  question.device = command.device;
  if (!command.models.empty()) question.models = command.models;
  if (!command.calibrations.empty()) question.calibrations = command.calibrations;
  if (!command.by.empty()) question.by = command.by;
  question.split = command.split;
  question.ablate = command.ablate;
  const study::ValidationAnswer answer = study::validate(question, context.data, context.watch());
  CommandOutput out{"tailor.validate/1", command.device, {}, ""};
  for (const auto& [key, table] : answer.tables) out.sections.push_back({key, table});
  show(context, out);
  context.console->note(fmt::format("{} scored; {} left out that a calibration rests on",
                                    counted(answer.scored, "observation"), with_commas(answer.fitted)));
  for (const std::string& why : study::left_out(answer.samples)) context.console->warning(why);
}

}  // namespace tailor::cli
