// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Everything that can go wrong on the other side of a process boundary, each proved by a kernel or a library that does
// it: whoever asks gets the outcome with its reason, and the next kernel is measured right by the same Worker. Part of
// the suite `profiler`; skipped where the fake GPU was not built.
#include "profiler/measure/worker.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "fake_gpu/fake_kernels.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/measure/test_worker.h"
#include "support/children.h"
#include "support/skip.h"

using namespace tailor;
using namespace tailor::profiler;
using ir::Outcome;
using tests::FakeMachine;
using tests::launch_of;
using tests::of_buffer;
using tests::of_value;

namespace {

/// A small L2, so that overwriting it costs the test nothing, and loops that end soon.
constexpr const char* healthy_machine = R"({"chip": {"l2_bytes": 1048576}, "warp_instructions": 20000})";
constexpr std::uint32_t numbers = 300;
constexpr Seconds patience{20};

/// The same with a library that goes wrong: rows of "failures".
std::string failing_machine(const std::string& failures) {
  return R"({"chip": {"l2_bytes": 1048576}, "failures": [)" + failures + "]}";
}

WorkerSetup setup_of(const FakeMachine& machine) {
  WorkerSetup setup;
  setup.command = {tests::test_worker()};
  setup.paths = machine.library_paths();
  setup.start_limit = patience;
  return setup;
}

bool no_fake() {
  if (has_fake_gpu()) return false;
  skip("this build has no fake GPU: it was made without CUDA's headers");
  return true;
}

gpu::Image image_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {"kernels of the test", {first, first + text.size()}};
}

/// A sequence over the buffers of doubling(numbers), 0 "in" and 1 "out", whose launch is this one.
gpu::Sequence with_launch(gpu::Launch launch, gpu::Image image = tests::test_image()) {
  gpu::Sequence sequence = tests::doubling(numbers);
  sequence.images = {std::move(image)};
  sequence.launches = {std::move(launch)};
  return sequence;
}

gpu::Sequence with_endless() { return with_launch(launch_of("endless", {of_buffer(1)}), image_of(fake::kernels)); }

/// The launch as it should be, but for what `change` does to it.
template <class Change>
gpu::Sequence changed(const Change& change) {
  gpu::Sequence sequence = tests::doubling(numbers);
  change(sequence);
  return sequence;
}

/// Loads under a number and runs once: the first answer that is not ok, else the run's.
gpu::Response run_on(Worker& worker, const gpu::Sequence& sequence, Seconds limit = patience, int number = 1) {
  std::vector<std::byte> contents;
  for (const gpu::Buffer& buffer : sequence.buffers)
    if (buffer.role == gpu::BufferRole::input) contents = tests::counting(static_cast<std::uint32_t>(buffer.bytes / 4));
  const gpu::Response loaded = worker.call(gpu::LoadRequest{number, sequence}, contents, limit);
  if (loaded.outcome != Outcome::ok) return loaded;
  return worker.call(gpu::RunRequest{number, 7, true}, {}, limit);
}

