// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the program finds what belongs to it: its data, and Python environments that may hold CUDA's libraries. In: the
// path of a program. Out: folders that are there, found from that path upwards, so an installation can be moved and no
// path of the machine that built it is needed. Called where commands look up devices and models, and where the compiler
// of kernels and the libraries of a GPU are looked for.
#pragma once

#include <filesystem>
#include <vector>

namespace tailor {

struct Installation {
  /// Folder with devices/, calibrations/ and models/: share/tailor of a prefix, or data/ of the sources (a build folder
  /// has a link to it). Where neither is there, share/tailor beside the program's folder, which messages then name.
  std::filesystem::path data;
  /// Prefixes below which lib/python*/site-packages may lie: the prefix or the sources, and .venv in them.
  std::vector<std::filesystem::path> environments;
};

/// Looks in the program's folder and in those above it; the nearest that has data decides.
Installation installation_of(const std::filesystem::path& program);
/// That of the running program.
Installation own_installation();

}  // namespace tailor
