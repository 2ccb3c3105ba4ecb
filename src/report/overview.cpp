// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A Summary as tables and words. In: the values of one run. Out: the tables that every output shares (what was chosen,
// strategies, groups, plans, what was rejected; measured times are in overview_measured.cpp, sentences in
// overview_answer.cpp), the overview at the end of a run, and the Markdown file. The last two show the same sections in
// the same order, one through terminal(), one through markdown(). Called by the commands, by the page and by the report
// on disk.
#include "report/overview.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <string>

#include "base/indexed.h"
#include "base/text.h"
#include "ir/estimate.h"
#include "report/advice.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr auto level_order = std::to_array<std::string_view>({"sol", "projected", "compiled", "counted", "profiled"});

void add_level(std::vector<std::string>& levels, const std::string& level) {
  if (std::find(levels.begin(), levels.end(), level) == levels.end()) levels.push_back(level);
}

/// Known levels in their order, unknown ones behind them.
void sort_levels(std::vector<std::string>& levels) {
  const auto rank = [](const std::string& level) {
    return std::find(level_order.begin(), level_order.end(), level) - level_order.begin();
  };
  std::stable_sort(levels.begin(), levels.end(),
                   [&](const std::string& a, const std::string& b) { return rank(a) < rank(b); });
}

template <class Value>
Cell maybe(const std::optional<Value>& value) {
  if (!value) return std::monostate{};
  return *value;
}

Cell maybe(const std::optional<Seconds>& time) {
  if (!time) return std::monostate{};
  return time->value;
}

/// Of each of the best plans by the level that ranks, "1=" where the model cannot tell it from another. A plan of
/// another level than the one before it begins a place of its own.
std::vector<std::string> places_of(const GroupSummary& group) {
  std::vector<std::string> places;
  for (std::size_t first = 0; first < group.best.size();) {
    const auto level = [&](std::size_t i) {
      return group.best[i].estimates.empty() ? std::string() : group.best[i].estimates.back().level;
    };
    std::vector<Seconds> times;
    std::size_t end = first;
    for (; end < group.best.size() && level(end) == level(first); ++end)
      times.push_back(level(end).empty() ? Seconds{} : group.best[end].estimates.back().total);
    std::sort(times.begin(), times.end());  // plans of one level come in that order; a report says what it was given
    for (ir::Placed one : ir::placed(times)) {
      one.place += static_cast<std::int64_t>(first);
      places.push_back(level(first).empty() ? std::string() : ir::text(one));
    }
    first = end;
  }
  return places;
}

Table make_rejection_table(const std::vector<RejectionCount>& all) {
  Table table;
  table.columns = {{"rule", "rule", Hint::text, 0},
                   {"plans", "plans", Hint::count, 0},
                   {"soundness", "kind", Hint::text, 2},
                   {"example", "example", Hint::text, 1, Align::by_hint, true}};
  std::vector<RejectionCount> sorted = all;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  for (const RejectionCount& one : sorted)
    table.rows.push_back({one.rule, one.count > 0 ? Cell{one.count} : Cell{},
                          std::string(one.sound ? "sound" : "heuristic"), one.example});
  return table;
}

}  // namespace

std::string_view name(BinaryState state) {
  constexpr std::array<std::string_view, 3> names{"not compiled", "compiled", "failed"};
  return row_for(names, state);
}

std::string_view name(CheckState state) {
  constexpr std::array<std::string_view, 4> names{"unchecked", "passed", "failed", "not judged"};
  return row_for(names, state);
}

std::string_view name(GroupStatus status) {
  constexpr std::array<std::string_view, 4> names{"ok", "needs skeleton", "no legal plan", "not tuned"};
  return row_for(names, status);
}

const StrategyTotals* find_strategy(const Summary& summary, const std::string& name) {
  const auto found = std::find_if(summary.strategies.begin(), summary.strategies.end(),
                                  [&](const StrategyTotals& strategy) { return strategy.name == name; });
  return found == summary.strategies.end() ? nullptr : &*found;
}

std::optional<Seconds> best_time(const GroupSummary& group) {
  if (group.best.empty() || group.best[0].estimates.empty()) return std::nullopt;
  return group.best[0].estimates.back().total;
}

bool is_measured(const GroupSummary& group) {
  return best_time(group) && group.best[0].estimates.back().level == "profiled";
}

std::optional<BytesPerSecond> achieved_bandwidth(const GroupSummary& group) {
  const std::optional<Seconds> time = best_time(group);
  if (!time || !(time->value > 0) || !(group.traffic.value > 0)) return std::nullopt;
  return BytesPerSecond{group.traffic.value / time->value};
}

