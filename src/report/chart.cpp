// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The five charts of a report. In: plain structs with raw values in base units. Out: SVG text. Called by the page.
// First the charts with two axes (roofline, predicted over measured, histogram of times), then the bars (parts of
// estimates, totals of strategies). The rows of a bar chart share one axis, so that lengths compare across rows.
#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/svg.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr double frame_left = 64, frame_right = 744;
constexpr std::size_t colours = 8;

bool positive(double value) { return value > 0 && std::isfinite(value); }

bool usable(const Roof& roof) { return positive(roof.bandwidth.value) && positive(roof.flops); }

void horizontal_axis(Canvas& canvas, const Axis& x, double top, double bottom, std::string_view words, double unit) {
  for (const double value : ticks(x, 8)) {
    canvas.line(x.at(value), top, x.at(value), bottom, "grid");
    canvas.label(x.at(value), bottom + 16, tick_text(value / unit), "k", Anchor::middle);
  }
  canvas.line(x.from, bottom, x.to, bottom, "axis");
  canvas.label((x.from + x.to) / 2, bottom + 34, words, "t", Anchor::middle);
}

void vertical_axis(Canvas& canvas, const Axis& y, std::string_view words, double unit, int wanted = 6) {
  for (const double value : ticks(y, wanted)) {
    canvas.line(frame_left, y.at(value), frame_right, y.at(value), "grid");
    canvas.label(frame_left - 6, y.at(value) + 4, tick_text(value / unit), "k", Anchor::end);
  }
  canvas.line(frame_left, y.from, frame_left, y.to, "axis");
  canvas.label_upright(16, (y.from + y.to) / 2, words);
}

/// An empty frame that says why it is empty.
std::string nothing(std::string_view description, std::string_view words) {
  Canvas canvas(chart_width, 96, description);
  canvas.rect(frame_left, 8, frame_right - frame_left, 80, "box");
  canvas.label((frame_left + frame_right) / 2, 52, words, "k", Anchor::middle);
  return canvas.text();
}

/// Leaves room on both sides of a log axis.
void widen(double& low, double& high, double factor) {
  low /= factor;
  high *= factor;
}

}  // namespace

std::string roofline(const std::vector<Roof>& roofs, const std::vector<RoofPoint>& points) {
  const auto drawable = [&](const RoofPoint& p) {
    return positive(p.intensity) && positive(p.rate) && p.roof < roofs.size() && usable(roofs[p.roof]);
  };
  bool known = false;
  double x_low = 0.1, x_high = 10, y_high = 0;
  for (const Roof& roof : roofs)
    if (usable(roof)) {
      x_high = std::max(x_high, 4 * roof.flops / roof.bandwidth.value);
      y_high = std::max(y_high, 2 * roof.flops);
      known = true;
    }
  if (!known) return nothing("roofline", "no device figures: no roofline");
  double y_low = y_high / 1e4;
  for (const RoofPoint& p : points)
    if (drawable(p)) {
      x_low = std::min(x_low, p.intensity / 2);
      x_high = std::max(x_high, p.intensity * 2);
      y_low = std::min(y_low, p.rate / 2);
      y_high = std::max(y_high, p.rate * 2);
    }
  Canvas canvas(chart_width, 400, "roofline: operations per second over operations per byte");
  const Axis x{x_low, x_high, frame_left, frame_right, true};
  const Axis y{y_low, y_high, 350, 16, true};
  horizontal_axis(canvas, x, y.to, y.from, "arithmetic intensity (FLOP per DRAM byte)", 1);
  vertical_axis(canvas, y, "rate (GFLOP/s)", 1e9);
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const Roof& roof = roofs[i];
    if (!usable(roof)) continue;
    const double ridge = roof.flops / roof.bandwidth.value;
    const double start = std::max(x_low, y_low / roof.bandwidth.value);
    const std::string css = fmt::format("l{}", i % colours);
    canvas.line(x.at(start), y.at(start * roof.bandwidth.value), x.at(ridge), y.at(roof.flops), css,
                fmt::format("{}: DRAM {}/s", roof.device, humane_bytes(roof.bandwidth.value)));
    canvas.line(x.at(ridge), y.at(roof.flops), x.to, y.at(roof.flops), css,
                fmt::format("{}: {} GFLOP/s", roof.device, tick_text(roof.flops / 1e9)));
    canvas.label(x.to - 4, y.at(roof.flops) - 6, roof.device, "b", Anchor::end);
  }
  std::size_t left_out = 0;
  for (const RoofPoint& p : points) {
    if (!drawable(p)) {
      ++left_out;
      continue;
    }
    canvas.circle(x.at(p.intensity), y.at(p.rate), 5, fmt::format("s{}", p.roof % colours),
                  fmt::format("{}: {} FLOP/B, {} GFLOP/s", p.label, tick_text(p.intensity), tick_text(p.rate / 1e9)));
  }
  if (left_out > 0)
    canvas.label(frame_left + 8, 28, fmt::format("{} groups without floating operations are not drawn", left_out), "k");
  return canvas.text();
}

