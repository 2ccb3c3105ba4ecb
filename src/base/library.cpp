// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening by dlopen, candidate by candidate. In: the files to try. Out: the first library that opens,
// or a reason. Every refusal of the loader is kept, because the message that tells a person what to do
// needs all of them.
#include "base/library.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace tailor {

namespace {

namespace fs = std::filesystem;

void add_all(std::vector<fs::path>& to, std::vector<fs::path> more) {
  for (fs::path& file : more) to.push_back(std::move(file));
}

/// The file behind a handle, by an address in it; the name it was opened by where that cannot be told.
fs::path loaded_file(void* handle, const char* symbol, const fs::path& opened) {
  Dl_info place = {};
  void* address = dlsym(handle, symbol);
  if (address == nullptr || dladdr(address, &place) == 0 || place.dli_fname == nullptr) return opened;
  std::error_code none;
  const fs::path resolved = fs::canonical(place.dli_fname, none);
  return none ? opened : resolved;
}

}  // namespace

Library open_library(std::span<const fs::path> candidates, std::string_view what, const char* symbol) {
  Library library;
  for (const fs::path& file : candidates) {
    library.handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const char* reason = library.handle == nullptr ? dlerror() : nullptr;
    // Mostly the reason begins with the file's name.
    const std::string said = reason == nullptr ? "opened" : reason;
    library.looked.push_back(said.starts_with(file.string()) ? said : fmt::format("{}: {}", file.string(), said));
    if (library.handle == nullptr) continue;
    library.file = loaded_file(library.handle, symbol, file);
    return library;
  }
  library.reason = fmt::format("{} was not found; the first place tried: {}", what,
                               library.looked.empty() ? "none" : library.looked.front());
  return library;
}

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
    for (const char* folder : {"site-packages", "dist-packages"})
      add_all(packages, entries(python / folder / "nvidia", ""));
  return packages;
}

}  // namespace tailor
