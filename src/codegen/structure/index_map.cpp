// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Index maps of the operations. In: the coordinates of an element of a result. Out: the coordinates of the operand's
// element that it comes from; for steps in the other direction, the coordinates of the user's element. A case for each
// operation that moves elements. Called by the lowering when it follows a value.
//
// Coordinates are index expressions in canonical form (index_build.h), so a map is arithmetic on them: a broadcast
// drops dimensions, a transpose permutes them, a slice scales and shifts, a reverse subtracts from the last. A reshape
// goes by way of the linear position, which is divided by the new extents; the builder cancels the divisions where the
// shapes allow it, so most reshapes leave no trace in the address.
//
// A concatenation and a pad have an element of an operand only where the coordinates lie inside it. There the map
// narrows the range of the coordinate, as the predicate does that guards the access (lower_emit.cpp), so that the
// address is known to be in bounds. A pad may cut (negative amounts) and may put padding between elements: element i of
// the operand stands at low + i * (interior + 1). Going back is a division. Its dividend must not be negative, not even
// where no guard holds, so whole steps are added before it and taken off after it.
//
// memory_index() and delinearize_memory() respect the layout of a shape; linear_index() and delinearize() the logical
// order.
#include "codegen/structure/index_map.h"

#include <algorithm>
#include <cassert>

#include "ir/graph/gather_numbers.h"
#include "ir/graph/window_strips.h"

