// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The charts that are made of bars: speed-ups of strategies, named shares (where the time goes, achieved bandwidth),
// parts of estimates. In: plain structs with raw values. Out: SVG text. Called by the page and the index.
//
// The bars of a chart share one axis, so that lengths compare. A name stands above its bar: names of groups are long,
// and a chart must be readable on a telephone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "base/text.h"
#include "report/chart.h"
#include "report/svg.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr double bar_height = 9, bar_step = 13;
constexpr std::size_t most_parts = 5;
constexpr double bold_letter = 7;  ///< a wide one of a label
constexpr int longest_head = 62;   ///< columns of text that a chart is wide

bool drawable(double value) { return value > 0 && std::isfinite(value); }
bool drawable(Seconds time) { return drawable(time.value); }

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

/// Nothing to draw, said in a line.
std::string only_words(std::string_view description, std::string_view words) {
  Canvas canvas(chart_width, 40, description);
  canvas.label(8, 24, words, "k");
  return canvas.text();
}

struct SpeedupKind {
  std::string_view words;
  std::string_view css;
  std::optional<double> SpeedupBar::*value;
};
constexpr auto speedup_kinds = std::to_array<SpeedupKind>({
    {"fused kernels alone", "bar", &SpeedupBar::kernels},
    {"with library calls", "s5", &SpeedupBar::with_library},
    {"whole model, measured in turns", "s2", &SpeedupBar::measured},
});

/// The kinds of a bar that can be drawn, with their values.
std::vector<std::pair<const SpeedupKind*, double>> values_of(const SpeedupBar& bar) {
  std::vector<std::pair<const SpeedupKind*, double>> found;
  for (const SpeedupKind& kind : speedup_kinds)
    if (const std::optional<double> value = bar.*kind.value; value && drawable(*value))
      found.emplace_back(&kind, *value);
  return found;
}

constexpr double panel_head = 28, between_bars = 8;

double height_of(const SpeedupPanel& panel) {
  double height = panel.title.empty() ? 4 : panel_head;
  for (const SpeedupBar& bar : panel.bars)
    height += between_bars + bar_step * static_cast<double>(std::max<std::size_t>(1, values_of(bar).size()));
  return height;
}

/// A line for each kind that the panels have.
double draw_legend(Canvas& canvas, const std::vector<SpeedupPanel>& panels) {
  double x = 0;
  for (const SpeedupKind& kind : speedup_kinds) {
    const auto has = [&](const SpeedupBar& bar) { return (bar.*kind.value).has_value(); };
    if (std::none_of(panels.begin(), panels.end(),
                     [&](const SpeedupPanel& panel) { return std::any_of(panel.bars.begin(), panel.bars.end(), has); }))
      continue;
    canvas.rect(x, 4, 10, 10, kind.css);
    canvas.label(x + 14, 13, kind.words, "k");
    x += 34 + 5.6 * static_cast<double>(kind.words.size());
  }
  return 22;
}

/// Returns where the next bar begins.
double draw_bar(Canvas& canvas, const SpeedupBar& bar, const Axis& x, double y) {
  canvas.label(x.from - 8, y + 9, elided(printable(bar.name), 15), bar.chosen ? "b" : "t", Anchor::end);
  const auto values = values_of(bar);
  if (values.empty()) {
    canvas.label(x.from + 5, y + 9, bar.note.empty() ? "no time" : bar.note, "k");
    return y + bar_step + between_bars;
  }
  for (const auto& [kind, value] : values) {
    const std::string words = fmt::format("{} ×", three_figures(value));
    canvas.rect(x.from, y, x.at(value) - x.from, bar_height, kind->css,
                fmt::format("{}, {}: {}", bar.name, kind->words, words));
    canvas.label(x.at(value) + 5, y + 9, words, bar.chosen ? "b" : "k");
    if (kind == values.front().first)
      canvas.label(x.at(value) + 12 + bold_letter * display_width(words), y + 9, bar.note, "k");
    y += bar_step;
  }
  return y + between_bars;
}

}  // namespace

std::string speedup_chart(const std::vector<SpeedupPanel>& panels) {
  constexpr double left = 98, right = 236;
  double most = 0, height = 26;
  for (const SpeedupPanel& panel : panels) {
    height += height_of(panel);
    for (const SpeedupBar& bar : panel.bars)
      for (const auto& [kind, value] : values_of(bar)) most = std::max(most, value);
  }
  constexpr std::string_view description = "how many times faster than the baseline each strategy is";
  if (most <= 0) return only_words(description, "no two strategies have a time, so there is no speed-up to show");
  Canvas canvas(chart_width, height + 22, description);
  const Axis x{0, std::max(1.0, most), left, right, false};
  double y = draw_legend(canvas, panels);
  canvas.line(x.at(1), y, x.at(1), height, "dash", "1 × is as fast as the baseline");
  canvas.label(x.at(1), height + 14, "1 × = baseline", "k", Anchor::middle);
  for (const SpeedupPanel& panel : panels) {
    y += panel.title.empty() ? 4 : panel_head;
    const auto head = [&] {
      canvas.label(0, y - 8, elided(printable(panel.title), longest_head), panel.link.empty() ? "b" : "b link");
    };
    if (!panel.link.empty()) canvas.linked(panel.link, head);
    if (panel.link.empty() && !panel.title.empty()) head();
    for (const SpeedupBar& bar : panel.bars) y = draw_bar(canvas, bar, x, y);
  }
  return canvas.text();
}

std::string bar_list(const std::vector<NamedBar>& bars, std::string_view description, double full) {
  constexpr double right = 300, step = 31;
  if (bars.empty() || !drawable(full)) return only_words(description, "nothing to show");
  Canvas canvas(chart_width, step * static_cast<double>(bars.size()) + 4, description);
  double y = 0;
  for (const NamedBar& bar : bars) {
    const double length = drawable(bar.value) ? std::min(1.0, bar.value / full) * right : 0;
    const std::string tip = fmt::format("{}: {}", bar.name, bar.words);
    const auto draw = [&] {
      canvas.label(0, y + 12, elided(printable(bar.name), longest_head), bar.link.empty() ? "t" : "t link");
      canvas.rect(0, y + 16, right, bar_height, "other faintest");
      canvas.rect(0, y + 16, length, bar_height, bar.css, tip);
      canvas.label(right + 6, y + 25, bar.words, "k");
    };
    if (bar.link.empty()) {
      draw();
    } else {
      canvas.linked(bar.link, draw);
    }
    y += step;
  }
  return canvas.text();
}

std::string parts_chart(const std::vector<PartsRow>& all) {
  constexpr double left = 62, right = 334;
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
  constexpr std::string_view description = "parts of the estimates";
  if (rows.empty() || longest <= 0) return only_words(description, "no estimate with parts");
  Canvas canvas(chart_width, height + 34, description);
  const Axis x{0, longest * 1.02, left, right, false};
  for (const double value : ticks(x, 6)) {
    canvas.line(x.at(value), 6, x.at(value), height - 4, "grid");
    canvas.label(x.at(value), height + 10, tick_text(value / unit.size), "k", Anchor::middle);
  }
  canvas.label((left + right) / 2, height + 28, fmt::format("time ({}); parts overlap and do not add up", unit.name),
               "t", Anchor::middle);
  double y = 12;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    canvas.label(0, y + 10, elided(printable(rows[r].label), longest_head), "b");
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

}  // namespace tailor::report
