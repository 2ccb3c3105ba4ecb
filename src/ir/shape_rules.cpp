// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One function per family, one row per operation that has a rule of its own; elementwise operations share theirs.
#include "ir/shape_rules.h"

#include <fmt/format.h>

#include <array>

namespace tailor::ir {

namespace {

using Rule = std::string (*)(const Graph& graph, const Node& node);

const Shape& operand_shape(const Graph& graph, const Node& node, std::size_t i) {
  return graph.nodes[static_cast<std::size_t>(node.operands[i])].shape;
}

std::string listed(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ",")); }

std::string wanted_dims(const Node& node, const Dims& wanted) {
  if (node.shape.dims == wanted) return {};
  return fmt::format("found {}, expected dimensions {}", text(node.shape), listed(wanted));
}

/// Axes that each name a different dimension below `rank`.
std::string axes_problem(const Dims& axes, int rank) {
  unsigned seen = 0;
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= rank)
      return fmt::format("found dimension {}, expected one from 0 to {}", axis, rank - 1);
    if ((seen >> axis & 1U) != 0) return fmt::format("found dimension {} twice, expected it once", axis);
    seen |= 1U << axis;
  }
  return {};
}

std::string same_type(const Graph& graph, const Node& node) {
  const DType from = operand_shape(graph, node, 0).dtype;
  if (from == node.shape.dtype) return {};
  return fmt::format("found a result of type {}, expected {} like the operand", name(node.shape.dtype), name(from));
}

/// Operations whose result or operands differ in type by their nature.
bool changes_type(Op op) {
  return op == Op::convert || op == Op::bitcast_convert || op == Op::compare || op == Op::is_finite || op == Op::real ||
         op == Op::imag || op == Op::complex || op == Op::stochastic_convert || op == Op::select;
}

std::string elementwise_rule(const Graph& graph, const Node& node) {
  if (node.op == Op::bitcast_convert) return {};  // may add or drop a dimension
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const Shape& operand = operand_shape(graph, node, i);
    const bool may_be_scalar = (node.op == Op::select && i == 0) || (node.op == Op::clamp && i != 1);
    const bool fits = operand.dims == node.shape.dims || (may_be_scalar && operand.dims.empty());
    if (!fits)
      return fmt::format("found operand {} of shape {}, expected dimensions {} like the result", i, text(operand),
                         listed(node.shape.dims));
    if (!changes_type(node.op) && operand.dtype != node.shape.dtype)
      return fmt::format("found operand {} of type {}, expected {} like the result", i, name(operand.dtype),
                         name(node.shape.dtype));
    if (node.op == Op::compare && operand.dtype != operand_shape(graph, node, 0).dtype)
      return "found a comparison of two types, expected one";
  }
  return {};
}

std::string broadcast_rule(const Graph& graph, const Node& node) {
  const Shape& from = operand_shape(graph, node, 0);
  const Dims& axes = node.attributes.axes;
  if (axes.size() != from.rank())
    return fmt::format("found {} dimensions for an operand of shape {}, expected one each", axes.size(), text(from));
  if (std::string problem = axes_problem(axes, node.shape.rank()); !problem.empty()) return problem;
  for (int i = 0; i < axes.size(); ++i)
    if (node.shape.dims[static_cast<int>(axes[i])] != from.dims[i])
      return fmt::format("found {} broadcast to {}, expected dimension {} to stay {}", text(from), text(node.shape), i,
                         from.dims[i]);
  return same_type(graph, node);
}

std::string reshape_rule(const Graph& graph, const Node& node) {
  const Shape& from = operand_shape(graph, node, 0);
  if (elements(from) != elements(node.shape))
    return fmt::format("found {} reshaped to {}, expected as many elements", text(from), text(node.shape));
  return same_type(graph, node);
}

std::string bitcast_rule(const Graph& graph, const Node& node) {
  const Shape& from = operand_shape(graph, node, 0);
  if (bytes(from) == bytes(node.shape)) return {};
  return fmt::format("found {} as {}, expected as many bytes", text(from), text(node.shape));
}

