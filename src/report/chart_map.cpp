// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Groups as boxes, values between kernels as lines. In: a FusionMap with equal groups once. Out: SVG. Called by the
// page.
//
// A model of equal layers runs in a circle through its boxes. Boxes come in the order of their first place in the
// model, so a line to an earlier box is one that closes a circle: it is drawn dashed, beside the others, and moves no
// box. All other lines are laid out in layers (layered.h).
#include "report/chart_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/counted.h"
#include "base/text.h"
#include "report/layered.h"
#include "report/svg.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr std::size_t most_kernels = 24, most_others = 12, most_circles = 16;
constexpr int longest_name = 28;
constexpr double letter = 6.7, padding = 8, box_height = 38, lane = 9;
constexpr LayeredGaps map_gaps{.beside = 14, .below = 26, .widest = 900};

/// Which boxes are drawn: the kernels of most time, and of what runs outside groups what moves most.
std::vector<bool> drawn_boxes(const FusionMap& map, const std::vector<double>& shares) {
  std::vector<double> moved(map.boxes.size(), 0);
  for (const FusionLink& link : map.links) {
    moved[link.from] += link.bytes.value;
    moved[link.to] += link.bytes.value;
  }
  std::vector<std::size_t> kernels, others;
  for (std::size_t i = 0; i < map.boxes.size(); ++i) (map.boxes[i].group.empty() ? others : kernels).push_back(i);
  const auto by = [](const std::vector<double>& weight) {
    return [&weight](std::size_t a, std::size_t b) { return weight[a] > weight[b]; };
  };
  std::stable_sort(kernels.begin(), kernels.end(), by(shares));
  std::stable_sort(others.begin(), others.end(), by(moved));
  kernels.resize(std::min(kernels.size(), most_kernels));
  others.resize(std::min(others.size(), most_others));
  std::vector<bool> drawn(map.boxes.size(), false);
  for (const auto* some : {&kernels, &others})
    for (const std::size_t i : *some) drawn[i] = true;
  return drawn;
}

struct BoxWords {
  std::string name, detail;
  double width = 0;
};

BoxWords words_of(const FusionBox& box, double share) {
  BoxWords words;
  words.name = elided(printable(box.name), longest_name);
  words.detail = fmt::format("{} ×", with_commas(whole_count(box.places)));
  if (share >= 0) words.detail += fmt::format(", {} of the time", percent(share));
  if (box.group.empty()) words.detail += ", not fused";
  words.width = letter * std::max(display_width(words.name), display_width(words.detail)) + 2 * padding;
  return words;
}

std::string tip_of(const FusionMap& map, const FusionLink& link) {
  std::string tip = fmt::format("{} -> {}: {}, {} in a run", map.boxes[link.from].name, map.boxes[link.to].name,
                                counted(link.edges, "edge"), humane_bytes(link.bytes.value));
  if (link.reason) tip += "; " + map.refused[*link.reason].reason;
  return tip;
}

using Route = std::vector<std::pair<double, double>>;

void draw_link(Canvas& canvas, const FusionMap& map, const FusionLink& link, const Route& route, bool circle) {
  canvas.path(route, circle ? "l7 way again" : "l7 way", tip_of(map, link));
  const auto [x, y] = route.back();
  if (circle)
    canvas.polygon({{x, y}, {x + 7, y - 4}, {x + 7, y + 4}}, "s7");
  else
    canvas.polygon({{x, y}, {x - 4, y - 7}, {x + 4, y - 7}}, "s7");
  if (!link.reason) return;
  const auto& [ax, ay] = route[route.size() / 2 - 1];
  const auto& [bx, by] = route[route.size() / 2];
  canvas.circle((ax + bx) / 2, (ay + by) / 2, 8, "number", tip_of(map, link));
  canvas.label((ax + bx) / 2, (ay + by) / 2 + 4, std::to_string(*link.reason + 1), "k", Anchor::middle);
}

void draw_box(Canvas& canvas, const FusionBox& box, const BoxWords& words, double share, Point at) {
  const auto draw = [&] {
    canvas.rect(at.x, at.y, words.width, box_height, box.group.empty() ? "library" : "kernel", box.name);
    if (share > 0) canvas.rect(at.x, at.y + box_height - 4, words.width * std::min(1.0, share), 4, "mark");
    canvas.fitted_label(at.x + padding, at.y + 15, words.name, letter * display_width(words.name), "n b");
    canvas.fitted_label(at.x + padding, at.y + 29, words.detail, letter * display_width(words.detail), "n k");
  };
  if (box.group.empty()) return draw();
  canvas.linked("#" + section_of(box.group), draw);
}

}  // namespace

std::string section_of(const std::string& group_id) { return "group-" + group_id.substr(0, 10); }

DrawnMap map_chart(const FusionMap& map, const std::vector<double>& shares) {
  const std::vector<bool> drawn = drawn_boxes(map, shares);
  std::vector<std::size_t> place(map.boxes.size(), 0), boxes;
  for (std::size_t i = 0; i < map.boxes.size(); ++i)
    if (drawn[i]) {
      place[i] = boxes.size();
      boxes.push_back(i);
    }
  if (boxes.empty()) return {};
  std::vector<BoxWords> words;
  std::vector<LayeredBox> sizes;
  for (const std::size_t i : boxes) {
    words.push_back(words_of(map.boxes[i], shares[i]));
    sizes.push_back({words.back().width, box_height});
  }
  std::vector<const FusionLink*> forward, circles;
  std::vector<LayeredEdge> edges;
  for (const FusionLink& link : map.links) {
    if (!drawn[link.from] || !drawn[link.to] || link.from == link.to) continue;
    if (link.from > link.to) {
      circles.push_back(&link);
      continue;
    }
    forward.push_back(&link);
    edges.push_back({place[link.from], place[link.to]});
  }
  std::stable_sort(circles.begin(), circles.end(),
                   [](const FusionLink* a, const FusionLink* b) { return a->bytes > b->bytes; });
  circles.resize(std::min(circles.size(), most_circles));
  const Layered layout = layered(sizes, edges, map_gaps);
  constexpr double margin = 4;
  Canvas canvas(layout.width + 2 * margin + 12 + lane * static_cast<double>(circles.size()), layout.height + 2 * margin,
                "the fusion: groups as boxes, values between kernels as lines");
  const auto at = [&](std::size_t i) {
    const Point corner = layout.corners[place[i]];
    return Point{corner.x + margin, corner.y + margin};
  };
  for (std::size_t c = 0; c < circles.size(); ++c) {
    const Point from = at(circles[c]->from), to = at(circles[c]->to);
    const double beside = layout.width + margin + 10 + lane * static_cast<double>(c);
    const double out = from.y + box_height / 2, in = to.y + box_height / 2;
    draw_link(canvas, map, *circles[c],
              {{from.x + words[place[circles[c]->from]].width, out},
               {beside, out},
               {beside, in},
               {to.x + words[place[circles[c]->to]].width, in}},
              true);
  }
  for (std::size_t i = 0; i < forward.size(); ++i) {
    Route route;
    for (const Point& point : layout.routes[i]) route.emplace_back(point.x + margin, point.y + margin);
    if (route.size() >= 2) draw_link(canvas, map, *forward[i], route, false);
  }
  for (const std::size_t i : boxes) draw_box(canvas, map.boxes[i], words[place[i]], shares[i], at(i));
  return {canvas.text(), map.boxes.size() - boxes.size()};
}

}  // namespace tailor::report