Seconds whole_time(const GroupSummary& group) {
  const auto time = best_time(group);
  return time.value_or(group.lower_bound.value_or(Seconds{})) * static_cast<double>(group.occurrences);
}

Table manifest_table(const Summary& summary) {
  const Manifest& m = summary.manifest;
  Table table;
  table.columns = {{"what", "what", Hint::text, 0}, {"text", "value", Hint::text, 0}};
  const auto add = [&](const std::string& what, const std::string& value) {
    if (!value.empty()) table.rows.push_back({what, value});
  };
  add("model", m.model.empty() ? m.model_file : m.model_file.empty() ? m.model : m.model + " (" + m.model_file + ")");
  add("device", m.device_title.empty() ? m.device : m.device_title + " (" + m.device + ")");
  add("tool", m.revision.empty() ? m.tool : m.tool + ", revision " + m.revision);
  add("command", m.command);
  add("toolchain", m.toolchain);
  add("started", m.started);
  if (m.elapsed) add("took", humane_seconds(m.elapsed->value));
  if (m.seed) add("seed", std::to_string(*m.seed));
  add("graph id", m.graph_id);
  add("config id", m.config_id);
  for (const auto& [what, value] : m.more) add(what, value);
  return table;
}

/// The kernels that have a plan as XLA's emitters would write them, and what searching takes off their time. Returns
/// whether any strategy has some.
bool add_xla_columns(const Summary& summary, Table& table, bool always) {
  if (!always && std::none_of(summary.strategies.begin(), summary.strategies.end(),
                              [](const StrategyTotals& strategy) { return strategy.xla_kernels > 0; }))
    return false;
  table.columns.push_back({"xla_plans", "kernels as XLA's", Hint::count, 5});
  table.columns.push_back({"xla_same_launch", "with its launch", Hint::count, 6});
  table.columns.push_back({"as_xla", "these take", Hint::seconds, 5});
  table.columns.push_back({"search_adds", "search adds", Hint::seconds, 3});
  return true;
}

/// A strategy's time at each level, absent where it has none.
void add_level_cells(std::vector<Cell>& row, const StrategyTotals& strategy, const std::vector<std::string>& levels) {
  for (const std::string& level : levels) {
    std::optional<Seconds> time;
    for (const LevelTime& one : strategy.time)
      if (one.level == level) time = one.time;
    row.push_back(maybe(time));
  }
}

/// Those at which some strategy has a time, or all there are.
std::vector<std::string> levels_of_strategies(const Summary& summary, bool all) {
  std::vector<std::string> levels;
  if (all) levels.assign(level_order.begin(), level_order.end());
  for (const StrategyTotals& strategy : summary.strategies)
    for (const LevelTime& time : strategy.time) add_level(levels, time.level);
  sort_levels(levels);
  return levels;
}

Table strategy_table(const Summary& summary, bool every_column) {
  const std::vector<std::string> levels = levels_of_strategies(summary, every_column);
  bool bounds = every_column, library = every_column, calls = every_column;
  for (const StrategyTotals& strategy : summary.strategies) {
    bounds = bounds || strategy.groups_at_lower_bound > 0;
    library = library || strategy.library_time.has_value();
    calls = calls || strategy.library_calls > 0;
  }
  const StrategyTotals* baseline = summary.strategies.size() > 1 ? find_strategy(summary, summary.baseline) : nullptr;
  Table table;
  table.columns = {{"strategy", "strategy", Hint::text, 0}, {"kernels", "kernels", Hint::count, 0}};
  // The answer, where the narrowest screen shows it.
  const bool compares = baseline != nullptr || every_column;
  if (compares) {
    table.columns.push_back({"speedup_of_kernels", "faster, kernels alone", Hint::ratio, 0});
    if (library) table.columns.push_back({"speedup_with_library", "faster, with library", Hint::ratio, 0});
  }
  table.columns.insert(table.columns.end(), {{"kernel_floor", "kernels at least", Hint::count, 5},
                                             {"distinct_groups", "distinct kernels", Hint::count, 4},
                                             {"launches", "launches", Hint::count, 2},
                                             {"traffic", "traffic", Hint::bytes, 1}});
  for (const std::string& level : levels)
    table.columns.push_back({level, level, Hint::seconds, level == levels.back() ? 0 : 3});
  if (bounds) {
    // The times beside it are of plans but for these groups: a time must not lose that.
    table.columns.push_back({"groups_at_lower_bound", "groups at bound", Hint::count, 0});
    table.columns.push_back({"time_at_lower_bound", "of it bounds", Hint::seconds, 0});
  }
  if (calls) {
    table.columns.push_back({"library_calls", "library calls", Hint::count, 6});
    table.columns.push_back({"library_traffic", "library traffic", Hint::bytes, 7});
    table.columns.push_back({"library", "library work", Hint::flops, 8});
  }
  if (library) table.columns.push_back({"library_time", "library time", Hint::seconds, 6});
  const bool as_xla = add_xla_columns(summary, table, every_column);
  for (const StrategyTotals& s : summary.strategies) {
    if (s.name == summary.chosen) table.best = table.rows.size();
    std::vector<Cell>& row = table.rows.emplace_back();
    row = {s.name, s.kernels};
    if (compares) {
      const std::optional<Speedup> faster = baseline != nullptr ? speedup(s, *baseline) : std::nullopt;
      row.push_back(faster ? Cell(faster->of_kernels()) : Cell());
      if (library) row.push_back(faster ? maybe(faster->with_library()) : Cell());
    }
    row.insert(row.end(), {maybe(s.kernel_floor), Cell(s.distinct_groups), Cell(s.launches), Cell(s.traffic.value)});
    add_level_cells(row, s, levels);
    if (bounds)
      row.insert(row.end(),
                 {Cell(s.groups_at_lower_bound), s.time.empty() ? Cell() : Cell(s.time_at_lower_bound.value)});
    if (calls) row.insert(row.end(), {Cell{s.library_calls}, Cell{s.library_traffic.value}, Cell{s.library_flops}});
    if (library) row.push_back(maybe(s.library_time));
    if (as_xla)
      row.insert(row.end(), {Cell(s.xla_kernels), Cell(s.xla_same_launch), Cell(s.as_xla.value),
                             Cell((s.as_xla - s.best_of_xla).value)});
  }
  return table;
}

