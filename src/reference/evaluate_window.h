// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the evaluators of windows share: where a tap of a window reads, and the two forms that have files of their own,
// long windows (evaluate_long_window.cpp) and complex numbers (evaluate_complex.cpp). In: a window and shapes. Out:
// places, or results. Called by evaluate_window.cpp, evaluate_reduce.cpp and, of what has semantics, evaluate.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "base/indexed.h"
#include "ir/graph/attribute_text.h"
#include "reference/evaluate_cells.h"
#include "reference/evaluate_moves.h"

namespace tailor::reference {

using Window = IndexedVector<ir::WindowDim>;

/// The input element that a tap of an output's window reads, or -1 where that is padding.
std::int64_t source_of(const Window& window, const ir::Dims& out, const ir::Dims& tap, const ir::Dims& dims,
                       const ir::Dims& strides);

/// Of a window's taps those between which all lie that are inside of the array: the first, and how many.
struct TapsInside {
  ir::Dims first, count;
  bool none = false;
};
/// Of all windows from that of `at` to that of `last`, which are elements of the result.
TapsInside taps_inside(const Window& window, const ir::Dims& at, const ir::Dims& last, const ir::Dims& dims);

/// Calls `visit` with the input element of each tap inside of the array, in the order of the taps.
template <class Visit>
void visit_taps(const Call& call, const Window& window, const ir::Dims& at, const ir::Dims& dims,
                const ir::Dims& strides, Visit&& visit) {
  const TapsInside taps = taps_inside(window, at, at, dims);
  if (taps.none) return;
  ir::Dims step = zero_index(dims.size()), tap = taps.first;
  do {
    call.may_stop();
    for (int i = 0; i < dims.size(); ++i) tap[i] = taps.first[i] + step[i];
    if (const std::int64_t from = source_of(window, at, tap, dims, strides); from >= 0) visit(from);
  } while (next_index(step, taps.count));
}

/// The dimension along which alone windows have taps, next to one another and so many that what windows have in common
/// is better folded once; nothing where there is none.
std::optional<int> long_dim(const Window& window);
/// A known reducer of one array over such windows: of n elements some 3 n steps, however long the windows are.
Tensor reduce_long_windows(const Call& call, const Window& window, int along);

/// Whether fold_complex() has semantics for the node: sums and products of one complex array.
bool has_complex_fold(const ir::Graph& graph, const ir::Node& node);
/// A reduction over axes, or over windows, of complex numbers: sums and products in double, rounded once.
Tensor fold_complex(const Call& call);

}  // namespace tailor::reference
