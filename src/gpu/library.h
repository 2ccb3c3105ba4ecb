// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding libraries that are only there at run time: a walk over places in a fixed order, the first file that loads
// wins. Not finding one is a value with a reason and a remedy. What was wrong with each place is kept, because "not
// found" alone helps nobody. A library stays loaded until the process ends: its own threads may outlive any owner.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/ask.h"

namespace tailor::gpu {

/// A library that was opened, or why none was.
struct Library {
  void* handle = nullptr;
  std::filesystem::path file;       ///< links resolved, where the loader tells
  std::string why;                  ///< one sentence; empty when opened
  std::string remedy;               ///< what a person can do; empty when opened
  std::vector<std::string> looked;  ///< one line for each place tried and what was there
  explicit operator bool() const { return handle != nullptr; }
};

Library open_driver(const Places& places);  ///< CUDA's driver library, libcuda
Library open_nvml(const Places& places);

/// Entries of a folder whose names start so, sorted; nothing when it cannot be read.
std::vector<std::filesystem::path> entries(const std::filesystem::path& folder, std::string_view prefix);
/// The folders nvidia/PACKAGE of every Python in a virtual environment, newest last.
std::vector<std::filesystem::path> wheel_packages(const std::filesystem::path& environment);

}  // namespace tailor::gpu