void add_xla_cells(std::vector<Cell>& row, const std::optional<XlaSummary>& xla) {
  if (!xla) return row.resize(row.size() + 3);
  row.insert(row.end(), {Cell(xla->emitter), Cell(xla->launch),
                         xla->as_xla && xla->best ? Cell((*xla->as_xla - *xla->best).value) : Cell()});
}

std::vector<const GroupSummary*> heaviest_first(const Summary& summary) {
  std::vector<const GroupSummary*> groups;
  for (const GroupSummary& group : summary.groups) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto* a, const auto* b) { return whole_time(*a) > whole_time(*b); });
  return groups;
}

Table group_table(const Summary& summary) {
  std::set<std::string> names;
  for (const GroupSummary& group : summary.groups) names.insert(group.name);
  const bool told_apart = names.size() == summary.groups.size();  // else only the id says which is which
  Table table;
  table.columns = {{"title", "group", Hint::text, 0},
                   {"time_share", "share", Hint::fraction, 1},
                   {"best_time_all", "time of all", Hint::seconds, 1},
                   {"places", "places", Hint::count, 2},
                   {"best_time", "time of one", Hint::seconds, 0},
                   {"bound", "bound by", Hint::text, 4},
                   {"bandwidth", "achieved", Hint::rate, 5},
                   {"state", "state", Hint::text, 0},
                   {"group", "id", Hint::text, told_apart ? 9 : 0},
                   {"traffic", "traffic", Hint::bytes, 4},
                   {"shape", "shape", Hint::text, 3},
                   {"plans_enumerated", "plans", Hint::count, 7},
                   {"tied_plans", "no slower by the model", Hint::count, 6}};
  const bool bounds = std::any_of(summary.groups.begin(), summary.groups.end(),
                                  [](const GroupSummary& group) { return group.lower_bound.has_value(); });
  if (bounds) table.columns.push_back({"bound_time", "at least", Hint::seconds, 5});
  const bool as_xla = std::any_of(summary.groups.begin(), summary.groups.end(),
                                  [](const GroupSummary& group) { return group.xla.has_value(); });
  if (as_xla) {
    table.columns.push_back({"xla_emitter", "XLA's emitter", Hint::text, 8});
    table.columns.push_back({"xla_launch", "its launch", Hint::text, 9});
    table.columns.push_back({"search_adds", "search adds", Hint::seconds, 8});
  }
  double all = 0;
  for (const GroupSummary& group : summary.groups) all += whole_time(group).value;
  for (const GroupSummary* group : heaviest_first(summary)) {
    const auto time = best_time(*group);
    std::optional<double> whole, share, bandwidth;
    std::optional<std::string> bound;
    std::string state = group->status == GroupStatus::ok ? "no plan" : std::string(name(group->status));
    if (!group->best.empty()) state = name(group->best[0].check);
    if (all > 0 && (time || group->lower_bound)) share = whole_time(*group).value / all;
    if (const auto achieved = achieved_bandwidth(*group)) bandwidth = achieved->value;
    if (time) {
      whole = whole_time(*group).value;
      bound = group->best[0].estimates.back().bottleneck;
    }
    table.rows.push_back({group->name, maybe(share), maybe(whole), group->occurrences, maybe(time), maybe(bound),
                          maybe(bandwidth), state, group->id.substr(0, 10), group->traffic.value, group->shape,
                          group->enumerated,
                          group->all_times.empty() ? Cell() : Cell(ir::tied_with_least(group->all_times))});
    if (bounds) table.rows.back().push_back(maybe(group->lower_bound));
    if (as_xla) add_xla_cells(table.rows.back(), group->xla);
  }
  table.to_see_all = "--top 0";
  return table;
}

