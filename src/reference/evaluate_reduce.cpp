// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions. Known reducers pass once over the input in memory order with one accumulator per output. Floating sums
// and products are kept in double and rounded once at the end: the correctly rounded reference that kernels are
// compared with by tolerance, not the value of any one order of rounded steps. A body that does no more than such
// reducers do, to each of its arrays, is as many known reductions. Other bodies are rounded at every step, in row-major
// order of the reduced elements.
#include <algorithm>
#include <array>

#include "base/indexed.h"
#include "ir/graph/region_reduction.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"
#include "reference/evaluate_window.h"

namespace tailor::reference {

namespace {

/// Where an input index lands in the output: strides of the output along the input's dimensions, 0 when reduced.
ir::Dims output_strides(const Call& call, const ir::Dims& dims) {
  ir::Dims kept =
      row_major(call.node.shape.dtype == ir::DType::tuple ? call.node.results[0].dims : call.node.shape.dims);
  ir::Dims result = zero_index(dims.size());
  int next = 0;
  for (int i = 0; i < dims.size(); ++i)
    if (!axes(call.node).contains(i)) result[i] = kept[next++];
  return result;
}

/// Folds a row of cells into one accumulator and uses up the row; sums have their own loop: they are most of all rows.
void fold_row(ir::Reducer reducer, ir::DType dtype, Cell& accumulator, Cell* row, std::int64_t count) {
  if (reducer == ir::Reducer::add && is_floating(dtype)) {
    double sum = accumulator.real;
    for (std::int64_t i = 0; i < count; ++i) sum += row[i].real;
    accumulator.real = sum;
    return;
  }
  for (; count > 1 && reducer != ir::Reducer::add; count = (count + 1) / 2) {
    // Exact reducers may pair: halves are combined until one value is left.
    combine(reducer, dtype, row, row + (count + 1) / 2, count / 2);
  }
  for (std::int64_t i = 0; i < count; ++i) combine(reducer, dtype, &accumulator, row + i, 1);
}

/// Folds the elements of a part of the input, which begins at element `from` and has the extents `dims`, into the
/// accumulators from `sums` on. Each accumulator meets its elements in memory order, whatever else the part has.
void fold_part(const Call& call, std::int64_t from, const ir::Dims& dims, const ir::Dims& to, Cell* sums) {
  const Tensor& input = call.operand(0);
  const ir::Reducer reducer = ir::reducer(call.node);
  const ir::DType dtype = input.shape.dtype;
  const ir::Dims strides = row_major(input.shape.dims);
  const int rank = dims.size();
  const std::int64_t inner = rank == 0 ? 1 : dims[rank - 1];
  const std::int64_t step = rank == 0 ? 0 : to[rank - 1];
  const bool row_reduced = rank > 0 && axes(call.node).contains(rank - 1);
  ir::Dims outer = dims;
  if (rank > 0) --outer.count;
  ir::Dims index = zero_index(outer.size());
  std::vector<Cell> block(block_cells);
  do {
    Cell* const base = sums + linear_offset(index, to);
    const std::int64_t row = from + linear_offset(index, strides);
    call.may_stop();
    for (std::int64_t first = 0; first < inner; first += block_cells) {
      const std::int64_t count = std::min(block_cells, inner - first);
      load_cells(input, row + first, 1, prefix(block, count));
      Cell* target = base + first * step;
      if (row_reduced)
        fold_row(reducer, dtype, *target, block.data(), count);
      else
        combine(reducer, dtype, target, block.data(), count);
    }
  } while (next_index(index, outer));
}

/// The dimension along which threads share the work: no two of its steps meet in a result. -1: there is none.
int shared_dim(const Call& call, const ir::Dims& dims) {
  int widest = -1;
  for (int d = 0; d < dims.size(); ++d)
    if (!axes(call.node).contains(d) && (widest < 0 || dims[d] > dims[widest])) widest = d;
  return widest;
}

Tensor reduce_known(const Call& call) {
  const Tensor& input = call.operand(0);
  Tensor result = zeros(call.node.shape);
  std::vector<Cell> sums(element_count(result.shape), cell_at(call.operand(1), 0));
  const ir::Dims& dims = input.shape.dims;
  const ir::Dims to = output_strides(call, dims);
  const std::int64_t total = elements(input.shape);
  const int shared = shared_dim(call, dims);
  if (total > 0 && shared < 0) fold_part(call, 0, dims, to, sums.data());
  if (total > 0 && shared >= 0) {
    constexpr std::int64_t narrowest = 32;  // of columns: a row of fewer costs more to begin than to add
    const std::int64_t stride = row_major(dims)[shared], of_step = total / dims[shared];
    const std::int64_t steps = std::max((parallel_cells + of_step - 1) / of_step, stride == 1 ? narrowest : 1);
    in_parallel(dims[shared], steps, [&](std::int64_t first, std::int64_t last) {
      ir::Dims part = dims;
      part[shared] = last - first;
      fold_part(call, first * stride, part, to, sums.data() + first * to[shared]);
    });
  }
  store_cells(result, 0, sums);
  return result;
}

/// Folds several arrays at once through a body, a block of outputs at a time. Of each output some steps are read at
/// once: neighbours in memory are mostly steps of one output.
class CustomFold {
 public:
  /// `swapped`: the body has what comes in front of what was put together so far.
  explicit CustomFold(const Call& call, bool swapped = false)
      : call_(call),
        swapped_(swapped),
        region_(body(call, 0)),
        arrays_(call.operands.size() / 2),
        sums_(arrays_, std::vector<Cell>(block_cells)),
        next_(sums_),
        values_(arrays_, std::vector<Cell>(block_cells * steps_at_once)) {}

