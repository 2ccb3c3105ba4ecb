// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The groups of the page: their table, and a section for each with its best plans, the parts of an estimate, the times
// of all its plans, its program and its CUDA text. In: a Summary. Out: HTML. Called by page().
//
// A page stays readable whatever the model: groups of little time are folded, and of very many groups those of least
// time get no charts, then no section. What is left out is counted and said; the raw data has every group.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/counted.h"
#include "base/indexed.h"
#include "base/text.h"
#include "report/chart.h"
#include "report/chart_map.h"
#include "report/overview.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace tailor::report {

namespace {

constexpr double unfolded_share = 0.05;  ///< of the time of all groups
constexpr std::size_t most_unfolded = 3;
constexpr std::size_t plans_shown = 3;  ///< at once; the others are folded
constexpr std::size_t most_sections = 400, most_rows = 1000;

/// Indexed by GroupStatus.
constexpr std::array<std::string_view, 4> no_plan{"", "No plan: it needs a skeleton that does not exist yet.",
                                                  "No plan: none is legal.", "No plan: nobody looked for one yet."};

/// The best plan's time at the level of the histogram.
std::optional<Seconds> time_in_histogram(const GroupSummary& group) {
  if (group.times_level.empty()) return best_time(group);
  if (!group.best.empty())
    for (const EstimateSummary& estimate : group.best[0].estimates)
      if (estimate.level == group.times_level) return estimate.total;
  return std::nullopt;
}

std::string badge(const PlanSummary& plan) {
  const std::string_view state = name(plan.check);
  const std::string reason = plan.check == CheckState::unchecked
                                 ? "this kernel was not executed: its results are not compared with the reference"
                                 : plan.check_note;
  // A class has no blanks: what is not judged looks like what is unchecked.
  const std::string_view look = name(plan.check == CheckState::not_judged ? CheckState::unchecked : plan.check);
  return fmt::format("<span class=\"badge {}\" title=\"{}\">{}</span>", look, escaped(reason), state);
}

std::string details(std::string_view summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(summary), content);
}

std::string code(const std::string& text) { return fmt::format("<pre><code>{}</code></pre>\n", escaped_lines(text)); }

/// The plans with only the words in which they differ, and of what else is equal for all of them nothing: both are
/// said once, above. The raw data has all of it.
Table plans_that_differ(const GroupSummary& group, std::string& shared) {
  Table table = plan_table(group);
  const PlanWords words = plan_words(group);
  const std::size_t plan = place_of_column(table, "plan");
  const std::size_t check = place_of_column(table, "check");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i][plan] = words.own[i];
    if (group.best[i].check == CheckState::passed) table.rows[i][check] = std::string(name(CheckState::passed));
  }
  shared = words.shared.empty() ? "" : fmt::format("<code>{}</code>", escaped(words.shared));
  if (const std::string equal = take_equal_columns(table); !equal.empty())
    shared += (shared.empty() ? "" : "; ") + escaped(equal);
  return table;
}

std::string parts_section(const PlanSummary& plan) {
  if (plan.estimates.empty()) return parts_chart({});
  const EstimateSummary& top = plan.estimates.back();
  return parts_chart({{"best plan, level " + top.level, top.total, top.parts, top.bottleneck}});
}

std::string facts(const GroupSummary& group) {
  return fmt::format(
      "<p class=\"note\">It runs {} in the model and writes {}. Each run moves {} of DRAM traffic and does {} "
      "floating operations. Plans: {} rejected, {} lowered, {} compiled.</p>\n",
      counted(group.occurrences, "time"), escaped(group.shape), humane_bytes(group.traffic.value),
      with_commas(static_cast<std::int64_t>(group.flops)), with_commas(group.rejected), with_commas(group.lowered),
      with_commas(group.compiled));
}

/// Name, share of the time, what limits it: what is seen of a folded section.
std::string head_of(const GroupSummary& group, double share) {
  std::string words = percent(share);
  if (const auto time = best_time(group))
    words += fmt::format(" · {} × {} · {} · bound by {}", with_commas(group.occurrences), humane_seconds(time->value),
                         group.shape, group.best[0].estimates.back().bottleneck);
  else
    words += " · no plan";
  std::string title;  // which may break behind its words
  for (const char c : escaped(group.name)) title += c == '_' ? "_<wbr/>" : std::string(1, c);
  return fmt::format("<summary><h3>{} <code class=\"id\">{}</code></h3> <span class=\"note\">{}</span> {}</summary>\n",
                     title, escaped(group.id.substr(0, 10)), escaped(words),
                     group.best.empty() ? "" : badge(group.best[0]));
}

/// The best plans beside the parts of the first one's estimate.
std::string plans_section(const GroupSummary& group, const Table& plans, const std::string& shared) {
  Table shown = plans;
  if (shown.rows.size() > plans_shown) shown.rows.resize(plans_shown);
  shown.left_out = 0;  // the next fold counts them
  const std::string words =
      shared.empty() ? "" : fmt::format("<p class=\"note\">Alike in all plans listed: {}</p>\n", shared);
  return words + side_by_side("<div>\n" + html(shown, true) + "</div>\n",
                              "<div>\n" + parts_section(group.best[0]) + "</div>\n");
}

