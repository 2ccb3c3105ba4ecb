// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of what picks the greatest or the least: an argmax, a maximum over segments. In: operands with their bounds,
// and results. Out: bounds of the results, or nothing where the call is of another form. Called by error_bound.cpp;
// error_bound.h has the model.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "reference/error_bound_elementwise.h"

namespace tailor::reference {

/// Of a reduction that picks the greatest or the least of its first array and takes exact companions along, an index
/// for instance. `operands` parallel to call.operands. Nothing for any other call.
std::optional<std::vector<Errors>> picked_errors(const Call& call, const std::vector<Errors>& operands,
                                                 std::span<const Tensor* const> results);

/// Of a scatter, at exact places, that keeps the larger or the smaller. nullptr for any other call.
Errors scattered_extreme_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result);

}  // namespace tailor::reference
