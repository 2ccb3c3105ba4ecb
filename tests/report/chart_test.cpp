// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The charts as SVG: golden texts for the example run, and well-formed documents whatever the numbers, among them
// infinities, NaN and no data at all. Places on an axis must follow the values. The oracle for documents is
// well_formed.h. Part of the suite `report`.
#include "report/chart.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "golden.h"
#include "report/svg.h"
#include "support/approx.h"
#include "well_formed.h"

using namespace tailor;
using namespace tailor::report;

namespace {

const std::vector<Roof> two_roofs{{"NVIDIA H200 SXM", {4.8e12}, 6.69e13}, {"NVIDIA V100", {9.0e11}, 1.57e13}};

double random_value(std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      return 0;
    case 1:
      return -1e-6;
    case 2:
      return std::numeric_limits<double>::quiet_NaN();
    case 3:
      return std::numeric_limits<double>::infinity();
    default:
      return std::exp(std::uniform_real_distribution(-30.0, 10.0)(random));
  }
}

void check_drawable(const std::string& svg) {
  CAPTURE(svg);
  CHECK(well_formed(svg) == "");
  CHECK(svg.find("nan") == svg.npos);
  CHECK(svg.find("\"inf") == svg.npos);
}

}  // namespace

TEST_CASE("the charts are the golden ones") {
  check_golden("roofline.svg", standalone(roofline(two_roofs, {{"layer_norm", 1.1, 4.2e12, 0, 0.64, "#group-2"},
                                                               {"softmax <f32>", 0.9, 6.5e11, 1, 0.04},
                                                               {"transpose", 0, 0, 0}})));
  check_golden("parts.svg",
               standalone(parts_chart(
                   {{"row threads=128", {6.8e-6}, {{"dram", {5.9e-6}}, {"l2", {3.1e-6}}, {"launch", {1.1e-6}}}, "dram"},
                    {"row threads=256", {7.4e-6}, {{"dram", {5.9e-6}}, {"latency", {6.6e-6}}}, "latency"}})));
  check_golden("speedups.svg",
               standalone(speedup_chart({{"bert <b> on h200",
                                          "bert-h200.html",
                                          {{"tailor", true, 9.25, 5.5, 6.125, "measured"},
                                           {"xla-priority", false, 4.25, std::nullopt, std::nullopt, "predicted"},
                                           {"imported", false, std::nullopt, std::nullopt, std::nullopt, ""}}},
                                         {"", "", {{"none", true, 0.5, 0.75, std::nullopt, "a bound"}}}})));
  check_golden("bars.svg", standalone(bar_list({{"softmax & co", "62.5 % 40.0 us", 40, "#group-1"},
                                                {"others", "12.5 % 8.00 us", 8, "", "other"}},
                                               "time of each group", 64)));
  check_golden("scatter.svg", standalone(scatter({{"a", {5e-6}, {5.5e-6}}, {"b", {40e-6}, {31e-6}}})));
  check_golden("scatter_empty.svg", standalone(scatter({})));
  check_golden("histogram.svg",
               standalone(time_histogram({{5e-6}, {5.1e-6}, {7e-6}, {9e-6}, {5.05e-6}}, Seconds{5e-6})));
}

TEST_CASE("charts without data say so and are well formed") {
  check_drawable(roofline({}, {}));
  check_drawable(parts_chart({}));
  check_drawable(speedup_chart({}));
  check_drawable(bar_list({}, "none", 1));
  check_drawable(scatter({}));
  check_drawable(time_histogram({}, std::nullopt));
  CHECK(scatter({}).find("no measurements") != std::string::npos);
}

