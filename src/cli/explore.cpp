// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// tailor explore: the plan space of one group. How many plans there are, which rule dropped how many, how many
// different kernels the rest lower to, and the best of them with the parts of their estimates. In: a model, a device,
// a group, axes and limits. Out: tables.
#include <fmt/format.h>

#include "base/indexed.h"
#include "base/text.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "explore/rules.h"
#include "explore/tune.h"

namespace tailor::cli {

namespace {

using report::Cell;
using report::Hint;
using report::Table;

constexpr std::array shown_parts = std::to_array<ir::Part>(
    {ir::Part::launch, ir::Part::dram, ir::Part::l2, ir::Part::shared, ir::Part::issue, ir::Part::latency});

double part(const ir::Estimate& estimate, ir::Part which) { return row_for(estimate.parts, which).value; }

/// The axes that a person compares, then the estimate; the whole plan's text comes last and goes first.
Table plan_table(ChosenGroup& chosen, std::span<const study::Candidate> best, std::int64_t distinct) {
  std::vector<ir::PlanField> shown;
  for (const ir::PlanFieldRow& field : ir::plan_fields())
    if (!field.head.empty() && ir::row(chosen.group().ready()->skeleton).has(field.field)) shown.push_back(field.field);
  Table table;
  table.title =
      fmt::format("best plans on {}, level {}, unchecked", chosen.model.target.device.name, chosen.model.model->name);
  table.columns = {column("rank", "#", Hint::integer), column("time", "time", Hint::seconds),
                   column("low", "at least", Hint::seconds, 7), column("high", "at most", Hint::seconds, 7),
                   column("bound", "binds")};
  for (const ir::PlanField field : shown) {
    const ir::PlanFieldRow& axis = ir::row(field);
    table.columns.push_back({std::string(axis.name), std::string(axis.head),
                             axis.kind == ir::FieldKind::number ? Hint::integer : Hint::text});
  }
  table.columns.insert(table.columns.end(), {column("registers", "registers", Hint::integer, 3),
                                             column("occupancy", "occupancy", Hint::fraction, 3),
                                             column("waves", "waves", Hint::number, 4)});
  for (const ir::Part which : shown_parts)
    table.columns.push_back({std::string(ir::name(which)), std::string(ir::name(which)), Hint::seconds, 5});
  table.columns.push_back({"kernel", "kernel", Hint::text, 6});
  table.columns.push_back({"plan", "plan", Hint::text, 8});
  for (const study::Candidate& listed : best) {
    const ir::Plan& plan = listed.plan;
    const ir::Estimate& e = listed.standing.estimates.front();
    std::vector<Cell> row{listed.rank, e.total.value, e.low.value, e.high.value, std::string(ir::name(e.bottleneck))};
    for (const ir::PlanField field : shown) {
      const int value = ir::value(plan, field);
      if (ir::row(field).kind == ir::FieldKind::number)
        row.emplace_back(std::int64_t{value});
      else
        row.emplace_back(ir::value_text(field, value));
    }
    row.insert(row.end(), {Cell(std::int64_t{e.registers}), Cell(e.occupancy), Cell(e.waves)});
    for (const ir::Part which : shown_parts) row.emplace_back(part(e, which));
    row.insert(row.end(), {Cell(short_hex(listed.kernel_id)), Cell(ir::text(plan))});
    table.rows.push_back(std::move(row));
  }
  table.left_out = distinct - static_cast<std::int64_t>(best.size());
  table.to_see_all = "--top 0";
  return table;
}

/// A whole plan does not fit beside the reason on a screen; examples are for programs and for -v.
Table rejection_table(const explore::Tuned& tuned, bool examples) {
  Table table;
  table.title = "dropped, by rule";
  table.columns = {column("rule", "rule"), column("kind", "kind"), column("plans", "plans", Hint::count),
                   column("reason", "reason", Hint::text)};
  for (const explore::RejectedPlans& rejected : tuned.rejections)
    table.rows.push_back(
        {rejected.rule, std::string(rejected.sound ? "sound" : "heuristic"), rejected.plans, rejected.reason});
  if (!examples) return table;
  table.columns.push_back(column("example", "for example", Hint::text, 1));
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].emplace_back(tuned.rejections[i].example);
  return table;
}

Table space_table(const explore::Tuned& tuned, std::int64_t distinct, Seconds spent) {
  std::int64_t sound = 0, heuristic = 0;
  for (const explore::RejectedPlans& rejected : tuned.rejections)
    (rejected.sound ? sound : heuristic) += rejected.plans;
  Table table;
  table.title = "plan space";
  table.columns = {column("space", "combinations", Hint::count),
                   column("enumerated", "plans", Hint::count),
                   column("illegal", "illegal", Hint::count),
                   column("skipped", "dropped by heuristics", Hint::count),
                   column("left_out", "beyond --max-plans", Hint::count),
                   column("scored", "scored", Hint::count),
                   column("kernels", "different kernels", Hint::count),
                   column("elapsed", "took", Hint::seconds)};
  table.rows.push_back({tuned.space, tuned.enumerated, sound, heuristic, tuned.left_out,
                        static_cast<std::int64_t>(tuned.ranked.size()), distinct, spent.value});
  return table;
}

}  // namespace

void run_explore(const ExploreOptions& options, const Context& context) {
  ChosenGroup chosen(context, options.what);
  study::Choosing how = chosen.model.choosing(0);
  how.heuristics = !options.sound_only;
  if (options.max_plans > 0) how.max_plans = options.max_plans;
  const InterruptWatch& interrupts = *context.interrupts;
  const Clock clock = steady_clock();
  const Seconds started = clock();
  const study::Choice choice = study::choose(chosen.group(), chosen.model.target, how, interrupts.token());
  const Seconds spent = clock() - started;
  stop_if_asked(interrupts);
  std::span<const study::Candidate> best(choice.candidates);
  const std::int64_t distinct = std::ssize(best);
  if (options.top > 0 && distinct > options.top) best = prefix(best, options.top);

  CommandOutput answer{"tailor.explore/1", chosen.model.target.device.name, {}, ""};
  answer.sections.push_back({"plans", plan_table(chosen, best, distinct)});
  if (!choice.tuned.rejections.empty())
    answer.sections.push_back(
        {"rejections", rejection_table(choice.tuned, context.format == Format::json || context.verbose)});
  answer.sections.push_back({"space", space_table(choice.tuned, distinct, spent)});
  show(context, answer);
  if (best.empty()) context.console->warning("no plan of this space is legal: widen --axis or use --sound-only");
}

}  // namespace tailor::cli