std::string transpose_rule(const Graph& graph, const Node& node) {
  const Shape& from = operand_shape(graph, node, 0);
  const Dims& axes = node.attributes.axes;
  if (axes.size() != from.rank())
    return fmt::format("found {} dimensions for an operand of shape {}, expected one each", axes.size(), text(from));
  if (std::string problem = axes_problem(axes, from.rank()); !problem.empty()) return problem;
  Dims wanted;
  for (const std::int64_t axis : axes) wanted.push_back(from.dims[static_cast<int>(axis)]);
  if (std::string problem = wanted_dims(node, wanted); !problem.empty()) return problem;
  return same_type(graph, node);
}

std::string slice_rule(const Graph& graph, const Node& node) {
  const Shape& from = operand_shape(graph, node, 0);
  if (static_cast<int>(node.attributes.ranges.size()) != from.rank())
    return fmt::format("found {} ranges for an operand of shape {}, expected one each", node.attributes.ranges.size(),
                       text(from));
  Dims wanted;
  for (int i = 0; i < from.rank(); ++i) {
    const Range& range = node.attributes.ranges[static_cast<std::size_t>(i)];
    if (range.first < 0 || range.second < range.first || range.second > from.dims[i] || range.third < 1)
      return fmt::format("found slice [{}:{}:{}] of {} elements, expected it inside them", range.first, range.second,
                         range.third, from.dims[i]);
    const std::int64_t length = range.second - range.first;
    wanted.push_back(length / range.third + (length % range.third != 0 ? 1 : 0));
  }
  if (std::string problem = wanted_dims(node, wanted); !problem.empty()) return problem;
  return same_type(graph, node);
}

std::string pad_rule(const Graph& graph, const Node& node) {
  const Shape& from = operand_shape(graph, node, 0);
  if (operand_shape(graph, node, 1).rank() != 0) return "found a padding value with dimensions, expected a scalar";
  if (static_cast<int>(node.attributes.ranges.size()) != from.rank())
    return fmt::format("found {} paddings for an operand of shape {}, expected one each", node.attributes.ranges.size(),
                       text(from));
  Dims wanted;
  for (int i = 0; i < from.rank(); ++i) {
    const Range& range = node.attributes.ranges[static_cast<std::size_t>(i)];
    std::int64_t inner = 0;
    std::int64_t size = 0;
    const bool overflow = range.third < 0 || __builtin_mul_overflow(from.dims[i] > 0 ? from.dims[i] - 1 : 0, range.third, &inner) ||
                          __builtin_add_overflow(from.dims[i], inner, &size) ||
                          __builtin_add_overflow(size, range.first, &size) ||
                          __builtin_add_overflow(size, range.second, &size);
    if (overflow || size < 0) return fmt::format("found padding of dimension {} out of range, expected a real array", i);
    wanted.push_back(size);
  }
  if (std::string problem = wanted_dims(node, wanted); !problem.empty()) return problem;
  return same_type(graph, node);
}

std::string concatenate_rule(const Graph& graph, const Node& node) {
  const Dims& axes = node.attributes.axes;
  if (node.operands.empty()) return "found a concatenate without operands, expected at least one";
  if (axes.size() != 1) return fmt::format("found {} dimensions, expected one", axes.size());
  if (std::string problem = axes_problem(axes, node.shape.rank()); !problem.empty()) return problem;
  const int axis = static_cast<int>(axes[0]);
  Dims wanted = operand_shape(graph, node, 0).dims;
  if (wanted.size() != node.shape.rank()) return wanted_dims(node, wanted);
  wanted[axis] = 0;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    Dims dims = operand_shape(graph, node, i).dims;
    if (dims.size() != wanted.size()) return fmt::format("found operand {} of {} dimensions, expected {}", i, dims.size(), wanted.size());
    if (__builtin_add_overflow(wanted[axis], dims[axis], &wanted[axis])) return "found a size that does not fit 64 bits";
    dims[axis] = wanted[axis];
    if (!(dims == wanted)) return fmt::format("found operand {} of another shape, expected equal sizes beside dimension {}", i, axis);
  }
  if (std::string problem = wanted_dims(node, wanted); !problem.empty()) return problem;
  return same_type(graph, node);
}

