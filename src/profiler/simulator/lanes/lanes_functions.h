// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Approximate functions as polynomials without branches, so that they vectorise: no table, no call. Sums and products
// are compiled without contraction, so every instruction set gives the same bits. Coefficients are
// Chebyshev fits, in this order of error: 2^x on half a unit 3e-9, sine 2e-8, cosine 2e-9, tanh 3e-8, atanh 1e-7, each
// of the term they multiply. Specials and subnormals are right; the bounds are in opcodes_special.def.
#pragma once

#if defined __AVX512F__
#include <immintrin.h>
#endif

#include "profiler/simulator/lanes/lanes_order.h"

namespace tailor::simulator::LANES_TIER {
namespace {

constexpr float nearest_magic = 0x1.8p23f;  ///< added and taken away: rounds |x| < 2^22 to an integer
constexpr double nearest_magic64 = 0x1.8p52;

/// 2^n times 2^f: n is added to the exponent of 2^f, 64 more where the result may be subnormal, taken away by a product
/// that rounds once. At 128 the sum is exactly infinity.
INLINE float exp2_of(float x) {
  const float low = x < -151.0f ? -151.0f : x;
  const float inside = low > 128.0f ? 128.0f : low;
  const float shifted = inside + nearest_magic;
  const float f = inside - (shifted - nearest_magic), f2 = f * f;
  const float p01 = 0x1.62e4302fc626ep-1f * f + 1.0f;
  const float p23 = 0x1.c6af6cdbbdcc7p-5f * f + 0x1.ebfbe00e63baep-3f;
  const float p45 = 0x1.5f0890162a90ap-10f * f + 0x1.3b2a53045179ap-7f;
  const float p = ((0x1.4413896e1ad27p-13f * f2 + p45) * f2 + p23) * f2 + p01;
  const bool small = inside < -125.0f;
  const Word scaled = bits_of(p) + (bits_of(shifted) << 23) + (small ? 64u << 23 : 0);
  const float result = float_of(scaled) * (small ? 0x1p-64f : 1.0f);
  return x != x ? x : result;
}

/// The same in place for a whole slot. With instructions that split a number at its point and scale by a power of two
/// there is nothing to clamp; sums and products are the same ones.
INLINE void exp2_all(float* values, int count) {
#if defined __AVX512F__ && defined __AVX512DQ__
  const auto constant = [](float c) __attribute__((always_inline)) { return _mm512_set1_ps(c); };
  for (int i = 0; i < count; i += 16) {
    const __m512 x = _mm512_load_ps(values + i);
    const __m512 n = _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const __m512 f = _mm512_maskz_reduce_ps(0xffff, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC), f2 = f * f;
    const __m512 p01 = constant(0x1.62e4302fc626ep-1f) * f + constant(1.0f);
    const __m512 p23 = constant(0x1.c6af6cdbbdcc7p-5f) * f + constant(0x1.ebfbe00e63baep-3f);
    const __m512 p45 = constant(0x1.5f0890162a90ap-10f) * f + constant(0x1.3b2a53045179ap-7f);
    const __m512 p = ((constant(0x1.4413896e1ad27p-13f) * f2 + p45) * f2 + p23) * f2 + p01;
    _mm512_store_ps(values + i, _mm512_maskz_scalef_ps(0xffff, p, n));
  }
#else
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) values[i] = exp2_of(values[i]);
#endif
}

/// The exponent plus 2 atanh((m - 1) / (m + 1)) / ln 2 for m between 1/sqrt 2 and sqrt 2.
INLINE float log2_of(float x) {
  const bool small = x < 0x1p-126f;
  const Word bits = bits_of(small ? x * 0x1p23f : x) - 0x3f3504f3;  // 1 / sqrt 2
  const Int exponent = static_cast<Int>(bits) >> 23;
  const float m = float_of((bits & 0x7fffff) + 0x3f3504f3);
  const float s = (m - 1.0f) / (m + 1.0f), t = s * s;
  float p = 0x1.2ef5164641d4ep-3f;
  p = p * t + 0x1.997bdb6306f5fp-3f;
  p = p * t + 0x1.55555b9a33dd8p-2f;
  const float term = s + s * (t * p);
  const float result = static_cast<float>(exponent - (small ? 23 : 0)) + term * 0x1.715476p+1f;
  const float edge = x == 0 ? -__builtin_inff() : x < 0 ? __builtin_nanf("") : x;
  return x > 0 && x < __builtin_inff() ? result : edge;
}

/// The angle is reduced by multiples of pi/2 in double; quarter 1 asks for the cosine. Beyond 2^31 the error grows with
/// the argument, as it may.
INLINE float sine(float x, Big quarter) {
  const double inside = magnitude(x) < 0x1p50f ? x : 0.0f;
  const double shifted = inside * 0x1.45f306dc9c883p-1 + nearest_magic64;
  const double n = shifted - nearest_magic64;
  const double rest = (inside - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
  const float wide = static_cast<float>(rest);
  const float r = wide > 1.0f ? 1.0f : wide < -1.0f ? -1.0f : wide;
  const float t = r * r;
  float s = -0x1.9aaea824295bdp-13f;
  s = s * t + 0x1.110bf61b4ab5ap-7f;
  s = s * t - 0x1.5555527a9cd76p-3f;
  s = r + r * (t * s);
  float c = 0x1.9bc2efe6da813p-16f;
  c = c * t - 0x1.6c12aa69e0797p-10f;
  c = c * t + 0x1.55555430a073cp-5f;
  c = (1.0f - 0.5f * t) + t * t * c;
  const Word turn = static_cast<Word>(bits_of(shifted)) + static_cast<Word>(quarter);
  const float value = (turn & 1) != 0 ? c : s;
  const float result = float_of(bits_of(value) ^ (turn & 2) << 30);
  return magnitude(x) < __builtin_inff() ? result : __builtin_nanf("");
}

INLINE float tanh_of(float x) {
  const float size = magnitude(x), t = size * size;
  float p = -0x1.9ada602bacb8cp-8f;
  p = p * t + 0x1.59e1c7ad1c727p-6f;
  p = p * t - 0x1.b955dc0d295e9p-5f;
  p = p * t + 0x1.110ee014ec7b4p-3f;
  p = p * t - 0x1.55555351d578ap-2f;
  const float small = size + size * (t * p);
  const float e = exp2_of(size * 0x1.715476p+1f);
  const float large = 1.0f - 2.0f / (e + 1.0f);
  const float result = size < 0.6f ? small : large;
  return float_of((x != x ? bits_of(x) : bits_of(result)) | (bits_of(x) & 0x80000000));
}

/// Divisors of 2^126 and more give zero, under infinity NaN.
INLINE float approximate_quotient(float a, float b) {
  const bool huge = magnitude(b) > 0x1p126f && magnitude(b) < __builtin_inff();
  const float zero = float_of((bits_of(a) ^ bits_of(b)) & 0x80000000);
  const float edge = magnitude(a) < __builtin_inff() ? zero : __builtin_nanf("");
  return huge ? edge : a / b;
}

/// The upper 32 bits of a double, subnormals as zero.
INLINE double gross(double a) {
  const Long upper = bits_of(a) & ~Long{0xffffffff};
  const bool nan = a != a, subnormal = (upper & (Long{0x7ff} << 52)) == 0;
  return double_of(nan ? Long{0x7fffffff} << 32 : subnormal ? upper & (Long{1} << 63) : upper);
}

}  // namespace
}  // namespace tailor::simulator::LANES_TIER
