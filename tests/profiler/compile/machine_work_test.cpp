// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code as counts. In: streams of instructions written here, whose blocks run a known number of times; random
// bytes; kernels that NVRTC makes. Checked: blocks, loops and what a launch executes; names against the vendor's
// disassembler where one is installed. Part of the suite `profiler`.
#include "profiler/compile/machine_work.h"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "base/error.h"
#include "profiler/compile/assembler.h"
#include "profiler/compile/compile.h"
#include "profiler/compile/machine_flow.h"
#include "profiler/compile/operand.h"
#include "profiler/compile/operation.h"
#include "profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;
using namespace assembler;

namespace {

ir::MachineWork run(const Assembler& made, std::uint32_t grid, std::uint32_t block, bool every = false) {
  return machine_work(made.code, 80, {{.grid = {grid, 1, 1}, .block = {block, 1, 1}}, nullptr, every});
}

std::int64_t executed(const ir::MachineWork& work, std::string_view name) {
  for (const ir::MachineOperation& row : work.operations)
    if (row.name == name) return row.executed;
  return 0;
}

}  // namespace

TEST_CASE("no pattern of an architecture has two rows, and named numbers are those of the table") {
  for (const int arch : {70, 75, 80, 86, 89, 90, 100, 103, 110, 120, 121}) {
    CAPTURE(arch);
    std::set<unsigned> seen;
    for (const Operation& row : operation_table()) {
      if (arch < row.first_arch || arch > row.last_arch) continue;
      for (unsigned form = 0; form < 8; ++form)
        if ((row.forms >> form & 1) != 0) CHECK_MESSAGE(seen.insert(row.base | form << 9).second, row.name);
    }
    const Operations operations(arch);
    const auto name = [&](unsigned base) { return operations.find(base | 4u << 9)->name; };
    CHECK(name(bases::mov) == "MOV");
    CHECK(name(bases::isetp) == "ISETP");
    CHECK(name(bases::iadd3) == "IADD3");
    CHECK(name(bases::imad_wide) == "IMAD");
    CHECK(name(bases::uniform + bases::shf) == "USHF");
    CHECK(name(bases::ldg) == "LDG");
    CHECK(name(bases::bssy) == "BSSY");
    CHECK(name(bases::bra) == "BRA");
    CHECK(name(bases::exit) == "EXIT");
    CHECK(name(bases::nop) == "NOP");
    CHECK(name(bases::hfma2_or_iadd) == (arch >= 120 ? "IADD" : "HFMA2"));
  }
}

TEST_CASE("what is passed by for the registers that it writes writes no more than these, and chooses no way") {
  std::mt19937_64 random(41);
  for (const int arch : {70, 75, 80, 86, 89, 90, 100, 103, 120}) {
    CAPTURE(arch);
    const Operations operations(arch);
    int passed_by = 0;
    for (unsigned pattern = 0; pattern < 4096; ++pattern) {
      const unsigned registers = operations.only_registers[pattern];
      if (registers == 0) continue;
      ++passed_by;
      for (int draw = 0; draw < 16; ++draw) {
        const Instruction one{(random() & ~std::uint64_t{0xfff}) | pattern, random()};
        CAPTURE(pattern);
        REQUIRE((one.base() < bases::first_control || one.base() > bases::last_control));
        Places places;
        add_written(places, one, operations.find(pattern), arch);
        const unsigned first = one.bits(16, 8);
        for (const unsigned place : places) {
          REQUIRE(place >= first);
          REQUIRE((registers >> (place - first) & 1) != 0);
          REQUIRE(place < first_uniform);
        }
      }
    }
    CHECK(passed_by > 100);
  }
}

