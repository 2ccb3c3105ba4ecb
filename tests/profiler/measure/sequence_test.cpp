// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels as sequences of a worker: which memory each buffer has, what comes back from it, what happens to memory that
// several share when one of them spoils it, and the clock that a measurement says it began at. In: kernels of a few
// buffers, and the stand-in GPU. Part of the suite `profiler`.
#include <doctest/doctest.h>

#include <cstring>
#include <memory>

#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/measure/sampled.h"
#include "profiler/measure/sequence_cache.h"
#include "profiler/measure/sequence_of.h"
#include "profiler/measure/test_worker.h"
#include "support/approx.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::profiler;
using ir::BufferRole;
using ir::DType;
using ir::Outcome;

namespace {

/// Bytes 0, 1, 2, ...
std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < bytes; ++i) all.push_back(static_cast<std::byte>(i));
  return all;
}

std::optional<Worker> worker_on(const tests::FakeMachine& machine) {
  if (!has_fake_gpu()) {
    skip("this build has no fake GPU: it was made without CUDA's headers");
    return std::nullopt;
  }
  WorkerSetup setup;
  setup.command = {tests::test_worker()};
  setup.paths = machine.library_paths();
  return Worker(std::move(setup));
}

}  // namespace

TEST_CASE("a result in place has its input's memory, on the way there and back; every other buffer its own") {
  ir::Kernel kernel;
  kernel.buffers = {{"a", DType::f32, 4, BufferRole::input},           {"x", DType::f16, 6, BufferRole::input},
                    {"scratch", DType::u32, 5, BufferRole::workspace}, {"y", DType::f32, 3, BufferRole::output},
                    {"z", DType::f16, 6, BufferRole::in_place, 1},     {"count", DType::u32, 2, BufferRole::ticket}};
  kernel.grid = 7;
  kernel.threads = 64;
  ir::Binary binary;
  binary.entry = "entry";
  binary.cubin = counted(3);
  binary.ptx = "ptx";
  const gpu::Sequence sequence = sequence_of(kernel, binary, ImageForm::cubin);
  REQUIRE(sequence.buffers.size() == 5);
  const std::vector<std::tuple<std::string, std::int64_t, BufferRole>> expected{{"a", 16, BufferRole::input},
                                                                                {"x", 12, BufferRole::in_place},
                                                                                {"scratch", 20, BufferRole::workspace},
                                                                                {"y", 12, BufferRole::output},
                                                                                {"count", 8, BufferRole::ticket}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(sequence.buffers[i].name == std::get<0>(expected[i]));
    CHECK(sequence.buffers[i].bytes == std::get<1>(expected[i]));
    CHECK(sequence.buffers[i].role == std::get<2>(expected[i]));
  }
  REQUIRE(sequence.launches.size() == 1);
  std::vector<int> places;
  for (const gpu::Argument& argument : sequence.launches[0].arguments) places.push_back(argument.buffer);
  CHECK(places == std::vector<int>{0, 1, 2, 3, 1, 4});
  CHECK(sequence.launches[0].entry == "entry");
  CHECK(sequence.images.at(0).code == binary.cubin);
  CHECK(sequence_of(kernel, binary, ImageForm::ptx).images.at(0).code.size() == 4);  // with its NUL

  // What may have been written comes back in order: x's 12 bytes, 20 of scratch, 12 of y, 8 of the ticket.
  const std::vector<std::byte> blob = counted(52);
  const auto outputs = outputs_in(kernel, blob);
  REQUIRE(outputs.size() == 2);
  CHECK(std::vector(outputs[0].begin(), outputs[0].end()) == std::vector(blob.begin() + 32, blob.begin() + 44));
  CHECK(std::vector(outputs[1].begin(), outputs[1].end()) == std::vector(blob.begin(), blob.begin() + 12));
}

TEST_CASE("inputs go to the worker one after the other, without what is only written") {
  ir::Kernel kernel;
  kernel.buffers = {{"a", DType::u8, 3, BufferRole::input},
                    {"y", DType::f32, 3, BufferRole::output},
                    {"b", DType::u8, 2, BufferRole::input}};
  reference::Tensor a{ir::make_shape(DType::u8, {3}), counted(3)}, b{ir::make_shape(DType::u8, {2}), counted(2)};
  b.bytes[0] = std::byte{77};
  const std::vector<reference::Tensor> inputs{a, b};
  CHECK(contents_of(kernel, inputs) ==
        std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{77}, std::byte{1}});
}

TEST_CASE("where one of an arena wrote outside of its buffers all of them are loaded again before they run") {
  const tests::FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576}})");
  std::optional<Worker> worker = worker_on(machine);
  if (!worker) return;
  constexpr std::uint32_t n = 2000;
  SequenceCache cache(*worker, Seconds{20});
  const auto contents = std::make_shared<const std::vector<std::byte>>(tests::counting(n));
  const gpu::Sequence right = tests::doubling(n);
  gpu::Sequence wild = right;
  wild.launches = {tests::launch_of("poke", {tests::of_buffer(0), tests::of_value<std::uint64_t>(17)})};
  const std::int64_t bytes = gpu::lay_out_arena(right.buffers).bytes;
  const int arena = worker->new_number();
  const int first = cache.add({right, contents, arena, bytes}), spoiler = cache.add({wild, contents, arena, bytes}),
            second = cache.add({right, contents, arena, bytes});
  const auto run = [&](int number) { return cache.call(number, gpu::RunRequest{number, 5, true}); };
  for (const int number : {first, second}) CHECK(run(number).outcome == Outcome::ok);
  for (int again = 0; again < 2; ++again) {
    CHECK(run(spoiler).outcome == Outcome::overrun);
    for (const int number : {first, second}) {
      const gpu::Response ran = run(number);
      REQUIRE_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
      std::uint32_t doubled = 0;
      std::memcpy(&doubled, ran.blob.data() + 16, 4);  // of the number that was written to
      CHECK(doubled == 8);
    }
  }
}

TEST_CASE("a measurement says which clock it began at, not the one that it left behind") {
  // The clock falls while the first batch runs, and the driver tells so from the second question on.
  const tests::FakeMachine machine(
      R"({"noise": 0.3, "chip": {"l2_bytes": 1048576},
          "throttle": [{"launches": 0, "reasons": 0, "sm_clock": 1.98e9},
                       {"launches": 20, "reasons": 4, "sm_clock": 1.0e9}],
          "failures": [{"call": "cuMemcpyDtoH", "act": "slow", "seconds": 0.12, "nth": 1, "times": 2}]})");
  std::optional<Worker> worker = worker_on(machine);
  if (!worker) return;
  SequenceCache cache(*worker, Seconds{20});
  constexpr std::uint32_t n = 2000;
  const int number =
      cache.add({tests::doubling(n), std::make_shared<const std::vector<std::byte>>(tests::counting(n)), -1, 0});
  ir::Measurement measured =
      blank_measurement(*worker, ir::CacheState::cold, ir::TimedBy::activity, ir::LaunchMode::stream, "quick");
  sample(cache, number, {}, measured);
  REQUIRE_MESSAGE(measured.outcome == Outcome::ok, measured.reason);
  REQUIRE(measured.samples.size() > 10);  // more than one batch
  CHECK(measured.sm_clock == approx(1.98e9));
  CHECK(measured.samples.back().sm_clock == approx(1e9).epsilon(0.05));
}
