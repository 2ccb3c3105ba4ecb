// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stable identity. In: a canonical text. Out: an Id, its XXH3-128, which is the same on every machine and in every
// year, so it may stand in files, databases and file names. Called by whoever names a graph, a plan, a kernel or a row.
// std::hash is never used for that: it may differ from run to run.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tailor {

struct Id {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Id&) const = default;
};

Id id_of(std::string_view text);
Id id_of(std::span<const std::byte> bytes);

/// 32 hexadecimal digits.
std::string hex(Id id);
/// The first 10 digits: what tables and file names show.
std::string short_hex(Id id);
/// Reads 32 digits; throws Error(failed) on anything else.
Id id_from_hex(std::string_view digits);

}  // namespace tailor
