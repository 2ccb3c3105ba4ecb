// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The 16-bit floating types: floats to an expression, rounded once to nearest even where they are stored. The
// conversions are integer arithmetic on 32-bit lanes, so every instruction set has a vector form of them. A NaN becomes
// the canonical one.
#pragma once

#include "simulator/lanes_rounding.h"

namespace tailor::simulator::LANES_TIER {
namespace {

/// The product with 2^112 moves the exponent and makes subnormals normal.
INLINE float float_of_half(Word half) {
  const Word rest = (half & 0x7fff) << 13;
  const Word finite = bits_of(float_of(rest) * 0x1p112f);
  return float_of((rest >= 0x0f800000 ? rest | 0x7f800000 : finite) | (half & 0x8000) << 16);
}
/// 65520 and more is infinite. Adding a half aligns the last place of a subnormal result with the float's last place.
INLINE Word half_bits(float value) {
  const Word bits = bits_of(value);
  const Word sign = (bits >> 16) & 0x8000, rest = bits & 0x7fffffff;
  const Word normal = (rest - (112u << 23) + 0xfff + ((rest >> 13) & 1)) >> 13;
  const Word small = bits_of(float_of(rest) + 0.5f) - bits_of(0.5f);
  const Word finite = rest < (113u << 23) ? small : rest >= 0x477ff000 ? 0x7c00 : normal;
  return rest > 0x7f800000 ? 0x7fff : finite | sign;
}
INLINE float float_of_bfloat(Word bits) { return float_of(bits << 16); }
INLINE Word bfloat_bits(float value) {
  const Word bits = bits_of(value);
  return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
}

struct f16 : Plain<Word, float> {
  INLINE static float load(Word s) { return float_of_half(s); }
  INLINE static Word store(float v) { return half_bits(v); }
};
struct bf16 : Plain<Word, float> {
  INLINE static float load(Word s) { return float_of_bfloat(s); }
  INLINE static Word store(float v) { return bfloat_bits(v); }
};
/// Two to a word: elements of 16 bits, 64 to a slot.
struct f16x2 {
  using Stored = std::uint16_t;
  using Value = float;
  static constexpr int elements = 2 * lanes_per_warp;
  INLINE static float load(std::uint16_t s) { return float_of_half(s); }
  INLINE static std::uint16_t store(float v) { return static_cast<std::uint16_t>(half_bits(v)); }
};
struct bf16x2 {
  using Stored = std::uint16_t;
  using Value = float;
  static constexpr int elements = 2 * lanes_per_warp;
  INLINE static float load(std::uint16_t s) { return float_of_bfloat(s); }
  INLINE static std::uint16_t store(float v) { return static_cast<std::uint16_t>(bfloat_bits(v)); }
};

/// The bits of a value moved one place up or down where the nearest lies on the wrong side.
template <Toward toward>
INLINE Word stepped(Word bits, float back, float value, Word sign) {
  const bool negative = (bits & sign) != 0;
  if constexpr (toward == rn) return bits;
  if constexpr (toward == rz) return magnitude(back) > magnitude(value) ? bits - 1 : bits;
  const bool off = toward == rm ? back > value : back < value;
  const bool inward = toward == rm ? !negative : negative;
  return !off ? bits : inward ? bits - 1 : bits + 1;
}
/// The half or bfloat nearest in a direction, as a float.
template <Toward toward>
INLINE float as_half(float value) {
  const Word near = half_bits(value);
  return float_of_half(stepped<toward>(near, float_of_half(near), value, 0x8000));
}
template <Toward toward>
INLINE float as_bfloat(float value) {
  const Word near = bfloat_bits(value);
  return float_of_bfloat(stepped<toward>(near, float_of_bfloat(near), value, 0x8000));
}

}  // namespace
}  // namespace tailor::simulator::LANES_TIER
