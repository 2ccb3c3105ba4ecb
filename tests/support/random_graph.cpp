// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Graphs grow node by node: an operand is picked among the nodes so far, then an operation that suits its shape, and
// the result joins the nodes. Shapes stay small, so that evaluating is quick. Numbers are drawn by remainder from
// std::mt19937_64, because the standard's distributions differ between libraries. random_graph.h says what the two
// kinds are for.
#include "support/random_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph/number.h"

using namespace tailor::ir;

namespace {

/// std::mt19937_64 is the same everywhere; the standard's distributions are not, so numbers are taken by remainder.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(std::max<std::int64_t>(bound, 1)));
  }
  bool toss() { return below(2) == 0; }
  std::uint64_t bits() { return engine_(); }
  template <class List>
  auto& one_of(List& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

 private:
  std::mt19937_64 engine_;
};

Literal random_literal(Dice& dice, const Shape& shape) {
  Literal literal;
  literal.bytes.resize(static_cast<std::size_t>(elements(shape) * element_bytes(shape.dtype)));
  for (std::byte& byte : literal.bytes) byte = static_cast<std::byte>(dice.bits());
  return literal;
}

class Grower {
 public:
  explicit Grower(std::uint64_t seed) : dice_(seed) { graph_.name = fmt::format("random{}", seed); }

  Graph grown(int nodes) {
    graph_.bodies.push_back(scalar_body(Op::add, DType::f32));
    graph_.bodies.push_back(scalar_body(Op::compare, DType::f32));
    for (std::int64_t i = 0; i < 2; ++i)
      add(Op::parameter, make_shape(DType::f32, {2 + i, 3, 4}), {}, ParameterNumber{i});
    const NodeId zero = add(Op::constant, make_shape(DType::f32, {}), {}, Literal{true, std::vector<std::byte>(4)});
    while (static_cast<int>(graph_.nodes.size()) < nodes) step(zero);
    graph_.outputs = {static_cast<NodeId>(graph_.nodes.size() - 1), static_cast<NodeId>(dice_.below(nodes))};
    return std::move(graph_);
  }

 private:
  static Graph scalar_body(Op op, DType dtype) {
    const Shape scalar = make_shape(dtype, {});
    Graph body;
    body.name = std::string(name(op));
    for (std::int64_t i = 0; i < 2; ++i)
      body.nodes.push_back({Op::parameter, scalar, {}, ParameterNumber{i}, fmt::format("p{}", i)});
    Node last{op, op == Op::compare ? make_shape(DType::pred, {}) : scalar, {0, 1}, {}, "r"};
    if (op == Op::compare) last.attributes = CompareOptions{Comparison::lt, false};
    body.nodes.push_back(last);
    body.outputs = {2};
    return body;
  }

  NodeId add(Op op, const Shape& shape, std::vector<NodeId> operands, Attributes attributes = {},
             std::vector<std::int32_t> bodies = {}) {
    Node node{op, shape, std::move(operands), std::move(attributes), fmt::format("n{}", graph_.nodes.size())};
    node.bodies = std::move(bodies);
    graph_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(graph_.nodes.size() - 1);
  }

  const Shape& shape(NodeId id) const { return graph_[id].shape; }
  NodeId any() { return static_cast<NodeId>(dice_.below(static_cast<std::int64_t>(graph_.nodes.size()))); }

  /// A node of the same shape as `id`, often another one.
  NodeId like(NodeId id) {
    for (int i = 0; i < 8; ++i)
      if (const NodeId other = any(); shape(other) == shape(id)) return other;
    return id;
  }

  void step(NodeId zero) {
    const NodeId x = any();
    const DType dtype = shape(x).dtype;
    if (dtype == DType::pred) return (void)select(x);
    switch (dice_.below(dtype == DType::f32 ? 12 : 8)) {
      case 0:
      case 1:
      case 2:
        return elementwise(x);
      case 3:
        return convert(x);
      case 4:
        return (void)add(Op::compare, make_shape(DType::pred, shape(x).dims), {x, like(x)},
                         CompareOptions{static_cast<Comparison>(dice_.below(6)), false});
      case 5:
        return moved(x);
      case 6:
        return sliced(x);
      case 7:
        return joined(x);
      case 8:
      case 9:
        return reduced(x, zero);
      case 10:
        return spread(x);
      default:
        return sorted(x);
    }
  }

  void select(NodeId predicate) {
    const NodeId x = any();
    if (shape(x).dims == shape(predicate).dims)
      add(Op::select, make_shape(shape(x).dtype, shape(x).dims), {predicate, x, like(x)});
  }

