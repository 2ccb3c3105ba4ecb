// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts and findings, row by row. In: candidates after the check stage. Out: tables; a candidate that did not get
// as far as an execution still has a state and a reason. Called by tailor check; profile's tables take the words of a
// failed compile from here.
#include "study/tables/check_tables.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/counted.h"
#include "base/text.h"
#include "profiler/check/check.h"
#include "profiler/check/memory_need.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using report::Cell;
using report::Hint;

/// What did not get as far as an execution still has a state and a reason.
std::pair<std::string, std::string> state_of(const Candidate& item) {
  if (item.verdict) return {std::string(profiler::name(item.verdict->state)), item.verdict->reason};
  const std::optional<ir::Binary>& binary = item.executed_binary();
  if (!binary) return {"interrupted", "before it was compiled"};
  if (item.refused) return {std::string(refused_words), item.refused->reason};
  if (binary->outcome == ir::CompileOutcome::ok) return {"interrupted", "before it was executed"};
  return not_compiled(*binary);
}

/// "sm_75 in the place of sm_70" of a kernel that is compiled for another architecture than its device's; else empty.
std::string compiled_for(const Candidate& item) {
  const std::optional<ir::Binary>& binary = item.executed_binary();
  const std::string& own = item.on->device.arch;
  if (!binary || binary->outcome != ir::CompileOutcome::ok || binary->arch == own) return {};
  return fmt::format("{} in the place of {}", binary->arch, own);
}

/// "whole", "64 of 4,096 rows", "8 of 1,024 blocks", "64 of 4,096 rows, 8 of 16 blocks", "whole: ..." with a reason.
std::string shape_of(const Candidate& item) {
  std::string blocks;
  if (item.sampled()) {
    blocks = fmt::format("{} of {}", with_commas(item.verdict->counts.blocks_run),
                         counted(item.verdict->counts.blocks_total, "block"));
    if (!item.verdict->sampled_for.empty()) blocks += fmt::format(" ({})", item.verdict->sampled_for);
  }
  if (item.other) return blocks.empty() ? item.other_is : item.other_is + ", " + blocks;
  const std::string whole = blocks.empty() ? "whole" : blocks;
  return item.other_is.empty() ? whole : whole + ": " + item.other_is;
}

}  // namespace

std::string judged_words(double fraction) {
  if (fraction >= 1) return "all";
  if (fraction <= 0) return "none";
  // What is not all is not to be read as all.
  return fmt::format("{:.4g} %", std::min(100 * fraction, 99.99));
}

report::Cell line_number(std::int64_t line) { return line > 0 ? Cell(line) : Cell(); }

std::string line_text(std::span<const std::string_view> lines, std::int64_t line) {
  if (line < 1 || line > std::ssize(lines)) return {};
  return std::string(trim(lines[static_cast<std::size_t>(line - 1)]));
}

std::pair<std::string, std::string> not_compiled(const ir::Binary& binary) {
  if (binary.log.empty()) return {"not compiled", "the compiler gave no reason"};
  return {"not compiled", std::string(trim(std::string_view(binary.log).substr(0, binary.log.find('\n'))))};
}

VerdictCounts count_verdicts(std::span<const Candidate> items) {
  VerdictCounts counts;
  for (const Candidate& item : items) {
    const profiler::Verdict state = item.verdict ? item.verdict->state : profiler::Verdict::not_executed;
    const bool passed = state == profiler::Verdict::passed, not_judged = state == profiler::Verdict::not_judged;
    counts.passed += passed ? 1 : 0;
    counts.not_all += passed && item.verdict->judged < 1 ? 1 : 0;
    if (passed && item.verdict->judged < counts.least_judged) {
      counts.least_judged = item.verdict->judged;
      counts.least_because = item.verdict->reason;
    }
    counts.not_judged += not_judged ? 1 : 0;
    counts.refuted += profiler::is_refuted(state) ? 1 : 0;
    const bool late_reference = item.verdict && item.verdict->reference_late;
    if (state == profiler::Verdict::timed_out || late_reference) {
      ++(late_reference ? counts.late_references : counts.late);
      counts.late_may_shrink += !item.other && profiler::can_shrink(item.of->group.graph, item.kernel) ? 1 : 0;
      counts.late_may_be_sampled += profiler::can_sample(item.executed_kernel()) ? 1 : 0;
    }
    counts.not_executed += !passed && !not_judged && !profiler::is_refuted(state) ? 1 : 0;
    const std::optional<ir::Binary>& binary = item.executed_binary();
    counts.compile_late += binary && binary->outcome == ir::CompileOutcome::too_long ? 1 : 0;
    counts.elsewhere += item.other ? 1 : 0;
    counts.sampled += item.sampled() ? 1 : 0;
    counts.sampled_to_fit += item.sampled() && !item.verdict->sampled_for.empty() ? 1 : 0;
    if (std::string other = compiled_for(item); !other.empty()) counts.compiled_for.insert(std::move(other));
    if (item.sampled()) {
      const auto results = static_cast<double>(item.verdict->of_results);
      counts.sampled_results += results;
      counts.sampled_judged += results * item.verdict->judged_of_all();
    }
    counts.finished += item.verdict ? 1 : 0;
  }
  counts.all = std::ssize(items);
  return counts;
}

