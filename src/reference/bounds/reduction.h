// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of reductions, along dimensions and over windows: of sums, products, extremes, and of what a function of one's
// own chooses. In: a reduction with its values, the bounds of what it reads. Out: the bounds of its results. Called by
// the rules of error_bound.cpp.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reference/bounds/elementwise.h"
#include "reference/evaluate.h"

namespace tailor::reference {

/// A copy to work on.
Tensor as_tensor(const ir::Shape& shape, const Errors& errors);
/// The node as if its values were f64.
ir::Node widened(const ir::Node& node);

/// A reduction, or one over windows, of other terms.
Tensor reduced(const Call& call, const Tensor& terms, ir::Reducer reducer, double from = 0);
/// e + 6 sqrt(n) u |x| for every term, summed; the result's own rounding on top. Where the finite terms together may
/// pass the largest number, a partial sum overflows in one order of additions and not in another. `whole`: terms of the
/// sum that this one is a step of, or fewer than its own; a kernel may add them up in one go, in any order.
Errors sum_errors(const Call& call, const Errors& operand, const Tensor& result, double whole);
/// What rounding every partial sum to the result's own type adds, where that is narrower than f32.
Errors narrow_sum_errors(const Call& call, const Errors& errors, const Tensor& result);
/// How far the greatest (or least) can move when every element does: one far below it does not count.
Errors extreme_errors(const Call& call, const Errors& operand, const Tensor& result);
/// Relative bounds add up; (1 + u)^n. Where the factors above 1, or those below, together leave the range of the type,
/// a partial product overflows or vanishes in one order and not in another.
Errors product_errors(const Call& call, const Errors& operand, const Tensor& result);
/// Whether a region only chooses among its arguments, or their sizes: nothing is rounded.
bool only_chooses(const ir::Graph& body);
/// What decides in a body that takes everything from one of its two sides.
struct Taken {
  int side = 0;  ///< 1: the side whose number of the first array is greater, -1: is less, whatever the others are
  std::optional<std::int64_t> nothing = {};  ///< from this number of the second array on a side is taken by no means
};
/// side = 0: neither. Of a body that only compares each order of the pairs is tried.
Taken side_taken(const ir::Graph& body, std::size_t arrays);
/// Elements of the first array that may be the one that is taken, for each result.
Tensor candidates(const Call& call, const Errors& operand, int side);
/// Whether two elements are the same, or no farther from each other than that.
bool lie_within(const Tensor& a, std::int64_t i, const Tensor& b, std::int64_t j, double error);
/// None where a body that rounds nothing gives something else in another order, which a compiler may choose.
std::vector<Errors> order_errors(const Call& call, std::span<const Tensor* const> results);

}  // namespace tailor::reference