  void elementwise(NodeId x) {
    static const auto rows = [] {
      std::vector<OpRow> all;
      for (const OpRow& entry : op_table)
        if (entry.kind == OpClass::elementwise && entry.arity <= 2 && !(entry.real.empty() && entry.integer.empty()))
          all.push_back(entry);
      return all;
    }();
    const OpRow& entry = dice_.one_of(rows);
    if (is_floating(shape(x).dtype) ? entry.real.empty() : entry.integer.empty()) return;
    const DType to = entry.op == Op::is_finite ? DType::pred : shape(x).dtype;
    std::vector<NodeId> operands{x};
    if (entry.arity == 2) operands.push_back(like(x));
    for (const NodeId operand : operands)
      if (shape(operand).dims != shape(x).dims) return;
    add(entry.op, make_shape(to, shape(x).dims), operands);
  }

  void convert(NodeId x) {
    static constexpr auto types = std::to_array<DType>(
        {DType::f32, DType::f16, DType::bf16, DType::s32, DType::s8, DType::u8, DType::f64, DType::f8e4m3fn});
    add(Op::convert, make_shape(dice_.one_of(types), shape(x).dims), {x});
  }

  void moved(NodeId x) {
    Dims axes, dims;
    std::vector<std::int64_t> order;
    for (int i = 0; i < shape(x).rank(); ++i) order.push_back(i);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(dice_.below(static_cast<std::int64_t>(i)))]);
    for (const std::int64_t axis : order) {
      axes.push_back(axis);
      dims.push_back(shape(x).dims[static_cast<int>(axis)]);
    }
    if (dice_.toss()) {
      add(Op::transpose, make_shape(shape(x).dtype, dims), {x}, AxisList{axes});
    } else if (dice_.toss()) {
      add(Op::reverse, make_shape(shape(x).dtype, shape(x).dims), {x}, AxisList{axes});
    } else {
      add(Op::reshape, make_shape(shape(x).dtype, {elements(shape(x))}), {x});
    }
  }

  void sliced(NodeId x) {
    Dims dims;
    SliceRanges whole;
    for (const std::int64_t dim : shape(x).dims) {
      SliceRange range;
      range.start = dice_.below(dim);
      range.limit = range.start + (dim == 0 ? 0 : 1 + dice_.below(dim - range.start));
      range.stride = 1 + dice_.below(2);
      dims.push_back((range.limit - range.start + range.stride - 1) / range.stride);
      whole.ranges.push_back(range);
    }
    add(Op::slice, make_shape(shape(x).dtype, dims), {x}, std::move(whole));
  }

  void joined(NodeId x) {
    if (shape(x).rank() == 0 || elements(shape(x)) > 4096) return;
    const auto axis = static_cast<int>(dice_.below(shape(x).rank()));
    const NodeId other = like(x);
    Dims dims = shape(x).dims;
    dims[axis] += shape(other).dims[axis];
    add(Op::concatenate, make_shape(shape(x).dtype, dims), {x, other}, OneAxis{axis});
  }

  void reduced(NodeId x, NodeId zero) {
    Dims axes, kept;
    for (int i = 0; i < shape(x).rank(); ++i) {
      if (dice_.toss())
        axes.push_back(i);
      else
        kept.push_back(shape(x).dims[i]);
    }
    const Reducer reducer = dice_.toss() ? Reducer::custom : dice_.toss() ? Reducer::add : Reducer::maximum;
    const auto bodies = reducer == Reducer::custom ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{};
    add(Op::reduce, make_shape(DType::f32, kept), {x, zero}, Reduction{axes, reducer}, bodies);
  }

  void spread(NodeId x) {
    if (shape(x).rank() >= 5 || elements(shape(x)) > 4096) return;
    const auto gap = static_cast<int>(dice_.below(shape(x).rank() + 1));
    Dims dims, axes;
    for (int i = 0; i <= shape(x).rank(); ++i) {
      if (i == gap) {
        dims.push_back(1 + dice_.below(4));
      } else {
        axes.push_back(i);
        dims.push_back(shape(x).dims[i > gap ? i - 1 : i]);
      }
    }
    add(Op::broadcast, make_shape(shape(x).dtype, dims), {x}, AxisList{axes});
  }

  void sorted(NodeId x) {
    if (shape(x).rank() == 0) return;
    add(Op::sort, make_shape(DType::f32, shape(x).dims), {x}, SortOptions{dice_.below(shape(x).rank()), {}}, {1});
  }

  Dice dice_;
  Graph graph_;
};

std::string random_name(Dice& dice) {
  static constexpr std::string_view letters = "abcxyz0189_.-+ \"\\%{}:,\n\t\x01\xff";
  std::string out;
  for (std::int64_t i = 1 + dice.below(8); i > 0; --i) out += dice.one_of(letters);
  return out;
}

