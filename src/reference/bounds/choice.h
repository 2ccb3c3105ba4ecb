// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of a scatter that picks the greatest or the least: a maximum over segments. In: operands with their bounds,
// and the result. Out: bounds of the result, or nothing where the call is of another form. Called by error_bound.cpp;
// error_bound.h has the model.
#pragma once

#include <vector>

#include "reference/bounds/elementwise.h"

namespace tailor::reference {

/// Of a scatter, at exact places, that keeps the larger or the smaller. nullptr for any other call.
Errors scattered_extreme_errors(const Call& call, const std::vector<Errors>& operands, const Tensor& result);

}  // namespace tailor::reference
