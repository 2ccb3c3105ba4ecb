// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loading a copy of the fake and looking up its functions. In: the rows of the
// product's .def files. Out: their addresses, by way of the headers' own versions of
// the names.
#include "fake_gpu/tests/fake_library.h"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>

namespace tailor::fake {
namespace {

std::filesystem::path fresh_folder() {
  static std::atomic<int> number{0};
  return std::filesystem::temp_directory_path() /
         ("tailor_fake_gpu_" + std::to_string(getpid()) + "_" + std::to_string(++number));
}

}  // namespace

FakeLibrary::FakeLibrary(std::string_view json, bool begun, const std::vector<std::string>& without)
    : files_(fake_gpu(fresh_folder(), json, without)) {
  void* handle = dlopen(files_.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE_MESSAGE(handle != nullptr, dlerror());
#define SYMBOL(name) #name
#define DRIVER_FUNCTION(name, needed) this->name = reinterpret_cast<decltype(&::name)>(dlsym(handle, SYMBOL(name)));
#include "profiler/gpu/driver/driver.def"
#undef DRIVER_FUNCTION
#undef SYMBOL
#define CUPTI_FUNCTION(name, part) this->name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));
#include "profiler/gpu/cupti/cupti.def"
#undef CUPTI_FUNCTION
#define NVML_FUNCTION(name, parameters) this->name = reinterpret_cast<int(*) parameters>(dlsym(handle, #name));
#include "profiler/gpu/driver/nvml.def"
#undef NVML_FUNCTION
  if (!begun) return;
  CUcontext context = nullptr;
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS);
  REQUIRE(cuCtxSetCurrent(context) == CUDA_SUCCESS);
}

FakeLibrary::~FakeLibrary() {
  std::error_code none;
  std::filesystem::remove_all(files_.folder, none);
}

CUfunction FakeLibrary::entry(const char* ptx, const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  char log[512] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const CUresult loaded = cuModuleLoadDataEx(&module, ptx, 2, options, values);
  REQUIRE_MESSAGE(loaded == CUDA_SUCCESS, log);
  REQUIRE(cuModuleGetFunction(&function, module, name) == CUDA_SUCCESS);
  return function;
}

CUdeviceptr FakeLibrary::floats(std::span<const float> values) {
  CUdeviceptr at = 0;
  REQUIRE(cuMemAlloc(&at, values.size_bytes()) == CUDA_SUCCESS);
  REQUIRE(cuMemcpyHtoD(at, values.data(), values.size_bytes()) == CUDA_SUCCESS);
  return at;
}

std::vector<float> FakeLibrary::floats(CUdeviceptr from, std::size_t count) {
  std::vector<float> values(count);
  REQUIRE(cuMemcpyDtoH(values.data(), from, count * sizeof(float)) == CUDA_SUCCESS);
  return values;
}

CUresult FakeLibrary::launch(CUfunction function, unsigned blocks, unsigned threads, std::vector<void*> arguments,
                             CUstream stream) {
  CUlaunchConfig config = {};
  config.gridDimX = blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  return cuLaunchKernelEx(&config, function, arguments.data(), nullptr);
}

}  // namespace tailor::fake
