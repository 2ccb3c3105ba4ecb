// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The page of one report. In: a Summary. Out: one HTML file without anything beside it. Called by the
// command that writes reports. It is a list of sections in reading order: the answer first, then what
// it rests on.
#include "report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/counted.h"
#include "base/text.h"
#include "report/advice.h"
#include "report/assets.h"
#include "report/overview.h"
#include "report/table.h"

namespace tailor::report {

namespace {

struct LevelWords {
  std::string_view level, words;
};

/// What each level of the cost model accounts for, for the section on method.
constexpr auto level_words = std::to_array<LevelWords>({
    {"sol",
     "the group and the device only: each input read once, each output written once, operations over their peak, one "
     "launch. A bound, not a forecast."},
    {"projected",
     "the lowered program: requests and sectors per memory level, instructions per pipe, registers, occupancy, waves, "
     "bytes in flight, barriers, the tail. Registers and instructions are estimated before compiling."},
    {"compiled", "the same with the compiler's registers, spills and instructions."},
    {"counted", "the same with counters from executing sampled blocks on the simulator."},
    {"profiled", "times taken on a GPU."},
});

std::string list(const std::vector<std::string>& lines, std::string_view css) {
  if (lines.empty()) return {};
  std::string out = fmt::format("<ul class=\"{}\">\n", css);
  for (const std::string& line : lines) out += fmt::format("<li>{}</li>\n", escaped(line));
  return out + "</ul>\n";
}

std::string section(std::string_view id, std::string_view heading, const std::string& content) {
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", id, escaped(heading), content);
}

std::string device_and_manifest(const Summary& summary) {
  std::string out = "<dl class=\"facts\">\n";
  for (const auto& row : manifest_table(summary).rows)
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(std::get<std::string>(row[0])),
                       escaped(std::get<std::string>(row[1])));
  out += "</dl>\n";
  if (!summary.import.module.empty() || summary.import.instructions > 0) {
    out += fmt::format("<details><summary>Import of {}: {} in {}, {} of text</summary>\n",
                       escaped(summary.import.module), counted(summary.import.instructions, "instruction"),
                       counted(summary.import.computations, "computation"),
                       humane_bytes(static_cast<double>(summary.import.text_bytes)));
    out += html(import_table(summary)) + list(summary.import.warnings, "warnings") + "</details>\n";
  }
  return out;
}

std::string agreement(const Summary& summary) {
  const Table table = agreement_table(summary);
  return table.rows.empty()
             ? ""
             : "<details><summary>How well strategies that imitate XLA agree with the real one</summary>\n" +
                   html(table) + "</details>\n";
}

std::string strategies(const Summary& summary) {
  Table table = strategy_table(summary);
  const std::string equal = take_equal_columns(table);
  return fmt::format(
      "<p class=\"note\">One run of the model. Kernels, launches, traffic and times are of fused kernels; library "
      "calls are equal for all strategies. The marked row is the strategy of this page.{}</p>\n{}{}",
      equal.empty() ? "" : " Equal for all: " + escaped(equal) + ".", html(table, true), agreement(summary));
}

/// The first rows; the others are counted, and `command` shows them.
Table shortened(Table table, std::string_view command) {
  constexpr std::size_t most = 300;
  if (table.rows.size() <= most) return table;
  table.left_out = static_cast<std::int64_t>(table.rows.size() - most);
  table.rows.resize(most);
  table.to_see_all = command;
  return table;
}

std::string measured(const Summary& summary) {
  if (summary.measured.empty() && summary.times.empty() && summary.modules.empty() && summary.twins.empty())
    return "<p>Nothing of this run was timed on a GPU.</p>\n";
  std::string out;
  if (!summary.measured.empty())
    out = figure(scatter(summary.measured),
                 "Each dot is a kernel that was measured with cold caches. On the line the prediction is right; above "
                 "it the model expects too long a time.");
  if (!summary.modules.empty()) out += "<h3>Whole models, in turns</h3>\n" + html(module_table(summary), true);
  if (!summary.times.empty())
    out += "<h3>Plans</h3>\n" + html(shortened(measured_table(summary), "tailor report --top 0"), true);
  if (!summary.twins.empty())
    out += "<h3>The same plan twice in its race</h3>\n" + html(twin_table(summary), true) +
           "<p>One plan was loaded twice and should take the same time. A race cannot tell apart two plans that differ "
           "by less than that plan differs from itself. Where it was told apart from itself, the race named a false "
           "winner.</p>\n";
  return out;
}

std::string method(const Summary& summary) {
  std::set<std::string> used;
  for (const StrategyTotals& strategy : summary.strategies)
    for (const LevelTime& time : strategy.time) used.insert(time.level);
  for (const GroupSummary& group : summary.groups)
    for (const PlanSummary& plan : group.best)
      for (const EstimateSummary& estimate : plan.estimates) used.insert(estimate.level);
  std::string out = "<details><summary>What each level of the models accounts for</summary>\n<dl>\n";
  for (const LevelWords& row : level_words)
    if (used.count(std::string(row.level)) > 0)
      out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", row.level, escaped(row.words));
  out += "</dl>\n</details>\n<ul>\n";
  if (!has_measured_times(summary))
    out += "<li><strong>Not measured.</strong> Every time on this page is a prediction of a model.</li>\n";
  out +=
      "<li>A kernel marked <span class=\"badge unchecked\">unchecked</span> was written and not executed: nothing is "
      "known of its results. One marked <span class=\"badge passed\">passed</span> was executed: its results are those "
      "of the reference, within bounds on rounding, and no race or bad access was found.</li>\n"
      "<li>Library calls run as they are. They are counted and not fused.</li>\n"
      "<li>Intervals (low, high) are what the models claim. Parts of an estimate overlap in time and do not add "
      "up.</li>\n</ul>\n";
  return out;
}

std::string library(const Summary& summary) {
  constexpr std::size_t at_once = 4;
  const Table all = shortened(library_table(summary), "tailor report --top 0");
  if (all.rows.empty()) return "<p>None.</p>\n";
  if (all.rows.size() <= at_once + 2) return html(all, true);
  Table first = all, rest = all;
  first.rows.resize(at_once);
  first.left_out = 0;
  rest.rows.erase(rest.rows.begin(), rest.rows.begin() + at_once);
  return html(first, true) + fmt::format("<details><summary>{} more</summary>\n{}</details>\n",
                                         with_commas(std::ssize(rest.rows) + rest.left_out), html(rest, true));
}

/// What stands in the way of kernels that cannot be written, and of plans that were not looked at further.
std::string refused(const Summary& summary) {
  const Table unplanned = unplanned_table(summary);
  const Table table = rejection_table(summary);
  std::string out = unplanned.rows.empty() ? "<p>Every group has a plan.</p>\n"
                                           : "<h3>Groups without a kernel, by bytes</h3>\n" + html(unplanned, true);
  if (table.rows.empty()) return out + "<p>No plan was rejected.</p>\n";
  return out + "<details><summary>Rules that rejected plans</summary>\n" + html(table, true) +
         "<p class=\"note\">A sound rule drops a plan that cannot be written as a kernel. A heuristic rule drops one "
         "that is unlikely to be fast, and may be wrong.</p>\n</details>\n";
}

/// JSON inside a script element must not contain "</script": every '<' becomes an escape.
std::string data_block(const Summary& summary) {
  std::string out = "<script type=\"application/json\" id=\"data\">";
  for (const char c : raw_data(summary, groups_in_full)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out + "</script>\n";
}

}  // namespace

std::string figure(const std::string& svg, std::string_view words) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, escaped(words));
}

