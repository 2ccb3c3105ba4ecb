// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Index maps of the operations.
#include "ir/index_map.h"

#include <algorithm>
#include <cassert>

namespace tailor::ir {

namespace {

/// Sum of index x stride.
ExprId dot_strides(IndexBuilder& build, const Dims& stride, const Place& place) {
  ExprId sum = build.constant(0);
  for (int i = 0; i < place.rank; ++i) sum = build.add_scaled(sum, place[i], stride[i]);
  return sum;
}

const Shape& operand_shape(const Graph& graph, const Node& node, int k) {
  return graph.nodes[static_cast<std::size_t>(node.operands[static_cast<std::size_t>(k)])].shape;
}

Place scalar_place() { return {}; }

Place broadcast_place(IndexBuilder& build, const Shape& source, const Node& node, const Place& place) {
  Place out;
  out.rank = source.rank();
  for (int i = 0; i < out.rank; ++i)
    out[i] = source.dims[i] == 1 ? build.constant(0) : place[static_cast<int>(node.attributes.axes[i])];
  return out;
}

Place transpose_place(const Node& node, const Place& place) {
  Place out;
  out.rank = place.rank;
  for (int i = 0; i < place.rank; ++i) out[static_cast<int>(node.attributes.axes[i])] = place[i];
  return out;
}

Place slice_place(IndexBuilder& build, const Node& node, const Place& place) {
  Place out = place;
  for (int i = 0; i < place.rank; ++i) {
    const Range& range = node.attributes.ranges[static_cast<std::size_t>(i)];
    out[i] = build.add_constant(build.scale(place[i], range.third), range.first);
  }
  return out;
}

Place reverse_place(IndexBuilder& build, const Node& node, const Place& place) {
  Place out = place;
  for (const std::int64_t axis : node.attributes.axes) {
    const int i = static_cast<int>(axis);
    out[i] = build.add_constant(build.scale(place[i], -1), node.shape.dims[i] - 1);
  }
  return out;
}

Place pad_place(IndexBuilder& build, const Shape& source, const Node& node, const Place& place) {
  Place out = place;
  for (int i = 0; i < place.rank; ++i) {
    const Range& range = node.attributes.ranges[static_cast<std::size_t>(i)];
    out[i] = build.narrow(build.add_constant(place[i], -range.first), {0, source.dims[i] - 1});
  }
  return out;
}

std::int64_t concatenate_start(const Graph& graph, const Node& node, int k) {
  const int axis = static_cast<int>(node.attributes.axes[0]);
  std::int64_t start = 0;
  for (int before = 0; before < k; ++before) start += operand_shape(graph, node, before).dims[axis];
  return start;
}

}  // namespace

ExprId linear_index(IndexBuilder& build, const Shape& shape, const Place& place) {
  ExprId sum = build.constant(0);
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    sum = build.add_scaled(sum, place[i], stride);
    stride *= shape.dims[i];
  }
  return sum;
}

ExprId memory_index(IndexBuilder& build, const Shape& shape, const Place& place) {
  return dot_strides(build, strides(shape), place);
}

Place place_of_linear(IndexBuilder& build, const Shape& shape, ExprId linear) {
  Place place;
  place.rank = shape.rank();
  for (int i = shape.rank() - 1; i >= 0; --i) {
    if (shape.dims[i] == 1) {
      place[i] = build.constant(0);
      continue;
    }
    const auto [rest, index] = build.divide(linear, shape.dims[i]);
    place[i] = index;
    linear = rest;
  }
  return place;
}

Place place_of_memory(IndexBuilder& build, const Shape& shape, ExprId position) {
  Place place;
  place.rank = shape.rank();
  for (int j = 0; j < shape.rank(); ++j) {
    const int i = shape.minor_to_major[static_cast<std::size_t>(j)];
    const auto [rest, index] = build.divide(position, shape.dims[i]);
    place[i] = index;
    position = rest;
  }
  return place;
}

Place operand_place(IndexBuilder& build, const Graph& graph, const Node& node, int k, const Place& place) {
  const Shape& source = operand_shape(graph, node, k);
  if (class_of(node.op) == OpClass::elementwise)  // select's predicate and clamp's bounds may be scalars
    return source.rank() == 0 && place.rank != 0 ? scalar_place() : place;
  switch (node.op) {  // NOLINT: only index operations come here
    case Op::broadcast:
      return broadcast_place(build, source, node, place);
    case Op::reshape:
      return place_of_linear(build, source, linear_index(build, node.shape, place));
    case Op::bitcast:
      return place_of_memory(build, source, memory_index(build, node.shape, place));
    case Op::transpose:
      return transpose_place(node, place);
    case Op::slice:
      return slice_place(build, node, place);
    case Op::reverse:
      return reverse_place(build, node, place);
    case Op::pad:
      return k == 1 ? scalar_place() : pad_place(build, source, node, place);
    case Op::concatenate: {
      const int axis = static_cast<int>(node.attributes.axes[0]);
      Place out = place;
      const ExprId shifted = build.add_constant(place[axis], -concatenate_start(graph, node, k));
      out[axis] = build.narrow(shifted, {0, source.dims[axis] - 1});
      return out;
    }
    default:
      assert(false && "operation has no index map");
      return place;
  }
}

Inside inside_of(IndexBuilder& build, const Graph& graph, const Node& node, int k, const Place& place) {
  (void)build;
  if (node.op == Op::concatenate) {
    const int axis = static_cast<int>(node.attributes.axes[0]);
    const std::int64_t start = concatenate_start(graph, node, k);
    return {place[axis], start, start + operand_shape(graph, node, k).dims[axis]};
  }
  const Range& range = node.attributes.ranges[static_cast<std::size_t>(k)];
  return {place[k], range.first, range.first + operand_shape(graph, node, 0).dims[k]};
}

std::optional<Place> user_place(IndexBuilder& build, const Graph& graph, const Node& user, NodeId operand,
                                const Place& place) {
  const Shape& source = graph.nodes[static_cast<std::size_t>(operand)].shape;
  if (class_of(user.op) == OpClass::elementwise) {
    if (source.dims != user.shape.dims) return std::nullopt;
    return place;
  }
  if (user.op == Op::reshape) return place_of_linear(build, user.shape, linear_index(build, source, place));
  if (user.op == Op::bitcast) return place_of_memory(build, user.shape, memory_index(build, source, place));
  if (user.op == Op::transpose) {
    Place out;
    out.rank = place.rank;
    for (int i = 0; i < place.rank; ++i) out[i] = place[static_cast<int>(user.attributes.axes[i])];
    return out;
  }
  if (user.op == Op::broadcast && elements(user.shape) == elements(source)) {
    Place out;
    out.rank = user.shape.rank();
    for (int i = 0; i < out.rank; ++i) out[i] = build.constant(0);
    for (int i = 0; i < source.rank(); ++i) out[static_cast<int>(user.attributes.axes[i])] = place[i];
    return out;
  }
  return std::nullopt;
}

}  // namespace tailor::ir
