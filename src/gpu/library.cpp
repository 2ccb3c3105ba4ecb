// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walks. A file that the user named is the only place tried; else the system's loader, then the places where
// packages put a library that the loader was not told of.
#include "gpu/library.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace tailor::gpu {
namespace {

namespace fs = std::filesystem;

void add_all(std::vector<fs::path>& to, std::vector<fs::path> more) {
  for (fs::path& file : more) to.push_back(std::move(file));
}

/// The file behind a handle, by an address in it; the name it was opened by where that cannot be told.
fs::path place_of(void* handle, const char* symbol, const fs::path& opened) {
  Dl_info place = {};
  void* address = dlsym(handle, symbol);
  if (address == nullptr || dladdr(address, &place) == 0 || place.dli_fname == nullptr) return opened;
  std::error_code none;
  const fs::path resolved = fs::canonical(place.dli_fname, none);
  return none ? opened : resolved;
}

/// `symbol`: a function that every such library has.
Library first_of(const std::vector<fs::path>& candidates, std::string_view what, const char* symbol) {
  Library library;
  for (const fs::path& file : candidates) {
    library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* why = library.handle == nullptr ? dlerror() : nullptr;
    library.looked.push_back(fmt::format("{}: {}", file.string(), why == nullptr ? "opened" : why));
    if (library.handle == nullptr) continue;
    library.file = place_of(library.handle, symbol, file);
    return library;
  }
  library.why = fmt::format("{} was not found; the first place tried: {}", what,
                            library.looked.empty() ? "none" : library.looked.front());
  return library;
}

}  // namespace

std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> wheel_packages(const fs::path& environment) {
  std::vector<fs::path> packages;
  for (const fs::path& python : entries(environment / "lib", "python"))
    add_all(packages, entries(python / "site-packages" / "nvidia", ""));
  return packages;
}

Library open_driver(const Places& places) {
  std::vector<fs::path> files = {places.driver};
  // Containers mount the driver's libraries where the loader may not have been told to look.
  if (places.driver.empty())
    files = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"};
  Library library = first_of(files, "NVIDIA's driver library (libcuda.so.1)", "cuInit");
  if (!library) library.remedy = "install NVIDIA's driver, or run on a machine with a GPU; all else works without";
  return library;
}

Library open_nvml(const Places& places) {
  std::vector<fs::path> files = {places.nvml};
  if (places.nvml.empty())
    files = {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
  Library library = first_of(files, "NVML (libnvidia-ml.so.1)", "nvmlInit_v2");
  if (!library) library.remedy = "it comes with NVIDIA's driver (Debian: libnvidia-ml1); clocks are not known without";
  return library;
}

}  // namespace tailor::gpu
