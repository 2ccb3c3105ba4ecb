// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the libraries of a GPU usually are, for those who were not told.
#pragma once

#include "profiler/gpu/request.h"

namespace tailor::gpu {

/// Every toolkit under /usr/local (the unversioned link first) and the virtual environments given.
LibraryPaths default_library_paths(std::vector<std::filesystem::path> virtual_environments);

}  // namespace tailor::gpu
