// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The bar charts: parts of estimates and totals of strategies. Rows share one axis, so lengths compare across rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/chart.h"
#include "report/svg.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr double bar_height = 9, bar_step = 13;
constexpr std::size_t most_parts = 6;

bool drawable(Seconds time) { return time.value > 0 && std::isfinite(time.value); }

/// The parts worth a bar: the largest, the binding one always among them, the rest of no weight left out.
std::vector<NamedTime> largest_parts(const PartsRow& row) {
  std::vector<NamedTime> parts;
  for (const NamedTime& part : row.parts)
    if (drawable(part.time)) parts.push_back(part);
  std::stable_sort(parts.begin(), parts.end(), [&](const NamedTime& a, const NamedTime& b) {
    return std::pair(a.name == row.bottleneck, a.time.value) > std::pair(b.name == row.bottleneck, b.time.value);
  });
  if (parts.size() > most_parts) parts.resize(most_parts);
  return parts;
}

struct Panel {
  std::string_view heading;
  double x = 0;
  std::vector<std::optional<double>> values;
  std::vector<std::string> words;
};

void draw_panel(Canvas& canvas, const Panel& panel, const std::vector<StrategyBar>& bars, double panel_width) {
  double most = 0;
  for (const auto& value : panel.values) most = std::max(most, value.value_or(0));
  canvas.label(panel.x, 16, panel.heading, "b");
  canvas.line(panel.x, 24, panel.x, 28 + 24 * static_cast<double>(bars.size()), "axis");
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double y = 30 + 24 * static_cast<double>(i);
    const double length = most > 0 ? panel.values[i].value_or(0) / most * (panel_width - 70) : 0;
    canvas.rect(panel.x, y, length, 16, bars[i].chosen ? "s1" : "bar",
                fmt::format("{}: {} {}", bars[i].name, panel.heading, panel.words[i]));
    canvas.label(panel.x + length + 5, y + 12, panel.words[i], bars[i].chosen ? "b" : "t");
  }
}

}  // namespace

std::string parts_chart(const std::vector<PartsRow>& all) {
  constexpr double left = 96, right = 620;
  std::vector<PartsRow> rows;
  std::copy_if(all.begin(), all.end(), std::back_inserter(rows), [](const auto& row) { return drawable(row.total); });
  double longest = 0;
  double height = 12;
  std::vector<std::vector<NamedTime>> parts;
  for (const PartsRow& row : rows) {
    parts.push_back(largest_parts(row));
    longest = std::max(longest, row.total.value);
    for (const NamedTime& part : parts.back()) longest = std::max(longest, part.time.value);
    height += 38 + bar_step * static_cast<double>(parts.back().size());
  }
  const AxisUnit unit = seconds_unit(longest);
  Canvas canvas(chart_width, rows.empty() ? 40 : height + 34, "parts of the estimates");
  if (rows.empty() || longest <= 0) {
    canvas.label(8, 24, "no estimate with parts", "k");
    return canvas.text();
  }
  const Axis x{0, longest * 1.02, left, right, false};
  for (const double value : ticks(x, 6)) {
    canvas.line(x.at(value), 6, x.at(value), height - 4, "grid");
    canvas.label(x.at(value), height + 10, tick_text(value / unit.size), "k", Anchor::middle);
  }
  canvas.label((left + right) / 2, height + 28, fmt::format("time ({}); parts overlap and do not add up", unit.name),
               "t", Anchor::middle);
  double y = 12;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    canvas.label(8, y + 10, elided(printable(rows[r].label), 96), "b");
    y += 16;
    const auto bar = [&](const NamedTime& part, std::string_view css, std::string_view note) {
      const double end = x.at(part.time.value);
      canvas.label(left - 6, y + 9, part.name, "k", Anchor::end);
      canvas.rect(left, y, end - left, bar_height, css,
                  fmt::format("{}: {}", part.name, humane_seconds(part.time.value)));
      canvas.label(end + 5, y + 9, fmt::format("{}{}", tick_text(part.time.value / unit.size), note), "k");
      y += bar_step;
    };
    bar({"total", rows[r].total}, "s7", "");
    for (const NamedTime& part : parts[r])
      bar(part, part.name == rows[r].bottleneck ? "s1" : "bar", part.name == rows[r].bottleneck ? "  ◂ binds" : "");
    y += 9;
  }
  return canvas.text();
}

std::string strategy_chart(const std::vector<StrategyBar>& all) {
  std::vector<StrategyBar> bars = all;
  for (StrategyBar& bar : bars) {
    if (bar.time && !drawable(*bar.time)) bar.time.reset();
    if (!std::isfinite(bar.traffic.value) || bar.traffic.value < 0) bar.traffic = {0};
  }
  constexpr double names = 110, panel_width = 162;
  const double height = 40 + 24 * static_cast<double>(bars.size());
  Canvas canvas(chart_width, height, "kernels, launches, bytes and predicted time of each strategy");
  double most_bytes = 0, most_time = 0;
  for (const StrategyBar& bar : bars) {
    most_bytes = std::max(most_bytes, bar.traffic.value);
    if (bar.time) most_time = std::max(most_time, bar.time->value);
  }
  const AxisUnit bytes = bytes_unit(most_bytes);
  const AxisUnit seconds = seconds_unit(most_time);
  const std::string traffic_heading = fmt::format("traffic ({})", bytes.name);
  const std::string time_heading = fmt::format("predicted ({})", seconds.name);
  std::vector<Panel> panels{
      {"kernels", 0, {}, {}}, {"launches", 0, {}, {}}, {traffic_heading, 0, {}, {}}, {time_heading, 0, {}, {}}};
  for (const StrategyBar& bar : bars) {
    const auto add = [&](std::size_t panel, std::optional<double> value, std::string words) {
      panels[panel].values.push_back(value);
      panels[panel].words.push_back(std::move(words));
    };
    add(0, static_cast<double>(bar.kernels), with_commas(bar.kernels));
    add(1, static_cast<double>(bar.launches), with_commas(bar.launches));
    add(2, bar.traffic.value, tick_text(bar.traffic.value / bytes.size));
    const std::optional<double> time = bar.time ? std::optional(bar.time->value) : std::nullopt;
    add(3, time, bar.time ? tick_text(bar.time->value / seconds.size) : "none");
  }
  for (std::size_t i = 0; i < bars.size(); ++i)
    canvas.label(names - 8, 42 + 24 * static_cast<double>(i), elided(printable(bars[i].name), 15),
                 bars[i].chosen ? "b" : "t", Anchor::end);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    panels[p].x = names + panel_width * static_cast<double>(p);
    draw_panel(canvas, panels[p], bars, panel_width);
  }
  return canvas.text();
}

}  // namespace tailor::report
