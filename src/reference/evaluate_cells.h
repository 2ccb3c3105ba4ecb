// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the evaluator computes on. Elements are widened to cells of eight bytes in blocks that stay in the first cache:
// floating types to double, integers and predicates to a 64-bit integer. One loop per operation then serves every type,
// and rounding or wrapping to the type happens when a block goes back. Complex values have no cells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/indexed.h"
#include "base/parallel.h"
#include "base/stop.h"
#include "reference/evaluate.h"

namespace tailor::reference {

union Cell {
  double real;
  std::int64_t integer;  ///< sign- or zero-extended; u64 keeps its bits
};

/// Cells of one block: three operands and a result fit in 32 KiB.
inline constexpr std::int64_t block_cells = 1024;

/// A thread takes so many elements at least; fewer than four times as many are not worth taking apart.
inline constexpr std::int64_t parallel_cells = 16 * block_cells;

inline bool has_cells(ir::DType dtype) { return is_floating(dtype) || is_integer(dtype) || dtype == ir::DType::pred; }

/// cells[i] = element first + i * step of an array of `dtype`; step is 0 or 1.
void load_cells(ir::DType dtype, const std::byte* bytes, std::int64_t first, std::int64_t step, std::span<Cell> cells);
/// The same of a tensor.
void load_cells(const Tensor& tensor, std::int64_t first, std::int64_t step, std::span<Cell> cells);
/// tensor[first + i] = cells[i], rounded or wrapped to the type.
void store_cells(Tensor& tensor, std::int64_t first, std::span<const Cell> cells);
/// Rounds or wraps in place: what storing and loading would give.
void round_cells(ir::DType dtype, std::span<Cell> cells);

/// Calls of(i, as_double(tensor, i)) for elements begin .. end-1, in order. Error(interrupted) when asked to stop.
template <class Of>
void each_real_between(const Tensor& tensor, std::int64_t begin, std::int64_t end, Of&& of,
                       const std::stop_token& stop) {
  std::array<Cell, block_cells> cells;
  const ir::DType dtype = tensor.shape.dtype;
  for (std::int64_t first = begin; first < end; first += block_cells) {
    stop_if_asked(stop);
    const std::int64_t count = end - first < block_cells ? end - first : block_cells;
    load_cells(tensor, first, 1, prefix(cells, count));
    const Cell* const cell = cells.data();
    if (is_floating(dtype))
      for (std::int64_t i = 0; i < count; ++i) of(first + i, cell[i].real);
    else if (dtype == ir::DType::u64)
      for (std::int64_t i = 0; i < count; ++i)
        of(first + i, static_cast<double>(static_cast<std::uint64_t>(cell[i].integer)));
    else
      for (std::int64_t i = 0; i < count; ++i) of(first + i, static_cast<double>(cell[i].integer));
  }
}

/// The same for every element, in order.
template <class Of>
void each_real(const Tensor& tensor, Of&& of, const std::stop_token& stop = {}) {
  each_real_between(tensor, 0, elements(tensor.shape), of, stop);
}

/// The same by several threads, in any order: `of` may touch nothing but what belongs to element i.
template <class Of>
void each_real_apart(const Tensor& tensor, Of&& of, const std::stop_token& stop = {}) {
  in_parallel(elements(tensor.shape), parallel_cells,
              [&](std::int64_t first, std::int64_t last) { each_real_between(tensor, first, last, of, stop); });
}

/// Lets of(i, cell) change elements begin .. end-1, in order. Precondition: has_cells(). Error(interrupted) when asked
/// to stop.
template <class Of>
void each_cell_between(Tensor& tensor, std::int64_t begin, std::int64_t end, Of&& of, const std::stop_token& stop) {
  std::array<Cell, block_cells> cells;
  for (std::int64_t first = begin; first < end; first += block_cells) {
    stop_if_asked(stop);
    const std::int64_t count = end - first < block_cells ? end - first : block_cells;
    const std::span<Cell> here = prefix(cells, count);
    load_cells(tensor, first, 1, here);
    for (std::int64_t i = 0; i < count; ++i) of(first + i, cells[static_cast<std::size_t>(i)]);
    store_cells(tensor, first, here);
  }
}

/// The same for every element, in order.
template <class Of>
void each_cell(Tensor& tensor, Of&& of, const std::stop_token& stop = {}) {
  each_cell_between(tensor, 0, elements(tensor.shape), of, stop);
}

/// The same by several threads, in any order: `of` may touch nothing but what belongs to element i.
template <class Of>
void each_cell_apart(Tensor& tensor, Of&& of, const std::stop_token& stop = {}) {
  in_parallel(elements(tensor.shape), parallel_cells,
              [&](std::int64_t first, std::int64_t last) { each_cell_between(tensor, first, last, of, stop); });
}

inline Cell cell_at(const Tensor& tensor, std::int64_t i) {
  Cell cell{};
  load_cells(tensor, i, 0, {&cell, 1});
  return cell;
}

/// A node being evaluated and its operands' values.
struct Call {
  const ir::Graph& graph;
  const ir::Node& node;
  std::vector<const Tensor*> operands;
  std::stop_token stop = {};
  /// By operand: itself, where nobody but this node needs it any more, so that its memory may become a result's, or
  /// nothing. Empty: nothing of all. What stands among the operands twice is here twice.
  std::vector<Tensor*> spent = {};
  const Tensor& operand(std::size_t i) const { return *operands[i]; }
  /// Error(interrupted) when asked for: once in each block, row or run of elements.
  void may_stop() const { stop_if_asked(stop); }
};

/// Operand `k`, to be changed: moved where it is spent and is none of the other operands from `first` up to `end`, else
/// a copy.
Tensor taken(const Call& call, std::size_t k, std::size_t first, std::size_t end);

/// The results of an operation, handed on. A braced list would copy every array.
template <class... Tensors>
std::vector<Tensor> results_of(Tensors&&... tensors) {
  std::vector<Tensor> all;
  all.reserve(sizeof...(tensors));
  (all.push_back(std::forward<Tensors>(tensors)), ...);
  return all;
}

/// Throws Error(failed): "node %x (gather): ...".
[[noreturn]] void fail(const Call& call, std::string_view what);
/// Body `i` of the node. Throws Error(failed) when the node has none of that number.
const ir::Graph& body(const Call& call, std::size_t i);

/// Told of every node that has been evaluated, operands before users, with the values it read and made. Structure
/// operations and get_tuple_element have no operands here: they hand on what is there. A scalar may stand for a
/// broadcast of it that only elementwise operations read.
using Visit = std::function<void(ir::NodeId node, const Call& call, std::span<const Tensor* const> results)>;
std::vector<Tensor> evaluate_visited(const ir::Graph& graph, std::span<const Tensor> inputs, const Visit& visit,
                                     const std::stop_token& stop = {});
/// As evaluate(), with inputs that are given up: one that only the results need is moved there, and one that is updated
/// in a few places is updated where it is.
std::vector<Tensor> evaluate_given_up(const ir::Graph& graph, std::vector<Tensor>&& inputs,
                                      const std::stop_token& stop = {});
/// Operations that hand on all values of their operands (add_dependency: of the first).
bool passes_operands(ir::Op op);

/// The shapes a node gives: its own, or its `results`.
std::vector<ir::Shape> result_shapes(const ir::Node& node);

/// What one elementwise step needs to know, worked out once per node.
struct ElementStep {
  ir::Op op = ir::Op::copy;
  ir::Comparison comparison = ir::Comparison::eq;
  bool total_order = false;
  ir::DType from = ir::DType::f32;  ///< of the operands that are computed on
  ir::DType to = ir::DType::f32;
  int exponent_bits = 0, mantissa_bits = 0;  ///< reduce_precision
};

/// Whether apply() has semantics for the node's operation on its types.
bool has_element_step(const ir::Graph& graph, const ir::Node& node);
ElementStep element_step(const ir::Graph& graph, const ir::Node& node);
/// out[i] = op(a[i], b[i], c[i]), not yet rounded to step.to. Unused operands may alias any valid block.
void apply(const ElementStep& step, const Cell* a, const Cell* b, const Cell* c, Cell* out, std::int64_t count);

/// A body on scalars (a reducer, a comparator) as a straight program over blocks of cells.
class Region {
 public:
  explicit Region(const ir::Graph& body);
  /// Whether every node of the body is scalar and elementwise.
  static bool fits(const ir::Graph& body);

