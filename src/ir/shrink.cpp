// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Dimensions of all nodes are numbered and joined by union-find; one visit per node says which of its dimensions are
// which of its operands', and which count on their size.
#include "ir/shrink.h"

#include <algorithm>
#include <numeric>

#include "ir/number.h"

namespace tailor::ir {

namespace {

/// What a slice or a pad says of a dimension that it does not change.
Range whole_range(const Node& node, int dim) {
  return node.op == Op::slice ? Range{0, node.shape.dims[dim], 1} : Range{0, 0, 0};
}

class Ties {
 public:
  explicit Ties(const Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes) {
      firsts_.push_back(static_cast<std::int32_t>(parents_.size()));
      for (int d = 0; d < node.shape.rank(); ++d) parents_.push_back(static_cast<std::int32_t>(parents_.size()));
    }
    fixed_.assign(parents_.size(), false);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) tie(static_cast<NodeId>(i));
  }

  std::optional<OuterExtent> of(NodeId id, int dim) {
    const std::int32_t wanted = root(slot(id, dim));
    OuterExtent extent;
    extent.steps = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (int d = 0; d < graph_.nodes[i].shape.rank(); ++d) {
        const std::int32_t here = slot(static_cast<NodeId>(i), d);
        if (root(here) != wanted) continue;
        if (fixed_[static_cast<std::size_t>(here)]) return {};
        extent.places.push_back({static_cast<NodeId>(i), d});
        extent.steps = std::gcd(extent.steps, graph_.nodes[i].shape.dims[d]);
      }
    return extent.steps > 1 ? std::optional(std::move(extent)) : std::nullopt;
  }

 private:
  std::int32_t slot(NodeId id, int dim) const { return firsts_[static_cast<std::size_t>(id)] + dim; }
  std::int32_t root(std::int32_t at) {
    while (parents_[static_cast<std::size_t>(at)] != at) at = parents_[static_cast<std::size_t>(at)];
    return at;
  }
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<std::size_t>(id)]; }
  const Shape& shape(NodeId id) const { return node(id).shape; }

  void join(NodeId a, int a_dim, NodeId b, int b_dim) {
    parents_[static_cast<std::size_t>(root(slot(a, a_dim)))] = root(slot(b, b_dim));
  }
  void fix(NodeId id, int dim) { fixed_[static_cast<std::size_t>(slot(id, dim))] = true; }
  void fix_all(NodeId id) {
    for (int d = 0; d < shape(id).rank(); ++d) fix(id, d);
  }
  void fix_with_operands(NodeId id) {
    fix_all(id);
    for (const NodeId operand : node(id).operands) fix_all(operand);
  }

  void tie(NodeId id) {
    const Node& of = node(id);
    const NodeId from = of.operands.empty() ? no_node : of.operands[0];
    switch (of.op) {
      case Op::parameter:
      case Op::iota:
        return;
      case Op::constant:
        for (int d = 1; d < of.shape.rank(); ++d) fix(id, d);  // a part is a prefix of its bytes
        return;
      case Op::broadcast:
        for (int d = 0; d < shape(from).rank(); ++d) {
          const int to = static_cast<int>(of.attributes.axes[d]);
          if (shape(from).dims[d] == of.shape.dims[to])
            join(from, d, id, to);
          else
            fix(from, d);
        }
        return;
      case Op::transpose:
        for (int d = 0; d < of.shape.rank(); ++d) join(id, d, from, static_cast<int>(of.attributes.axes[d]));
        return;
      case Op::reverse:
        for (int d = 0; d < of.shape.rank(); ++d) join(id, d, from, d);
        return;
      case Op::slice:
      case Op::pad:
      case Op::concatenate:
        return tie_where_whole(id);
      case Op::reduce:
        return tie_reduce(id);
      case Op::reshape:
      case Op::bitcast:
        return tie_reshape(id);
      default:
        break;
    }
    // A body would have to change with the shapes around it; complex numbers are not worth it.
    const bool elementwise = class_of(of.op) == OpClass::elementwise && has_same_dims(of);
    return elementwise ? tie_elementwise(id) : fix_with_operands(id);
  }

  bool has_same_dims(const Node& of) const {
    return std::all_of(of.operands.begin(), of.operands.end(), [&](NodeId operand) {
      return shape(operand).rank() == 0 || shape(operand).dims == of.shape.dims;
    });
  }
  void tie_elementwise(NodeId id) {
    for (const NodeId operand : node(id).operands)
      for (int d = 0; d < shape(operand).rank(); ++d) join(id, d, operand, d);
  }

  /// Dimensions that a slice, a pad or a concatenation takes as they are.
  void tie_where_whole(NodeId id) {
    const Node& of = node(id);
    for (int d = 0; d < of.shape.rank(); ++d) {
      const bool whole = of.op == Op::concatenate
                             ? !of.attributes.axes.contains(d)
                             : of.attributes.ranges[static_cast<std::size_t>(d)] == whole_range(of, d) &&
                                   of.shape.dims[d] == shape(of.operands[0]).dims[d];
      for (const NodeId operand : of.operands) {
        if (shape(operand).rank() == 0) continue;
        if (whole)
          join(id, d, operand, d);
        else
          fix(operand, d);
      }
      if (!whole) fix(id, d);
    }
  }

  void tie_reduce(NodeId id) {
    const Node& of = node(id);
    if (of.operands.size() != 2 || of.shape.dtype == DType::tuple) return fix_with_operands(id);
    const NodeId from = of.operands[0];
    int next = 0;
    for (int d = 0; d < shape(from).rank(); ++d)
      if (of.attributes.axes.contains(d))
        fix(from, d);
      else
        join(from, d, id, next++);
  }

  /// A reshape keeps a prefix of its elements a prefix: the first dimensions above 1 shrink in proportion. Further in,
  /// a dimension is the operand's when as many elements stand before it and it is as long.
  void tie_reshape(NodeId id) {
    const NodeId from = node(id).operands[0];
    if (!is_row_major(shape(id)) || !is_row_major(shape(from))) return fix_with_operands(id);
    const Dims &to_dims = shape(id).dims, &from_dims = shape(from).dims;
    std::int64_t from_before = 1, to_before = 1;
    int i = 0, j = 0;
    bool first = true;
    while (i < from_dims.size() && j < to_dims.size()) {
      if (from_dims[i] == 1) {
        fix(from, i++);
      } else if (to_dims[j] == 1) {
        fix(id, j++);
      } else if (from_before == to_before && (first || from_dims[i] == to_dims[j])) {
        join(from, i, id, j);
        first = false;
        from_before *= from_dims[i++];
        to_before *= to_dims[j++];
      } else if (from_before <= to_before) {
        fix(from, i);
        from_before *= from_dims[i++];
      } else {
        fix(id, j);
        to_before *= to_dims[j++];
      }
    }
    while (i < from_dims.size()) fix(from, i++);
    while (j < to_dims.size()) fix(id, j++);
  }

  const Graph& graph_;
  std::vector<std::int32_t> firsts_, parents_;
  std::vector<bool> fixed_;
};

}  // namespace