std::string reverse_rule(const Graph& graph, const Node& node) {
  if (std::string problem = axes_problem(node.attributes.axes, node.shape.rank()); !problem.empty()) return problem;
  if (std::string problem = wanted_dims(node, operand_shape(graph, node, 0).dims); !problem.empty()) return problem;
  return same_type(graph, node);
}

std::string iota_rule(const Graph&, const Node& node) {
  if (node.shape.rank() > 0 && node.attributes.axes.size() != 1) return "found an iota without its dimension, expected one";
  return axes_problem(node.attributes.axes, node.shape.rank());
}

std::string reduce_rule(const Graph& graph, const Node& node) {
  const std::size_t results = node.attributes.results.empty() ? 1 : node.attributes.results.size();
  if (node.operands.size() != 2 * results)
    return fmt::format("found {} operands, expected {} inputs and as many initial values", node.operands.size(), results);
  const Shape& from = operand_shape(graph, node, 0);
  if (std::string problem = axes_problem(node.attributes.axes, from.rank()); !problem.empty()) return problem;
  Dims wanted;
  for (int i = 0; i < from.rank(); ++i)
    if (!node.attributes.axes.contains(i)) wanted.push_back(from.dims[i]);
  for (std::size_t i = 0; i < results; ++i) {
    if (!(operand_shape(graph, node, i).dims == from.dims)) return "found inputs of different shapes, expected equal ones";
    if (operand_shape(graph, node, results + i).rank() != 0) return "found an initial value with dimensions, expected a scalar";
    const Shape& result = node.attributes.results.empty() ? node.shape : node.attributes.results[i];
    if (!(result.dims == wanted))
      return fmt::format("found a result of shape {}, expected dimensions {}", text(result), listed(wanted));
  }
  return {};
}

struct RuleRow {
  Op op;
  Rule rule;
};

constexpr auto rule_rows = std::to_array<RuleRow>({
    {Op::broadcast, broadcast_rule},
    {Op::reshape, reshape_rule},
    {Op::bitcast, bitcast_rule},
    {Op::transpose, transpose_rule},
    {Op::slice, slice_rule},
    {Op::pad, pad_rule},
    {Op::concatenate, concatenate_rule},
    {Op::reverse, reverse_rule},
    {Op::iota, iota_rule},
    {Op::reduce, reduce_rule},
});

constexpr auto rules = [] {
  std::array<Rule, op_table.size()> table{};
  for (const OpRow& row : op_table)
    if (row.kind == OpClass::elementwise) table[static_cast<std::size_t>(row.op)] = elementwise_rule;
  for (const RuleRow& row : rule_rows) table[static_cast<std::size_t>(row.op)] = row.rule;
  return table;
}();

}  // namespace

std::string shape_problem(const Graph& graph, const Node& node) {
  const int arity = row(node.op).arity;
  if (arity >= 0 && static_cast<int>(node.operands.size()) != arity)
    return fmt::format("found {} operands, expected {}", node.operands.size(), arity);
  const OpClass kind = class_of(node.op);
  const bool array = node.shape.dtype != DType::tuple && node.shape.dtype != DType::token;
  if (!array && (kind == OpClass::elementwise || kind == OpClass::index || kind == OpClass::leaf))
    return fmt::format("found a result of type {}, expected an array", name(node.shape.dtype));
  const Rule rule = rules[static_cast<std::size_t>(node.op)];
  return rule == nullptr ? std::string() : rule(graph, node);
}

}  // namespace tailor::ir
