// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules of a session that no other case depends on: what is zero before a launch and must be left so, which limit of
// shared memory the driver is given for several launches, that all three extents reach the GPU, and when a GPU counts
// as held back. In: the stand-in GPU with a script of what happens when. Part of the suite `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/opened_gpu.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/gpu/session/gpu.h"

namespace {

using namespace tailor;
using namespace tailor::tests;
using gpu::BufferRole;
using gpu::Gpu;
using gpu::Response;
using ir::CacheState;
using ir::LaunchMode;
using ir::Outcome;
using ir::TimedBy;

constexpr const char* small_chip = R"({"noise": 0, "chip": {"l2_bytes": 1048576}})";

/// Each thread stores its number at that number, block by block with x fastest.
constexpr std::string_view place_text = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry place(.param .u64 out)
{
  .reg .b32 %r<20>;
  .reg .b64 %d<4>;
  ld.param.u64 %d0, [out];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ctaid.y;
  mov.u32 %r2, %ctaid.z;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %nctaid.y;
  mad.lo.u32 %r5, %r2, %r4, %r1;
  mad.lo.u32 %r5, %r5, %r3, %r0;
  mov.u32 %r6, %tid.x;
  mov.u32 %r7, %tid.y;
  mov.u32 %r8, %tid.z;
  mov.u32 %r9, %ntid.x;
  mov.u32 %r10, %ntid.y;
  mov.u32 %r11, %ntid.z;
  mad.lo.u32 %r12, %r8, %r10, %r7;
  mad.lo.u32 %r12, %r12, %r9, %r6;
  mul.lo.u32 %r13, %r9, %r10;
  mul.lo.u32 %r13, %r13, %r11;
  mad.lo.u32 %r14, %r5, %r13, %r12;
  mul.wide.u32 %d1, %r14, 4;
  add.u64 %d0, %d0, %d1;
  shl.b32 %r15, %r3, 24;
  shl.b32 %r16, %r4, 16;
  or.b32 %r14, %r14, %r15;
  or.b32 %r14, %r14, %r16;
  st.global.u32 [%d0], %r14;
  ret;
}
)";

}  // namespace

TEST_CASE("a grid and a block of three extents are started as they were asked for") {
  const FakeMachine machine(small_chip);
  Gpu gpu = opened(machine);
  gpu::Sequence sequence;
  const auto* first = reinterpret_cast<const std::byte*>(place_text.data());
  sequence.images = {{"place", {first, first + place_text.size()}}};
  constexpr std::uint32_t all = 2 * 3 * 4 * 5 * 6 * 7;
  sequence.buffers = {{"out", 4 * all, BufferRole::output}};
  sequence.launches = {launch_of("place", {of_buffer(0)})};
  sequence.launches[0].grid = {2, 3, 4};
  sequence.launches[0].block = {5, 6, 7};
  REQUIRE(gpu.answer(gpu::LoadRequest{1, sequence}).outcome == Outcome::ok);
  const Response ran = gpu.answer(gpu::RunRequest{1, 1, true});
  REQUIRE_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
  REQUIRE(ran.blob.size() == 4 * all);
  for (std::uint32_t i = 0; i < all; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, ran.blob.data() + 4 * std::size_t{i}, 4);
    REQUIRE(word == (i | 2u << 24 | 3u << 16));
  }
}

