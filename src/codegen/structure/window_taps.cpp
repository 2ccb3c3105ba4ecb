// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The taps of a reduce-window. In: a node, coordinates of an element of its result. Out: the places that are read for
// it, and when they are inside. Called by prepare and by the lowering.
//
// A tap is what a strided slice of a padded array would read, so its map is theirs: a scale, a shift, and a condition
// that the place lies in the array. Along a dimension in which a window has one element, no padding and stride 1 the
// coordinate passes as it is, so that vectors along channels stay whole.
#include "codegen/structure/window_taps.h"

#include <algorithm>

#include "ir/graph/attribute_text.h"

namespace tailor::codegen {

namespace {

std::vector<WindowLine> lines_of(const WindowTaps& taps) {
  std::vector<WindowLine> lines;
  for (std::size_t tap = 0; tap < taps.offsets.size(); ++tap) {
    const std::int64_t offset = taps.line_dim < 0 ? 0 : taps.offsets[tap][taps.line_dim];
    const auto same =
        std::find_if(lines.begin(), lines.end(), [&](const WindowLine& line) { return line.offset == offset; });
    if (same == lines.end())
      lines.push_back({offset, {tap}});
    else
      same->taps.push_back(tap);
  }
  return lines;
}

}  // namespace

std::optional<WindowTaps> window_taps(const ir::Graph& graph, const ir::Node& node) {
  const int rank = graph[node.operands[0]].shape.rank();
  const IndexedVector<ir::WindowDim> window = ir::parse_window(hlo_text(node), rank);
  if (static_cast<int>(window.size()) != rank) return std::nullopt;
  std::int64_t count = 1;
  for (const ir::WindowDim& dim : window) {
    if (dim.base_dilation != 1 || dim.size < 1 || dim.size > most_taps) return std::nullopt;
    count *= dim.size;
    if (count > most_taps) return std::nullopt;
  }
  WindowTaps taps;
  taps.line_dim = ir::line_dimension(node.shape, window);
  for (const ir::WindowDim& dim : window) taps.strides.push_back(dim.stride);
  for (std::int64_t tap = 0; tap < count; ++tap) {
    ir::Dims& offset = taps.offsets.emplace_back();
    std::int64_t inner = count;
    for (const ir::WindowDim& dim : window) {
      inner /= dim.size;
      offset.push_back(tap / inner % dim.size * dim.window_dilation - dim.pad_low);
    }
  }
  taps.lines = lines_of(taps);
  return taps;
}

Inside tap_inside(IndexBuilder& build, const ir::Shape& source, const WindowTaps& taps, std::size_t tap, int dim,
                  const Coordinates& coordinates) {
  const ir::ExprId place = build.add_constant(build.scale(coordinates[dim], taps.strides[dim]), taps.offsets[tap][dim]);
  return {place, 0, source.dims[dim], ir::no_expr};
}

Coordinates tap_coordinates(IndexBuilder& build, const ir::Shape& source, const WindowTaps& taps, std::size_t tap,
                            const Coordinates& coordinates) {
  Coordinates out = coordinates;
  for (int dim = 0; dim < coordinates.rank; ++dim)
    out[dim] = guarded_place(build, tap_inside(build, source, taps, tap, dim, coordinates).value, source.dims[dim]);
  return out;
}

}  // namespace tailor::codegen
