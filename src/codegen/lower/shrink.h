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

namespace tailor::codegen {

/// The dimensions that shrink together.
struct OuterExtent {
  struct NodeDim {
    ir::NodeId node = ir::no_node;
    int dim = 0;
  };
  std::vector<NodeDim> dims;
  /// Steps in the whole group: every extent among `dims` is a multiple of it.
  std::int64_t steps = 1;
};

/// The outermost dimension (above 1) of the group's largest output, when it can shrink: nothing sums over it and
/// nothing counts on its size.
std::optional<OuterExtent> outer_extent(const ir::Graph& graph);
/// The same of each dimension of that output that can shrink, from the outside in.
std::vector<OuterExtent> extents_of(const ir::Graph& graph);

/// The group with `kept` of extent.steps steps. Precondition: 1 <= kept <= extent.steps, `extent` is of this graph.
ir::Group shrunk(const ir::Graph& graph, const OuterExtent& extent, std::int64_t kept);

}  // namespace tailor::codegen