  /// arguments[k] points at `count` cells of parameter k (count <= block_cells); results[k] receives output k.
  void run(std::span<const Cell* const> arguments, std::span<Cell* const> results, std::int64_t count);

 private:
  struct Line {
    ElementStep step;
    std::array<std::int32_t, 3> operands{-1, -1, -1};
    std::int32_t parameter = -1;
    bool constant = false;
    Cell value{};
  };
  std::vector<Line> lines_;
  std::vector<std::int32_t> outputs_;
  std::vector<Cell> scratch_;
  IndexedVector<const Cell*> places_;
};

/// accumulator[i] = reducer(accumulator[i], value[i]); not rounded. Precondition: none of none, custom.
void combine(ir::Reducer reducer, ir::DType dtype, Cell* accumulator, const Cell* value, std::int64_t count);

// One function per class of operations; each returns one tensor per result.
std::vector<Tensor> evaluate_elementwise(const Call& call);
std::vector<Tensor> evaluate_complex(const Call& call);
std::vector<Tensor> evaluate_map(const Call& call);
std::vector<Tensor> evaluate_iota(const Call& call);
std::vector<Tensor> evaluate_index(const Call& call);
std::vector<Tensor> evaluate_lookup(const Call& call);
std::vector<Tensor> evaluate_reduce(const Call& call);
/// A reduction by a body, in two other orders: the last elements first; and so with its arguments in each other's
/// place, in two parts with initial values of their own that are put together. Of equal elements the first takes the
/// last one where evaluate_reduce() takes the first. What differs depends on what a compiler may choose.
std::array<std::vector<Tensor>, 2> reduce_in_other_orders(const Call& call);
/// Of a reduction: of each result the place of its first term, and of each term how far it is from the first.
struct TermPlaces {
  IndexedVector<std::int64_t> starts, steps;
};
TermPlaces places_of_terms(const Call& call);
std::vector<Tensor> evaluate_reduce_window(const Call& call);
std::vector<Tensor> evaluate_select_and_scatter(const Call& call);
std::vector<Tensor> evaluate_sort(const Call& call);
std::vector<Tensor> evaluate_topk(const Call& call);
std::vector<Tensor> evaluate_dot(const Call& call);
std::vector<Tensor> evaluate_convolution(const Call& call);
/// Products that an element of its result sums up, those in the padding too.
std::int64_t terms_of_convolution(const Call& call);
std::vector<Tensor> evaluate_while(const Call& call);
std::vector<Tensor> evaluate_conditional(const Call& call);
/// The branch that a conditional takes, and which of its operands are the branch's parameters.
struct Branch {
  const ir::Graph& body;
  std::size_t first = 0, count = 0;
};
Branch chosen_branch(const Call& call);
bool has_complex_step(const ir::Graph& graph, const ir::Node& node);

}  // namespace tailor::reference
