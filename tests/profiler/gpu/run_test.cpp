// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading and running sequences on the fake GPU, which executes what it is launched on the simulator. Looked at are
// results, writes outside of a buffer or into an input, launches that no GPU takes, memory that is not there, and that
// a lost context answers nothing more. Kernels are those of fake_machine.h. Part of the suite `gpu`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "profiler/gpu/driver/image.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/opened_gpu.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/gpu/session/gpu.h"
#include "profiler/gpu/session/kernels.h"
#include "support/approx.h"

namespace {

using namespace tailor;
using namespace tailor::tests;
using gpu::BufferRole;
using gpu::Gpu;
using gpu::Response;
using gpu::Sequence;
using ir::Outcome;

std::vector<std::uint32_t> numbers(const Response& response) {
  std::vector<std::uint32_t> all(response.blob.size() / 4);
  if (!all.empty()) std::memcpy(all.data(), response.blob.data(), 4 * all.size());
  return all;
}

/// One buffer "x" of 1000 bytes in this role, with these launches.
Sequence on_one(BufferRole role, std::vector<gpu::Launch> launches) {
  return {{test_image()}, {{"x", 1000, role}}, std::move(launches)};
}

Response loaded(Gpu& gpu, const Sequence& sequence, int id = 1) {
  std::size_t bytes = 0;
  for (const gpu::Buffer& buffer : sequence.buffers)
    if (buffer.role == BufferRole::input || buffer.role == BufferRole::in_place)
      bytes += static_cast<std::size_t>(buffer.bytes);
  return gpu.answer(gpu::LoadRequest{id, sequence}, std::vector<std::byte>(bytes));
}

/// Loads and runs; the answer that went wrong, or the last.
Response load_and_run(Gpu& gpu, const Sequence& sequence) {
  Response response = loaded(gpu, sequence);
  return response.outcome == Outcome::ok ? gpu.answer(gpu::RunRequest{1, 1, true}) : response;
}

}  // namespace

TEST_CASE("an opened GPU tells what it is") {
  const FakeMachine machine;
  Gpu gpu;
  const Response response = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0});
  REQUIRE_MESSAGE(response.outcome == Outcome::ok, response.reason);
  CHECK(response.properties.name == "Stand-in for an NVIDIA H200");
  CHECK(response.properties.uuid == "GPU-0123abcd-4567-89ef-0123-456789abcdef");
  CHECK(response.properties.compute_capability == 90);
  CHECK(response.properties.sms == 132);
  CHECK(response.properties.l2_bytes == 62'914'560);
  CHECK(response.properties.sm_clock_max == approx(1.98e9));
  CHECK(response.properties.driver == "580.65.06");
  CHECK(response.properties.driver_api == 13000);
  CHECK(response.properties.can_time_activity);
}

TEST_CASE("our own kernels are machine code where they were assembled, and text for a driver that takes none") {
  const std::vector<std::byte> code(gpu::own_kernels_sm_90().begin(), gpu::own_kernels_sm_90().end());
  if (!code.empty()) {
    CHECK(gpu::kind_of(code) == gpu::ImageKind::cubin);
    CHECK(gpu::damage(code) == "");
  }
  // The stand-in executes text alone, so that it opened at all says that the text was taken in its place.
  const FakeMachine machine(R"({"log": true, "chip": {"l2_bytes": 1048576}})");
  Gpu gpu = opened(machine);
  const std::vector<std::string> calls = machine.calls();
  CHECK(std::count(calls.begin(), calls.end(), "cuModuleLoadDataEx") == (code.empty() ? 1 : 2));
}

TEST_CASE("a GPU opened to count tells its chip and whether counters can be had") {
  const FakeMachine machine;
  Gpu counting;
  const Response other = counting.answer(gpu::OpenRequest{machine.library_paths(), 0, gpu::Use::count});
  CHECK(other.properties.chip == "GH100");
  CHECK(other.properties.can_count);
  CHECK_FALSE(other.properties.can_time_activity);
}

TEST_CASE("a kernel doubles its input, and its registers and occupancy are told") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  constexpr std::uint32_t n = 1000;
  const Response load = gpu.answer(gpu::LoadRequest{1, doubling(n)}, counting(n));
  REQUIRE_MESSAGE(load.outcome == Outcome::ok, load.reason);
  REQUIRE(load.entries.size() == 1);
  CHECK(load.entries[0].registers > 0);
  CHECK(load.entries[0].blocks_per_sm > 0);
  const Response run = gpu.answer(gpu::RunRequest{1, 1, true});
  REQUIRE_MESSAGE(run.outcome == Outcome::ok, run.reason);
  const std::vector<std::uint32_t> out = numbers(run);
  REQUIRE(out.size() == n);
  for (std::uint32_t i = 0; i < n; ++i) CHECK(out[i] == 2 * i);
  CHECK(gpu.answer(gpu::RunRequest{1, 1, false}).blob.empty());
}

