// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One line in a file. In: a folder and a database. Out: whose pages the folder holds. Called through owner.h by those
// who write pages.
// The path is relative to the folder, so that both may be moved together. A database that is gone has nothing left to
// lose: its folder may be taken.
#include "report/owner.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "base/error.h"
#include "base/text.h"

namespace tailor::report {

namespace fs = std::filesystem;

fs::path owned_by_another(const fs::path& folder, const fs::path& database) {
  std::error_code fault;
  const fs::path said = folder / owner_file;
  if (!fs::is_regular_file(said, fault)) return {};
  const std::string words = read_file(said);
  const fs::path owner = (folder / std::string(trim(words))).lexically_normal();
  if (!fs::exists(owner, fault) || fs::equivalent(owner, database, fault)) return {};
  return owner;
}

void own(const fs::path& folder, const fs::path& database) {
  if (const fs::path other = owned_by_another(folder, database); !other.empty())
    throw Error(
        Fault::usage, Position{folder.string()},
        fmt::format("the folder holds the report of '{}', expected one for '{}'", other.string(), database.string()),
        "name another folder; nothing was written");
  std::error_code fault;
  const fs::path from_folder = fs::relative(database, folder, fault);
  write_file(folder / owner_file,
             (fault || from_folder.empty() ? fs::absolute(database) : from_folder).string() + "\n");
}

}  // namespace tailor::report