std::string side_by_side(const std::string& left, const std::string& right) {
  return "<div class=\"pair\">\n" + left + right + "</div>\n";
}

std::string page_head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n"
      "<style>\n{}\n{}\n{}\n</style>\n</head>\n<body>\n",
      escaped(title), page_css, chart_css, picture_css);
}

std::string question_and_verdict(std::string_view question, const std::string& asked, const Summary* of) {
  std::string out = fmt::format("<h1>{}</h1>\n", escaped(question));
  if (!asked.empty() && asked != question)
    out += fmt::format("<p class=\"asked\">The sweep asks: {}</p>\n", escaped(asked));
  if (of != nullptr && of->claim) {
    const Verdict said = verdict(*of->claim);
    const std::string_view css = !of->claim->not_judged.empty() ? "open" : of->claim->holds() ? "holds" : "fails";
    out += fmt::format("<p class=\"verdict {}\"><strong>{}</strong> {}</p>\n", css, escaped(said.head),
                       escaped(said.words));
  }
  if (of != nullptr && !of->scope.empty()) out += fmt::format("<p class=\"scope\">{}</p>\n", escaped(of->scope));
  return out;
}

std::string page(const Summary& summary) {
  const std::string question = summary.question.empty() ? "Report" : summary.question;
  const Answer said = answer(summary);
  const std::string rest = said.rest.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(said.rest));
  const std::string words = fmt::format("<div>\n<p class=\"answer\">{}</p>\n{}{}</div>\n", escaped(said.head), rest,
                                        list(summary.warnings, "warnings"));
  const bool kernels = !summary.groups.empty();
  const std::string bars = kernels ? speedup_figure(summary) : "";
  std::string contents, sections;
  const auto add = [&](std::string_view id, std::string_view heading, const std::string& content) {
    contents += fmt::format("<a href=\"#{}\">{}</a>\n", id, escaped(heading));
    sections += section(id, heading, content);
  };
  if (kernels) {
    add("time", "Where the time goes", time_section(summary));
    add("groups", "Groups of " + (summary.chosen.empty() ? "the model" : summary.chosen), groups_section(summary));
  }
  add("fusion", "Picture of the fusion", map_section(summary));
  add("strategies", "Strategies", strategies(summary));
  if (kernels) add("roofline", "Roofline, bandwidth", roofline_section(summary));
  add("measured", "Predicted and measured", measured(summary));
  if (kernels) add("refused", "What has no kernel", refused(summary));
  add("library", "Library calls", library(summary));
  add("method", "Method and limits", method(summary));
  add("run", "Device and run",
      device_and_manifest(summary) +
          "<p>The tables of this page, unrounded and in base units, are in this file as JSON, with plans of the groups "
          "that have charts. "
          "<button type=\"button\" id=\"save\" hidden>Save as JSON</button></p>\n");
  return page_head(question) + "<main>\n<header>\n" + question_and_verdict(question, summary.asked, &summary) +
         side_by_side(words, "<div>\n" + bars + list(advice(summary), "advice") + "</div>\n") +
         "<nav aria-label=\"contents\">\n" + contents + "</nav>\n</header>\n" + sections + "</main>\n" +
         data_block(summary) + fmt::format("<script>\n{}\n</script>\n</body>\n</html>\n", page_js);
}

}  // namespace tailor::report
