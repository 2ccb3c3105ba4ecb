// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Look-ups: dynamic-slice and its update, gather, scatter. In: data, and indices that are data too. Out: what HLO says
// they pick or overwrite. Called through the table of evaluate.cpp. A start is clamped so that the slice stays inside;
// an update of a scatter that would fall outside is dropped instead.
#include <algorithm>
#include <cstring>
#include <limits>

#include "ir/graph/attribute_text.h"
#include "ir/graph/number.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

/// Start indices as scalars from operand `first` on, or one vector operand; clamped to keep `window` inside `dims`.
ir::Dims clamped_starts(const Call& call, std::size_t first, const ir::Dims& dims, const ir::Dims& window) {
  const bool vector = call.operands.size() == first + 1 && call.operand(first).shape.rank() == 1;
  ir::Dims starts;
  for (int i = 0; i < dims.size(); ++i) {
    const std::size_t place = first + (vector ? 0 : static_cast<std::size_t>(i));
    if (place >= call.operands.size()) fail(call, "a start index is missing");
    std::int64_t start = as_integer(call.operand(place), vector ? i : 0);
    if (start < 0 && is_unsigned(call.operand(place).shape.dtype)) start = dims[i];  // 2^63 or more
    starts.push_back(std::clamp<std::int64_t>(start, 0, std::max<std::int64_t>(dims[i] - window[i], 0)));
  }
  return starts;
}

Tensor dynamic_slice(const Call& call) {
  const Tensor& operand = call.operand(0);
  Tensor result = zeros(call.node.shape);
  const int size = element_bytes(result.shape.dtype);
  const ir::Dims from = row_major(operand.shape.dims);
  const ir::Dims starts = clamped_starts(call, 1, operand.shape.dims, result.shape.dims);
  copy_strided({result.bytes.data(), row_major(result.shape.dims)},
               {operand.bytes.data() + linear_offset(starts, from) * size, from}, result.shape.dims, size, call.stop);
  return result;
}

Tensor dynamic_update_slice(const Call& call) {
  const Tensor& update = call.operand(1);
  Tensor result = taken(call, 0, 0, call.operands.size());
  result.shape = call.node.shape;
  const int size = element_bytes(result.shape.dtype);
  const ir::Dims to = row_major(result.shape.dims);
  const ir::Dims starts = clamped_starts(call, 2, result.shape.dims, update.shape.dims);
  copy_strided({result.bytes.data() + linear_offset(starts, to) * size, to},
               {update.bytes.data(), row_major(update.shape.dims)}, update.shape.dims, size, call.stop);
  return result;
}

/// The dimension numbers gather and scatter share, under gather's names; `array` is what is read or written at places,
/// `batch` (gather's result, scatter's updates) has window dimensions and one dimension per index.
struct LookupDims {
  ir::Dims window_dims;  ///< of batch: offset_dims, update_window_dims
  ir::Dims collapsed;    ///< of array: collapsed_slice_dims, inserted_window_dims
  ir::Dims array_batching, indices_batching;
  ir::Dims index_map;  ///< start_index_map, scatter_dims_to_operand_dims
  std::int64_t index_vector_dim = 0;
  ir::Dims window;  ///< extent of the slice along each dimension of array
};

/// Splits an index of `batch` into the slice's start (not clamped) and the offset inside the slice.
void split_batch_index(const LookupDims& p, const ir::Dims& batch_index, const Tensor& indices, const ir::Dims& strides,
                       ir::Dims& start, ir::Dims& offset) {
  ir::Dims index_at;  // of `indices`, with a gap at index_vector_dim
  int window_next = 0;
  ir::Dims window_values;
  for (int i = 0; i < batch_index.size(); ++i) {
    if (p.window_dims.contains(i))
      window_values.push_back(batch_index[i]);
    else
      index_at.push_back(batch_index[i]);
  }
  const int array_rank = p.window.size();
  start = zero_index(array_rank);
  offset = zero_index(array_rank);
  for (int d = 0; d < array_rank; ++d)
    if (!p.collapsed.contains(d) && !p.array_batching.contains(d)) offset[d] = window_values[window_next++];
  std::int64_t base = 0;
  std::int64_t vector_stride = 0;
  int next = 0;
  for (int i = 0; i < indices.shape.rank(); ++i) {
    if (i == p.index_vector_dim)
      vector_stride = strides[i];
    else
      base += index_at[next++] * strides[i];
  }
  for (int k = 0; k < p.index_map.size(); ++k) {
    const std::int64_t at = as_integer(indices, base + k * vector_stride);
    const bool beyond = at < 0 && is_unsigned(indices.shape.dtype);  // 2^63 or more
    start[static_cast<int>(p.index_map[k])] = beyond ? std::numeric_limits<std::int64_t>::max() / 2 : at;
  }
  for (int k = 0; k < p.array_batching.size(); ++k) {
    const std::int64_t dim = p.indices_batching[k];
    start[static_cast<int>(p.array_batching[k])] = index_at[static_cast<int>(dim > p.index_vector_dim ? dim - 1 : dim)];
  }
}

