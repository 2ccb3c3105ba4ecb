// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whose report a folder holds. In: a folder and a database. Out: whether another database's pages are there, said in a
// small file beside them. Called by whoever writes pages, and by sweeps before they begin, so that no report is written
// over another database's.
#pragma once

#include <filesystem>

namespace tailor::report {

/// The file in a folder of pages that says which database they are of: its path, seen from the folder.
inline constexpr const char* owner_file = "database.txt";

/// The other database whose pages `folder` holds; empty where it holds none, or those of `database`, or of one that is
/// not there any more.
std::filesystem::path owned_by_another(const std::filesystem::path& folder, const std::filesystem::path& database);

/// Says that the folder, which is there, holds the pages of `database`. Throws Error(usage) where they are of another
/// one, Error(failed) when it cannot be written.
void own(const std::filesystem::path& folder, const std::filesystem::path& database);

}  // namespace tailor::report
