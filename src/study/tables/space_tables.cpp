// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A searched plan space as tables: the best plans with the parts of their estimates, which rule dropped how many, the
// size of the space. In: a choice with its candidates. Out: rows, one per plan, rule and space. Called by the command
// `explore`.
#include "study/tables/space_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/counted.h"
#include "base/indexed.h"
#include "base/text.h"
#include "codegen/lower/prepare.h"
#include "study/pipeline/xla_beside.h"
#include "study/tables/column.h"

namespace tailor::study {

using report::Cell;
using report::Hint;
using report::Table;

namespace {

constexpr std::array shown_parts =
    std::to_array<ir::Part>({ir::Part::launch, ir::Part::code, ir::Part::dram, ir::Part::l2, ir::Part::shared,
                             ir::Part::issue, ir::Part::latency});

std::int64_t tied_with_best(std::span<const Candidate> all) {
  return std::count_if(all.begin(), all.end(),
                       [](const Candidate& one) { return one.rank > 0 && one.placed.place == 1; });
}

/// Those that the search found, without XLA's kernel where it is not one of them.
std::span<const Candidate> found_by_search(std::span<const Candidate> all) {
  return !all.empty() && all.back().rank == 0 ? all.first(all.size() - 1) : all;
}

double part(const ir::Estimate& estimate, ir::Part which) { return row_for(estimate.parts, which).value; }

/// Whether the plan has a value there: a number that follows from the other fields is 0.
bool says(const ir::Plan& plan, ir::PlanField field) {
  return ir::row(field).kind != ir::FieldKind::number || ir::value(plan, field) != 0;
}

/// Whether the skeleton of some plan has the axis.
bool some_has(std::span<const Candidate* const> plans, ir::PlanField axis) {
  return std::any_of(plans.begin(), plans.end(),
                     [&](const Candidate* one) { return ir::row(one->plan.skeleton).has(axis); });
}

/// Whether the plans differ in this axis.
bool differs(std::span<const Candidate* const> plans, ir::PlanField axis) {
  return std::any_of(plans.begin(), plans.end(),
                     [&](const Candidate* one) { return !ir::agree(one->plan, plans.front()->plan, axis); });
}

/// The first `top` (0: all) that were found, and XLA's kernel where it is none of these.
std::vector<const Candidate*> listed_of(std::span<const Candidate> all, std::int64_t top) {
  std::vector<const Candidate*> listed;
  for (const Candidate& one : all)
    if (one.is_xla || top == 0 || (one.rank > 0 && std::ssize(listed) < top)) listed.push_back(&one);
  return listed;
}

/// As the axis' values are written where there is a word for it, else as in the plan.
std::string field_words(const codegen::Prepared& prepared, const ir::Plan& plan, ir::PlanField field) {
  return field == ir::PlanField::homes ? codegen::homes_text(prepared, plan) : ir::field_text(plan, field);
}

/// A row of plan_table().
std::vector<Cell> plan_row(const codegen::Prepared& prepared, const Candidate& listed,
                           std::span<const ir::PlanField> shown) {
  const ir::Plan& plan = listed.plan;
  const ir::Estimate& e = listed.standing.estimates.front();
  std::vector<Cell> row{listed.rank > 0 ? Cell(listed.rank) : Cell(),
                        ir::text(listed.placed),
                        listed.is_xla ? Cell(std::string(xla_plan_word)) : Cell(),
                        e.total.value,
                        e.low.value,
                        e.high.value,
                        std::string(ir::name(e.bottleneck))};
  if (codegen::structures_of(prepared).size() > 1) row.emplace_back(codegen::loop_words(prepared, plan));
  for (const ir::PlanField field : shown) {
    if (!says(plan, field) || !ir::row(plan.skeleton).has(field))
      row.emplace_back();
    else if (ir::row(field).kind == ir::FieldKind::number)
      row.emplace_back(std::int64_t{ir::value(plan, field)});
    else
      row.emplace_back(field_words(prepared, plan, field));
  }
  row.insert(row.end(), {Cell(std::int64_t{e.registers}), Cell(e.occupancy), Cell(e.waves)});
  for (const ir::Part which : shown_parts) row.emplace_back(part(e, which));
  row.insert(row.end(), {Cell(short_hex(listed.kernel_id)), Cell(ir::text(plan))});
  return row;
}

}  // namespace

std::string tie_words(std::span<const Candidate> all) {
  const std::int64_t tied = tied_with_best(all);
  const auto found = static_cast<std::int64_t>(found_by_search(all).size());
  std::string words;
  if (found == 1)
    words = "there is one kernel, so it is the best";
  else if (tied == 0)
    words = fmt::format("none of {} is as fast as XLA's own", counted(found, "different kernel"));
  else if (tied == 1)
    words = fmt::format("one of {} is the fastest by the model", counted(found, "different kernel"));
  else
    words = fmt::format("{} of {} tie for the first place: the model cannot tell them apart (within {} %)",
                        with_commas(tied), counted(found, "different kernel"), 100 * ir::model_resolution);
  if (std::ssize(all) > found)
    words +=
        ". The row without a number is as XLA would write the kernel, which the axes or rules here leave out; its "
        "name is xla";
  return words;
}

/// The axes that a person compares, then the estimate; the whole plan's text comes last and goes first.
Table plan_table(const FusedModel& model, const PreparedGroup& group, std::span<const Candidate> all,
                 std::int64_t top) {
  const std::vector<const Candidate*> best = listed_of(all, top);
  std::vector<ir::PlanField> shown;
  for (const ir::PlanFieldRow& field : ir::plan_fields())
    if (!field.head.empty() && (ir::row(group.ready()->skeleton).has(field.field) || some_has(best, field.field)))
      shown.push_back(field.field);
  Table table;
  table.title = fmt::format("best plans on {} by {}, the most precise level at hand; unchecked",
                            model.target.device.name, model.model->name);
  const bool has_xla = std::any_of(best.begin(), best.end(), [](const Candidate* one) { return one->is_xla; });
  table.columns = {column("rank", "#", Hint::integer),
                   column("predicted_place", "place"),
                   column("baseline_plan", "as", Hint::text, has_xla ? 0 : 9),
                   column("predicted", "time", Hint::seconds),
                   column("predicted_low", "at least", Hint::seconds, 7),
                   column("predicted_high", "at most", Hint::seconds, 7),
                   column("bound", "binds")};
  if (codegen::structures_of(*group.ready()).size() > 1) table.columns.push_back(column("skeleton", "skeleton"));
  std::string alike;
  for (const ir::PlanField field : shown) {
    const ir::PlanFieldRow& axis = ir::row(field);
    const bool same = !best.empty() && !differs(best, field);  // said once above, so its column may go first
    table.columns.push_back({std::string(axis.name), std::string(axis.head),
                             axis.kind == ir::FieldKind::number ? Hint::integer : Hint::text, same ? 9 : 0});
    if (same && says(best.front()->plan, field))
      alike += fmt::format("{}{}={}", alike.empty() ? "" : " ", axis.name,
                           field_words(*group.ready(), best.front()->plan, field));
  }
  if (best.size() > 1 && !alike.empty()) table.title += fmt::format("; each shown has {}", alike);
  table.columns.insert(table.columns.end(), {column("predicted_registers", "registers", Hint::integer, 3),
                                             column("occupancy", "occupancy", Hint::fraction, 3),
                                             column("waves", "waves", Hint::number, 4)});
  for (const ir::Part which : shown_parts)
    table.columns.push_back({std::string(ir::name(which)), std::string(ir::name(which)), Hint::seconds, 5});
  table.columns.push_back({"kernel_id", "kernel", Hint::text, 6});
  table.columns.push_back({"plan", "plan", Hint::text, 8});
  for (const Candidate* listed : best) table.rows.push_back(plan_row(*group.ready(), *listed, shown));
  table.left_out = std::ssize(all) - std::ssize(best);
  table.to_see_all = "--top 0";
  return table;
}

/// A whole plan does not fit beside the reason on a screen; examples are for programs and for -v.
Table rejection_table(const explore::Tuned& tuned, bool examples) {
  Table table;
  table.title = "dropped, by rule";
  table.columns = {column("rule", "rule"), column("soundness", "kind"), column("plans", "plans", Hint::count),
                   column("reason", "reason", Hint::text)};
  for (const explore::RejectedPlans& rejected : tuned.rejections)
    table.rows.push_back(
        {rejected.rule, std::string(rejected.sound ? "sound" : "heuristic"), rejected.plans, rejected.reason});
  if (!examples) return table;
  table.columns.push_back(column("example", "for example", Hint::text, 1));
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i].emplace_back(tuned.rejections[i].example);
  return table;
}

Table space_table(const explore::Tuned& tuned, std::span<const Candidate> all, Seconds spent) {
  std::int64_t sound = 0, heuristic = 0;
  for (const explore::RejectedPlans& rejected : tuned.rejections)
    (rejected.sound ? sound : heuristic) += rejected.plans;
  Table table;
  table.title = "plan space";
  table.columns = {column("space", "combinations", Hint::count),
                   column("plans_enumerated", "plans", Hint::count),
                   column("plans_illegal", "illegal", Hint::count),
                   column("plans_skipped", "dropped by heuristics", Hint::count),
                   column("plans_left_out", "beyond --max-plans", Hint::count),
                   column("plans_scored", "scored", Hint::count),
                   column("different_kernels", "different kernels", Hint::count),
                   column("tied_kernels", "no slower by the model", Hint::count),
                   column("elapsed", "took", Hint::seconds)};
  table.rows.push_back({tuned.space, tuned.enumerated, sound, heuristic, tuned.left_out,
                        static_cast<std::int64_t>(tuned.ranked.size()), std::ssize(found_by_search(all)),
                        tied_with_best(all), spent.value});
  return table;
}

}  // namespace tailor::study