TEST_CASE("an addition of two reads no third register, whatever stands in the place of one") {
  const auto reads = [](unsigned operation, int arch) {
    const Instruction one{operation | 7u << 12 | 9u << 16 | 3u << 24 | std::uint64_t{5} << 32, 6};
    std::vector<unsigned> places;
    for (const unsigned place : read_by(one, arch)) places.push_back(place);
    return places;
  };
  CHECK(reads(0x200 | bases::viadd, 90) == std::vector{3u, 5u});
  CHECK(reads(0x800 | bases::viadd, 90) == std::vector{3u});
  CHECK(reads(0x200 | bases::hfma2_or_iadd, 120) == std::vector{3u, 5u});
  CHECK(reads(0x200 | bases::iadd3, 90) == std::vector{3u, 5u, 6u});
}

TEST_CASE("straight code is one block, run once by each warp, and the filling behind it is none") {
  Assembler a;
  a.load(4, 2);
  a.multiply(4);
  a.nothing();
  a.multiply(4);
  a.exit();
  for (int i = 0; i < 3; ++i) a.nothing();
  const Operations operations(80);
  const MachineFlow flow = read_flow(a.code, operations);
  REQUIRE(flow.blocks.size() == 1);
  CHECK(flow.instructions == 5);
  CHECK(flow.loops.empty());
  const ir::MachineWork work = run(a, 10, 96);
  CHECK(work.counted);
  CHECK(ir::total(work.instructions) == 5);
  CHECK(ir::total(work.executed) == 5 * 30);
  CHECK(executed(work, "FMUL") == 60);
  CHECK(work.requests.global_loads == 30);
  CHECK(work.busiest_block == 15);
}

TEST_CASE("nested loops run as often as their bounds say") {
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const auto below = [&](unsigned n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t outer = 1 + below(9), inner = 1 + below(12), step = 1 + below(3);
    Assembler a;
    a.number(0, 0);
    const int head = a.here();
    a.number(1, 0);
    const int body = a.here();
    a.load(8, 2);
    a.add(1, 1, step);
    a.below(0, 1, inner);
    a.branch(body, 0);
    a.multiply(9);
    a.add(0, 0, 1);
    a.below(1, 0, outer);
    a.branch(head, 1);
    a.exit();
    const ir::MachineWork work = run(a, 5, 64);
    REQUIRE(work.counted);
    CHECK(executed(work, "FMUL") == 10 * std::int64_t{outer});
    CHECK(work.requests.global_loads == 10 * std::int64_t{outer} * ((inner + step - 1) / step));
    const Operations operations(80);
    const MachineFlow flow = read_flow(a.code, operations);
    REQUIRE(flow.loops.size() == 2);
    CHECK(flow.blocks[flow.block_at(body)].loop_depth == 2);
    CHECK(flow.blocks[flow.block_at(head)].loop_depth == 1);
    CHECK(flow.blocks[flow.block_at(a.here() - 1)].loop_depth == 0);
  }
}

TEST_CASE("lanes that part meet again, and each way counts once for a warp that has a lane on it") {
  for (std::uint32_t limit = 0; limit <= 33; ++limit) {
    Assembler a;
    a.special(0, lane_index);
    a.meet_at(7, 3);
    a.below(0, 0, limit);
    a.branch(6, unless(0));
    a.load(4, 2);
    a.load(5, 2);
    a.meet(3);
    a.multiply(6);
    a.exit();
    const ir::MachineWork work = run(a, 3, 32);
    REQUIRE(work.counted);
    CAPTURE(limit);
    CHECK(work.requests.global_loads == (limit == 0 ? 0 : 6));
    CHECK(executed(work, "FMUL") == 3);
    CHECK(executed(work, "BSYNC") == (limit == 0 || limit >= 32 ? 3 : 6));
  }
}

TEST_CASE("lanes leave a loop one by one, and those that wait are not counted again") {
  // Lane i turns i + 1 times: a warp of 32 runs the body 32 times and what follows once.
  Assembler a;
  a.special(0, lane_index);
  a.number(1, 0);
  a.meet_at(9, 0);
  const int body = a.here();
  a.load(4, 2);
  a.add(0, 0, ~std::uint32_t{0});
  a.below(0, 0, 0x80000000u);
  a.branch(8, unless(0));
  a.branch(body);
  a.meet(0);
  a.multiply(6);
  a.exit();
  const ir::MachineWork work = run(a, 1, 32);
  REQUIRE(work.counted);
  CHECK(work.requests.global_loads == 32);
  CHECK(executed(work, "FMUL") == 1);
}