void check_healthy(Worker& worker) {
  const gpu::Response ran = run_on(worker, tests::doubling(numbers), patience, 77);
  REQUIRE_MESSAGE(ran.outcome == Outcome::ok, ran.reason);
  CHECK(worker.is_running());
  std::vector<std::uint32_t> out(ran.blob.size() / 4);
  REQUIRE(out.size() == numbers);
  std::memcpy(out.data(), ran.blob.data(), ran.blob.size());
  for (std::uint32_t i = 0; i < numbers; ++i) REQUIRE(out[i] == 2 * i);
  const gpu::Response timed = worker.call(
      gpu::TimeRequest{77, ir::CacheState::cold, ir::TimedBy::activity, ir::LaunchMode::stream, 3, 1, false}, {},
      patience);
  REQUIRE_MESSAGE(timed.outcome == Outcome::ok, timed.reason);
  CHECK(timed.samples.size() == 3);
  for (const ir::Sample& sample : timed.samples) CHECK(sample.duration.value > 1e-6);
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

/// One way of going wrong, what is said of it, and whether the worker is gone afterwards.
struct WrongWay {
  std::string what;
  gpu::Sequence sequence;
  Outcome outcome;
  std::vector<std::string> said;
  bool ends_worker = false;
};

std::vector<WrongWay> wrong_ways() {
  constexpr std::uint64_t size = 4 * numbers;
  const auto poke = [](int buffer, std::uint64_t offset) {
    return with_launch(launch_of("poke", {of_buffer(buffer), of_value(offset)}));
  };
  const std::string other_target = [] {
    std::string text = fake::kernels;
    return text.replace(text.find("sm_80"), 5, "sm_120");
  }();
  return {
      {"a trap", with_launch(launch_of("trapping", {})), Outcome::trapped, {"CUDA_ERROR_LAUNCH_FAILED"}, true},
      {"an assertion",
       with_launch(launch_of("fails", {of_buffer(1)}), image_of(fake::asserting_kernel)),
       Outcome::trapped,
       {"CUDA_ERROR_ASSERT"},
       true},
      {"a store at an address that nobody has",
       with_launch(launch_of("wild", {})),
       Outcome::illegal_access,
       {"CUDA_ERROR_ILLEGAL_ADDRESS"},
       true},
      {"a store far behind a buffer",
       with_launch(launch_of("far", {of_buffer(1)}), image_of(fake::kernels)),
       Outcome::illegal_access,
       {"CUDA_ERROR_ILLEGAL_ADDRESS"},
       true},
      {"a misaligned store",
       with_launch(launch_of("crooked", {of_buffer(1)})),
       Outcome::illegal_access,
       {"CUDA_ERROR_MISALIGNED_ADDRESS"},
       true},
      {"a store past a buffer's end",
       poke(1, size + 3),
       Outcome::overrun,
       {"1 byte written past the end of 'out'", "the first at byte 3 after its 1200"}},
      {"a store before a buffer's start",
       poke(0, ~std::uint64_t{4}),
       Outcome::overrun,
       {"before the start of 'in'", "the nearest 5 bytes before it"}},
      {"a store into an input", poke(0, 100), Outcome::overrun, {"input 'in' was written between bytes 0 and 1200"}},
      {"too many threads",
       changed([](gpu::Sequence& s) {
         s.launches[0].block = {2048, 1, 1};
       }),
       Outcome::refused,
       {"cuLaunchKernel"}},
      {"too much shared memory",
       changed([](gpu::Sequence& s) { s.launches[0].dynamic_shared = 300'000; }),
       Outcome::refused,
       {"300000 bytes of shared memory wanted", "232448 possible"}},
      {"an argument too few",
       changed([](gpu::Sequence& s) { s.launches[0].arguments.pop_back(); }),
       Outcome::refused,
       {"argument"}},
      {"PTX for a newer architecture",
       with_launch(launch_of("trap", {of_buffer(1)}), image_of(other_target)),
       Outcome::unloadable,
       {"CUDA_ERROR_NO_BINARY_FOR_GPU", "this GPU is sm_90"}},
      {"PTX that does not parse",
       with_launch(launch_of("x", {}), image_of(".version 8.0\n.target sm_80\n.entry x( {\n")),
       Outcome::unloadable,
       {"CUDA_ERROR_INVALID_PTX"}},
      {"bytes that are no image",
       with_launch(launch_of("x", {}), image_of("garbage")),
       Outcome::unloadable,
       {"neither a cubin nor PTX"}},
      {"a kernel that the image has not", with_launch(launch_of("absent", {})), Outcome::unloadable, {"'absent'"}},
      {"more memory than there is",
       changed([](gpu::Sequence& s) {
         s.buffers.push_back({"huge", std::int64_t{1} << 40, gpu::BufferRole::workspace});
       }),
       Outcome::no_memory,
       {"CUDA_ERROR_OUT_OF_MEMORY"}},
  };
}

}  // namespace

TEST_CASE("whatever a kernel does is told, and the next kernel is measured right") {
  if (no_fake()) return;
  const FakeMachine machine(healthy_machine);
  Worker worker(setup_of(machine));
  check_healthy(worker);
  for (const WrongWay& way : wrong_ways()) {
    CAPTURE(way.what);
    const int before = worker.generation();
    const gpu::Response response = run_on(worker, way.sequence);
    CAPTURE(response.reason);
    CHECK(ir::name(response.outcome) == ir::name(way.outcome));
    for (const std::string& part : way.said) CHECK_MESSAGE(holds(response.reason, part), part);
    CHECK(response.context_lost == way.ends_worker);
    CHECK(worker.is_running() != way.ends_worker);
    check_healthy(worker);
    CHECK(worker.generation() == before + (way.ends_worker ? 1 : 0));
  }
}

TEST_CASE("a kernel that never ends is killed at its limit, and what was loaded is known to be gone") {
  if (no_fake()) return;
  const FakeMachine machine(healthy_machine);
  Worker worker(setup_of(machine));
  check_healthy(worker);
  const gpu::Response response = run_on(worker, with_endless(), Seconds{0.5});
  CHECK(response.outcome == Outcome::timed_out);
  CHECK_MESSAGE(holds(response.reason, "the worker was killed"), response.reason);
  CHECK_FALSE(worker.is_running());
  const gpu::Response forgotten = worker.call(gpu::RunRequest{77, 1, true}, {}, patience);
  CHECK(forgotten.outcome == Outcome::unavailable);
  CHECK_MESSAGE(holds(forgotten.reason, "no sequence was loaded as number 77"), forgotten.reason);
  CHECK(worker.generation() == 2);
  check_healthy(worker);
}

TEST_CASE("a library that ends its process is a crash with signal or code, and the next worker goes on") {
  if (no_fake()) return;
  struct Death {
    std::string act, said;
  };
  for (const Death& death : {Death{R"("act": "abort")", "signal 6"}, Death{R"("act": "fault")", "signal 11"},
                             Death{R"("act": "exit", "error": 3)", "exited with code 3"}}) {
    CAPTURE(death.act);
    const FakeMachine machine(failing_machine(R"({"call": "cuLaunchKernelEx", "once": true, )" + death.act + "}"));
    Worker worker(setup_of(machine));
    const gpu::Response response = run_on(worker, tests::doubling(numbers));
    CHECK(response.outcome == Outcome::crashed);
    CHECK_MESSAGE(holds(response.reason, death.said), response.reason);
    CHECK_FALSE(worker.is_running());
    check_healthy(worker);
    CHECK(worker.generation() == 2);
  }
}

TEST_CASE("a library that hangs in any call of a question is killed at the limit") {
  if (no_fake()) return;
  for (const std::string call : {"cuModuleLoadDataEx", "cuMemAlloc", "cuLaunchKernelEx", "cuStreamSynchronize"}) {
    CAPTURE(call);
    // The opening has calls of the same names: only a later one hangs.
    const FakeMachine machine(failing_machine(R"({"call": ")" + call + R"(", "act": "hang", "nth": 3, "once": true})"));
    Worker worker(setup_of(machine));
    gpu::Response response;
    for (int i = 0; i < 4 && response.outcome == Outcome::ok; ++i)
      response = run_on(worker, tests::doubling(numbers), Seconds{0.25}, i);
    CHECK(ir::name(response.outcome) == ir::name(Outcome::timed_out));
    check_healthy(worker);
  }
}

TEST_CASE("a worker's last words are quoted") {
  if (no_fake()) return;
  const FakeMachine machine(R"({"no such key": 1})");
  Worker worker(setup_of(machine));
  const gpu::Response response = run_on(worker, tests::doubling(numbers));
  CHECK(response.outcome == Outcome::crashed);
  CHECK_MESSAGE(holds(response.reason, "it said: fake_gpu.json: unknown key \"no such key\""), response.reason);
}

TEST_CASE("without a library or a GPU every question is answered with why, and the layers still are") {
  if (no_fake()) return;
  const FakeMachine empty(R"({"chip": {"count": 0}})");
  WorkerSetup no_gpu = setup_of(empty), no_library = no_gpu;
  no_library.paths.driver = "/no/such/libcuda.so";
  for (const WorkerSetup& setup : {no_gpu, no_library}) {
    Worker worker(setup);
    CHECK(worker.opened().outcome == Outcome::unavailable);
    CHECK(!worker.opened().reason.empty());
    const gpu::Response response = run_on(worker, tests::doubling(numbers));
    CHECK(response.outcome == Outcome::unavailable);
    CHECK(response.reason == worker.opened().reason);
    CHECK_FALSE(worker.is_running());
    const gpu::Response layers = worker.call(gpu::CapabilitiesRequest{setup.paths, 0}, {}, patience);
    CHECK(std::any_of(layers.capabilities.begin(), layers.capabilities.end(), [](const gpu::Capability& capability) {
      return capability.state == "missing" && !capability.remedy.empty();
    }));
  }
}

TEST_CASE("a worker that cannot be started, leaves at once, or is none is an answer too") {
  struct Program {
    std::vector<std::string> command;
    Outcome outcome;
    std::string said;
  };
  const std::vector<Program> programs = {
      {{"/no/such/program"}, Outcome::unavailable, "/no/such/program cannot be started"},
      {{"/bin/true"}, Outcome::crashed, "exited with code 0"},
      {{"/bin/sh", "-c", "echo first; echo last >&2; exit 9"}, Outcome::crashed, "exited with code 9; it said: last"},
      {{"/bin/sleep", "60"}, Outcome::timed_out, "no answer within"},
      {{tests::test_worker(), "not JSON"}, Outcome::crashed, "cannot be read"},
      {{tests::test_worker(), "{}"}, Outcome::crashed, "cannot be read"},
      {{tests::test_worker(), "[1, 2]"}, Outcome::crashed, "cannot be read"},
  };
  for (const Program& program : programs) {
    CAPTURE(program.command.back());
    WorkerSetup setup;
    setup.command = program.command;
    setup.start_limit = {0.5};
    Worker worker(setup);
    const gpu::Response response = worker.call(gpu::StateRequest{}, {}, patience);
    CHECK(ir::name(response.outcome) == ir::name(program.outcome));
    CHECK_MESSAGE(holds(response.reason, program.said), response.reason);
    CHECK_FALSE(worker.is_running());
  }
  CHECK(testing::no_child_is_left());
}

TEST_CASE("who is told to stop does not wait for the GPU") {
  if (no_fake()) return;
  const FakeMachine machine(R"({"log": true, "chip": {"l2_bytes": 1048576}, "warp_instructions": 20000})");
  std::stop_source source;
  WorkerSetup setup = setup_of(machine);
  setup.stop = source.get_token();
  Worker worker(setup);
  check_healthy(worker);
  const auto launches = [&] {
    const std::vector<std::string> calls = machine.calls();
    return std::count(calls.begin(), calls.end(), "cuLaunchKernelEx");
  };
  std::jthread other([&, before = launches()] {
    while (launches() == before) std::this_thread::yield();  // the endless kernel is on its way
    source.request_stop();
  });
  CHECK(run_on(worker, with_endless(), Seconds{std::numeric_limits<double>::infinity()}).outcome == Outcome::stopped);
  CHECK_FALSE(worker.is_running());
  CHECK(run_on(worker, tests::doubling(numbers)).outcome == Outcome::stopped);
}

TEST_CASE("no process is left behind, whether it answered, hung or was moved") {
  if (no_fake()) return;
  const FakeMachine machine(healthy_machine);
  {
    Worker first(setup_of(machine)), second(setup_of(machine));
    check_healthy(first);
    check_healthy(second);  // two at once do not disturb one another
    Worker third(std::move(first));
    check_healthy(third);
    second = std::move(third);
    check_healthy(second);
    CHECK(run_on(second, with_endless(), Seconds{0.3}).outcome == Outcome::timed_out);
  }
  CHECK(testing::no_child_is_left());
}

TEST_CASE("what is no socket is not served") {
  CHECK(serve(-1) == 1);
  CHECK(serve(0) == 1);
}

TEST_CASE("the own command begins with this program") {
  const std::vector<std::string> command = own_command({"--worker"});
  REQUIRE(command.size() == 2);
  CHECK(command[0].ends_with("profiler_test"));
  CHECK(command[1] == "--worker");
}
