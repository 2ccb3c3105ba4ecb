// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUDA's driver library as a table of functions, with the types of the toolkit's own header. In: an opened library.
// Out: a Driver, whose members everything else in gpu/ calls. That header maps a name to the version of the function it
// describes (cuMemAlloc is cuMemAlloc_v2), here as everywhere, so the names in driver.def and in the code are the plain
// ones and the symbols looked for are the right ones.
#pragma once

#include <cuda.h>

#include <string>

#include "profiler/gpu/driver/library.h"

namespace tailor::gpu {

struct Driver {
#define DRIVER_FUNCTION(name, needed) decltype(&::name) name = nullptr;
#include "profiler/gpu/driver/driver.def"
#undef DRIVER_FUNCTION
  std::string reason;  ///< empty, or which needed function is missing
  std::string remedy;  ///< empty when `reason` is
};

/// The functions of an opened library.
Driver load_driver_functions(const Library& library);

}  // namespace tailor::gpu