namespace {

/// A sample of blocks says nothing about what the others store.
std::string sampled_words(const VerdictCounts& counts) {
  const std::string_view whose = counts.sampled == 1 ? "its" : "their";
  const std::string judged = counts.sampled_results == 0
                                 ? ""
                                 : fmt::format(", {0} of {1} results judged",
                                               judged_words(counts.sampled_judged / counts.sampled_results), whose);
  const std::string_view to_fit = counts.sampled_to_fit == 0 ? ""
                                  : counts.sampled_to_fit == counts.sampled
                                      ? " (all blocks need more memory than is free)"
                                      : " (of some because all blocks need more memory than is free)";
  return fmt::format("executed in a sample of {0} blocks{2}{1}", whose, judged, to_fit);
}

/// One element of thousands that has a bound is no more than that.
std::string in_part_words(const VerdictCounts& counts) {
  return fmt::format("of them judged in part ({}{} of what it stored)", counts.not_all == 1 ? "" : "the least ",
                     judged_words(counts.least_judged));
}

}  // namespace

std::string text(const VerdictCounts& counts, std::size_t groups_without_plan) {
  const auto also = [](std::int64_t count, std::string_view what) {
    return count > 0 ? fmt::format(", {} {}", count, what) : std::string();
  };
  const auto unplanned = static_cast<std::int64_t>(groups_without_plan);
  const std::string without =
      unplanned == 0 ? ""
                     : fmt::format("; {} {} no plan", counted(unplanned, "group"), unplanned == 1 ? "has" : "have");
  const std::string compiled =
      counts.compiled_for.empty() ? "" : fmt::format("; compiled for {}", fmt::join(counts.compiled_for, ", "));
  const std::string because = counts.least_because.empty() ? "" : "; " + counts.least_because;
  return fmt::format("{} of {} passed{}{}{}{}{}{}{}{}", counts.passed, counted(counts.all, "kernel"),
                     also(counts.elsewhere, "executed at a smaller shape"), also(counts.sampled, sampled_words(counts)),
                     also(counts.not_all, in_part_words(counts)), also(counts.not_judged, "not judged"),
                     also(counts.not_executed, "not executed"), without, compiled, because);
}

std::optional<Error> fault_of(const VerdictCounts& counts, std::size_t groups_without_plan) {
  const std::string why = "the answer says why", all = counted(counts.all, "kernel");
  const auto are = [](std::int64_t count) { return count == 1 ? "is" : "are"; };
  if (counts.all == 0)
    return Error(Fault::missing,
                 fmt::format("nothing to check: none of {} has a plan",
                             counted(static_cast<std::int64_t>(groups_without_plan), "group")),
                 why);
  if (counts.refuted > counts.late)
    return Error(
        Fault::failed,
        fmt::format("{} of {} {} not right", counts.refuted - counts.late, all, are(counts.refuted - counts.late)),
        "the answer says which and why; tailor emit prints the CUDA text of one");
  if (const std::int64_t late = counts.late + counts.late_references; late > 0) {
    const bool shrinks = counts.late_may_shrink > 0, samples = counts.late_may_be_sampled > 0;
    return Error(
        Fault::missing, fmt::format("{} of {} took longer than --time-limit and {} not judged", late, all, are(late)),
        fmt::format("a larger --time-limit{}{}{}{}", shrinks || samples ? ", or " : "", shrinks ? "--shape small" : "",
                    shrinks && samples ? " or " : "", samples ? "--blocks" : "") +
            (shrinks || samples ? " for less to execute" : ""));
  }
  if (counts.compile_late > 0 && counts.compile_late == counts.not_executed)
    return Error(Fault::missing,
                 fmt::format("{} of {} took the compiler longer than --compile-limit", counts.compile_late, all),
                 "a larger --compile-limit, or other plans: they are rejected, and the others stand");
  if (counts.not_executed > 0)
    return Error(Fault::missing, fmt::format("{} of {} could not be executed", counts.not_executed, all), why);
  if (counts.not_judged > 0)
    return Error(Fault::missing,
                 fmt::format("{} of {} ran and {} not judged", counts.not_judged, all, are(counts.not_judged)), why);
  return std::nullopt;
}

