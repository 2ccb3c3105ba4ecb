// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The 16-bit floating types: floats to an expression, rounded once to nearest even where they are stored. The
// conversions are integer arithmetic on 32-bit lanes, so every instruction set has a vector form of them. A NaN becomes
// the canonical one.
#pragma once

#if defined __F16C__
#include <immintrin.h>
#endif

#include "profiler/simulator/lanes/lanes_rounding.h"

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
};
struct bf16 : Plain<Word, float> {
  INLINE static float load(Word s) { return float_of_bfloat(s); }
  INLINE static Word store(float v) { return bfloat_bits(v); }
};
/// Two to a word: elements of 16 bits, 64 to a slot.
constexpr int pair_elements = 2 * lanes_per_warp;
struct f16x2 {
  using Stored = std::uint16_t;
  using Value = float;
  static constexpr int elements = pair_elements;
};
struct bf16x2 {
  using Stored = Word;
  using Value = float;
};
/// The bits of 16-bit values in pairs, without their meaning.
struct raw16x2 {
  using Stored = std::uint16_t;
  using Value = std::uint16_t;
  static constexpr int elements = pair_elements;
  INLINE static std::uint16_t load(std::uint16_t s) { return s; }
};

// Whole slots between f16 and float. With a conversion instruction only the NaN differs, and that is made canonical.
INLINE void widen_words(const Word* from, float* to) {
#if defined __AVX512F__
  for (int i = 0; i < lanes_per_warp; i += 16) {
    _mm512_store_ps(to + i,
                    _mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtepi32_epi16(0xffff, _mm512_load_si512(from + i))));
  }
#else
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) to[i] = float_of_half(from[i]);
#endif
}
INLINE void widen_pairs(const std::uint16_t* from, float* to) {
#if defined __AVX512F__
  for (int i = 0; i < pair_elements; i += 16) {
    _mm512_store_ps(to + i,
                    _mm512_maskz_cvtph_ps(0xffff, _mm256_load_si256(reinterpret_cast<const __m256i*>(from + i))));
  }
#elif defined __F16C__
  for (int i = 0; i < pair_elements; i += 8) {
    _mm256_store_ps(to + i, _mm256_cvtph_ps(_mm_load_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
#else
#pragma GCC ivdep
  for (int i = 0; i < pair_elements; ++i) to[i] = float_of_half(from[i]);
#endif
}
#if defined __AVX512F__
INLINE __m256i narrowed(const float* from) {
  const __m512 value = _mm512_load_ps(from);
  const __m512 quiet = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff));
  const __m512 canonical = _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), quiet);
  return _mm512_maskz_cvtps_ph(0xffff, canonical, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#elif defined __F16C__
INLINE __m128i narrowed(const float* from) {
  const __m256 value = _mm256_load_ps(from);
  const __m256 quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  const __m256 canonical = _mm256_blendv_ps(value, quiet, _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
  return _mm256_cvtps_ph(canonical, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#endif
INLINE void narrow_words(const float* from, Word* to) {
#if defined __AVX512F__
  for (int i = 0; i < lanes_per_warp; i += 16)
    _mm512_store_si512(to + i, _mm512_maskz_cvtepu16_epi32(0xffff, narrowed(from + i)));
#elif defined __F16C__
  for (int i = 0; i < lanes_per_warp; i += 8) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), _mm256_cvtepu16_epi32(narrowed(from + i)));
  }
#else
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) to[i] = half_bits(from[i]);
#endif
}
INLINE void narrow_pairs(const float* from, std::uint16_t* to) {
#if defined __AVX512F__
  for (int i = 0; i < pair_elements; i += 16) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + i), narrowed(from + i));
  }
#elif defined __F16C__
  for (int i = 0; i < pair_elements; i += 8) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to + i), narrowed(from + i));
  }
#else
#pragma GCC ivdep
  for (int i = 0; i < pair_elements; ++i) to[i] = static_cast<std::uint16_t>(half_bits(from[i]));
#endif
}

template <>
struct Source<f16> {
  alignas(64) float values[lanes_per_warp];
  INLINE Source(const Warp& warp, Slot slot) { widen_words(at<const Word>(warp, slot), values); }
  INLINE float operator[](int i) const { return values[i]; }
};
template <>
struct Source<f16x2> {
  alignas(64) float values[pair_elements];
  INLINE Source(const Warp& warp, Slot slot) { widen_pairs(at<const std::uint16_t>(warp, slot), values); }
  INLINE float operator[](int i) const { return values[i]; }
};

