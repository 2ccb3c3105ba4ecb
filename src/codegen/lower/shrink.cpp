// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding a dimension of a group that can be made smaller, and making it smaller. In: a graph. Out: which dimensions
// of which nodes shrink together and in how many steps, and the smaller group. Called by checks at small shapes and by
// tests.
//
// Method. Every dimension of every node gets a number. One visit per node joins numbers that must change together, by
// union-find, and marks those that an operation counts on: a reduced or a reversed dimension, a slice's range, a
// concatenation's axis, the dimensions of look-ups and windows, the inner dimensions of a constant (a part of it must
// be a prefix of its bytes). The outermost dimension above 1 of the largest output names the set to shrink; if any
// member of the set is marked, the group stays whole. The extents of the members may differ, because a reshape
// multiplies them; the greatest common divisor of all of them is the number of steps.
//
// A reshape is followed from the outside in, with the number of elements before each dimension on either side. The
// first dimensions above 1 are tied in proportion, since a prefix of the elements stays a prefix; further in, two
// dimensions are tied only when as many elements stand before both and they are equally long.
//
// Why the smaller group tells something about the whole one: its elements are the same functions of its inputs, and
// where only first dimensions shrink its buffers are the first bytes of the whole's
// (tests/codegen/lower/shrink_test.cpp).
#include "codegen/lower/shrink.h"

#include <algorithm>
#include <numeric>

#include "base/indexed.h"
#include "codegen/structure/index_map.h"
#include "ir/graph/attribute_text.h"
#include "ir/graph/gather_numbers.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

namespace {

/// What a slice says of a dimension that it takes whole.
ir::SliceRange whole_range(const ir::Node& slice, int dim) { return {0, slice.shape.dims[dim], 1}; }

class DimUnion {
 public:
  explicit DimUnion(const ir::Graph& graph)
      : seen_(ir::with_reductions_as_arrays(graph)), graph_(seen_ ? *seen_ : graph) {
    for (const ir::Node& node : graph_.nodes) {
      firsts_.push_back(static_cast<std::int32_t>(parents_.size()));
      for (int d = 0; d < node.shape.rank(); ++d) parents_.push_back(static_cast<std::int32_t>(parents_.size()));
    }
    fixed_.assign(parents_.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) tie(static_cast<ir::NodeId>(i));
  }

  std::optional<OuterExtent> of(ir::NodeId id, int dim) {
    const std::int32_t wanted = root(slot(id, dim));
    OuterExtent extent;
    extent.steps = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (int d = 0; d < graph_.nodes[i].shape.rank(); ++d) {
        const std::int32_t here = slot(static_cast<ir::NodeId>(i), d);
        if (root(here) != wanted) continue;
        if (fixed_[here]) return {};
        extent.dims.push_back({static_cast<ir::NodeId>(i), d});
        extent.steps = std::gcd(extent.steps, graph_.nodes[i].shape.dims[d]);
      }
    return extent.steps > 1 ? std::optional(std::move(extent)) : std::nullopt;
  }

 private:
  std::int32_t slot(ir::NodeId id, int dim) const { return firsts_[id] + dim; }
  std::int32_t root(std::int32_t at) {
    while (parents_[at] != at) at = parents_[at];
    return at;
  }
  const ir::Node& node(ir::NodeId id) const { return graph_[id]; }
  const ir::Shape& shape(ir::NodeId id) const { return node(id).shape; }

  void join(ir::NodeId a, int a_dim, ir::NodeId b, int b_dim) { parents_[root(slot(a, a_dim))] = root(slot(b, b_dim)); }
  void fix(ir::NodeId id, int dim) { fixed_[slot(id, dim)] = true; }
  void fix_all(ir::NodeId id) {
    for (int d = 0; d < shape(id).rank(); ++d) fix(id, d);
  }
  void fix_with_operands(ir::NodeId id) {
    fix_all(id);
    for (const ir::NodeId operand : node(id).operands) fix_all(operand);
  }

