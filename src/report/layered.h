// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places for boxes that stand in layers, data flowing downwards. Comes in: sizes of boxes and edges between them, which
// form no circle. Goes out: a corner for each box and a line of points for each edge; no two boxes overlap and lines
// pass between them. Called by the pictures of fused graphs, for boxes in a group and for groups in a model.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tailor::report {

struct LayeredBox {
  double width = 0, height = 0;
};

struct LayeredEdge {
  std::size_t from = 0, to = 0;  ///< boxes; an edge that would close a circle is drawn, but moves nothing
};

struct LayeredGaps {
  double beside = 16;  ///< between boxes of a layer
  double below = 28;   ///< between layers
  /// Boxes that nothing connects stand next to one another up to this width.
  double widest = 1200;
};

struct Point {
  double x = 0, y = 0;
};

struct Layered {
  std::vector<Point> corners;  ///< upper left, one per box
  std::vector<std::vector<Point>>
      routes;  ///< one per edge, from the lower side of a box to the upper side of the other
  double width = 0, height = 0;
};

/// Near-linear in the boxes and in the layers that edges cross.
Layered layered(const std::vector<LayeredBox>& boxes, const std::vector<LayeredEdge>& edges, const LayeredGaps& gaps);

}  // namespace tailor::report
