// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Cumulative sums, products, maxima: windows that begin, or end, at the end of a dimension. In: arrays and such a
// dimension, longer than what a kernel goes through tap by tap. Out: what it stands for in windows of 16, so that its
// work is linear and every part has a kernel. Called by the pass that takes windows apart (pass_windows.cpp).
//
// The dimension is cut into blocks of 16, the last one filled up with the reducer's neutral element. Within a block
// windows are short. In front of a block stands what all blocks before it come to, which is the same question of a
// sixteenth of the length:
//
//   inner[j, k] = x[j, 0] + ... + x[j, k]        before[j] = inner[0, 15] + ... + inner[j - 1, 15]
//   y[16 j + k] = before[j] + inner[j, k]
//
// Windows that end at the end are the mirror image. XLA makes a tree of such windows too (its ReduceWindowRewriter, of
// the same width). Floats are added in another order than in the text, as any kernel does. A region of its own has no
// windows that kernels go through: in a block each element is put together with the one before it, then with the one
// two before, four, eight.
#include "hlo/expand/scan.h"

#include <fmt/format.h>

namespace tailor::hlo {

namespace {

constexpr std::int64_t block = 16;  ///< windows of a block

}  // namespace

std::optional<Direction> scan_direction(const ir::WindowDim& one, std::int64_t length) {
  if (one.stride != 1 || one.base_dilation != 1 || one.window_dilation != 1 || one.size != length || length <= block)
    return std::nullopt;
  if (one.pad_low == length - 1 && one.pad_high == 0) return Direction::forward;
  if (one.pad_low == 0 && one.pad_high == length - 1) return Direction::backward;
  return std::nullopt;
}

bool Scans::is_short(std::int64_t length) const { return length <= (has_region() ? block : most_taps); }

Arrays Scans::scan(std::string_view word, const Arrays& x, int axis, Direction direction) {
  axis_ = axis;
  forward_ = direction == Direction::forward;
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
  const std::int64_t length = dims_of(x)[axis_];
  if (is_short(length)) return short_scan(x, level + "scan", axis_);
  const std::int64_t blocks = (length + block - 1) / block;
  const Arrays full = filled(level + "filled", x, axis_, 0, blocks * block - length);
  const Arrays inner =
      short_scan(reshaped(level + "blocks", full, dims_with(x, block, blocks)), level + "inner", axis_ + 1);
  const std::int64_t last = forward_ ? block - 1 : 0;
  const Arrays ends = cut(level + "ends", inner, axis_ + 1, last, last + 1);
  const Arrays totals = reshaped(level + "totals", ends, dims_with(x, blocks));
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
