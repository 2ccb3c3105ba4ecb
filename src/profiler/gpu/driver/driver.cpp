// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills the table of the driver's functions. In: an opened library. Out: the address of each row of driver.def,
// and the first function that is needed and missing. Called when a GPU is opened or its capabilities are asked
// for.
#include "profiler/gpu/driver/driver.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace tailor::gpu {

Driver load_driver_functions(const Library& library) {
  Driver api;
  const auto load = [&](const char* symbol, bool needed) {
    void* address = dlsym(library.handle, symbol);
    if (address == nullptr && needed && api.reason.empty()) {
      api.reason = fmt::format("{} has no {}", library.file.string(), symbol);
      api.remedy = "update NVIDIA's driver: 525 or later is needed";
    }
    return address;
  };
// Twice, so that the versioned name is what gets written out.
#define SYMBOL(name) #name
#define DRIVER_FUNCTION(name, needed) api.name = reinterpret_cast<decltype(api.name)>(load(SYMBOL(name), needed));
#include "profiler/gpu/driver/driver.def"
#undef DRIVER_FUNCTION
#undef SYMBOL
  // Its second version came with CUDA 12.8; the first means the same.
  if (api.cuEventElapsedTime == nullptr)
    api.cuEventElapsedTime = reinterpret_cast<decltype(api.cuEventElapsedTime)>(load("cuEventElapsedTime", true));
  return api;
}

}  // namespace tailor::gpu