TEST_CASE("tickets and scratch are zero when a launch begins, whatever lay there, and a ticket must be left so") {
  const FakeMachine machine(small_chip);
  Gpu gpu = opened(machine);
  constexpr std::uint32_t n = 1000;
  const gpu::Sequence filling = doubling(n);
  // The same memory again: what the first one calls its output is read as a ticket, or as scratch.
  for (const BufferRole role : {BufferRole::ticket, BufferRole::workspace}) {
    gpu::Sequence reading = filling;
    reading.buffers[1] = {"t", 4 * n, role};
    reading.buffers.push_back({"seen", 4 * n, BufferRole::output});
    reading.launches = {launch_of("twice", {of_buffer(1), of_buffer(2), of_value(n)}, 8, 128)};
    const std::int64_t bytes = gpu::lay_out_arena(reading.buffers).bytes;
    REQUIRE(gpu.answer(gpu::LoadRequest{1, filling, 0, bytes, false}, counting(n)).outcome == Outcome::ok);
    REQUIRE(gpu.answer(gpu::LoadRequest{2, reading, 0, bytes, true}).outcome == Outcome::ok);
    for (int again = 0; again < 2; ++again) {
      REQUIRE(gpu.answer(gpu::RunRequest{1, 1, false}).outcome == Outcome::ok);
      const Response ran = gpu.answer(gpu::RunRequest{2, 1, true});
      REQUIRE_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
      CHECK(std::all_of(ran.blob.end() - 4 * n, ran.blob.end(), [](std::byte one) { return one == std::byte{0}; }));
    }
    gpu.answer(gpu::UnloadRequest{1});
    gpu.answer(gpu::UnloadRequest{2});
  }
  // Scratch may be left as it comes; one word of a ticket may not.
  for (const auto& [role, outcome] :
       {std::pair(BufferRole::workspace, Outcome::ok), std::pair(BufferRole::ticket, Outcome::overrun)}) {
    gpu::Sequence leaving;
    leaving.images = {test_image()};
    leaving.buffers = {{"t", 400, role}};
    leaving.launches = {launch_of("plus_one", {of_buffer(0, 396), of_value<std::uint32_t>(1)})};
    REQUIRE(gpu.answer(gpu::LoadRequest{3, leaving}).outcome == Outcome::ok);
    const Response ran = gpu.answer(gpu::RunRequest{3, 1, false});
    CHECK(ran.outcome == outcome);
    if (outcome != Outcome::ok) CHECK(ran.reason == "ticket 't' was not left at zero");
  }
}

TEST_CASE("of launches of one kernel that want more and less shared memory each gets what it wants, in any order") {
  const FakeMachine machine(small_chip);
  Gpu gpu = opened(machine);
  for (const std::vector<std::int64_t>& wanted :
       {std::vector<std::int64_t>{200'000, 100'000}, {100'000, 200'000}, {200'000, 100'000, 150'000}}) {
    gpu::Sequence sequence;
    sequence.images = {test_image()};
    sequence.buffers = {{"x", 1000, BufferRole::output}};
    for (const std::int64_t bytes : wanted) {
      sequence.launches.push_back(launch_of("much_shared", {of_buffer(0)}));
      sequence.launches.back().dynamic_shared = bytes;
    }
    REQUIRE(gpu.answer(gpu::LoadRequest{1, sequence}).outcome == Outcome::ok);
    const Response ran = gpu.answer(gpu::RunRequest{1, 1, true});
    CHECK_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
  }
}

TEST_CASE("the zone between a small and a large buffer is as wide as the large one wishes, on either side") {
  constexpr std::int64_t large = 1 << 22, small = 100;
  const auto zones = [](std::initializer_list<std::int64_t> sizes) {
    std::vector<gpu::Buffer> buffers;
    for (const std::int64_t bytes : sizes) buffers.push_back({"b", bytes, BufferRole::input});
    std::vector<std::int64_t> widths;
    for (const gpu::Zone& zone : gpu::lay_out_arena(buffers).zones) widths.push_back(zone.bytes);
    return widths;
  };
  const std::vector<std::int64_t> before = zones({small, large}), after = zones({large, small});
  CHECK(before[0] == 4096);
  CHECK(before[1] >= large / 16);
  CHECK(before[1] < large / 16 + 256);
  CHECK(before[2] >= large / 16);
  CHECK(after[0] >= large / 16);
  CHECK(after[1] >= large / 16);
  CHECK(after[1] < large / 16 + 256);
  CHECK(after[2] >= 4096);
  CHECK(after[2] < 4096 + 256);
}

TEST_CASE("a GPU that begins to be held back while a batch runs has that batch's samples marked") {
  // The state is asked again once the batch is over, which a slow copy makes old enough.
  const FakeMachine machine(
      R"({"noise": 0, "chip": {"l2_bytes": 1048576},
          "throttle": [{"launches": 0, "reasons": 0, "sm_clock": 1.98e9},
                       {"launches": 20, "reasons": 4, "sm_clock": 1.98e9}],
          "failures": [{"call": "cuMemcpyDtoH", "act": "slow", "seconds": 0.12, "nth": 0}]})");
  Gpu gpu = opened(machine);
  constexpr std::uint32_t n = 1000;
  REQUIRE(gpu.answer(gpu::LoadRequest{1, doubling(n)}, counting(n)).outcome == Outcome::ok);
  CHECK(gpu.answer(gpu::StateRequest{}).state.throttle == 0);
  const Response response =
      gpu.answer(gpu::TimeRequest{1, CacheState::cold, TimedBy::activity, LaunchMode::stream, 16, 0, false});
  REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
  REQUIRE(response.samples.size() == 16);
  for (const ir::Sample& sample : response.samples) CHECK(sample.throttle == ir::throttle_power);
}
