// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake driver against what the documentation of NVIDIA's says: order of calls, memory, modules,
// launches, and what becomes of kernels that go wrong. Each case calls the exported functions
// directly.
#include <doctest/doctest.h>

#include <cstring>

#include "fake_gpu/fake_kernels.h"
#include "fake_gpu/tests/child.h"
#include "fake_gpu/tests/fake_library.h"

namespace tailor::fake {
namespace {

std::string without(std::string text, std::string_view what, std::string_view instead) {
  return text.replace(text.find(what), what.size(), instead);
}

CUresult loaded(FakeLibrary& gpu, const void* image) {
  CUmodule module = nullptr;
  return gpu.cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr);
}

/// An ELF header with so many in the byte of the architecture.
std::string cubin(int architecture, bool new_format) {
  std::string head(64, '\0');
  head.replace(0, 6,
               "\x7f"
               "ELF\x02\x01");
  head[8] = new_format ? 8 : 7;
  head[new_format ? 49 : 48] = static_cast<char>(architecture);
  return head;
}

}  // namespace

TEST_CASE("the fake adds vectors") {
  FakeLibrary gpu;
  const std::vector<float> a = {1, 2, 3, 4, 5}, b = {10, 20, 30, 40, 50};
  CUdeviceptr at_a = gpu.floats(a), at_b = gpu.floats(b), out = gpu.floats(std::vector<float>(5, -1));
  unsigned n = 5;
  CHECK(gpu.launch(gpu.entry(kernels, "add"), 2, 32, {&at_a, &at_b, &out, &n}) == CUDA_SUCCESS);
  CHECK(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  CHECK(gpu.floats(out, 5) == std::vector<float>{11, 22, 33, 44, 55});
}

TEST_CASE("the fake wants to be initialised, then a context") {
  FakeLibrary gpu("{}", false);
  int count = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  CHECK(gpu.cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  CHECK(gpu.cuInit(1) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(gpu.cuInit(0) == CUDA_SUCCESS);
  CHECK(gpu.cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(gpu.cuMemAlloc(&memory, 16) == CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(gpu.cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
  CHECK(gpu.cuMemAlloc(&memory, 16) == CUDA_ERROR_INVALID_CONTEXT);
  REQUIRE(gpu.cuCtxSetCurrent(context) == CUDA_SUCCESS);
  CHECK(gpu.cuMemAlloc(&memory, 16) == CUDA_SUCCESS);
  REQUIRE(gpu.cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
  CHECK(gpu.cuMemAlloc(&memory, 16) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
  CHECK(gpu.cuDevicePrimaryCtxRelease(0) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("a machine of the fake may have no GPU") {
  FakeLibrary gpu(R"({"chip": {"count": 0}})", false);
  CHECK(gpu.cuInit(0) == CUDA_ERROR_NO_DEVICE);
}

TEST_CASE("the fake's memory is what was allocated and nothing beside it") {
  FakeLibrary gpu(R"({"chip": {"memory_bytes": 1048576}})");
  CUdeviceptr a = 0, b = 0;
  std::size_t free_bytes = 0, total = 0;
  char bytes[64] = {};
  CHECK(gpu.cuMemAlloc(&a, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemAlloc(&a, 2 << 20) == CUDA_ERROR_OUT_OF_MEMORY);
  REQUIRE(gpu.cuMemAlloc(&a, 1 << 19) == CUDA_SUCCESS);
  CHECK(a % 512 == 0);
  CHECK(gpu.cuMemAlloc(&b, (1 << 19) + 1) == CUDA_ERROR_OUT_OF_MEMORY);
  CHECK(gpu.cuMemGetInfo(&free_bytes, &total) == CUDA_SUCCESS);
  CHECK(free_bytes == 1 << 19);
  CHECK(gpu.cuMemcpyHtoD(a + (1 << 19) - 63, bytes, 64) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemcpyHtoD(a + (1 << 19) - 64, bytes, 64) == CUDA_SUCCESS);
  CHECK(gpu.cuMemsetD8Async(a - 1, 0, 2, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemsetD32Async(a + 2, 0, 1, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemFree(a + 256) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemFree(a) == CUDA_SUCCESS);
  CHECK(gpu.cuMemFree(a) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemcpyDtoH(bytes, a, 1) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuMemAlloc(&b, 1 << 20) == CUDA_SUCCESS);
}

TEST_CASE("fills and copies of the fake write what they say") {
  FakeLibrary gpu;
  CUdeviceptr a = 0, b = 0;
  REQUIRE(gpu.cuMemAlloc(&a, 64) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemAlloc(&b, 64) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemsetD8Async(a, 0x11, 64, nullptr) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemsetD32Async(a + 4, 0x3f800000, 2, nullptr) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemcpyDtoDAsync(b, a, 64, nullptr) == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemsetD8Async(a, 0x11, 64, nullptr) == CUDA_SUCCESS);
  float ones[4] = {};
  REQUIRE(gpu.cuMemcpyDtoH(ones, b, 16) == CUDA_SUCCESS);
  CHECK(ones[1] == 1);
  CHECK(ones[2] == 1);
  unsigned again = 0;
  REQUIRE(gpu.cuMemcpyDtoH(&again, a + 4, 4) == CUDA_SUCCESS);
  CHECK(again == 0x11111111);
}

TEST_CASE("the fake loads PTX for its own and older chips, and no machine code") {
  FakeLibrary gpu;
  CHECK(loaded(gpu, kernels) == CUDA_SUCCESS);
  CHECK(loaded(gpu, without(kernels, "sm_80", "sm_90a").c_str()) == CUDA_SUCCESS);
  CHECK(loaded(gpu, without(kernels, "sm_80", "sm_80a").c_str()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(loaded(gpu, without(kernels, "sm_80", "sm_100").c_str()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(loaded(gpu, without(kernels, "8.0", "9.9").c_str()) == CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  CHECK(loaded(gpu, "nothing of this kind") == CUDA_ERROR_INVALID_IMAGE);
  for (const bool new_format : {false, true}) {
    CHECK(loaded(gpu, cubin(80, new_format).data()) == CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK(loaded(gpu, cubin(90, new_format).data()) == CUDA_ERROR_INVALID_IMAGE);
  }
  char log[256] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  CUmodule module = nullptr;
  const std::string wrong = without(kernels, "add.f32 %f3, %f1, %f2;", "add.f32 %f3, %f1");
  CHECK(gpu.cuModuleLoadDataEx(&module, wrong.c_str(), 2, options, values) == CUDA_ERROR_INVALID_PTX);
  CHECK(std::string(log).find("line 2") != std::string::npos);
  CHECK(reinterpret_cast<std::size_t>(values[1]) == std::strlen(log) + 1);
}

TEST_CASE("the fake knows functions by name and parameters by place") {
  FakeLibrary gpu;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  REQUIRE(gpu.cuModuleLoadDataEx(&module, kernels, 0, nullptr, nullptr) == CUDA_SUCCESS);
  CHECK(gpu.cuModuleGetFunction(&function, module, "subtract") == CUDA_ERROR_NOT_FOUND);
  REQUIRE(gpu.cuModuleGetFunction(&function, module, "add") == CUDA_SUCCESS);
  std::size_t offset = 0, size = 0;
  CHECK(gpu.cuFuncGetParamInfo(function, 3, &offset, &size) == CUDA_SUCCESS);
  CHECK(offset == 24);
  CHECK(size == 4);
  CHECK(gpu.cuFuncGetParamInfo(function, 4, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  CHECK(gpu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS);
  CHECK(value >= 16);
  CHECK(gpu.cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(gpu.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(gpu.cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("the fake refuses launches that a driver refuses") {
  FakeLibrary gpu;
  const CUfunction twice = gpu.entry(kernels, "twice");
  CUdeviceptr x = gpu.floats(std::vector<float>(32, 1));
  void* arguments[] = {&x};
  CUlaunchAttribute attribute = {};
  const auto launched = [&](auto&& change) {
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    change(config);
    return gpu.cuLaunchKernelEx(&config, twice, arguments, nullptr);
  };
  CHECK(launched([](CUlaunchConfig&) {}) == CUDA_SUCCESS);
  CHECK(launched([](CUlaunchConfig& c) { c.gridDimY = 0; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launched([](CUlaunchConfig& c) { c.gridDimY = 65536; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launched([](CUlaunchConfig& c) { c.blockDimX = 1025; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(launched([](CUlaunchConfig& c) { c.sharedMemBytes = 49153; }) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuFuncSetAttribute(twice, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuFuncSetAttribute(twice, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448) == CUDA_SUCCESS);
  CHECK(launched([](CUlaunchConfig& c) { c.sharedMemBytes = 49153; }) == CUDA_SUCCESS);
  CHECK(launched([](CUlaunchConfig& c) { c.hStream = reinterpret_cast<CUstream>(&c); }) == CUDA_ERROR_INVALID_HANDLE);
  const auto with = [&](CUlaunchConfig& c) { c.attrs = &attribute, c.numAttrs = 1; };
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CHECK(launched([&](CUlaunchConfig& c) { with(c), c.gridDimX = 132 * 32 + 1; }) ==
        CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {16, 1, 1};
  CHECK(launched([&](CUlaunchConfig& c) { with(c), c.gridDimX = 16; }) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
  CHECK(gpu.cuFuncSetAttribute(twice, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1) == CUDA_SUCCESS);
  CHECK(launched([&](CUlaunchConfig& c) { with(c), c.gridDimX = 16; }) == CUDA_SUCCESS);
  CHECK(launched([&](CUlaunchConfig& c) { with(c), c.gridDimX = 24; }) == CUDA_ERROR_INVALID_VALUE);
  attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CHECK(launched(with) == CUDA_SUCCESS);
  arguments[0] = nullptr;
  CHECK(launched([](CUlaunchConfig&) {}) == CUDA_ERROR_INVALID_VALUE);
  CHECK(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE(
    "the fake holds as many clusters at once as its parts have room for, and launches none that no part can hold") {
  struct Row {
    const char* chip;
    unsigned cluster;
    int at_once;
  };
  // Eight blocks of 256 threads to an SM, 132 SMs; in parts of 16 or 17, or of 3 or 4 of which each holds one block.
  const Row rows[] = {{R"({"chip": {}})", 16, 4 * 8 + 4 * 8},
                      {R"({"chip": {}})", 2, 4 * 64 + 4 * 68},
                      {R"({"chip": {"gpcs": 40, "threads_per_sm": 256}})", 4, 12},
                      {R"({"chip": {"gpcs": 40, "threads_per_sm": 256}})", 8, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.chip);
    CAPTURE(row.cluster);
    FakeLibrary gpu(row.chip);
    CUdeviceptr x = gpu.floats(std::vector<float>(256 * 16, 1));
    void* arguments[] = {&x};
    const CUfunction twice = gpu.entry(kernels, "twice");
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {row.cluster, 1, 1};
    CUlaunchConfig config = {};
    config.gridDimX = row.cluster, config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = 256;
    config.attrs = &attribute, config.numAttrs = 1;
    int clusters = -1;
    if (row.cluster > 8) {
      CHECK(gpu.cuOccupancyMaxActiveClusters(&clusters, twice, &config) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
      REQUIRE(gpu.cuFuncSetAttribute(twice, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1) == CUDA_SUCCESS);
    }
    REQUIRE(gpu.cuOccupancyMaxActiveClusters(&clusters, twice, &config) == CUDA_SUCCESS);
    CHECK(clusters == row.at_once);
    CHECK(gpu.cuLaunchKernelEx(&config, twice, arguments, nullptr) ==
          (row.at_once > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CLUSTER_SIZE));
  }
  CHECK(FakeLibrary().cuOccupancyMaxActiveClusters(nullptr, nullptr, nullptr) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("what a kernel does wrong is told by the next call that waits, and by every call after it") {
  struct Row {
    const char *ptx, *name;
    CUresult error;
  };
  const Row rows[] = {{kernels, "far", CUDA_ERROR_ILLEGAL_ADDRESS},
                      {kernels, "odd", CUDA_ERROR_MISALIGNED_ADDRESS},
                      {kernels, "trap", CUDA_ERROR_LAUNCH_FAILED},
                      {asserting_kernel, "fails", CUDA_ERROR_ASSERT}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    FakeLibrary gpu;
    CUdeviceptr x = gpu.floats(std::vector<float>(32, 1)), more = 0;
    CUcontext context = nullptr;
    CHECK(gpu.launch(gpu.entry(row.ptx, row.name), 1, 1, {&x}) == CUDA_SUCCESS);
    CHECK(gpu.cuMemAlloc(&more, 16) == CUDA_SUCCESS);
    CHECK(gpu.cuCtxSynchronize() == row.error);
    CHECK(gpu.cuCtxSynchronize() == row.error);
    CHECK(gpu.cuMemAlloc(&more, 16) == row.error);
    CHECK(gpu.cuMemcpyDtoH(&more, x, 4) == row.error);
    CHECK(gpu.cuDevicePrimaryCtxRelease(0) == CUDA_SUCCESS);
    CHECK(gpu.cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
    CHECK(gpu.cuMemAlloc(&more, 16) == row.error);
  }
}

TEST_CASE("a kernel may leave a buffer for its neighbour in the same allocation, and a freed one is gone") {
  FakeLibrary gpu;
  CUdeviceptr x = 0;
  REQUIRE(gpu.cuMemAlloc(&x, (1 << 20) + 4) == CUDA_SUCCESS);
  const CUfunction far = gpu.entry(kernels, "far");
  CHECK(gpu.launch(far, 1, 1, {&x}) == CUDA_SUCCESS);
  CHECK(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemFree(x) == CUDA_SUCCESS);
  CHECK(gpu.launch(far, 1, 1, {&x}) == CUDA_SUCCESS);
  CHECK(gpu.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("a launch that repeats another does what it does, whatever happened to its memory between them") {
  FakeLibrary gpu;
  const std::vector<float> a = {1, 2, 3}, b = {10, 20, 30}, other = {4, 5, 6};
  CUdeviceptr at_a = gpu.floats(a), at_b = gpu.floats(b), out = gpu.floats(std::vector<float>(3, -1)),
              x = gpu.floats(a);
  unsigned n = 3;
  const CUfunction add = gpu.entry(kernels, "add"), twice = gpu.entry(kernels, "twice"),
                   far = gpu.entry(kernels, "far");
  const auto sum = [&] {
    REQUIRE(gpu.launch(add, 1, 32, {&at_a, &at_b, &out, &n}) == CUDA_SUCCESS);
    return gpu.floats(out, 3);
  };
  for (int time = 0; time < 4; ++time) CHECK(sum() == std::vector<float>{11, 22, 33});
  REQUIRE(gpu.cuMemsetD8Async(out, 0, 12, nullptr) == CUDA_SUCCESS);  // what it wrote is no more
  CHECK(sum() == std::vector<float>{11, 22, 33});
  for (int time = 0; time < 3; ++time) CHECK(sum() == std::vector<float>{11, 22, 33});
  REQUIRE(gpu.cuMemcpyHtoD(at_a, other.data(), 12) == CUDA_SUCCESS);  // what it reads is other numbers
  for (int time = 0; time < 4; ++time) CHECK(sum() == std::vector<float>{14, 25, 36});
  n = 1;
  REQUIRE(gpu.cuMemcpyHtoD(out, a.data(), 12) == CUDA_SUCCESS);
  for (int time = 0; time < 4; ++time) CHECK(sum() == std::vector<float>{14, 2, 3});
  for (float times = 2; times <= 32; times *= 2) {  // what changes its own input
    REQUIRE(gpu.launch(twice, 1, 3, {&x}) == CUDA_SUCCESS);
    CHECK(gpu.floats(x, 3) == std::vector<float>{times, 2 * times, 3 * times});
  }
  CUdeviceptr large = 0;
  REQUIRE(gpu.cuMemAlloc(&large, (1 << 20) + 4) == CUDA_SUCCESS);
  for (int time = 0; time < 4; ++time) REQUIRE(gpu.launch(far, 1, 1, {&large}) == CUDA_SUCCESS);
  CHECK(gpu.cuCtxSynchronize() == CUDA_SUCCESS);
  REQUIRE(gpu.cuMemFree(large) == CUDA_SUCCESS);
  REQUIRE(gpu.launch(far, 1, 1, {&large}) == CUDA_SUCCESS);
  CHECK(gpu.cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("an endless kernel hangs whoever waits for it and nobody else") {
  FakeLibrary gpu(R"({"warp_instructions": 100000})");
  CUdeviceptr x = gpu.floats(std::vector<float>(32, 1));
  const CUfunction endless = gpu.entry(kernels, "endless");
  CUdeviceptr more = 0;
  CHECK(ending([&] {
          if (gpu.launch(endless, 1, 1, {&x}) != CUDA_SUCCESS || gpu.cuMemAlloc(&more, 16) != CUDA_SUCCESS) return;
          gpu.cuCtxSynchronize();
        }) == "hangs");
  CHECK(ending([&] { gpu.launch(endless, 1, 1, {&x}); }, 5) == "exit 0");
}

}  // namespace tailor::fake
