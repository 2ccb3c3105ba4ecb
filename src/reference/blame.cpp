// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks on their way from outputs to parameters. In: a graph and marks. Out: marks. blame.h says what for.
//
// One walk from the last node to the first. An elementwise operation marks the same places of its operands, a reduction
// all terms of a marked sum. What moves elements is asked where it took each of them from: the evaluator's own code
// moves numbers that say which element of which operand they are, so no index map is written down a second time. A
// scalar that many elements read is not blamed for a few of them.
#include "reference/blame.h"

#include <algorithm>

#include "base/indexed.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

class Blame {
 public:
  Blame(const ir::Graph& graph, const std::stop_token& stop) : graph_(graph), stop_(stop), marks_(graph.nodes.size()) {}

  bool run(std::vector<Marks> outputs) {
    for (std::size_t k = 0; k < outputs.size(); ++k) add(graph_.outputs[k], std::move(outputs[k]));
    for (auto id = static_cast<ir::NodeId>(graph_.nodes.size()); id-- > 0;) {
      const ir::Node& node = graph_[id];
      if (marks_[id].empty() || node.operands.empty()) continue;
      stop_if_asked(stop_);
      if (!hand_on(node, marks_[id])) return false;
      marks_[id] = {};
    }
    return true;
  }

  std::vector<Marks> of_parameters() {
    std::vector<Marks> all;
    for (const ir::NodeId id : parameters(graph_)) {
      all.push_back(std::move(marks_[id]));
      all.back().resize(element_count(graph_[id].shape), 0);
    }
    return all;
  }

 private:
  void add(ir::NodeId id, Marks more) {
    if (std::find(more.begin(), more.end(), 1) == more.end()) return;
    Marks& marks = marks_[id];
    if (marks.empty()) {
      marks = std::move(more);
      return;
    }
    for (std::size_t i = 0; i < marks.size(); ++i) marks[i] |= more[i];
  }

  bool hand_on(const ir::Node& node, const Marks& marks) {
    if (node.shape.dtype == ir::DType::tuple) return false;
    if (is_elementwise(node.op)) {
      for (const ir::NodeId operand : node.operands)
        if (element_count(graph_[operand].shape) == marks.size()) add(operand, marks);
      return true;
    }
    if (class_of(node.op) == ir::OpClass::index) return hand_on_moved(node, marks);
    if (node.op != ir::Op::reduce || node.operands.size() != 2) return false;
    hand_on_reduced(node, marks);
    return true;
  }

  void hand_on_reduced(const ir::Node& node, const Marks& marks) {
    const ir::Shape& from = graph_[node.operands[0]].shape;
    // Steps through the result along each dimension of the operand; 0 along those that go.
    ir::Dims steps = from.dims;
    std::int64_t step = 1;
    for (int d = from.rank(); d-- > 0;) {
      const bool gone = axes(node).contains(d);
      steps[d] = gone ? 0 : step;
      if (!gone) step *= from.dims[d];
    }
    const ir::Dims strides = row_major(from.dims);
    Marks more(element_count(from), 0);
    const std::int64_t inner = from.rank() == 0 ? 1 : std::max<std::int64_t>(from.dims[from.rank() - 1], 1);
    const std::int64_t step_of_inner = from.rank() == 0 ? 0 : steps[from.rank() - 1];
    const std::int64_t rows = std::ssize(more) / inner;
    in_parallel(rows, (parallel_cells + inner - 1) / inner, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        std::int64_t place = 0;
        for (int d = 0; d + 1 < from.rank(); ++d) place += row * inner / strides[d] % from.dims[d] * steps[d];
        char* const to = more.data() + row * inner;
        for (std::int64_t i = 0; i < inner; ++i) to[i] = marks[static_cast<std::size_t>(place + i * step_of_inner)];
      }
    });
    add(node.operands[0], std::move(more));
  }

  bool hand_on_moved(const ir::Node& node, const Marks& marks) {
    ir::Node wide = node;
    wide.shape.dtype = ir::DType::f64;
    std::vector<Tensor> numbers;
    double next = 0;
    for (const ir::NodeId operand : node.operands) {
      ir::Shape shape = graph_[operand].shape;
      shape.dtype = ir::DType::f64;
      numbers.push_back(zeros(shape));
      each_cell(numbers.back(), [&](std::int64_t, Cell& cell) { cell.real = next++; });
    }
    Call call{graph_, wide, {}, stop_};
    for (const Tensor& one : numbers) call.operands.push_back(&one);
    const std::vector<Tensor> moved = evaluate_index(call);
    if (element_count(moved.front().shape) != marks.size()) return false;
    std::vector<Marks> more;
    for (const Tensor& one : numbers) more.emplace_back(element_count(one.shape), 0);
    each_real(moved.front(), [&](std::int64_t i, double number) {
      if (marks[static_cast<std::size_t>(i)] == 0) return;
      auto place = static_cast<std::size_t>(number), k = std::size_t{0};
      for (; place >= more[k].size(); ++k) place -= more[k].size();
      more[k][place] = 1;
    });
    for (std::size_t k = 0; k < more.size(); ++k)
      if (more[k].size() > 1 || marks.size() == 1) add(node.operands[k], std::move(more[k]));
    return true;
  }

  const ir::Graph& graph_;
  const std::stop_token& stop_;
  IndexedVector<Marks> marks_;
};

}  // namespace

std::optional<std::vector<Marks>> sources_of(const ir::Graph& graph, std::vector<Marks> outputs,
                                             const std::stop_token& stop) {
  Blame blame(graph, stop);
  if (!blame.run(std::move(outputs))) return std::nullopt;
  return blame.of_parameters();
}

}  // namespace tailor::reference
