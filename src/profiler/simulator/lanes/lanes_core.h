// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How a row of opcodes.def becomes two handlers: its expression runs in a loop over the lanes of its slots, once for
// warps with all lanes active and once blending with what inactive lanes held. The loops are left to the compiler's
// vectoriser: no branches, one load per operand, one store.
//
// Only files compiled once per instruction set include this. Everything is nameless, so that no function of one
// instruction set can stand in for another's; nothing from the standard library that could emit a shared function is
// used. Values are kept in tags: `u16` reads the low half of a word, `f16` hands the expression a float.
#pragma once

#include <cstdint>

#include "profiler/simulator/lanes/micro.h"

namespace tailor::simulator::LANES_TIER {
namespace {

using Word = std::uint32_t;
using Int = std::int32_t;
using Long = std::uint64_t;
using Big = std::int64_t;

/// Of every function here: handlers hold their whole loop.
#define INLINE [[gnu::always_inline]] inline

INLINE float float_of(Word bits) { return __builtin_bit_cast(float, bits); }
INLINE Word bits_of(float value) { return __builtin_bit_cast(Word, value); }
INLINE double double_of(Long bits) { return __builtin_bit_cast(double, bits); }
INLINE Long bits_of(double value) { return __builtin_bit_cast(Long, value); }
INLINE Word mask(bool condition) { return condition ? ~Word{0} : Word{0}; }

/// A tag: what a slot holds (Stored), what an expression sees (Value), and the way between them.
template <class S, class V = S>
struct Plain {
  using Stored = S;
  using Value = V;
  static constexpr int elements = lanes_per_warp;
  INLINE static Value load(Stored s) { return static_cast<Value>(s); }
  INLINE static Stored store(Value v) { return static_cast<Stored>(v); }
};
struct pred : Plain<Word> {};
struct u32 : Plain<Word> {};
struct s32 : Plain<Word, Int> {};
struct u64 : Plain<Long> {};
struct s64 : Plain<Long, Big> {};
struct f32 : Plain<float> {};
struct f64 : Plain<double> {};
struct u16 : Plain<Word> {
  INLINE static Word load(Word s) { return s & 0xffff; }
};
struct u8 : Plain<Word> {
  INLINE static Word load(Word s) { return s & 0xff; }
};
struct s16 : Plain<Word, Int> {
  INLINE static Int load(Word s) { return static_cast<Int>(s << 16) >> 16; }
};
struct s8 : Plain<Word, Int> {
  INLINE static Int load(Word s) { return static_cast<Int>(s << 24) >> 24; }
};
struct none {
  using Stored = int;
  using Value = int;
};

template <class T>
INLINE T* at(const Warp& warp, Slot slot) {
  return reinterpret_cast<T*>(
      __builtin_assume_aligned(warp.bank[slot >> slot_bank_shift] + (slot & slot_offset_mask), 128));
}

/// An operand that is read.
template <class Tag>
struct Source {
  const typename Tag::Stored* from;
  INLINE Source(const Warp& warp, Slot slot) : from(at<const typename Tag::Stored>(warp, slot)) {}
  INLINE typename Tag::Value operator[](int i) const { return Tag::load(from[i]); }
};
template <>
struct Source<none> {
  INLINE Source(const Warp&, Slot) {}
  INLINE int operator[](int) const { return 0; }
};

/// The operand that is written; `masked`: only in active lanes.
template <class Tag, bool masked>
struct Target {
  typename Tag::Stored* to;
  const Word* lanes;
  INLINE Target(const Warp& warp, Slot slot) : to(at<typename Tag::Stored>(warp, slot)), lanes(warp.lanes) {}
  INLINE void put(int i, typename Tag::Value value) {
    const typename Tag::Stored stored = Tag::store(value);
    if constexpr (masked) {
      to[i] = lanes[i] != 0 ? stored : to[i];
    } else {
      to[i] = stored;
    }
  }
  INLINE void finish() {}
};

/// Types of a row, written as a function type over tags: u64(u32, u32).
template <class Function>
struct Signature;
template <class R, class T0, class T1 = none, class T2 = none, class T3 = none>
struct Operands {
  using D = R;
  using A = T0;
  using B = T1;
  using C = T2;
  using E = T3;
};
template <class R, class... T>
struct Signature<R(T...)> : Operands<R, T...> {};

/// The fourth source is the first slot of the list.
template <class Tag>
INLINE Slot fourth(const Warp& warp, const Micro& micro) {
  if constexpr (__is_same(Tag, none)) {
    return no_slot;
  } else {
    return warp.lists[micro.list];
  }
}

/// The loop of a row; types that lie otherwise in a slot have their own.
template <class Tag>
struct Loop {
  template <class Row, bool masked>
  INLINE static void run(Warp& warp, const Micro& micro) {
    using S = typename Row::Types;
    const Source<typename S::A> a(warp, micro.a);
    const Source<typename S::B> b(warp, micro.b);
    const Source<typename S::C> c(warp, micro.c);
    const Source<typename S::E> e(warp, fourth<typename S::E>(warp, micro));
    Target<Tag, masked> d(warp, micro.d);
    const Word x = micro.extra;
#pragma GCC ivdep
    for (int i = 0; i < Tag::elements; ++i) d.put(i, Row::of(a[i], b[i], c[i], e[i], x));
    d.finish();
  }
};

template <class Row, bool masked>
INLINE void each_lane(Warp& warp, const Micro& micro) {
  Loop<typename Row::Types::D>::template run<Row, masked>(warp, micro);
}

}  // namespace
}  // namespace tailor::simulator::LANES_TIER

/// What a family's file makes of its rows.
#define LANE_HANDLERS(id, keys, pipe, d, sources, ...)                                                                \
  namespace {                                                                                                         \
  struct id##_row {                                                                                                   \
    using Types = Signature<d sources>;                                                                               \
    INLINE static typename Types::D::Value of([[maybe_unused]] typename Types::A::Value a,                            \
                                              [[maybe_unused]] typename Types::B::Value b,                            \
                                              [[maybe_unused]] typename Types::C::Value c,                            \
                                              [[maybe_unused]] typename Types::E::Value e, [[maybe_unused]] Word x) { \
      return __VA_ARGS__;                                                                                             \
    }                                                                                                                 \
  };                                                                                                                  \
  }                                                                                                                   \
  void id##_full(Warp& warp, const Micro& micro) { each_lane<id##_row, false>(warp, micro); }                         \
  void id##_some(Warp& warp, const Micro& micro) { each_lane<id##_row, true>(warp, micro); }
