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
  std::int64_t set = 0;  ///< 0 or 1; as wide as the others, since a copy waits for a part that was written alone
};

/// A type whose elements need more than the processor's own rounding.
LaneValue fitted_to_narrow(DType dtype, LaneValue value);
/// Rounded (floating) or wrapped (integer) to the type.
inline LaneValue fitted(DType dtype, const LaneValue& value) {
  if (dtype == DType::f32) return {static_cast<double>(static_cast<float>(value.real)), value.integer, value.set};
  return dtype == DType::f64 ? value : fitted_to_narrow(dtype, value);
}
/// HLO's convert: floats to integers saturate, NaN becomes 0; integers wrap; predicates are "not zero".
LaneValue converted_cell(DType to, DType from, LaneValue value);
/// The operation on operands of `dtype`. Throws std::logic_error for one it does not know.
LaneValue applied(Op op, Comparison comparison, DType dtype, const LaneValue& a, const LaneValue& b,
                  const LaneValue& c);
/// HLO's reduce-precision of a number of `dtype`.
LaneValue reduced_cell(DType dtype, Digits digits, LaneValue value);
LaneValue read_cell(DType dtype, const std::byte* from);
void write_cell(DType dtype, std::byte* to, LaneValue value);

}  // namespace tailor::ir
