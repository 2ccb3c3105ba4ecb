// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for extended precision and for vectors of registers, made from opcodes_carry.def and opcodes_pack.def. Sums
// read or write a carry, which is the first slot of the list, 0 or 1 in each lane. Packing turns narrow registers into
// one wide register and back: the list holds the parts, low first; a part that is no_slot is not written.
#include "profiler/simulator/lanes/lanes_core.h"

namespace tailor::simulator::LANES_TIER {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

INLINE Word high_unsigned(Word a, Word b) { return static_cast<Word>((Long{a} * b) >> 32); }
INLINE Word high_signed(Word a, Word b) {
  return static_cast<Word>((Big{static_cast<Int>(a)} * static_cast<Int>(b)) >> 32);
}
INLINE Long high_unsigned(Long a, Long b) { return static_cast<Long>((Wide{a} * b) >> 64); }
INLINE Long high_signed(Long a, Long b) {
  return static_cast<Long>((SignedWide{static_cast<Big>(a)} * static_cast<Big>(b)) >> 64);
}

template <class V>
struct Carried {
  V value;
  Word carry;
};
template <class V>
INLINE Carried<V> sum(V a, V b, Word k) {
  const V partial = a + b, whole = partial + k;
  return {whole, static_cast<Word>(partial < a) | static_cast<Word>(whole < partial)};
}
template <class V>
INLINE Carried<V> difference(V a, V b, Word k) {
  const V partial = a - b, whole = partial - k;
  return {whole, static_cast<Word>(a < b) | static_cast<Word>(partial < k)};
}

template <class Row, bool masked>
INLINE void each_carry(Warp& warp, const Micro& micro) {
  using S = typename Row::Types;
  const Source<typename S::A> a(warp, micro.a);
  const Source<typename S::B> b(warp, micro.b);
  const Source<typename S::C> c(warp, micro.c);
  Word* carry = at<Word>(warp, warp.lists[micro.list]);
  Target<typename S::D, masked> d(warp, micro.d);
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) {
    const auto result = Row::of(a[i], b[i], c[i], carry[i]);
    if constexpr (Row::writes_carry) {
      d.put(i, result.value);
      carry[i] = !masked || warp.lanes[i] != 0 ? result.carry : carry[i];
    } else {
      d.put(i, result);
    }
  }
}

template <class Whole, class Part, int parts, bool masked>
INLINE void pack(Warp& warp, const Micro& micro) {
  constexpr int width = sizeof(typename Whole::Stored) * 8 == 64 ? 64 / parts
                        : parts == 4                             ? 8
                        : __is_same(Whole, u16)                  ? 8
                                                                 : 16;
  const Slot* list = warp.lists + micro.list;
  alignas(64) typename Whole::Stored packed[lanes_per_warp] = {};
  for (int part = 0; part < parts; ++part) {
    const Source<Part> from(warp, list[part]);
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) {
      packed[i] |= static_cast<typename Whole::Stored>(from[i]) << (width * part);
    }
  }
  Target<Whole, masked> d(warp, micro.d);
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) d.put(i, packed[i]);
}

template <class Whole, class Part, int parts, bool masked>
INLINE void unpack(Warp& warp, const Micro& micro) {
  constexpr int width = sizeof(typename Whole::Stored) * 8 == 64 ? 64 / parts
                        : parts == 4                             ? 8
                        : __is_same(Whole, u16)                  ? 8
                                                                 : 16;
  const Slot* list = warp.lists + micro.list;
  const Source<Whole> from(warp, micro.a);
  alignas(64) typename Whole::Stored whole[lanes_per_warp];  // a part may lie in the same slot
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) whole[i] = from[i];
  for (int part = 0; part < parts; ++part) {
    if (list[part] == no_slot) continue;
    Target<Part, masked> d(warp, list[part]);
#pragma GCC ivdep
    for (int i = 0; i < lanes_per_warp; ++i) d.put(i, Part::load(static_cast<Word>(whole[i] >> (width * part))));
  }
}

}  // namespace

#define CARRY_HANDLERS(id, writes, d, sources, ...)                                                                 \
  namespace {                                                                                                       \
  struct id##_row {                                                                                                 \
    using Types = Signature<d sources>;                                                                             \
    static constexpr bool writes_carry = writes;                                                                    \
    INLINE static auto of([[maybe_unused]] typename Types::A::Value a, [[maybe_unused]] typename Types::B::Value b, \
                          [[maybe_unused]] typename Types::C::Value c, [[maybe_unused]] Word k) {                   \
      return __VA_ARGS__;                                                                                           \
    }                                                                                                               \
  };                                                                                                                \
  }                                                                                                                 \
  void id##_full(Warp& warp, const Micro& micro) { each_carry<id##_row, false>(warp, micro); }                      \
  void id##_some(Warp& warp, const Micro& micro) { each_carry<id##_row, true>(warp, micro); }
#define CARRY_IN(id, keys, pipe, d, sources, ...) CARRY_HANDLERS(id, false, d, sources, __VA_ARGS__)
#define CARRY_OUT(id, keys, pipe, d, sources, ...) CARRY_HANDLERS(id, true, d, sources, __VA_ARGS__)
#define PART(type) type
#define PACK(id, keys, pipe, whole, part, parts)                                                        \
  void id##_full(Warp& warp, const Micro& micro) { pack<whole, PART part, parts, false>(warp, micro); } \
  void id##_some(Warp& warp, const Micro& micro) { pack<whole, PART part, parts, true>(warp, micro); }
#define UNPACK(id, keys, pipe, part, whole, parts)                                                        \
  void id##_full(Warp& warp, const Micro& micro) { unpack<PART whole, part, parts, false>(warp, micro); } \
  void id##_some(Warp& warp, const Micro& micro) { unpack<PART whole, part, parts, true>(warp, micro); }
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
