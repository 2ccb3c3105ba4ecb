// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The tables of a sweep's answer. In: totals as the database has them, and what this run did. Out: rows.
// Called by the command through sweep_tables.h. Figures are those that a claim is judged by and that
// reports show.
#include "study/sweep/sweep_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/counted.h"
#include "study/tables/column.h"

namespace tailor::study {

using report::Cell;
using report::Hint;

namespace {

/// Fused kernels alone; nothing where a group has no time.
std::optional<Seconds> kernel_time(const store::StrategyTotals& totals) {
  if (totals.groups_without_time > 0 || !(totals.kernel_time.value > 0)) return {};
  return totals.kernel_time;
}

const store::StrategyTotals* baseline_of(const SweepOutcome& outcome, const store::StrategyTotals& totals) {
  const auto found =
      std::find_if(outcome.strategies.begin(), outcome.strategies.end(), [&](const store::StrategyTotals& other) {
        return other.strategy == outcome.baseline && other.graph == totals.graph && other.device == totals.device;
      });
  return found == outcome.strategies.end() ? nullptr : &*found;
}

/// What the time of the fused kernels is: of groups without a plan there is a bound alone.
std::string time_is(const store::StrategyTotals& totals) {
  const bool some = totals.launches_measured > 0;
  if (totals.launches_without_plan <= 0)
    return !some ? "predicted" : totals.launches_measured < totals.launches ? "in part measured" : "measured";
  if (!(totals.launches_without_plan < totals.launches)) return "a bound";
  return some ? "in part measured, in part a bound" : "in part a bound";
}

/// Both speed-ups; the second one only where there are library calls with a time. A bound over a bound is none. A
/// measured time over a predicted one is none either: predictions alone are compared unless all of both was measured.
std::pair<Cell, Cell> speedups(const SweepOutcome& outcome, const store::StrategyTotals& totals) {
  const store::StrategyTotals* baseline = baseline_of(outcome, totals);
  const std::optional<Seconds> own = kernel_time(totals);
  if (baseline == nullptr || !own || !kernel_time(*baseline)) return {};
  if (time_is(totals) == "a bound" || time_is(*baseline) == "a bound") return {};
  const bool measured = time_is(totals) == "measured" && time_is(*baseline) == "measured";
  const Seconds library = totals.library_time, base = baseline->predicted_time, mine = totals.predicted_time;
  return {Cell(measured ? baseline->kernel_time / totals.kernel_time : base / mine),
          library.value > 0 ? Cell((base + library) / (mine + library)) : Cell()};
}

/// Kernels with a plan as XLA would write them, and what the search adds to these; nothing where there are none.
void add_xla_cells(const SweepOutcome& outcome, const store::StrategyTotals& totals, std::vector<Cell>& row) {
  const auto found = std::find_if(outcome.search_added.begin(), outcome.search_added.end(),
                                  [&](const store::StrategySearchAdded& one) {
                                    return one.graph == totals.graph && one.strategy == totals.strategy &&
                                           one.price == totals.price && one.device == totals.device;
                                  });
  if (found == outcome.search_added.end()) return row.resize(row.size() + 4);
  row.insert(row.end(), {Cell(found->kernels), Cell(found->same_launch), Cell(found->as_xla.value),
                         Cell((found->as_xla - found->best).value)});
}

}  // namespace

namespace {

/// What each point came to, under the point's setting.
report::Table points_table(const SweepOutcome& outcome) {
  report::Table all;
  for (const SweepOutcome& point : outcome.points) {
    report::Table one = strategies_table(point);
    if (all.columns.empty()) {
      all.columns = std::move(one.columns);
      all.columns.insert(all.columns.begin(), column("setting", "point"));
    }
    for (std::vector<Cell>& row : one.rows) {
      row.insert(row.begin(), point.setting);
      all.rows.push_back(std::move(row));
    }
  }
  // What is alike at all points makes room for what the points are.
  const auto yields_if = [&](std::string_view key, int sacrifice, auto&& says_nothing) {
    const std::size_t at = place_of_column(all, key);
    const bool nothing = std::all_of(all.rows.begin(), all.rows.end(),
                                     [&](const std::vector<Cell>& row) { return says_nothing(row[at]); });
    all.columns[at].sacrifice = nothing ? sacrifice : 0;
  };
  if (all.rows.empty()) return all;
  const std::size_t device = place_of_column(all, "device");
  yields_if("time_is", 8, [](const Cell& cell) { return cell == Cell(std::string("predicted")); });
  yields_if("device", 9, [&](const Cell& cell) { return cell == all.rows.front()[device]; });
  yields_if("speedup_with_library", 9, [](const Cell& cell) { return cell == Cell(); });
  all.columns[place_of_column(all, "launches")].sacrifice = 1;
  all.title = "strategies at each point of the grid, one run of each model";
  return all;
}

}  // namespace

report::Table strategies_table(const SweepOutcome& outcome) {
  if (!outcome.points.empty()) return points_table(outcome);
  const bool all_predicted = std::all_of(outcome.strategies.begin(), outcome.strategies.end(),
                                         [](const auto& one) { return time_is(one) == "predicted"; });
  const auto& all = outcome.strategies;
  const bool one_device =
      std::all_of(all.begin(), all.end(), [&](const auto& one) { return one.device == all.front().device; });
  const bool calls = std::any_of(all.begin(), all.end(), [](const auto& one) { return one.library_calls > 0; });
  report::Table table;
  table.title = "strategies, one run of each model";
  table.columns = {column("model", "model"),
                   column("device", "device", Hint::text, one_device ? 9 : 0),
                   column("strategy", "strategy"),
                   column("kernels", "kernels", Hint::count, 3),
                   column("launches", "launches", Hint::count, 1),
                   column("library_calls", "library calls", Hint::count, 2),
                   column("traffic", "traffic", Hint::bytes, 4),
                   column("kernel_time", "kernels take", Hint::seconds),
                   column("time_is", "time is", Hint::text, all_predicted ? 8 : 0),
                   column("library_time", "library takes", Hint::seconds, 1),
                   column("speedup_of_kernels", "faster, kernels alone", Hint::ratio),
                   column("speedup_with_library", "faster, with library", Hint::ratio, calls ? 0 : 9),
                   column("groups_without_plan", "groups without plan", Hint::count, 5),
                   column("xla_plans", "kernels as XLA's", Hint::count, 6),
                   column("xla_same_launch", "with its launch", Hint::count, 7),
                   column("as_xla", "these take", Hint::seconds, 6),
                   column("search_adds", "search adds", Hint::seconds, 4)};
  for (const store::StrategyTotals& one : outcome.strategies) {
    const std::optional<Seconds> time = kernel_time(one);
    const auto [of_kernels, with_library] = speedups(outcome, one);
    table.rows.push_back({one.model, one.device_name, one.strategy, one.kernels, whole_count(one.launches),
                          whole_count(one.library_calls), one.dram.value, time ? Cell(time->value) : Cell(),
                          time_is(one), one.library_time.value > 0 ? Cell(one.library_time.value) : Cell(), of_kernels,
                          with_library, one.groups_without_plan});
    add_xla_cells(outcome, one, table.rows.back());
  }
  return table;
}

report::Table done_table(const SweepOutcome& outcome) {
  report::Table table;
  table.title = "sweep";
  table.columns = {column("state", "state"),
                   column("models", "models", Hint::count),
                   column("models_left_out", "left out", Hint::count),
                   column("distinct_groups", "distinct groups", Hint::count),
                   column("plans_scored", "plans scored", Hint::count),
                   column("plans_rejected", "plans rejected", Hint::count),
                   column("groups_resumed", "groups there already", Hint::count),
                   column("kernels_compiled", "kernels compiled", Hint::count),
                   column("kernels_cached", "from the cache", Hint::count),
                   column("kernels_not_compiled", "failed to compile", Hint::count),
                   column("kernels_passed", "executed and right", Hint::count),
                   column("kernels_judged_in_part", "of these judged in part", Hint::count),
                   column("kernels_sampled", "of these in some blocks", Hint::count),
                   column("kernels_rejected", "rejected", Hint::count),
                   column("kernels_not_judged", "not judged", Hint::count),
                   column("kernels_not_executed", "not executed", Hint::count),
                   column("kernels_measured", "measured", Hint::count),
                   column("claim_metric", "claim about"),
                   column("claim_value", "is", Hint::number),
                   column("claim_threshold", "threshold", Hint::number),
                   column("claim", "claim"),
                   column("setting", "claim is least at"),
                   column("database", "database"),
                   column("report", "report")};
  const SweepOutcome& o = outcome;
  const bool is_grid = !o.points.empty();
  if (is_grid) table.columns.insert(table.columns.begin() + 1, column("points", "points", Hint::count));
  const auto number = [](double value) { return Cell(value); };
  table.rows.push_back({o.exit_code == 0 ? std::string("done") : o.reason,
                        o.models,
                        static_cast<std::int64_t>(o.left_out.size()),
                        o.distinct_groups,
                        o.plans_scored,
                        o.plans_rejected,
                        o.groups_resumed,
                        o.kernels_compiled,
                        o.kernels_cached,
                        o.kernels_failed,
                        o.kernels_passed,
                        o.kernels_judged_in_part,
                        o.kernels_sampled,
                        o.kernels_refuted,
                        o.kernels_not_judged,
                        o.kernels_not_executed,
                        o.kernels_measured,
                        o.claim ? Cell(std::string(o.claim->metric->name)) : Cell(),
                        o.claim ? number(o.claim->value) : Cell(),
                        o.claim ? number(o.claim->threshold) : Cell(),
                        o.claim ? Cell(std::string(o.claim->holds() ? "holds" : "does not hold")) : Cell(),
                        is_grid && o.claim ? Cell(least_claim(o)->setting) : Cell(),
                        o.database.string(),
                        o.report.empty() ? Cell() : Cell(o.report.string())});
  if (is_grid) table.rows.back().insert(table.rows.back().begin() + 1, std::ssize(o.points));
  return table;
}

std::string nothing_swept(const SweepOutcome& outcome) {
  bool some = !outcome.strategies.empty();
  for (const store::StrategyTotals& one : outcome.strategies) some = some && one.kernels == 0;
  for (const SweepOutcome& point : outcome.points) some = some || !nothing_swept(point).empty();
  for (const SweepOutcome& point : outcome.points) some = some && !nothing_swept(point).empty();
  return some ? "there is nothing to fuse: no strategy makes a kernel, and library calls are all that runs" : "";
}

report::Table left_out_table(const SweepOutcome& outcome) {
  report::Table table;
  table.title = "models left out";
  table.columns = {column("model", "model"), sentence("reason", "reason")};
  for (const LeftOutModel& one : outcome.left_out) table.rows.push_back({one.model.filename().string(), one.reason});
  return table;
}

}  // namespace tailor::study
