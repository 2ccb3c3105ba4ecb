// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact intermediate results. A sum of two doubles is split into the nearest double and the error; when there is an
// error the last bit is made odd (the "sticky" bit), after which a rounding to 50 bits or fewer, in any direction, is
// the rounding of the exact sum. Products of two floats are exact in double, so float arithmetic needs no more.
#pragma once

#include "profiler/simulator/lanes/lanes_core.h"

namespace tailor::simulator::LANES_TIER {
namespace {

enum class Toward { nearest, zero, down, up };
constexpr Toward rn = Toward::nearest, rz = Toward::zero, rm = Toward::down, rp = Toward::up;

INLINE float magnitude(float a) { return float_of(bits_of(a) & 0x7fffffff); }
INLINE double magnitude(double a) { return double_of(bits_of(a) & ~(Long{1} << 63)); }

/// What a + b, rounded to `sum`, lost.
INLINE double lost(double a, double b, double sum) {
  const double part = sum - a;
  return (a - (sum - part)) + (b - part);
}

/// a + b with a sticky last bit. Infinite and NaN sums stay as they are.
INLINE double odd_sum(double a, double b) {
  const double sum = a + b;
  const double error = lost(a, b, sum);
  const Long bits = bits_of(sum);
  const bool outward = (error > 0) == (sum > 0);
  const bool inexact = (error > 0 || error < 0) && (bits & 1) == 0;
  return double_of(!inexact ? bits : outward ? bits + 1 : bits - 1);
}

/// To float, in the direction asked. For sticky doubles and exact ones.
template <Toward toward>
INLINE float rounded(double value) {
  const float near = static_cast<float>(value);
  if constexpr (toward == rn) return near;
  const double back = near;
  const Word bits = bits_of(near);
  const bool negative = (bits >> 31) != 0;
  if constexpr (toward == rz) return float_of(magnitude(back) > magnitude(value) ? bits - 1 : bits);
  const bool off = toward == rm ? back > value : back < value;
  const bool inward = toward == rm ? !negative : negative;
  return float_of(!off ? bits : inward ? bits - 1 : bits + 1);
}

/// Float with a sticky last bit, for a second rounding to a narrower type.
INLINE float odd_float(double value) {
  const float near = static_cast<float>(value);
  const double back = near;
  const Word bits = bits_of(near);
  const bool inexact = (back > value || back < value) && (bits & 1) == 0;
  return float_of(!inexact ? bits : magnitude(back) < magnitude(value) ? bits + 1 : bits - 1);
}

/// a + b rounded once. An exact zero is negative when rounding down and either term is.
template <Toward toward>
INLINE float rounded_sum(double a, double b) {
  const double sum = odd_sum(a, b);
  const float result = rounded<toward>(sum);
  if constexpr (toward != rm) return result;
  return float_of(sum == 0 ? static_cast<Word>((bits_of(a) | bits_of(b)) >> 63) << 31 : bits_of(result));
}

INLINE float fused(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return rounded_sum<rn>(double{a} * b, c);
#endif
}
INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

}  // namespace
}  // namespace tailor::simulator::LANES_TIER