std::string texts(const GroupSummary& group, Table plans) {
  std::string out;
  if (plans.rows.size() > plans_shown) {
    plans.rows.erase(plans.rows.begin(), plans.rows.begin() + plans_shown);
    plans.best.reset();
    plans.to_see_all = "tailor explore --top 0";
    out += details(
        fmt::format("{} of {} more plans", plans.rows.size(), with_commas(std::ssize(plans.rows) + plans.left_out)),
        html(plans, true));
  }
  if (!group.all_times.empty())
    out += details(
        "Times of all plans",
        figure(time_histogram(group.all_times, time_in_histogram(group)),
               fmt::format("Predicted times of {} of this group{}.", counted(std::ssize(group.all_times), "plan"),
                           group.times_level.empty() ? "" : ", level " + group.times_level)));
  if (!group.rejections.empty()) out += details("Rejected plans", html(rejection_table(group)));
  if (!group.kernel_text.empty()) out += details("Program of the best plan", code(group.kernel_text));
  if (!group.cuda.empty()) out += details("CUDA of the best plan", code(group.cuda));
  for (const PlanSummary& plan : group.best)
    if (!plan.compile_log.empty()) out += details("What the compiler says of " + plan.plan, code(plan.compile_log));
  return out.empty() ? out : "<div class=\"more\">\n" + out + "</div>\n";
}

/// Leaves out what each group's section says, so that the rest fits a desk: traffic and plans, and the id where names
/// tell the groups apart.
void take_columns_of_sections(Table& table, const Summary& summary) {
  std::set<std::string_view> names;
  for (const GroupSummary& group : summary.groups) names.insert(group.name);
  for (const std::string_view key : {"traffic", "plans_enumerated", "group"})
    if (key != "group" || names.size() == summary.groups.size()) take_column(table, place_of_column(table, key));
}

/// `place` counts the groups from 1, most time first.
std::string group_section(const GroupSummary& group, double share, std::size_t place) {
  const bool in_full = place <= groups_in_full, unfolded = place <= most_unfolded && share >= unfolded_share;
  std::string out = fmt::format("<details class=\"group\" id=\"{}\"{}>\n{}{}", escaped(section_of(group.id)),
                                unfolded ? " open" : "", head_of(group, share), facts(group));
  if (group.status != GroupStatus::ok)
    out += fmt::format("<p class=\"warn\"><strong>{}</strong> {}</p>\n", row_for(no_plan, group.status),
                       escaped(group.status_reason));
  if (!in_full) {
    if (!group.best.empty())
      out += fmt::format("<p class=\"note\">Best plan: <code>{}</code></p>\n", escaped(group.best[0].plan));
    return out + "</details>\n";
  }
  std::string shared;
  const Table plans = plans_that_differ(group, shared);
  if (!group.best.empty()) out += plans_section(group, plans, shared);
  return out + texts(group, plans) + "</details>\n";
}

std::string left_out_words(std::size_t sections, std::size_t in_full) {
  std::string out;
  if (sections > in_full)
    out = fmt::format("The {} of most time {} charts and code; the others have facts only. ", counted(in_full, "group"),
                      in_full == 1 ? "has" : "have");
  if (sections > most_sections)
    out += fmt::format("{} no section. ", counted(sections - most_sections, "more group", "has", "have"));
  return out.empty() ? out : "<p class=\"note\">" + out + "The raw data has all of them.</p>\n";
}

}  // namespace

std::string groups_section(const Summary& summary) {
  const std::vector<const GroupSummary*> groups = heaviest_first(summary);
  double all = 0;
  for (const GroupSummary* group : groups) all += whole_time(*group).value;
  Table table = group_table(summary);
  table.left_out = std::max<std::int64_t>(0, std::ssize(table.rows) - static_cast<std::int64_t>(most_rows));
  table.rows.resize(std::min(table.rows.size(), most_rows));
  table.to_see_all = "the raw data of this page";
  take_columns_of_sections(table, summary);
  const std::string alike = take_equal_columns(table);
  std::vector<std::string> links;
  std::string sections;
  std::set<std::string> seen;
  for (const GroupSummary* group : groups) {
    if (seen.insert(section_of(group->id)).second && seen.size() <= most_sections)
      sections += group_section(*group, all > 0 ? whole_time(*group).value / all : 0, seen.size());
    links.push_back(seen.size() <= most_sections ? "#" + section_of(group->id) : "");
  }
  return "<p class=\"filter\" hidden><label>Show groups with <input type=\"search\" id=\"filter\" "
         "placeholder=\"name, shape, limiter\"></label> <span role=\"status\" id=\"found\"></span></p>\n" +
         (alike.empty() ? "" : fmt::format("<p class=\"note\">Alike in all groups listed: {}</p>\n", escaped(alike))) +
         html(table, true, links) +
         fmt::format(
             "<p class=\"note\">The groups of most time are unfolded, {} at most and none under {} of the time. Beside "
             "their plans stands what each part of the GPU would need alone, and the total that the model makes of the "
             "parts.</p>\n",
             most_unfolded, percent(unfolded_share)) +
         left_out_words(seen.size(), std::min(seen.size(), groups_in_full)) + sections;
}

}  // namespace tailor::report