Shape random_shape(Dice& dice) {
  Dims dims;
  for (std::int64_t i = dice.below(5); i > 0; --i) dims.push_back(dice.below(5));
  Shape shape = make_shape(
      dtype_table[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(DType::token)))].dtype, dims);
  for (int i = shape.rank(); i > 1; --i)
    std::swap(shape.minor_to_major[static_cast<std::size_t>(i - 1)],
              shape.minor_to_major[static_cast<std::size_t>(dice.below(i))]);
  return shape;
}

/// Draws a value for every member, whatever would make sense.
struct RandomAttributes {
  Dice& dice;

  void operator()(std::string_view, Dims& dims) {
    for (std::int64_t i = dice.below(4); i > 0; --i) dims.push_back(dice.below(100) - 50);
  }
  void operator()(std::string_view, ListOfOne<std::int64_t> list) { list.number = dice.below(100) - 50; }
  void operator()(std::string_view, std::vector<SliceRange>& ranges) {
    for (std::int64_t i = dice.below(3); i > 0; --i)
      ranges.push_back({dice.below(100) - 50, dice.below(100), dice.below(5)});
  }
  void operator()(std::string_view, std::vector<PadRange>& ranges) {
    for (std::int64_t i = dice.below(3); i > 0; --i)
      ranges.push_back({dice.below(100) - 50, dice.below(100), dice.below(5)});
  }
  void operator()(std::string_view, std::vector<Shape>& shapes) {
    for (std::int64_t i = dice.below(3); i > 0; --i) shapes.push_back(random_shape(dice));
  }
  void operator()(std::string_view, std::string& words) {
    if (dice.toss()) words = random_name(dice);
  }
  void operator()(std::string_view, bool& flag) { flag = dice.toss(); }
  void operator()(std::string_view, std::int64_t& number) { number = dice.below(1000); }
  void operator()(std::string_view, double& number) {
    if (dice.toss()) number = static_cast<double>(dice.bits()) * 0x1p-20;
  }
};

/// Attributes of the node's operation, with the words and the contents that walk_attributes() leaves out.
void draw_attributes(Dice& dice, Node& node, std::size_t bodies) {
  node.attributes = make_attributes(node.op);
  walk_attributes(RandomAttributes{dice}, node);
  if (auto* parameter = std::get_if<ParameterNumber>(&node.attributes)) parameter->number = dice.below(1000);
  if (auto* compare = std::get_if<CompareOptions>(&node.attributes))
    compare->comparison = static_cast<Comparison>(dice.below(6));
  if (auto* reduction = std::get_if<Reduction>(&node.attributes))
    reduction->reducer = static_cast<Reducer>(dice.below(9));
  if (auto* region = std::get_if<RegionCall>(&node.attributes)) region->reducer = static_cast<Reducer>(dice.below(9));
  if (auto* literal = std::get_if<Literal>(&node.attributes))
    *literal = dice.below(4) == 0 ? Literal{false, {}} : random_literal(dice, node.shape);
  if (bodies > 0 && dice.toss())
    node.bodies = {static_cast<std::int32_t>(dice.below(static_cast<std::int64_t>(bodies)))};
}

Graph text_graph(Dice& dice, int depth) {
  Graph graph;
  graph.name = random_name(dice);
  for (std::int64_t i = depth > 0 ? dice.below(3) : 0; i > 0; --i) graph.bodies.push_back(text_graph(dice, depth - 1));
  for (const OpRow& entry : op_table) {
    Node node{entry.op, random_shape(dice), {}, {}, fmt::format("{}{}", random_name(dice), graph.nodes.size())};
    draw_attributes(dice, node, graph.bodies.size());
    if (!graph.nodes.empty())
      for (std::int64_t i = dice.below(4); i > 0; --i)
        node.operands.push_back(static_cast<NodeId>(dice.below(static_cast<std::int64_t>(graph.nodes.size()))));
    graph.nodes.push_back(std::move(node));
  }
  const auto count = static_cast<std::int64_t>(graph.nodes.size());
  for (std::int64_t i = dice.below(4); i > 0; --i) graph.outputs.push_back(static_cast<NodeId>(dice.below(count)));
  for (std::int64_t i = dice.below(3); i > 0; --i)
    graph.given.push_back({random_name(dice), random_name(dice), {static_cast<NodeId>(dice.below(count))}});
  return graph;
}

}  // namespace

Graph well_formed_graph(std::uint64_t seed, int nodes) { return Grower(seed).grown(nodes); }

Graph any_text_graph(std::uint64_t seed) {
  Dice dice(seed);
  return text_graph(dice, 2);
}
