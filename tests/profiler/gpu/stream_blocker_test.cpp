// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Holding a stream until a batch of launches is queued, with a driver that consists of four functions written here:
// they note what the stream would wait for and who lets it go. A stream that is held too long must go on by itself,
// and a driver that cannot wait must be found out at once. Part of the suite `gpu`.
#include "profiler/gpu/driver/stream_blocker.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace tailor;
using gpu::Driver;
using gpu::StreamBlocker;

std::uint32_t word = 0;                 ///< of the host's memory
std::uint32_t waited_for = 0;           ///< by the stream
CUresult wait_response = CUDA_SUCCESS;  ///< of the waiting

bool stream_goes() { return static_cast<std::int32_t>(std::atomic_ref<std::uint32_t>(word).load() - waited_for) >= 0; }

Driver four_functions() {
  word = waited_for = 0;
  wait_response = CUDA_SUCCESS;
  Driver driver;
  driver.cuMemHostAlloc = [](void** to, std::size_t, unsigned) { return *to = &word, CUDA_SUCCESS; };
  driver.cuMemFreeHost = [](void*) { return CUDA_SUCCESS; };
  driver.cuMemHostGetDevicePointer = [](CUdeviceptr* to, void*, unsigned) { return *to = 64, CUDA_SUCCESS; };
  driver.cuStreamWaitValue32 = [](CUstream, CUdeviceptr, cuuint32_t value, unsigned) {
    waited_for = value;
    return wait_response;
  };
  return driver;
}

}  // namespace

TEST_CASE("a held stream waits from begin to end, time after time") {
  const Driver driver = four_functions();
  StreamBlocker blocker;
  CHECK_FALSE(blocker.works());
  blocker.prepare(driver, nullptr);
  REQUIRE(blocker.works());
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(blocker.begin(nullptr).ok());
    REQUIRE_FALSE(stream_goes());
    REQUIRE(blocker.end());
    REQUIRE(stream_goes());
  }
}

TEST_CASE("a stream that is held too long goes on by itself, and is not held again") {
  const Driver driver = four_functions();
  StreamBlocker blocker{std::chrono::milliseconds(20)};
  blocker.prepare(driver, nullptr);
  REQUIRE(blocker.begin(nullptr).ok());
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!stream_goes() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(stream_goes());
  CHECK_FALSE(blocker.end());
  CHECK_FALSE(blocker.works());
  CHECK(blocker.reason() == "the driver stopped taking launches while the stream waited");
}

TEST_CASE("a driver that cannot make a stream wait is found out at once") {
  Driver driver = four_functions();
  wait_response = CUDA_ERROR_NOT_SUPPORTED;
  StreamBlocker refused;
  refused.prepare(driver, nullptr);
  CHECK_FALSE(refused.works());
  CHECK(refused.reason() == "cuStreamWaitValue32: CUDA error 801");
  driver.cuStreamWaitValue32 = nullptr;
  StreamBlocker none;
  none.prepare(driver, nullptr);
  CHECK(none.reason() == "the driver has no cuStreamWaitValue32");
}
