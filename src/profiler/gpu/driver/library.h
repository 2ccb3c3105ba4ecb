// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding the driver's libraries, which are only there at run time. In: where to look. Out: an opened library, or a
// reason and a remedy. Called when a GPU is opened or its capabilities are asked for. The search goes through
// candidates in a fixed order, and the first file that loads wins. A library stays loaded until the process ends: its
// own threads may outlive any owner.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/library.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

Library open_driver(const LibraryPaths& paths);  ///< CUDA's driver library, libcuda
Library open_nvml(const LibraryPaths& paths);

}  // namespace tailor::gpu
