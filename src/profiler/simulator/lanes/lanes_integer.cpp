// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for integer arithmetic, made from opcodes_integer.def. In: slots of 32 lanes. Out: slots of 32
// lanes. Everything wraps, as in PTX: signed sums go through unsigned ones. Compiled once per instruction
// set.
#include "profiler/simulator/lanes/lanes_core.h"

namespace tailor::simulator::LANES_TIER {
namespace {

__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

INLINE Word high(Long product) { return static_cast<Word>(product >> 32); }
INLINE Int high(Big product) { return static_cast<Int>(product >> 32); }
INLINE Long high_product(Long a, Long b) { return static_cast<Long>((Wide{a} * b) >> 64); }
INLINE Big high_product(Big a, Big b) { return static_cast<Big>((SignedWide{a} * b) >> 64); }

INLINE Word wrap(Word a, Word b) { return a + b; }
INLINE Int wrap(Int a, Int b) { return static_cast<Int>(static_cast<Word>(a) + static_cast<Word>(b)); }
INLINE Int wrap(Word a, Int b) { return static_cast<Int>(a + static_cast<Word>(b)); }
INLINE Int wrap(Int a, Word b) { return static_cast<Int>(static_cast<Word>(a) + b); }
INLINE Long wrap(Long a, Long b) { return a + b; }
INLINE Big wrap(Big a, Big b) { return static_cast<Big>(static_cast<Long>(a) + static_cast<Long>(b)); }
INLINE Big wrap(Big a, Long b) { return static_cast<Big>(static_cast<Long>(a) + b); }

INLINE Int clamp_s32(Big value) {
  return static_cast<Int>(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}
INLINE Int positive(Int value) { return value > 0 ? value : 0; }
INLINE Word low24(Word a) { return a & 0xffffff; }
INLINE Int low24(Int a) { return static_cast<Int>(static_cast<Word>(a) << 8) >> 8; }

INLINE Int magnitude(Int a) { return a < 0 ? static_cast<Int>(0u - static_cast<Word>(a)) : a; }
INLINE Big magnitude(Big a) { return a < 0 ? static_cast<Big>(Long{0} - static_cast<Long>(a)) : a; }

INLINE Word distance(Word a, Word b) { return a < b ? b - a : a - b; }
INLINE Word distance(Int a, Int b) {
  return a < b ? static_cast<Word>(b) - static_cast<Word>(a) : static_cast<Word>(a) - static_cast<Word>(b);
}
INLINE Long distance(Long a, Long b) { return a < b ? b - a : a - b; }
INLINE Long distance(Big a, Big b) {
  return a < b ? static_cast<Long>(b) - static_cast<Long>(a) : static_cast<Long>(a) - static_cast<Long>(b);
}

// 32-bit quotients through doubles are exact: a quotient is nearer than 2^-32 of itself to an integer only if it is
// one.
INLINE Word quotient(Word a, Word b) {
  const double ratio = static_cast<double>(a) / (b == 0 ? 1 : static_cast<double>(b));
  return b == 0 ? ~0u : static_cast<Word>(static_cast<Big>(ratio));
}
INLINE Int quotient(Int a, Int b) {
  const double ratio = static_cast<double>(a) / (b == 0 ? 1 : static_cast<double>(b));
  return b == 0 ? -1 : static_cast<Int>(static_cast<Big>(ratio));
}
INLINE Word remainder(Word a, Word b) { return b == 0 ? a : a - quotient(a, b) * b; }
INLINE Int remainder(Int a, Int b) {
  const Word product = static_cast<Word>(quotient(a, b)) * static_cast<Word>(b);
  return b == 0 ? a : static_cast<Int>(static_cast<Word>(a) - product);
}
INLINE Long quotient(Long a, Long b) { return b == 0 ? ~Long{0} : a / b; }
INLINE Long remainder(Long a, Long b) { return b == 0 ? a : a % b; }
INLINE Big quotient(Big a, Big b) {
  return b == 0 ? -1 : b == -1 ? static_cast<Big>(Long{0} - static_cast<Long>(a)) : a / b;
}
INLINE Big remainder(Big a, Big b) { return b == 0 ? a : b == -1 ? 0 : a % b; }

INLINE Word unsigned_half(Word a, int k) { return (a >> (16 * k)) & 0xffff; }
INLINE Int signed_half(Word a, int k) { return static_cast<Int>(a << (16 - 16 * k)) >> 16; }
INLINE Word halves(Word low, Word high) { return (low & 0xffff) | (high & 0xffff0000); }
INLINE Int half_u(Word a, int k) { return static_cast<Int>(unsigned_half(a, k)); }
INLINE Int half_s(Word a, int k) { return signed_half(a, k); }
INLINE Int byte_u(Word a, int k) { return static_cast<Int>((a >> (8 * k)) & 0xff); }
INLINE Int byte_s(Word a, int k) { return static_cast<Int>(a << (24 - 8 * k)) >> 24; }

}  // namespace

#define INTEGER LANE_HANDLERS
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
