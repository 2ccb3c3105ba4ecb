// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of matrix products and scatters. In: operands with their bounds. Out: bounds of the result.
// Called by error_bound.cpp; error_bound.h has the model. Both are sums, so their bounds are the same
// operations on magnitudes.
#pragma once

#include "reference/bounds/elementwise.h"

namespace tailor::reference {

/// The integers, each moved by its bound: down with -1, up with 1.
Tensor at_an_end(const Tensor& numbers, const Errors& errors, int direction);

/// Of a dot, or a scatter that adds, on floating types: products once rounded, sums in any order. Of a scatter that
/// adds at places with bounds, integers too. `operands` parallel to call.operands. nullptr for any other call, and
/// where a place may be farther off than by one.
Errors contraction_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result,
                          double product_error);

/// Whether a scatter or reduce-window hands on values as they are: it takes the larger or the smaller.
bool moves_exactly(const Call& call);
/// Of a scatter that multiplies exact floating numbers. nullptr for any other call.
Errors multiplied_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result);
/// Whether the call is a scatter that replaces, at exact places.
bool is_replaced(const Call& call, const std::vector<Errors>& operands);
/// Of such a call: each bound goes where its element goes, and nothing is known of an element that several updates are
/// for. nullptr: it is exact.
Errors replaced_errors(const Call& call, const std::vector<Errors>& operands);

}  // namespace tailor::reference
