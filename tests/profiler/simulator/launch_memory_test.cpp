// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of launches by hand: guard zones between buffers, buffers that are made as they are touched and how much
// of them there may be, elements smaller than a buffer was declared with, and what one launch leaves to the next. PTX
// is written here; expected results follow from it by hand. Part of the suite `simulator`; needs no NVRTC.
#include "profiler/simulator/machine/launch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "launch_by_hand.h"

namespace tailor::simulator {
namespace {

TEST_CASE("an index past the end meets a guard zone and no other buffer") {
  Memory memory;
  const int y = memory.add("y", 256, 4, BufferUse::output);
  const int other = memory.add("other", 4096, 4, BufferUse::output);
  const std::vector<std::byte> before(memory.bytes(other).begin(), memory.bytes(other).end());
  Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  launch.arguments = {{y, 0, {}}};
  SimulationOptions options;
  options.random_schedule = false;
  const Simulation made = simulate(program_of(numbering), launch, memory, options);
  REQUIRE(made.findings.size() == 1);
  CHECK(made.findings[0].kind == FindingKind::out_of_bounds);
  CHECK(made.findings[0].ptx_line == 16);
  CHECK(made.findings[0].times == 64);
  CHECK(made.findings[0].text == "thread 0 of block 1 accesses 4 bytes at element 64 of buffer y, which has 64");
  CHECK(std::equal(before.begin(), before.end(), memory.bytes(other).begin()));
}

TEST_CASE("a launch that touches more memory than it may hold ends, and one that touches less does not") {
  constexpr std::int64_t words = 1 << 16;  // 64 pieces of 4 KiB, of which a block touches one sixteenth of a piece
  const auto outcome = [&](std::int64_t most, bool sanitize) {
    Memory memory;
    const int y = memory.add_lazily("y", words * 4, 4, BufferUse::output);
    Launch launch;
    launch.grid = {words / 64, 1, 1};
    launch.block = {64, 1, 1};
    launch.arguments = {{y, 0, {}}};
    SimulationOptions options;
    options.sanitize = sanitize;
    options.most_lazy_bytes = most;
    return simulate(program_of(numbering), launch, memory, options);
  };
  CHECK(outcome(words * 4, false).outcome == SimulationOutcome::finished);
  const Simulation less = outcome(words * 4 - 1, false);
  CHECK(less.outcome == SimulationOutcome::out_of_memory);
  CHECK(less.reason == "its blocks touch more than 262 KB of memory");
  CHECK(less.blocks_run < less.blocks_total);
  CHECK(outcome(words * 4, true).outcome == SimulationOutcome::out_of_memory);  // the sanitizers' records
  CHECK(outcome(words * 24, true).outcome == SimulationOutcome::finished);
  CHECK(outcome(0, true).outcome == SimulationOutcome::finished);
}

TEST_CASE("a buffer of terabytes takes the memory of what a launch touches of it") {
  constexpr std::int64_t bytes = std::int64_t{1} << 42;
  Memory memory;
  const std::int64_t before = held_memory();
  const int y = memory.add_lazily("y", bytes, 4, BufferUse::output);
  Launch launch;
  launch.grid = {1, 1, 1};
  launch.block = {64, 1, 1};
  launch.arguments = {{y, 0, {}}};
  SimulationOptions options;
  options.sanitize = false;
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(memory.touched(y).empty());
    CHECK(simulate(program_of(numbering), launch, memory, options).outcome == SimulationOutcome::finished);
    REQUIRE(memory.touched(y).size() == 1);
    CHECK(memory.touched(y)[0].first == 0);
    CHECK(memory.touched(y)[0].bytes == lazy_piece_bytes);
    memory.poison_outputs();
  }
  CHECK(held_memory() - before < 50'000'000);  // a mark for each piece would be a gigabyte
}

/// h[i] = i for the first `n` of all threads, in elements of 2 bytes.
std::string halves_kernel() {
  return entry(".param .u64 h, .param .u32 n", R"(  .reg .pred %p<2>;
  .reg .b16 %h<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [h];
  ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra done;
  mul.wide.u32 %rd2, %r4, 2;
  add.s64 %rd3, %rd1, %rd2;
  cvt.u16.u32 %h1, %r4;
  st.global.b16 [%rd3], %h1;
done:
  ret;)");
}

/// copy[i] = h[i] for the first `n` of all threads, in elements of 2 bytes.
std::string halves_copy() {
  return entry(".param .u64 h, .param .u64 copy, .param .u32 n", R"(  .reg .pred %p<2>;
  .reg .b16 %h<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [h];
  ld.param.u64 %rd4, [copy];
  ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p1, %r4, %r5;
  @%p1 bra done;
  mul.wide.u32 %rd2, %r4, 2;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.b16 %h1, [%rd3];
  add.s64 %rd5, %rd4, %rd2;
  st.global.b16 [%rd5], %h1;
done:
  ret;)");
}

Argument number(std::uint32_t value) {
  Argument made;
  made.value.resize(sizeof value);
  std::memcpy(made.value.data(), &value, sizeof value);
  return made;
}

Launch halves_launch(std::vector<Argument> arguments, std::uint32_t n) {
  Launch launch;
  launch.block = {128, 1, 1};
  launch.grid = {(n + 127) / 128, 1, 1};
  launch.arguments = std::move(arguments);
  launch.arguments.push_back(number(n));
  return launch;
}

TEST_CASE("elements smaller than a buffer was declared with are watched one by one, launch after launch") {
  const Program fill = program_of(halves_kernel()), copy = program_of(halves_copy());
  for (const int element_bytes : {1, 2, 4, 8})
    for (const std::uint32_t n : {1u, 31u, 33u, 127u, 4095u, 40001u})
      for (const int threads : {1, 3}) {
        CAPTURE(element_bytes);
        CAPTURE(n);
        CAPTURE(threads);
        Memory memory;
        // From the second half of a word on, so that words are shared by warps and blocks too.
        const int h = memory.add("h", n * 2 + 2, element_bytes, BufferUse::output);
        const int c = memory.add("copy", n * 2 + 2, element_bytes, BufferUse::output);
        SimulationOptions options;
        options.threads = threads;
        for (int round = 0; round < 2; ++round) {
          const Simulation filled = simulate(fill, halves_launch({{h, 2, {}}}, n), memory, options);
          const Simulation copied = simulate(copy, halves_launch({{h, 2, {}}, {c, 2, {}}}, n), memory, options);
          CHECK(filled.findings.empty());
          CHECK(copied.findings.empty());
        }
        std::vector<std::uint16_t> got(n);
        std::memcpy(got.data(), memory.bytes(c).data() + 2, n * 2);
        for (std::uint32_t i = 0; i < n; ++i) REQUIRE(got[i] == static_cast<std::uint16_t>(i));
      }
}

TEST_CASE("the half of a word that nobody wrote is found, whatever elements the buffer was declared with") {
  for (const int element_bytes : {1, 2, 4, 8}) {
    CAPTURE(element_bytes);
    Memory memory;
    const int h = memory.add("h", 256, element_bytes, BufferUse::both);
    const int c = memory.add("copy", 256, element_bytes, BufferUse::output);
    const Program copy = program_of(halves_copy());
    CHECK(simulate(copy, halves_launch({{h, 0, {}}, {c, 0, {}}}, 33), memory).findings.empty());
    const Simulation read = simulate(copy, halves_launch({{c, 0, {}}, {h, 0, {}}}, 34), memory);
    REQUIRE(read.findings.size() == 1);
    CHECK(read.findings[0].kind == FindingKind::uninitialised_read);
    CHECK(read.findings[0].times == 1);
    CHECK(read.findings[0].warp == 1);
    CHECK(read.findings[0].lane == 1);
  }
}

TEST_CASE("a buffer that is made lazily holds the same, and only what a launch touches is made") {
  constexpr std::uint32_t n = 40'001, per_block = 128;
  const Program copy = program_of(halves_copy());
  const auto value = [](std::int64_t i) { return static_cast<std::uint16_t>(7 * i + 3); };
  std::set<std::int64_t> asked;
  const auto contents = [&](std::int64_t first, std::span<std::byte> to) {
    CHECK(first % lazy_piece_bytes == 0);
    CHECK(asked.insert(first).second);
    for (std::size_t at = 0; at < to.size(); at += 2) {
      const std::uint16_t one = value((first + static_cast<std::int64_t>(at)) / 2);
      std::memcpy(to.data() + at, &one, 2);
    }
  };
  const std::vector<std::int64_t> some{0, 1, 2, 77, 156};
  for (const int threads : {1, 3})
    for (const bool all : {true, false}) {
      CAPTURE(threads);
      CAPTURE(all);
      asked.clear();
      Memory memory;
      const int h = memory.add_lazily("h", n * 2, 2, BufferUse::input, contents);
      const int c = memory.add_lazily("copy", n * 2, 2, BufferUse::output);
      CHECK(memory.touched(h).empty());
      SimulationOptions options;
      options.threads = threads;
      if (!all) options.blocks = some;
      const Simulation run = simulate(copy, halves_launch({{h, 0, {}}, {c, 0, {}}}, n), memory, options);
      CHECK(run.findings.empty());
      std::set<std::int64_t> wanted;  // pieces
      for (std::int64_t i = 0; i < n; ++i) {
        std::uint16_t got = 0;
        std::memcpy(&got, memory.bytes(c).data() + 2 * i, 2);
        if (!all && std::find(some.begin(), some.end(), i / per_block) == some.end()) continue;
        wanted.insert(2 * i / lazy_piece_bytes * lazy_piece_bytes);
        REQUIRE(got == value(i));
      }
      CHECK(asked == wanted);
      std::set<std::int64_t> touched;
      for (const ByteRange& range : memory.touched(c))
        for (std::int64_t at = range.first; at < range.first + range.bytes; at += lazy_piece_bytes) touched.insert(at);
      CHECK(touched == wanted);
      // What nobody wrote is poison, and the end of the buffer is where it was.
      if (!all) CHECK(memory.bytes(c)[2 * (some[3] * per_block) - 2] == std::byte{0xcd});
      const Simulation beyond = simulate(copy, halves_launch({{h, 0, {}}, {c, 0, {}}}, n + 1), memory);
      REQUIRE(!beyond.findings.empty());
      CHECK(beyond.findings[0].kind == FindingKind::out_of_bounds);
    }
}

TEST_CASE("what a launch wrote into an output is there for the next until outputs are poisoned") {
  const std::uint32_t n = 77;
  const Program fill = program_of(halves_kernel()), copy = program_of(halves_copy());
  Memory memory;
  const int h = memory.add("h", n * 2, 2, BufferUse::output), c = memory.add("copy", n * 2, 2, BufferUse::output);
  const auto unwritten = [&] {
    std::int64_t times = 0;
    for (const Finding& one : simulate(copy, halves_launch({{h, 0, {}}, {c, 0, {}}}, n), memory).findings) {
      CHECK(one.kind == FindingKind::uninitialised_read);
      CHECK(one.buffer == h);
      times += one.times;
    }
    return times;
  };
  const auto fill_first = [&](std::uint32_t many, bool sanitize) {
    SimulationOptions options;
    options.sanitize = sanitize;
    CHECK(simulate(fill, halves_launch({{h, 0, {}}}, many), memory, options).findings.empty());
  };
  CHECK(unwritten() == n);
  fill_first(20, true);
  CHECK(unwritten() == n - 20);
  fill_first(50, true);
  CHECK(unwritten() == n - 50);
  fill_first(20, true);
  CHECK(unwritten() == n - 50);
  memory.poison_outputs();
  CHECK(unwritten() == n);
  fill_first(20, false);  // nobody watched which bytes: all of a buffer that was stored to
  CHECK(unwritten() == 0);
}

}  // namespace
}  // namespace tailor::simulator
