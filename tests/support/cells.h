// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The interpreter's values: one element of any type, its arithmetic and its bytes. Integers and predicates are kept as
// `integer`, sign- or zero-extended; floating values as `real`, already rounded to their type. Called by the
// interpreter and by the prelude's test.
#pragma once

#include <array>
#include <cstddef>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

struct LaneValue {
  union {
    double real = 0;
    std::int64_t integer;
  };
  std::int64_t set = 0;  ///< 0 or 1; as wide as the other, since a copy waits for a part that was written alone
};
inline LaneValue real_cell(double real) { return {{real}, 1}; }
inline LaneValue integer_cell(std::int64_t integer) { return {{.integer = integer}, 1}; }

/// Lanes of a column: the first of them, or those of a list.
struct Lanes {
  int count = 0;
  const int* listed = nullptr;
  template <class Act>
  void each(Act&& act) const {
    if (listed == nullptr)
      for (int lane = 0; lane < count; ++lane) act(lane);
    else
      for (int i = 0; i < count; ++i) act(listed[i]);
  }
};

/// A type whose elements need more than the processor's own rounding.
LaneValue fitted_to_narrow(DType dtype, LaneValue value);
/// Rounded (floating) or wrapped (integer) to the type.
inline LaneValue fitted(DType dtype, const LaneValue& value) {
  if (dtype == DType::f32) return {{static_cast<double>(static_cast<float>(value.real))}, value.set};
  return dtype == DType::f64 ? value : fitted_to_narrow(dtype, value);
}
/// HLO's convert: floats to integers saturate, NaN becomes 0; integers wrap; predicates are "not zero".
LaneValue converted_cell(DType to, DType from, LaneValue value);
/// The operation on operands of `dtype`. Throws std::logic_error for one it does not know.
LaneValue applied(Op op, Comparison comparison, DType dtype, const LaneValue& a, const LaneValue& b,
                  const LaneValue& c);
/// The same for all of these lanes.
void apply(Op op, Comparison comparison, DType dtype, const std::array<const LaneValue*, 3>& operands,
           const Lanes& lanes, LaneValue* out);
/// HLO's reduce-precision of a number of `dtype`.
LaneValue reduced_cell(DType dtype, Digits digits, LaneValue value);
LaneValue read_cell(DType dtype, const std::byte* from);
void write_cell(DType dtype, std::byte* to, LaneValue value);

}  // namespace tailor::ir