/// Words that inactive lanes keep.
template <bool masked>
struct MaskedWords {
  alignas(64) Word words[lanes_per_warp];
  Word* to;
  const Word* lanes;
  INLINE MaskedWords(const Warp& warp, Slot slot) : to(at<Word>(warp, slot)), lanes(warp.lanes) {}
  INLINE Word* destination() { return masked ? words : to; }
  INLINE void blend() {
    if constexpr (masked) {
#pragma GCC ivdep
      for (int i = 0; i < lanes_per_warp; ++i) to[i] = lanes[i] != 0 ? words[i] : to[i];
    }
  }
};
template <bool masked>
struct Target<f16, masked> : MaskedWords<masked> {
  alignas(64) float values[lanes_per_warp];
  using MaskedWords<masked>::MaskedWords;
  INLINE void put(int i, float value) { values[i] = value; }
  INLINE void finish() {
    narrow_words(values, this->destination());
    this->blend();
  }
};
template <bool masked>
struct Target<f16x2, masked> : MaskedWords<masked> {
  alignas(64) float values[pair_elements];
  using MaskedWords<masked>::MaskedWords;
  INLINE void put(int i, float value) { values[i] = value; }
  INLINE void finish() {
    narrow_pairs(values, reinterpret_cast<std::uint16_t*>(this->destination()));
    this->blend();
  }
};
template <bool masked>
struct Target<raw16x2, masked> : MaskedWords<masked> {
  using MaskedWords<masked>::MaskedWords;
  INLINE void put(int i, std::uint16_t value) { reinterpret_cast<std::uint16_t*>(this->destination())[i] = value; }
  INLINE void finish() { this->blend(); }
};

/// A bfloat in the upper half of a word: the value with its other bits rounded away.
INLINE Word upper_bfloat(float value) {
  const Word bits = bits_of(value);
  return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fff0000 : (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000;
}
template <>
struct Source<bf16x2> {
  const Word* from;
  INLINE Source(const Warp& warp, Slot slot) : from(at<const Word>(warp, slot)) {}
  INLINE float low(int i) const { return float_of(from[i] << 16); }
  INLINE float high(int i) const { return float_of(from[i] & 0xffff0000); }
};
INLINE float low_half(const Source<bf16x2>& pair, int i) { return pair.low(i); }
INLINE float high_half(const Source<bf16x2>& pair, int i) { return pair.high(i); }
INLINE int low_half(const Source<none>&, int) { return 0; }
INLINE int high_half(const Source<none>&, int) { return 0; }

/// Pairs of bfloats are two loops over whole words: a bfloat is the upper half of a float, so nothing is moved.
template <>
struct Loop<bf16x2> {
  template <class Row, bool masked>
  INLINE static void run(Warp& warp, const Micro& micro) {
    using S = typename Row::Types;
    const Source<typename S::A> a(warp, micro.a);
    const Source<typename S::B> b(warp, micro.b);
    const Source<typename S::C> c(warp, micro.c);
    Target<u32, masked> d(warp, micro.d);
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) {
      const float low = Row::of(low_half(a, i), low_half(b, i), low_half(c, i), 0, 0);
      const float high = Row::of(high_half(a, i), high_half(b, i), high_half(c, i), 0, 0);
      d.put(i, upper_bfloat(high) | upper_bfloat(low) >> 16);
    }
  }
};

// A slot's values as floats side by side, and back. Of bfloats in pairs first all lower ones.
template <class Tag>
struct Stage;
template <>
struct Stage<f32> {
  static constexpr int count = lanes_per_warp;
  INLINE static void load(const Word* from, float* to) {
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) to[i] = float_of(from[i]);
  }
  INLINE static void store(const float* from, Word* to) {
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) to[i] = bits_of(from[i]);
  }
};
template <>
struct Stage<f16> {
  static constexpr int count = lanes_per_warp;
  INLINE static void load(const Word* from, float* to) { widen_words(from, to); }
  INLINE static void store(const float* from, Word* to) { narrow_words(from, to); }
};
template <>
struct Stage<f16x2> {
  static constexpr int count = pair_elements;
  INLINE static void load(const Word* from, float* to) {
    widen_pairs(reinterpret_cast<const std::uint16_t*>(from), to);
  }
  INLINE static void store(const float* from, Word* to) { narrow_pairs(from, reinterpret_cast<std::uint16_t*>(to)); }
};
template <>
struct Stage<bf16> {
  static constexpr int count = lanes_per_warp;
  INLINE static void load(const Word* from, float* to) {
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) to[i] = float_of(from[i] << 16);
  }
  INLINE static void store(const float* from, Word* to) {
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) to[i] = bfloat_bits(from[i]);
  }
};
template <>
struct Stage<bf16x2> {
  static constexpr int count = pair_elements;
  INLINE static void load(const Word* from, float* to) {
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) {
      to[i] = float_of(from[i] << 16);
      to[i + lanes_per_warp] = float_of(from[i] & 0xffff0000);
    }
  }
  INLINE static void store(const float* from, Word* to) {
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) {
      to[i] = upper_bfloat(from[i + lanes_per_warp]) | upper_bfloat(from[i]) >> 16;
    }
  }
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
