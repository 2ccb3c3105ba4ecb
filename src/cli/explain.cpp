// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor explain: one kernel beside its estimate, with --simulate what an execution found and counted, with --profiler
// a GPU's time and counters. In: a model, a device, a plan. Out: a page, or the same as tables; the exit code says
// whether what was asked for was done. Called by main's table of commands.
#include <fmt/format.h>

#include "base/counted.h"
#include "base/error.h"
#include "cli/execution.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "study/tables/check_tables.h"
#include "study/tables/count_table.h"
#include "study/tables/explain_page.h"
#include "study/tables/machine_table.h"
#include "study/tables/profile_tables.h"
#include "study/tables/versus_tables.h"
#include "study/tables/work_tables.h"
#include "study/tables/xla_beside_table.h"

namespace tailor::cli {

namespace {

void refuse_plans(const ExplainOptions& options) {
  if (options.plans.size() > 2)
    throw Error(Fault::usage,
                fmt::format("found {}, expected one, or two to compare", counted(options.plans.size(), "plan")),
                "a plan's text has blanks and needs quotes");
  for (const std::string& plan : options.plans)
    if (plan.empty())
      throw Error(Fault::usage, "found an empty plan, expected a rank from 1 on, xla, or a plan's whole text in quotes",
                  "without a plan the best one is explained");
  if (!options.plans.empty() && !options.plan.empty())
    throw Error(Fault::usage, fmt::format("found plan '{}' and --plan", options.plans.front()),
                "leave one of them out");
  if (options.plans.size() == 2 && !options.profiler.empty())
    throw Error(Fault::usage, "--profiler measures one plan, found two", "tailor profile races plans");
}

/// Two plans of one group against each other.
void explain_two(const ExplainOptions& options, const Context& context, ChosenGroup& chosen) {
  const study::Watch watch = context.watch();
  std::vector<study::Candidate> both;
  for (const std::string& plan : options.plans)
    both.push_back(study::choose_plan(chosen.model, chosen.number, plan, watch));
  study::place_among_all(chosen.model, chosen.number, both, watch);
  if (options.simulate) study::print(both);
  if (options.simulate)
    for (study::Candidate& one : both) execute_plan(options, one, watch);
  const study::Versus two{both[0], both[1], options.plans[0], options.plans[1]};
  CommandOutput answer{"tailor.explain_two/1", both[0].on->device.name, {}, ""};
  answer.verdict = study::versus_words(two);
  const bool alike = both[0].plan == both[1].plan;  // a person has read all of it in the first line
  answer.sections = {{"comparison", study::versus_table(two), true},
                     {"parts", study::versus_part_table(two, context.format != Format::json), alike},
                     {"plans", study::versus_plan_table(two), alike},
                     {"counts", study::versus_count_table(two), alike}};
  show(context, answer);
  for (const study::Candidate& one : both) warn_beyond(context, chosen.model.calibration, one);
}

/// Of the kernel of a program that fills an SM least; with no more registers than the estimate has.
costmodel::Occupancy least_occupancy(const study::Candidate& one, int registers) {
  const auto of = [&](const costmodel::Work& launch, int own) {
    return costmodel::occupancy(one.on->limits, launch.threads, own, launch.shared_bytes);
  };
  const costmodel::Work launches = costmodel::by_launch(one.work);
  if (launches.followers.empty()) return of(launches, registers);
  std::optional<costmodel::Occupancy> least;
  for (const costmodel::Work& launch : costmodel::works_of(launches)) {
    costmodel::Work alone = launch;
    alone.followers.clear();
    const int own = costmodel::projected(alone, one.on->calibrated).registers;
    const costmodel::Occupancy found = of(launch, std::min(own, registers));
    if (!least || found.fraction < least->fraction) least = found;
  }
  return *least;
}

}  // namespace

void run_explain(const ExplainOptions& options, const Context& context) {
  refuse_plans(options);
  ChosenGroup chosen(context, options.what);
  if (options.plans.size() == 2) return explain_two(options, context, chosen);
  const study::Watch watch = context.watch();
  const std::string& plan = options.plans.empty() ? options.plan : options.plans.front();
  study::Explained all{study::choose_plan(chosen.model, chosen.number, plan, watch), chosen.model.title(chosen.number)};
  study::Candidate& one = all.one;
  all.estimate = one.standing.estimates.front();
  all.occupancy = least_occupancy(one, all.estimate.registers);
  all.xla = study::xla_beside(one.of->group, one.of->prepared, one.on->calibrated, *chosen.model.model);
  all.bound = costmodel::sol(one.of->work, one.on->calibrated).total;
  const auto price = [&](const ir::Plan& other) {
    return study::price_of(*one.of, *one.on, *chosen.model.model, other);
  };
  const auto left_out = [&](const ir::Plan& other) { return study::left_out(*one.of, *one.on, other, one.plan); };
  all.advice = costmodel::advice(all.estimate, one.work, one.on->calibrated,
                                 {chosen.model.partition.kernels > 1, &one.plan, price, left_out});
  study::print({&one, 1});
  if (options.simulate) execute_plan(options, one, watch);
  if (!options.profiler.empty()) measure_plan(options, context, one, watch);
  if (one.machine && one.machine->counted) all.compiled = study::predict(one, ir::Level::compiled, {});
  CommandOutput answer{"tailor.explain/1",
                       one.on->device.name,
                       {},
                       explanation(all, {.width = context.terminal.width,
                                         .colour = context.colour && context.output.empty(),
                                         .max_rows = static_cast<std::size_t>(options.top)})};
  answer.sections.push_back({"estimate", study::estimate_table(all.one, all.estimate, all.compiled, all.occupancy,
                                                               all.bound, all.advice, study::state_of(all))});
  answer.sections.push_back({"parts", study::part_table(all.estimate)});
  answer.sections.push_back({"buffers", study::buffer_table(one)});
  if (all.xla) answer.sections.push_back({"xla", study::xla_beside_table(all.xla, all.estimate)});
  if (one.measured) answer.sections.push_back({"measured", study::measured_plan_table(one)});
  if (std::optional<report::Table> counts = study::counted_beside(all))
    answer.sections.push_back({"executed", std::move(*counts)});
  if (one.machine) {
    answer.sections.push_back({"machine", study::machine_pipe_table(*one.machine, one.work)});
    answer.sections.push_back({"machine_operations", study::machine_operation_table(*one.machine)});
  }
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