// Along the first axis an index moves with the number of a block, or a warp, and boxes are shown to be alike; along the
// second one that is not followed, and some blocks and warps stand for others.
constexpr std::int64_t boxes_in_vain = 32, a_moment = 256;

TEST_CASE("a guard cuts off the end of a grid, wherever it lies, and few warps are followed") {
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    const auto grid = static_cast<std::uint32_t>(1 + random() % 1500),
               cut = static_cast<std::uint32_t>(random() % 1600);
    const bool second = round % 2 != 0;
    Assembler a;
    a.special(0, block_index + (second ? 1 : 0));
    a.below(0, 0, cut);
    a.exit(unless(0));
    a.load(4, 2);
    a.exit();
    const auto launched = [&](bool every) {
      ir::LaunchShape shape{.grid = {grid, 1, 1}, .block = {64, 1, 1}};
      if (second) std::swap(shape.grid[0], shape.grid[1]);
      return machine_work(a.code, 80, {shape, nullptr, every});
    };
    const ir::MachineWork work = launched(false);
    REQUIRE(work.counted);
    CHECK(work.requests.global_loads == 2 * std::int64_t{std::min(grid, cut)});
    CHECK(work.warps_run <= (second ? a_moment : 2));
    CHECK(work == [&] {
      ir::MachineWork all = launched(true);
      all.warps_run = work.warps_run;
      return all;
    }());
  }
}

TEST_CASE("stretches of blocks whose warps are apart are found one by one, however many there are") {
  // Each way through the guards is a part of its own, more of them than a launch of a few parts may have.
  for (const std::uint32_t cuts : {20u, 60u, 150u}) {
    CAPTURE(cuts);
    constexpr std::uint32_t grid = 4000, block = 256, warps = block / 32;
    Assembler a;
    a.special(0, block_index);
    a.special(1, thread_index);
    a.number(2, block);
    a.product(0, 0, 2);
    std::int64_t loads = 0;
    for (std::uint32_t i = cuts; i > 0; --i) {
      const std::uint32_t end = i * (grid * block / cuts) - 32 * (i % 7);
      a.below(0, 0, end);
      a.exit(unless(0));
      a.below(0, 1, 32 * (i % 9));
      a.load(4, 2, 0);
      for (std::uint32_t at = 0; at < grid; ++at)
        if (at * block < end) loads += std::min(warps, i % 9);
    }
    a.exit();
    const ir::MachineWork work = run(a, grid, block);
    REQUIRE(work.counted);
    CHECK(work.requests.global_loads == loads);
  }
}

TEST_CASE("a guard cuts off the end of each row of a block, and of the block, and some of its warps are followed") {
  std::mt19937 random(13);
  for (const std::uint32_t row : {64, 256, 512, 1024})
    for (int round = 0; round < 40; ++round) {
      const auto cut = static_cast<std::uint32_t>(random() % (row + 1));
      const bool second = round % 2 != 0;
      CAPTURE(row);
      CAPTURE(cut);
      Assembler a;
      a.special(0, thread_index + (second ? 1 : 0));
      a.both(1, 0, row - 1);
      a.below(0, 1, cut);
      a.load(4, 2, 0);
      a.branch(a.here() + 2, unless(0));
      a.multiply(6);
      a.exit();
      const auto launched = [&](bool every) {
        ir::LaunchShape shape{.grid = {9, 1, 1}, .block = {1024, 1, 1}};
        if (second) std::swap(shape.block[0], shape.block[1]);
        return machine_work(a.code, 80, {shape, nullptr, every});
      };
      const ir::MachineWork work = launched(false);
      REQUIRE(work.counted);
      CHECK(work.requests.global_loads == 9 * std::int64_t{1024 / row} * ((cut + 31) / 32));
      CHECK(work.warps_run <= (second ? 27 + boxes_in_vain : 5));
      CHECK(work == [&] {
        ir::MachineWork all = launched(true);
        all.warps_run = work.warps_run;
        return all;
      }());
    }
}

