// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches by hand: what a driver would refuse, samples of blocks, programs that cannot be simulated, and PTX that no
// compiler of ours writes (calls, tables of branches, diverged shuffles). PTX is written here; expected results follow
// from it by hand. Part of the suite `simulator`; needs no NVRTC.
#include "profiler/simulator/machine/launch.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "launch_by_hand.h"

namespace tailor::simulator {
namespace {

TEST_CASE("a launch that no driver takes is refused with its numbers") {
  const auto reason = [](const Launch& launch, const std::string& text = numbering) {
    const Run made = run(text, launch, 64);
    CHECK(made.simulation.outcome == SimulationOutcome::refused);
    return made.simulation.reason;
  };
  Launch launch;
  launch.block = {2048, 1, 1};
  CHECK(reason(launch) == "the block is 2048 x 1 x 1, more than 1024 threads");
  launch.block = {0, 1, 1};
  CHECK(reason(launch).find("no extent may be 0") != std::string::npos);
  launch = {};
  launch.arguments = {{0, 0, {}}, {0, 0, {}}};
  CHECK(reason(launch) == "2 arguments were given, k takes 1");
  launch.arguments = {{-1, 0, std::vector<std::byte>(4)}};
  CHECK(reason(launch) == "argument 0 has 4 bytes, parameter 0 has 8");
  launch.arguments = {{7, 0, {}}};
  CHECK(reason(launch) == "argument 0 names buffer 7 of 1");
  launch = {};
  launch.grid = {3, 1, 1};
  launch.cluster = {2, 1, 1};
  CHECK(reason(launch) == "the grid 3 x 1 x 1 is no multiple of the cluster 2 x 1 x 1");
  launch = {};
  launch.cooperative = true;
  launch.grid = {1u << 30, 1, 1};
  launch.block = {1024, 1, 1};
  CHECK(reason(launch).find("resident") != std::string::npos);
}

TEST_CASE("every block of a grid of clusters runs once, and knows its place in its cluster") {
  // y[2 * i] counts the runs of block i, y[2 * i + 1] packs its cluster, its place in it, and its rank.
  const std::string places = entry(
      ".param .u64 y",
      "  .reg .b32 %r<30>;\n  .reg .b64 %rd<5>;\n  ld.param.u64 %rd1, [y];\n"
      "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ctaid.y;\n  mov.u32 %r3, %ctaid.z;\n"
      "  mov.u32 %r4, %nctaid.x;\n  mov.u32 %r5, %nctaid.y;\n"
      "  mad.lo.u32 %r6, %r3, %r5, %r2;\n  mad.lo.u32 %r7, %r6, %r4, %r1;\n"
      "  mul.wide.u32 %rd2, %r7, 8;\n  add.s64 %rd3, %rd1, %rd2;\n  red.global.add.u32 [%rd3], 1;\n"
      "  mov.u32 %r8, %clusterid.x;\n  mov.u32 %r9, %clusterid.y;\n  mov.u32 %r10, %clusterid.z;\n"
      "  mov.u32 %r11, %cluster_ctaid.x;\n  mov.u32 %r12, %cluster_ctaid.y;\n  mov.u32 %r13, %cluster_ctaid.z;\n"
      "  mov.u32 %r14, %cluster_ctarank;\n"
      "  mad.lo.u32 %r15, %r8, 16, %r9;\n  mad.lo.u32 %r15, %r15, 16, %r10;\n  mad.lo.u32 %r15, %r15, 16, %r11;\n"
      "  mad.lo.u32 %r15, %r15, 16, %r12;\n  mad.lo.u32 %r15, %r15, 16, %r13;\n  mad.lo.u32 %r15, %r15, 16, %r14;\n"
      "  red.global.add.u32 [%rd3+4], %r15;\n  ret;");
  using Extents = std::array<std::uint32_t, 3>;
  for (const Extents& cluster :
       {Extents{2, 4, 1}, Extents{4, 2, 1}, Extents{1, 2, 4}, Extents{2, 1, 3}, Extents{1, 1, 8}}) {
    Launch launch;
    launch.cluster = cluster;
    launch.grid = {cluster[0] * 3, cluster[1] * 2, cluster[2] * 2};
    CAPTURE(fmt::format("{} x {} x {}", cluster[0], cluster[1], cluster[2]));
    const auto blocks = static_cast<int>(launch.grid[0] * launch.grid[1] * launch.grid[2]);
    const Run made = run(places, launch, 2 * blocks, {}, BufferUse::both);
    REQUIRE_MESSAGE(made.simulation.outcome == SimulationOutcome::finished, made.simulation.reason);
    for (std::uint32_t z = 0, at = 0; z < launch.grid[2]; ++z)
      for (std::uint32_t y = 0; y < launch.grid[1]; ++y)
        for (std::uint32_t x = 0; x < launch.grid[0]; ++x, at += 2) {
          const Extents inside{x % cluster[0], y % cluster[1], z % cluster[2]};
          std::uint32_t packed = 0;
          for (const std::uint32_t part : {x / cluster[0], y / cluster[1], z / cluster[2], inside[0], inside[1],
                                           inside[2], (inside[2] * cluster[1] + inside[1]) * cluster[0] + inside[0]})
            packed = packed * 16 + part;
          CHECK(made.y[at] == 1);
          CHECK(made.y[at + 1] == packed);
        }
  }
}

TEST_CASE("parts of a value may take its register: each is read before the first is written") {
  // Every source is read for the last time where it is taken apart.
  const Run made =
      run(entry(".param .u64 y",
                "  .reg .b16 %h<5>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n  ld.param.u64 %rd1, [y];\n"
                "  mov.u32 %r1, %tid.x;\n  add.u32 %r2, %r1, 0x12345678;\n  mov.b32 {%h1, %h2}, %r2;\n"
                "  cvt.u32.u16 %r3, %h1;\n  cvt.u32.u16 %r4, %h2;\n  st.global.v2.u32 [%rd1], {%r3, %r4};\n"
                "  cvt.u64.u32 %rd2, %r1;\n  add.u64 %rd3, %rd2, 0x1122334455667788;\n"
                "  mov.b64 {%r5, %r6}, %rd3;\n  st.global.v2.u32 [%rd1+8], {%r5, %r6};\n"
                "  add.u64 %rd4, %rd1, 0;\n  ld.global.v2.u64 {%rd5, %rd6}, [%rd4];\n"
                "  st.global.v2.u64 [%rd1+16], {%rd5, %rd6};\n  ret;"),
          {}, 8);
  REQUIRE_MESSAGE(made.simulation.outcome == SimulationOutcome::finished, made.simulation.reason);
  const std::vector<std::uint32_t> half{0x5678, 0x1234, 0x55667788, 0x11223344};
  CHECK(std::vector<std::uint32_t>(made.y.begin(), made.y.begin() + 4) == half);
  CHECK(std::vector<std::uint32_t>(made.y.begin() + 4, made.y.end()) == half);
}

/// y[0..1] after `body` on the registers %rd2 (a), %rd3 (b) and %rd4 (c), or %r2, %r3 and %r4.
std::pair<std::uint32_t, std::uint32_t> packed(const std::string& body, std::uint64_t a, std::uint64_t b,
                                               std::uint64_t c) {
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  const Run made = run(entry(".param .u64 y",
                             "  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n  ld.param.u64 %rd1, [y];\n"
                             "  mov.b64 %rd2, " +
                                 number(a) + ";\n  mov.b64 %rd3, " + number(b) + ";\n  mov.b64 %rd4, " + number(c) +
                                 ";\n  cvt.u32.u64 %r2, %rd2;\n"
                                 "  cvt.u32.u64 %r3, %rd3;\n  cvt.u32.u64 %r4, %rd4;\n"
                                 "  mov.b64 %rd5, 0;\n" +
                                 body + "  st.global.u64 [%rd1], %rd5;\n  ret;"),
                       {}, 2);
  CHECK(made.simulation.outcome == SimulationOutcome::finished);
  CHECK(made.simulation.reason == "");
  return {made.y[0], made.y[1]};
}

TEST_CASE("two floats in one register are two floats") {
  const auto pair = [](float low, float high) {
    return std::uint64_t{std::bit_cast<std::uint32_t>(high)} << 32 | std::bit_cast<std::uint32_t>(low);
  };
  const float a[2] = {1.5f, -3.25f}, b[2] = {0x1.000002p+0f, 7.0f}, c[2] = {0.125f, 0x1p-140f};
  const auto result = [&](const std::string& opcode, const std::string& operands) {
    const auto [low, high] =
        packed("  " + opcode + " %rd5, " + operands + ";\n", pair(a[0], a[1]), pair(b[0], b[1]), pair(c[0], c[1]));
    return std::pair(std::bit_cast<float>(low), std::bit_cast<float>(high));
  };
  CHECK(result("add.rn.f32x2", "%rd2, %rd3") == std::pair(a[0] + b[0], a[1] + b[1]));
  CHECK(result("sub.rn.f32x2", "%rd2, %rd3") == std::pair(a[0] - b[0], a[1] - b[1]));
  CHECK(result("mul.rn.f32x2", "%rd2, %rd3") == std::pair(a[0] * b[0], a[1] * b[1]));
  CHECK(result("fma.rn.f32x2", "%rd2, %rd3, %rd4") ==
        std::pair(std::fma(a[0], b[0], c[0]), std::fma(a[1], b[1], c[1])));
  CHECK(result("add.rn.ftz.f32x2", "%rd4, %rd5") == std::pair(c[0], 0.0f));
  CHECK(result("add.rn.f32x2", "%rd4, %rd5") == std::pair(c[0], c[1]));
}

TEST_CASE("differences of bytes and half words are those of their parts") {
  std::uint32_t state = 12345;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int round = 0; round < 20; ++round) {
    const std::uint32_t a = next(), b = next(), c = next();
    for (const int width : {8, 16})
      for (const bool is_signed : {false, true}) {
        std::uint32_t parts = 0, sum = c;
        for (int at = 0; at < 32; at += width) {
          const auto part = [&](std::uint32_t whole) {
            const std::int64_t value = whole >> at & ((1u << width) - 1);
            return is_signed && value >= 1 << (width - 1) ? value - (1 << width) : value;
          };
          const auto distance = static_cast<std::uint32_t>(std::abs(part(a) - part(b)));
          parts |= distance << at;
          sum += distance;
        }
        const std::string type = is_signed ? "s32" : "u32";
        const std::string opcode = fmt::format("vabsdiff{}.u32.{}.{}", 32 / width, type, type);
        const auto made = [&](const std::string& suffix) {
          return packed("  " + opcode + suffix + " %r5, %r2, %r3, %r4;\n  cvt.u64.u32 %rd5, %r5;\n", a, b, c).first;
        };
        CHECK(made("") == parts);
        CHECK(made(".add") == sum);
      }
  }
}

TEST_CASE("an instruction nobody knows is named with its line, and never run") {
  const Run made = run(entry(".param .u64 y", "  .reg .b32 %r<3>;\n  frobnicate.b32 %r1, %r2;\n  ret;"), {}, 4);
  CHECK(made.simulation.outcome == SimulationOutcome::unsupported);
  CHECK(made.simulation.reason == "frobnicate.b32 (line 7): no row of the opcode table has it");
}

/// How many races a warp has whose lanes run `body` on one place of 8 bytes, y, from 0. %rd1 is its address.
std::int64_t races_at_one_place(const std::string& body) {
  Memory memory;
  Launch launch;
  launch.block = {32, 1, 1};
  launch.arguments.push_back({memory.add("y", 16, 8, BufferUse::scratch), 0, {}});
  const Simulation made = simulate(program_of(entry(".param .u64 y",
                                                    "  .reg .pred %p<4>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n"
                                                    "  ld.param.u64 %rd8, [y];\n"
                                                    "  cvta.to.global.u64 %rd1, %rd8;\n" +
                                                        body + "  ret;")),
                                   launch, memory);
  CHECK(made.outcome == SimulationOutcome::finished);
  return std::count_if(made.findings.begin(), made.findings.end(),
                       [](const Finding& one) { return one.kind == FindingKind::race; });
}

TEST_CASE("a plain load is no race where a compare-and-swap checks it, and one where its value is used otherwise") {
  const std::string next = "  add.s64 %rd3, %rd2, 1;\n", swap = "  atom.global.cas.b64 %rd4, [%rd1], %rd2, %rd3;\n";
  const std::string load = "  ld.global.u64 %rd2, [%rd1];\n", back = "  mov.u64 %rd2, %rd4;\n";
  const std::string differs = "  setp.ne.s64 %p1, %rd2, %rd4;\n", equal = "  setp.eq.s64 %p1, %rd4, %rd2;\n";
  const std::string store = "  st.global.u64 [%rd1+8], %rd2;\n";
  const auto races = [](const std::string& body) { return races_at_one_place(body) != 0; };
  // As NVCC and LLVM write it: compared before the copy, and with a block of its own for the copy.
  CHECK_FALSE(races(load + "L:\n" + next + swap + differs + back + "  @%p1 bra L;\n"));
  CHECK_FALSE(races(load + "L:\n" + next + swap + equal + "  @%p1 bra E;\n" + back + "  bra L;\nE:\n"));
  CHECK_FALSE(races(load + next + swap));  // tried once
  // By the address that is not converted, and of the bits in another register.
  CHECK_FALSE(
      races("  ld.u64 %rd5, [%rd8];\n  mov.b64 %rd2, %rd5;\nL:\n" + next + swap + differs + back + "  @%p1 bra L;\n"));
  // Kept after it was proven: lanes store different values at another place, which is the only race.
  const std::string kept = load + "L:\n" + next + swap + equal + "  @!%p1 bra B;\n" + store + "  bra E;\nB:\n" + back;
  CHECK(races_at_one_place(kept + "  bra L;\nE:\n") == 1);
  CHECK(races_at_one_place(load + "L:\n" + next + swap + equal + store + back + "  @!%p1 bra L;\n") == 2);
  for (const std::string& body : {
           load + store + next + swap,                                            // stored first
           load + "  mov.u64 %rd6, %rd2;\nL:\n" + next + swap + differs + back +  // an old value kept
               "  @%p1 bra L;\n  st.global.u64 [%rd1+8], %rd6;\n",
           load + "  setp.gt.s64 %p2, %rd2, 40;\n  @%p2 bra E;\n" + next + swap + "E:\n",  // decides before
           "  ld.global.u32 %r1, [%rd1];\n  cvt.u64.u32 %rd2, %r1;\n" + next + swap,       // of another size
           load + "  add.s64 %rd2, %rd2, 0;\n" + next + swap,                              // computed
           load + "  add.s64 %rd3, %rd2, 1;\n  mov.u64 %rd2, 0;\n" + swap,                 // compared with another
           load + next + "  red.global.add.u64 [%rd1], %rd2;\n" + swap,                    // added elsewhere
       }) {
    CAPTURE(body);
    CHECK(races(body));
  }
}

TEST_CASE("operands of the wrong kind or number are an error with the line") {
  for (const char* body : {"  add.s32 %r1, %r2;", "  add.s32 5, %r1, %r2;", "  setp.lt.s32 %r1, %r2, %r3;",
                           "  ld.global.v2.u32 %r1, [%rd1];", "  bra;"}) {
    CAPTURE(body);
    const std::string text = entry("", std::string("  .reg .b32 %r<4>;\n  .reg .b64 %rd<2>;\n") + body + "\n  ret;");
    try {
      program_of(text);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.at.line == 8);
      CHECK(error.at.file == "k.ptx");
    }
  }
}

