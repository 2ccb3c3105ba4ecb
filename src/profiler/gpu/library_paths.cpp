// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A look into /usr/local; nothing is opened.
#include "profiler/gpu/library_paths.h"

#include "profiler/gpu/library.h"

namespace tailor::gpu {

LibraryPaths default_library_paths(std::vector<std::filesystem::path> virtual_environments) {
  LibraryPaths paths;
  paths.virtual_environments = std::move(virtual_environments);
  paths.toolkits = entries("/usr/local", "cuda");
  return paths;
}

}  // namespace tailor::gpu