  /// Outputs first .. first+count-1; `place(output, k)` is the input element of step k.
  template <class Place>
  void block(std::int64_t first, std::int64_t count, std::int64_t steps, std::vector<Tensor>& results, Place&& place) {
    for (std::size_t k = 0; k < arrays_; ++k)
      std::fill(sums_[k].begin(), sums_[k].end(), cell_at(call_.operand(arrays_ + k), 0));
    for (std::int64_t done = 0; done < steps; done += steps_at_once) {
      call_.may_stop();
      const std::int64_t together = std::min(steps_at_once, steps - done);
      for (std::size_t k = 0; k < arrays_; ++k)
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t step = 0; step < together; ++step)
            value(k, i, step) = cell_at(call_.operand(k), place(first + i, done + step));
      for (std::int64_t step = 0; step < together; ++step) run(count, step);
    }
    for (std::size_t k = 0; k < arrays_; ++k) store_cells(results[k], first, prefix(sums_[k], count));
  }

  /// The results of two folds become what both are together.
  void join(const std::vector<Tensor>& others, std::vector<Tensor>& results) {
    const std::int64_t total = elements(results[0].shape);
    for (std::int64_t first = 0; first < total; first += block_cells) {
      const std::int64_t count = std::min(block_cells, total - first);
      for (std::size_t k = 0; k < arrays_; ++k) {
        load_cells(results[k], first, 1, prefix(sums_[k], count));
        load_cells(others[k], first, 1, prefix(values_[k], count));
      }
      run(count, 0);
      for (std::size_t k = 0; k < arrays_; ++k) store_cells(results[k], first, prefix(sums_[k], count));
    }
  }

 private:
  static constexpr std::int64_t steps_at_once = 16;

  Cell& value(std::size_t array, std::int64_t output, std::int64_t step) {
    return values_[array][static_cast<std::size_t>(step * block_cells + output)];
  }

  void run(std::int64_t count, std::int64_t step) {
    std::vector<const Cell*> arguments;
    std::vector<Cell*> results;
    for (const bool coming : {swapped_, !swapped_})
      for (std::size_t k = 0; k < arrays_; ++k) arguments.push_back(coming ? &value(k, 0, step) : sums_[k].data());
    for (std::vector<Cell>& sum : next_) results.push_back(sum.data());
    region_.run(arguments, results, count);
    sums_.swap(next_);
  }

