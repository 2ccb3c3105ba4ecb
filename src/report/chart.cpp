// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The charts with two axes: roofline, predicted over measured, histogram of times. In: plain structs with raw values
// in base units. Out: SVG text. Called by the page. Charts of bars are in chart_bars.cpp, the picture of a fusion in
// chart_map.cpp.
#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/text.h"
#include "report/svg.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr double frame_left = 52, frame_right = chart_width - 10;
constexpr std::size_t colours = 8;

bool positive(double value) { return value > 0 && std::isfinite(value); }

bool usable(const Roof& roof) { return positive(roof.bandwidth.value) && positive(roof.flops); }

void horizontal_axis(Canvas& canvas, const Axis& x, double top, double bottom, std::string_view words, double unit) {
  for (const double value : ticks(x, 6)) {
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

namespace {

constexpr std::size_t most_labelled = 5;
constexpr int most_steps = 15;        ///< lines that a name may be moved, up and down together
constexpr double lowest_label = 262;  ///< above the axis

struct Box {
  double left, top, right, bottom;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

double radius_of(const RoofPoint& point) { return 3 + 13 * std::sqrt(std::clamp(point.share, 0.0, 1.0)); }

/// The name of a point beside it, on the side with room first, moved up and down by lines until it meets no other name
/// and no dot; none when all places do.
void label_point(Canvas& canvas, double px, double py, const RoofPoint& point, std::vector<Box>& taken) {
  constexpr double letter = 6.3, line = 13;
  const std::string words = elided(printable(point.label), 34);
  const double width = letter * display_width(words);
  const double radius = radius_of(point);
  const bool right_first = px + radius + 4 + width <= frame_right;
  for (int tried = 0; tried < 2 * most_steps; ++tried) {
    const bool left = (tried % 2 == 0) != right_first;
    const int away = (tried / 2 + 1) / 2, step = tried / 2 % 2 == 0 ? -away : away;
    const double start = left ? std::max(frame_left + 2, px - radius - 4 - width) : px + radius + 4;
    const double middle = py + line * step;
    const Box box{start, middle - line / 2, start + width, middle + line / 2};
    if (box.right > frame_right + 8 || box.top < 20 || box.bottom > lowest_label) continue;
    if (std::any_of(taken.begin(), taken.end(), [&](const Box& other) { return other.meets(box); })) continue;
    taken.push_back(box);
    if (step != 0) canvas.line(px, py, left ? start + width : start, middle, "grid");
    canvas.label(start, middle + 4, words, "t");
    return;
  }
}

template <class Drawable>
void draw_points(Canvas& canvas, const Axis& x, const Axis& y, std::vector<RoofPoint> points, Drawable drawable) {
  const std::size_t all = points.size();
  std::erase_if(points, [&](const RoofPoint& p) { return !drawable(p); });
  std::stable_sort(points.begin(), points.end(),
                   [](const RoofPoint& a, const RoofPoint& b) { return a.share > b.share; });
  for (const RoofPoint& p : points) {
    const auto dot = [&] {
      canvas.circle(x.at(p.intensity), y.at(p.rate), radius_of(p), fmt::format("s{} dot", p.roof % colours),
                    fmt::format("{}: {} FLOP/B, {} GFLOP/s, {} % of the time", p.label, tick_text(p.intensity),
                                tick_text(p.rate / 1e9), three_figures(100 * p.share)));
    };
    if (p.link.empty()) {
      dot();
    } else {
      canvas.linked(p.link, dot);
    }
  }
  std::vector<Box> taken;
  for (const RoofPoint& p : points) {
    const double px = x.at(p.intensity), py = y.at(p.rate), half = 0.7 * radius_of(p);
    taken.push_back({px - half, py - half, px + half, py + half});
  }
  if (points.size() < all) taken.push_back({frame_left, 16, frame_left + 220, 32});
  for (std::size_t i = 0; i < std::min(most_labelled, points.size()); ++i)
    label_point(canvas, x.at(points[i].intensity), y.at(points[i].rate), points[i], taken);
  if (points.size() < all)
    canvas.label(frame_left + 8, 28, fmt::format("not drawn: {} of no FLOP", counted(all - points.size(), "group")),
                 "k");
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
  Canvas canvas(chart_width, 310, "roofline: operations per second over operations per byte");
  const Axis x{x_low, x_high, frame_left, frame_right, true};
  const Axis y{y_low, y_high, 260, 16, true};
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
  draw_points(canvas, x, y, points, drawable);
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
  Canvas canvas(chart_width, 400, description);
  const Axis x{low, high, frame_left, frame_right, true};
  const Axis y{low, high, 350, 16, true};
  horizontal_axis(canvas, x, y.to, y.from, fmt::format("measured time ({})", unit.name), unit.size);
  vertical_axis(canvas, y, fmt::format("predicted time ({})", unit.name), unit.size);
  canvas.line(x.from, y.from, x.to, y.to, "axis", "predicted = measured");
  canvas.line(x.from, y.at(low * 1.25), x.at(high / 1.25), y.to, "dash", "25 % too slow");
  canvas.line(x.at(low * 1.25), y.from, x.to, y.at(high / 1.25), "dash", "25 % too fast");
  for (const Compared& p : good)
    canvas.circle(x.at(p.measured.value), y.at(p.predicted.value), 4, "s0",
                  fmt::format("{}: predicted {}, measured {}", p.label, humane_seconds(p.predicted.value),
                              humane_seconds(p.measured.value)));
  canvas.label(frame_left + 8, 30, fmt::format("{}; dashed: ±25 %", counted(good.size(), "kernel")), "k");
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
  constexpr std::size_t bins = 40;
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
                  counted(counts[i], "plan"));
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

}  // namespace tailor::report
