// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk over a graph, and tensors as such. In: a graph and one tensor for each parameter. Out: one tensor for each
// output, or an Error that names an operation without semantics. Called by the checks, by passes that fold constants,
// and by most tests as their oracle.
//
// The method: nodes stand in topological order and are evaluated in it, one whole array at a time. A table says which
// function has an operation's semantics (evaluate_*.cpp, one file for each class of operations). A value is counted by
// its users and dropped after the last one, so that a model at full shape needs the memory of its widest point only;
// the memory itself is handed to the next array that fits (evaluate_memory.h). Operations that only hand on their
// operand share it.
//
// Elements are computed in blocks of cells (evaluate_cells.h): floating types in double, integers in 64 bits. After
// each operation a block is rounded or wrapped to the node's type. Reductions and contractions keep their sums in
// double and are rounded once at the end, so the reference is the correctly rounded result and not that of one order of
// additions.
//
// A visitor may look at every node with its operands and results. The error bounds and the maker of inputs use it.
#include "reference/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "base/indexed.h"
#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_memory.h"
#include "reference/evaluate_window.h"

namespace tailor::reference {

namespace {

using Value = std::shared_ptr<const Tensor>;
using Evaluator = std::vector<Tensor> (*)(const Call&);

struct EvaluatorRow {
  ir::Op op;
  Evaluator evaluator;
};

constexpr auto evaluator_table = std::to_array<EvaluatorRow>({
    {ir::Op::iota, evaluate_iota},
    {ir::Op::map, evaluate_map},
    {ir::Op::broadcast, evaluate_index},
    {ir::Op::reshape, evaluate_index},
    {ir::Op::bitcast, evaluate_index},
    {ir::Op::transpose, evaluate_index},
    {ir::Op::slice, evaluate_index},
    {ir::Op::reverse, evaluate_index},
    {ir::Op::pad, evaluate_index},
    {ir::Op::concatenate, evaluate_index},
    {ir::Op::dynamic_slice, evaluate_lookup},
    {ir::Op::dynamic_update_slice, evaluate_lookup},
    {ir::Op::gather, evaluate_lookup},
    {ir::Op::scatter, evaluate_lookup},
    {ir::Op::reduce, evaluate_reduce},
    {ir::Op::reduce_window, evaluate_reduce_window},
    {ir::Op::select_and_scatter, evaluate_select_and_scatter},
    {ir::Op::sort, evaluate_sort},
    {ir::Op::topk, evaluate_topk},
    {ir::Op::dot, evaluate_dot},
    {ir::Op::convolution, evaluate_convolution},
    {ir::Op::while_loop, evaluate_while},
    {ir::Op::conditional, evaluate_conditional},
});

/// Whether an operation, not an elementwise one, computes on complex numbers in place of moving them.
bool computes_on_complex(const ir::Graph& graph, const ir::Node& node) {
  const ir::OpClass kind = class_of(node.op);
  const bool moves = kind == ir::OpClass::index || kind == ir::OpClass::control || kind == ir::OpClass::leaf ||
                     node.op == ir::Op::gather || node.op == ir::Op::dynamic_slice ||
                     node.op == ir::Op::dynamic_update_slice;
  return !moves && std::any_of(node.operands.begin(), node.operands.end(), [&](ir::NodeId operand) {
    return row(graph[operand].shape.dtype).kind == ir::DTypeKind::complex;
  });
}

Evaluator find_evaluator(const ir::Graph& graph, const ir::Node& node) {
  if (class_of(node.op) == ir::OpClass::elementwise) {
    if (has_element_step(graph, node)) return evaluate_elementwise;
    if (node.op == ir::Op::bitcast_convert || node.op == ir::Op::copy) return evaluate_index;
    return has_complex_step(graph, node) ? evaluate_complex : nullptr;
  }
  if (computes_on_complex(graph, node) && !has_complex_fold(graph, node)) return nullptr;
  for (const EvaluatorRow& entry : evaluator_table)
    if (entry.op == node.op) return entry.evaluator;
  return nullptr;
}

class Walk {
 public:
  Walk(const ir::Graph& graph, std::vector<Value> inputs, const Visit& visit, const std::stop_token& stop)
      : graph_(graph),
        inputs_(std::move(inputs)),
        visit_(visit),
        stop_(stop),
        values_(graph.nodes.size()),
        uses_(graph.nodes.size(), 0) {
    for (const ir::Node& node : graph.nodes)
      for (const ir::NodeId operand : node.operands) ++uses_[operand];
    for (const ir::NodeId output : graph.outputs) ++uses_[output];
    find_stand_ins();
  }

