// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Candidates for the driver's library and for NVML. A file that the user named is the only one tried. Otherwise the
// system's loader is asked, then the folders where containers and packages put a library that the loader was not told
// of. Loading itself is base/library.h.
#include "profiler/gpu/driver/library.h"

#include <filesystem>

namespace tailor::gpu {

namespace fs = std::filesystem;

Library open_driver(const LibraryPaths& paths) {
  std::vector<fs::path> files = {paths.driver};
  // Containers mount the driver's libraries where the loader may not have been told to look.
  if (paths.driver.empty())
    files = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
  Library library = open_library(files, "NVIDIA's driver library (libcuda.so.1)", "cuInit");
  if (!library) library.remedy = "install NVIDIA's driver, or run on a machine with a GPU; all else works without";
  return library;
}

Library open_nvml(const LibraryPaths& paths) {
  std::vector<fs::path> files = {paths.nvml};
  if (paths.nvml.empty())
    files = {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
  Library library = open_library(files, "NVML (libnvidia-ml.so.1)", "nvmlInit_v2");
  if (!library) library.remedy = "it comes with NVIDIA's driver (Debian: libnvidia-ml1); clocks are not known without";
  return library;
}

}  // namespace tailor::gpu
