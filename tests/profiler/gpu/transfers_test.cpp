// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills by the driver between the launches of a sequence: they run in their place, in a stream and in a
// graph, they take time, one that leaves its buffers is refused before the driver is asked, and nobody takes one for a
// kernel. In: the stand-in GPU. Part of the suite `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/opened_gpu.h"
#include "profiler/gpu/session/gpu.h"

/// Of this file alone: tests of a room are compiled together.
namespace transfers_test {

using namespace tailor;
using namespace tailor::tests;
using gpu::BufferRole;
using gpu::Gpu;
using gpu::Response;
using ir::CacheState;
using ir::LaunchMode;
using ir::Outcome;
using ir::TimedBy;

constexpr const char* l2_of_a_megabyte = R"({"noise": 0, "chip": {"l2_bytes": 1048576}})";
constexpr std::uint32_t count_of_numbers = 64;
constexpr std::int64_t size_of_all = 4 * count_of_numbers;

/// As XLA updates in place what the caller keeps: the input is copied, one is added to the copy, and its first four
/// numbers are filled; then all but the first eight numbers of it are copied on.
gpu::Sequence updating() {
  gpu::Sequence sequence;
  sequence.images = {test_image()};
  sequence.buffers = {{"in", size_of_all, BufferRole::input},
                      {"copy", size_of_all, BufferRole::output},
                      {"part", size_of_all, BufferRole::output}};
  sequence.launches = {gpu::copy_step("copy", of_buffer(1), of_buffer(0), size_of_all),
                       launch_of("plus_one", {of_buffer(1), of_value(count_of_numbers)}, 1, count_of_numbers),
                       gpu::fill_step("fill", of_buffer(1), 16, 0x01020304),
                       gpu::fill_step("zeros", of_buffer(2), size_of_all, 0),
                       gpu::copy_step("part", of_buffer(2, 32), of_buffer(1, 32), size_of_all - 32)};
  return sequence;
}

std::vector<std::uint32_t> words_of(std::span<const std::byte> blob) {
  std::vector<std::uint32_t> all(blob.size() / 4);
  std::memcpy(all.data(), blob.data(), 4 * all.size());
  return all;
}

Response load_into(Gpu& gpu, gpu::Sequence sequence, int id = 1) {
  return gpu.answer(gpu::LoadRequest{id, std::move(sequence)}, counting(count_of_numbers));
}

double seconds(Gpu& gpu, LaunchMode mode, int id = 1) {
  gpu::TimeRequest request{id, CacheState::warm, TimedBy::events, mode, 3};
  const Response times = gpu.answer(request);
  CHECK_MESSAGE(times.outcome == Outcome::ok, times.reason);
  return times.samples.empty() ? 0 : times.samples.front().duration.value;
}

TEST_CASE("copies and fills run in their place between the kernels, and leave what those are given") {
  const FakeMachine machine(l2_of_a_megabyte);
  Gpu gpu = opened(machine);
  const Response loaded = load_into(gpu, updating());
  REQUIRE_MESSAGE(loaded.outcome == Outcome::ok, loaded.reason);
  REQUIRE(loaded.entries.size() == 5);
  CHECK(loaded.entries[0] == gpu::KernelAttributes{});
  CHECK(loaded.entries[1].registers > 0);
  for (const std::uint64_t seed : {1, 2}) {
    const Response ran = gpu.answer(gpu::RunRequest{1, seed});
    REQUIRE_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
    const std::vector<std::uint32_t> found = words_of(ran.blob);
    REQUIRE(found.size() == 2 * count_of_numbers);
    for (std::uint32_t i = 0; i < count_of_numbers; ++i) {
      CAPTURE(i);
      CHECK(found[i] == (i < 4 ? 0x01020304 : i + 1));
      CHECK(found[count_of_numbers + i] == (i < 8 ? 0 : i + 1));
    }
  }
}

TEST_CASE("a graph holds the copies and fills, captured once") {
  const FakeMachine machine(R"({"noise": 0, "log": true, "chip": {"l2_bytes": 1048576}})");
  Gpu gpu = opened(machine);
  REQUIRE(load_into(gpu, updating()).outcome == Outcome::ok);
  const double stream = seconds(gpu, LaunchMode::stream), graph = seconds(gpu, LaunchMode::graph);
  CHECK(stream > 0);
  CHECK(graph > 0);
  // Two copies a run, one run before each of three samples in the stream and one for nothing; one capture.
  const std::vector<std::string> calls = machine.calls();
  const auto count = [&](const char* name) { return std::count(calls.begin(), calls.end(), name); };
  CHECK(count("cuStreamBeginCapture") == 1);
  CHECK(count("cuGraphLaunch") >= 3);
  CHECK(count("cuMemcpyDtoDAsync") >= 2 * 4);
  CHECK(count("cuMemcpyDtoDAsync") % 2 == 0);
}

TEST_CASE("what the driver copies takes its time, in a stream and as a graph") {
  const FakeMachine machine(l2_of_a_megabyte);
  Gpu gpu = opened(machine);
  constexpr std::int64_t much = std::int64_t{1} << 24;
  for (const bool copies : {false, true}) {
    gpu::Sequence sequence = updating();
    sequence.buffers.push_back({"much", 2 * much, BufferRole::output});
    if (copies) sequence.launches.push_back(gpu::copy_step("much", of_buffer(3, much), of_buffer(3), much));
    REQUIRE(load_into(gpu, std::move(sequence), copies ? 2 : 1).outcome == Outcome::ok);
  }
  for (const LaunchMode mode : {LaunchMode::stream, LaunchMode::graph})
    CHECK(seconds(gpu, mode, 2) > seconds(gpu, mode, 1) + 2e-6);
}

TEST_CASE("a copy or fill that leaves its buffers, writes an input or reads what it writes is refused") {
  const FakeMachine machine(l2_of_a_megabyte);
  Gpu gpu = opened(machine);
  const auto refused = [&](const gpu::Launch& step, const char* why) {
    CAPTURE(why);
    gpu::Sequence sequence = updating();
    sequence.launches.push_back(step);
    const Response response = load_into(gpu, std::move(sequence));
    CHECK(response.outcome == Outcome::refused);
    CHECK_MESSAGE(response.reason.find(why) != std::string::npos, response.reason);
  };
  const auto copy = [](gpu::Argument to, gpu::Argument from, std::int64_t size) {
    return gpu::copy_step("c", std::move(to), std::move(from), size);
  };
  refused(copy(of_buffer(1), of_buffer(0), size_of_all + 1), "takes 257 bytes from byte 0 of 'copy', which has 256");
  refused(copy(of_buffer(1), of_buffer(0, 4), size_of_all), "takes 256 bytes from byte 4 of 'in', which has 256");
  refused(copy(of_buffer(1, 4), of_buffer(0), size_of_all), "from byte 4 of 'copy'");
  refused(copy(of_buffer(1), of_buffer(0), -1), "takes -1 bytes");
  refused(copy(of_buffer(1), of_buffer(3), 4), "names buffer 3 of 3");
  refused(copy(of_buffer(1), of_buffer(0, 257), 0), "begins at byte 257");
  refused(copy(of_buffer(1), of_value(std::uint32_t{1}), 4), "a number where a place is needed");
  refused(copy(of_buffer(0), of_buffer(1), 4), "writes 'in', which is an input");
  refused(copy(of_buffer(1, 4), of_buffer(1), 8), "reads what it writes");
  refused(gpu::fill_step("f", of_buffer(0), 4, 0), "writes 'in'");
  refused(gpu::fill_step("f", of_buffer(1, 2), 4, 0), "within a word");
  refused(gpu::fill_step("f", of_buffer(1), 6, 0x01020304), "within a word");
  refused(gpu::fill_step("f", of_buffer(1, 252), 8, 0), "takes 8 bytes from byte 252");
  gpu::Launch one = copy(of_buffer(1), of_buffer(0), 4);
  one.arguments.pop_back();
  refused(one, "another number of places");
  one.kind = static_cast<gpu::StepKind>(7);
  refused(one, "a kind that is not known");
  gpu::Launch early = launch_of("plus_one", {of_buffer(1), of_value(count_of_numbers)});
  early.dependent = true;
  refused(early, "may begin early, behind what is no kernel");
  // At the very end, and nothing at all, is allowed; bytes behind the last word only of zeros and the like.
  gpu::Sequence edge = updating();
  edge.launches.push_back(copy(of_buffer(1, 252), of_buffer(0), 4));
  edge.launches.push_back(copy(of_buffer(1, 256), of_buffer(0, 256), 0));
  edge.launches.push_back(copy(of_buffer(1, 8), of_buffer(1), 8));
  edge.launches.push_back(gpu::fill_step("f", of_buffer(1), 7, 0x05050505));
  const Response loaded = load_into(gpu, std::move(edge));
  CHECK_MESSAGE(loaded.outcome == Outcome::ok, loaded.reason);
  CHECK(gpu.answer(gpu::RunRequest{1, 1}).outcome == Outcome::ok);
}

TEST_CASE("no kernel's record and no counter stands for a copy: such a sequence is timed by events only") {
  const FakeMachine machine(l2_of_a_megabyte);
  Gpu gpu = opened(machine);
  REQUIRE(load_into(gpu, updating()).outcome == Outcome::ok);
  const Response times = gpu.answer(gpu::TimeRequest{1, CacheState::warm, TimedBy::activity, LaunchMode::stream, 3});
  CHECK(times.outcome == Outcome::unavailable);
  CHECK(times.reason.find("by events") != std::string::npos);
  CHECK(times.samples.empty());
  CHECK(seconds(gpu, LaunchMode::stream) > 0);
  Gpu counting_gpu;
  REQUIRE(counting_gpu.answer(gpu::OpenRequest{machine.library_paths(), 0, gpu::Use::count}).outcome == Outcome::ok);
  REQUIRE(load_into(counting_gpu, updating()).outcome == Outcome::ok);
  const Response counts = counting_gpu.answer(gpu::CountRequest{1, CacheState::cold, {"dram__bytes_read.sum"}});
  CHECK(counts.outcome == Outcome::unavailable);
  CHECK(counts.reason.find("copies or fills") != std::string::npos);
}

}  // namespace transfers_test