  const Call& call_;
  bool swapped_;
  Region region_;
  std::size_t arrays_;
  std::vector<std::vector<Cell>> sums_, next_, values_;
};

std::vector<Tensor> empty_results(const Call& call) {
  std::vector<Tensor> results;
  for (const ir::Shape& shape : result_shapes(call.node)) results.push_back(zeros(shape));
  return results;
}

/// All outputs by these steps, in their order.
std::vector<Tensor> folded(const Call& call, const TermPlaces& of, bool swapped = false) {
  std::vector<Tensor> results = empty_results(call);
  const auto total = static_cast<std::int64_t>(of.starts.size());
  const std::int64_t fewest = parallel_cells / std::max<std::int64_t>(1, std::ssize(of.steps)) + 1;
  in_parallel(total, fewest, [&](std::int64_t begin, std::int64_t end) {
    CustomFold fold(call, swapped);
    for (std::int64_t first = begin; first < end; first += block_cells)
      fold.block(first, std::min(block_cells, end - first), std::ssize(of.steps), results,
                 [&](std::int64_t output, std::int64_t step) { return of.starts[output] + of.steps[step]; });
  });
  return results;
}

std::vector<Tensor> reduce_custom(const Call& call) { return folded(call, places_of_terms(call)); }

}  // namespace

TermPlaces places_of_terms(const Call& call) {
  const ir::Dims& dims = call.operand(0).shape.dims;
  const ir::Dims strides = row_major(dims);
  const ir::Dims to = output_strides(call, dims);
  TermPlaces found;
  found.starts.resize(element_count(result_shapes(call.node)[0]));
  ir::Dims kept = dims, reduced = dims;
  for (int i = 0; i < dims.size(); ++i) (axes(call.node).contains(i) ? kept : reduced)[i] = 1;
  ir::Dims index = zero_index(dims.size());
  if (!found.starts.empty()) do {
      found.starts[linear_offset(index, to)] = linear_offset(index, strides);
    } while (next_index(index, kept));
  index = zero_index(dims.size());
  if (std::find(reduced.begin(), reduced.end(), 0) == reduced.end()) do {
      found.steps.push_back(linear_offset(index, strides));
    } while (next_index(index, reduced));
  return found;
}

std::array<std::vector<Tensor>, 2> reduce_in_other_orders(const Call& call) {
  TermPlaces all = places_of_terms(call);
  std::array<TermPlaces, 2> halves{TermPlaces{all.starts, {}}, TermPlaces{all.starts, {}}};
  for (std::size_t i = all.steps.size(); i-- > 0;) halves[i % 2].steps.push_back(all.steps[i]);
  std::vector<Tensor> in_halves = folded(call, halves[1], true);
  CustomFold(call, true).join(folded(call, halves[0], true), in_halves);
  std::reverse(all.steps.begin(), all.steps.end());
  return {folded(call, all), std::move(in_halves)};
}

std::vector<Tensor> evaluate_reduce(const Call& call) {
  const ir::Reducer reducer = ir::reducer(call.node);
  const bool known = reducer != ir::Reducer::custom && reducer != ir::Reducer::none;
  for (const Tensor* operand : call.operands) {
    if (has_cells(operand->shape.dtype)) continue;
    if (!has_complex_fold(call.graph, call.node))
      fail(call, "complex operands have semantics in sums and products alone");
    return results_of(fold_complex(call));
  }
  if (known && call.operands.size() == 2) return results_of(reduce_known(call));
  const std::vector<ir::Reducer> reducers = ir::known_reducers(call.graph, call.node);
  if (reducers.empty()) return reduce_custom(call);
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < reducers.size(); ++k) {
    const ir::Node one = ir::one_of_several(call.node, reducers[k], k);
    results.push_back(
        reduce_known({call.graph, one, {&call.operand(k), &call.operand(reducers.size() + k)}, call.stop}));
  }
  return results;
}

}  // namespace tailor::reference
