// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How an index travels through operations. Coordinates name one element of a node: one index expression per dimension,
// in logical order. operand_coordinates() answers "to compute this element, which element of operand k is needed" for
// every operation that moves or maps elements; user_coordinates() goes the other way where that is a function
// (element-wise, reshape, bitcast, transpose). Reductions, look-ups and library calls have no such map.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "codegen/structure/index_build.h"
#include "ir/graph/graph.h"

namespace tailor::codegen {

struct Coordinates {
  IndexedArray<ir::ExprId, ir::max_rank> index{};
  std::int32_t rank = 0;

  ir::ExprId operator[](int i) const { return index[i]; }
  ir::ExprId& operator[](int i) { return index[i]; }
  bool operator==(const Coordinates& other) const {
    if (rank != other.rank) return false;
    for (std::int32_t i = rank; i-- > 0;)  // places differ in the last dimension, if anywhere
      if (index[i] != other.index[i]) return false;
    return true;
  }
};

/// Row-major linear index of the element in its shape.
ir::ExprId linear_index(IndexBuilder& build, const ir::Shape& shape, const Coordinates& coordinates);
/// Position in memory, in elements, by the layout.
ir::ExprId memory_index(IndexBuilder& build, const ir::Shape& shape, const Coordinates& coordinates);
/// The inverses.
Coordinates delinearize(IndexBuilder& build, const ir::Shape& shape, ir::ExprId linear);
Coordinates delinearize_memory(IndexBuilder& build, const ir::Shape& shape, ir::ExprId position);

/// Whether an element of the result is made of elements of the operand at other places.
constexpr bool reads_elsewhere(ir::OpClass kind) {
  return kind == ir::OpClass::index || kind == ir::OpClass::lookup || kind == ir::OpClass::window;
}

/// The first operand of a look-up that says where.
inline std::size_t first_start(const ir::Node& node) { return node.op == ir::Op::dynamic_update_slice ? 2 : 1; }

/// Index variables that a look-up takes, of which a kernel has 128 in all; loops need some. A slice or an update takes
/// one for each dimension in which data says where: the window does not fill it and the index is no known number. A
/// gather may be read at other places in each part of a row, and takes as many as there are parts.
int open_starts(const ir::Graph& graph, const ir::Node& node);
inline constexpr int most_open_starts = 96;

/// Part of a concatenation or the inside of a pad: the operand is meant where `low <= value < high` and, where a pad
/// puts padding between the operand's elements, `rest == 0`.
struct Inside {
  ir::ExprId value = ir::no_expr;
  std::int64_t low = 0, high = 0;
  ir::ExprId rest = ir::no_expr;  ///< no_expr: nothing stands between the elements. Else never negative
};

/// Whether it may, as far as ranges tell.
inline bool may_hold(const IndexBuilder& build, const Inside& inside) {
  const ir::Interval range = build.pool()[inside.value].range;
  return inside.low <= range.high && range.low < inside.high;
}
/// A place along a dimension of `extent` elements that is read only where it lies inside: a guard sees to it.
ir::ExprId guarded_place(IndexBuilder& build, ir::ExprId place, std::int64_t extent);

/// Where operand `k` of `node` is read for the element at `coordinates`. Precondition: class elementwise or index. For
/// pad and concatenate the answer holds only inside (see make_inside).
Coordinates operand_coordinates(IndexBuilder& build, const ir::Graph& graph, const ir::Node& node, int k,
                                const Coordinates& coordinates);

/// The condition under which concatenate's operand `k`, or pad's operand 0 along dimension `k`, is the source.
Inside make_inside(IndexBuilder& build, const ir::Graph& graph, const ir::Node& node, int k,
                   const Coordinates& coordinates);

/// Where `user` holds the element that operand 0 .. holds at `coordinates`; nothing when that is not one element.
std::optional<Coordinates> user_coordinates(IndexBuilder& build, const ir::Graph& graph, const ir::Node& user,
                                            ir::NodeId operand, const Coordinates& coordinates);

/// Where a concatenation holds the element that its operand `k` holds at `coordinates`.
Coordinates joined_coordinates(IndexBuilder& build, const ir::Graph& graph, const ir::Node& joined, int k,
                               const Coordinates& coordinates);

}  // namespace tailor::codegen
