// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Minimum, maximum and what else looks at a floating value's sign or class. -0 is below +0; the plain forms prefer a
// number to a NaN, the others give the canonical NaN. In: values of one lane; out: the value that PTX demands.
// Included by the handlers, once per instruction set.
#pragma once

#include "profiler/simulator/lanes/lanes_rounding.h"

namespace tailor::simulator::LANES_TIER {
namespace {

INLINE float flushed(float a) { return magnitude(a) < 0x1p-126f ? float_of(bits_of(a) & 0x80000000) : a; }
INLINE float relu(float a) { return a != a ? a : a > 0 ? a : 0.0f; }

constexpr Word canonical_nan = 0x7fffffff;

/// Of two values that compare equal: the same, or zeros of either sign.
INLINE float both_signs(float a, float b) { return float_of(bits_of(a) | bits_of(b)); }
INLINE float no_sign(float a, float b) { return float_of(bits_of(a) & bits_of(b)); }
INLINE double both_signs(double a, double b) { return double_of(bits_of(a) | bits_of(b)); }
INLINE double no_sign(double a, double b) { return double_of(bits_of(a) & bits_of(b)); }
INLINE float quiet(float) { return float_of(canonical_nan); }
INLINE double quiet(double) { return double_of((Long{0x7ff} << 52) | (Long{1} << 51)); }

template <class Real>
INLINE Real min_number(Real a, Real b) {
  const Real least = a < b ? a : b < a ? b : both_signs(a, b);
  const Real other = a != a ? b : a;
  return a != a && b != b ? quiet(a) : a != a || b != b ? other : least;
}
template <class Real>
INLINE Real max_number(Real a, Real b) {
  const Real most = a < b ? b : b < a ? a : no_sign(a, b);
  const Real other = a != a ? b : a;
  return a != a && b != b ? quiet(a) : a != a || b != b ? other : most;
}
INLINE float min_or_nan(float a, float b) {
  const float least = a < b ? a : b < a ? b : both_signs(a, b);
  return a != a || b != b ? quiet(a) : least;
}
INLINE float max_or_nan(float a, float b) {
  const float most = a < b ? b : b < a ? a : no_sign(a, b);
  return a != a || b != b ? quiet(a) : most;
}
/// The sign is the product's.
INLINE float signed_as(float a, float b, float value) {
  const Word sign = (bits_of(a) ^ bits_of(b)) & 0x80000000;
  return float_of(value != value ? bits_of(value) : (bits_of(value) & 0x7fffffff) | sign);
}

}  // namespace
}  // namespace tailor::simulator::LANES_TIER
