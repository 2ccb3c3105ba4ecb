// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding CUPTI, loading its functions, and results as words. In: toolkits, Python environments and the loader's own
// paths. Out: the first library that loads and has what is always needed. Of all candidates that fail, the first reason
// is kept, because it belongs to the most likely place.
#include "profiler/gpu/cupti/cupti_api.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include <system_error>
#include <vector>

#include "base/indexed.h"
#include "profiler/gpu/driver/library.h"

namespace tailor::gpu {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> cupti_candidates(const LibraryPaths& paths) {
  if (!paths.cupti.empty()) return {paths.cupti};
  std::vector<fs::path> folders, files;
  for (const fs::path& toolkit : paths.toolkits) {
    folders.push_back(toolkit / "lib64");
    folders.push_back(toolkit / "extras" / "CUPTI" / "lib64");
    folders.push_back(toolkit / "targets" / "x86_64-linux" / "lib");
  }
  for (const fs::path& environment : paths.virtual_environments)
    for (const fs::path& package : wheel_packages(environment)) folders.push_back(package / "lib");
  for (const fs::path& folder : folders)
    // One of a folder is enough: the others are links to it.
    if (std::vector<fs::path> found = entries(folder, "libcupti.so"); !found.empty()) files.push_back(found.front());
  files.insert(files.end(), {"libcupti.so.13", "libcupti.so.12", "libcupti.so"});
  return files;
}

void fill(Cupti& api, void* handle) {
#define CUPTI_FUNCTION(name, part) api.name = reinterpret_cast<decltype(api.name)>(dlsym(handle, #name));
#include "profiler/gpu/cupti/cupti.def"
#undef CUPTI_FUNCTION
  note_missing(api);
  Dl_info place = {};
  std::error_code none;
  if (api.has(CuptiPart::common) && dladdr(reinterpret_cast<void*>(api.cuptiGetVersion), &place) != 0)
    api.file = fs::canonical(place.dli_fname, none);
}

/// From CUDA 13.2 on CUPTI answers nothing where there is no driver: 13.2 crashes when asked, later ones fail. This
/// function came with 13.2, so the question need not be asked.
constexpr const char* first_function_of_13_2 = "cuptiActivityEnable_v2";

/// Opens one file into `api`; why it will not do, or "".
std::string open_file(const fs::path& file, const LibraryPaths& paths, Cupti& api) {
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  if (dlsym(handle, first_function_of_13_2) != nullptr && !open_driver(paths))
    return fmt::format("{} is of CUDA 13.2 or later, which answers only beside a driver", file.string());
  fill(api, handle);
  if (!api.has(CuptiPart::common)) return fmt::format("{} is no CUPTI", file.string());
  return error_text(api, api.cuptiGetVersion(&api.version), "cuptiGetVersion");
}

}  // namespace

void note_missing(Cupti& api) {
  const auto look = [&](const char* name, CuptiPart part, bool there) {
    std::string& missing = row_for(api.missing, part);
    if (!there && missing.empty()) missing = name;
  };
  api.missing = {};
#define CUPTI_FUNCTION(name, part) look(#name, CuptiPart::part, api.name != nullptr);
#include "profiler/gpu/cupti/cupti.def"
#undef CUPTI_FUNCTION
}

std::variant<Cupti, Capability> find_cupti(const LibraryPaths& paths) {
  std::string first_reason;
  for (const fs::path& file : cupti_candidates(paths)) {
    Cupti api;
    const std::string reason = open_file(file, paths, api);
    if (reason.empty()) return api;
    if (first_reason.empty()) first_reason = reason;
  }
  return Capability{"CUPTI", "missing", fmt::format("CUPTI was not found; the first place tried: {}", first_reason),
                    "run tools/setup, which fetches one into .venv that needs no driver, or install a CUDA toolkit"};
}

std::string cupti_text(std::uint32_t version) {
  constexpr std::uint32_t first_new = 130000;  // from CUDA 13.0 on: major, minor, patch, two digits each
  if (version < first_new) return fmt::format("CUPTI API {}", version);
  return fmt::format("CUPTI {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string error_text(const Cupti& api, CUptiResult result, std::string_view call) {
  if (result == CUPTI_SUCCESS) return {};
  const char* words = nullptr;
  if (api.cuptiGetResultString == nullptr || api.cuptiGetResultString(result, &words) != CUPTI_SUCCESS ||
      words == nullptr)
    return fmt::format("{}: CUPTI error {}", call, static_cast<int>(result));
  return fmt::format("{}: {}", call, words);
}

}  // namespace tailor::gpu
