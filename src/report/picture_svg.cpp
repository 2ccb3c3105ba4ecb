// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture as SVG. In: records of boxes and lines. Out: an image that stands alone. Called for `tailor fuse --to
// FILE.svg`.
//
// It is laid out twice by layers (layered.h): the operations of each kernel inside its box, which gives the box its
// size, and then the boxes of each graph. Graphs stand below one another. Text is in a font of fixed width and each
// line of it is given the length that its place has, so that no text runs over another, whatever font a viewer has.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/stop.h"
#include "base/text.h"
#include "report/assets.h"
#include "report/layered.h"
#include "report/picture.h"
#include "report/picture_levels.h"
#include "report/svg.h"
#include "report/width.h"

namespace tailor::report {

namespace {

constexpr double margin = 16, letter = 6.7, line_height = 15, padding = 8;
constexpr double node_height = 2 * line_height + 6;
constexpr int longest_name = 34, longest_title = 44;
constexpr double least_width = 560;  ///< of the whole, for title and legend

double width_of(std::string_view words) { return letter * display_width(words); }

std::string node_name(const PictureNode& node) { return elided(node.name, longest_name); }
std::string node_detail(const PictureNode& node) { return elided(node.detail, longest_name); }

struct DrawnBox {
  std::vector<std::string> words;  ///< under the border, from the top
  Layered inside;
  std::vector<LayeredBox> nodes;
  LayeredBox size;
  double head = 0;  ///< height of words and bar
};

DrawnBox draw(const PictureBox& box) {
  DrawnBox drawn;
  const std::string times = box.times > 1 ? fmt::format(", {} times", with_commas(box.times)) : "";
  drawn.words.push_back(elided(box.name, longest_title - display_width(times)) + times);
  const std::string share =
      box.share >= 0 ? fmt::format("{}{:.1f} %", box.detail.empty() ? "" : ", ", 100 * box.share) : "";
  for (const std::string& line : wrapped(box.detail + share, longest_title))
    if (!line.empty()) drawn.words.push_back(line);
  double width = 0;
  for (const std::string& line : drawn.words) width = std::max(width, width_of(line));
  drawn.head = padding + line_height * static_cast<double>(drawn.words.size()) + (box.share >= 0 ? 10 : 2);
  double height = drawn.head;
  if (!box.nodes.empty()) {
    for (const PictureNode& node : box.nodes)
      drawn.nodes.push_back(
          {std::max(width_of(node_name(node)), width_of(node_detail(node))) + 2 * padding, node_height});
    std::vector<LayeredEdge> edges;
    for (const PictureLine& line : box.lines) edges.push_back({line.from, line.to});
    drawn.inside = layered(drawn.nodes, edges, {12, 22, 600});
    width = std::max(width, drawn.inside.width);
    height += 6 + drawn.inside.height;
  }
  drawn.size = {width + 2 * padding, height + padding};
  return drawn;
}

/// A line through points and an arrow at its end.
void draw_line(Canvas& canvas, const std::vector<Point>& route, double dx, double dy, const PictureLine& line) {
  const LevelRow& level = level_row(line.level);
  std::vector<std::pair<double, double>> points;
  for (const Point& point : route) points.emplace_back(point.x + dx, point.y + dy);
  const std::string words =
      line.times > 1 ? fmt::format("{}: {} values", level.meaning, line.times) : std::string(level.meaning);
  canvas.path(points, fmt::format("{} way{}", level.css, line.level == "again" ? " again" : ""), words);
  const auto [x, y] = points.back();
  canvas.polygon({{x, y}, {x - 4, y - 7}, {x + 4, y - 7}}, fmt::format("s{}", level.css.substr(1)));
}

void draw_box(Canvas& canvas, const PictureBox& box, const DrawnBox& drawn, double x, double y) {
  constexpr std::array<std::string_view, 3> styles = {"kernel", "library", "control"};
  std::string tip = box.name;
  if (!box.detail.empty()) tip += ": " + box.detail;
  canvas.rect(x, y, drawn.size.width, drawn.size.height, styles[static_cast<std::size_t>(box.kind)], tip);
  double at = y + padding + line_height - 4;
  for (std::size_t i = 0; i < drawn.words.size(); ++i) {
    canvas.fitted_label(x + padding, at, drawn.words[i], width_of(drawn.words[i]), i == 0 ? "n b" : "n k");
    at += line_height;
  }
  if (box.share >= 0) {
    const double room = drawn.size.width - 2 * padding;
    canvas.rect(x + padding, y + drawn.head - 8, room, 4, "other");
    canvas.rect(x + padding, y + drawn.head - 8, room * std::min(1.0, box.share), 4, "mark",
                fmt::format("{:.1f} %", 100 * box.share));
  }
  if (box.nodes.empty()) return;
  const double dx = x + (drawn.size.width - drawn.inside.width) / 2, dy = y + drawn.head + 6;
  for (std::size_t i = 0; i < box.lines.size(); ++i) draw_line(canvas, drawn.inside.routes[i], dx, dy, box.lines[i]);
  for (std::size_t i = 0; i < box.nodes.size(); ++i) {
    const double left = dx + drawn.inside.corners[i].x, top = dy + drawn.inside.corners[i].y;
    canvas.rect(left, top, drawn.nodes[i].width, node_height, "node",
                fmt::format("{}: {}", box.nodes[i].name, box.nodes[i].detail));
    const std::string name = node_name(box.nodes[i]), detail = node_detail(box.nodes[i]);
    canvas.fitted_label(left + padding, top + line_height - 1, name, width_of(name), "n t");
    canvas.fitted_label(left + padding, top + 2 * line_height - 1, detail, width_of(detail), "n k");
  }
}

struct DrawnPanel {
  std::vector<std::string> words;
  std::vector<DrawnBox> boxes;
  Layered layout;
  double height() const { return 24 + line_height * static_cast<double>(words.size()) + layout.height; }
};

DrawnPanel draw(const PicturePanel& panel, const std::stop_token& stop) {
  DrawnPanel drawn;
  drawn.words = wrapped(panel.title, 80);
  if (panel.left_out > 0)
    drawn.words.push_back(fmt::format("left out: {} of the cheapest kernels and calls", with_commas(panel.left_out)));
  if (panel.boxes.empty()) drawn.words.emplace_back("nothing runs here: no operation is work");
  std::vector<LayeredBox> sizes;
  for (const PictureBox& box : panel.boxes) {
    stop_if_asked(stop);
    sizes.push_back(drawn.boxes.emplace_back(draw(box)).size);
  }
  std::vector<LayeredEdge> edges;
  for (const PictureLine& line : panel.lines) edges.push_back({line.from, line.to});
  drawn.layout = layered(sizes, edges, {20, 34, 1200});
  return drawn;
}

std::vector<const LevelRow*> levels_of(const Picture& picture) {
  std::vector<const LevelRow*> found;
  for (const LevelRow& row : level_rows) {
    bool used = false;
    for (const PicturePanel& panel : picture.panels) {
      const auto is = [&](const PictureLine& line) { return &level_row(line.level) == &row; };
      used = used || std::any_of(panel.lines.begin(), panel.lines.end(), is);
      for (const PictureBox& box : panel.boxes) used = used || std::any_of(box.lines.begin(), box.lines.end(), is);
    }
    if (used) found.push_back(&row);
  }
  return found;
}

/// A line of colour and its meaning, one below the other.
double draw_legend(Canvas& canvas, const Picture& picture, double y) {
  for (const LevelRow* row : levels_of(picture)) {
    canvas.path({{margin, y - 4}, {margin + 26, y - 4}},
                fmt::format("{} way{}", row->css, row->level == "again" ? " again" : ""));
    canvas.fitted_label(margin + 34, y, row->meaning, width_of(row->meaning), "n k");
    y += line_height;
  }
  return y;
}

}  // namespace

std::string picture_svg(const Picture& picture, const std::stop_token& stop) {
  std::vector<DrawnPanel> panels;
  const std::string share = picture.share_of.empty() ? "" : "bars: share of " + picture.share_of;
  double width = least_width;
  double height = margin + line_height * (2 + static_cast<double>(levels_of(picture).size()));
  for (const PicturePanel& panel : picture.panels) {
    panels.push_back(draw(panel, stop));
    width = std::max(width, panels.back().layout.width);
    for (const std::string& line : panels.back().words) width = std::max(width, width_of(line));
    height += panels.back().height() + margin;
  }
  width = std::max(width, width_of(share));
  const std::vector<std::string> title = wrapped(picture.title, static_cast<int>(width / letter));
  height += line_height * static_cast<double>(title.size());
  Canvas canvas(width + 2 * margin, height + margin, picture.title);
  canvas.rect(0, 0, width + 2 * margin, height + margin, "paper");
  double y = margin + line_height;
  for (const std::string& line : title) {
    canvas.fitted_label(margin, y, line, width_of(line), "n b");
    y += line_height;
  }
  if (!share.empty()) canvas.fitted_label(margin, y, share, width_of(share), "n k");
  y = draw_legend(canvas, picture, y + line_height);
  for (std::size_t p = 0; p < panels.size(); ++p) {
    y += margin;
    const double start = y;
    for (const std::string& line : panels[p].words) {
      y += line_height;
      canvas.fitted_label(margin, y, line, width_of(line), "n b");
    }
    y += 12;
    const double dx = margin + (width - panels[p].layout.width) / 2;
    for (std::size_t i = 0; i < picture.panels[p].lines.size(); ++i)
      draw_line(canvas, panels[p].layout.routes[i], dx, y, picture.panels[p].lines[i]);
    for (std::size_t i = 0; i < picture.panels[p].boxes.size(); ++i) {
      stop_if_asked(stop);
      const Point& corner = panels[p].layout.corners[i];
      draw_box(canvas, picture.panels[p].boxes[i], panels[p].boxes[i], dx + corner.x, y + corner.y);
    }
    y = start + panels[p].height();
  }
  std::string out = standalone(canvas.text());
  return out.insert(out.find("</style>"), picture_css);
}

}  // namespace tailor::report
