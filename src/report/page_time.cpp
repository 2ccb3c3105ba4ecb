// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The sections of the page that are charts of the whole run: speed-ups, where the time goes, the picture of the fusion,
// roofline and bandwidth. In: a Summary. Out: HTML. Called by page(); the bars of speed-ups by the index too. What is
// measured is green in every chart, and said in words beside it.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/text.h"
#include "report/chart_map.h"
#include "report/overview.h"
#include "report/page.h"
#include "report/svg.h"
#include "report/table.h"

namespace tailor::report {

namespace {

constexpr std::size_t most_bars = 6;
constexpr std::size_t most_dots = 400;
constexpr std::size_t most_reasons = 12;

/// "measured", "predicted", "predicted, with bounds": what a strategy's time at a level rests on.
std::string rests_on(const StrategyTotals& strategy, std::string_view level) {
  if (level == "sol") return "a bound";
  const LevelTime* time = nullptr;
  for (const LevelTime& one : strategy.time)
    if (one.level == level) time = &one;
  if (time == nullptr) return {};
  const bool mixed = !time->made_of.empty();
  const bool some_measured = std::any_of(time->made_of.begin(), time->made_of.end(),
                                         [](const NamedTime& one) { return one.name == "profiled"; });
  std::string words = level != "profiled" ? "predicted"
                      : !mixed            ? "measured"
                      : some_measured     ? "partly measured"
                                          : "predicted";
  if (strategy.groups_at_lower_bound > 0) words += ", with bounds";
  return words;
}

/// What a whole-model race says of a strategy against the baseline, whichever of the two was faster.
std::optional<double> measured_speedup(const Summary& summary, const std::string& strategy) {
  for (const ModuleTime& time : summary.modules) {
    if (!time.same_work) continue;
    if (time.strategy == strategy && time.baseline == summary.baseline) return time.speedup;
    if (time.baseline == strategy && time.strategy == summary.baseline && time.speedup > 0) return 1 / time.speedup;
  }
  return std::nullopt;
}

/// The name of a group; where another group has the same, with its shape too, and where that is the same with its id.
std::string distinct_name(const Summary& summary, const GroupSummary& group) {
  bool same_name = false, same_shape = false;
  for (const GroupSummary& other : summary.groups) {
    if (other.name != group.name || other.id == group.id) continue;
    same_name = true;
    same_shape = same_shape || other.shape == group.shape;
  }
  if (same_shape) return fmt::format("{} {}", group.name, group.id.substr(0, 10));
  return same_name ? fmt::format("{} {}", group.name, group.shape) : group.name;
}

NamedBar group_bar(const Summary& summary, const GroupSummary& group, double value, std::string words) {
  NamedBar bar{distinct_name(summary, group), std::move(words), value, "#" + section_of(group.id)};
  if (is_measured(group)) bar.css = "s2";
  return bar;
}

std::string shares_of_groups(const Summary& summary, Seconds all) {
  std::vector<NamedBar> bars;
  Seconds rest;
  std::size_t others = 0;
  double longest = 0;
  const auto words = [&](Seconds time) {
    return fmt::format("{} {}", percent(time / all), humane_seconds(time.value));
  };
  for (const GroupSummary* group : heaviest_first(summary)) {
    const Seconds time = whole_time(*group);
    if (!(time.value > 0)) continue;
    if (bars.size() < most_bars) {
      longest = std::max(longest, time.value);
      bars.push_back(group_bar(summary, *group, time.value, words(time)));
      if (group->occurrences != 1) bars.back().name += fmt::format(" ({} ×)", with_commas(group->occurrences));
    } else {
      rest += time;
      ++others;
    }
  }
  if (others > 0) bars.push_back({counted(others, "other group"), words(rest), rest.value, "#groups", "other"});
  return figure(bar_list(bars, "time of each group in a run", std::max(longest, rest.value)),
                "Time of all places of a group in one run, as a share of all fused kernels.");
}

std::string shares_of_limiters(const Summary& summary, Seconds all) {
  std::map<std::string, Seconds> by_part;
  for (const GroupSummary& group : summary.groups)
    by_part[best_time(group) ? group.best[0].estimates.back().bottleneck : "no plan: a bound"] += whole_time(group);
  std::vector<NamedBar> bars;
  for (const auto& [part, time] : by_part)
    if (time.value > 0)
      bars.push_back({part.empty() ? "measured: no part is known" : part,
                      fmt::format("{} {}", percent(time / all), humane_seconds(time.value)), time.value, "", "s1"});
  std::stable_sort(bars.begin(), bars.end(), [](const NamedBar& a, const NamedBar& b) { return a.value > b.value; });
  return figure(bar_list(bars, "time by what limits it", bars.empty() ? 0 : bars[0].value),
                "The same time by the part that takes longest in each kernel: what kernels wait for.");
}

std::string run_words(const StrategyTotals& strategy) {
  if (strategy.time.empty()) return {};
  const LevelTime& last = strategy.time.back();
  std::string out = fmt::format("One run takes {} in {} of fused kernels ({})", humane_seconds(last.time.value),
                                counted(strategy.launches, "launch"), rests_on(strategy, last.level));
  if (strategy.library_time)
    out += fmt::format(", and {} in {}, which no strategy changes", humane_seconds(strategy.library_time->value),
                       counted(strategy.library_calls, "library call"));
  else if (strategy.library_calls > 0)
    out += fmt::format(". Its {} no time", counted(strategy.library_calls, "library call", "has", "have"));
  return out + ".";
}

}  // namespace

SpeedupPanel speedup_panel(const Summary& summary) {
  SpeedupPanel panel;
  const StrategyTotals* baseline = find_strategy(summary, summary.baseline);
  if (baseline == nullptr) return panel;
  for (const StrategyTotals& strategy : summary.strategies) {
    SpeedupBar bar;
    bar.name = strategy.name;
    bar.chosen = strategy.name == summary.chosen;
    if (const auto at = speedup(strategy, *baseline)) {
      bar.kernels = at->of_kernels();
      bar.with_library = at->with_library();
      bar.note = rests_on(strategy, at->level);
    }
    bar.measured = measured_speedup(summary, strategy.name);
    panel.bars.push_back(std::move(bar));
  }
  const auto fastest = [](const SpeedupBar& bar) { return bar.kernels.value_or(0); };
  std::stable_sort(panel.bars.begin(), panel.bars.end(),
                   [&](const SpeedupBar& a, const SpeedupBar& b) { return fastest(a) > fastest(b); });
  return panel;
}

std::string speedup_figure(const Summary& summary) {
  const SpeedupPanel panel = speedup_panel(summary);
  if (panel.bars.empty()) return {};
  return figure(speedup_chart({panel}),
                fmt::format("How many times faster than {} each strategy is, by its time of one run. The one that this "
                            "page shows is in bold. Beside the first bar stands what the times are.",
                            summary.baseline));
}

std::string time_section(const Summary& summary) {
  const StrategyTotals* chosen = find_strategy(summary, summary.chosen);
  Seconds all;
  for (const GroupSummary& group : summary.groups) all += whole_time(group);
  if (!(all.value > 0)) return "<p>No group has a time yet.</p>\n";
  std::string out;
  if (chosen != nullptr)
    if (const std::string words = run_words(*chosen); !words.empty()) out = fmt::format("<p>{}</p>\n", escaped(words));
  return out + side_by_side(shares_of_groups(summary, all), shares_of_limiters(summary, all));
}

std::string map_section(const Summary& summary) {
  const FusionMap& map = summary.map;
  std::map<std::string_view, double> time_of;
  double all = 0;
  for (const GroupSummary& group : summary.groups) {
    time_of[group.id] += whole_time(group).value;
    all += whole_time(group).value;
  }
  std::vector<double> shares;
  for (const FusionBox& box : map.boxes)
    shares.push_back(all > 0 && time_of.contains(box.group) ? time_of[box.group] / all : -1);
  const DrawnMap drawn = map_chart(map, shares);
  if (drawn.svg.empty())
    return fmt::format("<p>{}</p>\n",
                       map.absent.empty() ? "There is nothing to draw: no group is known." : escaped(map.absent));
  std::string words =
      "<p class=\"note\">Each box is a group, all its places together. Grey boxes are library calls and loops. A line "
      "is "
      "a value that one kernel writes and another one reads; a dashed one leads back to an earlier box. The number on "
      "a "
      "line is its reason in the table. A line without a number begins or ends at something that is not fused.";
  if (drawn.boxes_left_out > 0)
    words += fmt::format(" Left out: {} boxes of less time or traffic.", drawn.boxes_left_out);
  words += "</p>\n";
  Table refused = refused_table(summary);
  if (!refused.rows.empty()) {
    refused.left_out = std::max<std::int64_t>(0, std::ssize(refused.rows) - static_cast<std::int64_t>(most_reasons));
    refused.rows.resize(std::min(refused.rows.size(), most_reasons));
    refused.to_see_all = "tailor fuse --why";
    words += "<h3>Why values go through memory</h3>\n" + html(refused, true);
  }
  return side_by_side("<figure class=\"wide\"><div class=\"scroll\">" + drawn.svg + "</div></figure>\n",
                      "<div>\n" + words + "</div>\n");
}

std::string roofline_section(const Summary& summary) {
  std::vector<RoofPoint> points;
  std::vector<NamedBar> bars;
  double all = 0;
  for (const GroupSummary& group : summary.groups) all += whole_time(group).value;
  const Roof* roof = summary.roofs.empty() ? nullptr : &summary.roofs[0];
  bool some_measured = false;
  for (const GroupSummary* group : heaviest_first(summary)) {
    const auto bandwidth = achieved_bandwidth(*group);
    if (!bandwidth) continue;
    some_measured = some_measured || is_measured(*group);
    if (points.size() < most_dots)
      points.push_back({distinct_name(summary, *group), group->flops / group->traffic.value,
                        group->flops / best_time(*group)->value, 0, all > 0 ? whole_time(*group).value / all : 0,
                        "#" + section_of(group->id)});
    if (bars.size() < most_bars && roof != nullptr && roof->bandwidth.value > 0)
      bars.push_back(
          group_bar(summary, *group, *bandwidth / roof->bandwidth,
                    fmt::format("{} {}/s", percent(*bandwidth / roof->bandwidth), humane_bytes(bandwidth->value))));
  }
  const std::string_view times = some_measured ? "measured time (green), else at its predicted one" : "predicted time";
  return side_by_side(
      figure(roofline(summary.roofs, points),
             fmt::format("Each dot is the best plan of a group at its {}; its area is its share of the time. The five "
                         "of most time have their names. Under the slope DRAM limits, under the flat line arithmetic "
                         "does.",
                         some_measured ? "measured time, or else its predicted one" : "predicted time")),
      figure(bar_list(bars, "achieved DRAM bandwidth of each group", 1),
             fmt::format("DRAM bandwidth that each group achieves at its {}, most time first: its bytes, each counted "
                         "once, over its time. The whole bar is the bandwidth of the data sheet.",
                         times)));
}

}  // namespace tailor::report