TEST_CASE(
    "before every run what is read and written in place is filled again, scratch is zero and outputs are poison") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  Sequence sequence;
  sequence.images = {test_image()};
  sequence.buffers = {
      {"both", 400, BufferRole::in_place}, {"scratch", 398, BufferRole::workspace}, {"out", 401, BufferRole::output}};
  sequence.launches = {launch_of("plus_one", {of_buffer(0), of_value<std::uint32_t>(100)}, 1, 128),
                       launch_of("plus_one", {of_buffer(1), of_value<std::uint32_t>(99)}, 1, 128)};
  REQUIRE(gpu.answer(gpu::LoadRequest{1, sequence}, counting(100)).outcome == Outcome::ok);
  for (std::uint64_t seed : {1, 2, 3}) {
    const Response run = gpu.answer(gpu::RunRequest{1, seed, true});
    REQUIRE_MESSAGE(run.outcome == Outcome::ok, run.reason);
    REQUIRE(run.blob.size() == 400 + 398 + 401);
    std::vector<std::uint32_t> both(100), scratch(99), out(100);
    std::memcpy(both.data(), run.blob.data(), 400);
    std::memcpy(scratch.data(), run.blob.data() + 400, 396);
    std::memcpy(out.data(), run.blob.data() + 798, 400);
    for (std::uint32_t i = 0; i < 100; ++i) CHECK(both[i] == i + 1);
    for (std::uint32_t word : scratch) CHECK(word == 1);
    CHECK(run.blob[796] == std::byte{0});
    for (std::uint32_t word : out) CHECK(word == gpu::poison_word(seed));
    CHECK(run.blob.back() == static_cast<std::byte>(gpu::poison_word(seed)));
  }
}

TEST_CASE("a byte written outside of a buffer is found with the buffer, the side and the byte") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  const auto poked = [&](std::int64_t offset) {
    const Sequence sequence = on_one(BufferRole::output, {launch_of("poke", {of_buffer(0), of_value(offset)})});
    const Response response = load_and_run(gpu, sequence);
    CHECK_FALSE(response.context_lost);
    return fmt::format("{}: {}", ir::name(response.outcome), response.reason);
  };
  CHECK(poked(1000) ==
        "guard zone overwritten: 1 byte written past the end of 'x', the first at byte 0 after its 1000");
  CHECK(poked(1007) ==
        "guard zone overwritten: 1 byte written past the end of 'x', the first at byte 7 after its 1000");
  CHECK(poked(-1) == "guard zone overwritten: 1 byte written before the start of 'x', the nearest 1 bytes before it");
  CHECK(poked(999) == "ok: ");
  CHECK(poked(0) == "ok: ");
}

