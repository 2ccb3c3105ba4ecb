// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures of fused graphs: boxes never overlap and data flows downwards, whatever the graph; text lies inside its box;
// SVG is well formed and DOT's strings are closed, whatever names there are. The oracles are geometry worked out here,
// well_formed.h and a reader of DOT's strings. Part of the suite `report`.
#include "report/picture.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <regex>
#include <set>

#include "base/error.h"
#include "report/layered.h"
#include "support/thorough.h"
#include "well_formed.h"

using namespace tailor;
using namespace tailor::report;

namespace {

struct RandomLayout {
  std::vector<LayeredBox> boxes;
  std::vector<LayeredEdge> edges;
};

RandomLayout random_layout(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomLayout made;
  for (std::uint64_t i = random() % 40 + 1; i-- > 0;)
    made.boxes.push_back({static_cast<double>(random() % 200 + 1), static_cast<double>(random() % 90 + 1)});
  for (std::uint64_t i = random() % 80; made.boxes.size() > 1 && i-- > 0;) {
    const std::size_t a = random() % made.boxes.size(), b = random() % made.boxes.size();
    if (a != b) made.edges.push_back({std::min(a, b), std::max(a, b)});
  }
  return made;
}

/// Names with everything that a text form could stumble over.
std::string wild_name(std::mt19937_64& random) {
  static const std::vector<std::string> parts{
      "add", "\"",  "\\",   "<", "&amp;",
      "\n",  "]]>", "->",   "ä", "語",
      ";",   "{",   "\x01", " ", "very_long_name_of_an_operation_in_some_fusion_"};
  std::string name;
  for (std::uint64_t i = random() % 5; i-- > 0;) name += parts[random() % parts.size()];
  return name;
}

Picture random_picture(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<std::string> levels{"register", "warp", "block", "cluster", "grid", "again"};
  Picture picture{wild_name(random), wild_name(random), {}};
  for (std::uint64_t p = random() % 3 + 1; p-- > 0;) {
    PicturePanel& panel = picture.panels.emplace_back();
    panel.title = wild_name(random);
    panel.left_out = static_cast<std::int64_t>(random() % 2);
    for (std::uint64_t b = random() % 8; b-- > 0;) {
      PictureBox& box = panel.boxes.emplace_back();
      box.name = wild_name(random);
      box.detail = wild_name(random);
      box.kind = static_cast<PictureKind>(random() % 3);
      box.share = random() % 2 == 0 ? -1 : static_cast<double>(random() % 100) / 99;
      box.times = static_cast<std::int64_t>(random() % 3 + 1);
      for (std::uint64_t n = random() % 6; n-- > 0;) box.nodes.push_back({wild_name(random), wild_name(random)});
      for (std::size_t n = 1; n < box.nodes.size(); ++n)
        box.lines.push_back({random() % n, n, levels[random() % levels.size()]});
    }
    for (std::size_t b = 1; b < panel.boxes.size(); ++b) {
      const std::size_t from = random() % b;
      const auto node = [&](std::size_t of) {
        const std::size_t count = panel.boxes[of].nodes.size();
        return count == 0 || random() % 2 == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(random() % count);
      };
      panel.lines.push_back({from, b, "memory", 2, node(from), node(b)});
    }
  }
  return picture;
}

/// What stands outside of DOT's strings; fails where one is not closed.
std::string outside_strings(const std::string& text) {
  std::string rest;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\') {
      ++i;
      continue;
    }
    if (text[i] == '"')
      inside = !inside;
    else if (!inside)
      rest += text[i];
  }
  CHECK_FALSE(inside);
  return rest;
}

}  // namespace

TEST_CASE("boxes of a layered drawing do not overlap, and every edge points downwards") {
  const LayeredGaps gaps{10, 20, 500};
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const RandomLayout made = random_layout(seed);
    const Layered drawn = layered(made.boxes, made.edges, gaps);
    REQUIRE(drawn.corners.size() == made.boxes.size());
    for (std::size_t a = 0; a < made.boxes.size(); ++a) {
      CHECK(drawn.corners[a].x >= -1e-6);
      CHECK(drawn.corners[a].x + made.boxes[a].width <= drawn.width + 1e-6);
      CHECK(drawn.corners[a].y + made.boxes[a].height <= drawn.height + 1e-6);
      for (std::size_t b = 0; b < a; ++b) {
        const Point p = drawn.corners[a], q = drawn.corners[b];
        const bool beside = p.x + made.boxes[a].width <= q.x + 1e-6 || q.x + made.boxes[b].width <= p.x + 1e-6;
        const bool below = p.y + made.boxes[a].height <= q.y + 1e-6 || q.y + made.boxes[b].height <= p.y + 1e-6;
        REQUIRE((beside || below));
      }
    }
    for (std::size_t e = 0; e < made.edges.size(); ++e) {
      const std::vector<Point>& route = drawn.routes[e];
      REQUIRE(route.size() >= 2);
      for (std::size_t i = 1; i < route.size(); ++i) CHECK(route[i].y >= route[i - 1].y);
    }
  }
}

