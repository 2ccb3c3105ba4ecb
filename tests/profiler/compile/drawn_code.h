// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code drawn bit by bit: loops in a loop, arithmetic on the indices of lane, thread and block, lanes that part,
// and at its end products that are made as often as registers say. In: a seed. Out: a kernel for sm_80. Used by the
// tests of what is left out when launches are followed.
#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "profiler/compile/assembler.h"

namespace assembler {

/// Draws loops whose bodies read and write R0 to R5 and P0 to P3, and read R9 and R10, the turns of loops.
struct Drawn {
  std::mt19937_64 random;
  Assembler a{};

  std::uint64_t below(std::uint64_t n) { return random() % n; }
  std::uint64_t source() { return below(8) == 0 ? none : below(2) == 0 ? 9 + below(4) / 3 : below(6); }
  std::uint64_t some_predicate() { return below(3) == 0 ? 7 : below(4); }
  unsigned some_guard() { return below(5) != 0 ? always : static_cast<unsigned>(below(4) | below(2) << 3); }

  void arithmetic(unsigned guard) {
    // Lowest bits of additions, products, shifts, logic, comparisons, selections, minima, moves, with registers,
    // numbers.
    constexpr std::array<unsigned, 20> operations = {0x210, 0x810, 0x210, 0x810, 0x224, 0x824, 0x225,
                                                     0x819, 0x819, 0x219, 0x812, 0x812, 0x20c, 0x80c,
                                                     0x20c, 0x80c, 0x811, 0x207, 0x217, 0x202};
    const unsigned operation = operations[below(operations.size())], base = operation & 0x1ff;
    constexpr std::array<std::uint64_t, 10> numbers = {1,  2,          3,          7,          31,
                                                       40, 0x80000000, 0xffffffff, 0xfffffffc, 0x7fffffff};
    const bool number = operation >> 9 == 4;
    const std::uint64_t second = number ? numbers[below(numbers.size())] : source() | below(4) / 3 << 31;
    std::uint64_t modifiers = below(4) == 0 ? random() & random() & 0x1ff : 0;  // bits 72 to 80
    if (base == 0x12) modifiers = 0xc0;                                         // both
    if (base == 0x0c) modifiers = 0x10 | below(2) << 1 | below(8) << 4;         // less, and another; signed or not
    if (base == 0x19) modifiers = 6 | below(2) << 4 | below(2) << 8;            // of 32 bits; to the right; upper half
    const std::uint64_t low = Assembler::head(operation, guard) | below(6) << 16 | source() << 24 | second << 32;
    a.put(low, source() | modifiers << 8 | some_predicate() << 17 | some_predicate() << 20 | some_predicate() << 23 |
                   std::uint64_t{7} << 13 | std::uint64_t{7} << 4);
  }

  void body() {
    const std::uint64_t count = 1 + below(5);
    for (std::uint64_t i = 0; i < count; ++i) arithmetic(some_guard());
    if (below(2) == 0) a.load(20, 30, some_guard());
    if (below(3) != 0) return;
    // Some lanes go around a product, and all meet below.
    a.meet_at(a.here() + 3, 3);
    a.branch(a.here() + 2, static_cast<unsigned>(below(4)));
    a.multiply(21);
    a.meet(3);
  }

  /// As many products as the lower bits of a register say.
  void show(unsigned from) {
    a.both(11, from, 15);
    a.meet_at(a.here() + 5, 6);
    a.multiply(22);
    a.add(11, 11, ~std::uint32_t{0});
    a.below(6, 11, 16);
    a.branch(a.here() - 3, 6);
    a.meet(6);
  }
};

inline Assembler drawn_program(std::uint64_t seed) {
  Drawn drawn{std::mt19937_64(seed)};
  Assembler& a = drawn.a;
  constexpr std::array<unsigned, 3> sources = {lane_index, thread_index, block_index};
  for (unsigned to = 0; to < 6; ++to) {
    if (drawn.below(4) == 0)
      a.special(to, sources[drawn.below(3)]);
    else
      a.number(to, static_cast<std::uint32_t>(drawn.below(2) == 0 ? drawn.random() : drawn.below(40)));
  }
  for (unsigned to = 0; to < 4; ++to) a.below(to, to, static_cast<std::uint32_t>(drawn.below(40)));
  // R9 counts, R10 around it; where they begin and end are numbers, or what a lane, a warp or a block has.
  a.number(10, 0);
  const int outer = a.here();
  a.number(9, drawn.below(2) == 0 ? 0 : 0xfffffff0);
  if (drawn.below(3) == 0) a.special(9, sources[drawn.below(3)]);
  const std::uint32_t step = static_cast<std::uint32_t>(1 + drawn.below(3));
  Drawn inside{std::mt19937_64(seed + 1000)};
  inside.body();
  inside.a.add(9, 9, step);
  inside.a.below(4, 9, static_cast<std::uint32_t>(20 + drawn.below(90)));
  inside.a.branch(0, 4);
  const int end = a.here() + 1 + inside.a.here();
  a.meet_at(end, 5);
  a.code.insert(a.code.end(), inside.a.code.begin(), inside.a.code.end());
  a.meet(5);
  drawn.body();
  a.add(10, 10, 1);
  a.below(5, 10, static_cast<std::uint32_t>(2 + drawn.below(20)));
  if (drawn.below(2) == 0) a.branch(outer, 5);
  for (unsigned from = 0; from < 6; ++from) drawn.show(from);
  a.load(23, 30, static_cast<unsigned>(drawn.below(4)));
  a.exit();
  return a;
}

}  // namespace assembler
