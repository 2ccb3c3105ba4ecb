// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where marks of charts stand and what they say, read back from the SVG and held against the values by formulas that
// stand here: golden charts show one example, in which two things may fall together. Values differ wherever two could
// be mixed up: predicted and measured, the binding part and the largest, the counts of a strategy. Part of the suite
// `report`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "report/chart.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::report;

namespace {

/// One element of a drawing: its attributes by name, and the words in it or in its title.
struct Mark {
  std::map<std::string, std::string> is;
  std::string words;
  double at(const std::string& name) const { return std::stod(is.at(name)); }
};

std::vector<Mark> marks(const std::string& svg, const std::string& element) {
  static const std::regex attribute("([a-z0-9-]+)=\"([^\"]*)\"");
  const std::regex one("<" + element + " ([^>]*?)(/>|>(<title>)?([^<]*)<)");
  std::vector<Mark> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), one), end; at != end; ++at) {
    Mark mark{{}, (*at)[4]};
    const std::string inside = (*at)[1];
    for (std::sregex_iterator a(inside.begin(), inside.end(), attribute); a != end; ++a) mark.is[(*a)[1]] = (*a)[2];
    found.push_back(mark);
  }
  return found;
}

/// What `svg` has of `css` among the marks of `element`.
std::vector<Mark> marks(const std::string& svg, const std::string& element, const std::string& css) {
  std::vector<Mark> all = marks(svg, element);
  std::erase_if(all, [&](const Mark& mark) { return mark.is.at("class") != css; });
  return all;
}

/// Places have one decimal.
constexpr double tenth = 0.0501;

double log_share(double value, double low, double high) { return std::log(value / low) / std::log(high / low); }

/// Where the axes of a drawing lie, as drawn.
struct Frame {
  double left = 0, right = 0, bottom = 0, top = 0;
  double x(double share) const { return left + (right - left) * share; }
  double y(double share) const { return bottom - (bottom - top) * share; }
};
Frame frame_of(const std::string& svg) {
  Frame frame;
  for (const Mark& line : marks(svg, "line", "axis")) {
    if (line.at("y1") == line.at("y2")) {
      frame.left = line.at("x1"), frame.right = line.at("x2"), frame.bottom = line.at("y1");
    } else {
      frame.top = std::min(line.at("y1"), line.at("y2"));
    }
  }
  return frame;
}

}  // namespace

TEST_CASE("a point of predicted over measured stands right by its measured time and up by its predicted one") {
  const std::vector<Compared> points{
      {"too slow", {8e-6}, {2e-6}}, {"too fast", {3e-6}, {24e-6}}, {"well", {9e-6}, {9e-6}}};
  const std::string svg = scatter(points);
  const std::vector<Mark> circles = marks(svg, "circle");
  REQUIRE(circles.size() == points.size());
  const Frame frame = frame_of(svg);
  const double low = 2e-6 / 1.5, high = 24e-6 * 1.5;  // both axes, from the least to the greatest of all times
  for (std::size_t i = 0; i < points.size(); ++i) {
    INFO(points[i].label);
    CHECK(std::abs(circles[i].at("cx") - frame.x(log_share(points[i].measured.value, low, high))) < tenth);
    CHECK(std::abs(circles[i].at("cy") - frame.y(log_share(points[i].predicted.value, low, high))) < tenth);
  }
  CHECK(circles[0].words == "too slow: predicted 8.00 us, measured 2.00 us");
  // A line's value anywhere: what is predicted over what is measured.
  const auto ratio = [&](const Mark& line, const std::string& end) {
    const double measured = low * std::pow(high / low, (line.at("x" + end) - frame.left) / (frame.right - frame.left));
    return low * std::pow(high / low, (frame.bottom - line.at("y" + end)) / (frame.bottom - frame.top)) / measured;
  };
  for (const auto& [words, is] : std::map<std::string, double>{
           {"predicted = measured", 1}, {"25 % too slow", 1.25}, {"25 % too fast", 1 / 1.25}}) {
    int seen = 0;
    for (const Mark& line : marks(svg, "line")) {
      if (line.words != words) continue;
      ++seen;
      for (const char* end : {"1", "2"}) CHECK(ratio(line, end) == approx(is).epsilon(0.002));
    }
    CHECK_MESSAGE(seen == 1, words);
  }
}

TEST_CASE("bars of parts: the total first, then what binds, then the largest, five of them, and one mark") {
  PartsRow row{"row", {10e-6}, {}, "latency"};
  for (const auto& [part, time] : std::vector<std::pair<std::string, double>>{{"launch", 1e-6},
                                                                              {"dram", 9e-6},
                                                                              {"l2", 4e-6},
                                                                              {"shared", 3e-6},
                                                                              {"issue", 2e-6},
                                                                              {"fma", 5e-6},
                                                                              {"alu", 6e-6},
                                                                              {"latency", 0.5e-6}})
    row.parts.push_back({part, {time}});
  const std::string svg = parts_chart({row});
  std::vector<std::string> names;
  for (const Mark& bar : marks(svg, "rect")) names.push_back(bar.words.substr(0, bar.words.find(':')));
  CHECK(names == std::vector<std::string>{"total", "latency", "dram", "alu", "fma", "l2"});
  REQUIRE(marks(svg, "rect", "s1").size() == 1);
  CHECK(marks(svg, "rect", "s1")[0].words == "latency: 500 ns");
  const double second = marks(svg, "rect")[0].at("width") / 10e-6;  // pixels, of the total
  for (const Mark& bar : marks(svg, "rect", "bar"))
    for (const NamedTime& part : row.parts)
      if (bar.words.starts_with(part.name)) CHECK(std::abs(bar.at("width") - part.time.value * second) < 2 * tenth);
  std::vector<std::string> binding;
  for (const Mark& label : marks(svg, "text"))
    if (label.words.find("binds") != std::string::npos) binding.push_back(label.words);
  CHECK(binding == std::vector<std::string>{"0.5  ◂ binds"});
}

