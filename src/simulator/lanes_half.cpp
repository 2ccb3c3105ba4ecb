// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in f16, bf16 and pairs of them, lane by lane. Sums, differences and products of 16-bit values rounded to
// float and then to 16 bits are rounded right; a fused product needs a sticky last bit in between.
#include "simulator/lanes_half.h"

#include "simulator/lanes_functions.h"

namespace tailor::simulator::LANES_TIER {
namespace {

/// The product of two halves is exact in float.
INLINE float fused_half(float a, float b, float c) {
  const float product = a * b, sum = product + c, part = sum - product;
  const float error = (product - (sum - part)) + (c - part);
  const Word bits = bits_of(sum);
  const bool outward = (error > 0) == (sum > 0);
  const bool inexact = (error > 0 || error < 0) && (bits & 1) == 0;
  return float_of(!inexact ? bits : outward ? bits + 1 : bits - 1);
}
/// The product of two bfloats is exact in double, also where a float would over- or underflow.
INLINE float fused_bfloat(float a, float b, float c) {
  return odd_float(odd_sum(static_cast<double>(a) * static_cast<double>(b), c));
}

template <class Tag>
INLINE float half_of(Word pair, Word upper) {
  return Tag::load(upper != 0 ? pair >> 16 : pair);
}

}  // namespace

#define HALF LANE_HANDLERS
#include "simulator/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
