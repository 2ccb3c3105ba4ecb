// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows and orders: reduce-window, select-and-scatter, sort, topk. In: operands and a window or an order. Out: what
// HLO says of them. Called through the table of evaluate.cpp. It works on one element at a time. A window position in
// the padding is skipped, and most of them are not gone through: of each dimension those taps alone that may lie
// inside, so that a window that is much longer than its array takes no longer than one as long. Sorting is stable. topk
// takes equal values in the order of their index.
#include "reference/evaluate_window.h"

#include <algorithm>
#include <numeric>

#include "base/division.h"
#include "base/indexed.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

bool is_known(ir::Reducer reducer) { return reducer != ir::Reducer::none && reducer != ir::Reducer::custom; }

/// One scalar step of a reducer over several arrays.
class Step {
 public:
  Step(const Call& call, ir::Reducer reducer, const ir::Graph* region, ir::DType dtype)
      : reducer_(reducer), dtype_(dtype) {
    if (is_known(reducer)) return;
    if (region == nullptr) fail(call, "neither a known reducer nor a body");
    region_.emplace(*region);
  }

  void operator()(std::vector<Cell>& sums, const std::vector<Cell>& values) {
    if (!region_) return combine(reducer_, dtype_, sums.data(), values.data(), 1);
    std::vector<const Cell*> arguments;
    std::vector<Cell*> results;
    for (const Cell& cell : sums) arguments.push_back(&cell);
    for (const Cell& cell : values) arguments.push_back(&cell);
    std::vector<Cell> next = sums;
    for (Cell& cell : next) results.push_back(&cell);
    region_->run(arguments, results, 1);
    sums = next;
  }

 private:
  ir::Reducer reducer_;
  ir::DType dtype_;
  std::optional<Region> region_;
};

const ir::Graph* first_body(const Call& call, std::size_t i) {
  return i < call.node.bodies.size() ? &body(call, i) : nullptr;
}

/// Sorts the lines along one dimension: `order` of one line, then all operands are rearranged by it.
template <class Less>
void sort_lines(const Call& call, std::vector<Tensor>& results, int axis, Less&& less) {
  const ir::Dims& dims = call.operand(0).shape.dims;
  const ir::Dims strides = row_major(dims);
  if (elements(call.operand(0).shape) == 0) return;
  ir::Dims lines = dims;
  lines[axis] = 1;
  std::vector<std::int64_t> order(static_cast<std::size_t>(dims[axis]));
  ir::Dims index = zero_index(dims.size());
  do {
    call.may_stop();
    const std::int64_t first = linear_offset(index, strides);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      return less(first + a * strides[axis], first + b * strides[axis]);
    });
    for (std::size_t k = 0; k < results.size(); ++k)
      for (std::size_t i = 0; i < order.size(); ++i) {
        const Cell cell = cell_at(call.operand(k), first + order[i] * strides[axis]);
        store_cells(results[k], first + static_cast<std::int64_t>(i) * strides[axis], {&cell, 1});
      }
  } while (next_index(index, lines));
}

/// Of 0 .. count-1 those whose place is below `limit` and not below 0, as a range; empty where its end is not greater.
std::pair<std::int64_t, std::int64_t> those_inside(const ir::WindowDim& window, std::int64_t tap, std::int64_t count,
                                                   std::int64_t limit) {
  const std::int64_t shift = tap * window.window_dilation - window.pad_low;
  const std::int64_t first = shift >= 0 ? 0 : (-shift + window.stride - 1) / window.stride;
  const std::int64_t end = limit - shift <= 0 ? 0 : (limit - shift - 1) / window.stride + 1;
  return {first, std::min(end, count)};
}