  void tie(ir::NodeId id) {
    const ir::Node& of = node(id);
    const ir::NodeId from = of.operands.empty() ? ir::no_node : of.operands[0];
    switch (of.op) {
      case ir::Op::parameter:
      case ir::Op::iota:
        return;
      case ir::Op::constant:
        for (int d = 1; d < of.shape.rank(); ++d) fix(id, d);  // a part is a prefix of its bytes
        return;
      case ir::Op::broadcast:
        for (int d = 0; d < shape(from).rank(); ++d) {
          const int to = static_cast<int>(axes(of)[d]);
          if (shape(from).dims[d] == of.shape.dims[to])
            join(from, d, id, to);
          else
            fix(from, d);
        }
        return;
      case ir::Op::get_tuple_element:
        if (graph_[from].op != ir::Op::reduce) return fix_with_operands(id);
        for (int d = 0; d < of.shape.rank(); ++d) join(id, d, from, d);
        return;
      case ir::Op::transpose:
        for (int d = 0; d < of.shape.rank(); ++d) join(id, d, from, static_cast<int>(axes(of)[d]));
        return;
      case ir::Op::reverse:
        for (int d = 0; d < of.shape.rank(); ++d) join(id, d, from, d);
        for (const std::int64_t axis : axes(of)) fix(id, static_cast<int>(axis));  // the first ones come from the last
        return;
      case ir::Op::slice:
      case ir::Op::pad:
      case ir::Op::concatenate:
        return tie_where_whole(id);
      case ir::Op::reduce_window:
        return of.operands.size() == 2 ? tie_where_whole(id) : fix_with_operands(id);
      case ir::Op::dynamic_slice:
      case ir::Op::dynamic_update_slice:
        return tie_window(id);
      case ir::Op::gather:
        return tie_places(id);
      case ir::Op::reduce:
        return tie_reduce(id);
      case ir::Op::reshape:
      case ir::Op::bitcast:
        return tie_reshape(id);
      default:
        break;
    }
    // A body, but for that of a map, would have to change with the shapes around it; complex numbers are not worth it.
    const bool elementwise = is_elementwise(of.op) && has_same_dims(of);
    return elementwise ? tie_elementwise(id) : fix_with_operands(id);
  }

  bool has_same_dims(const ir::Node& of) const {
    return std::all_of(of.operands.begin(), of.operands.end(), [&](ir::NodeId operand) {
      return shape(operand).rank() == 0 || shape(operand).dims == of.shape.dims;
    });
  }
  void tie_elementwise(ir::NodeId id) {
    for (const ir::NodeId operand : node(id).operands)
      for (int d = 0; d < shape(operand).rank(); ++d) join(id, d, operand, d);
  }

  /// Whether a slice, a pad, a concatenation or a window takes a dimension as it is.
  bool takes_whole(const ir::Node& of, int d) const {
    if (of.op == ir::Op::concatenate) return d != axis(of);
    if (of.op == ir::Op::reduce_window) {
      const ir::WindowDim window = ir::parse_window(hlo_text(of), shape(of.operands[0]).rank())[d];
      return window.size == 1 && window.stride == 1 && window.pad_low == 0 && window.pad_high == 0 &&
             window.base_dilation == 1;
    }
    if (of.shape.dims[d] != shape(of.operands[0]).dims[d]) return false;
    return of.op == ir::Op::slice ? slice_range(of, d) == whole_range(of, d) : pad_range(of, d) == ir::PadRange{};
  }

  void tie_where_whole(ir::NodeId id) {
    const ir::Node& of = node(id);
    for (int d = 0; d < of.shape.rank(); ++d) {
      const bool whole = takes_whole(of, d);
      for (const ir::NodeId operand : of.operands) {
        if (shape(operand).rank() == 0) continue;
        if (whole)
          join(id, d, operand, d);
        else
          fix(operand, d);
      }
      if (!whole) fix(id, d);
    }
  }

  /// A window that fills a dimension has no say in it.
  void tie_window(ir::NodeId id) {
    const ir::Node& of = node(id);
    const ir::NodeId window = of.op == ir::Op::dynamic_slice ? id : of.operands[1];
    for (int d = 0; d < of.shape.rank(); ++d) {
      const bool whole = shape(window).dims[d] == shape(of.operands[0]).dims[d];
      for (const ir::NodeId array : {id, of.operands[0], window}) whole ? join(id, d, array, d) : fix(array, d);
    }
    for (std::size_t k = first_start(of); k < of.operands.size(); ++k) fix_all(of.operands[k]);
  }

