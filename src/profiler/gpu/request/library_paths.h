// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the libraries of a GPU usually are, for those who were not told. In: Python environments that may
// hold CUDA's wheels. Out: LibraryPaths, which go into the first request. Called by the command line and by
// tests.
#pragma once

#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// Every toolkit under /usr/local (the unversioned link first), what a container's host mounts, the virtual
/// environments given, and the prefixes of Python that are usual.
LibraryPaths default_library_paths(std::vector<std::filesystem::path> virtual_environments);

}  // namespace tailor::gpu