TEST_CASE("a request without a lane is none, and the instruction is still issued") {
  Assembler a;
  a.special(0, thread_index);
  a.below(0, 0, 40);
  a.load(4, 2, 0);
  a.exit();
  const ir::MachineWork work = run(a, 1, 128);
  CHECK(executed(work, "LDG") == 4);
  CHECK(work.requests.global_loads == 2);
}

TEST_CASE("a branch on loaded data is said, and the program's requests say how often it is entered") {
  Assembler a;
  a.load(4, 2);
  a.below(0, 4, 7);
  a.branch(4, unless(0));
  a.load(5, 2);
  a.multiply(6);
  a.exit();
  const ir::MachineWork work = run(a, 8, 32);
  CHECK(work.counted);
  CHECK(work.assumed == 1);
  CHECK(work.note == "data decides at 1 place of the code: both ways are taken");
  const ir::MachineRequests expected{.global_loads = 10};
  const ir::MachineWork mixed = machine_work(a.code, 80, {{.grid = {8, 1, 1}, .block = {32, 1, 1}}, &expected, false});
  CHECK(mixed.counted);
  CHECK(mixed.requests == expected);
  CHECK(executed(mixed, "LDG") == 10);
  CHECK(mixed.note == "data decides at 1 place of the code: entered in 25 % of cases, by the program's requests");
  const ir::MachineRequests impossible{.global_loads = 17};
  const ir::MachineWork otherwise =
      machine_work(a.code, 80, {{.grid = {8, 1, 1}, .block = {32, 1, 1}}, &impossible, false});
  CHECK(otherwise.counted);
  CHECK(otherwise.note ==
        "data decides at 1 place of the code: both ways are taken; it makes 16 global_loads where the program has 17");
}

TEST_CASE("a loop that does not end and a branch out of the code are refused") {
  Assembler forever;
  forever.number(0, 0);
  forever.branch(1);
  CHECK(!run(forever, 1, 32).counted);
  CHECK(run(forever, 1, 32).note == "a loop runs too often to be followed");
  Assembler outside;
  outside.branch(40);
  CHECK(run(outside, 1, 32).note == "a branch leaves the code of the kernel");
}

TEST_CASE("code of another encoding is not read, and half an instruction neither") {
  Assembler a;
  a.exit();
  CHECK_THROWS_AS(machine_contents(a.code, 61), Error);
  a.code.pop_back();
  CHECK_THROWS_AS(machine_contents(a.code, 80), Error);
  CHECK(ir::total(machine_contents({}, 80).instructions) == 0);
}

TEST_CASE("any bytes are read or refused") {
  std::mt19937_64 random(20261123);
  for (int round = 0; round < 60; ++round) {
    Assembler a;
    const int count = static_cast<int>(random() % 40);
    for (int i = 0; i < count; ++i) {
      // Half of them of operations that are executed, so that control goes somewhere.
      constexpr std::array<unsigned, 12> known = {0x802, 0x810, 0x80c, 0x947, 0x945, 0x941,
                                                  0x94d, 0x919, 0x824, 0x819, 0x944, 0x950};
      std::uint64_t low = random();
      if (random() % 2 == 0) low = (low & ~std::uint64_t{0xfff}) | known[random() % known.size()];
      if (random() % 2 == 0) low = (low & 0xffffffff) | std::uint64_t{random() % 64 * 16} << 32;
      a.put(low, random());
    }
    for (const int arch : {75, 90, 120}) {
      const ir::MachineWork work =
          machine_work(a.code, arch, {{.grid = {3, 1, 1}, .block = {64, 1, 1}}, nullptr, false});
      CHECK((work.counted || !work.note.empty()));
    }
  }
}