/// How many neighbours of `batch` along its last dimension are neighbours of the array's slice along its last: they are
/// moved at once, since only the offset differs between them.
std::int64_t run_length(const LookupDims& p, const ir::Shape& array, const ir::Shape& batch) {
  const int last = array.rank() - 1, batch_last = batch.rank() - 1;
  const bool neighbours = last >= 0 && batch_last >= 0 && p.window_dims.contains(batch_last) &&
                          !p.collapsed.contains(last) && !p.array_batching.contains(last);
  return neighbours && p.window_dims[p.window_dims.size() - 1] == batch_last ? batch.dims[batch_last] : 1;
}

/// The first indices of all runs.
ir::Dims run_starts(const ir::Dims& dims, std::int64_t run) {
  ir::Dims outer = dims;
  if (run > 1) outer[outer.size() - 1] = 1;
  return outer;
}

void check(const Call& call, const LookupDims& p, const ir::Shape& array, const ir::Shape& batch,
           const ir::Shape& indices) {
  const int window_rank = array.rank() - p.collapsed.size() - p.array_batching.size();
  const int index_rank = indices.rank() - (p.index_vector_dim < indices.rank() ? 1 : 0);
  const auto in_array = [&](std::int64_t dim) { return dim >= 0 && dim < array.rank(); };
  if (p.window_dims.size() != window_rank || batch.rank() != window_rank + index_rank ||
      p.window.size() != array.rank() || p.indices_batching.size() != p.array_batching.size() ||
      !std::all_of(p.index_map.begin(), p.index_map.end(), in_array) ||
      !std::all_of(p.array_batching.begin(), p.array_batching.end(), in_array))
    fail(call, "the dimension numbers do not fit the shapes");
}

Tensor gather(const Call& call) {
  const std::string_view text = hlo_text(call.node);
  const Tensor& array = call.operand(0);
  const Tensor& indices = call.operand(1);
  LookupDims p;
  p.window_dims = ir::attribute_numbers(text, "offset_dims");
  p.collapsed = ir::attribute_numbers(text, "collapsed_slice_dims");
  p.array_batching = ir::attribute_numbers(text, "operand_batching_dims");
  p.indices_batching = ir::attribute_numbers(text, "start_indices_batching_dims");
  p.index_map = ir::attribute_numbers(text, "start_index_map");
  p.index_vector_dim = ir::attribute_number(text, "index_vector_dim", indices.shape.rank());
  p.window = ir::attribute_numbers(text, "slice_sizes");
  check(call, p, array.shape, call.node.shape, indices.shape);
  Tensor result = zeros(call.node.shape);
  if (result.bytes.empty()) return result;
  const auto size = static_cast<std::size_t>(element_bytes(result.shape.dtype));
  const ir::Dims strides = row_major(array.shape.dims), index_strides = row_major(indices.shape.dims);
  ir::Dims at = zero_index(result.shape.rank()), start, offset;
  const std::int64_t run = run_length(p, array.shape, result.shape);
  const ir::Dims runs = run_starts(result.shape.dims, run);
  const std::size_t run_bytes = static_cast<std::size_t>(run) * size;
  std::byte* to = result.bytes.data();
  do {
    call.may_stop();
    split_batch_index(p, at, indices, index_strides, start, offset);
    std::int64_t from = 0;
    for (int d = 0; d < start.size(); ++d)
      from += (std::clamp<std::int64_t>(start[d], 0, std::max<std::int64_t>(array.shape.dims[d] - p.window[d], 0)) +
               offset[d]) *
              strides[d];
    std::memcpy(to, array.bytes.data() + static_cast<std::size_t>(from) * size, run_bytes);
    to += run_bytes;
  } while (next_index(at, runs));
  return result;
}

