// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How an index travels through operations. A Place names one element of a node: one index expression per dimension, in
// logical order. operand_place() answers "to compute this element, which element of operand k is needed" for every
// operation that moves or maps elements; user_place() goes the other way where that is a function (element-wise,
// reshape, bitcast, transpose). Reductions, look-ups and library calls have no such map.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ir/graph.h"
#include "ir/index_build.h"

namespace tailor::ir {

struct Place {
  std::array<ExprId, max_rank> index{};
  std::int32_t rank = 0;

  ExprId operator[](int i) const { return index[static_cast<std::size_t>(i)]; }
  ExprId& operator[](int i) { return index[static_cast<std::size_t>(i)]; }
  bool operator==(const Place& other) const {
    return rank == other.rank && std::equal(index.begin(), index.begin() + rank, other.index.begin());
  }
};

/// Row-major linear index of the place in its shape.
ExprId linear_index(IndexBuilder& build, const Shape& shape, const Place& place);
/// Position in memory, in elements, by the layout.
ExprId memory_index(IndexBuilder& build, const Shape& shape, const Place& place);
/// The inverses.
Place place_of_linear(IndexBuilder& build, const Shape& shape, ExprId linear);
Place place_of_memory(IndexBuilder& build, const Shape& shape, ExprId position);

/// Part of a concatenation or the inside of a pad: the operand is meant where `low <= value < high`.
struct Inside {
  ExprId value = no_expr;
  std::int64_t low = 0, high = 0;
};

/// Where operand `k` of `node` is read for the element at `place`. Precondition: class elementwise or index. For pad
/// and concatenate the answer holds only inside (see inside_of).
Place operand_place(IndexBuilder& build, const Graph& graph, const Node& node, int k, const Place& place);

/// The condition under which concatenate's operand `k`, or pad's operand 0 along dimension `k`, is the source.
/// Precondition: pad has no interior padding (lower refuses it).
Inside inside_of(IndexBuilder& build, const Graph& graph, const Node& node, int k, const Place& place);

/// Where `user` holds the element that operand 0 .. holds at `place`; nothing when that is not one place.
std::optional<Place> user_place(IndexBuilder& build, const Graph& graph, const Node& user, NodeId operand,
                                const Place& place);

}  // namespace tailor::ir