TEST_CASE("an input that a kernel writes to is found") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  for (std::int64_t offset : {0, 3, 99'999, 199'999}) {
    Sequence sequence = on_one(BufferRole::input, {launch_of("poke", {of_buffer(0), of_value(offset)})});
    sequence.buffers[0].bytes = 200'000;
    const Response response = load_and_run(gpu, sequence);
    CHECK(response.outcome == Outcome::overrun);
    const std::int64_t chunk = offset / 65536 * 65536;
    CHECK(response.reason == fmt::format("input 'x' was written between bytes {} and {}", chunk,
                                         std::min<std::int64_t>(chunk + 65536, 200'000)));
  }
}

TEST_CASE("what a kernel does wrong is an outcome, and after it nothing but layers is answered") {
  struct Row {
    std::string entry;
    Outcome outcome;
    std::string error;
  };
  const std::vector<Row> rows = {{"trapping", Outcome::trapped, "CUDA_ERROR_LAUNCH_FAILED"},
                                 {"wild", Outcome::illegal_access, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                 {"crooked", Outcome::illegal_access, "CUDA_ERROR_MISALIGNED_ADDRESS"}};
  for (const Row& row : rows) {
    CAPTURE(row.entry);
    const FakeMachine machine;
    Gpu gpu = opened(machine);
    std::vector<gpu::Argument> arguments;
    if (row.entry == "crooked") arguments = {of_buffer(0)};
    const Response response = load_and_run(gpu, on_one(BufferRole::output, {launch_of(row.entry, arguments)}));
    CHECK(response.outcome == row.outcome);
    CHECK(response.context_lost);
    CHECK(response.reason.find(row.error) != response.reason.npos);
    CHECK(response.reason.starts_with("cuStreamSynchronize"));
    for (const gpu::Request& next : std::vector<gpu::Request>{
             gpu::RunRequest{1, 1, true}, gpu::TimeRequest{}, gpu::CountRequest{}, gpu::StateRequest{},
             gpu::LoadRequest{2, doubling(4)}, gpu::OpenRequest{machine.library_paths(), 0}}) {
      const Response later = gpu.answer(next);
      CHECK(later.outcome == Outcome::unavailable);
      CHECK(later.context_lost);
      CHECK(later.reason.find(row.error) != later.reason.npos);
    }
    const Response layers = gpu.answer(gpu::CapabilitiesRequest{machine.library_paths(), 0});
    CHECK(layers.outcome == Outcome::ok);
    CHECK(layers.capabilities.size() > 3);
  }
}

TEST_CASE("launches that no GPU takes are refused and leave the context as it was") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  const auto shaped = [](auto change) {
    Sequence sequence = doubling(256);
    change(sequence.launches[0]);
    return sequence;
  };
  const std::vector<Sequence> refused = {
      shaped([](gpu::Launch& launch) {
        launch.block = {2048, 1, 1};
      }),
      shaped([](gpu::Launch& launch) {
        launch.grid = {0, 1, 1};
      }),
      shaped([](gpu::Launch& launch) { launch.dynamic_shared = 300'000; }),
      shaped([](gpu::Launch& launch) {
        launch.cooperative = true, launch.grid = {1'000'000, 1, 1};
      }),
      shaped([](gpu::Launch& launch) {
        launch.cluster = {32, 1, 1}, launch.grid = {32, 1, 1};
      }),
      shaped([](gpu::Launch& launch) { launch.arguments.pop_back(); }),
      shaped([](gpu::Launch& launch) { launch.arguments.push_back(of_value(1)); }),
      shaped([](gpu::Launch& launch) { launch.arguments[2] = of_value(std::uint64_t{1}); }),
      shaped([](gpu::Launch& launch) { launch.arguments[0].buffer = 7; }),
      shaped([](gpu::Launch& launch) { launch.arguments[0].offset = 5000; }),
      shaped([](gpu::Launch& launch) { launch.image = 3; }),
  };
  for (std::size_t i = 0; i < refused.size(); ++i) {
    CAPTURE(i);
    const Response response = load_and_run(gpu, refused[i]);
    CHECK(response.outcome == Outcome::refused);
    CHECK_FALSE(response.reason.empty());
    CHECK_FALSE(response.context_lost);
  }
  CHECK(load_and_run(gpu, doubling(256)).outcome == Outcome::ok);
}

TEST_CASE("much shared memory, a large cluster and a cooperative launch are what the driver is asked for") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  gpu::Launch shared = launch_of("much_shared", {of_buffer(0)});
  shared.dynamic_shared = 200'000;
  gpu::Launch less = shared;
  less.dynamic_shared = 1000;
  const Response response = load_and_run(gpu, on_one(BufferRole::output, {less, shared, less}));
  CHECK_MESSAGE(response.outcome == Outcome::ok, response.reason);
  CHECK(numbers(response)[0] == 7);
  Sequence large = doubling(16 * 128);
  large.launches[0].cluster = {16, 1, 1};
  CHECK_MESSAGE(load_and_run(gpu, large).outcome == Outcome::ok, "cluster of 16");
  const Response clusters = gpu.answer(gpu::LoadRequest{1, large}, counting(16 * 128));
  REQUIRE(clusters.outcome == Outcome::ok);
  CHECK(clusters.entries[0].clusters == 4 * 16 + 4 * 17);  // 16 blocks to an SM, in parts of 16 or 17 SMs
  Sequence together = doubling(512);
  together.launches[0].cooperative = true;
  CHECK_MESSAGE(load_and_run(gpu, together).outcome == Outcome::ok, "cooperative");
}

TEST_CASE("code that cannot be loaded says why") {
  const FakeMachine machine;
  Gpu gpu = opened(machine);
  const auto with = [&](auto change) {
    Sequence sequence = doubling(4);
    change(sequence);
    return load_and_run(gpu, sequence);
  };
  const auto code = [](std::string_view text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(first, first + text.size());
  };
  Response response = with([](Sequence& sequence) { sequence.launches[0].entry = "thrice"; });
  CHECK(response.outcome == Outcome::unloadable);
  CHECK(response.reason.find("'thrice'") != response.reason.npos);
  response = with([&](Sequence& sequence) { sequence.images[0].code = code("no code"); });
  CHECK(response.outcome == Outcome::unloadable);
  CHECK(response.reason.find("neither a cubin nor PTX") != response.reason.npos);
  response = with([&](Sequence& sequence) {
    sequence.images[0].code = code(".version 8.0\n.target sm_90\n.address_size 64\n.entry twice() { what.is this; }");
  });
  CHECK(response.outcome == Outcome::unloadable);
  CHECK(response.reason.find("cuModuleLoadDataEx of 'test kernels'") != response.reason.npos);
  CHECK_FALSE(response.context_lost);
}

TEST_CASE("memory that is not there is an outcome with numbers, and what fits is loaded after it") {
  const FakeMachine machine(R"({"chip": {"memory_bytes": 200000000}})");
  Gpu gpu = opened(machine);
  Sequence large = on_one(BufferRole::output, {});
  large.buffers[0].bytes = 300'000'000;
  const Response response = load_and_run(gpu, large);
  CHECK(response.outcome == Outcome::no_memory);
  CHECK(response.reason.find(" MB wanted, ") != response.reason.npos);
  CHECK_FALSE(response.context_lost);
  CHECK(load_and_run(gpu, doubling(100)).outcome == Outcome::ok);
}

TEST_CASE("a sequence loaded under a number takes the place of the one before it, and a dropped one is gone") {
  const FakeMachine machine(R"({"chip": {"memory_bytes": 200000000}})");
  Gpu gpu = opened(machine);
  Sequence half = on_one(BufferRole::output, {});
  half.buffers[0].bytes = 120'000'000;
  for (int i = 0; i < 3; ++i) CHECK(load_and_run(gpu, half).outcome == Outcome::ok);
  CHECK(gpu.answer(gpu::UnloadRequest{1}).outcome == Outcome::ok);
  CHECK(gpu.answer(gpu::RunRequest{1, 1, true}).reason == "no sequence was loaded as number 1");
  CHECK(gpu.answer(gpu::LoadRequest{1, doubling(4)}, counting(5)).outcome == Outcome::refused);
}

TEST_CASE(
    "a pattern is made and looked at on the GPU: words that differ are counted, and nothing is brought or fetched") {
  const FakeMachine machine(R"({"chip": {"l2_bytes": 1048576}})");
  Gpu gpu = opened(machine);
  constexpr std::uint32_t n = 5000;
  for (const gpu::Pattern made : {gpu::Pattern::counted, gpu::Pattern::mixed}) {
    Sequence sequence = doubling(n);
    sequence.buffers[0].pattern = made;
    REQUIRE(gpu.answer(gpu::LoadRequest{1, sequence}).outcome == Outcome::ok);
    const std::vector<std::uint32_t> out = numbers(gpu.answer(gpu::RunRequest{1, 1, true}));
    REQUIRE(out.size() == n);
    for (std::uint32_t i = 0; i < n; ++i) CHECK(out[i] == 2 * (made == gpu::Pattern::mixed ? gpu::mixed_word(i) : i));
    sequence.buffers[1].pattern = gpu::Pattern::counted;  // what only word 0 is, if anything
    REQUIRE(gpu.answer(gpu::LoadRequest{1, sequence}).outcome == Outcome::ok);
    const Response wrong = gpu.answer(gpu::RunRequest{1, 1, true});
    CHECK(wrong.outcome == Outcome::wrong);
    CHECK(wrong.reason == fmt::format("{} of 5000 words of 'out' are not what they must be", n - 1));
  }
  // plus_one over 0, 1, 2, ... from word 1 on leaves 1, 2, 3, ... : what an output of the words behind it must hold.
  Sequence right;
  right.images = {test_image()};
  right.buffers = {{"out", 4 * n, BufferRole::output, gpu::Pattern::none}};
  right.launches = {};
  REQUIRE(gpu.answer(gpu::LoadRequest{2, right}).outcome == Outcome::ok);
  CHECK(gpu.answer(gpu::RunRequest{2, 1, true}).blob.size() == 4 * n);
}

TEST_CASE("asking before anything was opened, or for a GPU that is not there, says so") {
  Gpu gpu;
  CHECK(gpu.answer(gpu::RunRequest{}).reason == "no GPU was opened");
  CHECK(gpu.answer(gpu::StateRequest{}).outcome == Outcome::unavailable);
  const FakeMachine machine;
  const Response second = gpu.answer(gpu::OpenRequest{machine.library_paths(), 1});
  CHECK(second.outcome == Outcome::unavailable);
  CHECK(second.reason == "there is no GPU number 1: the driver has 1");
  const Response nowhere = gpu.answer(gpu::OpenRequest{{"/nowhere/libcuda.so", {}, {}, {}, {}}, 0});
  CHECK(nowhere.outcome == Outcome::unavailable);
  CHECK(nowhere.reason.find("/nowhere/libcuda.so") != nowhere.reason.npos);
}