namespace tailor::codegen {

namespace {

/// Sum of index x stride.
ir::ExprId dot_strides(IndexBuilder& build, const ir::Dims& stride, const Coordinates& coordinates) {
  ir::ExprId sum = build.constant(0);
  for (int i = 0; i < coordinates.rank; ++i) sum = build.add_scaled(sum, coordinates[i], stride[i]);
  return sum;
}

const ir::Shape& operand_shape(const ir::Graph& graph, const ir::Node& node, int k) {
  return graph[node.operands[k]].shape;
}

Coordinates scalar_coordinates() { return {}; }

Coordinates broadcast_coordinates(IndexBuilder& build, const ir::Shape& source, const ir::Node& node,
                                  const Coordinates& coordinates) {
  Coordinates out;
  out.rank = source.rank();
  for (int i = 0; i < out.rank; ++i)
    out[i] = source.dims[i] == 1 ? build.constant(0) : coordinates[static_cast<int>(axes(node)[i])];
  return out;
}

Coordinates transpose_coordinates(const ir::Node& node, const Coordinates& coordinates) {
  Coordinates out;
  out.rank = coordinates.rank;
  for (int i = 0; i < coordinates.rank; ++i) out[static_cast<int>(axes(node)[i])] = coordinates[i];
  return out;
}

Coordinates slice_coordinates(IndexBuilder& build, const ir::Node& node, const Coordinates& coordinates) {
  Coordinates out = coordinates;
  for (int i = 0; i < coordinates.rank; ++i) {
    const ir::SliceRange& range = slice_range(node, i);
    out[i] = build.add_constant(build.scale(coordinates[i], range.stride), range.start);
  }
  return out;
}

Coordinates reverse_coordinates(IndexBuilder& build, const ir::Node& node, const Coordinates& coordinates) {
  Coordinates out = coordinates;
  for (const std::int64_t axis : axes(node)) {
    const int i = static_cast<int>(axis);
    out[i] = build.add_constant(build.scale(coordinates[i], -1), node.shape.dims[i] - 1);
  }
  return out;
}

/// A coordinate of a pad's result as `step * place + rest` from the operand's element 0 on; `place` may be negative.
struct PadPlace {
  ir::ExprId place, rest;
};

PadPlace pad_place(IndexBuilder& build, ir::ExprId coordinate, const ir::PadRange& range) {
  const std::int64_t step = range.interior + 1;
  const ir::ExprId from_first = build.add_constant(coordinate, -range.low);
  if (step == 1) return {from_first, build.constant(0)};
  // A name's range may be wider than that of what it stands for, or narrowed by a guard.
  const std::int64_t of_all = build.pool()[build.expand(coordinate)].range.low - range.low;
  const std::int64_t least = std::min(of_all, std::int64_t{build.pool()[from_first].range.low});
  const std::int64_t steps = least < 0 ? (-least + step - 1) / step : 0;
  const auto [place, rest] = build.divide(build.add_constant(from_first, steps * step), step);
  return {build.add_constant(place, -steps), rest};
}

Coordinates pad_coordinates(IndexBuilder& build, const ir::Shape& source, const ir::Node& node,
                            const Coordinates& coordinates) {
  Coordinates out = coordinates;
  for (int i = 0; i < coordinates.rank; ++i) {
    out[i] = guarded_place(build, pad_place(build, coordinates[i], pad_range(node, i)).place, source.dims[i]);
  }
  return out;
}

std::int64_t concatenate_start(const ir::Graph& graph, const ir::Node& node, int k) {
  const int axis = ir::axis(node);
  std::int64_t start = 0;
  for (int before = 0; before < k; ++before) start += operand_shape(graph, node, before).dims[axis];
  return start;
}

}  // namespace

ir::ExprId guarded_place(IndexBuilder& build, ir::ExprId place, std::int64_t extent) {
  // Where only padding is asked for (a slice of it), any element in bounds will do: it is never read.
  const bool never = !may_hold(build, {place, 0, extent, ir::no_expr});
  return never ? build.constant(0) : build.narrow(place, {0, extent - 1});
}

int open_starts(const ir::Graph& graph, const ir::Node& node) {
  if (node.op == ir::Op::gather) {
    constexpr int parts = 4;  // whole vectors and what is around them, in two phases
    return parts * gather_numbers(graph, node).open(operand_shape(graph, node, 0).rank());
  }
  if (node.op == ir::Op::scatter) {  // whole vectors and what is around them
    const auto form = scatter_form(graph, node);
    const auto* scatter = std::get_if<ir::ScatterForm>(&form);
    if (scatter == nullptr) return 0;
    int open = 0;
    for (int dim = 0; dim < operand_shape(graph, node, 0).rank(); ++dim) open += scatter->numbers.along[dim].index >= 0;
    return 2 * open;
  }
  const ir::Shape &whole = operand_shape(graph, node, 0),
                  &window = node.op == ir::Op::dynamic_slice ? node.shape : operand_shape(graph, node, 1);
  const auto first = static_cast<int>(first_start(node));
  const bool by_vector = operand_shape(graph, node, first).rank() == 1;
  int open = 0;
  for (int dim = 0; dim < whole.rank(); ++dim)
    open += whole.dims[dim] != window.dims[dim] &&
            (by_vector || known_literal(graph[node.operands[first + dim]]) == nullptr);
  return open;
}

ir::ExprId linear_index(IndexBuilder& build, const ir::Shape& shape, const Coordinates& coordinates) {
  ir::ExprId sum = build.constant(0);
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    sum = build.add_scaled(sum, coordinates[i], stride);
    stride *= shape.dims[i];
  }
  return sum;
}

ir::ExprId memory_index(IndexBuilder& build, const ir::Shape& shape, const Coordinates& coordinates) {
  return dot_strides(build, strides(shape), coordinates);
}

Coordinates delinearize(IndexBuilder& build, const ir::Shape& shape, ir::ExprId linear) {
  Coordinates coordinates;
  coordinates.rank = shape.rank();
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape.dims[i] == 1) {
      coordinates[i] = build.constant(0);
      continue;
    }
    const auto [rest, index] = build.divide(linear, shape.dims[i]);
    coordinates[i] = index;
    linear = rest;
  }
  return coordinates;
}

Coordinates delinearize_memory(IndexBuilder& build, const ir::Shape& shape, ir::ExprId position) {
  Coordinates coordinates;
  coordinates.rank = shape.rank();
  for (int j = 0; j < shape.rank(); ++j) {
    const int i = shape.minor_to_major[j];
    const auto [rest, index] = build.divide(position, shape.dims[i]);
    coordinates[i] = index;
    position = rest;
  }
  return coordinates;
}

