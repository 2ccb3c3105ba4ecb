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
  std::string out = "<dl>\n";
  for (const auto& row : manifest_table(summary).rows)
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(std::get<std::string>(row[0])),
                       escaped(std::get<std::string>(row[1])));
  out += "</dl>\n";
  if (!summary.import.module.empty() || summary.import.instructions > 0) {
    out += fmt::format("<details><summary>Import of {}: {} instructions in {} computations, {} of text</summary>\n",
                       escaped(summary.import.module), with_commas(summary.import.instructions),
                       with_commas(summary.import.computations),
                       humane_bytes(static_cast<double>(summary.import.text_bytes)));
    out += html(import_table(summary)) + list(summary.import.warnings, "warnings") + "</details>\n";
  }
  return out;
}

std::string agreement(const Summary& summary) {
  const Table table = agreement_table(summary);
  return table.rows.empty() ? "" : "<h3>Agreement with the real XLA</h3>\n" + html(table);
}

std::string strategies(const Summary& summary) {
  std::vector<StrategyBar> bars;
  for (const StrategyTotals& s : summary.strategies)
    bars.push_back({s.name, s.name == summary.chosen, s.kernels, s.launches, s.traffic,
                    s.time.empty() ? std::nullopt : std::optional(s.time.back().time)});
  return figure(strategy_chart(bars),
                "The chosen strategy is in bold. Kernels: fused kernels; launches: of those in a run, loop bodies by "
                "their "
                "trips; traffic and time: of those too. Library calls, equal for all strategies, are in the table "
                "alone.") +
         html(strategy_table(summary), true) + agreement(summary);
}

std::string roofline_section(const Summary& summary) {
  std::vector<RoofPoint> points;
  for (const GroupSummary& group : summary.groups)
    if (const auto time = best_time(group); time && group.traffic.value > 0 && time->value > 0)
      points.push_back({group.name, group.flops / group.traffic.value, group.flops / time->value, 0});
  return figure(roofline(summary.roofs, points),
                "Each point is the best plan of one group at its predicted time. Under the slope, DRAM decides.");
}

std::string measured(const Summary& summary) {
  std::string out = figure(scatter(summary.measured), "One point per kernel with a measured time.");
  if (!summary.modules.empty()) out += "<h3>Whole models, in turns</h3>\n" + html(module_table(summary), true);
  if (!summary.times.empty()) out += "<h3>Plans</h3>\n" + html(measured_table(summary), true);
  if (!summary.twins.empty())
    out += "<h3>The same plan twice in its race</h3>\n" + html(twin_table(summary), true) +
           "<p>Loaded apart, it should take the same time: two plans that differ by less than it does from itself are "
           "not told apart by a race, and one that was told apart from itself is a false winner.</p>\n";
  return out;
}

std::string groups(const Summary& summary) {
  std::string out = html(group_table(summary), true);
  std::vector<const GroupSummary*> heaviest;
  for (const GroupSummary& group : summary.groups) heaviest.push_back(&group);
  std::stable_sort(heaviest.begin(), heaviest.end(),
                   [&](const GroupSummary* a, const GroupSummary* b) { return whole_time(*a) > whole_time(*b); });
  std::set<std::string> seen;
  for (const GroupSummary* group : heaviest)
    if (seen.insert(group->id.substr(0, 10)).second) out += group_section(*group);
  return out;
}

std::string method(const Summary& summary) {
  std::set<std::string> used;
  for (const StrategyTotals& strategy : summary.strategies)
    for (const LevelTime& time : strategy.time) used.insert(time.level);
  for (const GroupSummary& group : summary.groups)
    for (const PlanSummary& plan : group.best)
      for (const EstimateSummary& estimate : plan.estimates) used.insert(estimate.level);
  std::string out = "<dl>\n";
  for (const LevelWords& row : level_words)
    if (used.count(std::string(row.level)) > 0)
      out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", row.level, escaped(row.words));
  out += "</dl>\n<ul>\n";
  if (!has_measured_times(summary))
    out += "<li><strong>Not measured.</strong> Every time on this page is a prediction of a model.</li>\n";
  out +=
      "<li>A kernel marked <span class=\"badge unchecked\">unchecked</span> was written but not executed: nothing is "
      "claimed about its results. <span class=\"badge passed\">passed</span>: it was executed and its results are "
      "those of the reference, within bounds on rounding; nothing that no right kernel does was found.</li>\n"
      "<li>Library calls run as they are; they are counted, not fused.</li>\n"
      "<li>Intervals (low, high) are the models' own claims. Parts of an estimate overlap in time and do not add "
      "up.</li>\n</ul>\n";
  return out;
}

std::string rejected(const Summary& summary) {
  const Table table = rejection_table(summary);
  std::vector<std::string> missing;
  for (const GroupSummary& group : summary.groups)
    if (group.best.empty())
      missing.push_back(fmt::format(
          "{} ({} ×, {} each): {}. {}", group.name, with_commas(group.occurrences), humane_bytes(group.traffic.value),
          group.status == GroupStatus::ok ? "no plan" : name(group.status), group.status_reason));
  std::string out = table.rows.empty() ? "<p>No plan was rejected.</p>\n" : html(table, true);
  out +=
      "<p class=\"note\">Sound: lowering itself refuses the plan, or a rule proved to imply it. Heuristic: a shortcut "
      "that may lose a good plan.</p>\n";
  if (!missing.empty()) out += "<h3>Groups without a plan</h3>\n" + list(missing, "warnings");
  return out;
}

/// JSON inside a script element must not contain "</script": every '<' becomes an escape.
std::string data_block(const Summary& summary) {
  std::string out = "<script type=\"application/json\" id=\"data\">";
  for (const char c : raw_data(summary)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out + "</script>\n";
}

}  // namespace

std::string figure(const std::string& svg, std::string_view words) {
  return fmt::format("<figure><div class=\"scroll\">{}</div><figcaption>{}</figcaption></figure>\n", svg,
                     escaped(words));
}

std::string page(const Summary& summary) {
  const std::string question = summary.question.empty() ? "Report" : summary.question;
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light "
      "dark\">\n<title>{}</title>\n<style>\n{}\n{}\n</style>\n</head>\n<body>\n"
      "<main>\n<header>\n<h1>{}</h1>\n<p class=\"answer\">{}</p>\n",
      escaped(question), page_css, chart_css, escaped(question), escaped(answer(summary)));
  out += list(summary.warnings, "warnings") + list(advice(summary), "advice") + "</header>\n";
  out += section("run", "Device and run", device_and_manifest(summary));
  out += section("strategies", "Strategies", strategies(summary));
  out += section("roofline", "Roofline", roofline_section(summary));
  out += section("groups", "Groups of " + (summary.chosen.empty() ? "the model" : summary.chosen), groups(summary));
  out += section("measured", "Predicted and measured", measured(summary));
  out += section("rejected", "What was rejected, and why", rejected(summary));
  out += section("library", "Library calls",
                 summary.library.empty() ? "<p>None.</p>\n" : html(library_table(summary), true));
  out += section("method", "Method and limits", method(summary));
  out += section("raw", "Raw data",
                 "<p>Everything above, unrounded and in base units, is in this file as JSON. "
                 "<button type=\"button\" id=\"save\" hidden>Save as JSON</button></p>\n");
  out += "</main>\n" + data_block(summary) + fmt::format("<script>\n{}\n</script>\n</body>\n</html>\n", page_js);
  return out;
}

}  // namespace tailor::report
