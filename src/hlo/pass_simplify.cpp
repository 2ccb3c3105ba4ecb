// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Simplifications that let fusion see what belongs together. In: a graph while it is rewritten. Out: the same graph
// with fewer conversions, reshapes, transposes and broadcasts. Called as rows of the table of passes.
//
// All rewrites are exact: only the place of an element or the width of its type changes, never a rounding. One
// exception is named below.
//   converts     two conversions are one where the first only widens a floating type; one to its own type is nothing
//   reshapes     a reshape of a reshape is one, a transpose of a transpose is one with composed axes, and one that
//                leaves everything in place is nothing; a bitcast between row-major arrays of one type is a reshape; a
//                reduction of single elements is a reshape (it may lose the sign of a zero)
//   broadcasts   a broadcast of a broadcast is one; a reshape below a broadcast goes when it only adds or drops
//                dimensions of size 1
// Each looks at a node and its operand only. Nodes are visited operands first, so chains of any length melt in one
// pass.
#include <optional>

#include "hlo/normalise.h"
#include "ir/graph/reducer.h"

namespace tailor::hlo {

namespace {

/// Whether every value of floating type `from` is a value of `to`.
bool widens(ir::DType from, ir::DType to) {
  if (!is_floating(from) || !is_floating(to)) return false;
  return row(to).bits > row(from).bits && (to == ir::DType::f32 || to == ir::DType::f64);
}

bool is_identity(const ir::Dims& axes) {
  for (int i = 0; i < axes.size(); ++i)
    if (axes[i] != i) return false;
  return true;
}

bool is_ascending(const ir::Dims& axes) {
  for (int i = 1; i < axes.size(); ++i)
    if (axes[i] <= axes[i - 1]) return false;
  return true;
}

/// A bitcast between row-major arrays of one type is a reshape; a broadcast that only adds dimensions of size 1 is too.
bool is_reshape_in_disguise(const ir::Node& node, const ir::Node& operand) {
  if (node.shape.dtype != operand.shape.dtype) return false;
  if (node.op == ir::Op::bitcast) return is_row_major(node.shape) && is_row_major(operand.shape);
  return node.op == ir::Op::broadcast && node.shape.rank() > operand.shape.rank() && elements(node.shape) > 0 &&
         elements(node.shape) == elements(operand.shape) && is_ascending(axes(node));
}

/// The node does nothing: its operand is the same array.
bool is_idle(const ir::Node& node, const ir::Node& operand) {
  if (!(node.shape == operand.shape)) return false;
  if (node.op == ir::Op::reshape || node.op == ir::Op::bitcast) return true;
  return (node.op == ir::Op::transpose || node.op == ir::Op::broadcast) && is_identity(axes(node));
}

/// Moves `node` past its operand where both together are one operation. True when it changed.
bool merge_movement(Rewrite& rewrite, ir::Node& node) {
  const ir::Node& operand = rewrite.node(node.operands[0]);
  if (node.op != operand.op || operand.operands.empty()) return false;
  if (node.op == ir::Op::bitcast && node.shape.dtype != operand.shape.dtype) return false;
  if (node.op == ir::Op::transpose) {
    ir::AxisList composed;
    for (const std::int64_t axis : axes(node)) composed.axes.push_back(axes(operand)[static_cast<int>(axis)]);
    node.attributes = composed;
  }
  const ir::NodeId source = rewrite.current(operand.operands[0]);
  node.operands[0] = source;
  return true;
}

/// Axes of a broadcast that reads `from` instead of its reshape `to`, when they differ in dimensions of size 1 only.
std::optional<ir::Dims> axes_before_reshape(const ir::Shape& from, const ir::Shape& to, const ir::Dims& axes,
                                            const ir::Shape& result) {
  ir::Dims before;
  int next = 0;  // of `to`
  std::int64_t last = -1;
  for (int i = 0; i < from.rank(); ++i) {
    std::int64_t axis = -1;
    if (from.dims[i] != 1) {
      while (next < to.rank() && to.dims[next] == 1) ++next;
      if (next == to.rank() || to.dims[next] != from.dims[i]) return std::nullopt;
      axis = axes[next++];
    } else {  // any dimension of size 1 of the result will do
      for (int j = static_cast<int>(last) + 1; j < result.rank() && axis < 0; ++j)
        if (result.dims[j] == 1) axis = j;
    }
    if (axis <= last) return std::nullopt;
    last = axis;
    before.push_back(axis);
  }
  while (next < to.rank() && to.dims[next] == 1) ++next;
  return next == to.rank() ? std::optional<ir::Dims>(before) : std::nullopt;
}

bool merge_broadcast(Rewrite& rewrite, ir::Node& node) {
  const ir::Node& operand = rewrite.node(node.operands[0]);
  if (operand.op == ir::Op::broadcast) {
    ir::AxisList composed;
    for (const std::int64_t axis : axes(operand)) composed.axes.push_back(axes(node)[static_cast<int>(axis)]);
    node.attributes = composed;
  } else if (operand.op == ir::Op::reshape) {
    const ir::Shape& from = rewrite.node(rewrite.current(operand.operands[0])).shape;
    const auto before = axes_before_reshape(from, operand.shape, axes(node), node.shape);
    if (!before) return false;
    node.attributes = ir::AxisList{*before};
  } else {
    return false;
  }
  node.operands[0] = rewrite.current(operand.operands[0]);
  return true;
}

/// A reshape of one number spread out is that number spread out.
bool spread_scalar(Rewrite& rewrite, ir::Node& node) {
  if (node.op != ir::Op::reshape) return false;
  const ir::Node& operand = rewrite.node(node.operands[0]);
  if (operand.op != ir::Op::broadcast || !axes(operand).empty()) return false;
  node.op = ir::Op::broadcast;
  node.attributes = ir::AxisList{};
  node.operands[0] = rewrite.current(operand.operands[0]);
  return true;
}

/// A reduction that combines one element with the reducer's neutral number only drops dimensions of size 1 (but for the
/// sign of a zero). Frameworks write it when they undo a broadcast.
bool unreduce(Rewrite& rewrite, ir::Node& node) {
  if (node.op != ir::Op::reduce || node.operands.size() != 2) return false;
  const ir::Reducer reducer = ir::reducer(node);
  if (reducer == ir::Reducer::none || reducer == ir::Reducer::custom) return false;
  const ir::Node& source = rewrite.node(node.operands[0]);
  const ir::Node& initial = rewrite.node(node.operands[1]);
  if (elements(source.shape) != elements(node.shape) || !is_row_major(source.shape) || !is_row_major(node.shape))
    return false;
  if (!is_neutral(initial, reducer)) return false;
  node.op = ir::Op::reshape;
  node.operands.pop_back();
  node.attributes = {};
  return true;
}

}  // namespace

void simplify_converts(Rewrite& rewrite, PassCount& count) {
  for (ir::NodeId id = 0; id < static_cast<ir::NodeId>(rewrite.graph.nodes.size()); ++id) {
    ir::Node& node = rewrite.node(id);
    rewrite.refresh(node);
    if (node.op != ir::Op::convert || rewrite.current(id) != id) continue;
    const ir::Node* operand = &rewrite.node(node.operands[0]);
    if (operand->op == ir::Op::convert) {
      const ir::NodeId source = rewrite.current(operand->operands[0]);
      const ir::DType from = rewrite.node(source).shape.dtype;
      if (widens(from, operand->shape.dtype) && is_floating(node.shape.dtype)) {
        node.operands[0] = source;
        operand = &rewrite.node(source);
        ++count.rewrites;
      }
    }
    if (!(node.shape == operand->shape)) continue;
    rewrite.replace(id, node.operands[0]);
    ++count.rewrites;
    ++count.removed;
  }
}

void simplify_reshapes(Rewrite& rewrite, PassCount& count) {
  for (ir::NodeId id = 0; id < static_cast<ir::NodeId>(rewrite.graph.nodes.size()); ++id) {
    ir::Node& node = rewrite.node(id);
    rewrite.refresh(node);
    if (unreduce(rewrite, node)) ++count.rewrites;
    const bool moves = node.op == ir::Op::reshape || node.op == ir::Op::bitcast || node.op == ir::Op::transpose;
    if ((!moves && node.op != ir::Op::broadcast) || rewrite.current(id) != id) continue;
    if (is_reshape_in_disguise(node, rewrite.node(node.operands[0]))) {
      node.op = ir::Op::reshape;
      node.attributes = {};
      ++count.rewrites;
    }
    while (node.op != ir::Op::broadcast && merge_movement(rewrite, node)) ++count.rewrites;
    if (spread_scalar(rewrite, node)) ++count.rewrites;
    if (!is_idle(node, rewrite.node(node.operands[0]))) continue;
    rewrite.replace(id, node.operands[0]);
    ++count.rewrites;
    ++count.removed;
  }
}

void merge_broadcasts(Rewrite& rewrite, PassCount& count) {
  for (ir::NodeId id = 0; id < static_cast<ir::NodeId>(rewrite.graph.nodes.size()); ++id) {
    ir::Node& node = rewrite.node(id);
    rewrite.refresh(node);
    if (node.op != ir::Op::broadcast || rewrite.current(id) != id) continue;
    while (merge_broadcast(rewrite, node)) ++count.rewrites;
    if (!is_idle(node, rewrite.node(node.operands[0]))) continue;
    rewrite.replace(id, node.operands[0]);
    ++count.rewrites;
    ++count.removed;
  }
}

}  // namespace tailor::hlo
