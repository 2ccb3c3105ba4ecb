// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The sections of the page about single groups. In: the summary of a group. Out: HTML with its best
// plans, the parts of their estimates, the times of all its plans, its program and its CUDA text.
// Called by page().
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/indexed.h"
#include "base/text.h"
#include "report/chart.h"
#include "report/overview.h"
#include "report/page.h"
#include "report/table.h"

namespace tailor::report {

namespace {

constexpr std::size_t plans_with_parts = 3;

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

/// The plans with only the words in which they differ; the table for programs keeps all of them.
std::string plans_section(const GroupSummary& group, const PlanWords& words) {
  Table table = plan_table(group);
  const std::size_t plan = place_of_column(table, "plan");
  for (std::size_t i = 0; i < table.rows.size(); ++i) table.rows[i][plan] = words.own[i];
  std::string out;
  if (!words.shared.empty())
    out += fmt::format("<p class=\"note\">All plans listed: <code>{}</code></p>\n", escaped(words.shared));
  return out + html(table, true);
}

std::string parts_section(const GroupSummary& group, const PlanWords& words) {
  std::vector<PartsRow> rows;
  for (const PlanSummary& plan : group.best) {
    if (rows.size() == plans_with_parts) break;
    if (plan.estimates.empty()) continue;
    const EstimateSummary& top = plan.estimates.back();
    const auto rank = static_cast<std::size_t>(&plan - group.best.data());
    rows.push_back({fmt::format("#{} {}", rank + 1, words.own[rank]), top.total, top.parts, top.bottleneck});
  }
  return parts_chart(rows);
}

std::string facts(const GroupSummary& group) {
  return fmt::format(
      "<p>{} time{} in the model · {} · {} of DRAM traffic and {} floating operations each · "
      "{} plans enumerated, {} rejected, {} lowered, {} compiled.</p>\n",
      with_commas(group.occurrences), group.occurrences == 1 ? "" : "s", escaped(group.shape),
      humane_bytes(group.traffic.value), with_commas(static_cast<std::int64_t>(group.flops)),
      with_commas(group.enumerated), with_commas(group.rejected), with_commas(group.lowered),
      with_commas(group.compiled));
}

}  // namespace

std::string group_section(const GroupSummary& group) {
  const std::string id = group.id.substr(0, 10);
  std::string out =
      fmt::format("<section class=\"group\" id=\"group-{}\">\n<h3>{} <code class=\"id\">{}</code> {}</h3>\n",
                  escaped(id), escaped(group.name), escaped(id), group.best.empty() ? "" : badge(group.best[0]));
  out += facts(group);
  if (group.status != GroupStatus::ok)
    out += fmt::format("<p class=\"warn\"><strong>{}</strong> {}</p>\n", row_for(no_plan, group.status),
                       escaped(group.status_reason));
  if (!group.best.empty()) {
    const PlanWords words = plan_words(group);
    out += plans_section(group, words);
    out += figure(parts_section(group, words),
                  fmt::format("Parts of the estimates of the best plans, level {}. The part that binds "
                              "is marked; total is what the model makes of all of them.",
                              group.best[0].estimates.empty() ? "none" : group.best[0].estimates.back().level));
    out += figure(time_histogram(group.all_times, time_in_histogram(group)),
                  fmt::format("Predicted times of {} plans of this group{}.",
                              with_commas(static_cast<std::int64_t>(group.all_times.size())),
                              group.times_level.empty() ? "" : ", level " + group.times_level));
  }
  if (!group.rejections.empty()) out += details("What was rejected in this group", html(rejection_table(group)));
  if (!group.kernel_text.empty()) out += details("Program of the best plan", code(group.kernel_text));
  if (!group.cuda.empty()) out += details("CUDA of the best plan", code(group.cuda));
  for (const PlanSummary& plan : group.best)
    if (!plan.compile_log.empty()) out += details("Compiler's words on " + plan.plan, code(plan.compile_log));
  return out + "</section>\n";
}

}  // namespace tailor::report