  std::vector<Tensor> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (uses_[i] == 0) continue;
      values_[i] = step(static_cast<ir::NodeId>(i));
      for (const ir::NodeId operand : graph_.nodes[i].operands)
        if (--uses_[operand] == 0) values_[operand].clear();
    }
    std::vector<Tensor> outputs;
    for (const ir::NodeId output : graph_.outputs) {
      const bool once = uses_[output] == 1;
      for (const Value& value : values_[output]) outputs.push_back(handed_out(value, once));
    }
    return outputs;
  }

 private:
  /// Elementwise operations read a scalar for every element, so what only spreads one to them need not be made.
  void find_stand_ins() {
    stand_ins_.assign(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const ir::Node& node = graph_.nodes[i];
      stand_ins_[i] = node.op == ir::Op::broadcast && graph_[node.operands[0]].shape.rank() == 0;
      if (has_element_step(graph_, node)) continue;
      for (const ir::NodeId operand : node.operands) stand_ins_[operand] = false;
    }
    for (const ir::NodeId output : graph_.outputs) stand_ins_[output] = false;
  }

  /// What nobody else holds need not be copied: every value that has an owner was made by shared().
  static Tensor handed_out(const Value& value, bool once) {
    if (once && value.use_count() == 1) return std::move(*std::const_pointer_cast<Tensor>(value));
    return *value;
  }

  std::vector<Value> step(ir::NodeId id) {
    const ir::Node& node = graph_[id];
    Call call{graph_, node, {}, stop_};
    call.may_stop();
    std::vector<Value> results = evaluate_node(call);
    if (!visit_) return results;
    std::vector<const Tensor*> made;
    for (const Value& value : results) made.push_back(value.get());
    visit_(id, call, made);
    return results;
  }

  std::vector<Value> evaluate_node(Call& call) {
    const ir::Node& node = call.node;
    if (node.op == ir::Op::parameter) return {input(call)};
    if (node.op == ir::Op::constant) return {constant(call)};
    if (node.op == ir::Op::get_tuple_element) {
      const std::vector<Value>& all = values_[node.operands.at(0)];
      const std::size_t wanted = tuple_index(node);
      if (wanted >= all.size()) fail(call, fmt::format("element {} of {} results", wanted, all.size()));
      return {all[wanted]};
    }
    if (passes_operands(node.op)) return handed_on(node);
    if (stand_ins_[&node - graph_.nodes.data()]) {
      call.operands.push_back(values_[node.operands[0]][0].get());
      return values_[node.operands[0]];
    }
    const Evaluator evaluator = find_evaluator(graph_, node);
    if (evaluator == nullptr)
      fail(call, fmt::format("an operation of class {} on {} has no semantics in the reference evaluator",
                             name(class_of(node.op)), text(node.shape)));
    for (const ir::NodeId operand : node.operands)
      for (const Value& value : values_[operand]) call.operands.push_back(value.get());
    call.spent = spent_by(node);
    std::vector<Value> results;
    for (Tensor& tensor : evaluator(call)) results.push_back(shared(std::move(tensor)));
    return results;
  }

  /// What only the node has a use for, and holds no other value. A visitor sees operands afterwards, so there it is
  /// none.
  std::vector<Tensor*> spent_by(const ir::Node& node) const {
    std::vector<Tensor*> spent;
    if (visit_) return spent;
    for (const ir::NodeId operand : node.operands) {
      const bool is_last = uses_[operand] == std::count(node.operands.begin(), node.operands.end(), operand);
      for (const Value& value : values_[operand])
        spent.push_back(is_last && value.use_count() == 1 ? std::const_pointer_cast<Tensor>(value).get() : nullptr);
    }
    return spent;
  }

