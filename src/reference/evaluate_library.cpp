// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// dot and convolution. In: two operands, and the attributes' text with the dimension numbers. Out:
// their product. Called through the table of evaluate.cpp. Products are summed in double (integers: in
// 64 bits) and rounded once.
#include <algorithm>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

namespace {

/// The operand's elements as cells in the order of dimensions `order`.
std::vector<Cell> cells_in_order(const Tensor& tensor, const ir::Dims& order) {
  const ir::Dims strides = row_major(tensor.shape.dims);
  ir::Dims dims, steps;
  for (const std::int64_t axis : order) {
    dims.push_back(tensor.shape.dims[static_cast<int>(axis)]);
    steps.push_back(strides[static_cast<int>(axis)]);
  }
  const std::size_t total = element_count(tensor.shape);
  IndexedVector<Cell> all(total), ordered(total);
  if (total == 0) return ordered;
  load_cells(tensor, 0, 1, all);
  ir::Dims index = zero_index(dims.size());
  std::size_t next = 0;
  do {
    ordered[next++] = all[linear_offset(index, steps)];
  } while (next_index(index, dims));
  return ordered;
}

ir::Dims others(const ir::Shape& shape, const ir::Dims& a, const ir::Dims& b) {
  ir::Dims rest;
  for (int i = 0; i < shape.rank(); ++i)
    if (!a.contains(i) && !b.contains(i)) rest.push_back(i);
  return rest;
}

ir::Dims joined(const ir::Dims& a, const ir::Dims& b, const ir::Dims& c) {
  ir::Dims all = a;
  for (const std::int64_t axis : b) all.push_back(axis);
  for (const std::int64_t axis : c) all.push_back(axis);
  return all;
}

std::int64_t extent(const ir::Shape& shape, const ir::Dims& axes) {
  std::int64_t product = 1;
  for (const std::int64_t axis : axes) product *= shape.dims[static_cast<int>(axis)];
  return product;
}

/// out[n] += a * b[n].
void add_scaled(bool real, Cell a, const Cell* b, Cell* out, std::int64_t count) {
  if (real) {
    for (std::int64_t n = 0; n < count; ++n) out[n].real += a.real * b[n].real;
  } else {
    for (std::int64_t n = 0; n < count; ++n)
      out[n].integer =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(out[n].integer) +
                                    static_cast<std::uint64_t>(a.integer) * static_cast<std::uint64_t>(b[n].integer));
  }
}

/// Positions of b, f and the spatial digits in one part of dim_labels.
struct Labels {
  int first = -1, second = -1;  ///< b and f, i and o, or b and f of the result
  ir::Dims spatial;
};

Labels parse_labels(std::string_view part, char first, char second) {
  Labels labels;
  labels.spatial = zero_index(static_cast<int>(part.size()) - 2);
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] == first) labels.first = static_cast<int>(i);
    if (part[i] == second) labels.second = static_cast<int>(i);
    if (part[i] >= '0' && part[i] - '0' < labels.spatial.size())
      labels.spatial[part[i] - '0'] = static_cast<std::int64_t>(i);
  }
  return labels;
}

struct Convolution {
  Labels input, kernel, output;
  IndexedVector<ir::WindowDim> window;
  std::int64_t feature_groups = 1, batch_groups = 1;
};

Convolution parse_convolution(const Call& call) {
  const std::string_view text = hlo_text(call.node);
  const std::optional<std::string_view> labels = ir::attribute(text, "dim_labels");
  if (!labels) fail(call, "dim_labels is missing");
  const std::size_t under = labels->find('_'), arrow = labels->find("->");
  const auto rank = static_cast<std::size_t>(call.node.shape.rank());
  if (under != rank || arrow != 2 * rank + 1 || labels->size() != 3 * rank + 3)
    fail(call, "dim_labels does not fit the rank");
  Convolution c;
  c.input = parse_labels(labels->substr(0, under), 'b', 'f');
  c.kernel = parse_labels(labels->substr(under + 1, rank), 'i', 'o');
  c.output = parse_labels(labels->substr(arrow + 2), 'b', 'f');
  for (const Labels& part : {c.input, c.kernel, c.output})
    if (part.first < 0 || part.second < 0) fail(call, "dim_labels lacks a batch or feature dimension");
  c.window = ir::parse_window(text, static_cast<int>(rank) - 2);
  if (c.window.size() != rank - 2) fail(call, "the window does not fit the rank");
  c.feature_groups = ir::attribute_number(text, "feature_group_count", 1);
  c.batch_groups = ir::attribute_number(text, "batch_group_count", 1);
  return c;
}

/// The input coordinate a window position reads, or -1 in the padding and between dilated elements.
std::int64_t input_coordinate(const ir::WindowDim& d, std::int64_t out, std::int64_t tap, std::int64_t extent) {
  const std::int64_t place = out * d.stride + tap * d.window_dilation - d.pad_low;
  if (place < 0 || place % d.base_dilation != 0 || place / d.base_dilation >= extent) return -1;
  return place / d.base_dilation;
}