std::optional<OuterExtent> outer_extent(const Graph& graph) {
  NodeId largest = no_node;
  for (const NodeId output : graph.outputs) {
    const Shape& shape = graph.nodes[static_cast<std::size_t>(output)].shape;
    if (shape.dtype == DType::tuple) return {};
    if (largest == no_node || elements(shape) > elements(graph.nodes[static_cast<std::size_t>(largest)].shape))
      largest = output;
  }
  if (largest == no_node) return {};
  const Dims& dims = graph.nodes[static_cast<std::size_t>(largest)].shape.dims;
  for (int d = 0; d < dims.size(); ++d)
    if (dims[d] > 1) return Ties(graph).of(largest, d);
  return {};
}

Group shrunk(const Graph& graph, const OuterExtent& extent, std::int64_t kept) {
  Group small;
  small.graph = graph;
  for (const OuterExtent::Place& place : extent.places) {
    Node& node = small.graph.nodes[static_cast<std::size_t>(place.node)];
    std::int64_t& dim = node.shape.dims[place.dim];
    dim = dim / extent.steps * kept;
    if (node.op == Op::slice)
      node.attributes.ranges[static_cast<std::size_t>(place.dim)] = whole_range(node, place.dim);
  }
  for (Node& node : small.graph.nodes)
    if (node.op == Op::constant && node.attributes.literal && node.attributes.literal->known)
      node.attributes.literal->bytes.resize(
          static_cast<std::size_t>(elements(node.shape) * element_bytes(node.shape.dtype)));
  small.id = id_of(std::string_view(canonical_text(small.graph)));
  return small;
}

}  // namespace tailor::ir