  std::vector<Value> handed_on(const ir::Node& node) const {
    std::vector<Value> all;
    const std::size_t count = node.op == ir::Op::add_dependency ? 1 : node.operands.size();
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<Value>& operand = values_[node.operands[i]];
      all.insert(all.end(), operand.begin(), operand.end());
    }
    return all;
  }

  /// Each is asked for once: a graph has one parameter of a number.
  Value input(const Call& call) {
    const std::int64_t number = parameter_number(call.node);
    if (number < 0 || std::cmp_greater_equal(number, inputs_.size()))
      fail(call, fmt::format("parameter {} of {} inputs", number, inputs_.size()));
    const Tensor& tensor = *inputs_[number];
    if (tensor.shape.dtype != call.node.shape.dtype || tensor.shape.dims != call.node.shape.dims)
      fail(call, fmt::format("input {} is {}, expected {}", number, text(tensor.shape), text(call.node.shape)));
    check_size(call, tensor.bytes.size());
    return std::move(inputs_[number]);
  }

  static Value constant(const Call& call) {
    const ir::Literal* literal = known_literal(call.node);
    if (literal == nullptr) fail(call, "the constant's contents are not known");
    check_size(call, literal->bytes.size());
    return shared(copied(call.node.shape, literal->bytes));
  }

  static void check_size(const Call& call, std::size_t found) {
    const auto expected = content_bytes(call.node.shape);
    if (found != expected)
      fail(call, fmt::format("found {} bytes, expected {} for {}", found, expected, text(call.node.shape)));
  }

  const ir::Graph& graph_;
  IndexedVector<Value> inputs_;  ///< those that somebody else owns have no owner here
  const Visit& visit_;
  const std::stop_token& stop_;
  IndexedVector<std::vector<Value>> values_;
  IndexedVector<std::int32_t> uses_;
  IndexedVector<bool> stand_ins_;
};

/// SplitMix64 (Steele, Lea and Flood, 2014): number `which` of the sequence, from 0 on.
std::uint64_t random_at(std::uint64_t seed, std::uint64_t which) {
  std::uint64_t z = seed + (which + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// Elements begin .. end-1 of random_tensor().
void random_cells(Tensor& tensor, std::uint64_t seed, std::int64_t begin, std::int64_t end,
                  const std::stop_token& stop) {
  const ir::DType dtype = tensor.shape.dtype;
  const int bits = std::min(row(dtype).bits, 5);
  std::array<Cell, block_cells> cells;
  for (std::int64_t first = begin; first < end; first += block_cells) {
    stop_if_asked(stop);
    const auto count = static_cast<std::size_t>(std::min(block_cells, end - first));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t random = random_at(seed, static_cast<std::uint64_t>(first) + i);
      Cell& cell = cells[i];
      cell.integer = static_cast<std::int64_t>(random >> 63);
      if (is_floating(dtype)) cell.real = static_cast<double>(random >> 11) * 0x1p-51 - 2.0;
      if (dtype == ir::DType::f8e8m0fnu) cell.real = std::fabs(cell.real);
      if (is_unsigned(dtype)) cell.integer = static_cast<std::int64_t>(random >> (64 - std::min(bits, 4)));
      if (is_signed(dtype)) cell.integer = static_cast<std::int64_t>(random) >> (64 - bits);
    }
    store_cells(tensor, first, std::span(cells).first(count));
  }
}

}  // namespace

double as_double(const Tensor& tensor, std::int64_t i) {
  const Cell cell = cell_at(tensor, i);
  if (is_floating(tensor.shape.dtype)) return cell.real;
  if (tensor.shape.dtype == ir::DType::u64) return static_cast<double>(static_cast<std::uint64_t>(cell.integer));
  return static_cast<double>(cell.integer);
}