Table plan_table(const GroupSummary& group) {
  std::vector<std::string> levels;
  for (const PlanSummary& plan : group.best)
    for (const EstimateSummary& estimate : plan.estimates) add_level(levels, estimate.level);
  sort_levels(levels);
  Table table;
  table.columns = {{"rank", "#", Hint::integer, 1},
                   {"predicted_place", "place", Hint::text, 0},
                   {"plan", "plan", Hint::text, 0},
                   {"check", "check", Hint::text, 2}};
  const std::vector<std::string> places = places_of(group);
  for (const std::string& level : levels)
    table.columns.push_back({level, level, Hint::seconds, level == levels.back() ? 0 : 4});
  const std::vector<Column> rest = {
      {"predicted_low", "low", Hint::seconds, 9},   {"predicted_high", "high", Hint::seconds, 9},
      {"bound", "bound by", Hint::text, 3},         {"occupancy", "occupancy", Hint::fraction, 6},
      {"registers", "registers", Hint::integer, 5}, {"spill", "spills", Hint::bytes, 7},
      {"shared", "shared", Hint::bytes, 8},         {"binary", "binary", Hint::text, 7}};
  table.columns.insert(table.columns.end(), rest.begin(), rest.end());
  for (const PlanSummary& plan : group.best) {
    std::vector<Cell> row{static_cast<std::int64_t>(table.rows.size() + 1), places[table.rows.size()], plan.plan,
                          std::string(name(plan.check)) + (plan.check_note.empty() ? "" : ": " + plan.check_note)};
    for (const std::string& level : levels) {
      std::optional<Seconds> time;
      for (const EstimateSummary& one : plan.estimates)
        if (one.level == level) time = one.total;
      row.push_back(maybe(time));
    }
    std::optional<Seconds> low, high;
    std::optional<std::string> bound;
    std::optional<double> occupancy;
    if (!plan.estimates.empty()) {
      const EstimateSummary& top = plan.estimates.back();
      low = top.low;
      high = top.high;
      bound = top.bottleneck;
      if (top.occupancy > 0) occupancy = top.occupancy;
    }
    row.push_back(maybe(low));
    row.push_back(maybe(high));
    row.push_back(maybe(bound));
    row.push_back(maybe(occupancy));
    row.push_back(maybe(plan.registers));
    row.push_back(maybe(plan.spill_bytes));
    row.push_back(maybe(plan.shared_bytes));
    row.push_back(std::string(name(plan.binary)));
    table.rows.push_back(std::move(row));
  }
  if (!table.rows.empty()) table.best = 0;
  table.left_out = std::max<std::int64_t>(0, group.lowered - static_cast<std::int64_t>(table.rows.size()));
  table.to_see_all = "--top 0";
  return table;
}

PlanWords plan_words(const GroupSummary& group) {
  std::map<std::string_view, std::size_t> plans_with;
  for (const PlanSummary& plan : group.best)
    for (const std::string_view word : split(plan.plan, ' ')) ++plans_with[word];
  PlanWords out;
  const auto append = [](std::string& words, std::string_view word) {
    words += words.empty() ? "" : " ";
    words += word;
  };
  for (const PlanSummary& plan : group.best) {
    std::string own;
    for (const std::string_view word : split(plan.plan, ' ')) {
      const bool shared = group.best.size() > 1 && plans_with[word] == group.best.size();
      if (!shared) append(own, word);
      if (shared && out.own.empty()) append(out.shared, word);
    }
    out.own.push_back(own.empty() ? "as above" : own);
  }
  return out;
}

Table rejection_table(const Summary& summary) {
  std::map<std::pair<std::string, bool>, RejectionCount> by_rule;
  for (const GroupSummary& group : summary.groups)
    for (const RejectionCount& one : group.rejections) {
      RejectionCount& sum =
          by_rule.try_emplace({one.rule, one.sound}, one.rule, 0, one.sound, one.example).first->second;
      sum.count += one.count;
    }
  std::vector<RejectionCount> all;
  for (const auto& [key, one] : by_rule) all.push_back(one);
  return make_rejection_table(all);
}

