// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a reduction over windows reads for an element of its result. In: a reduce-window. Out: its taps, which are
// places that move with the element, if a thread can go through them one by one. Called by prepare, which keeps them,
// by the lowering for each element, and by who must know whether a kernel holds such a node.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/structure/index_map.h"
#include "ir/graph/graph.h"
#include "ir/graph/window_strips.h"

namespace tailor::codegen {

using ir::most_taps;

/// Taps that read at one place of the dimension that tells lines apart (ir/graph/window_strips.h). A window is gone
/// through line by line, since neighbouring results along that dimension share lines.
struct WindowLine {
  std::int64_t offset = 0;        ///< along the dimension, as in WindowTaps
  std::vector<std::size_t> taps;  ///< ascending
};

/// Tap t of the element at c reads the operand at c[d] * strides[d] + offsets[t][d], where that is inside of it; around
/// it is nothing that counts.
struct WindowTaps {
  ir::Dims strides;
  int line_dim = -1;              ///< along which it has lines; -1: it is one line
  std::vector<ir::Dims> offsets;  ///< in row-major order of the window
  std::vector<WindowLine> lines;  ///< by ascending offset: the order in which a window's elements are put together
};

/// Nothing where the window has more taps, or reads between elements (base dilation).
/// Precondition: a reduce-window of one array.
std::optional<WindowTaps> window_taps(const ir::Graph& graph, const ir::Node& node);

/// Where a tap reads along a dimension, inside or not; who reads asks that `value` is.
Inside tap_inside(IndexBuilder& build, const ir::Shape& source, const WindowTaps& taps, std::size_t tap, int dim,
                  const Coordinates& coordinates);
/// Where it reads, which holds only inside.
Coordinates tap_coordinates(IndexBuilder& build, const ir::Shape& source, const WindowTaps& taps, std::size_t tap,
                            const Coordinates& coordinates);

}  // namespace tailor::codegen