std::string verdict_text(const VerdictCounts& counts, std::size_t groups_without_plan) {
  const std::optional<Error> fault = fault_of(counts, groups_without_plan);
  if (counts.all == 0) return fault->message;
  return fault ? fmt::format("{}; {}", fault->message, text(counts, groups_without_plan))
               : text(counts, groups_without_plan);
}

report::Table verdict_count_table(const VerdictCounts& counts, std::size_t groups_without_plan,
                                  const std::optional<Error>& fault) {
  report::Table table;
  table.columns = {column("verdict", "verdict"),
                   column("kernels", "kernels", Hint::count),
                   column("kernels_passed", "passed", Hint::count),
                   column("kernels_rejected", "wrong", Hint::count),
                   column("kernels_not_judged", "not judged", Hint::count),
                   column("kernels_not_executed", "not executed", Hint::count),
                   column("kernels_sampled", "of a sample of blocks", Hint::count),
                   column("sampled_judged", "judged of these", Hint::fraction),
                   column("kernels_judged_in_part", "judged in part", Hint::count),
                   column("least_judged", "least judged of one", Hint::fraction),
                   column("groups_without_plan", "groups without a plan", Hint::count)};
  table.rows.push_back(
      {std::string(!fault                          ? "passed"
                   : fault->fault == Fault::failed ? "wrong"
                                                   : "open"),
       counts.all, counts.passed, counts.refuted, counts.not_judged, counts.not_executed, counts.sampled,
       counts.sampled_results > 0 ? Cell(counts.sampled_judged / counts.sampled_results) : Cell(), counts.not_all,
       counts.not_all > 0 ? Cell(counts.least_judged) : Cell(), static_cast<std::int64_t>(groups_without_plan)});
  return table;
}

std::vector<std::string> executed_whole(std::span<const Candidate> items, bool small, std::int64_t few_blocks) {
  std::map<std::pair<std::string_view, std::string>, std::size_t> reasons;  // by option
  for (const Candidate& item : items) {
    if (small && !item.other) ++reasons[{"--shape small", item.other_is}];
    const ir::Kernel& kernel = item.executed_kernel();
    if (const std::string_view why = profiler::runs_whole(kernel);
        few_blocks > 0 && launch_shape(launches_of(kernel).front()).grid[0] > few_blocks && !why.empty())
      ++reasons[{"--blocks", std::string(why)}];
  }
  std::vector<std::string> lines;
  for (const auto& [which, count] : reasons)
    lines.push_back(fmt::format("{}: executed whole ({}): {}", which.first, counted(count, "kernel"), which.second));
  return lines;
}

std::string text(const profiler::CheckAccount& account) {
  return fmt::format(
      "{} lane instructions executed in {} ({}/s of one thread); {} computed in {}",
      with_commas(static_cast<std::int64_t>(account.lane_instructions)), humane_seconds(account.wall.value),
      three_figures(account.executing.value > 0 ? account.lane_instructions / account.executing.value : 0),
      counted(account.references, "reference"), humane_seconds(account.reference.value));
}

