// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A group with less of its outermost dimension: the same operations, the same node numbers, fewer rows. Extents that
// must stay equal, or in proportion through a reshape, are tied together; a tie that meets an operation which counts on
// a size (a look-up, a slice, a reduced dimension, a concatenation's axis) cannot shrink. What is left is independent:
// an element of the small group's result is the same function of its inputs as in the whole one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/fusion.h"

namespace tailor::ir {

/// The dimensions that shrink together.
struct OuterExtent {
  struct Place {
    NodeId node = no_node;
    int dim = 0;
  };
  std::vector<Place> places;
  /// Steps in the whole group: every extent among `places` is a multiple of it.
  std::int64_t steps = 1;
};

/// The outermost dimension (above 1) of the group's largest output, when it can shrink: nothing sums over it and
/// nothing counts on its size.
std::optional<OuterExtent> outer_extent(const Graph& graph);

/// The group with `kept` of extent.steps steps. Precondition: 1 <= kept <= extent.steps, `extent` is of this graph.
Group shrunk(const Graph& graph, const OuterExtent& extent, std::int64_t kept);

}  // namespace tailor::ir
