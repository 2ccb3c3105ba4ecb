// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A fused graph as a picture: plain records of boxes and lines, and two texts of them. DOT says everything, for tools
// that draw; SVG is drawn here, to be looked at, and shows of a large graph what it is told to. Comes in: the records,
// which study fills from a fusion. Goes out: text. Called for `tailor fuse --to`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace tailor::report {

/// An operation in a kernel.
struct PictureNode {
  std::string name;
  std::string detail;  ///< "add f32[4,8]"
};

/// How a value gets from one operation to another: "register" to "grid" inside a kernel, "memory" between two, "again"
/// where a kernel computes once more what another one computes too.
struct PictureLine {
  std::size_t from = 0, to = 0;  ///< nodes of one box; of a panel's lines, boxes
  std::string level;
  std::int64_t times = 1;  ///< values that take this way
  /// Of a panel's lines, which node of either box; -1: the box as a whole.
  std::int64_t from_node = -1, to_node = -1;
};

enum class PictureKind : std::uint8_t { kernel, library, control };

/// A kernel, or what runs by itself between kernels.
struct PictureBox {
  std::string name, detail;
  PictureKind kind = PictureKind::kernel;
  double share = -1;  ///< 0-1 of what Picture::share_of names; negative: unknown
  std::int64_t operations = 0;
  std::int64_t times = 1;               ///< equal ones that this box stands for
  std::vector<PictureNode> nodes = {};  ///< all operations, or none: they are not shown
  std::vector<PictureLine> lines = {};
};

/// One graph: the model, or the body of a loop or branch.
struct PicturePanel {
  std::string title;
  std::vector<PictureBox> boxes;
  std::vector<PictureLine> lines;
  std::int64_t left_out = 0;  ///< boxes that are not here
};

struct Picture {
  std::string title;
  std::string share_of;  ///< "kernels' time by the price on h200"
  std::vector<PicturePanel> panels;
};

/// Boxes as clusters, every line, names quoted. Error(interrupted).
std::string dot(const Picture& picture, const std::stop_token& stop = {});

/// Stands alone, with a legend and a note of what was left out. Error(interrupted).
std::string picture_svg(const Picture& picture, const std::stop_token& stop = {});

}  // namespace tailor::report
