// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Names into addresses.
#include "gpu/driver.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace tailor::gpu {

Driver functions_of_driver(const Library& library) {
  Driver api;
  const auto load = [&](const char* symbol, bool needed) {
    void* address = dlsym(library.handle, symbol);
    if (address == nullptr && needed && api.why.empty()) {
      api.why = fmt::format("{} has no {}", library.file.string(), symbol);
      api.remedy = "update NVIDIA's driver: 525 or later is needed";
    }
    return address;
  };
// Twice, so that the versioned name is what gets written out.
#define SYMBOL(name) #name
#define DRIVER_FUNCTION(name, needed) api.name = reinterpret_cast<decltype(api.name)>(load(SYMBOL(name), needed));
#include "gpu/driver.def"
#undef DRIVER_FUNCTION
#undef SYMBOL
  // Its second version came with CUDA 12.8; the first means the same.
  if (api.cuEventElapsedTime == nullptr)
    api.cuEventElapsedTime = reinterpret_cast<decltype(api.cuEventElapsedTime)>(load("cuEventElapsedTime", true));
  return api;
}

}  // namespace tailor::gpu
