// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's values: one element of any type, its arithmetic and its bytes. Integers and predicates are kept in
// `integer`, sign- or zero-extended; floating values in `real`, already rounded to their type. Called by the
// interpreter and by the prelude's test.
#pragma once

#include <cstddef>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

struct LaneValue {
  double real = 0;
  std::int64_t integer = 0;
  bool set = false;
};

/// Rounded (floating) or wrapped (integer) to the type.
LaneValue fitted(DType dtype, LaneValue value);
/// HLO's convert: floats to integers saturate, NaN becomes 0; integers wrap; predicates are "not zero".
LaneValue converted_cell(DType to, DType from, LaneValue value);
/// The operation on operands of `dtype`. Throws std::logic_error for one it does not know.
LaneValue applied(Op op, Comparison comparison, DType dtype, LaneValue a, LaneValue b, LaneValue c);
LaneValue read_cell(DType dtype, const std::byte* from);
void write_cell(DType dtype, std::byte* to, LaneValue value);

}  // namespace tailor::ir
