// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Bounds of functions whose argument has an end, by the operation that it comes from. In: an operation with its
// operands. Out: how far its result is off at most. Called by the bounds of elementwise operations (elementwise.cpp),
// beside the rule for any argument: the smaller one holds.
#pragma once

#include "reference/evaluate_cells.h"

namespace tailor::reference {

/// From the operand, the result and the operand's bound: by how much the result is off.
using Slope = double (*)(double a, double y, double e);

/// Of an exponential whose argument is never positive, as a negative square or a negative distance, and of a logarithm
/// of 1 and what is never negative; null for any other operation. What a kernel computes has that sign too, so the
/// interval of the argument ends at 0.
Slope limit_of(const Call& call);

}  // namespace tailor::reference