TEST_CASE("chosen blocks run alone and leave the rest as it was") {
  SimulationOptions options;
  options.blocks = {1, 3};
  Launch launch;
  launch.grid = {5, 1, 1};
  launch.block = {64, 1, 1};
  const Run made = run(numbering, launch, 320, options);
  CHECK(made.simulation.findings.empty());
  CHECK(made.simulation.blocks_run == 2);
  CHECK(made.simulation.blocks_total == 5);
  for (std::uint32_t i = 0; i < 320; ++i) CHECK(made.y[i] == (i / 64 == 1 || i / 64 == 3 ? 2 * i + 1 : 0xcdcdcdcdu));
  CHECK(made.simulation.counters.global_store_requests == 4);
  CHECK(made.simulation.counters.global_store_sectors == 16);
}

TEST_CASE("time is over, or a stop was asked for, before every warp has had its turn") {
  // 32 warps of 8 blocks that all must be resident; each goes round 10,000 times.
  const std::string rounds = entry(".param .u64 y",
                                   "  .reg .b32 %r<3>;\n  .reg .pred %p;\n  mov.u32 %r1, 0;\n"
                                   "again:\n  add.s32 %r1, %r1, 1;\n  setp.lt.s32 %p, %r1, 10000;\n  @%p bra again;\n"
                                   "  ret;");
  Launch launch;
  launch.grid = {8, 1, 1};
  launch.block = {1024, 1, 1};
  launch.cooperative = true;
  std::stop_source stop;
  int looks = 0;
  SimulationOptions options;
  options.time_limit = {1};
  SUBCASE("time is over") {
    options.clock = [&] { return Seconds{++looks < 3 ? 0.5 : 1.5}; };
  }
  SUBCASE("a stop was asked for") {
    options.stop = stop.get_token();
    options.clock = [&] {
      if (++looks == 2) stop.request_stop();
      return Seconds{0.5};
    };
  }
  const Run made = run(rounds, launch, 1, options);
  CHECK(made.simulation.outcome == SimulationOutcome::stopped);
  CHECK(made.simulation.reason == (options.stop.stop_possible() ? "stopped" : "it took longer than 1 s"));
  CHECK(looks <= 3);
  CHECK(made.simulation.counters.instructions > 0);
  CHECK(made.simulation.counters.instructions < 20'000);  // of 7.7 million; one round of all warps is 150,000
}

TEST_CASE("a warp that runs too long is stopped") {
  const Run made = run(entry(".param .u64 y", "again:\n  bra again;"), {}, 4, [] {
    SimulationOptions options;
    options.warp_instructions = 10'000;
    return options;
  }());
  CHECK(made.simulation.outcome == SimulationOutcome::stopped);
  REQUIRE(made.simulation.findings.size() == 1);
  CHECK(made.simulation.findings[0].kind == FindingKind::too_long);
}

TEST_CASE("a table of branches sends each lane where its index says") {
  const std::string text = entry(".param .u64 y", R"(  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 3;
  targets: .branchtargets zero, one, two, three;
  brx.idx %r2, targets;
zero:
  mov.u32 %r3, 10;
  bra done;
one:
  mov.u32 %r3, 11;
  bra done;
two:
  mov.u32 %r3, 12;
  bra done;
three:
  mov.u32 %r3, 13;
done:
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;)");
  Launch launch;
  launch.block = {32, 1, 1};
  const Run made = run(text, launch, 32);
  CHECK(made.simulation.findings.empty());
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(made.y[i] == 10 + i % 4);
  CHECK(made.simulation.counters.global_store_requests == 1);  // the lanes met again
}

TEST_CASE("a narrow load fills the rest of its register with the sign of a signed type and with zeros of another") {
  // One thread stores 0x8182f384 and loads parts of it again.
  const std::vector<std::pair<std::string, std::uint32_t>> loads{{"s8", 0xffffff84},  {"u8", 0x84},    {"b8", 0x84},
                                                                 {"s16", 0xfffff384}, {"u16", 0xf384}, {"b16", 0xf384}};
  std::string body =
      "  .reg .b32 %r<4>;\n  .reg .b64 %d<4>;\n  ld.param.u64 %d1, [y];\n  mov.u32 %r1, 0x8182f384;\n"
      "  st.global.u32 [%d1], %r1;\n";
  for (std::size_t i = 0; i < loads.size(); ++i) {
    body += fmt::format("  ld.global.{} %r2, [%d1];\n  st.global.u32 [%d1+{}], %r2;\n", loads[i].first, 4 * (i + 1));
    body += fmt::format(
        "  ld.global.{} %d2, [%d1];\n  shr.u64 %d3, %d2, 32;\n  cvt.u32.u64 %r3, %d3;\n"
        "  st.global.u32 [%d1+{}], %r3;\n",
        loads[i].first, 4 * (i + 1 + loads.size()));
  }
  Launch launch;
  launch.block = {1, 1, 1};
  const Run made = run(entry(".param .u64 y", body + "  ret;"), launch, 13);
  for (const Finding& one : made.simulation.findings) MESSAGE(describe(one));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    CAPTURE(loads[i].first);
    CHECK(made.y[i + 1] == loads[i].second);
    CHECK(made.y[i + 1 + loads.size()] == (loads[i].second >> 31 ? 0xffffffff : 0));
  }
}