Coordinates operand_coordinates(IndexBuilder& build, const ir::Graph& graph, const ir::Node& node, int k,
                                const Coordinates& coordinates) {
  const ir::Shape& source = operand_shape(graph, node, k);
  if (is_elementwise(node.op))  // select's predicate and clamp's bounds may be scalars
    return source.rank() == 0 && coordinates.rank != 0 ? scalar_coordinates() : coordinates;
  switch (node.op) {                 // NOLINT: only index operations come here
    case ir::Op::get_tuple_element:  // of a reduction
    case ir::Op::reduce_window:      // a scan
      return coordinates;
    case ir::Op::broadcast:
      return broadcast_coordinates(build, source, node, coordinates);
    case ir::Op::reshape:
      return delinearize(build, source, linear_index(build, node.shape, coordinates));
    case ir::Op::bitcast:
      return delinearize_memory(build, source, memory_index(build, node.shape, coordinates));
    case ir::Op::transpose:
      return transpose_coordinates(node, coordinates);
    case ir::Op::slice:
      return slice_coordinates(build, node, coordinates);
    case ir::Op::reverse:
      return reverse_coordinates(build, node, coordinates);
    case ir::Op::pad:
      return k == 1 ? scalar_coordinates() : pad_coordinates(build, source, node, coordinates);
    case ir::Op::concatenate: {
      const int axis = ir::axis(node);
      Coordinates out = coordinates;
      const ir::ExprId shifted = build.add_constant(coordinates[axis], -concatenate_start(graph, node, k));
      out[axis] = build.narrow(shifted, {0, source.dims[axis] - 1});
      return out;
    }
    default:
      assert(false && "operation has no index map");
      return coordinates;
  }
}

Inside make_inside(IndexBuilder& build, const ir::Graph& graph, const ir::Node& node, int k,
                   const Coordinates& coordinates) {
  if (node.op == ir::Op::concatenate) {
    const int axis = ir::axis(node);
    const std::int64_t start = concatenate_start(graph, node, k);
    return {coordinates[axis], start, start + operand_shape(graph, node, k).dims[axis], ir::no_expr};
  }
  const ir::PadRange& range = pad_range(node, k);
  const std::int64_t last = range.low + (operand_shape(graph, node, 0).dims[k] - 1) * (range.interior + 1);
  Inside inside{coordinates[k], range.low, last + 1, ir::no_expr};
  if (range.interior > 0) {
    inside.rest = pad_place(build, build.expand(coordinates[k]), range).rest;
    if (is_constant(build.pool(), inside.rest) && build.pool()[inside.rest].constant == 0) inside.rest = ir::no_expr;
  }
  return inside;
}

Coordinates joined_coordinates(IndexBuilder& build, const ir::Graph& graph, const ir::Node& joined, int k,
                               const Coordinates& coordinates) {
  Coordinates out = coordinates;
  const int axis = ir::axis(joined);
  out[axis] = build.add_constant(coordinates[axis], concatenate_start(graph, joined, k));
  return out;
}

std::optional<Coordinates> user_coordinates(IndexBuilder& build, const ir::Graph& graph, const ir::Node& user,
                                            ir::NodeId operand, const Coordinates& coordinates) {
  const ir::Shape& source = graph[operand].shape;
  if (is_elementwise(user.op) || user.op == ir::Op::get_tuple_element || ir::scan_of(user)) {
    if (source.dims != user.shape.dims) return std::nullopt;
    return coordinates;
  }
  if (user.op == ir::Op::reshape) return delinearize(build, user.shape, linear_index(build, source, coordinates));
  if (user.op == ir::Op::bitcast)
    return delinearize_memory(build, user.shape, memory_index(build, source, coordinates));
  if (user.op == ir::Op::transpose) {
    Coordinates out;
    out.rank = coordinates.rank;
    for (int i = 0; i < coordinates.rank; ++i) out[i] = coordinates[static_cast<int>(axes(user)[i])];
    return out;
  }
  if (user.op == ir::Op::broadcast && elements(user.shape) == elements(source)) {
    Coordinates out;
    out.rank = user.shape.rank();
    for (int i = 0; i < out.rank; ++i) out[i] = build.constant(0);
    for (int i = 0; i < source.rank(); ++i) out[static_cast<int>(axes(user)[i])] = coordinates[i];
    return out;
  }
  return std::nullopt;
}

}  // namespace tailor::codegen
