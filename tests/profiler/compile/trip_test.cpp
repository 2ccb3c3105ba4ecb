// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Trips of loops that are left out. The oracle is the same launch with every trip executed: all that is said of it must
// be equal, for loops whose bodies are drawn bit by bit, for loops inside of loops, and for loops that lanes leave one
// by one. When a comparison changes is held against trying every trip. Part of the suite `profiler`; no compiler is
// needed.
#include "profiler/compile/trip.h"

#include <doctest/doctest.h>

#include <random>

#include "profiler/compile/assembler.h"

using namespace assembler;

namespace {

ir::MachineWork followed(const Assembler& made, ir::LaunchShape shape, bool every_trip, int arch = 80) {
  return machine_work(made.code, arch, {shape, nullptr, false, every_trip});
}

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
    if (base == 0x19) modifiers = 6 | below(2) << 4;                            // of 32 bits; to the right
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

Assembler drawn_program(std::uint64_t seed) {
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

}  // namespace

TEST_CASE("a launch says the same whether trips of its loops are left out or not, for drawn bodies") {
  const ir::LaunchShape shape{.grid = {3, 1, 1}, .block = {64, 1, 1}};
  int counted = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    const Assembler program = drawn_program(seed);
    const ir::MachineWork all = followed(program, shape, true);
    if (!all.counted) continue;  // one that does not end; with trips left out it may be found to do
    ++counted;
    CHECK(followed(program, shape, false) == all);
  }
  CHECK(counted > 160);
}

TEST_CASE(
    "a warp that differs from the others of its block is counted once, in a block of many warps and in many blocks") {
  // Warps below a number of the block make a product; of the grid, blocks below a number.
  for (const auto& [below, blocks] :
       {std::pair(32u, 4000u), std::pair(64u, 4000u), std::pair(32u, 1234u), std::pair(512u, 77u)}) {
    Assembler a;
    a.special(0, thread_index);
    a.special(1, block_index);
    a.below(0, 0, below);
    a.below(1, 1, blocks);
    a.branch(a.here() + 3, unless(0));
    a.branch(a.here() + 2, unless(1));
    a.load(8, 2);
    a.exit();
    CAPTURE(below);
    CAPTURE(blocks);
    const ir::LaunchShape shape{.grid = {4000, 1, 1}, .block = {512, 1, 1}};
    const ir::MachineWork work = followed(a, shape, false);
    REQUIRE(work.counted);
    CHECK(work.requests.global_loads == std::int64_t{below} / 32 * blocks);
    CHECK(work.warps_run <= 200);
  }
}

TEST_CASE("what a trip makes of its number decides as often as it does, and is right behind the loop") {
  // The condition is at the head, so the way out sets nothing anew.
  const auto loop = [](const auto& body) {
    Assembler inside;
    body(inside);
    Assembler a;
    a.number(9, 0);
    a.number(2, 3);
    const int head = a.here();
    a.below(4, 9, 90);
    a.branch(a.here() + 3 + inside.here(), unless(4));
    a.code.insert(a.code.end(), inside.code.begin(), inside.code.end());
    a.add(9, 9, 1);
    a.branch(head);
    return a;
  };
  const ir::LaunchShape one_warp{.grid = {1, 1, 1}, .block = {32, 1, 1}};
  for (const bool first : {true, false}) {
    Assembler a = loop([&](Assembler& body) {
      body.product(1, first ? 9 : 2, first ? 2 : 9);
      body.below(0, 1, 100);
      body.load(8, 30, 0);
    });
    a.exit();
    CHECK(followed(a, one_warp, false).requests.global_loads == 34);
  }
  Assembler by_bits = loop([](Assembler& body) {
    body.both(1, 9, 7);
    body.below(0, 1, 3);
    body.load(8, 30, 0);
  });
  by_bits.exit();
  CHECK(followed(by_bits, one_warp, false).requests.global_loads == 11 * 3 + 2);
  Assembler behind = loop([](Assembler& body) { body.both(1, 9, 63); });
  const int again = behind.here();
  behind.load(8, 30);
  behind.add(1, 1, ~std::uint32_t{0});
  behind.below(0, 1, 64);
  behind.branch(again, 0);
  behind.exit();
  CHECK(followed(behind, one_warp, false).requests.global_loads == (89 & 63) + 1);
}

TEST_CASE("a comparison of moving numbers changes where trying every trip says it does") {
  std::mt19937_64 random(5);
  const auto edge = [&] {
    constexpr std::array<std::uint32_t, 4> at = {0, 0x7fffffff, 0x80000000, 0xffffffff};
    return at[random() % 4] + static_cast<std::uint32_t>(random() % 61) - 30;
  };
  constexpr std::int64_t most = 100;
  for (int round = 0; round < 20'000; ++round) {
    const std::uint32_t a = edge(), c = random() % 2 == 0 ? edge() : a + static_cast<std::uint32_t>(random() % 41) - 20;
    const std::uint32_t b = static_cast<std::uint32_t>(random() % 9) - 4,
                        d = random() % 2 == 0 ? 0 : static_cast<std::uint32_t>(random() % 9) - 4;
    const auto how = static_cast<unsigned>(random() % 8);
    const auto outcome = [&](std::uint32_t x, std::uint32_t y) { return (how & (x < y ? 1 : x == y ? 2 : 4)) != 0; };
    const std::int64_t said = trips_until_change(a, b, c, d, how, most);
    // Never too many; and no fewer where neither number passes the end of 32 bits.
    std::int64_t t = 0, inside = 0;
    const auto at = [&](std::uint32_t from, std::uint32_t by, std::int64_t trip) {
      return std::int64_t{from} + static_cast<std::int32_t>(by) * trip;
    };
    const auto is_word = [](std::int64_t x) { return x >= 0 && x <= 0xffffffff; };
    while (t < most &&
           outcome(a + b * static_cast<std::uint32_t>(t), c + d * static_cast<std::uint32_t>(t)) == outcome(a, c))
      ++t;
    while (inside < most && is_word(at(a, b, inside)) && is_word(at(c, d, inside))) ++inside;
    CAPTURE(a);
    CAPTURE(b);
    CAPTURE(c);
    CAPTURE(d);
    CAPTURE(how);
    REQUIRE(said == std::min(t, inside));
  }
}

TEST_CASE("loops of more trips than anybody follows are counted, and one that never ends is still refused") {
  constexpr std::uint32_t outer = 3000, inner = 2'000'000;
  Assembler a;
  a.number(0, 0);
  const int head = a.here();
  a.number(1, 0);
  const int body = a.here();
  a.load(8, 2);
  a.add(1, 1, 1);
  a.below(0, 1, inner);
  a.branch(body, 0);
  a.multiply(9);
  a.add(0, 0, 1);
  a.below(1, 0, outer);
  a.branch(head, 1);
  a.exit();
  const ir::LaunchShape one_warp{.grid = {1, 1, 1}, .block = {32, 1, 1}};
  const ir::MachineWork work = followed(a, one_warp, false);
  REQUIRE(work.counted);
  CHECK(work.requests.global_loads == std::int64_t{outer} * inner);
  CHECK(!followed(a, one_warp, true).counted);
  Assembler forever;
  forever.number(0, 0);
  const int again = forever.here();
  forever.add(0, 0, 0);
  forever.below(0, 0, 1);
  forever.branch(again, 0);
  forever.exit();
  CHECK(followed(forever, one_warp, false).note == "a loop runs too often to be followed");
}
