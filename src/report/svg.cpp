// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes, axes, ticks. In: places in a chart and values on its axes. Out: SVG text
// with one decimal of a pixel, so that a chart has a golden file. Called by the
// charts.
#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/indexed.h"
#include "base/text.h"
#include "report/assets.h"
#include "report/table.h"

namespace tailor::report {

namespace {

/// A coordinate with at most one decimal; anything not finite would break the document, so it becomes 0.
std::string px(double value) {
  if (!std::isfinite(value)) return "0";
  const double tenths = std::round(value * 10);
  if (std::fmod(tenths, 10) == 0) return fmt::format("{:.0f}", tenths / 10 + 0.0);
  return fmt::format("{:.1f}", tenths / 10);
}

std::string closed(std::string_view element, std::string_view title) {
  if (title.empty()) return "/>\n";
  return fmt::format("><title>{}</title></{}>\n", escaped(title), element);
}

AxisUnit unit_for(double largest, const auto& units) {
  for (const AxisUnit& unit : units)
    if (largest >= unit.size) return unit;
  return units.back();
}

}  // namespace

Canvas::Canvas(double width, double height, std::string_view description)
    : body_(fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 {} {}\" width=\"{}\" "
                        "height=\"{}\" role=\"img\" aria-label=\"{}\">\n",
                        px(width), px(height), px(width), px(height), escaped(description))) {}

void Canvas::rect(double x, double y, double width, double height, std::string_view css, std::string_view title) {
  body_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", css, px(x), px(y),
                       px(std::max(0.0, width)), px(std::max(0.0, height)));
  body_ += closed("rect", title);
}

void Canvas::line(double x0, double y0, double x1, double y1, std::string_view css, std::string_view title) {
  body_ +=
      fmt::format("<line class=\"{}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", css, px(x0), px(y0), px(x1), px(y1));
  body_ += closed("line", title);
}

void Canvas::circle(double x, double y, double radius, std::string_view css, std::string_view title) {
  body_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", css, px(x), px(y), px(radius));
  body_ += closed("circle", title);
}

void Canvas::polygon(const std::vector<std::pair<double, double>>& corners, std::string_view css,
                     std::string_view title) {
  std::string points;
  for (const auto& [x, y] : corners) points += fmt::format("{}{},{}", points.empty() ? "" : " ", px(x), px(y));
  body_ += fmt::format("<polygon class=\"{}\" points=\"{}\"", css, points) + closed("polygon", title);
}

void Canvas::label(double x, double y, std::string_view words, std::string_view css, Anchor anchor) {
  static constexpr std::array<std::string_view, 3> names{"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  body_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>\n", css.empty() ? "t" : css, px(x), px(y),
                       row_for(names, anchor), escaped(words));
}

void Canvas::fitted_label(double x, double y, std::string_view words, double width, std::string_view css) {
  if (words.empty()) return;
  body_ += fmt::format(
      "<text class=\"{}\" x=\"{}\" y=\"{}\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>\n", css,
      px(x), px(y), px(width), escaped(words));
}

void Canvas::path(const std::vector<std::pair<double, double>>& points, std::string_view css, std::string_view title) {
  std::string way;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto& [x, y] = points[i];
    if (i == 0) {
      way = fmt::format("M{} {}", px(x), px(y));
    } else if (points[i - 1].first == x || points[i - 1].second == y) {
      way += fmt::format("L{} {}", px(x), px(y));
    } else {
      const double half = (points[i - 1].second + y) / 2;
      way += fmt::format("C{} {} {} {} {} {}", px(points[i - 1].first), px(half), px(x), px(half), px(x), px(y));
    }
  }
  body_ += fmt::format("<path class=\"{}\" d=\"{}\"", css, way) + closed("path", title);
}

void Canvas::label_upright(double x, double y, std::string_view words, std::string_view css) {
  body_ +=
      fmt::format("<text class=\"{}\" text-anchor=\"middle\" transform=\"translate({} {}) rotate(-90)\">{}</text>\n",
                  css.empty() ? "t" : css, px(x), px(y), escaped(words));
}

void Canvas::linked(std::string_view target, const std::function<void()>& draw) {
  body_ += fmt::format("<a href=\"{}\">\n", escaped(target));
  draw();
  body_ += "</a>\n";
}

std::string Canvas::text() const { return body_ + "</svg>\n"; }

double Axis::at(double value) const {
  const double share = log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return from + share * (to - from);
}

std::vector<double> ticks(const Axis& axis, int wanted) {
  std::vector<double> out;
  const auto keep = [&](double value) {
    if (value >= axis.low * (1 - 1e-9) && value <= axis.high * (1 + 1e-9)) out.push_back(value);
  };
  if (axis.log) {
    const int first = static_cast<int>(std::floor(std::log10(axis.low)));
    const int last = static_cast<int>(std::ceil(std::log10(axis.high)));
    const int step = std::max(1, (last - first) / std::max(1, wanted));
    const bool few = std::log10(axis.high / axis.low) < 2.5;
    for (int decade = first; decade <= last; decade += step) {
      keep(std::pow(10.0, decade));
      if (few) keep(2 * std::pow(10.0, decade));
      if (few) keep(5 * std::pow(10.0, decade));
    }
    if (out.size() >= 2) return out;
    out.clear();
  }
  const double raw = (axis.high - axis.low) / std::max(1, wanted);
  const double size = std::pow(10.0, std::floor(std::log10(raw)));
  const double step = raw / size <= 1 ? size : raw / size <= 2 ? 2 * size : raw / size <= 5 ? 5 * size : 10 * size;
  const double start = std::ceil(axis.low / step - 1e-9);
  for (double i = 0; (start + i) * step <= axis.high + step * 1e-6; ++i) keep((start + i) * step);
  return out;
}

std::string tick_text(double value) {
  if (value == 0) return "0";
  if (std::abs(value) >= 1e6 || std::abs(value) < 1e-3) return fmt::format("{:.3g}", value);
  std::string out = three_figures(value);
  if (out.find('.') == out.npos) return out;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

std::string percent(double share) {
  return share > 0 && share < 0.001 ? "under 0.1 %" : three_figures(100 * share) + " %";
}

AxisUnit seconds_unit(double largest) {
  return unit_for(largest, std::to_array<AxisUnit>({{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}));
}

AxisUnit bytes_unit(double largest) {
  return unit_for(largest, std::to_array<AxisUnit>({{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1, "B"}}));
}

std::string standalone(std::string_view svg) {
  const std::size_t head = svg.find('>') + 1;
  return fmt::format("{}\n<style>{}</style>{}", svg.substr(0, head), chart_css, svg.substr(head));
}

}  // namespace tailor::report
