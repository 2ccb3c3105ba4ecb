// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Text for people and for files. In: numbers, texts, paths. Out: numbers as people
// read them, pieces of a text, the nearest known name, whole files. Called from
// every room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tailor {

/// A word of the user's as a message may repeat it: of one that is longer than a line the beginning and its length.
std::string echoed(std::string_view word);

/// Three significant figures, no exponent between 1e-3 and 1e6: "1.23", "45.6", "789", "12300".
std::string three_figures(double value);
/// "12.6 MB", "768 B" (powers of 1000).
std::string humane_bytes(double bytes);
/// "3.21 us", "1.05 ms".
std::string humane_seconds(double seconds);
/// 1234567 -> "1,234,567".
std::string with_commas(std::int64_t value);

/// Splits at every `separator`; empty fields are kept.
std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
/// A text as one word of a shell, in quotes where it needs them: for commands that are printed to be run.
std::string shell_word(std::string_view text);

/// The known name with the smallest edit distance, or "" when none is close (distance over a third of its length).
std::string_view nearest(std::string_view found, std::span<const std::string_view> known);
/// "did you mean 'x'?" or "known: a, b, c" when nothing is near.
std::string suggestion(std::string_view found, std::span<const std::string_view> known);

/// The whole file. Throws Error naming the path and the system's reason: missing when there is none, else failed.
std::string read_file(const std::filesystem::path& path);
/// Writes beside the target and renames, so a reader never sees half a file. Symbolic links stay and lead to the new
/// file. What is no regular file (a device, a pipe) is written to and stays what it is. Throws Error(failed).
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace tailor
