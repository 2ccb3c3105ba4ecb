// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding libraries that are only there at run time: a walk over places in a fixed order, the first file that loads
// wins. Not finding one is a value with a reason and a remedy. What was wrong with each place is kept, because "not
// found" alone helps nobody. A library stays loaded until the process ends: its own threads may outlive any owner.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/library.h"
#include "profiler/gpu/request.h"

namespace tailor::gpu {

Library open_driver(const LibraryPaths& paths);  ///< CUDA's driver library, libcuda
Library open_nvml(const LibraryPaths& paths);

}  // namespace tailor::gpu