namespace {

void add_unplanned(std::span<const Unplanned> unplanned, bool grouped, report::Table& table) {
  constexpr std::size_t many = 8;
  std::vector<std::pair<const Unplanned*, std::size_t>> rows;  // the first of each row, and how many share it
  for (const Unplanned& one : unplanned) {
    const auto same = [&](const auto& row) { return row.first->rule == one.rule; };
    const auto found = grouped && unplanned.size() > many ? std::find_if(rows.begin(), rows.end(), same) : rows.end();
    if (found != rows.end())
      ++found->second;
    else
      rows.emplace_back(&one, 1);
  }
  for (const auto& [first, count] : rows) {
    std::vector<Cell> row(table.columns.size());
    const auto at = [&](std::string_view key) -> Cell& { return row[place_of_column(table, key)]; };
    at("number") = static_cast<std::int64_t>(first->number + 1);
    at("group") = short_hex(first->id);
    at("title") = count > 1 ? fmt::format("{} and {} more", first->title, count - 1) : first->title;
    at("state") = "no plan";
    at("reason") = count > 1 ? first->rule : first->why;
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

report::Table verdict_table(std::span<const Candidate> items, std::span<const Unplanned> unplanned,
                            const VerdictRows& rows) {
  report::Table table;
  const bool whole = std::none_of(items.begin(), items.end(),
                                  [](const Candidate& item) { return item.other.has_value() || item.sampled(); });
  table.columns = {column("number", "group", Hint::integer),
                   column("group", "id", Hint::text, 6),
                   column("title", "of", Hint::text, 3),
                   column("rank", "plan", Hint::integer),
                   column("kernel", "kernel", Hint::text, 5),
                   column("state", "state"),
                   column("executed_shape", "executed shape", Hint::text, whole ? 8 : 0),
                   column("worst", "worst error / tolerance", Hint::number),
                   column("judged", "judged", Hint::fraction),
                   column("judged_of_stored", "judged of what was stored", Hint::fraction, 9),
                   column("findings", "findings", Hint::integer),
                   column("lane_instructions", "lane instructions", Hint::count, 2),
                   column("blocks_run", "blocks run", Hint::count, 4),
                   column("blocks", "of blocks", Hint::count, 9),
                   column("elapsed", "took", Hint::seconds, 1),
                   sentence("reason", "reason"),
                   column("compiled_for", "compiled for", Hint::text, 10),
                   column("plan", "plan text", Hint::text, 7)};
  if (rows.given != nullptr) table.columns.push_back(column("inputs_are", "inputs"));
  for (const Candidate& item : items) {
    if (rows.finished_only && !item.verdict) continue;
    if (!rows.passed && item.verdict && item.verdict->state == profiler::Verdict::passed) continue;
    const auto [state, reason] = state_of(item);
    const bool known = item.verdict.has_value();
    table.rows.push_back(
        {static_cast<std::int64_t>(item.of->number + 1), short_hex(item.of->group.id), item.of->title(),
         line_number(item.rank), item.kernel.name, state,
         known && item.verdict->counts.blocks_run == 0 ? Cell() : Cell(shape_of(item)),
         known && item.verdict->judged > 0 ? Cell(item.verdict->worst) : Cell(),
         known ? Cell(item.verdict->judged_of_all()) : Cell(), known ? Cell(item.verdict->judged) : Cell(),
         known ? Cell(errors(item.verdict->findings)) : Cell(), known ? Cell(item.verdict->lane_instructions) : Cell(),
         known ? Cell(item.verdict->counts.blocks_run) : Cell(),
         known ? Cell(item.verdict->counts.blocks_total) : Cell(), known ? Cell(item.verdict->time.value) : Cell(),
         reason, compiled_for(item), ir::text(item.plan)});
    if (rows.given != nullptr)
      table.rows.back().emplace_back(rows.given->contains(item.of->number) ? "given" : "drawn");
  }
  add_unplanned(unplanned, rows.grouped, table);
  return table.rows.empty() ? report::Table() : table;
}

report::Table finding_table(std::span<const Candidate> items) {
  report::Table table;
  table.title = "findings";
  table.columns = {column("number", "group", Hint::integer),
                   column("rank", "plan", Hint::integer),
                   column("finding", "kind"),
                   column("severity", "severity"),
                   column("text", "what"),
                   column("seen", "times", Hint::count),
                   column("ptx_line", "PTX line", Hint::integer, 2),
                   column("cuda_line", "CUDA line", Hint::integer),
                   column("cuda_text", "source", Hint::text, 1)};
  for (const Candidate& item : items) {
    if (!item.verdict || item.verdict->findings.empty()) continue;
    const std::vector<std::string_view> lines = split(item.executed_cuda(), '\n');
    for (const simulator::Finding& one : item.verdict->findings)
      table.rows.push_back({static_cast<std::int64_t>(item.of->number + 1), line_number(item.rank),
                            std::string(simulator::name(one.kind)), std::string(simulator::name(one.severity)),
                            one.text, one.times, line_number(one.ptx_line), line_number(one.source_line),
                            line_text(lines, one.source_line)});
  }
  return table;
}

}  // namespace tailor::study