/// One array, a known reducer, nothing between elements: a line of the result at a time, for each tap its part that
/// lies inside.
Tensor reduce_lines(const Call& call, const Window& window) {
  const ir::Shape& in = call.operand(0).shape;
  Tensor result = zeros(call.node.shape);
  const int last = in.rank() - 1;
  const ir::WindowDim& along = window[last];
  const std::int64_t length = result.shape.dims[last];
  const ir::Dims strides = row_major(in.dims);
  ir::Dims outer = result.shape.dims, outer_in = in.dims, at = zero_index(in.rank()), ends = at;
  outer[last] = outer_in[last] = 1;
  Window across = window;
  across[last] = {};
  ends[last] = length - 1;
  const TapsInside inside = taps_inside(window, at, ends, in.dims);
  const std::int64_t first_tap = inside.first[last], end_tap = first_tap + inside.count[last];
  const Cell start = cell_at(call.operand(1), 0);
  std::vector<Cell> sums(static_cast<std::size_t>(length)), values(sums.size());
  std::int64_t next = 0;
  do {
    call.may_stop();
    std::fill(sums.begin(), sums.end(), start);
    visit_taps(call, across, at, outer_in, strides, [&](std::int64_t line) {
      for (std::int64_t k = first_tap; k < end_tap; ++k) {
        const auto [first, end] = those_inside(along, k, length, in.dims[last]);
        const std::int64_t from = line + first * along.stride + k * along.window_dilation - along.pad_low;
        if (end <= first) continue;
        if (along.stride == 1)
          load_cells(call.operand(0), from, 1, {values.data(), static_cast<std::size_t>(end - first)});
        else
          for (std::int64_t i = 0; i < end - first; ++i)
            values[static_cast<std::size_t>(i)] = cell_at(call.operand(0), from + i * along.stride);
        combine(reducer(call.node), in.dtype, sums.data() + first, values.data(), end - first);
      }
    });
    store_cells(result, next, sums);
    next += length;
  } while (next_index(at, outer));
  return result;
}

}  // namespace

TapsInside taps_inside(const Window& window, const ir::Dims& at, const ir::Dims& last, const ir::Dims& dims) {
  TapsInside taps;
  for (int i = 0; i < dims.size(); ++i) {
    const ir::WindowDim& d = window[i];
    const std::int64_t before = d.pad_low - last[i] * d.stride;  // of a place that is 0 or more
    const std::int64_t up_to = (dims[i] - 1) * d.base_dilation + d.pad_low - at[i] * d.stride;
    const std::int64_t first = std::max<std::int64_t>(0, -floor_div(-before, d.window_dilation));
    const std::int64_t end = std::min(d.size, floor_div(up_to, d.window_dilation) + 1);
    taps.first.push_back(first);
    taps.count.push_back(std::max<std::int64_t>(0, end - first));
    taps.none = taps.none || end <= first;
  }
  return taps;
}

std::int64_t source_of(const Window& window, const ir::Dims& out, const ir::Dims& tap, const ir::Dims& dims,
                       const ir::Dims& strides) {
  std::int64_t from = 0;
  for (int i = 0; i < dims.size(); ++i) {
    const ir::WindowDim& d = window[i];
    const std::int64_t place = out[i] * d.stride + tap[i] * d.window_dilation - d.pad_low;
    if (place < 0 || place % d.base_dilation != 0 || place / d.base_dilation >= dims[i]) return -1;
    from += place / d.base_dilation * strides[i];
  }
  return from;
}

std::vector<Tensor> evaluate_reduce_window(const Call& call) {
  const std::size_t arrays = call.operands.size() / 2;
  const ir::Shape& in = call.operand(0).shape;
  const Window window = ir::parse_window(hlo_text(call.node), in.rank());
  if (static_cast<int>(window.size()) != in.rank()) fail(call, "the window does not fit the rank");
  if (!has_cells(in.dtype)) {
    if (!has_complex_fold(call.graph, call.node))
      fail(call, "complex operands have semantics in sums and products alone");
    return results_of(fold_complex(call));
  }
  const bool plain = arrays == 1 && is_known(reducer(call.node)) && in.rank() > 0 && elements(call.node.shape) > 0;
  if (const std::optional<int> along = long_dim(window); plain && along)
    return results_of(reduce_long_windows(call, window, *along));
  if (plain && std::all_of(window.begin(), window.end(), [](const ir::WindowDim& d) { return d.base_dilation == 1; }))
    return {reduce_lines(call, window)};
  Step step(call, reducer(call.node), first_body(call, 0), in.dtype);
  std::vector<Tensor> results;
  for (const ir::Shape& shape : result_shapes(call.node)) results.push_back(zeros(shape));
  if (elements(results[0].shape) == 0) return results;
  const ir::Dims strides = row_major(in.dims);
  ir::Dims at = zero_index(in.rank());
  std::int64_t next = 0;
  std::vector<Cell> sums(arrays), values(arrays);
  do {
    call.may_stop();
    for (std::size_t k = 0; k < arrays; ++k) sums[k] = cell_at(call.operand(arrays + k), 0);
    visit_taps(call, window, at, in.dims, strides, [&](std::int64_t from) {
      for (std::size_t k = 0; k < arrays; ++k) values[k] = cell_at(call.operand(k), from);
      step(sums, values);
    });
    for (std::size_t k = 0; k < arrays; ++k) store_cells(results[k], next, {&sums[k], 1});
    ++next;
  } while (next_index(at, results[0].shape.dims));
  return results;
}