TEST_CASE("a line of a layered drawing passes no box that it does not belong to") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const RandomLayout made = random_layout(seed);
    const Layered drawn = layered(made.boxes, made.edges, {10, 20, 500});
    for (std::size_t e = 0; e < made.edges.size(); ++e)
      for (std::size_t i = 1; i < drawn.routes[e].size(); ++i) {
        const Point a = drawn.routes[e][i - 1], b = drawn.routes[e][i];
        if (a.x != b.x) continue;  // between two layers, where no box is
        for (std::size_t box = 0; box < made.boxes.size(); ++box) {
          if (box == made.edges[e].from || box == made.edges[e].to) continue;
          const Point corner = drawn.corners[box];
          const bool crosses = a.x > corner.x && a.x < corner.x + made.boxes[box].width &&
                               a.y < corner.y + made.boxes[box].height && b.y > corner.y;
          REQUIRE_FALSE(crosses);
        }
      }
  }
}

TEST_CASE("edges in a circle are drawn and nothing waits for them") {
  const Layered drawn = layered({{10, 10}, {10, 10}, {10, 10}}, {{0, 1}, {1, 2}, {2, 1}}, {});
  CHECK(drawn.corners.size() == 3);
  CHECK(drawn.routes.size() == 3);
}

TEST_CASE("a chain of a hundred thousand boxes is laid out in a moment" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  std::vector<LayeredBox> boxes(100'000, {20, 10});
  std::vector<LayeredEdge> edges;
  for (std::size_t i = 1; i < boxes.size(); ++i) edges.push_back({i - 1, i});
  CHECK(layered(boxes, edges, {}).corners.back().y > 1e6);
}

TEST_CASE("a picture is well formed whatever its names are") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    CHECK(well_formed(picture_svg(random_picture(seed))) == "");
  }
  CHECK(well_formed(picture_svg({})) == "");
}

TEST_CASE("text of a picture is as long as its place, and lies inside of the picture") {
  const std::regex label("x=\"([0-9.]+)\" y=\"([0-9.]+)\" textLength=\"([0-9.]+)\"");
  const std::regex size("viewBox=\"0 0 ([0-9.]+) ([0-9.]+)\"");
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const std::string svg = picture_svg(random_picture(seed));
    std::smatch found;
    REQUIRE(std::regex_search(svg, found, size));
    const double width = std::stod(found[1]), height = std::stod(found[2]);
    std::vector<std::array<double, 3>> labels;
    for (std::sregex_iterator at(svg.begin(), svg.end(), label), end; at != end; ++at)
      labels.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3])});
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto& [x, y, length] = labels[i];
      CHECK(x + length <= width);
      CHECK(y <= height);
      for (std::size_t k = 0; k < i; ++k) {
        const auto& [other_x, other_y, other_length] = labels[k];
        const bool apart = std::abs(y - other_y) >= 11 || x + length <= other_x || other_x + other_length <= x;
        REQUIRE(apart);
      }
    }
  }
}

TEST_CASE("strings of DOT are closed, and no name gets out of them") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Picture picture = random_picture(seed);
    const std::string rest = outside_strings(dot(picture));
    CHECK(std::count(rest.begin(), rest.end(), '{') == std::count(rest.begin(), rest.end(), '}'));
    CHECK(rest.find("add") == std::string::npos);
    std::size_t lines = 0;
    for (const PicturePanel& panel : picture.panels) {
      lines += panel.lines.size();
      for (const PictureBox& box : panel.boxes) lines += box.lines.size();
    }
    std::size_t arrows = 0;
    for (std::size_t at = rest.find("->"); at != std::string::npos; at = rest.find("->", at + 1)) ++arrows;
    CHECK(arrows == lines);
  }
}

TEST_CASE("a small picture shows its legend, its shares and what was left out") {
  Picture picture{"model", "time", {{"main", {}, {}, 3}}};
  picture.panels[0].boxes.push_back({"1 softmax",
                                     "2 operations",
                                     PictureKind::kernel,
                                     0.25,
                                     2,
                                     4,
                                     {{"max", "reduce f32[8]"}, {"exp", "exp f32[8,4]"}},
                                     {{0, 1, "block"}}});
  picture.panels[0].boxes.push_back({"dot", "", PictureKind::library});
  picture.panels[0].lines.push_back({0, 1, "memory", 2});
  const std::string svg = picture_svg(picture);
  for (const std::string_view words :
       {"1 softmax, 4 times", "25.0 %", "block: shared memory", "memory, between kernels", "bars: share of time",
        "left out: 3 of the cheapest", "class=\"library\"", ": 2 values"})
    CHECK_MESSAGE(svg.find(words) != std::string::npos, words);
  CHECK(svg.find("grid: a barrier") == std::string::npos);
  const std::string text = dot(picture);
  for (const std::string_view words : {"subgraph cluster_p0b0", "p0b0n0 -> p0b0n1", "ltail=cluster_p0b0", "dashed"})
    CHECK_MESSAGE(text.find(words) != std::string::npos, words);
}

TEST_CASE("a picture that is stopped says so") {
  std::stop_source source;
  source.request_stop();
  Picture picture{"model", "", {{"main", {{"box", ""}}, {}, 0}}};
  CHECK_THROWS_AS(picture_svg(picture, source.get_token()), Error);
  CHECK_THROWS_AS(dot(picture, source.get_token()), Error);
}