TEST_CASE("charts of hostile numbers stay well formed") {
  constexpr unsigned seed = 3;
  CAPTURE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    const auto value = [&] { return random_value(random); };
    std::vector<RoofPoint> points;
    std::vector<Compared> compared;
    std::vector<Seconds> times;
    std::vector<PartsRow> parts;
    for (int k = 0; k < 6; ++k) {
      points.push_back({"a<b", value(), value(), random() % 3});
      compared.push_back({"a&b", {value()}, {value()}});
      times.push_back({value()});
      parts.push_back({"\"p\"", {value()}, {{"dram", {value()}}, {"l2", {value()}}}, "l2"});
    }
    check_drawable(roofline({{"d", {value()}, value()}, {"e", {1e12}, 1e13}}, points));
    check_drawable(scatter(compared));
    check_drawable(time_histogram(times, Seconds{value()}));
    check_drawable(parts_chart(parts));
    check_drawable(speedup_chart({{"a<b", "#&", {{"s", true, value(), value(), value(), "\"n\""}}}}));
    check_drawable(bar_list({{"a<b", "c&d", value(), "#\""}}, "d", value()));
  }
}

TEST_CASE("only the five points of most time have their names in a roofline, and no two names meet") {
  std::vector<RoofPoint> points;
  for (int i = 0; i < 9; ++i)
    points.push_back({fmt::format("group_{}", i), 1.0 + 0.01 * i, 1e11, 0, (i % 3) * 0.1 + i * 0.01, ""});
  const std::string svg = roofline(two_roofs, points);
  int named = 0;
  for (int i = 0; i < 9; ++i) named += svg.find(fmt::format(">group_{}</text>", i)) != svg.npos ? 1 : 0;
  CHECK(named == 5);
  for (const int heavy : {8, 5, 2, 7, 4}) CHECK(svg.find(fmt::format(">group_{}</text>", heavy)) != svg.npos);
}

TEST_CASE("the area of a dot in a roofline grows with its share of the time") {
  const auto radius = [](double share) {
    const std::string svg = roofline(two_roofs, {{"g", 1, 1e11, 0, share, ""}});
    const std::size_t at = svg.find(" r=\"") + 4;
    return std::stod(svg.substr(at));
  };
  CHECK(radius(0.01) < radius(0.1));
  CHECK(radius(1) - radius(0) == approx(2 * (radius(0.25) - radius(0))));
}

TEST_CASE("a bar is as long as its value, against the bar of all") {
  const std::string svg = bar_list({{"a", "", 3, ""}, {"b", "", 1.5, ""}}, "d", 6);
  std::vector<double> widths;
  for (std::size_t at = 0; (at = svg.find("class=\"bar\"", at)) != svg.npos; ++at)
    widths.push_back(std::stod(svg.substr(svg.find("width=\"", at) + 7)));
  REQUIRE(widths.size() == 2);
  CHECK(widths[0] == approx(2 * widths[1]));
}

TEST_CASE("a speed-up of two is a bar twice as long as the baseline's") {
  const std::string svg =
      speedup_chart({{"", "", {{"fast", true, 2.0, {}, {}, ""}, {"base", false, 1.0, {}, {}, ""}}}});
  std::vector<double> widths;
  for (std::size_t at = svg.find(">fast<"); (at = svg.find("<rect class=\"bar\"", at)) != svg.npos; ++at)
    widths.push_back(std::stod(svg.substr(svg.find("width=\"", at) + 7)));
  REQUIRE(widths.size() == 2);
  CHECK(widths[0] == approx(2 * widths[1]));
}

TEST_CASE("an axis maps its ends to its ends and ticks lie inside") {
  for (const bool log : {false, true})
    for (const double low : {1e-6, 0.3, 12.0})
      for (const double factor : {1.2, 3.0, 40.0, 1e6}) {
        const Axis axis{low, low * factor, 10, 110, log};
        CHECK(axis.at(axis.low) == approx(10));
        CHECK(axis.at(axis.high) == approx(110));
        const auto all = ticks(axis, 6);
        CAPTURE(low);
        CAPTURE(factor);
        CAPTURE(log);
        CHECK(all.size() <= 16);
        CHECK(all.size() >= 2);
        for (const double tick : all) {
          CHECK(axis.at(tick) >= 9.999);
          CHECK(axis.at(tick) <= 110.001);
        }
      }
}

TEST_CASE("tick labels have no needless digits") {
  CHECK(tick_text(0) == "0");
  CHECK(tick_text(0.5) == "0.5");
  CHECK(tick_text(2) == "2");
  CHECK(tick_text(1.25) == "1.25");
  CHECK(tick_text(1500) == "1500");
  CHECK(tick_text(1e6) == "1e+06");
}
