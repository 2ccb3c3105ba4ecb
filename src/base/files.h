// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that one can do without, such as entries of a cache. In: a path and what it is to hold. Out: whether that went
// well, as a value. Called where a full or closed disk must not end the work; base/text.h has the calls that throw.
// Both write in the same way, which is told in files.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tailor {

/// Writes beside the target and renames, so a reader never sees half a file. Returns nothing, or the system's reason
/// where that failed.
std::string try_write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tailor
