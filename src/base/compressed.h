// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that may be gzip-compressed. In: a path or a text. Out: the text, or its compressed form.
// Called by the reader of models, by the reader of XLA's dumps, and by the recorded files of the
// store.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

namespace tailor {

/// What a compressed file may unpack to, in bytes: 256 MB, a hundred times the largest dump that was seen. A few
/// kilobytes of gzip can hold gigabytes, so a larger one is refused before it has filled the memory. Plain files may
/// be larger (read_file).
inline constexpr std::size_t max_unpacked_bytes = 256'000'000;

/// The text of a file, unpacked when it is gzip-compressed, whatever its name is. Throws Error(failed), for one that
/// unpacks to more than `most_bytes` after no more than those were unpacked.
std::string read_unpacked(const std::string& path, std::size_t most_bytes = max_unpacked_bytes);

/// The text of gzip-compressed bytes; `file` is for messages. Throws as read_unpacked() does.
std::string unpacked(std::string_view packed, const std::string& file, std::size_t most_bytes = max_unpacked_bytes);

/// `text` as a gzip file without a name and a time in it, so that equal text gives equal bytes. `path` is for messages.
/// Throws Error(failed) when zlib cannot.
std::string packed(std::string_view text, const std::filesystem::path& path, const std::stop_token& stop = {});

}  // namespace tailor
