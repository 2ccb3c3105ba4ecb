// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// NVRTC, the run-time compiler of CUDA, loaded when it is wanted and never needed to build. Finding it is a walk over
// places in a fixed order; not finding it is a value with a reason and a remedy, so everything else goes on without it.
// The headers that CUDA text includes (cuda_fp16.h and its kin) are looked for beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "profiler/compile/nvrtc_abi.h"

namespace tailor::profiler {

/// Where to look, in this order. An empty record finds nothing.
struct NvrtcPaths {
  std::filesystem::path library = {};  ///< a file the user named; nothing else is tried when it is set
  std::vector<std::filesystem::path> virtual_environments = {};  ///< folders with lib/python*/site-packages/nvidia
  std::vector<std::filesystem::path> toolkits = {};              ///< folders with lib64/ and include/
  bool system_loader = false;                                    ///< ask the system's loader for libnvrtc by its name
  std::vector<std::filesystem::path> include_folders = {};       ///< searched before those found beside the library
};

/// The virtual environments given, then every toolkit under /usr/local (the unversioned link first), then the loader.
NvrtcPaths default_nvrtc_paths(std::vector<std::filesystem::path> virtual_environments);

/// A loaded library. Stays loaded until the process ends: its own threads may outlive any owner.
struct Nvrtc {
#define NVRTC_FUNCTION(name, need, parameters) nvrtc_abi::Result(*name) parameters = nullptr;
  using Program = nvrtc_abi::Program;
#include "profiler/compile/nvrtc.def"
#undef NVRTC_FUNCTION
  nvrtc_abi::ErrorString nvrtcGetErrorString = nullptr;

  std::filesystem::path library;     ///< the file, links resolved
  std::uintmax_t library_bytes = 0;  ///< tells patch releases apart, which give one version
  int major = 0, minor = 0;
  std::vector<int> archs;                              ///< 75 for sm_75; ascending
  std::vector<std::filesystem::path> include_folders;  ///< for -I
  std::string headers_reason;                          ///< empty, or which headers are missing and what to do
};

/// "NVRTC 13.0".
std::string version(const Nvrtc& api);

/// A library, or why there is none.
struct FoundNvrtc {
  std::shared_ptr<const Nvrtc> api;
  std::string reason;               ///< one sentence; empty when found
  std::string remedy;               ///< what a person can do; empty when found
  std::vector<std::string> looked;  ///< one line for each place tried and what was there
  explicit operator bool() const { return api != nullptr; }
};

FoundNvrtc find_nvrtc(const NvrtcPaths& paths);

}  // namespace tailor::profiler
