// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for arithmetic in f16, bf16 and pairs of them, made from opcodes_half.def. In: slots of 32 lanes. Out: slots
// of 32 lanes. Sums, differences and products of 16-bit values rounded to float and then to 16 bits are rounded right;
// a fused product needs a sticky last bit in between.
#include "profiler/simulator/lanes/lanes_half.h"

#include "profiler/simulator/lanes/lanes_functions.h"

namespace tailor::simulator::LANES_TIER {
namespace {

#if defined __AVX512F__
/// Rounded down and up, of two different neighbours one is odd; equal ones are exact.
template <class Tag>
INLINE void fuse(float* a, const float* b, const float* c) {
  for (int i = 0; i < Stage<Tag>::count; i += 16) {
    const __m512 x = _mm512_load_ps(a + i), y = _mm512_load_ps(b + i), z = _mm512_load_ps(c + i);
    const __m512 down = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_fmadd_round_ps(x, y, z, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 odd = _mm512_test_epi32_mask(_mm512_castps_si512(down), _mm512_set1_epi32(1));
    _mm512_store_ps(a + i, _mm512_mask_mov_ps(up, odd, down));
  }
}
#else
/// The product of two halves is exact in float, that of two bfloats in double, also where a float over- or underflows.
INLINE float odd_fused_half(float a, float b, float c) {
  const float product = a * b, sum = product + c, part = sum - product;
  const float error = (product - (sum - part)) + (c - part);
  const Word bits = bits_of(sum);
  const bool outward = (error > 0) == (sum > 0);
  const bool inexact = (error > 0 || error < 0) && (bits & 1) == 0;
  return float_of(!inexact ? bits : outward ? bits + 1 : bits - 1);
}
INLINE float odd_fused_bfloat(float a, float b, float c) {
  return odd_float(odd_sum(static_cast<double>(a) * static_cast<double>(b), c));
}
template <class Tag>
INLINE void fuse(float* a, const float* b, const float* c) {
#pragma GCC ivdep
  for (int i = 0; i < Stage<Tag>::count; ++i) {
    if constexpr (__is_same(Tag, f16) || __is_same(Tag, f16x2)) {
      a[i] = odd_fused_half(a[i], b[i], c[i]);
    } else {
      a[i] = odd_fused_bfloat(a[i], b[i], c[i]);
    }
  }
}
#endif

template <class Tag, class Row, bool masked>
INLINE void each_fused(Warp& warp, const Micro& micro) {
  constexpr int count = Stage<Tag>::count;
  alignas(64) float a[count], b[count], c[count];
  Stage<Tag>::load(at<const Word>(warp, micro.a), a);
  Stage<Tag>::load(at<const Word>(warp, micro.b), b);
  Stage<Tag>::load(at<const Word>(warp, micro.c), c);
  fuse<Tag>(a, b, c);
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) a[i] = Row::of(a[i]);
  MaskedWords<masked> d(warp, micro.d);
  Stage<Tag>::store(a, d.destination());
  d.blend();
}

/// `flush`: subnormal results become zero.
template <class Tag, bool flush, bool masked>
INLINE void each_exp2(Warp& warp, const Micro& micro) {
  constexpr int count = Stage<Tag>::count;
  alignas(64) float a[count];
  Stage<Tag>::load(at<const Word>(warp, micro.a), a);
  exp2_all(a, count);
#pragma GCC ivdep
  for (int i = 0; flush && i < count; ++i) a[i] = flushed(a[i]);
  MaskedWords<masked> d(warp, micro.d);
  Stage<Tag>::store(a, d.destination());
  d.blend();
}

// Order of 16-bit floating values as integers: with the size bits of negative ones inverted, bits order as values do.
using Half = std::uint16_t;
INLINE std::int16_t order_of(Half h) {
  const auto bits = static_cast<std::int16_t>(h);
  return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7fff));
}
INLINE bool unordered(Half h, Half infinite) { return static_cast<Half>(h & 0x7fff) > infinite; }
INLINE Half size_of(Half h) { return h & 0x7fff; }
INLINE Half least(Half a, Half b) { return order_of(a) < order_of(b) ? a : b; }
INLINE Half most(Half a, Half b) { return order_of(a) < order_of(b) ? b : a; }
INLINE Half number_of(Half a, Half b, Half chosen, Half infinite) {
  const Half other = unordered(a, infinite) ? b : unordered(b, infinite) ? a : chosen;
  return unordered(other, infinite) ? Half{0x7fff} : other;
}
INLINE Half nan_or(Half a, Half b, Half chosen, Half infinite) {
  const Half first = unordered(a, infinite) ? Half{0x7fff} : chosen;
  return unordered(b, infinite) ? Half{0x7fff} : first;
}
/// The sign is the product's.
INLINE Half signed_as(Half a, Half b, Half value, Half infinite) {
  return unordered(value, infinite) ? value : static_cast<Half>(value | ((a ^ b) & 0x8000));
}

template <class Tag>
INLINE float half_of(Word pair, Word upper) {
  return Tag::load(upper != 0 ? pair >> 16 : pair);
}

}  // namespace

#define HALF LANE_HANDLERS
#define EXP2(id, keys, pipe, d, sources, ...)                                                       \
  void id##_full(Warp& warp, const Micro& micro) { each_exp2<d, __VA_ARGS__, false>(warp, micro); } \
  void id##_some(Warp& warp, const Micro& micro) { each_exp2<d, __VA_ARGS__, true>(warp, micro); }
#define FUSED(id, keys, pipe, d, sources, ...)                                                    \
  namespace {                                                                                     \
  struct id##_row {                                                                               \
    INLINE static float of(float v) { return __VA_ARGS__; }                                       \
  };                                                                                              \
  }                                                                                               \
  void id##_full(Warp& warp, const Micro& micro) { each_fused<d, id##_row, false>(warp, micro); } \
  void id##_some(Warp& warp, const Micro& micro) { each_fused<d, id##_row, true>(warp, micro); }
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
