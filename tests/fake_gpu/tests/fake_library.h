// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The fake library as its own tests see it: every function by its name, loaded as the product loads NVIDIA's. Each
// is a folder and a copy of its own, gone when it dies (the loader keeps the library, as its state must not be seen
// again).
#pragma once

#include <cuda.h>
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/fake_gpu.h"

namespace tailor::fake {

struct Calls {
#define DRIVER_FUNCTION(name, needed) decltype(&::name) name = nullptr;
#include "profiler/gpu/driver/driver.def"
#undef DRIVER_FUNCTION
#define CUPTI_FUNCTION(name, part) decltype(&::name) name = nullptr;
#include "profiler/gpu/cupti/cupti.def"
#undef CUPTI_FUNCTION
#define NVML_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "profiler/gpu/driver/nvml.def"
#undef NVML_FUNCTION
};

class FakeLibrary : public Calls {
 public:
  /// Loads a copy of its own. `begun`: with the library initialised and the primary context current on this thread.
  explicit FakeLibrary(std::string_view json = "{}", bool begun = true, const std::vector<std::string>& without = {});
  ~FakeLibrary();
  FakeLibrary(const FakeLibrary&) = delete;
  FakeLibrary& operator=(const FakeLibrary&) = delete;

  const FakeGpu& files() const { return files_; }

  /// Functions of a PTX module; a failed load fails the test.
  CUfunction entry(const char* ptx, const char* name);
  CUdeviceptr floats(std::span<const float> values);
  std::vector<float> floats(CUdeviceptr from, std::size_t count);
  CUresult launch(CUfunction function, unsigned blocks, unsigned threads, std::vector<void*> arguments,
                  CUstream stream = nullptr);

 private:
  FakeGpu files_;
};

}  // namespace tailor::fake