std::vector<Tensor> evaluate_select_and_scatter(const Call& call) {
  const Tensor& operand = call.operand(0);
  const Tensor& source = call.operand(1);
  const Window window = ir::parse_window(hlo_text(call.node), operand.shape.rank());
  if (static_cast<int>(window.size()) != operand.shape.rank()) fail(call, "the window does not fit the rank");
  Region select(body(call, 0));
  Step scatter(call, reducer(call.node), first_body(call, 1), operand.shape.dtype);
  Tensor result = zeros(call.node.shape);
  const Cell start = cell_at(call.operand(2), 0);
  IndexedVector<Cell> sums(element_count(result.shape), start);
  const ir::Dims strides = row_major(operand.shape.dims);
  ir::Dims at = zero_index(source.shape.rank());
  if (elements(source.shape) > 0) {
    std::int64_t next = 0;
    do {
      call.may_stop();
      std::int64_t chosen = -1;
      visit_taps(call, window, at, operand.shape.dims, strides, [&](std::int64_t from) {
        const Cell kept = cell_at(operand, chosen < 0 ? from : chosen), candidate = cell_at(operand, from);
        Cell keeps{.integer = 0};
        const std::array<const Cell*, 2> arguments{&kept, &candidate};
        const std::array<Cell*, 1> results{&keeps};
        select.run(arguments, results, 1);
        if (chosen < 0 || keeps.integer == 0) chosen = from;
      });
      if (chosen >= 0) {
        std::vector<Cell> sum{sums[chosen]};
        scatter(sum, {cell_at(source, next)});
        sums[chosen] = sum[0];
      }
      ++next;
    } while (next_index(at, source.shape.dims));
  }
  store_cells(result, 0, sums);
  return results_of(std::move(result));
}

std::vector<Tensor> evaluate_sort(const Call& call) {
  std::vector<Tensor> results;
  for (const Tensor* operand : call.operands) {
    if (!has_cells(operand->shape.dtype)) fail(call, "complex operands have no semantics here");
    results.push_back(*operand);
  }
  Region comparator(body(call, 0));
  const int named = ir::axis(call.node);
  const int axis = named < 0 ? call.operand(0).shape.rank() - 1 : named;
  std::vector<Cell> cells(2 * call.operands.size());
  std::vector<const Cell*> arguments;
  for (const Cell& cell : cells) arguments.push_back(&cell);
  Cell verdict{};
  const std::array<Cell*, 1> out{&verdict};
  sort_lines(call, results, axis, [&](std::int64_t a, std::int64_t b) {
    call.may_stop();
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      cells[2 * k] = cell_at(call.operand(k), a);
      cells[2 * k + 1] = cell_at(call.operand(k), b);
    }
    comparator.run(arguments, out, 1);
    return verdict.integer != 0;
  });
  return results;
}

std::vector<Tensor> evaluate_topk(const Call& call) {
  const Tensor& operand = call.operand(0);
  const std::vector<ir::Shape> shapes = result_shapes(call.node);
  if (shapes.size() != 2 || operand.shape.rank() == 0 || !has_cells(operand.shape.dtype))
    fail(call, "expected values and indices as results");
  const std::string_view text = hlo_text(call.node);
  const bool largest = ir::attribute(text, "largest").value_or("true") == "true";
  const std::int64_t length = operand.shape.dims[operand.shape.rank() - 1];
  const std::int64_t k = shapes[0].dims[shapes[0].rank() - 1];
  Tensor values = zeros(shapes[0]), indices = zeros(shapes[1]);
  IndexedVector<std::int64_t> order(static_cast<std::size_t>(length));
  const ElementStep less{ir::Op::compare,
                         largest ? ir::Comparison::gt : ir::Comparison::lt,
                         true,
                         operand.shape.dtype,
                         ir::DType::pred,
                         0,
                         0};
  for (std::int64_t line = 0; line < (length == 0 ? 0 : elements(operand.shape) / length); ++line) {
    call.may_stop();
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const Cell left = cell_at(operand, line * length + a), right = cell_at(operand, line * length + b);
      Cell verdict{};
      apply(less, &left, &right, &right, &verdict, 1);
      return verdict.integer != 0;
    });
    for (std::int64_t i = 0; i < std::min(k, length); ++i) {
      const Cell cell = cell_at(operand, line * length + order[i]);
      store_cells(values, line * k + i, {&cell, 1});
      store_integer(indices, line * k + i, order[i]);
    }
  }
  return results_of(std::move(values), std::move(indices));
}

}  // namespace tailor::reference