TEST_CASE("what binds is marked where it is not the largest part and all parts are shown") {
  const std::string svg = parts_chart({{"row", {7e-6}, {{"dram", {6e-6}}, {"l2", {5e-6}}, {"issue", {4e-6}}}, "l2"}});
  REQUIRE(marks(svg, "rect", "s1").size() == 1);
  CHECK(marks(svg, "rect", "s1")[0].words == "l2: 5.00 us");
  CHECK(marks(svg, "rect", "bar").size() == 2);
}

TEST_CASE("where what binds has no time of its own to draw, no other part is marked in its place") {
  const std::string svg = parts_chart({{"row", {7e-6}, {{"dram", {6e-6}}, {"l2", {5e-6}}, {"launch", {0}}}, "launch"}});
  CHECK(marks(svg, "rect", "bar").size() == 2);
  CHECK(marks(svg, "rect", "s1").empty());
  CHECK(svg.find("binds") == svg.npos);
}

TEST_CASE("a roofline's point stands by operations per byte and per second, its roof is the lesser of both") {
  const std::vector<Roof> roofs{{"d", {2e12}, 4e13}, {"e", {1e12}, 1e13}};
  const std::vector<RoofPoint> points{{"a", 0.5, 8e11, 0}, {"b", 4, 3e12, 1}, {"no operations", 0, 0, 0}};
  const std::string svg = roofline(roofs, points);
  const Frame frame = frame_of(svg);
  const double x_low = 0.1, x_high = 4 * 20, y_high = 2 * 4e13, y_low = y_high / 1e4;
  const auto x = [&](double v) { return frame.x(log_share(v, x_low, x_high)); };
  const auto y = [&](double v) { return frame.y(log_share(v, y_low, y_high)); };
  const std::vector<Mark> circles = marks(svg, "circle");
  REQUIRE(circles.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(std::abs(circles[i].at("cx") - x(points[i].intensity)) < tenth);
    CHECK(std::abs(circles[i].at("cy") - y(points[i].rate)) < tenth);
    CHECK(circles[i].is.at("class") == fmt::format("s{} dot", i));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::vector<Mark> lines = marks(svg, "line", fmt::format("l{}", i));
    REQUIRE(lines.size() == 2);  // the slope and the flat part meet at the ridge
    const double ridge = roofs[i].flops / roofs[i].bandwidth.value;
    for (const auto& [mark, end] : {std::pair(lines[0], "2"), std::pair(lines[1], "1")}) {
      CHECK(std::abs(mark.at(std::string("x") + end) - x(ridge)) < tenth);
      CHECK(std::abs(mark.at(std::string("y") + end) - y(roofs[i].flops)) < tenth);
    }
    const double begin =
        x_low * std::pow(x_high / x_low, (lines[0].at("x1") - frame.left) / (frame.right - frame.left));
    CHECK(std::abs(lines[0].at("y1") - y(begin * roofs[i].bandwidth.value)) < 3 * tenth);
  }
  CHECK(svg.find(">not drawn: 1 group of no FLOP<") != svg.npos);
}

TEST_CASE("every time of a histogram is in the bar that stands over it") {
  for (const bool wide : {false, true}) {
    std::vector<Seconds> times;
    for (int i = 0; i < 40; ++i) times.push_back({(wide ? 1e-6 * (1 + 0.7 * i) : 20e-6 * (1 + 0.07 * i))});
    const Seconds chosen{25e-6};
    const std::string svg = time_histogram(times, chosen);
    const Frame frame = frame_of(svg);
    const double low = times.front().value / (wide ? 1.1 : 1.03), high = times.back().value * (wide ? 1.1 : 1.03);
    const bool log = wide;  // from a tenth of the longest time on
    const auto x = [&](double v) { return frame.x(log ? log_share(v, low, high) : (v - low) / (high - low)); };
    double sum = 0;
    for (const Mark& bar : marks(svg, "rect", "bar")) {
      const double from = bar.at("x") - 0.6, to = bar.at("x") + bar.at("width") + 0.6;
      const double inside = static_cast<double>(
          std::count_if(times.begin(), times.end(), [&](Seconds t) { return x(t.value) >= from && x(t.value) <= to; }));
      CHECK(std::stod(bar.words) <= inside);
      sum += std::stod(bar.words);
    }
    CHECK(sum == 40);
    REQUIRE(marks(svg, "line", "markline").size() == 1);
    CHECK(std::abs(marks(svg, "line", "markline")[0].at("x1") - x(chosen.value)) < tenth);
    CHECK(svg.find(">chosen: 25.0 us<") != svg.npos);
  }
}