std::int64_t as_integer(const Tensor& tensor, std::int64_t i) {
  const Cell cell = cell_at(tensor, i);
  return is_floating(tensor.shape.dtype) ? static_cast<std::int64_t>(cell.real) : cell.integer;
}

void store(Tensor& tensor, std::int64_t i, double value) {
  Cell cell{.real = value};
  if (!is_floating(tensor.shape.dtype)) {
    const ElementStep step{ir::Op::convert, ir::Comparison::eq, false, ir::DType::f64, tensor.shape.dtype, 0, 0};
    const Cell from = cell;
    apply(step, &from, &from, &from, &cell, 1);
  }
  store_cells(tensor, i, {&cell, 1});
}

void store_integer(Tensor& tensor, std::int64_t i, std::int64_t value) {
  Cell cell{.integer = value};
  if (is_floating(tensor.shape.dtype)) cell.real = round_integer_to(tensor.shape.dtype, value);
  store_cells(tensor, i, {&cell, 1});
}

Tensor zeros(const ir::Shape& shape) {
  Tensor tensor = unwritten(shape);
  std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
  return tensor;
}

Tensor random_tensor(const ir::Shape& shape, std::uint64_t seed, const std::stop_token& stop) {
  Tensor tensor = unwritten(shape);
  // A complex array is filled as the array of its parts.
  if (shape.dtype == ir::DType::c64) tensor.shape.dtype = ir::DType::f32;
  if (shape.dtype == ir::DType::c128) tensor.shape.dtype = ir::DType::f64;
  const ir::DType dtype = tensor.shape.dtype;
  if (!has_cells(dtype)) return zeros(shape);
  const std::int64_t total = static_cast<std::int64_t>(tensor.bytes.size()) / element_bytes(dtype);
  const auto between = [&](std::int64_t begin, std::int64_t end) { random_cells(tensor, seed, begin, end, stop); };
  in_parallel(total, parallel_cells, between);
  tensor.shape = shape;
  return tensor;
}

bool passes_operands(ir::Op op) {
  return op == ir::Op::tuple || op == ir::Op::opt_barrier || op == ir::Op::add_dependency || op == ir::Op::domain ||
         op == ir::Op::copy_start || op == ir::Op::copy_done;
}

std::vector<Tensor> evaluate_visited(const ir::Graph& graph, std::span<const Tensor> inputs, const Visit& visit,
                                     const std::stop_token& stop) {
  const KeptMemory kept;
  std::vector<Value> values;
  for (const Tensor& input : inputs) values.emplace_back(std::shared_ptr<const void>(), &input);
  return Walk(graph, std::move(values), visit, stop).run();
}

std::vector<Tensor> evaluate_given_up(const ir::Graph& graph, std::vector<Tensor>&& inputs,
                                      const std::stop_token& stop) {
  const KeptMemory kept;
  std::vector<Value> values;
  for (Tensor& input : inputs) values.push_back(shared(std::move(input)));
  return Walk(graph, std::move(values), {}, stop).run();
}

std::vector<Tensor> evaluate(const ir::Graph& graph, std::span<const Tensor> inputs, const std::stop_token& stop) {
  return evaluate_visited(graph, inputs, {}, stop);
}

bool can_evaluate(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph[id];
  if (node.op == ir::Op::parameter || node.op == ir::Op::get_tuple_element || passes_operands(node.op)) return true;
  if (node.op == ir::Op::constant) return known_literal(node) != nullptr;
  if (find_evaluator(graph, node) == nullptr) return false;
  for (std::size_t which = 0; which < node.bodies.size(); ++which) {
    const ir::Graph& body = ir::body(graph, node, which);
    if (class_of(node.op) != ir::OpClass::control && !Region::fits(body)) return false;
    for (std::size_t i = 0; i < body.nodes.size(); ++i)
      if (!can_evaluate(body, static_cast<ir::NodeId>(i))) return false;
  }
  return true;
}

}  // namespace tailor::reference
