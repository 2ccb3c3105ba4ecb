// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The dump that ships with the tests: XLA's kernels of one small module, made by XLA itself (tests/data/xla_small). In:
// nothing, or the name of an entry. Out: its folder, the module as it is read, a kernel of it. Included by the tests of
// this folder.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "profiler/xla/xla_dump.h"
#include "support/paths.h"

namespace tailor::profiler {

inline const std::filesystem::path shipped = std::filesystem::path(source_folder()) / "tests/data/xla_small/dump";

/// Another, with a copy by the driver before a kernel that works in place.
inline XlaModule shipped_copy() {
  return read_xla(choose_module(xla_modules(std::filesystem::path(source_folder()) / "tests/data/xla_copy/dump"), ""));
}

inline XlaModule shipped_module() { return read_xla(choose_module(xla_modules(shipped), "")); }

inline const XlaKernel& kernel_named(const XlaModule& module, std::string_view entry) {
  const auto found =
      std::find_if(module.kernels.begin(), module.kernels.end(), [&](const auto& k) { return k.entry == entry; });
  REQUIRE(found != module.kernels.end());
  return *found;
}

}  // namespace tailor::profiler
