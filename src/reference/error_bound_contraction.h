// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of matrix products and scatters. In: operands with their bounds. Out: bounds of the result.
// Called by error_bound.cpp; error_bound.h has the model. Both are sums, so their bounds are the same
// operations on magnitudes.
#pragma once

#include "reference/error_bound_elementwise.h"

namespace tailor::reference {

/// Of a dot, or a scatter that adds, on floating types: products once rounded, sums in any order. `operands` parallel
/// to call.operands. nullptr for any other call.
Errors contraction_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result,
                          double product_error);

/// Whether a scatter or reduce-window hands on values as they are: it replaces, or takes the larger or the smaller.
bool moves_exactly(const Call& call);
/// Of a scatter that replaces, at exact places: each bound goes where its element goes. nullptr for any other call.
Errors replaced_errors(const Call& call, const std::vector<Errors>& operands);

}  // namespace tailor::reference