TEST_CASE("lanes on different paths exchange through shuffles of their own masks") {
  // Even and odd lanes branch apart; each half shuffles with its own mask, then all meet.
  const std::string text = entry(".param .u64 y", R"(  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.s32 %p1, %r2, 0;
  @%p1 bra even;
  shfl.sync.bfly.b32 %r3, %r1, 2, 31, 0xaaaaaaaa;
  bra done;
even:
  shfl.sync.bfly.b32 %r3, %r1, 4, 31, 0x55555555;
done:
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;)");
  Launch launch;
  launch.block = {32, 1, 1};
  const Run made = run(text, launch, 32);
  for (const Finding& one : made.simulation.findings) MESSAGE(describe(one));
  CHECK(made.simulation.findings.empty());
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(made.y[i] == (i % 2 ? i ^ 2 : i ^ 4));
}

TEST_CASE("lanes that come to a shuffle or a barrier one after the other execute it together, and once") {
  // A loop that some lanes leave earlier than others, and a way out of it that none takes: so the shuffle is not where
  // all paths meet, and those that come first wait there.
  const std::string text = entry(".param .u64 y", R"(  .reg .pred %p<5>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [y];
  mov.u32 %r1, %tid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r2, 0;
  setp.gt.u32 %p1, %r1, 3;
  @%p1 bra meet;
turn:
  setp.eq.u32 %p2, %r4, 0;
  @%p2 bra leave;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p3, %r2, 5;
  @%p3 bra turn;
meet:
  shfl.sync.bfly.b32 %r3, %r1, 1, 31, 0xffffffff;
  bar.warp.sync 0xffffffff;
  bar.sync 0;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
leave:
  ret;)");
  Launch launch;
  launch.block = {64, 1, 1};
  const Run made = run(text, launch, 64);
  for (const Finding& one : made.simulation.findings) MESSAGE(describe(one));
  CHECK(made.simulation.findings.empty());
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(made.y[i] == (i ^ 1));
  CHECK(made.simulation.counters.shuffles == 2);  // of two warps
  CHECK(made.simulation.counters.warp_barriers == 2);
  CHECK(made.simulation.counters.block_barriers == 2);
}

TEST_CASE("a seed decides what is seen, not the number of host threads") {
  Launch launch;
  launch.grid = {40, 1, 1};
  launch.block = {64, 1, 1};
  SimulationOptions one, three;
  three.threads = 3;
  const Run a = run(numbering, launch, 2560, one), b = run(numbering, launch, 2560, three);
  CHECK(a.y == b.y);
  CHECK(a.simulation.counters == b.simulation.counters);
  CHECK(a.simulation.buffers == b.simulation.buffers);
}

}  // namespace
}  // namespace tailor::simulator
