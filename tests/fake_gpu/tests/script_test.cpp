// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a test can make the fake do wrong, and that the fake does the same twice. Each
// row of a script is tried: failing, hanging, ending the process, only in the first
// process.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <csignal>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/tests/child.h"
#include "fake_gpu/tests/fake_library.h"

namespace tailor::fake {
namespace {

/// A call with nothing in its arguments: what the script says comes before they are looked at.
template <class Result, class... Arguments>
int blank(Result (*call)(Arguments...)) {
  return static_cast<int>(call(Arguments{}...));
}

struct NamedCall {
  std::string name;
  int (*call)(FakeLibrary&);
};

std::vector<NamedCall> every_call() {
  return {
#define DRIVER_FUNCTION(name, needed) {#name, [](FakeLibrary& gpu) { return blank(gpu.name); }},
#define CUPTI_FUNCTION(name, part) {#name, [](FakeLibrary& gpu) { return blank(gpu.name); }},
#define NVML_FUNCTION(name, parameters) {#name, [](FakeLibrary& gpu) { return blank(gpu.name); }},
#include "profiler/gpu/cupti/cupti.def"
#include "profiler/gpu/driver/driver.def"
#include "profiler/gpu/driver/nvml.def"
#include "support/approx.h"
#undef DRIVER_FUNCTION
#undef CUPTI_FUNCTION
#undef NVML_FUNCTION
  };
}

/// Times between events around launches of a kernel.
std::vector<float> times(std::string_view json, int count) {
  FakeLibrary gpu(json);
  CUdeviceptr x = gpu.floats(std::vector<float>(1 << 14, 1));
  const CUfunction twice = gpu.entry(kernels, "twice");
  CUevent before = nullptr, after = nullptr;
  REQUIRE(gpu.cuEventCreate(&before, 0) == CUDA_SUCCESS);
  REQUIRE(gpu.cuEventCreate(&after, 0) == CUDA_SUCCESS);
  std::vector<float> all;
  for (int k = 0; k < count; ++k) {
    REQUIRE(gpu.cuEventRecord(before, nullptr) == CUDA_SUCCESS);
    REQUIRE(gpu.launch(twice, 64, 256, {&x}) == CUDA_SUCCESS);
    REQUIRE(gpu.cuEventRecord(after, nullptr) == CUDA_SUCCESS);
    REQUIRE(gpu.cuEventSynchronize(after) == CUDA_SUCCESS);
    REQUIRE(gpu.cuEventElapsedTime(&all.emplace_back(), before, after) == CUDA_SUCCESS);
  }
  return all;
}

}  // namespace

TEST_CASE("every call of the fake fails when it is told to, and only then") {
  const std::vector<NamedCall> calls = every_call();
  std::string rows;
  for (const NamedCall& one : calls)
    rows += fmt::format(R"({}{{"call": "{}", "nth": 2, "error": 801}})", rows.empty() ? "" : ",", one.name);
  FakeLibrary gpu(R"({"failures": [)" + rows + "]}", false);
  for (const NamedCall& one : calls) {
    CAPTURE(one.name);
    CHECK(one.call(gpu) != 801);
    CHECK(one.call(gpu) == 801);
    CHECK(one.call(gpu) != 801);
  }
}

TEST_CASE("a scripted error that no context outlives stays") {
  FakeLibrary gpu(R"({"failures": [{"call": "cuCtxSynchronize", "nth": 1, "error": 700}]})");
  CUdeviceptr memory = 0;
  CHECK(gpu.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
  CHECK(gpu.cuMemAlloc(&memory, 16) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("a scripted call ends the process, hangs it or is slow") {
  struct Row {
    const char* act;
    std::string ending;
  };
  const Row rows[] = {{R"("act": "abort")", fmt::format("signal {}", SIGABRT)},
                      {R"("act": "fault")", fmt::format("signal {}", SIGSEGV)},
                      {R"("act": "exit", "error": 7)", "exit 7"},
                      {R"("act": "hang")", "hangs"},
                      {R"("act": "slow", "seconds": 0.01)", "exit 0"}};
  for (const Row& row : rows) {
    CAPTURE(row.act);
    FakeLibrary gpu(fmt::format(R"({{"failures": [{{"call": "cuMemGetInfo", "nth": 3, {}}}]}})", row.act));
    std::size_t free_bytes = 0, total = 0;
    for (int k = 0; k < 2; ++k) CHECK(gpu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS);
    CHECK(ending([&] { gpu.cuMemGetInfo(&free_bytes, &total); }, 0.3) == row.ending);
  }
}

TEST_CASE("what shall happen once happens in the first process that gets there") {
  FakeLibrary gpu(R"({"failures": [{"call": "cuInit", "act": "exit", "error": 7, "once": true}]})", false);
  CHECK(ending([&] { gpu.cuInit(0); }) == "exit 7");
  CHECK(ending([&] { gpu.cuInit(0); }) == "exit 0");
  CHECK(gpu.cuInit(0) == CUDA_SUCCESS);
}

TEST_CASE("the fake writes down who called") {
  FakeLibrary gpu(R"({"log": true})");
  CHECK(gpu.files().calls() == std::vector<std::string>{"cuInit", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"});
}

TEST_CASE("a copy of the fake may lack a function") {
  FakeLibrary gpu("{}", true, {"cuStreamWaitValue32_v2", "cuptiSubscribe_v2"});
  CHECK((gpu.cuStreamWaitValue32 == nullptr));
  CHECK((gpu.cuptiSubscribe_v2 == nullptr));
  CHECK((gpu.cuptiSubscribe != nullptr));
}

TEST_CASE("equal configurations give equal times, another seed others") {
  const std::vector<float> first = times(R"({"noise": 0.05})", 20);
  CHECK(times(R"({"noise": 0.05})", 20) == first);
  CHECK(times(R"({"noise": 0.05, "seed": 2})", 20) != first);
  const std::vector<float> still = times(R"({"noise": 0, "chip": {"tick": 1}})", 20);
  CHECK(std::vector<float>(still.begin() + 1, still.end()) == std::vector<float>(19, still[1]));
  CHECK(still[0] >= still[1]);
}

TEST_CASE("a planted time is the kernel's time, and a throttled clock makes it longer") {
  const std::string_view json = R"({"noise": 0, "times": [{"kernel": "wice", "seconds": 1e-3}],
      "throttle": [{"launches": 4, "reasons": 4, "sm_clock": 0.99e9}]})";
  // Between the events there are also the host's launch and call and the gap before a kernel: 3.1 us.
  const std::vector<float> all = times(json, 6);
  for (std::size_t k = 0; k < all.size(); ++k) CHECK(all[k] == approx(k < 4 ? 1.0031 : 2.0031).epsilon(1e-4));
}

TEST_CASE("NVML of the fake tells the machine and its script") {
  FakeLibrary gpu(R"({"throttle": [{"launches": 1, "reasons": 4, "sm_clock": 0.99e9}], "power_limit": 350,
                      "other_processes": 1, "mig": true, "ecc": false})");
  void* device = nullptr;
  unsigned number = 0, pending = 0;
  unsigned long long reasons = 0;
  int mode = 0, pending_mode = 0;
  CHECK(gpu.nvmlDeviceGetHandleByUUID("GPU-0123abcd-4567-89ef-0123-456789abcdef", &device) == 1);
  REQUIRE(gpu.nvmlInit_v2() == 0);
  CHECK(gpu.nvmlDeviceGetHandleByUUID("GPU-other", &device) == 6);
  REQUIRE(gpu.nvmlDeviceGetHandleByUUID("GPU-0123abcd-4567-89ef-0123-456789abcdef", &device) == 0);
  CHECK(gpu.nvmlDeviceGetClockInfo(device, 1, &number) == 0);
  CHECK(number == 1980);
  CHECK(gpu.nvmlDeviceGetCurrentClocksEventReasons(device, &reasons) == 0);
  CHECK(reasons == 1);
  CUdeviceptr x = gpu.floats(std::vector<float>(32, 1));
  REQUIRE(gpu.launch(gpu.entry(kernels, "twice"), 1, 32, {&x}) == CUDA_SUCCESS);
  CHECK(gpu.nvmlDeviceGetClockInfo(device, 1, &number) == 0);
  CHECK(number == 990);
  CHECK(gpu.nvmlDeviceGetCurrentClocksThrottleReasons(device, &reasons) == 0);
  CHECK(reasons == 4);
  CHECK(gpu.nvmlDeviceGetEnforcedPowerLimit(device, &number) == 0);
  CHECK(number == 350'000);
  CHECK(gpu.nvmlDeviceGetMigMode(device, &number, &pending) == 0);
  CHECK(number == 1);
  CHECK(gpu.nvmlDeviceGetEccMode(device, &mode, &pending_mode) == 0);
  CHECK(mode == 0);
  unsigned count = 0;
  CHECK(gpu.nvmlDeviceGetComputeRunningProcesses_v3(device, &count, nullptr) == 7);
  CHECK(count == 2);
}

}  // namespace tailor::fake
