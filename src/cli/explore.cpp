// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor explore: the plan space of one group. How many plans there are, which rule dropped how many, how many
// different kernels the rest lower to, and the best of them with the parts of their estimates. In: a model, a device,
// a group, axes and limits. Out: tables.
#include <fmt/format.h>

#include "base/stop.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/tables/space_tables.h"
#include "study/tables/xla_beside_table.h"

namespace tailor::cli {

void run_explore(const ExploreOptions& options, const Context& context) {
  context.interrupts->holds_nothing();
  ChosenGroup chosen(context, options.what);
  study::Choosing how = chosen.model.choosing(0);
  how.heuristics = !options.sound_only;
  how.with_xla = true;
  if (options.max_plans > 0) how.max_plans = options.max_plans;
  const Clock clock = steady_clock();
  const Seconds started = clock();
  const study::Choice choice = study::choose(chosen.group(), chosen.model.target, how, context.stop());
  const Seconds spent = clock() - started;
  stop_if_asked(context.stop());
  if (choice.candidates.empty()) throw study::no_plan_error(choice.tuned);
  CommandOutput answer{"tailor.explore/1", chosen.model.target.device.name, {}, ""};
  answer.verdict = study::tie_words(choice.candidates);
  answer.sections.push_back({"plans", study::plan_table(chosen.model, chosen.group(), choice.candidates, options.top)});
  if (chosen.model.target.calibrated.xla != nullptr)
    answer.sections.push_back({"xla", study::xla_beside_table(chosen.group(), chosen.model.target, *chosen.model.model,
                                                              choice.candidates.front())});
  if (!choice.tuned.rejections.empty())
    answer.sections.push_back(
        {"rejections", study::rejection_table(choice.tuned, context.format == Format::json || context.verbose)});
  answer.sections.push_back({"space", study::space_table(choice.tuned, choice.candidates, spent)});
  show(context, answer);
  warn_beyond(context, chosen.model.calibration, choice.candidates.front());
}

}  // namespace tailor::cli
