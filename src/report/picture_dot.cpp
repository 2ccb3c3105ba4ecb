// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A picture as DOT, the language of graphviz. In: records of boxes and lines. Out: text with a cluster per kernel, its
// operations inside, an edge per value in the colour of its level. Called for `tailor fuse --to FILE.dot`. A box
// without operations becomes a node; an edge to a cluster as a whole goes to its first operation and ends at its
// border (lhead, ltail).
#include <fmt/format.h>

#include <array>

#include "base/stop.h"
#include "report/picture.h"
#include "report/picture_levels.h"
#include "report/width.h"

namespace tailor::report {

namespace {

/// A string of DOT: quotes and backslashes escaped, so that no name means anything to graphviz.
std::string dot_string(std::string_view words) {
  std::string out = "\"";
  for (const char c : printable(words)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// Two lines of one label.
std::string dot_label(std::string_view first, std::string_view second) {
  std::string out = dot_string(first);
  if (second.empty()) return out;
  out.pop_back();
  return out + "\\n" + dot_string(second).substr(1);
}

constexpr std::array<std::string_view, 3> box_styles = {"style=rounded, color=\"#5b636b\"",
                                                        "shape=box, style=\"filled,dashed\", fillcolor=\"#e3e6ea\"",
                                                        "shape=box, style=\"filled,rounded\", fillcolor=\"#c9d3dc\""};

std::string id(std::size_t panel, std::size_t box, std::int64_t node) {
  if (node < 0) return fmt::format("p{}b{}", panel, box);
  return fmt::format("p{}b{}n{}", panel, box, node);
}

void append_box(std::string& out, const PictureBox& box, std::size_t panel, std::size_t b) {
  std::string detail = box.detail;
  if (box.share >= 0) detail += fmt::format("{}{:.1f} %", detail.empty() ? "" : ", ", 100 * box.share);
  if (box.nodes.empty()) {
    const std::string_view style =
        box.kind == PictureKind::kernel ? "shape=box, style=rounded" : box_styles[static_cast<std::size_t>(box.kind)];
    out += fmt::format("    {} [label={}, {}];\n", id(panel, b, -1), dot_label(box.name, detail), style);
    return;
  }
  out += fmt::format("    subgraph cluster_{} {{\n      label={}; {};\n", id(panel, b, -1), dot_label(box.name, detail),
                     "style=rounded; color=\"#5b636b\"");
  for (std::size_t n = 0; n < box.nodes.size(); ++n)
    out += fmt::format("      {} [label={}];\n", id(panel, b, static_cast<std::int64_t>(n)),
                       dot_label(box.nodes[n].name, box.nodes[n].detail));
  for (const PictureLine& line : box.lines)
    out += fmt::format("      {} -> {} [color=\"{}\"{}];\n", id(panel, b, static_cast<std::int64_t>(line.from)),
                       id(panel, b, static_cast<std::int64_t>(line.to)), level_row(line.level).colour,
                       line.level == "again" ? ", style=dashed" : "");
  out += "    }\n";
}

/// Where a line between boxes begins or ends, and the attribute that cuts it off at the border.
std::string end_of(const PicturePanel& panel, std::size_t p, std::size_t box, std::int64_t node) {
  if (panel.boxes[box].nodes.empty()) return id(p, box, -1);
  return id(p, box, node < 0 ? 0 : node);
}

}  // namespace

std::string dot(const Picture& picture, const std::stop_token& stop) {
  std::string out = fmt::format("digraph {} {{\n  compound=true; rankdir=TB;\n  label={}; labelloc=t;\n",
                                dot_string(picture.title), dot_label(picture.title, picture.share_of));
  out += "  node [shape=box, fontname=\"monospace\", fontsize=10]; edge [arrowsize=0.6];\n";
  for (std::size_t p = 0; p < picture.panels.size(); ++p) {
    const PicturePanel& panel = picture.panels[p];
    out += fmt::format("  subgraph cluster_p{} {{\n    label={}; color=\"#e3e6ea\";\n", p, dot_string(panel.title));
    for (std::size_t b = 0; b < panel.boxes.size(); ++b) {
      stop_if_asked(stop);
      append_box(out, panel.boxes[b], p, b);
    }
    out += "  }\n";
    for (const PictureLine& line : panel.lines) {
      stop_if_asked(stop);
      std::string ends;
      if (line.from_node < 0 && !panel.boxes[line.from].nodes.empty())
        ends += fmt::format(", ltail=cluster_{}", id(p, line.from, -1));
      if (line.to_node < 0 && !panel.boxes[line.to].nodes.empty())
        ends += fmt::format(", lhead=cluster_{}", id(p, line.to, -1));
      out += fmt::format("  {} -> {} [color=\"{}\"{}];\n", end_of(panel, p, line.from, line.from_node),
                         end_of(panel, p, line.to, line.to_node), level_row(line.level).colour, ends);
    }
  }
  return out + "}\n";
}

}  // namespace tailor::report