/// One output element.
Cell convolved(const Convolution& c, const ir::Dims& at, const ir::Shape& in, const ir::Shape& filter,
               const ir::Shape& out, const IndexedVector<Cell>& input, const IndexedVector<Cell>& kernel, bool real) {
  const ir::Dims in_strides = row_major(in.dims), filter_strides = row_major(filter.dims);
  const std::int64_t features = filter.dims[c.kernel.first];
  const std::int64_t feature = at[c.output.second];
  const std::int64_t group = feature / (out.dims[c.output.second] / c.feature_groups);
  const std::int64_t batch_group = feature / (out.dims[c.output.second] / c.batch_groups);
  const std::int64_t batch = at[c.output.first] + batch_group * (in.dims[c.input.first] / c.batch_groups);
  ir::Dims taps, tap;
  for (const ir::WindowDim& d : c.window) taps.push_back(d.size);
  tap = zero_index(taps.size());
  Cell sum = real ? Cell{.real = 0} : Cell{.integer = 0};
  do {
    std::int64_t from = batch * in_strides[c.input.first] + group * features * in_strides[c.input.second];
    std::int64_t weight = feature * filter_strides[c.kernel.second];
    bool inside = true;
    for (int s = 0; s < taps.size() && inside; ++s) {
      const ir::WindowDim& d = c.window[s];
      const int in_axis = static_cast<int>(c.input.spatial[s]), filter_axis = static_cast<int>(c.kernel.spatial[s]);
      const std::int64_t place =
          input_coordinate(d, at[static_cast<int>(c.output.spatial[s])], tap[s], in.dims[in_axis]);
      inside = place >= 0;
      from += place * in_strides[in_axis];
      weight += (d.reversed ? d.size - 1 - tap[s] : tap[s]) * filter_strides[filter_axis];
    }
    if (!inside) continue;
    for (std::int64_t f = 0; f < features; ++f)
      add_scaled(real, input[from + f * in_strides[c.input.second]],
                 &kernel[weight + f * filter_strides[c.kernel.first]], &sum, 1);
  } while (next_index(tap, taps));
  return sum;
}

}  // namespace

std::vector<Tensor> evaluate_dot(const Call& call) {
  const std::string_view text = hlo_text(call.node);
  const Tensor& left = call.operand(0);
  const Tensor& right = call.operand(1);
  if (!has_cells(left.shape.dtype) || !has_cells(right.shape.dtype))
    fail(call, "complex operands have no semantics here");
  if (is_floating(left.shape.dtype) != is_floating(right.shape.dtype))
    fail(call, "operands mix floating and integer types");
  const ir::Dims left_batch = ir::attribute_numbers(text, "lhs_batch_dims"),
                 right_batch = ir::attribute_numbers(text, "rhs_batch_dims");
  const ir::Dims left_sum = ir::attribute_numbers(text, "lhs_contracting_dims");
  const ir::Dims right_sum = ir::attribute_numbers(text, "rhs_contracting_dims");
  const ir::Dims left_free = others(left.shape, left_batch, left_sum),
                 right_free = others(right.shape, right_batch, right_sum);
  const std::int64_t batches = extent(left.shape, left_batch), rows = extent(left.shape, left_free);
  const std::int64_t columns = extent(right.shape, right_free), depth = extent(left.shape, left_sum);
  if (extent(right.shape, right_batch) != batches || extent(right.shape, right_sum) != depth ||
      elements(call.node.shape) != batches * rows * columns)
    fail(call, "the dimension numbers do not fit the shapes");
  const IndexedVector<Cell> a = cells_in_order(left, joined(left_batch, left_free, left_sum));
  const std::vector<Cell> b = cells_in_order(right, joined(right_batch, right_sum, right_free));
  const bool real = is_floating(left.shape.dtype);
  Tensor result = zeros(call.node.shape);
  std::vector<Cell> out(static_cast<std::size_t>(columns));
  for (std::int64_t row = 0; row < batches * rows; ++row) {
    std::fill(out.begin(), out.end(), real ? Cell{.real = 0} : Cell{.integer = 0});
    const Cell* b_batch = b.data() + row / std::max<std::int64_t>(rows, 1) * depth * columns;
    call.may_stop();
    for (std::int64_t k = 0; k < depth; ++k)
      add_scaled(real, a[row * depth + k], b_batch + k * columns, out.data(), columns);
    if (real != is_floating(result.shape.dtype)) fail(call, "the result mixes floating and integer types");
    store_cells(result, row * columns, out);
  }
  return results_of(std::move(result));
}

std::int64_t terms_of_convolution(const Call& call) {
  const Convolution c = parse_convolution(call);
  std::int64_t terms = call.operand(1).shape.dims[c.kernel.first];
  for (const ir::WindowDim& d : c.window) terms *= d.size;
  return terms;
}

std::vector<Tensor> evaluate_convolution(const Call& call) {
  const Tensor& in = call.operand(0);
  const Tensor& filter = call.operand(1);
  const ir::DType dtype = in.shape.dtype;
  if (!has_cells(dtype) || is_floating(dtype) != is_floating(filter.shape.dtype) ||
      is_floating(dtype) != is_floating(call.node.shape.dtype))
    fail(call, "operands and result must all be floating or all be integers");
  const Convolution c = parse_convolution(call);
  IndexedVector<Cell> input(element_count(in.shape));
  IndexedVector<Cell> kernel(element_count(filter.shape));
  load_cells(in, 0, 1, input);
  load_cells(filter, 0, 1, kernel);
  Tensor result = zeros(call.node.shape);
  if (result.bytes.empty() || input.empty() || kernel.empty()) return results_of(std::move(result));
  ir::Dims at = zero_index(result.shape.rank());
  std::int64_t next = 0;
  do {
    call.may_stop();
    const Cell sum = convolved(c, at, in.shape, filter.shape, result.shape, input, kernel, is_floating(dtype));
    store_cells(result, next++, {&sum, 1});
  } while (next_index(at, result.shape.dims));
  return results_of(std::move(result));
}

}  // namespace tailor::reference
