// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How much memory an evaluation with bounds takes. In: a graph. Out: bytes, from shapes alone. Called by the checks
// before they start. It is the evaluator's own walk without the values: nodes in order, each value and its bounds from
// the node that makes them to the last that reads them. Where the evaluator finds out while it runs whether a value
// stays exact, and so needs no bounds, what is said here is the larger.
#include <algorithm>

#include "base/indexed.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"
#include "reference/bounds/extreme.h"
#include "reference/bounds/fold.h"
#include "reference/error_bound.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_memory.h"

namespace tailor::reference {

namespace {

constexpr std::int64_t bound_bytes = sizeof(double), cell_bytes = sizeof(Cell);

std::int64_t elements_made(const ir::Node& node) {
  std::int64_t all = 0;
  for (const ir::Shape& shape : result_shapes(node)) all += elements(shape);
  return all;
}

std::int64_t value_bytes(const ir::Node& node) {
  if (node.op == ir::Op::parameter) return 0;  // the caller's
  std::int64_t all = 0;
  for (const ir::Shape& shape : result_shapes(node)) all += elements(shape) * element_bytes(shape.dtype);
  return all;
}

/// Floating operations that hand numbers on, or whose exact operands give what every kernel gives.
bool adds_no_error(const ir::Node& node) {
  switch (node.op) {
    case ir::Op::copy:
    case ir::Op::select:
    case ir::Op::negate:
    case ir::Op::abs:
    case ir::Op::maximum:
    case ir::Op::minimum:
    case ir::Op::clamp:
    case ir::Op::bitcast_convert:
      return true;
    default:
      break;
  }
  const ir::OpClass kind = class_of(node.op);
  if (kind == ir::OpClass::leaf || kind == ir::OpClass::index || passes_operands(node.op)) return true;
  return node.op == ir::Op::gather || node.op == ir::Op::dynamic_slice || node.op == ir::Op::dynamic_update_slice ||
         node.op == ir::Op::get_tuple_element;
}

class BytesWalk {
 public:
  /// `given_bounded`: parameters have bounds, as those of a body may.
  explicit BytesWalk(const ir::Graph& graph, bool given_bounded = false)
      : graph_(graph), bounded_(graph.nodes.size(), false), held_(graph.nodes.size(), 0), uses_(graph.nodes.size(), 0) {
    for (const ir::Node& node : graph.nodes)
      for (const ir::NodeId operand : node.operands) ++uses_[operand];
    for (const ir::NodeId output : graph.outputs) ++uses_[output];
    std::int64_t now = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (uses_[i] == 0) continue;
      const ir::Node& node = graph.nodes[i];
      bounded_[i] = (given_bounded && node.op == ir::Op::parameter) || any_bounded(node) || reads_bits(node) ||
                    (is_float(node) && !adds_no_error(node));
      held_[i] = value_bytes(node) + (bounded_[i] ? bound_bytes * elements_made(node) : 0);
      now += held_[i];
      most_ = std::max(most_, now + worked_with(node, bounded_[i]));
      for (const ir::NodeId operand : node.operands)
        if (--uses_[operand] == 0) now -= held_[operand];
    }
    // Places of the greatest of rows, and bounds of predicates that are kept for them (bounds/extreme.cpp).
    for (const OwnExtreme& one : own_extremes(graph)) {
      most_ += bound_bytes * elements_made(graph[one.reduce]);
      for (const ir::NodeId mask : one.masks) most_ += bound_bytes * elements_made(graph[mask]);
    }
    // The bounds of each output are copied as they are handed out.
    std::int64_t largest = 0;
    for (const ir::NodeId output : graph.outputs) {
      const ir::Node& node = graph[output];
      outputs_ += held_[output];
      if (bounded_[output]) largest = std::max(largest, bound_bytes * elements_made(node));
    }
    most_ = std::max(most_, now + largest);
  }
  std::int64_t most() const { return most_ + std::min(most_, static_cast<std::int64_t>(most_kept_bytes)); }
  std::int64_t outputs() const { return outputs_; }

 private:
  static bool is_float(const ir::Node& node) {
    const std::vector<ir::Shape> shapes = result_shapes(node);
    return std::any_of(shapes.begin(), shapes.end(), [](const ir::Shape& shape) { return is_floating(shape.dtype); });
  }
  /// Whether it reads bits of a number that are not promised, where that is computed.
  bool reads_bits(const ir::Node& node) const {
    if (node.operands.empty() || !is_floating(graph_[node.operands[0]].shape.dtype)) return false;
    if (const auto* compare = std::get_if<ir::CompareOptions>(&node.attributes)) return compare->total_order;
    return node.op == ir::Op::bitcast_convert && class_of(graph_[node.operands[0]].op) != ir::OpClass::leaf;
  }
  bool any_bounded(const ir::Node& node) const {
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ir::NodeId operand) { return bounded_[operand]; });
  }
  std::int64_t read(const ir::Node& node) const {
    std::int64_t all = 0;
    for (const ir::NodeId operand : node.operands) all += elements(graph_[operand].shape);
    return all;
  }

  /// Of a loop or a branch: the most that a body works with, and what goes into a round and what comes out of it.
  std::int64_t bodies(const ir::Node& node, bool bounded) const {
    std::int64_t most = 0, state = 0;
    for (std::size_t i = 0; i < node.bodies.size(); ++i)
      most = std::max(most, BytesWalk(ir::body(graph_, node, i), bounded).most_);
    for (const ir::NodeId operand : node.operands)
      for (const ir::Shape& shape : result_shapes(graph_[operand]))
        state += elements(shape) * (element_bytes(shape.dtype) + (bounded ? bound_bytes : 0));
    return most + 2 * state;
  }

  /// Arrays of f64 or cells that an operation needs beside its operands and results.
  std::int64_t worked_with(const ir::Node& node, bool bounded) const {
    switch (class_of(node.op)) {
      case ir::OpClass::leaf:
      case ir::OpClass::elementwise:
        return 0;
      case ir::OpClass::index:
        return bounded ? bound_bytes * read(node) : 0;
      case ir::OpClass::control:
        return bodies(node, bounded);
      default:
        break;
    }
    // Accumulators, and for bounds the terms of every element and their sums.
    // Of long windows also each line from its beginnings and from its ends (evaluate_long_window.cpp).
    const std::int64_t lines = node.op == ir::Op::reduce_window ? 2 * cell_bytes * read(node) : 0;
    const bool folds = node.op == ir::Op::reduce && ir::runs_region(node) && ir::known_reducers(graph_, node).empty();
    const std::int64_t accumulators =
        cell_bytes * elements_made(node) + lines + (bounded && folds ? bytes_to_fold(graph_, node) : 0);
    // A scatter's places from both ends of their bounds too, and its updates once more.
    const std::int64_t times = node.op == ir::Op::scatter ? 4 : 2;
    return accumulators + (bounded ? times * bound_bytes * (read(node) + elements_made(node)) : 0);
  }

  const ir::Graph& graph_;
  IndexedVector<bool> bounded_;
  IndexedVector<std::int64_t> held_;
  IndexedVector<std::int32_t> uses_;
  std::int64_t most_ = 0, outputs_ = 0;
};

}  // namespace

std::int64_t bytes_to_evaluate(const ir::Graph& graph) { return BytesWalk(graph).most(); }

std::int64_t bytes_of_outputs(const ir::Graph& graph) { return BytesWalk(graph).outputs(); }

}  // namespace tailor::reference
