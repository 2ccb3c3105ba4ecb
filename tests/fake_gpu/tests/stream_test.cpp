// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams, events, capture and graphs of the fake: which work waits for which, what is
// captured, and that a replay does the same again. The order is read off what kernels leave in
// memory.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/tests/child.h"
#include "fake_gpu/tests/fake_library.h"

namespace tailor::fake {
namespace {

/// A GPU with a stream, a kernel and its numbers.
struct Bench : FakeLibrary {
  explicit Bench(std::string_view json = "{}") : FakeLibrary(json) {
    x = floats(std::vector<float>(32, 1));
    twice = entry(kernels, "twice");
    REQUIRE(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(go(stream) == CUDA_SUCCESS);  // nothing is launched for the first time while a stream is held
    REQUIRE(cuCtxSynchronize() == CUDA_SUCCESS);
    REQUIRE(cuMemcpyHtoD(x, std::vector<float>(32, 1).data(), 128) == CUDA_SUCCESS);
  }
  CUresult go(CUstream where) { return launch(twice, 1, 32, {&x}, where); }
  CUevent event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent made = nullptr;
    REQUIRE(cuEventCreate(&made, flags) == CUDA_SUCCESS);
    return made;
  }
  float first() { return floats(x, 1)[0]; }

  CUdeviceptr x = 0;
  CUfunction twice = nullptr;
  CUstream stream = nullptr;
};

struct Flag {
  explicit Flag(Bench& bench) {
    void* at = nullptr;
    REQUIRE(bench.cuMemHostAlloc(&at, 4, CU_MEMHOSTALLOC_DEVICEMAP) == CUDA_SUCCESS);
    REQUIRE(bench.cuMemHostGetDevicePointer(&address, at, 0) == CUDA_SUCCESS);
    host = static_cast<std::uint32_t*>(at);
    *host = 0;
  }
  void set(std::uint32_t value) { std::atomic_ref<std::uint32_t>(*host).store(value); }
  std::uint32_t* host = nullptr;
  CUdeviceptr address = 0;
};

}  // namespace

TEST_CASE("a held stream of the fake runs nothing until the host has written") {
  Bench gpu;
  Flag flag(gpu);
  REQUIRE(gpu.cuStreamWaitValue32(gpu.stream, flag.address, 3, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  REQUIRE(gpu.go(gpu.stream) == CUDA_SUCCESS);
  CHECK(gpu.first() == 1);
  flag.set(2);
  CHECK(gpu.first() == 1);
  CHECK(ending([&] { gpu.cuStreamSynchronize(gpu.stream); }, 0.2) == "hangs");
  flag.set(3);
  CHECK(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
  CHECK(gpu.first() == 2);
  CHECK(gpu.cuStreamWaitValue32(gpu.stream, flag.address + 2, 3, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuStreamWaitValue32(gpu.stream, flag.address + 8192, 3, 0) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a held stream takes only so many launches, and nothing for the first time") {
  Bench gpu(R"({"queue_depth": 4})");
  Flag flag(gpu);
  const CUfunction fresh = gpu.entry(kernels, "twice");
  const auto go_fresh = [&] { return gpu.launch(fresh, 1, 32, {&gpu.x}, gpu.stream); };
  REQUIRE(gpu.cuStreamWaitValue32(gpu.stream, flag.address, 1, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  CHECK(ending([&] { go_fresh(); }, 0.2) == "hangs");
  flag.set(1);
  REQUIRE(go_fresh() == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamWaitValue32(gpu.stream, flag.address, 2, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS);
  for (int k = 0; k < 3; ++k) CHECK(gpu.go(gpu.stream) == CUDA_SUCCESS);
  CHECK(ending([&] { gpu.go(gpu.stream); }, 0.2) == "hangs");
  flag.set(2);
  CHECK(gpu.go(gpu.stream) == CUDA_SUCCESS);
  CHECK(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
  CHECK(gpu.first() == 32);
}

TEST_CASE("another thread may let a waiting call go on") {
  Bench gpu;
  Flag flag(gpu);
  REQUIRE(gpu.cuStreamWaitValue32(gpu.stream, flag.address, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
  REQUIRE(gpu.go(gpu.stream) == CUDA_SUCCESS);
  std::thread other([&] { flag.set(1); });
  CHECK(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
  other.join();
  CHECK(gpu.first() == 2);
}

TEST_CASE("the legacy stream waits for blocking streams and no others") {
  for (const bool blocking : {true, false}) {
    CAPTURE(blocking);
    Bench gpu;
    Flag flag(gpu);
    CUstream stream = nullptr;
    REQUIRE(gpu.cuStreamCreate(&stream, blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    REQUIRE(gpu.cuStreamWaitValue32(stream, flag.address, 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS);
    REQUIRE(gpu.go(nullptr) == CUDA_SUCCESS);
    CHECK(ending([&] { gpu.cuStreamSynchronize(nullptr); }, 0.2) == (blocking ? "hangs" : "exit 0"));
    flag.set(1);
    CHECK(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(gpu.first() == 2);
  }
}

TEST_CASE("times between events are those of what lies between them") {
  Bench gpu(R"({"noise": 0, "times": [{"kernel": "^twice$", "seconds": 1e-4}]})");
  const CUevent before = gpu.event(), after = gpu.event(), never = gpu.event(),
                blind = gpu.event(CU_EVENT_DISABLE_TIMING);
  float milliseconds = 0;
  CHECK(gpu.cuEventElapsedTime(&milliseconds, before, after) == CUDA_ERROR_INVALID_HANDLE);
  REQUIRE(gpu.cuEventRecord(before, gpu.stream) == CUDA_SUCCESS);
  for (int k = 0; k < 3; ++k) REQUIRE(gpu.go(gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventRecord(after, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventRecord(blind, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventSynchronize(after) == CUDA_SUCCESS);
  CHECK(gpu.cuEventElapsedTime(&milliseconds, before, after) == CUDA_SUCCESS);
  CHECK(milliseconds > 0.3f);
  CHECK(milliseconds < 0.31f);
  CHECK(gpu.cuEventElapsedTime(&milliseconds, before, blind) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(gpu.cuEventElapsedTime(&milliseconds, before, never) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(gpu.cuEventSynchronize(never) == CUDA_SUCCESS);
}

TEST_CASE("an event that a held stream has not reached is not ready") {
  Bench gpu;
  Flag flag(gpu);
  const CUevent before = gpu.event(), after = gpu.event();
  float milliseconds = 0;
  REQUIRE(gpu.cuEventRecord(before, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamWaitValue32(gpu.stream, flag.address, 1, CU_STREAM_WAIT_VALUE_AND) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventRecord(after, gpu.stream) == CUDA_SUCCESS);
  CHECK(gpu.cuEventElapsedTime(&milliseconds, before, after) == CUDA_ERROR_NOT_READY);
  CHECK(ending([&] { gpu.cuEventSynchronize(after); }, 0.2) == "hangs");
  flag.set(1);
  CHECK(gpu.cuEventSynchronize(after) == CUDA_SUCCESS);
  CHECK(gpu.cuEventElapsedTime(&milliseconds, before, after) == CUDA_SUCCESS);
}

TEST_CASE("a captured launch runs when its graph does, and graphs have smaller gaps than streams") {
  Bench gpu(R"({"noise": 0})");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  REQUIRE(gpu.cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  for (int k = 0; k < 16; ++k) REQUIRE(gpu.go(gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamEndCapture(gpu.stream, &graph) == CUDA_SUCCESS);
  REQUIRE(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
  CHECK(gpu.cuGraphDestroy(graph) == CUDA_SUCCESS);
  CHECK(gpu.first() == 1);
  const CUevent a = gpu.event(), b = gpu.event(), c = gpu.event();
  REQUIRE(gpu.cuEventRecord(a, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuGraphLaunch(exec, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventRecord(b, gpu.stream) == CUDA_SUCCESS);
  for (int k = 0; k < 16; ++k) REQUIRE(gpu.go(gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventRecord(c, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
  CHECK(gpu.first() == 4294967296.0f);
  float in_graph = 0, in_stream = 0;
  CHECK(gpu.cuEventElapsedTime(&in_graph, a, b) == CUDA_SUCCESS);
  CHECK(gpu.cuEventElapsedTime(&in_stream, b, c) == CUDA_SUCCESS);
  CHECK(in_graph < in_stream);
  CHECK(gpu.cuGraphExecDestroy(exec) == CUDA_SUCCESS);
  CHECK(gpu.cuGraphLaunch(exec, gpu.stream) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("captured copies and fills run in their order when their graph does, each time it is launched") {
  Bench gpu(R"({"noise": 0})");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CUdeviceptr a = 0, b = 0;
  REQUIRE(gpu.cuMemAlloc(&a, 16) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemAlloc(&b, 16) == CUDA_SUCCESS);
  const std::array<std::uint32_t, 4> first = {1, 2, 3, 4}, second = {5, 6, 7, 8};
  std::array<std::uint32_t, 4> found = {};
  REQUIRE(gpu.cuMemcpyHtoD(a, first.data(), 16) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemcpyHtoD(b, second.data(), 16) == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemcpyDtoDAsync(b, a, 12, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemsetD32Async(b, 9, 1, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemsetD8Async(b + 4, 1, 4, gpu.stream) == CUDA_SUCCESS);
  REQUIRE(gpu.cuStreamEndCapture(gpu.stream, &graph) == CUDA_SUCCESS);
  REQUIRE(gpu.cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemcpyDtoH(found.data(), b, 16) == CUDA_SUCCESS);
  CHECK(found == second);  // captured is not run
  for (const std::uint32_t last : {8U, 10U}) {
    REQUIRE(gpu.cuMemsetD32Async(b, 10, last == 8 ? 1 : 4, gpu.stream) == CUDA_SUCCESS);
    REQUIRE(gpu.cuGraphLaunch(exec, gpu.stream) == CUDA_SUCCESS);
    REQUIRE(gpu.cuStreamSynchronize(gpu.stream) == CUDA_SUCCESS);
    REQUIRE(gpu.cuMemcpyDtoH(found.data(), b, 16) == CUDA_SUCCESS);
    CHECK(found == std::array<std::uint32_t, 4>{9, 0x01010101, 3, last});
  }
}

TEST_CASE("what may not stand in a capture breaks it") {
  struct Row {
    const char* what;
    CUresult (*call)(Bench&);
    CUresult error;
  };
  const Row rows[] = {
      {"synchronise the stream", [](Bench& gpu) { return gpu.cuStreamSynchronize(gpu.stream); },
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
      {"synchronise the context", [](Bench& gpu) { return gpu.cuCtxSynchronize(); },
       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
      {"allocate", [](Bench& gpu) { return gpu.cuMemAlloc(&gpu.x, 4); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
      {"copy", [](Bench& gpu) { return gpu.cuMemcpyHtoD(gpu.x, "abc", 4); }, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Bench gpu;
    auto* graph = reinterpret_cast<CUgraph>(&gpu);
    REQUIRE(gpu.cuStreamBeginCapture(gpu.stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
    CHECK(row.call(gpu) == row.error);
    CHECK(gpu.go(gpu.stream) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(gpu.cuStreamEndCapture(gpu.stream, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK(graph == nullptr);
    CHECK(gpu.go(gpu.stream) == CUDA_SUCCESS);
  }
}

TEST_CASE("capture has its own rules for the legacy stream and for events") {
  Bench gpu;
  CUgraph graph = nullptr;
  CUstream blocking = nullptr;
  const CUevent inside = gpu.event();
  REQUIRE(gpu.cuStreamCreate(&blocking, CU_STREAM_DEFAULT) == CUDA_SUCCESS);
  CHECK(gpu.cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  CHECK(gpu.cuStreamEndCapture(blocking, &graph) == CUDA_ERROR_ILLEGAL_STATE);
  REQUIRE(gpu.cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_SUCCESS);
  CHECK(gpu.cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED) == CUDA_ERROR_ILLEGAL_STATE);
  CHECK(gpu.cuEventRecord(inside, blocking) == CUDA_SUCCESS);
  CHECK(gpu.cuEventSynchronize(inside) == CUDA_ERROR_CAPTURED_EVENT);
  CHECK(gpu.go(nullptr) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  CHECK(gpu.cuStreamEndCapture(blocking, &graph) == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

}  // namespace tailor::fake
