// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The usual places: every toolkit under /usr/local. In: nothing but the file
// system. Out: names of folders. Only a look into /usr/local; no library is opened
// here.
#include "profiler/gpu/request/library_paths.h"

#include "base/library.h"

namespace tailor::gpu {

LibraryPaths default_library_paths(std::vector<std::filesystem::path> virtual_environments) {
  LibraryPaths paths;
  paths.virtual_environments = std::move(virtual_environments);
  paths.toolkits = entries("/usr/local", "cuda");
  return paths;
}

}  // namespace tailor::gpu
