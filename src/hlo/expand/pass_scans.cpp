// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative sums, products, maxima: windows that begin, or end, at the end of a dimension. In: arrays and such a
// dimension, longer than what a kernel goes through tap by tap. Out: what it stands for in parts that have kernels, so
// that its work is linear. Called by the pass that takes windows apart (pass_windows.cpp).
//
// Rows, elements next to each other in memory, are gone through as they are: a kernel has a structure for scans
// (codegen/lower/lower_scan.cpp). Anything else is cut into blocks, the last one filled up with the reducer's neutral
// element. In front of a block stands what all blocks before it come to, which is the same question of fewer elements:
//
//   inner[j, k] = x[j, 0] + ... + x[j, k]        before[j] = total[0] + ... + total[j - 1]
//   y[b j + k] = before[j] + inner[j, k]         total[j] = x[j, 0] + ... + x[j, b - 1]
//
// Of few rows that are too long for the threads of one block each, a block of 4,096 is a row: its total is a sum along
// it, which reads it once more than a scan must. An array that lies otherwise than the result, as one does that was
// transposed before XLA assigned layouts, is turned first where the result's dimension is the fastest. Dimensions that
// lie apart in memory have blocks of 16, as XLA's tree of windows has (its ReduceWindowRewriter), which are gone
// through tap by tap; the total is the last of them.
//
// Windows that end at the end are the mirror image. Floats are added in another order than in the text, as any kernel
// does. A region of its own has no windows that kernels go through: in a block of 16 each element is put together with
// the one before it, then with the one two before, four, eight.
#include "hlo/expand/scan.h"

#include <fmt/format.h>

#include <vector>

#include "ir/graph/domain.h"

namespace tailor::hlo {

namespace {

constexpr std::int64_t short_block = 16;  ///< windows of a block that goes tap by tap
/// Elements of a row of its own, and the longest row that one block goes along while others have nothing to do: with
/// all of its threads in a few trips. So many rows keep a GPU busy whatever their length.
constexpr std::int64_t row_block = 4096, longest_row = 32768, many_rows = 48;
/// A thread has columns alone, and there are as many as keep a GPU busy where those side by side have so many bits.
constexpr std::int64_t many_column_bits = std::int64_t{1} << 20;

/// Whether the fastest dimension in memory, those of one element aside, is this one.
bool is_fastest(const ir::Shape& shape, int axis) {
  const std::vector<int> wide = ir::wide_dimensions(shape);
  return !wide.empty() && wide[0] == axis;
}

}  // namespace

std::optional<ir::ScanDirection> long_scan(const ir::WindowDim& one, std::int64_t length) {
  return length > short_block ? ir::scan_direction(one, length) : std::nullopt;
}

bool is_walked(const ir::Shape& array, int axis) {
  const std::int64_t length = array.dims[axis];
  const std::int64_t others = elements(array) / length;
  if (is_fastest(array, axis)) return length <= longest_row || others >= many_rows;
  return others * row(array.dtype).bits >= many_column_bits;
}

bool Scans::is_short(std::int64_t length) const { return length <= (has_region() ? short_block : most_taps); }

Arrays Scans::laid_along(std::string_view word, const Arrays& x, int axis, const ir::Shape& made) {
  ir::Shape turned = shape_of(x[0]);
  if (has_region() || is_fastest(turned, axis) || is_walked(turned, axis)) return x;
  turned.minor_to_major = made.minor_to_major;
  if (!is_fastest(turned, axis)) return x;
  return {add(ir::Op::copy, fmt::format("{}laid", word), turned, {x[0]})};
}

Arrays Scans::scan(std::string_view word, const Arrays& x, int axis, ir::ScanDirection direction) {
  axis_ = axis;
  forward_ = direction == ir::ScanDirection::forward;
  return inclusive(x, std::string(word));
}

/// The dimensions of `x` with another length along the axis, and, with `blocks`, one more of so many before it.
ir::Dims Scans::dims_with(const Arrays& x, std::int64_t length, std::int64_t blocks) const {
  ir::Dims dims;
  for (int i = 0; i < dims_of(x).size(); ++i) {
    if (i == axis_ && blocks > 0) dims.push_back(blocks);
    dims.push_back(i == axis_ ? length : dims_of(x)[i]);
  }
  return dims;
}

/// Windows along `axis` over as much as there is of it.
Arrays Scans::short_scan(const Arrays& x, const std::string& word, int axis) {
  const std::int64_t length = dims_of(x)[axis];
  if (!has_region()) {
    IndexedVector<ir::WindowDim> dims(static_cast<std::size_t>(dims_of(x).size()));
    dims[axis].size = length;
    (forward_ ? dims[axis].pad_low : dims[axis].pad_high) = length - 1;
    return windows(word, x, dims);
  }
  Arrays y = x;
  for (std::int64_t by = 1; by < length; by *= 2) {
    const std::string step = fmt::format("{}{}", word, by);
    const Arrays kept =
        forward_ ? cut(step + "/kept", y, axis, 0, length - by) : cut(step + "/kept", y, axis, by, length);
    const Arrays other =
        forward_ ? filled(step + "/moved", kept, axis, by, 0) : filled(step + "/moved", kept, axis, 0, by);
    y = forward_ ? combined(step, other, y) : combined(step, y, other);
  }
  return y;
}

/// `level` tells the words of one level from those of another.
Arrays Scans::inclusive(const Arrays& x, const std::string& level) {
  const ir::Shape& shape = shape_of(x[0]);
  if (is_short(shape.dims[axis_]) || (!has_region() && is_walked(shape, axis_)))
    return short_scan(x, level + "scan", axis_);
  return in_blocks(x, level, !has_region() && is_fastest(shape, axis_) ? row_block : short_block);
}

Arrays Scans::in_blocks(const Arrays& x, const std::string& level, std::int64_t block) {
  const std::int64_t length = dims_of(x)[axis_], blocks = (length + block - 1) / block;
  const Arrays full = filled(level + "filled", x, axis_, 0, blocks * block - length);
  const Arrays parts = reshaped(level + "blocks", full, dims_with(x, block, blocks));
  const Arrays inner = short_scan(parts, level + "inner", axis_ + 1);
  Arrays totals;
  if (block == row_block) {
    totals = reduced(level + "totals", parts, {axis_ + 1});
  } else {
    const std::int64_t last = forward_ ? block - 1 : 0;
    const Arrays ends = cut(level + "ends", inner, axis_ + 1, last, last + 1);
    totals = reshaped(level + "totals", ends, dims_with(x, blocks));
  }
  const Arrays before = moved(inclusive(totals, level + "up/"), level);
  ir::Dims kept;
  for (int i = 0; i <= dims_of(x).size(); ++i)
    if (i != axis_ + 1) kept.push_back(i);
  const Arrays all = spread(level + "spread", before, dims_of(inner), kept);
  const Arrays sum = forward_ ? combined(level + "sum", all, inner) : combined(level + "sum", inner, all);
  return cut(level + "cut", reshaped(level + "flat", sum, dims_with(x, blocks * block)), axis_, 0, length);
}

/// What stands in front of each block: its neighbour's value, and the neutral element for the first.
Arrays Scans::moved(const Arrays& scan, const std::string& level) {
  const std::int64_t count = dims_of(scan)[axis_];
  if (forward_) return filled(level + "before", cut(level + "others", scan, axis_, 0, count - 1), axis_, 1, 0);
  return filled(level + "before", cut(level + "others", scan, axis_, 1, count), axis_, 0, 1);
}

}  // namespace tailor::hlo
