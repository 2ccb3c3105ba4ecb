// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that one can do without, such as entries of a cache. In: a path and what it is to hold. Out: whether that went
// well, as a value. Called where a full or closed disk must not end the work; base/text.h has the calls that throw.
// Both write in the same way, which is told in files.cpp. And what a command must not write over: what it reads.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tailor {

/// Writes beside the target and renames, so a reader never sees half a file. Returns nothing, or the system's reason
/// where that failed.
std::string try_write_file(const std::filesystem::path& path, std::string_view content);

/// Throws Error(usage) where `output` is one of the files that are read, by whatever name. An empty `output` is none.
void refuse_own_input(std::span<const std::string> inputs, const std::filesystem::path& output);

}  // namespace tailor
