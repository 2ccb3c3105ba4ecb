// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs of one warp, whose lanes part, leave early and wait for one another, against an oracle that runs each
// lane through the same statements by itself. Both must leave the same values, the same sums of atomics and the same
// number of lane instructions: a lane that runs anything twice, or skips it, shows in all three. Part of the suite
// `simulator`; needs no NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {
namespace {

constexpr int lanes = 32, sums = 8;

enum class What : std::uint8_t { mix, add, sync, shuffle, ballot, part, repeat, leave };

/// A statement; its instructions are those that `emit` writes.
struct Statement {
  What what = What::mix;
  std::uint32_t lanes = 0;      ///< part, leave: that take the first way or leave; else those of the mask
  std::uint32_t left = 0;       ///< sync, ballot: the mask names these too, though they have left or will
  std::uint32_t constant = 1;   ///< mix: added; add: the sum's number; shuffle: which lanes swap; repeat: turns
  bool barrier_inside = false;  ///< sync: written at two places, one for each half of its lanes
  std::vector<Statement> first, second;
};

struct Oracle {
  std::array<std::uint32_t, lanes> value{};
  std::array<std::uint32_t, sums> sum{};
  std::int64_t instructions = 0;
  std::uint32_t live = ~0u;
};

/// A random program for the lanes of `here`, which become fewer where some leave. `gone`: those that have.
std::vector<Statement> make(std::mt19937& random, std::uint32_t& here, std::uint32_t& gone, int depth, bool may_leave) {
  std::vector<Statement> all;
  const int many = 1 + static_cast<int>(random() % 5);
  for (int k = 0; k < many && here != 0; ++k) {
    Statement one;
    one.constant = static_cast<std::uint32_t>(random() % 1000);
    switch (random() % (depth == 0 ? 8 : 12)) {
      case 0:
      case 1:
        break;
      case 2:
      case 3:
        one.what = What::add;
        break;
      case 4:
      case 5:
        one.what = What::sync;
        one.lanes = here;
        one.left = gone & static_cast<std::uint32_t>(random());
        one.barrier_inside = random() % 3 == 0;
        break;
      case 6:
        one.what = What::shuffle;
        one.constant = static_cast<std::uint32_t>(1 + random() % 31);
        one.lanes = here;
        break;
      case 7:
        one.what = What::ballot;
        one.lanes = here;
        one.left = gone & static_cast<std::uint32_t>(random());
        break;
      case 8:
        one.what = What::repeat;
        one.constant = static_cast<std::uint32_t>(2 + random() % 3);
        one.first = make(random, here, gone, depth - 1, false);
        break;
      case 9:
        if (!may_leave) break;
        one.what = What::leave;
        one.lanes = static_cast<std::uint32_t>(random() & random());
        gone |= here & one.lanes;
        here &= ~one.lanes;
        break;
      default: {
        one.what = What::part;
        one.lanes = static_cast<std::uint32_t>(random());
        std::uint32_t first = here & one.lanes, second = here & ~one.lanes;
        one.first = make(random, first, gone, depth - 1, may_leave);
        one.second = make(random, second, gone, depth - 1, may_leave);
        here = first | second;
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

/// Writes PTX: %r2 is the value, %r3 a mask with the lane's own bit, %rd1 the sums' address.
class Writer {
 public:
  std::string text;

  void emit(const std::vector<Statement>& all, int depth = 0) {
    for (const Statement& one : all) emit(one, depth);
  }

 private:
  void line(const std::string& one) { text += "  " + one + "\n"; }
  void jump_if_in(std::uint32_t mask, const std::string& where) {
    line(fmt::format("and.b32 %r4, %r3, {};", mask));
    line("setp.ne.u32 %p1, %r4, 0;");
    line("@%p1 " + where);
  }

  void emit(const Statement& one, int depth) {
    const int id = labels_++;
    switch (one.what) {
      case What::mix:
        line(fmt::format("mad.lo.u32 %r2, %r2, 3, {};", one.constant));
        break;
      case What::add:
        line(fmt::format("red.global.add.u32 [%rd1 + {}], %r2;", one.constant % sums * 4));
        break;
      case What::sync:
        if (!one.barrier_inside) return line(fmt::format("bar.warp.sync {};", one.lanes | one.left));
        jump_if_in(0x55555555, fmt::format("bra A{};", id));
        line(fmt::format("bar.warp.sync {};", one.lanes | one.left));
        line(fmt::format("bra E{};", id));
        text += fmt::format("A{}:\n", id);
        line(fmt::format("bar.warp.sync {};", one.lanes | one.left));
        text += fmt::format("E{}:\n", id);
        break;
      case What::shuffle:  // where the other lane takes part; a lane that asks in vain would get anything
        line(fmt::format("xor.b32 %r5, %r1, {};", one.constant));
        line(fmt::format("shr.u32 %r6, {}, %r5;", one.lanes));
        line("and.b32 %r6, %r6, 1;");
        line("setp.ne.u32 %p2, %r6, 0;");
        line("selp.b32 %r5, %r5, %r1, %p2;");
        line(fmt::format("shfl.sync.idx.b32 %r7, %r2, %r5, 31, {};", one.lanes));
        line("add.u32 %r2, %r2, %r7;");
        break;
      case What::ballot:
        line("and.b32 %r5, %r2, 1;");
        line("setp.ne.u32 %p2, %r5, 0;");
        line(fmt::format("vote.sync.ballot.b32 %r7, %p2, {};", one.lanes | one.left));
        line("add.u32 %r2, %r2, %r7;");
        break;
      case What::leave:
        jump_if_in(one.lanes, "bra LEAVE;");
        break;
      case What::part:
        jump_if_in(one.lanes, fmt::format("bra A{};", id));
        emit(one.second, depth);
        line(fmt::format("bra E{};", id));
        text += fmt::format("A{}:\n", id);
        emit(one.first, depth);
        text += fmt::format("E{}:\n", id);
        break;
      case What::repeat:
        line(fmt::format("mov.u32 %r{}, 0;", 20 + depth));
        text += fmt::format("A{}:\n", id);
        emit(one.first, depth + 1);
        line(fmt::format("add.u32 %r{0}, %r{0}, 1;", 20 + depth));
        line(fmt::format("setp.lt.u32 %p1, %r{}, {};", 20 + depth, one.constant));
        line(fmt::format("@%p1 bra A{};", id));
        break;
    }
  }

  int labels_ = 0;
};

void follow(const std::vector<Statement>& all, std::uint32_t here, Oracle& oracle);

/// What one lane does by itself. `before`: all values as the statement begins.
void follow_lane(const Statement& one, std::uint32_t lane, const std::array<std::uint32_t, lanes>& before,
                 Oracle& oracle) {
  std::uint32_t& value = oracle.value[lane];
  switch (one.what) {
    case What::mix:
      value = value * 3 + one.constant;
      ++oracle.instructions;
      break;
    case What::add:
      oracle.sum[one.constant % sums] += value;
      ++oracle.instructions;
      break;
    case What::sync:
      oracle.instructions += !one.barrier_inside ? 1 : (lane % 2 == 0 ? 4 : 5);
      break;
    case What::shuffle: {
      const std::uint32_t from = lane ^ one.constant;
      value += before[(one.lanes >> from & 1) != 0 ? from : lane];
      oracle.instructions += 7;
      break;
    }
    case What::ballot:
      for (std::uint32_t other = 0; other < lanes; ++other)
        value += (one.lanes >> other & 1) != 0 && (before[other] & 1) != 0 ? 1u << other : 0;
      oracle.instructions += 4;
      break;
    case What::leave:
      oracle.instructions += 3;
      if ((one.lanes >> lane & 1) != 0) oracle.live &= ~(1u << lane);
      break;
    case What::part:
      oracle.instructions += (one.lanes >> lane & 1) != 0 ? 3 : 4;
      break;
    case What::repeat:
      oracle.instructions += 1 + 3 * std::int64_t{one.constant};
      break;
  }
}

void follow(const std::vector<Statement>& all, std::uint32_t here, Oracle& oracle) {
  for (const Statement& one : all) {
    const std::array<std::uint32_t, lanes> before = oracle.value;
    for (std::uint32_t left = here & oracle.live; left != 0; left &= left - 1)
      follow_lane(one, static_cast<std::uint32_t>(std::countr_zero(left)), before, oracle);
    if (one.what == What::part) {
      // The jump over the first way is not taken by who has left on the second.
      const std::uint32_t second = here & oracle.live & ~one.lanes;
      follow(one.second, second, oracle);
      oracle.instructions -= std::popcount(second & ~oracle.live);
      follow(one.first, here & oracle.live & one.lanes, oracle);
    }
    for (std::uint32_t turn = 0; one.what == What::repeat && turn < one.constant; ++turn)
      follow(one.first, here, oracle);
  }
}

std::string whole_text(const std::vector<Statement>& program) {
  Writer writer;
  writer.emit(program);
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 s, .param .u64 y)\n{\n"
         "  .reg .pred %p<4>;\n  .reg .b32 %r<30>;\n  .reg .b64 %rd<6>;\n"
         "  ld.param.u64 %rd1, [s];\n  ld.param.u64 %rd2, [y];\n  mov.u32 %r1, %tid.x;\n"
         "  mul.wide.u32 %rd3, %r1, 4;\n  add.u64 %rd2, %rd2, %rd3;\n  mov.u32 %r4, 1;\n  shl.b32 %r3, %r4, %r1;\n"
         "  mad.lo.u32 %r2, %r1, 7, 5;\n" +
         writer.text + "  st.global.u32 [%rd2], %r2;\n  ret;\nLEAVE:\n  ret;\n}\n";
}

}  // namespace

TEST_CASE("lanes that part, leave and wait run each instruction once") {
  constexpr int around = 8 + 2;  // instructions before and after the statements
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    std::mt19937 random(seed);
    std::uint32_t here = ~0u, gone = 0;
    const std::vector<Statement> program = make(random, here, gone, 3, true);
    const std::string text = whole_text(program);
    Oracle oracle;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) oracle.value[lane] = lane * 7 + 5;
    follow(program, ~0u, oracle);
    oracle.instructions += std::int64_t{lanes} * around - std::popcount(~oracle.live);
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      if ((oracle.live >> lane & 1) == 0) oracle.value[lane] = 0;  // who left stored nothing
    CAPTURE(seed);
    INFO(text);
    for (const std::uint64_t schedule : {1, 2}) {
      Memory memory;
      Launch launch;
      launch.block = {lanes, 1, 1};
      launch.arguments.push_back({memory.add("s", sums * 4, 4, BufferUse::scratch), 0, {}});
      launch.arguments.push_back({memory.add("y", lanes * 4, 4, BufferUse::scratch), 0, {}});
      SimulationOptions options;
      options.seed = schedule;
      const PtxModule module = parse_ptx(text, "k.ptx");
      const Simulation simulation = simulate(Program(module, entry_of(module)), launch, memory, options);
      REQUIRE(simulation.outcome == SimulationOutcome::finished);
      REQUIRE((simulation.findings.empty() ? "" : describe(simulation.findings[0])) == "");
      std::array<std::uint32_t, sums> sum{};
      std::array<std::uint32_t, lanes> value{};
      std::memcpy(sum.data(), memory.bytes(0).data(), sizeof sum);
      std::memcpy(value.data(), memory.bytes(1).data(), sizeof value);
      REQUIRE(sum == oracle.sum);
      REQUIRE(value == oracle.value);
      REQUIRE(simulation.counters.lane_instructions == oracle.instructions);
    }
  }
}

}  // namespace tailor::simulator
