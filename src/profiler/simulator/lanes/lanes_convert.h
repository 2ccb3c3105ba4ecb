// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Between integers and floating values: cut, clamped, rounded to an integer, rounded to fewer bits. In: lanes' values
// in registers of the host. Out: converted values, without branches, so that the loops around them vectorise. Used by
// the expressions of opcodes_convert.def.
#pragma once

#include "profiler/simulator/lanes/lanes_half.h"
#include "profiler/simulator/lanes/lanes_order.h"

namespace tailor::simulator::LANES_TIER {
namespace {

INLINE Word cut_u8(Word a) { return a & 0xff; }
INLINE Int cut_s8(Word a) { return static_cast<Int>(a << 24) >> 24; }
INLINE Word cut_u16(Word a) { return a & 0xffff; }
INLINE Int cut_s16(Word a) { return static_cast<Int>(a << 16) >> 16; }

/// A type's smallest and largest value.
template <class Tag>
struct Range;
template <class Tag, int bits>
struct SignedRange {
  static constexpr int width = bits;
  static constexpr Big least = -(Big{1} << (bits - 2)) * 2;
  static constexpr Long most = ~Long{0} >> (65 - bits);
};
template <class Tag, int bits>
struct UnsignedRange {
  static constexpr int width = bits;
  static constexpr Big least = 0;
  static constexpr Long most = ~Long{0} >> (64 - bits);
};
template <>
struct Range<s8> : SignedRange<s8, 8> {};
template <>
struct Range<s16> : SignedRange<s16, 16> {};
template <>
struct Range<s32> : SignedRange<s32, 32> {};
template <>
struct Range<s64> : SignedRange<s64, 64> {};
template <>
struct Range<u8> : UnsignedRange<u8, 8> {};
template <>
struct Range<u16> : UnsignedRange<u16, 16> {};
template <>
struct Range<u32> : UnsignedRange<u32, 32> {};
template <>
struct Range<u64> : UnsignedRange<u64, 64> {};

template <class Tag>
INLINE typename Tag::Value clamped(Big a) {
  using V = typename Tag::Value;
  constexpr Big most = Range<Tag>::most > INT64_MAX ? INT64_MAX : static_cast<Big>(Range<Tag>::most);
  return static_cast<V>(a < Range<Tag>::least ? Range<Tag>::least : a > most ? most : a);
}
template <class Tag>
INLINE typename Tag::Value clamped(Long a) {
  return static_cast<typename Tag::Value>(a > Range<Tag>::most ? Range<Tag>::most : a);
}
template <class Tag>
INLINE typename Tag::Value clamped(Int a) {
  if constexpr (Range<Tag>::width == 64) {
    return clamped<Tag>(Big{a});
  } else {
    constexpr Int least = static_cast<Int>(Range<Tag>::least);
    constexpr Int most = Range<Tag>::most > INT32_MAX ? INT32_MAX : static_cast<Int>(Range<Tag>::most);
    return static_cast<typename Tag::Value>(a < least ? least : a > most ? most : a);
  }
}
template <class Tag>
INLINE typename Tag::Value clamped(Word a) {
  constexpr Word most = Range<Tag>::most > UINT32_MAX ? UINT32_MAX : static_cast<Word>(Range<Tag>::most);
  return static_cast<typename Tag::Value>(a > most ? most : a);
}

template <Toward toward>
INLINE float integral(float a) {
  if constexpr (toward == rn) return __builtin_rintf(a);
  if constexpr (toward == rz) return __builtin_truncf(a);
  if constexpr (toward == rm) return __builtin_floorf(a);
  return __builtin_ceilf(a);
}
template <Toward toward>
INLINE double integral(double a) {
  if constexpr (toward == rn) return __builtin_rint(a);
  if constexpr (toward == rz) return __builtin_trunc(a);
  if constexpr (toward == rm) return __builtin_floor(a);
  return __builtin_ceil(a);
}

/// An integral value as an integer, clamped. A NaN is zero, but the highest bit alone if either type has 64 bits.
template <class Tag, class Real>
INLINE typename Tag::Value integer_of(Real a) {
  using V = typename Tag::Value;
  constexpr int width = Range<Tag>::width;
  constexpr bool is_signed = Range<Tag>::least < 0;
  constexpr V nan = sizeof(Real) == 8 || width == 64 ? static_cast<V>(Long{1} << (width - 1)) : V{0};
  constexpr Real least = static_cast<Real>(Range<Tag>::least);
  constexpr Real over = static_cast<Real>(Long{1} << (width - 1)) * (is_signed ? 1 : 2);  // the first that is too large
  constexpr Real half = static_cast<Real>(Long{1} << (width - 1));
  const bool low = a < least, high = a >= over;
  const Real inside = low || high || a != a ? Real{0} : a;
  V value;
  if constexpr (width < 32 || (width == 32 && is_signed)) {
    value = static_cast<V>(static_cast<Int>(inside));
  } else if constexpr (width == 32 && sizeof(Real) == 4) {
    const Word lower = static_cast<Word>(static_cast<Int>(inside >= half ? inside - half : inside));
    value = inside >= half ? lower ^ 0x80000000 : lower;
  } else if constexpr (width == 32 || is_signed) {
    value = static_cast<V>(static_cast<Big>(inside));
  } else {
    const Long lower = static_cast<Long>(static_cast<Big>(inside >= half ? inside - half : inside));
    value = inside >= half ? lower ^ (Long{1} << 63) : lower;
  }
  value = low ? static_cast<V>(Range<Tag>::least) : high ? static_cast<V>(Range<Tag>::most) : value;
  return a != a ? nan : value;
}

/// A 64-bit integer as two doubles that sum to it.
INLINE double upper_part(Long a) { return static_cast<double>(static_cast<Word>(a >> 32)) * 0x1p32; }
INLINE double upper_part(Big a) { return static_cast<double>(static_cast<Int>(a >> 32)) * 0x1p32; }
INLINE double lower_part(Long a) { return static_cast<double>(static_cast<Word>(a)); }
INLINE double lower_part(Big a) { return static_cast<double>(static_cast<Word>(a)); }

template <Toward toward, class Integer>
INLINE float float_from(Integer a) {
  if constexpr (toward == rn) return static_cast<float>(a);
  if constexpr (sizeof a == 4) return rounded<toward>(static_cast<double>(a));
  if constexpr (sizeof a == 8) return rounded_sum<toward>(upper_part(a), lower_part(a));
}
template <Toward toward, class Integer>
INLINE double double_from(Integer a) {
  const double upper = upper_part(a), lower = lower_part(a);
  const double sum = upper + lower, error = lost(upper, lower, sum);
  const Long bits = bits_of(sum);
  const bool negative = sum < 0;
  const bool outward = toward == rm ? negative : toward == rp ? !negative : false;  // away from zero is asked for
  const bool beyond = negative ? error > 0 : error < 0;                             // the sum is too far from zero
  const bool short_of = negative ? error < 0 : error > 0;
  return double_of(outward && short_of ? bits + 1 : !outward && beyond ? bits - 1 : bits);
}
/// With a sticky last bit, to be rounded to 16 bits.
template <class Integer>
INLINE float odd_float_from(Integer a) {
  if constexpr (sizeof a == 4) return odd_float(static_cast<double>(a));
  if constexpr (sizeof a == 8) return odd_float(odd_sum(upper_part(a), lower_part(a)));
}

INLINE float finite_within(float a, float most) { return a > most ? most : a < -most ? -most : a; }

/// tf32 keeps ten bits of fraction.
template <Toward toward>
INLINE float as_tf32(float a) {
  const Word bits = bits_of(a);
  if constexpr (toward == rz) return float_of(a != a ? 0x7fffffff : bits & ~0x1fffu);
  return float_of(a != a ? 0x7fffffff : (bits + 0xfff + ((bits >> 13) & 1)) & ~0x1fffu);
}
INLINE float as_tf32_away(float a) { return float_of(a != a ? 0x7fffffff : (bits_of(a) + 0x1000) & ~0x1fffu); }

/// Eight bits: e4m3 has no infinity and ends at 448, e5m2 is the upper byte of a half. Both saturate.
template <int fraction, int bias>
INLINE Word byte_bits(float a, float most) {
  const Word sign = (bits_of(a) >> 24) & 0x80;
  const float size = magnitude(a) > most ? most : magnitude(a);
  const Word rest = bits_of(size);
  const Word normal =
      (rest - ((127u - bias) << 23) + (1u << (22 - fraction)) - 1 + ((rest >> (23 - fraction)) & 1)) >> (23 - fraction);
  const float aligned = float_of((127u + 23 + 1 - bias - fraction) << 23);  // its last place is the smallest subnormal
  const Word small = bits_of(size + aligned) - bits_of(aligned);
  return a != a ? 0x7f : (rest < ((128u - bias) << 23) ? small : normal) | sign;
}
INLINE Word e4m3_bits(float a) { return byte_bits<3, 7>(a, 448.0f); }
INLINE Word e5m2_bits(float a) { return byte_bits<2, 15>(a, 57344.0f); }
INLINE float float_of_e4m3(Word byte) {
  const Word size = bits_of(float_of((byte & 0x7f) << 20) * 0x1p120f) | (byte & 0x80) << 24;
  return float_of((byte & 0x7f) == 0x7f ? 0x7fffffff : size);
}
INLINE float float_of_e5m2(Word byte) { return float_of_half((byte & 0xff) << 8); }

/// Four and six bits: no infinity and no NaN; a NaN becomes the largest. Below the sign there are `bits` - 1.
template <int fraction, int bias, int bits>
INLINE Word narrow_bits(float a, float most) {
  const Word byte = byte_bits<fraction, bias>(a, most);
  return a != a ? (1u << (bits - 1)) - 1 : (byte & 0x7f) | (byte & 0x80) >> (8 - bits);
}
INLINE Word e2m1_bits(float a) { return narrow_bits<1, 1, 4>(a, 6.0f); }
INLINE Word e2m3_bits(float a) { return narrow_bits<3, 1, 6>(a, 7.5f); }
INLINE Word e3m2_bits(float a) { return narrow_bits<2, 3, 6>(a, 28.0f); }
template <int fraction, int bits>
INLINE float float_of_narrow(Word code, float scale) {
  const Word size = code & ((1u << (bits - 1)) - 1);
  return float_of(bits_of(float_of(size << (23 - fraction)) * scale) | (code >> (bits - 1) & 1) << 31);
}
INLINE float float_of_e2m1(Word code) { return float_of_narrow<1, 4>(code, 0x1p126f); }
INLINE float float_of_e2m3(Word code) { return float_of_narrow<3, 6>(code, 0x1p126f); }
INLINE float float_of_e3m2(Word code) { return float_of_narrow<2, 6>(code, 0x1p124f); }

/// A power of two alone: the exponent of a float, without sign, 255 for NaN; rounded up or towards zero, at most 254.
template <Toward toward>
INLINE Word ue8m0_bits(float a) {
  const Word size = bits_of(a) & 0x7fffffff, up = toward == rp && (size & 0x7fffff) != 0 ? 1 : 0;
  const Word exponent = (size >> 23) + up;
  // The smallest is 2^-127, the float with this bit alone.
  const Word least = toward == rp && size > 0x400000 ? 1 : 0, power = size < 0x800000 ? least : exponent;
  return a != a ? 0xff : power > 0xfe ? 0xfe : power;
}
INLINE Word bfloat_of_ue8m0(Word code) {
  const Word power = code & 0xff;
  return power == 0xff ? 0x7fff : power == 0 ? 0x40 : power << 7;
}

INLINE Word joined_halves(Word upper, Word lower) { return upper << 16 | (lower & 0xffff); }

}  // namespace
}  // namespace tailor::simulator::LANES_TIER
