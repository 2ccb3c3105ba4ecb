// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Votes of a warp over every kind of predicate, against what the manual says of each, and barriers that a warp arrives
// at in parts, which open when the last lane came. In: PTX written here. Out: what each lane was told. Part of the
// suite `simulator`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {
namespace {

/// The words that `blocks` of so many threads leave in y, one for each thread.
std::vector<std::uint32_t> left_in_y(const std::string& body, std::uint32_t threads, std::uint64_t seed = 1) {
  const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n" +
                           body +
                           "  ld.param.u64 %d1, [y];\n  mul.wide.u32 %d2, %t, 4;\n  add.s64 %d3, %d1, %d2;\n"
                           "  st.global.u32 [%d3], %out;\n  ret;\n}\n";
  const PtxModule module = parse_ptx(text, "k.ptx");
  Memory memory;
  const int y = memory.add("y", 4 * static_cast<std::int64_t>(threads), 4, BufferUse::output);
  Launch launch;
  launch.block = {threads, 1, 1};
  launch.arguments = {{y, 0, {}}};
  SimulationOptions options;
  options.seed = seed;
  const Simulation simulation = simulate(Program(module, entry_of(module)), launch, memory, options);
  for (const Finding& one : simulation.findings) FAIL_CHECK(describe(one));
  CHECK_MESSAGE(simulation.outcome == SimulationOutcome::finished, simulation.reason);
  std::vector<std::uint32_t> words(threads);
  std::memcpy(words.data(), memory.bytes(y).data(), 4 * words.size());
  return words;
}

const std::string registers =
    "  .reg .pred %p<4>;\n  .reg .b32 %t, %out, %r<8>;\n  .reg .b64 %d<4>;\n  mov.u32 %t, %tid.x;\n";

}  // namespace

TEST_CASE("votes say whether all, any or equally many agree, and who, for every kind of predicate") {
  for (const std::uint32_t yes : {0u, ~0u, 1u, 0x80000000u, 0x0000ffffu, 0xfffffffeu, 0x12345678u}) {
    CAPTURE(yes);
    const std::string predicate =
        fmt::format("{}  shr.u32 %r1, {}, %t;\n  and.b32 %r2, %r1, 1;\n  setp.ne.u32 %p1, %r2, 0;\n", registers, yes);
    const auto told = [&](const std::string& mode) {
      return left_in_y(predicate + fmt::format("  vote.sync.{}.pred %p2, %p1, 0xffffffff;\n"
                                               "  selp.u32 %out, 1, 0, %p2;\n",
                                               mode),
                       32);
    };
    const std::vector<std::pair<std::string, bool>> modes{
        {"all", yes == ~0u}, {"any", yes != 0}, {"uni", yes == 0 || yes == ~0u}};
    for (const auto& [mode, expected] : modes) {
      CAPTURE(mode);
      CHECK(told(mode) == std::vector<std::uint32_t>(32, expected ? 1 : 0));
    }
    CHECK(left_in_y(predicate + "  vote.sync.ballot.b32 %out, %p1, 0xffffffff;\n", 32) ==
          std::vector<std::uint32_t>(32, yes));
  }
}

TEST_CASE("a vote of some lanes is about those lanes alone") {
  // The lower half votes on an even number of lanes that say no, the upper half on its own.
  const std::string body = registers +
                           "  setp.lt.u32 %p1, %t, 16;\n  @%p1 bra low;\n  setp.lt.u32 %p2, %t, 20;\n"
                           "  vote.sync.uni.pred %p3, %p2, 0xffff0000;\n  selp.u32 %out, 1, 0, %p3;\n  bra done;\n"
                           "low:\n  setp.gt.u32 %p2, %t, 99;\n  vote.sync.uni.pred %p3, %p2, 0x0000ffff;\n"
                           "  selp.u32 %out, 1, 0, %p3;\ndone:\n";
  const std::vector<std::uint32_t> told = left_in_y(body, 32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(told[lane] == (lane < 16 ? 1 : 0));
}

TEST_CASE("a barrier that a warp arrives at in parts opens for nobody before its last lane has come") {
  // Of the first warp the upper half stores before it arrives, the lower half arrives at once; the second warp reads
  // what was stored. Both halves use the unaligned form, which needs no whole warp.
  const std::string body = registers +
                           "  .shared .align 4 .b8 s[64];\n  mov.u32 %r7, s;\n  mov.u32 %out, 7;\n"
                           "  setp.ge.u32 %p1, %t, 32;\n  @%p1 bra reads;\n  setp.ge.u32 %p2, %t, 16;\n"
                           "  @%p2 bra stores;\n  barrier.cta.sync 0;\n  bra done;\n"
                           "stores:\n  sub.u32 %r1, %t, 16;\n  shl.b32 %r2, %r1, 2;\n  add.u32 %r3, %r7, %r2;\n"
                           "  add.u32 %r4, %t, 100;\n  st.shared.u32 [%r3], %r4;\n  barrier.cta.sync 0;\n  bra done;\n"
                           "reads:\n  barrier.cta.sync 0;\n  and.b32 %r1, %t, 15;\n  shl.b32 %r2, %r1, 2;\n"
                           "  add.u32 %r3, %r7, %r2;\n  ld.shared.u32 %out, [%r3];\ndone:\n";
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    CAPTURE(seed);
    const std::vector<std::uint32_t> told = left_in_y(body, 64, seed);
    for (std::uint32_t t = 0; t < 64; ++t) CHECK(told[t] == (t < 32 ? 7 : 116 + t % 16));
  }
}

}  // namespace tailor::simulator
