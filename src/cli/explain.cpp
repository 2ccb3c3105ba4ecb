// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor explain: one kernel beside its estimate, with --simulate what an execution found and counted, with --profiler
// a GPU's time and counters. In: a model, a device, a plan. Out: a page, or the same as tables; the exit code says
// whether what was asked for was done. Called by main's table of commands.
#include <fmt/format.h>

#include "base/error.h"
#include "cli/execution.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/tables/check_tables.h"
#include "study/tables/count_table.h"
#include "study/tables/explain_page.h"
#include "study/tables/profile_tables.h"
#include "study/tables/work_tables.h"
#include "study/tables/xla_beside_table.h"

namespace tailor::cli {

void run_explain(const ExplainOptions& options, const Context& context) {
  ChosenGroup chosen(context, options.what);
  const study::Watch watch = context.watch();
  study::Explained all{study::choose_plan(chosen.model, chosen.number, options.plan, watch),
                       chosen.model.title(chosen.number)};
  study::Candidate& one = all.one;
  all.estimate = one.standing.estimates.front();
  all.occupancy =
      costmodel::occupancy(one.on->limits, one.kernel.threads, all.estimate.registers, one.kernel.shared_bytes);
  all.xla = study::xla_beside(one.of->group, one.of->prepared, one.on->calibrated, *chosen.model.model);
  all.advice = costmodel::advice(all.estimate, one.work, one.on->device);
  study::print({&one, 1});
  if (options.simulate) execute_plan(options, one, watch);
  if (!options.profiler.empty()) measure_plan(options, context, one, watch);
  CommandOutput answer{"tailor.explain/1",
                       one.on->device.name,
                       {},
                       explanation(all, context.terminal.width, context.colour && context.output.empty())};
  answer.sections.push_back(
      {"estimate", study::estimate_table(all.one, all.estimate, all.occupancy, all.advice, study::state_of(all))});
  answer.sections.push_back({"parts", study::part_table(all.estimate)});
  answer.sections.push_back({"buffers", study::buffer_table(one)});
  if (all.xla) answer.sections.push_back({"xla", study::xla_beside_table(all.xla, all.estimate)});
  if (one.measured) answer.sections.push_back({"measured", study::measured_plan_table(one)});
  if (std::optional<report::Table> counts = study::counted_beside(all))
    answer.sections.push_back({"executed", std::move(*counts)});
  if (!gpu_counters(all).empty())
    answer.sections.push_back({"gpu_counters", study::gpu_counter_table(gpu_counters(all))});
  show(context, answer);
  warn_beyond(context, chosen.model.calibration, one);
  if (options.simulate)
    if (const std::optional<Error> fault = study::fault_of(study::count_verdicts({&one, 1}), 0)) throw *fault;
  if (one.measured && one.measured->outcome != ir::Outcome::ok)
    throw Error(ir::is_refuted(one.measured->outcome) ? Fault::failed : Fault::missing,
                fmt::format("the plan was not measured: {}{}", ir::name(one.measured->outcome),
                            one.measured->reason.empty() ? "" : ": " + one.measured->reason));
}

}  // namespace tailor::cli
