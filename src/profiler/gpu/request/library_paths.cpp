// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The usual places: every toolkit under /usr/local, the folder that hosts of containers mount, and where
// Python's packages are in containers and distributions. In: nothing but the file system. Out: names of
// folders. Only a look into /usr/local; no library is opened here.
#include "profiler/gpu/request/library_paths.h"

#include "base/library.h"

namespace tailor::gpu {

LibraryPaths default_library_paths(std::vector<std::filesystem::path> virtual_environments) {
  LibraryPaths paths;
  paths.virtual_environments = std::move(virtual_environments);
  paths.virtual_environments.insert(paths.virtual_environments.end(),
                                    {"/usr/local", "/opt/conda", "/opt/venv", "/usr"});
  paths.toolkits = entries("/usr/local", "cuda");
  paths.toolkits.emplace_back("/usr/local/nvidia");
  return paths;
}

}  // namespace tailor::gpu