  /// Fewer places are read; what is read at each stays.
  void tie_places(ir::NodeId id) {
    const ir::Node& of = node(id);
    const ir::GatherNumbers numbers = gather_numbers(graph_, of);
    const ir::NodeId indices = of.operands[1];
    const bool plain = std::none_of(numbers.along.begin(), numbers.along.end(),
                                    [](const ir::GatherNumbers::Along& along) { return along.place >= 0; });
    if (!plain) return fix_with_operands(id);
    fix_all(of.operands[0]);
    for (int d = 0; d < of.shape.rank(); ++d)
      if (!numbers.places.contains(d)) fix(id, d);
    for (int d = 0, next = 0; d < shape(indices).rank(); ++d)
      if (d == numbers.vector_dim)
        fix(indices, d);
      else
        join(indices, d, id, static_cast<int>(numbers.places[next++]));
  }

  void tie_reduce(ir::NodeId id) {
    const ir::Node& of = node(id);
    for (const ir::NodeId from : ir::reduced_arrays(of)) {
      int next = 0;
      for (int d = 0; d < shape(from).rank(); ++d)
        if (axes(of).contains(d))
          fix(from, d);
        else
          join(from, d, id, next++);
    }
  }

  /// A reshape keeps a prefix of its elements a prefix: the first dimensions above 1 shrink in proportion. Further in,
  /// a dimension is the operand's when as many elements stand before it and it is as long.
  void tie_reshape(ir::NodeId id) {
    const ir::NodeId from = node(id).operands[0];
    if (!is_row_major(shape(id)) || !is_row_major(shape(from))) return fix_with_operands(id);
    const ir::Dims &to_dims = shape(id).dims, &from_dims = shape(from).dims;
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

  std::optional<ir::Graph> seen_;  ///< where results of one reduction shrink together
  const ir::Graph& graph_;
  IndexedVector<std::int32_t> firsts_, parents_;
  IndexedVector<bool> fixed_;
};

}  // namespace

namespace {

/// No node where there is none, or tuples.
ir::NodeId largest_output(const ir::Graph& graph) {
  ir::NodeId largest = ir::no_node;
  for (const ir::NodeId output : graph.outputs) {
    const ir::Shape& shape = graph[output].shape;
    if (shape.dtype == ir::DType::tuple) return ir::no_node;
    if (largest == ir::no_node || elements(shape) > elements(graph[largest].shape)) largest = output;
  }
  return largest;
}

}  // namespace

std::vector<OuterExtent> extents_of(const ir::Graph& graph) {
  std::vector<OuterExtent> all;
  const ir::NodeId largest = largest_output(graph);
  if (largest == ir::no_node) return all;
  DimUnion dims(graph);
  for (int d = 0; d < graph[largest].shape.rank(); ++d)
    if (std::optional<OuterExtent> extent = dims.of(largest, d)) all.push_back(std::move(*extent));
  return all;
}

std::optional<OuterExtent> outer_extent(const ir::Graph& graph) {
  const ir::NodeId largest = largest_output(graph);
  if (largest == ir::no_node) return {};
  const ir::Dims& dims = graph[largest].shape.dims;
  for (int d = 0; d < dims.size(); ++d)
    if (dims[d] > 1) return DimUnion(graph).of(largest, d);
  return {};
}

ir::Group shrunk(const ir::Graph& graph, const OuterExtent& extent, std::int64_t kept) {
  ir::Group small;
  small.graph = graph;
  for (const OuterExtent::NodeDim& outer : extent.dims) {
    ir::Node& node = small.graph[outer.node];
    const auto shrink = [&](ir::Shape& shape) {
      std::int64_t& dim = shape.dims[outer.dim];
      dim = dim / extent.steps * kept;
    };
    if (node.results.empty())
      shrink(node.shape);
    else
      std::for_each(node.results.begin(), node.results.end(), shrink);
    if (node.op == ir::Op::slice)
      ir::attributes_as<ir::SliceRanges>(node).ranges[outer.dim] = whole_range(node, outer.dim);
  }
  for (ir::Node& node : small.graph.nodes)
    if (known_literal(node) != nullptr) ir::attributes_as<ir::Literal>(node).bytes.resize(content_bytes(node.shape));
  small.id = id_of(std::string_view(canonical_text(small.graph)));
  return small;
}

}  // namespace tailor::codegen
