// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for logic, shifts, bit fields and bytes, made from opcodes_bits.def. In: slots of 32 lanes. Out:
// slots of 32 lanes. Compiled once per instruction set; called by the machine through the table of
// lanes_table.cpp.
#include "profiler/simulator/lanes/lanes_core.h"

namespace tailor::simulator::LANES_TIER {
namespace {

constexpr Long sign64 = Long{1} << 63;
constexpr Long exponent64 = Long{0x7ff} << 52;
constexpr Long mantissa64 = (Long{1} << 52) - 1;

/// Each bit of a, b and c picks one bit of the table.
INLINE Word looked_up(Word a, Word b, Word c, Word table) {
  const auto row = [table](int k) { return 0u - ((table >> k) & 1); };
  const auto either = [](Word choice, Word one, Word zero) { return (choice & one) | (~choice & zero); };
  const Word without_a = either(b, either(c, row(3), row(2)), either(c, row(1), row(0)));
  const Word with_a = either(b, either(c, row(7), row(6)), either(c, row(5), row(4)));
  return either(a, with_a, without_a);
}

INLINE Long joined(Word low, Word high) { return (Long{high} << 32) | low; }
INLINE Word ones_below(Word count) { return count > 31 ? ~0u : (1u << (count & 31)) - 1; }
INLINE Long ones_below64(Word count) { return count > 63 ? ~Long{0} : (Long{1} << (count & 63)) - 1; }
INLINE Int sign_extended(Word a, Word length) {
  const Word up = length > 31 ? 0 : (32 - length) & 31;
  return length == 0 ? 0 : static_cast<Int>(a << up) >> up;
}

INLINE Word unsigned_field(Word a, Word position, Word length) {
  return position > 31 ? 0 : (a >> (position & 31)) & ones_below(length);
}
INLINE Long unsigned_field(Long a, Word position, Word length) {
  return position > 63 ? 0 : (a >> (position & 63)) & ones_below64(length);
}
INLINE Int signed_field(Int a, Word position, Word length) {
  const Int moved = a >> (position > 31 ? 31 : position);
  return position + length > 32 && length != 0 ? moved : sign_extended(static_cast<Word>(moved), length);
}
INLINE Big signed_field(Big a, Word position, Word length) {
  const Big moved = a >> (position > 63 ? 63 : position);
  const Word up = (64 - length) & 63;
  const Big cut = static_cast<Big>(static_cast<Long>(moved) << up) >> up;
  return length == 0 ? 0 : position + length > 63 ? moved : cut;
}
INLINE Word inserted(Word a, Word b, Word position, Word length) {
  const Word field = position > 31 ? 0 : ones_below(length) << (position & 31);
  return (b & ~field) | ((a << (position & 31)) & field);
}
INLINE Long inserted(Long a, Long b, Word position, Word length) {
  const Long field = position > 63 ? 0 : ones_below64(length) << (position & 63);
  return (b & ~field) | ((a << (position & 63)) & field);
}

INLINE Word reversed(Word a) {
  a = ((a >> 1) & 0x55555555) | ((a & 0x55555555) << 1);
  a = ((a >> 2) & 0x33333333) | ((a & 0x33333333) << 2);
  a = ((a >> 4) & 0x0f0f0f0f) | ((a & 0x0f0f0f0f) << 4);
  a = ((a >> 8) & 0x00ff00ff) | ((a & 0x00ff00ff) << 8);
  return (a >> 16) | (a << 16);
}
INLINE Word low(Long a) { return static_cast<Word>(a); }
INLINE Word top(Long a) { return static_cast<Word>(a >> 32); }
INLINE Long reversed(Long a) { return joined(reversed(top(a)), reversed(low(a))); }
INLINE Word ones(Word a) {
  a -= (a >> 1) & 0x55555555;
  a = (a & 0x33333333) + ((a >> 2) & 0x33333333);
  return (((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}
INLINE Word ones(Long a) { return ones(low(a)) + ones(top(a)); }
INLINE Word leading_zeros(Word a) {
  a |= a >> 1;
  a |= a >> 2;
  a |= a >> 4;
  a |= a >> 8;
  a |= a >> 16;
  return 32 - ones(a);
}
INLINE Word leading_zeros(Long a) { return top(a) != 0 ? leading_zeros(top(a)) : 32 + leading_zeros(low(a)); }
INLINE Word without_sign(Word a) { return a ^ static_cast<Word>(static_cast<Int>(a) >> 31); }
INLINE Long without_sign(Long a) { return a ^ static_cast<Long>(static_cast<Big>(a) >> 63); }
/// bfind.shiftamt: how far left the found bit has to move to the top; all ones when there is none.
INLINE Word shift_amount(Word a) { return a == 0 ? ~0u : leading_zeros(a); }
INLINE Word shift_amount(Long a) { return a == 0 ? ~0u : leading_zeros(a); }

/// fns: the place of the offset-th set bit counted from `base` upwards (downwards when negative); all ones: none.
INLINE Word nth_set(Word a, Word base, Int offset) {
  const Int step = offset < 0 ? -1 : 1;
  Int left = offset == 0 ? 1 : offset < 0 ? -offset : offset;
  for (Int place = static_cast<Int>(base & 31); place >= 0 && place < 32; place += step) {
    if ((a >> place) & 1) --left;
    if (left == 0) return static_cast<Word>(place);
    if (offset == 0) break;
  }
  return ~0u;
}

/// One byte of eight; bit 3 of the selector asks for its sign in every bit.
INLINE Word picked(Long bytes, Word selector) {
  const Word byte = static_cast<Word>(bytes >> (8 * (selector & 7))) & 0xff;
  const Word sign = (byte >> 7) * 0xff;
  return (selector & 8) != 0 ? sign : byte;
}
INLINE Word permuted(Long bytes, Word selectors) {
  return picked(bytes, selectors) | picked(bytes, selectors >> 4) << 8 | picked(bytes, selectors >> 8) << 16 |
         picked(bytes, selectors >> 12) << 24;
}
/// Four bytes from `first` on, each `step` further; modulo eight.
INLINE Word selected(Long bytes, Word first, Word step) {
  const auto byte = [bytes](Word k) { return static_cast<Word>(bytes >> (8 * (k & 7))) & 0xff; };
  return byte(first) | byte(first + step) << 8 | byte(first + 2 * step) << 16 | byte(first + 3 * step) << 24;
}
/// Bytes 0..3, none below the edge (left) or above it (right).
INLINE Word edge_left(Long bytes, Word edge) {
  const auto byte = [=](Word k) { return static_cast<Word>(bytes >> (8 * (k < edge ? edge : k))) & 0xff; };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}
INLINE Word edge_right(Long bytes, Word edge) {
  const auto byte = [=](Word k) { return static_cast<Word>(bytes >> (8 * (k > edge ? edge : k))) & 0xff; };
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}

/// One selector for all lanes and no signs, as nearly always: each byte then comes from one operand by one shift.
template <class Row, bool masked>
INLINE void each_permuted(Warp& warp, const Micro& micro) {
  const Word* words[2] = {at<const Word>(warp, micro.a), at<const Word>(warp, micro.b)};
  const Word* selectors = at<const Word>(warp, micro.c);
  const Word selector = selectors[0] & 0xffff;
  Word different = selector & 0x8888;
  for (int i = 0; i < lanes_per_warp; ++i) different |= (selectors[i] & 0xffff) ^ selector;
  if (different != 0) return each_lane<Row, masked>(warp, micro);
  const Word* from[4];
  Word right[4];
  for (int k = 0; k < 4; ++k) {
    from[k] = words[(selector >> (4 * k + 2)) & 1];
    right[k] = 8 * ((selector >> (4 * k)) & 3);
  }
  Target<u32, masked> d(warp, micro.d);
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) {
    const Word low = ((from[0][i] >> right[0]) & 0xff) | ((from[1][i] >> right[1]) & 0xff) << 8;
    const Word high = ((from[2][i] >> right[2]) & 0xff) << 16 | (from[3][i] >> right[3]) << 24;
    d.put(i, low | high);
  }
}

}  // namespace

#define BITS LANE_HANDLERS
#define PERMUTE(id, keys, pipe, d, sources, ...)                                                  \
  namespace {                                                                                     \
  struct id##_row {                                                                               \
    using Types = Signature<d sources>;                                                           \
    INLINE static Word of(Word a, Word b, Word c, int, Word) { return __VA_ARGS__; }              \
  };                                                                                              \
  }                                                                                               \
  void id##_full(Warp& warp, const Micro& micro) { each_permuted<id##_row, false>(warp, micro); } \
  void id##_some(Warp& warp, const Micro& micro) { each_permuted<id##_row, true>(warp, micro); }
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
