// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared libraries that are loaded at run time: CUDA's driver, NVML, CUPTI, NVRTC. In: files to try,
// in order. Out: a handle, or why there is none and what was looked at. Called by the parts of the
// profiler that need such a library.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tailor {

/// A library that was opened, or why none was.
struct Library {
  void* handle = nullptr;
  std::filesystem::path file;       ///< links resolved, where the loader tells
  std::string reason;               ///< one sentence; empty when opened
  std::string remedy;               ///< what a person can do; empty when opened
  std::vector<std::string> looked;  ///< one line for each place tried and what was there
  explicit operator bool() const { return handle != nullptr; }
};

/// Opens the first of `candidates` that the loader takes. `what` names it in messages; `symbol` is a function that
/// every such library has. `remedy` stays empty.
Library open_library(std::span<const std::filesystem::path> candidates, std::string_view what, const char* symbol);

/// Entries of a folder whose names start so, sorted; nothing when it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, std::string_view prefix);
/// The folders nvidia/PACKAGE of every Python below a prefix (a virtual environment, /usr/local), newest last.
std::vector<std::filesystem::path> wheel_packages(const std::filesystem::path& environment);

}  // namespace tailor
