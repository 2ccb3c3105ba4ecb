// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding and loading NVRTC. In: where to look. Out: a table of functions, or a reason and a remedy. The candidates are
// tried in order; the first that loads, has every required function and lies beside its libnvrtc-builtins is taken.
// What was wrong with each candidate is kept, because "not found" alone helps nobody.
#include "profiler/compile/nvrtc.h"

#include <dlfcn.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

#include "base/library.h"

namespace tailor::profiler {
namespace {

namespace fs = std::filesystem;

/// Headers that the printed CUDA includes, directly or through another; each comes in a different wheel.
constexpr std::array<std::string_view, 5> wanted_headers = {
    "cuda_fp16.h",          // nvidia-cuda-runtime
    "cuda_bf16.h",          // nvidia-cuda-runtime
    "crt/host_defines.h",   // nvidia-cuda-crt
    "nv/target",            // nvidia-cuda-cccl
    "cuda/std/type_traits"  // nvidia-cuda-cccl; under cccl/ since release 13
};

/// Files in a folder that may be NVRTC itself: not its builtins, not the "alt" build, plain names before versioned
/// ones.
std::vector<fs::path> libraries_in(const fs::path& folder) { return entries(folder, "libnvrtc.so"); }

/// The first folders that together hold every wanted header; what stays missing goes to `headers_reason`.
void find_headers(Nvrtc& api, const std::vector<fs::path>& folders) {
  std::vector<std::string_view> missing;
  for (std::string_view header : wanted_headers) {
    const auto holds = [&](const fs::path& folder) {
      std::error_code none;
      return fs::exists(folder / header, none);
    };
    const auto found = std::find_if(folders.begin(), folders.end(), holds);
    if (found == folders.end()) {
      missing.push_back(header);
    } else if (std::find(api.include_folders.begin(), api.include_folders.end(), *found) == api.include_folders.end()) {
      api.include_folders.push_back(*found);
    }
  }
  if (missing.empty()) return;
  api.headers_reason = fmt::format(
      "no {} near {}: kernels on half types cannot be compiled; install the toolkit's headers "
      "or the wheels nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl",
      fmt::join(missing, ", "), api.library.string());
}

/// Fills the pointers; returns the name of a required function that is missing, or "".
std::string load_functions(Nvrtc& api, void* handle) {
  constexpr bool required = true, optional = false;
  std::string missing;
  const auto load = [&](const char* name, bool must) {
    void* address = dlsym(handle, name);
    if (address == nullptr && must && missing.empty()) missing = name;
    return address;
  };
#define NVRTC_FUNCTION(name, need, parameters) api.name = reinterpret_cast<decltype(api.name)>(load(#name, need));
#include "profiler/compile/nvrtc.def"
#undef NVRTC_FUNCTION
  api.nvrtcGetErrorString = reinterpret_cast<nvrtc_abi::ErrorString>(load("nvrtcGetErrorString", required));
  static_cast<void>(optional);
  return missing;
}

/// Asks the library what it is; returns why it will not do, or "".
std::string introduce(Nvrtc& api) {
  int count = 0;
  if (api.nvrtcVersion(&api.major, &api.minor) != nvrtc_abi::success) return "does not tell its version";
  if (api.nvrtcGetNumSupportedArchs(&count) != nvrtc_abi::success || count <= 0) return "supports no architecture";
  api.archs.resize(static_cast<std::size_t>(count));
  if (api.nvrtcGetSupportedArchs(api.archs.data()) != nvrtc_abi::success) return "does not tell its architectures";
  std::sort(api.archs.begin(), api.archs.end());
  return {};
}

struct Candidate {
  fs::path file;                  ///< or a bare name for the system's loader
  std::vector<fs::path> headers;  ///< folders that may hold its headers
};

/// Include folders of a library: the toolkit's own layout, and the one of Debian's package.
std::vector<fs::path> headers_beside(const fs::path& library) {
  const fs::path root = library.parent_path().parent_path();
  return {root / "include", root.parent_path() / "include", root.parent_path().parent_path() / "include"};
}

std::vector<Candidate> candidates(const NvrtcPaths& paths) {
  std::vector<Candidate> all;
  if (!paths.library.empty()) {
    all.push_back({paths.library, {}});
    return all;
  }
  for (const fs::path& environment : paths.virtual_environments) {
    std::vector<fs::path> headers;
    for (const fs::path& package : wheel_packages(environment)) headers.push_back(package / "include");
    for (const fs::path& package : wheel_packages(environment)) {
      for (fs::path& file : libraries_in(package / "lib")) all.push_back({std::move(file), headers});
    }
  }
  for (const fs::path& toolkit : paths.toolkits) {
    for (fs::path& file : libraries_in(toolkit / "lib64")) all.push_back({std::move(file), {toolkit / "include"}});
  }
  if (paths.system_loader) {
    for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"}) all.push_back({name, {}});
  }
  return all;
}

/// Loads one candidate into `api`; returns why it will not do, or "".
std::string load(Nvrtc& api, const Candidate& candidate, const std::vector<fs::path>& first_headers) {
  void* handle = dlopen(candidate.file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return dlerror();
  if (const std::string missing = load_functions(api, handle); !missing.empty()) return "has no " + missing;
  Dl_info place = {};
  std::error_code none;
  if (dladdr(reinterpret_cast<void*>(api.nvrtcVersion), &place) == 0) return "does not tell where it lies";
  api.library = fs::canonical(place.dli_fname, none);
  api.library_bytes = fs::file_size(api.library, none);
  // NVRTC asks the loader for its builtins by name when it first compiles, and a wheel's folder is not where the loader
  // looks: loaded here, they are found by that name.
  void* builtins = nullptr;
  for (const fs::path& file : entries(api.library.parent_path(), "libnvrtc-builtins.so")) {
    if (builtins == nullptr) builtins = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (builtins == nullptr) return "libnvrtc-builtins, which it needs to compile, cannot be loaded from beside it";
  if (std::string reason = introduce(api); !reason.empty()) return reason;

  std::vector<fs::path> headers = first_headers;
  headers.insert(headers.end(), candidate.headers.begin(), candidate.headers.end());
  for (const fs::path& folder : headers_beside(api.library)) headers.push_back(folder);
  for (std::size_t i = 0, count = headers.size(); i < count; ++i) headers.push_back(headers[i] / "cccl");
  find_headers(api, headers);
  return {};
}

}  // namespace

NvrtcPaths default_nvrtc_paths(std::vector<fs::path> virtual_environments) {
  NvrtcPaths paths;
  paths.virtual_environments = std::move(virtual_environments);
  paths.virtual_environments.insert(paths.virtual_environments.end(),
                                    {"/usr/local", "/opt/conda", "/opt/venv", "/usr"});
  paths.toolkits = entries("/usr/local", "cuda");
  paths.system_loader = true;
  return paths;
}

std::string version(const Nvrtc& api) { return fmt::format("NVRTC {}.{}", api.major, api.minor); }

FoundNvrtc find_nvrtc(const NvrtcPaths& paths) {
  FoundNvrtc found;
  for (const Candidate& candidate : candidates(paths)) {
    auto api = std::make_shared<Nvrtc>();
    const std::string reason = load(*api, candidate, paths.include_folders);
    found.looked.push_back(candidate.file.string() + ": " + (reason.empty() ? version(*api) : reason));
    if (!reason.empty()) continue;
    found.api = std::move(api);
    return found;
  }
  found.reason = found.looked.empty() ? "NVRTC was not found: no place to look in holds a libnvrtc.so"
                                      : "NVRTC was not found; the last place tried: " + found.looked.back();
  found.remedy = "run tools/setup, which fetches it into .venv; or install a CUDA toolkit under /usr/local/cuda";
  return found;
}

}  // namespace tailor::profiler
