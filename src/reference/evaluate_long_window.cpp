// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Reductions over long windows along one dimension, cumulative sums among them. In: an array and a window. Out: what
// evaluate_window.cpp would make of it tap by tap, in time that does not grow with the window. Called by it.
//
// The line of n elements is cut into blocks of as many elements as a window has taps (M. van Herk, Pattern Recognition
// Letters 13, 1992). Of each block all that begins it and all that ends it is folded up: 2 n steps. A window lies in
// one block or in two neighbours, so it is the end of one and the beginning of the next: n steps more. A window that
// the array's ends cut off is the beginning or the end of one block. Nothing is subtracted, so that no digit and no
// infinity is left over from what has gone. Sums stay in double until the end; a cumulative sum is one block, and adds
// from its first element on, as HLO does. Where windows lie in two blocks, sums are associated otherwise than tap by
// tap, within double's rounding. All other reducers are exact in any order, and integers wrap to the same bits.
#include <algorithm>

#include "reference/evaluate_memory.h"
#include "reference/evaluate_moves.h"
#include "reference/evaluate_window.h"

namespace tailor::reference {

namespace {

/// From so many taps on; below, going tap by tap is as fast.
constexpr std::int64_t long_window = 17;

class LongWindows {
 public:
  LongWindows(const Call& call, const ir::WindowDim& window, int along)
      : call_(call), window_(window), reducer_(ir::reducer(call.node)), start_(cell_at(call.operand(1), 0)) {
    const ir::Dims& dims = call.operand(0).shape.dims;
    length_ = dims[along];
    results_ = call.node.shape.dims[along];
    for (int d = 0; d < along; ++d) outer_ *= dims[d];
    for (int d = along + 1; d < dims.size(); ++d) inner_ *= dims[d];
    columns_ = std::clamp<std::int64_t>(parallel_cells / std::max<std::int64_t>(length_, 1), 1, inner_);
  }

  /// Parts that threads share out: some columns of one line each.
  std::int64_t parts() const { return outer_ * parts_of_line(); }

  void part(std::int64_t number, Tensor& result) {
    call_.may_stop();
    const std::int64_t line = number / parts_of_line(), first = number % parts_of_line() * columns_;
    width_ = std::min(columns_, inner_ - first);
    load(line * length_ * inner_ + first);
    fold();
    made_.resize(static_cast<std::size_t>(results_ * width_));
    for (std::int64_t i = 0; i < results_; ++i) take(i);
    const std::int64_t to = line * results_ * inner_ + first;
    if (width_ == inner_) return store_cells(result, to, made_);
    for (std::int64_t i = 0; i < results_; ++i)
      store_cells(result, to + i * inner_, {row(made_, i), static_cast<std::size_t>(width_)});
  }

 private:
  std::int64_t parts_of_line() const { return (inner_ + columns_ - 1) / columns_; }
  Cell* row(std::vector<Cell>& cells, std::int64_t i) const { return cells.data() + i * width_; }
  void add(Cell* to, const Cell* value) const { combine(reducer_, call_.operand(0).shape.dtype, to, value, width_); }

  void load(std::int64_t from) {
    ends_.resize(static_cast<std::size_t>(length_ * width_));
    if (width_ == inner_) return load_cells(call_.operand(0), from, 1, ends_);
    for (std::int64_t j = 0; j < length_; ++j)
      load_cells(call_.operand(0), from + j * inner_, 1, {row(ends_, j), static_cast<std::size_t>(width_)});
  }

  /// beginnings_[j]: from the beginning of j's block to j. ends_[j]: from j to the end of its block.
  void fold() {
    beginnings_ = ends_;
    for (std::int64_t j = 1; j < length_; ++j) {
      if (j % window_.size == 0) continue;
      scratch_.assign(row(beginnings_, j), row(beginnings_, j) + width_);
      std::copy_n(row(beginnings_, j - 1), width_, row(beginnings_, j));
      add(row(beginnings_, j), scratch_.data());
    }
    for (std::int64_t j = length_ - 1; j-- > 0;)
      if ((j + 1) % window_.size != 0) add(row(ends_, j), row(ends_, j + 1));
  }

  void take(std::int64_t i) {
    Cell* const to = row(made_, i);
    std::fill_n(to, width_, start_);
    const std::int64_t at = i * window_.stride - window_.pad_low;
    const std::int64_t low = std::max<std::int64_t>(at, 0), high = std::min(at + window_.size, length_) - 1;
    if (low > high) return;
    const bool two = low / window_.size != high / window_.size;
    const bool begins = low % window_.size == 0;
    if (two || !begins) add(to, row(ends_, low));
    if (two || begins) add(to, row(beginnings_, high));
  }

  const Call& call_;
  const ir::WindowDim& window_;
  ir::Reducer reducer_;
  Cell start_;
  std::int64_t outer_ = 1, length_ = 0, inner_ = 1, results_ = 0;
  std::int64_t columns_ = 1, width_ = 1;  ///< of a part at most, and of the one at hand
  std::vector<Cell> beginnings_, ends_, made_, scratch_;
};

}  // namespace

std::optional<int> long_dim(const Window& window) {
  std::optional<int> along;
  for (int d = 0; d < static_cast<int>(window.size()); ++d) {
    const ir::WindowDim& one = window[d];
    if (one.base_dilation != 1) return {};
    const bool through = one.size == 1 && one.stride == 1 && one.pad_low == 0 && one.pad_high == 0;
    if (through) continue;
    if (along || one.size < long_window || one.window_dilation != 1) return {};
    along = d;
  }
  return along;
}

Tensor reduce_long_windows(const Call& call, const Window& window, int along) {
  Tensor result = unwritten(call.node.shape);
  const LongWindows all(call, window[along], along);
  const std::int64_t of_part = elements(call.operand(0).shape) / std::max<std::int64_t>(all.parts(), 1);
  in_parallel(all.parts(), parallel_cells / std::max<std::int64_t>(of_part, 1) + 1,
              [&](std::int64_t first, std::int64_t last) {
                LongWindows mine = all;
                for (std::int64_t i = first; i < last; ++i) mine.part(i, result);
              });
  return result;
}

}  // namespace tailor::reference
