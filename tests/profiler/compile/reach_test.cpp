// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far a run stands for other warps. The oracle is to run those: each warp of a box does what the one that was run
// does, for code that is drawn bit by bit, and boxes lie side by side without a gap. By hand: persistent blocks, rows
// of several warps, what passes the end of a word. Part of the suite `profiler`; no compiler is needed.
#include "profiler/compile/reach.h"

#include <doctest/doctest.h>

#include "profiler/compile/assembler.h"
#include "profiler/compile/cover.h"
#include "profiler/compile/drawn_code.h"

using namespace assembler;

namespace {

/// The code of a kernel, prepared.
struct Prepared {
  std::vector<std::byte> bytes;
  Operations operations{80};
  MachineFlow flow = read_flow(bytes, operations);
  ControlCode code = control_code(bytes, operations, flow);
  std::unique_ptr<WarpScratch> scratch = std::make_unique<WarpScratch>();

  explicit Prepared(const Assembler& made) : bytes(made.code) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

/// Warps of a launch by how often a box has them; the counts of each are those of its own run.
void check_boxes(Prepared& kernel, const ir::LaunchShape& shape, Unknown unknown, const Cover& all) {
  const std::int64_t warps = warps_of(shape);
  std::vector<int> found(static_cast<std::size_t>(blocks_of(shape) * warps), 0);
  for (const auto& [box, counts] : all.parts)
    for (std::int64_t block = box.block; block < box.block + box.blocks; ++block)
      for (std::int64_t group = box.group; group < box.group + box.groups; ++group)
        for (std::int64_t warp = box.warp; warp < box.warp + box.warps; ++warp) {
          const std::int64_t number = group * all.period + warp;
          REQUIRE(number < warps);
          ++found[static_cast<std::size_t>(block * warps + number)];
          const WarpCounts own =
              run_warp(kernel.code, place_of(shape, block, number), {unknown, 100'000, true, {}}, *kernel.scratch);
          CAPTURE(block);
          CAPTURE(number);
          REQUIRE(own.refused.empty());
          REQUIRE(own.runs == counts.runs);
          REQUIRE(own.requests == counts.requests);
          REQUIRE(own.assumed == counts.assumed);
        }
  for (const int times : found) REQUIRE(times == 1);
}

Cover boxes_of(const Assembler& made, const ir::LaunchShape& shape, bool check = true) {
  Prepared kernel(made);
  Cover all = cover(kernel.code, shape, {Unknown::skip, 100'000, false, {}}, 64, *kernel.scratch);
  if (all.whole && check) check_boxes(kernel, shape, Unknown::skip, all);
  return all;
}

/// Arithmetic on indices as kernels have it, step by step drawn, and ways that its results decide.
struct DrawnIndices {
  std::mt19937_64 random;
  Assembler a{};

  std::uint64_t below(std::uint64_t n) { return random() % n; }
  std::uint64_t some() { return below(6); }
  unsigned some_guard() { return below(6) != 0 ? always : static_cast<unsigned>(below(4) | below(2) << 3); }
  /// `modifiers`: bits 72 to 80. Carries in and out are none.
  void put(unsigned operation, std::uint64_t first, std::uint64_t second, std::uint64_t third, std::uint64_t modifiers,
           std::uint64_t predicate = 7) {
    a.put(Assembler::head(operation, some_guard()) | some() << 16 | first << 24 | second << 32,
          third | modifiers << 8 | std::uint64_t{7} << 13 | std::uint64_t{7} << 17 | std::uint64_t{7} << 20 |
              predicate << 23);
  }
  void compare(unsigned to) {
    const std::uint64_t how = 1 + below(6), number = below(3) == 0 ? below(1024) : std::uint64_t{1} << below(11);
    const bool registers = below(3) == 0;
    a.put(Assembler::head(registers ? 0x20c : 0x80c, always) | some() << 24 | (registers ? some() : number) << 32,
          below(2) << 9 | how << 12 | std::uint64_t{7} << 4 | std::uint64_t{to} << 17 | std::uint64_t{7} << 20 |
              std::uint64_t{7} << 23);
  }
  void arithmetic() {
    const std::uint64_t bits = below(10), power = std::uint64_t{1} << bits;
    switch (below(9)) {
      case 0:
        return put(0x810, some(), below(2) == 0 ? below(600) : 0xffffffff - below(600), none, 0);
      case 1:
        return put(0x210, some(), some() | below(4) / 3 << 31, below(2) == 0 ? none : some(), 0);
      case 2:
        return put(0x211, some(), some(), none, bits << 3);
      case 3:
        return put(0x211, some(), some(), none, (32 - std::max<std::uint64_t>(bits, 1)) << 3 | 0x100 | below(2) << 1);
      case 4:
        return put(0x819, none, bits, some(), 0x114 | below(2) << 1);
      case 5:
        return put(0x812, some(), below(2) == 0 ? power - 1 : ~(power - 1) & (below(2) == 0 ? 0xffffffff : 0x3ff), none,
                   0xc0);
      case 6:
        return put(0x824, some(), below(2) == 0 ? power : below(100), some(), 0);
      case 7:
        return put(0x817, some(), below(700), none, below(2) << 1, 7 | below(2) << 3);
      default:
        return put(0x207, some(), some(), none, 0, below(4));
    }
  }
};

Assembler drawn_indices(std::uint64_t seed) {
  DrawnIndices drawn{std::mt19937_64(seed)};
  Assembler& a = drawn.a;
  constexpr std::array<unsigned, 4> sources = {thread_index, thread_index, block_index, lane_index};
  for (unsigned to = 0; to < 6; ++to) a.special(to, sources[drawn.below(sources.size())]);
  for (unsigned to = 0; to < 4; ++to) drawn.compare(to);
  const std::uint64_t steps = 2 + drawn.below(7);
  for (std::uint64_t i = 0; i < steps; ++i) {
    drawn.arithmetic();
    if (drawn.below(2) == 0) drawn.compare(static_cast<unsigned>(drawn.below(4)));
  }
  for (unsigned i = 0; i < 3; ++i) {
    drawn.compare(i);
    a.load(20, 30, i);
    a.branch(a.here() + 2, unless(static_cast<unsigned>(drawn.below(4))));
    a.multiply(21);
  }
  a.exit();
  return a;
}

}  // namespace

TEST_CASE("every warp of a box does what the one that was run does, for drawn arithmetic on indices") {
  const std::array<ir::LaunchShape, 4> shapes = {ir::LaunchShape{.grid = {19, 1, 1}, .block = {256, 1, 1}},
                                                 ir::LaunchShape{.grid = {5, 1, 1}, .block = {1000, 1, 1}},
                                                 ir::LaunchShape{.grid = {150, 1, 1}, .block = {32, 1, 1}},
                                                 ir::LaunchShape{.grid = {9, 1, 1}, .block = {352, 1, 1}}};
  std::int64_t run = 0, warps = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const ir::LaunchShape& shape = shapes[seed % shapes.size()];
    CAPTURE(seed);
    Prepared kernel(drawn_indices(seed));
    const Cover all = cover(kernel.code, shape, {Unknown::skip, 100'000, false, {}}, 64, *kernel.scratch);
    if (!all.whole) continue;
    run += all.warps_run;
    warps += blocks_of(shape) * warps_of(shape);
    check_boxes(kernel, shape, Unknown::skip, all);
  }
  CHECK(warps > 20'000);
  CHECK(run < warps / 5);
}

TEST_CASE("every warp of a box does what the one that was run does, for drawn code and launches") {
  const std::array<ir::LaunchShape, 5> shapes = {
      ir::LaunchShape{.grid = {7, 1, 1}, .block = {64, 1, 1}}, ir::LaunchShape{.grid = {3, 1, 1}, .block = {256, 1, 1}},
      ir::LaunchShape{.grid = {23, 1, 1}, .block = {80, 1, 1}}, ir::LaunchShape{.grid = {3, 2, 2}, .block = {32, 1, 1}},
      ir::LaunchShape{.grid = {2, 1, 1}, .block = {16, 4, 3}}};
  int whole = 0, fewer = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const ir::LaunchShape& shape = shapes[seed % shapes.size()];
    CAPTURE(seed);
    Prepared kernel(drawn_program(seed));
    for (const Unknown unknown : {Unknown::skip, Unknown::enter}) {
      const Cover all = cover(kernel.code, shape, {unknown, 100'000, false, {}}, 64, *kernel.scratch);
      if (!all.whole) continue;
      ++whole;
      fewer += static_cast<int>(2 * all.warps_run <= blocks_of(shape) * warps_of(shape));
      check_boxes(kernel, shape, unknown, all);
    }
  }
  CHECK(whole > 60);
  CHECK(fewer > 30);
}

TEST_CASE("persistent blocks that take a turn less cost one run more, wherever they begin") {
  // Block b makes turns b, b + grid, ... below a number of rows.
  for (const std::uint32_t rows : {1u, 40u, 132u, 133u, 500u, 4096u}) {
    Assembler a;
    a.special(0, block_index);
    a.below(1, 0, rows);
    a.exit(unless(1));
    const int head = a.here();
    a.load(8, 2);
    a.add(0, 0, 132);
    a.below(1, 0, rows);
    a.branch(head, 1);
    a.exit();
    CAPTURE(rows);
    const ir::LaunchShape shape{.grid = {132, 1, 1}, .block = {128, 1, 1}};
    const Cover all = boxes_of(a, shape);
    REQUIRE(all.whole);
    CHECK(all.warps_run == (rows % 132 == 0 ? 1 : 2));
    std::int64_t loads = 0;
    for (const auto& [box, counts] : all.parts)
      loads += counts.requests.global_loads * box.blocks * box.groups * box.warps;
    CHECK(loads == 4 * std::int64_t{rows});
  }
}

TEST_CASE("rows of several warps repeat in a block, and each warp of a row is run once") {
  for (const std::uint32_t row : {64u, 128u, 512u}) {
    // The first warp of a row loads, and lanes below the end of a row that is cut off multiply.
    Assembler a;
    a.special(0, thread_index);
    a.both(1, 0, row - 1);
    a.below(0, 1, 32);
    a.below(1, 1, row / 2 + 5);
    a.load(4, 2, 0);
    a.branch(a.here() + 2, unless(1));
    a.multiply(6);
    a.exit();
    CAPTURE(row);
    const Cover all = boxes_of(a, {.grid = {1000, 1, 1}, .block = {1024, 1, 1}}, false);
    REQUIRE(all.whole);
    CHECK(all.period == row / 32);
    CHECK(all.warps_run <= 5);
    CHECK(boxes_of(a, {.grid = {3, 1, 1}, .block = {1024, 1, 1}}).whole);
  }
}

TEST_CASE("a way without a form is looked at in each warp, of rows that repeat too") {
  Assembler a;
  a.special(0, thread_index);
  a.both(1, 0, 63);
  a.below(0, 1, 32);
  a.load(4, 2, 0);
  a.product(3, 0, 0);
  a.below(1, 3, 10'000);
  a.load(4, 2, 1);
  a.exit();
  const Cover all = boxes_of(a, {.grid = {5, 1, 1}, .block = {256, 1, 1}});
  REQUIRE(all.whole);
  CHECK(all.period == 2);
  CHECK(all.warps_run == 1 + 8);
}

TEST_CASE("arrays one behind the other make as many ways as there are, and all are found, in few blocks and in many") {
  // Thread i loads once for each of 18 borders that lie at or before it.
  for (const std::uint32_t apart : {72u, 7'200u}) {
    Assembler a;
    a.special(0, block_index);
    a.special(1, thread_index);
    a.number(3, 128);
    a.put(Assembler::head(0x224, always) | std::uint64_t{2} << 16 | std::uint64_t{3} << 32,
          1 | std::uint64_t{7} << 17 | std::uint64_t{7} << 20 | std::uint64_t{7} << 23);
    for (std::uint32_t border = 1; border <= 18; ++border) {
      a.below(0, 2, border * apart);
      a.load(8, 4, unless(0));
    }
    a.exit();
    CAPTURE(apart);
    const ir::LaunchShape shape{.grid = {19 * apart / 128, 1, 1}, .block = {128, 1, 1}};
    const ir::MachineWork work = machine_work(a.code, 80, {shape, nullptr, false});
    ir::MachineWork all = machine_work(a.code, 80, {shape, nullptr, true});
    all.warps_run = work.warps_run;
    CHECK(work == all);
    CHECK(work.warps_run <= 80);
  }
}

TEST_CASE("a number that passes the end of a word ends a box, and so does a way that depends on what has no form") {
  const ir::LaunchShape shape{.grid = {40, 1, 1}, .block = {64, 1, 1}};
  for (const std::uint32_t from : {0xffffffffu, 0xfffffff0u, 0x7ffffff0u}) {
    Assembler a;
    a.special(0, block_index);
    a.add(0, 0, from);
    a.below(0, 0, 0x80000000u);
    a.load(8, 2, 0);
    a.exit();
    CHECK(boxes_of(a, shape).warps_run <= 3);
  }
  // The square of a block's number decides.
  Assembler square;
  square.special(0, block_index);
  square.product(1, 0, 0);
  square.below(0, 1, 100);
  square.load(8, 2, 0);
  square.exit();
  const Cover all = boxes_of(square, shape);
  REQUIRE(all.whole);
  CHECK(all.warps_run == 40);
}

TEST_CASE("turns of blocks that are left out go the same way in all blocks of a box") {
  // R1 rises by the block's number in each turn, so what it decides is no way of a box; R2 rises alike in all blocks.
  for (const bool by_block : {false, true}) {
    Assembler a;
    a.special(0, block_index);
    a.number(1, 0);
    a.number(2, 0);
    const int head = a.here();
    a.put(Assembler::head(0x210, always) | std::uint64_t{1} << 16 | std::uint64_t{1} << 24 |
              std::uint64_t{by_block ? 0u : none} << 32,
          none | std::uint64_t{7} << 13 | std::uint64_t{1} << 16 | std::uint64_t{7} << 17 | std::uint64_t{7} << 20);
    a.below(0, 1, 300);
    a.load(8, 2, 0);
    a.add(2, 2, 1);
    a.below(1, 2, 60);
    a.branch(head, 1);
    a.exit();
    const Cover all = boxes_of(a, {.grid = {50, 1, 1}, .block = {32, 1, 1}});
    REQUIRE(all.whole);
    if (!by_block) CHECK(all.warps_run == 1);
  }
}

TEST_CASE("a few long trips are left out but for four, and loops inside of them are followed in those") {
  for (const std::uint32_t trips : {5u, 8u, 20u}) {
    Assembler a;
    a.number(0, 0);
    a.number(7, 0);
    a.below(3, 7, 5);
    a.load(9, 2, 3);
    const int head = a.here();
    a.number(1, 0);
    const int body = a.here();
    a.load(8, 2);
    a.add(1, 1, 1);
    a.below(0, 1, 3);
    a.branch(body, 0);
    // R7 is set in each trip before it is read: what was there before the first one, and was read, does not matter.
    a.number(7, 4);
    a.below(2, 7, 5);
    a.load(9, 2, 2);
    a.add(0, 0, 1);
    a.below(1, 0, trips);
    a.branch(head, 1);
    a.exit();
    CAPTURE(trips);
    Prepared kernel(a);
    const ir::LaunchShape shape{.grid = {1, 1, 1}, .block = {32, 1, 1}};
    const auto counts = [&](bool every_trip) {
      return run_warp(kernel.code, place_of(shape, 0, 0), {Unknown::skip, 100'000, every_trip, {}}, *kernel.scratch);
    };
    const WarpCounts all = counts(true), some = counts(false);
    CHECK(some.runs == all.runs);
    CHECK(some.requests == all.requests);
    CHECK(all.requests.global_loads == std::int64_t{trips} * 4 + 1);
    const std::int64_t blocks_of_trip = (all.followed - 2) / trips;
    CHECK(some.followed == 2 + 4 * blocks_of_trip);
  }
}

TEST_CASE("of a uniform register that is written anew only the last number is wanted") {
  Assembler a;
  constexpr unsigned move_uniform = 0x882, compare_with_uniform = 0xc0c;
  const auto move = [&](unsigned to, std::uint32_t value) {
    a.put(Assembler::head(move_uniform, always) | std::uint64_t{to} << 16 | std::uint64_t{value} << 32, 0);
  };
  a.special(0, thread_index);
  move(4, 7);  // written over
  move(5, 7);  // read by nobody
  move(4, 40);
  a.put(Assembler::head(compare_with_uniform, always) | std::uint64_t{4} << 32,
        std::uint64_t{7} << 4 | std::uint64_t{1} << 12 | std::uint64_t{7} << 20 | std::uint64_t{7} << 23);
  move(4, 9);
  a.load(8, 2, 0);
  a.exit();
  Prepared kernel(a);
  CHECK(kernel.code.steps.size() == 4);  // the thread's index, the second number, the comparison, the load
  const WarpCounts first = run_warp(kernel.code, place_of({.grid = {1, 1, 1}, .block = {96, 1, 1}}, 0, 1),
                                    {Unknown::skip, 100, false, {}}, *kernel.scratch);
  const WarpCounts last = run_warp(kernel.code, place_of({.grid = {1, 1, 1}, .block = {96, 1, 1}}, 0, 2),
                                   {Unknown::skip, 100, false, {}}, *kernel.scratch);
  CHECK(first.requests.global_loads == 1);  // threads 32 to 39
  CHECK(last.requests.global_loads == 0);
}