std::string scatter(const std::vector<Compared>& points) {
  std::vector<Compared> good;
  for (const Compared& p : points)
    if (positive(p.predicted.value) && positive(p.measured.value)) good.push_back(p);
  const std::string_view description = "predicted time over measured time";
  if (good.empty()) return nothing(description, "no measurements: nothing of this run was timed on a GPU");
  double low = good[0].measured.value, high = low;
  for (const Compared& p : good) {
    low = std::min({low, p.predicted.value, p.measured.value});
    high = std::max({high, p.predicted.value, p.measured.value});
  }
  widen(low, high, 1.5);
  const AxisUnit unit = seconds_unit(high);
  Canvas canvas(chart_width, 440, description);
  const Axis x{low, high, frame_left, frame_right, true};
  const Axis y{low, high, 390, 16, true};
  horizontal_axis(canvas, x, y.to, y.from, fmt::format("measured time ({})", unit.name), unit.size);
  vertical_axis(canvas, y, fmt::format("predicted time ({})", unit.name), unit.size);
  canvas.line(x.from, y.from, x.to, y.to, "axis", "predicted = measured");
  canvas.line(x.from, y.at(low * 1.25), x.at(high / 1.25), y.to, "dash", "25 % too slow");
  canvas.line(x.at(low * 1.25), y.from, x.to, y.at(high / 1.25), "dash", "25 % too fast");
  for (const Compared& p : good)
    canvas.circle(x.at(p.measured.value), y.at(p.predicted.value), 4, "s0",
                  fmt::format("{}: predicted {}, measured {}", p.label, humane_seconds(p.predicted.value),
                              humane_seconds(p.measured.value)));
  canvas.label(frame_left + 8, 30, fmt::format("{} kernels; dashed: ±25 %", good.size()), "k");
  return canvas.text();
}

std::string time_histogram(const std::vector<Seconds>& times, std::optional<Seconds> chosen) {
  std::vector<double> good;
  for (const Seconds time : times)
    if (positive(time.value)) good.push_back(time.value);
  const std::string_view description = "predicted times of all plans";
  if (good.empty()) return nothing(description, "no plan of this group has a predicted time");
  double low = *std::min_element(good.begin(), good.end());
  double high = *std::max_element(good.begin(), good.end());
  if (chosen && positive(chosen->value)) {
    low = std::min(low, chosen->value);
    high = std::max(high, chosen->value);
  }
  const bool log = high > 10 * low;
  widen(low, high, log ? 1.1 : 1.03);
  constexpr std::size_t bins = 60;
  std::vector<std::size_t> counts(bins, 0);
  const Axis x{low, high, frame_left, frame_right, log};
  const double bin_width = (frame_right - frame_left) / bins;
  for (const double time : good)
    ++counts[std::min(bins - 1, static_cast<std::size_t>((x.at(time) - frame_left) / bin_width))];
  const auto most = static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  Canvas canvas(chart_width, 190, description);
  const Axis y{0, std::max(most, 4.0), 140, 28, false};
  const AxisUnit unit = seconds_unit(low);
  vertical_axis(canvas, y, "plans", 1, 4);
  horizontal_axis(canvas, x, y.to, y.from, fmt::format("predicted time ({})", unit.name), unit.size);
  for (std::size_t i = 0; i < bins; ++i)
    if (counts[i] > 0) {
      const double top = y.at(static_cast<double>(counts[i]));
      canvas.rect(frame_left + bin_width * static_cast<double>(i) + 0.5, top, bin_width - 1, y.from - top, "bar",
                  fmt::format("{} plans", counts[i]));
    }
  if (chosen && positive(chosen->value)) {
    const double at = x.at(chosen->value);
    canvas.line(at, y.to - 6, at, y.from, "markline");
    canvas.polygon({{at - 5, y.to - 14}, {at + 5, y.to - 14}, {at, y.to - 4}}, "mark");
    const bool flip = at > (frame_left + frame_right) / 2;
    canvas.label(at + (flip ? -9 : 9), y.to - 6, fmt::format("chosen: {}", humane_seconds(chosen->value)), "b",
                 flip ? Anchor::end : Anchor::start);
  }
  return canvas.text();
}

// ---- bars

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