/// Applies the scatter's region to neighbouring elements of each array, up to `longest` at once.
class Combiner {
 public:
  Combiner(const Call& call, std::size_t arrays, std::int64_t longest)
      : call_(call),
        arrays_(arrays),
        cells_(2 * arrays, std::vector<Cell>(static_cast<std::size_t>(std::min(longest, block_cells)))),
        out_(arrays, cells_[0]) {
    for (const std::vector<Cell>& cells : cells_) arguments_.push_back(cells.data());
    for (std::vector<Cell>& cells : out_) places_.push_back(cells.data());
    const ir::Reducer reducer = ir::reducer(call.node);
    if (reducer != ir::Reducer::none && reducer != ir::Reducer::custom) return;
    if (call.node.bodies.empty()) fail(call, "neither a known reducer nor a body");
    region_.emplace(body(call, 0));
  }

  void apply(std::vector<Tensor>& results, std::int64_t to, std::int64_t from, std::int64_t run) {
    for (std::int64_t first = 0; first < run; first += block_cells)
      block(results, to + first, from + first, static_cast<std::size_t>(std::min(block_cells, run - first)));
  }

 private:
  void block(std::vector<Tensor>& results, std::int64_t to, std::int64_t from, std::size_t count) {
    for (std::size_t k = 0; k < arrays_; ++k) {
      load_cells(results[k], to, 1, std::span(cells_[k]).first(count));
      load_cells(call_.operand(arrays_ + 1 + k), from, 1, std::span(cells_[arrays_ + k]).first(count));
    }
    const auto elements_here = static_cast<std::int64_t>(count);
    if (!region_) {
      combine(reducer(call_.node), results[0].shape.dtype, cells_[0].data(), cells_[1].data(), elements_here);
      store_cells(results[0], to, std::span(cells_[0]).first(count));
      return;
    }
    region_->run(arguments_, places_, elements_here);
    for (std::size_t k = 0; k < arrays_; ++k) store_cells(results[k], to, std::span(out_[k]).first(count));
  }

  const Call& call_;
  std::size_t arrays_;
  std::vector<std::vector<Cell>> cells_, out_;
  std::vector<const Cell*> arguments_;
  std::vector<Cell*> places_;
  std::optional<Region> region_;
};

std::vector<Tensor> scatter(const Call& call) {
  const std::string_view text = hlo_text(call.node);
  const std::size_t arrays = (call.operands.size() - 1) / 2;
  const Tensor& indices = call.operand(arrays);
  const ir::Shape& updates = call.operand(arrays + 1).shape;
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < arrays; ++k) results.push_back(taken(call, k, 0, call.operands.size()));
  const ir::Shape array = results[0].shape;
  LookupDims p;
  p.window_dims = ir::attribute_numbers(text, "update_window_dims");
  p.collapsed = ir::attribute_numbers(text, "inserted_window_dims");
  p.array_batching = ir::attribute_numbers(text, "input_batching_dims");
  p.indices_batching = ir::attribute_numbers(text, "scatter_indices_batching_dims");
  p.index_map = ir::attribute_numbers(text, "scatter_dims_to_operand_dims");
  p.index_vector_dim = ir::attribute_number(text, "index_vector_dim", indices.shape.rank());
  int next_window = 0;
  for (int d = 0; d < array.rank(); ++d) {
    const bool absent = p.collapsed.contains(d) || p.array_batching.contains(d) || next_window >= p.window_dims.size();
    p.window.push_back(absent ? 1 : updates.dims[static_cast<int>(p.window_dims[next_window])]);
    if (!absent) ++next_window;
  }
  check(call, p, array, updates, indices.shape);
  if (elements(updates) == 0) return results;
  const std::int64_t run = run_length(p, array, updates);
  const ir::Dims runs = run_starts(updates.dims, run);
  Combiner combiner(call, arrays, run);
  const ir::Dims strides = row_major(array.dims), index_strides = row_major(indices.shape.dims);
  ir::Dims at = zero_index(updates.rank()), start, offset;
  std::int64_t from = 0;
  do {
    call.may_stop();
    split_batch_index(p, at, indices, index_strides, start, offset);
    bool inside = true;
    std::int64_t to = 0;
    for (int d = 0; d < start.size(); ++d) {
      inside = inside && start[d] >= 0 && start[d] + p.window[d] <= array.dims[d];
      to += (start[d] + offset[d]) * strides[d];
    }
    if (inside) combiner.apply(results, to, from, run);
    from += run;
  } while (next_index(at, runs));
  return results;
}

}  // namespace

std::vector<Tensor> evaluate_lookup(const Call& call) {
  if (call.node.op == ir::Op::scatter) return scatter(call);
  if (call.node.op == ir::Op::gather) return results_of(gather(call));
  if (call.node.op == ir::Op::dynamic_slice) return results_of(dynamic_slice(call));
  return results_of(dynamic_update_slice(call));
}

}  // namespace tailor::reference
