// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Random calls in random order, with handles that live, lived or never did: the fake answers
// each and never breaks. What it answers about memory is compared with a plain account of
// it.
#include <doctest/doctest.h>

#include <map>
#include <random>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/tests/fake_library.h"

namespace tailor::fake {
namespace {

struct Player {
  explicit Player(std::uint64_t seed) : random(seed) {
    function = gpu.entry(kernels, "twice");
    for (int k = 0; k < 4; ++k) step();
  }

  std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random); }
  template <class Handle>
  Handle any(const std::vector<Handle>& handles) {
    return handles.empty() || pick(16) == 0 ? Handle{} : handles[pick(handles.size())];
  }

  void allocate() {
    const std::size_t bytes = 512 * (1 + pick(8));
    CUdeviceptr at = 0;
    const CUresult result = gpu.cuMemAlloc(&at, bytes);
    CHECK((result == CUDA_SUCCESS) == !capturing);
    if (result != CUDA_SUCCESS) return;
    for (const auto& [other, size] : live) CHECK((at + bytes <= other || other + size <= at));
    live[at] = bytes;
    addresses.push_back(at);
  }

  void release() {
    const CUdeviceptr at = any(addresses) + 256 * (pick(4) / 3);
    const CUresult result = gpu.cuMemFree(at);
    const bool expected = at == 0 || (!capturing && live.count(at) != 0);
    CHECK((result == CUDA_SUCCESS) == expected);
    if (expected) live.erase(at);
  }

  void fill() {
    const CUdeviceptr at = any(addresses) + pick(600);
    const std::size_t bytes = 1 + pick(5000);
    const auto after = live.upper_bound(at);
    const bool inside = after != live.begin() && at + bytes <= std::prev(after)->first + std::prev(after)->second;
    const CUresult result = gpu.cuMemsetD8Async(at, 1, bytes, any(streams));
    if (result == CUDA_SUCCESS) CHECK(inside);
    if (result == CUDA_ERROR_INVALID_VALUE) CHECK(!inside);
  }

  void launch() {
    // Within what the smallest allocation holds; a freed address would end the context.
    CUdeviceptr at = live.empty() ? 0 : live.begin()->first;
    if (at != 0 && graphs.empty()) gpu.launch(function, 1, 128, {&at}, any(streams));
  }

  void stream() {
    CUstream made = nullptr;
    if (pick(2) == 0 && gpu.cuStreamCreate(&made, pick(3) == 0 ? 0 : CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS)
      streams.push_back(made);
    else if (!capturing)
      gpu.cuStreamDestroy(any(streams));
  }

  void event() {
    CUevent made = nullptr;
    float milliseconds = 0;
    if (pick(3) == 0 && gpu.cuEventCreate(&made, 0) == CUDA_SUCCESS) events.push_back(made);
    gpu.cuEventRecord(any(events), any(streams));
    if (gpu.cuEventElapsedTime(&milliseconds, any(events), any(events)) == CUDA_SUCCESS)
      CHECK(std::abs(milliseconds) < 1e3f);
    if (pick(4) == 0) gpu.cuEventDestroy(any(events));
  }

  void capture() {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    if (captured == nullptr) {
      captured = any(streams);
      capturing = gpu.cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS;
      if (!capturing) captured = nullptr;
      return;
    }
    const CUresult result = gpu.cuStreamEndCapture(captured, &graph);
    captured = nullptr;
    capturing = false;
    CHECK((result == CUDA_SUCCESS) == (graph != nullptr));
    if (graph != nullptr && gpu.cuGraphInstantiateWithFlags(&exec, graph, 0) == CUDA_SUCCESS) graphs.push_back(exec);
    gpu.cuGraphDestroy(graph);
  }

  void step() {
    constexpr void (Player::*moves[])() = {&Player::allocate, &Player::release, &Player::fill,   &Player::launch,
                                           &Player::stream,   &Player::event,   &Player::capture};
    (this->*moves[pick(std::size(moves))])();
    if (pick(8) == 0) gpu.cuStreamSynchronize(any(streams));
    if (pick(8) == 0) gpu.cuGraphExecDestroy(any(graphs));
  }

  std::mt19937_64 random;
  FakeLibrary gpu;
  CUfunction function = nullptr;
  std::map<CUdeviceptr, std::size_t> live;
  std::vector<CUdeviceptr> addresses;
  std::vector<CUstream> streams;
  std::vector<CUevent> events;
  std::vector<CUgraphExec> graphs;
  CUstream captured = nullptr;
  bool capturing = false;
};

}  // namespace

TEST_CASE("no order of calls breaks the fake, and its memory is accounted for") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Player player(seed);
    for (int k = 0; k < 300; ++k) player.step();
    while (player.capturing) player.capture();
    REQUIRE(player.gpu.cuCtxSynchronize() == CUDA_SUCCESS);
    std::size_t free_bytes = 0, total = 0, used = 0;
    for (const auto& [at, bytes] : player.live) used += bytes;
    REQUIRE(player.gpu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS);
    CHECK(total - free_bytes == used);
  }
}

}  // namespace tailor::fake
