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
#include "profiler/compile/drawn_code.h"

using namespace assembler;

namespace {

ir::MachineWork followed(const Assembler& made, ir::LaunchShape shape, bool every_trip, int arch = 80) {
  return machine_work(made.code, arch, {shape, nullptr, false, every_trip});
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
  // Warps below a number of the block make a product; of the grid, blocks below a number. Along the second axis boxes
  // of warps are looked for in vain.
  for (const auto& [below, blocks] :
       {std::pair(32u, 4000u), std::pair(64u, 4000u), std::pair(32u, 1234u), std::pair(512u, 77u)})
    for (const unsigned axis : {0u, 1u}) {
      Assembler a;
      a.special(0, thread_index + axis);
      a.special(1, block_index + axis);
      a.below(0, 0, below);
      a.below(1, 1, blocks);
      a.branch(a.here() + 3, unless(0));
      a.branch(a.here() + 2, unless(1));
      a.load(8, 2);
      a.exit();
      CAPTURE(below);
      CAPTURE(blocks);
      CAPTURE(axis);
      ir::LaunchShape shape;
      shape.grid[axis] = 4000;
      shape.block[axis] = 512;
      const ir::MachineWork work = followed(a, shape, false);
      REQUIRE(work.counted);
      CHECK(work.requests.global_loads == std::int64_t{below} / 32 * blocks);
      CHECK(work.warps_run <= (axis == 0 ? 4 : 232));
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
