// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From the program upwards, folder by folder. In: a program's path, links resolved. Out: the first folder that holds
// data in one of the two forms. A program in bin/ finds share/ beside it; one in a build folder goes up until it meets
// the link that Meson set there.
#include "base/installation.h"

#include <system_error>

namespace tailor {

namespace fs = std::filesystem;

namespace {

bool holds_data(const fs::path& folder) {
  std::error_code absent;
  return fs::is_directory(folder / "devices", absent) && fs::is_directory(folder / "calibrations", absent);
}

std::vector<fs::path> environments_in(const fs::path& folder) { return {folder / ".venv", folder}; }

}  // namespace

Installation installation_of(const fs::path& program) {
  const fs::path bin = program.parent_path();
  for (fs::path folder = bin; !folder.empty(); folder = folder.parent_path()) {
    if (const fs::path data = folder / "share" / "tailor"; holds_data(data)) return {data, environments_in(folder)};
    if (holds_data(folder / "data")) {
      std::error_code fault;
      const fs::path data = fs::canonical(folder / "data", fault);
      return {data, environments_in(data.parent_path())};
    }
    if (folder == folder.parent_path()) break;
  }
  return {bin.parent_path() / "share" / "tailor", environments_in(bin.parent_path())};
}

Installation own_installation() {
  std::error_code fault;
  return installation_of(fs::read_symlink("/proc/self/exe", fault));
}

}  // namespace tailor
