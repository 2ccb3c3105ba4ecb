// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Small arrays that are known before the model runs. In: a graph while it is rewritten. Out: the same graph, where an
// operation on small constant arrays is a constant array. Called first by the pass that folds constants, which then
// spreads what has become one number.
//
// Why: models bring tables along (permutations, masks, positions, weights of five taps) and cut, turn, convert and add
// them before use. Left in place each of these is work at every run, and mostly a kernel of its own, for what a few
// bytes of memory say.
//
// Nodes are visited operands first. The contents of each are kept while they are known and the node has at most
// most_folded_elements elements. A node whose operands are all known is given to the reference evaluator, with the
// operands as constants. It becomes what came out, under its own name, when that saves work. It does where a constant
// array is among what it was computed from: that array is in memory anyway. And it does where all elements came out
// equal, as of a mask that holds everywhere. An iota with what is computed from it is left alone otherwise: a kernel
// makes such values out of indices, without memory. A broadcast stays, because its operand is the smaller one to read.
//
// Folded is what moves elements, and elementwise operations under the rules of pass_constants.cpp: a GPU must give the
// same bits, and the larger of two zeros is not promised. Of reductions those of integers, which have no order.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/indexed.h"
#include "hlo/folding.h"
#include "reference/evaluate.h"
#include "reference/evaluate_cells.h"

namespace tailor::hlo {

namespace {

/// Contents that are kept at a time; a graph that computes more out of constants keeps the rest.
constexpr std::size_t most_kept_contents = std::size_t{64} << 20;

struct Contents {
  std::vector<std::byte> bytes;
  bool splat = false;       ///< all elements are equal
  bool from_array = false;  ///< a constant array of different elements is among what it was computed from
};

class ArrayFolding {
 public:
  ArrayFolding(Rewrite& rewrite, PassCount& count)
      : rewrite_(rewrite), count_(count), known_(rewrite.graph.nodes.size()) {}

  void run() {
    const auto size = static_cast<ir::NodeId>(rewrite_.graph.nodes.size());
    for (ir::NodeId id = 0; id < size; ++id) {
      ir::Node& node = rewrite_.node(id);
      rewrite_.refresh(node);
      if (rewrite_.current(id) != id || !is_small(node.shape)) continue;
      known_[id] = contents_of(node);
      if (!known_[id]) continue;
      kept_ += known_[id]->bytes.size();
      if (kept_ > most_kept_contents) return;
      if (saves_work(node, *known_[id])) become_constant(node, known_[id]->bytes);
    }
  }

 private:
  static bool is_small(const ir::Shape& shape) {
    return shape.dtype != ir::DType::tuple && reference::has_cells(shape.dtype) && elements(shape) > 0 &&
           elements(shape) <= most_folded_elements;
  }

  std::optional<Contents> contents_of(const ir::Node& node) const {
    Contents contents;
    if (node.op == ir::Op::constant) {
      const ir::Literal* literal = known_literal(node);
      if (literal == nullptr) return std::nullopt;
      contents.bytes = literal->bytes;
    } else if (is_foldable(node)) {
      contents.bytes = evaluated(node);
      for (const ir::NodeId operand : node.operands)
        contents.from_array = contents.from_array || known_[operand]->from_array;
    } else {
      return std::nullopt;
    }
    const std::vector<std::byte>& bytes = contents.bytes;
    const auto width = static_cast<std::ptrdiff_t>(std::ssize(bytes) / elements(node.shape));
    contents.splat = std::equal(bytes.begin() + width, bytes.end(), bytes.begin());
    if (node.op == ir::Op::constant) contents.from_array = !contents.splat;
    return contents;
  }

  bool is_foldable(const ir::Node& node) const {
    for (const ir::NodeId operand : node.operands)
      if (!known_[operand]) return false;
    if (node.op == ir::Op::iota) return true;
    if (node.operands.empty()) return false;
    const ir::DType from = rewrite_.graph[node.operands[0]].shape.dtype;
    switch (class_of(node.op)) {
      case ir::OpClass::elementwise:
        return is_exact(node) && is_evaluated(node);
      case ir::OpClass::index:
        return (node.op != ir::Op::bitcast || from == node.shape.dtype) && is_evaluated(node);
      case ir::OpClass::reduction:
        return node.operands.size() == 2 && reducer(node) != ir::Reducer::custom &&
               reducer(node) != ir::Reducer::none && !is_floating(from) && is_evaluated(node);
      default:
        return false;
    }
  }

  bool is_exact(const ir::Node& node) const {
    bool floating = is_floating(node.shape.dtype);
    for (const ir::NodeId operand : node.operands)
      floating = floating || is_floating(rewrite_.graph[operand].shape.dtype);
    return !floating || (is_rounded_exactly(node.op) && !mixes_zeros(node));
  }

  /// Zeros of both signs where the larger or the smaller is asked for, at the same place or not.
  bool mixes_zeros(const ir::Node& node) const {
    if (node.op != ir::Op::maximum && node.op != ir::Op::minimum && node.op != ir::Op::clamp) return false;
    bool positive = false, negative = false;
    for (const ir::NodeId operand : node.operands) {
      const reference::Tensor tensor{rewrite_.graph[operand].shape, known_[operand]->bytes};
      for (std::int64_t i = 0; i < elements(tensor.shape); ++i)
        if (const double value = reference::as_double(tensor, i); value == 0)
          (std::signbit(value) ? negative : positive) = true;
    }
    return positive && negative;
  }

  /// The node alone, on constants.
  ir::Graph alone(const ir::Node& node) const {
    ir::Graph graph;
    ir::Node last = node;
    last.bodies.clear();
    last.operands.clear();
    for (const ir::NodeId operand : node.operands) {
      last.operands.push_back(static_cast<ir::NodeId>(graph.nodes.size()));
      ir::Node constant;
      constant.op = ir::Op::constant;
      constant.shape = rewrite_.graph[operand].shape;
      constant.attributes = ir::Literal{true, known_[operand]->bytes};
      graph.nodes.push_back(std::move(constant));
    }
    graph.outputs = {static_cast<ir::NodeId>(graph.nodes.size())};
    graph.nodes.push_back(std::move(last));
    return graph;
  }

  bool is_evaluated(const ir::Node& node) const {
    const ir::Graph graph = alone(node);
    return reference::can_evaluate(graph, graph.outputs[0]);
  }

  std::vector<std::byte> evaluated(const ir::Node& node) const {
    return std::move(reference::evaluate(alone(node), {})[0].bytes);
  }

  /// What is made of numbers alone is the other half's.
  bool saves_work(const ir::Node& node, const Contents& contents) const {
    if (node.op == ir::Op::constant || node.op == ir::Op::iota || node.op == ir::Op::copy ||
        node.op == ir::Op::broadcast)
      return false;
    const bool has_array = std::any_of(node.operands.begin(), node.operands.end(),
                                       [&](ir::NodeId operand) { return !known_[operand]->splat; });
    return has_array && (contents.splat || contents.from_array);
  }

  void become_constant(ir::Node& node, const std::vector<std::byte>& bytes) {
    node.op = ir::Op::constant;
    node.operands.clear();
    node.bodies.clear();
    node.attributes = ir::Literal{true, bytes};
    ++count_.rewrites;
  }

  Rewrite& rewrite_;
  PassCount& count_;
  IndexedVector<std::optional<Contents>> known_;
  std::size_t kept_ = 0;
};

}  // namespace

void fold_small_arrays(Rewrite& rewrite, PassCount& count) { ArrayFolding(rewrite, count).run(); }

}  // namespace tailor::hlo
