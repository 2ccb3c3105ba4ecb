// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers as bits: every floating type of the table is described by one row (exponent and mantissa bits, bias, what it
// does instead of infinity), and encoded, decoded and rounded by the same few lines. Sub-byte types live in the low
// bits of one byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/graph/types.h"

namespace tailor::ir {

/// Bytes of one element in a Literal or a Tensor: sub-byte types use one byte; 0 for types without elements.
constexpr int element_bytes(DType dtype) { return (row(dtype).bits + 7) / 8; }
/// Bytes of an array's contents, each element in bytes of its own, as in Literal and reference::Tensor.
inline std::size_t content_bytes(const Shape& shape) {
  return element_count(shape) * static_cast<std::size_t>(element_bytes(shape.dtype));
}

/// What a format has beyond its finite values.
enum class Specials : std::uint8_t {
  ieee,      ///< infinities and NaNs at the top exponent
  nan_only,  ///< no infinity; NaN where all bits below the sign are ones; overflow gives NaN
  fnuz,      ///< no infinity, no negative zero: its pattern is the one NaN; overflow gives NaN
  finite,    ///< neither; overflow and infinity saturate, NaN becomes -0
  scale,     ///< powers of two without sign, zero or mantissa; NaN is all ones; negative values become NaN
};

struct FloatFormat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
  Specials specials = Specials::ieee;
};

/// Precondition: is_floating(dtype).
FloatFormat float_format(DType dtype);

/// How many bits of exponent and mantissa a floating number has, or keeps.
struct Digits {
  std::uint8_t exponent = 0, mantissa = 0;
  bool operator==(const Digits&) const = default;
};
/// Those of a type. Precondition: is_floating(dtype).
Digits digits_of(DType dtype);

/// The largest finite number of a type. Precondition: is_floating(dtype).
double largest_number(DType dtype);

/// Whether `to` has every number of `from`, so that a conversion rounds nothing: of s8, f8e5m2 and f8e4m3fn bf16 does.
/// False for types that are neither integers nor floating, and where infinities would be lost.
bool has_all_of(DType to, DType from);

/// The bits of `value` rounded to a floating type, ties to even. NaN becomes the type's quiet NaN, sign kept.
std::uint64_t encode(DType dtype, double value);
/// The value of a floating type's bits; f64 and narrower are all exact.
double decode(DType dtype, std::uint64_t bits);

/// Rounds to the nearest value of a floating type, ties to even; the identity for f64.
double round_to(DType dtype, double value);
/// The same for an integer that double may not hold: no double rounding.
double round_integer_to(DType dtype, std::int64_t value);
double round_integer_to(DType dtype, std::uint64_t value);

/// HLO's reduce-precision on a value of `dtype`: the mantissa is rounded on the bits, what is then beyond the smaller
/// exponent range becomes infinity, what is below its normal range becomes zero. NaN stays.
double reduce_precision(DType dtype, double value, int exponent_bits, int mantissa_bits);

/// Integers: the low `bits` of `value`, sign- or zero-extended by the type.
std::int64_t wrap_to(DType dtype, std::int64_t value);

}  // namespace tailor::ir