Table rejection_table(const GroupSummary& group) { return make_rejection_table(group.rejections); }

Table library_table(const Summary& summary) {
  std::set<std::string> operations;
  for (const LibraryCall& call : summary.library) operations.insert(call.op);
  const bool told_apart = operations.size() == summary.library.size();  // else by their shapes
  Table table;
  table.columns = {{"operation", "operation", Hint::text, 0},  {"shape", "shape", Hint::text, told_apart ? 2 : 0},
                   {"runs", "times", Hint::count, 0},          {"traffic", "traffic of one", Hint::bytes, 1},
                   {"library", "work of one", Hint::flops, 1}, {"call_time", "time of one", Hint::seconds, 3}};
  for (const LibraryCall& call : summary.library)
    table.rows.push_back({call.op, call.shape, call.occurrences, call.traffic.value, call.flops, maybe(call.time)});
  return table;
}

Table import_table(const Summary& summary) {
  Table table;
  table.columns = {{"pass", "pass", Hint::text, 0}, {"rewrites", "rewrites", Hint::count, 0}};
  for (const ir::PassReport& pass : summary.import.passes) table.rows.push_back({pass.pass, pass.rewrites});
  for (const auto& [what, count] : summary.import.opaque) table.rows.push_back({"kept as opaque: " + what, count});
  return table;
}

namespace {

struct Section {
  std::string title;
  Table table;
};

std::vector<Section> sections(const Summary& summary) {
  std::vector<Section> all{
      {"strategies", strategy_table(summary)},
      {"agreement with the real XLA", agreement_table(summary)},
      {"groups of " + summary.chosen + ", most predicted time first; plans by the most precise level at hand",
       group_table(summary)},
      {"plans not lowered, by rule", rejection_table(summary)},
      {"whole models, measured in turns", module_table(summary)},
      {"measured on a GPU", measured_table(summary)},
      {"the same plan twice in its race", twin_table(summary)},
      {"library calls", library_table(summary)}};
  std::erase_if(all, [](const Section& section) { return section.table.rows.empty(); });
  return all;
}

}  // namespace

std::string overview(const Summary& summary, const Screen& screen, bool is_first) {
  std::string out;
  const int width = std::max(1, screen.width);
  const auto words = [&](const std::string& text) {
    for (const std::string& line : wrapped(printable(text), width)) out += line + "\n";
  };
  if (summary.claim && is_first) {
    const Verdict said = verdict(*summary.claim);
    words(said.head + " " + said.words);
  }
  if (!summary.scope.empty() && is_first) words(summary.scope);
  words(answer(summary).text());
  for (Section& section : sections(summary)) {
    section.table.title = section.title;
    out += "\n" + terminal(section.table, screen);
  }
  const std::vector<std::string> lines = advice(summary);
  if (!lines.empty()) out += "\n";
  for (const std::string& line : lines) {
    std::string_view lead = "- ";
    for (const std::string& part : wrapped(printable(line), std::max(1, width - 2))) {
      out += elided(std::string(lead) + part, width) + "\n";
      lead = "  ";
    }
  }
  for (const std::string& warning : summary.warnings) words("warning: " + warning);
  return out;
}

std::string markdown(const Summary& summary) {
  std::string out = fmt::format("# {}\n\n", printable(summary.question));
  if (summary.claim) {
    const Verdict said = verdict(*summary.claim);
    out += fmt::format("**{}** {}\n\n", said.head, printable(said.words));
  }
  if (!summary.scope.empty()) out += printable(summary.scope) + "\n\n";
  out += printable(answer(summary).text()) + "\n\n";
  out += markdown(manifest_table(summary)) + "\n";
  for (const Section& section : sections(summary))
    out += fmt::format("## {}\n\n{}\n", printable(section.title), markdown(section.table));
  for (const GroupSummary& group : summary.groups) {
    if (group.best.empty()) continue;
    out += fmt::format("## best plans of {} `{}`, by the most precise level at hand\n\n{}\n", printable(group.name),
                       printable(group.id).substr(0, 10), markdown(plan_table(group)));
  }
  const std::vector<std::string> lines = advice(summary);
  if (!lines.empty()) out += "## what to look at next\n\n";
  for (const std::string& line : lines) out += "- " + printable(line) + "\n";
  for (const std::string& warning : summary.warnings) out += "- warning: " + printable(warning) + "\n";
  return out;
}

}  // namespace tailor::report
