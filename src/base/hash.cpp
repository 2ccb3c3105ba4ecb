// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ids by xxHash's XXH3-128. In: a canonical text, or 32 hexadecimal digits. Out: an Id, or
// its digits. Called by whoever gives a graph, a group, a plan, a kernel or a row its
// identity.
#include "base/hash.h"

#include <xxhash.h>

#include <charconv>

#include <fmt/format.h>
#include "base/error.h"

namespace tailor {

Id id_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

Id id_of(std::span<const std::byte> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string hex(Id id) { return fmt::format("{:016x}{:016x}", id.high, id.low); }

std::string short_hex(Id id) { return hex(id).substr(0, 10); }

Id id_from_hex(std::string_view digits) {
  Id id;
  const auto half = [&](std::size_t from, std::uint64_t& out) {
    const char* first = digits.data() + from;
    const auto [end, fault] = std::from_chars(first, first + 16, out, 16);
    return fault == std::errc{} && end == first + 16;
  };
  if (digits.size() != 32 || !half(0, id.high) || !half(16, id.low))
    throw Error(Fault::failed, fmt::format("found id '{}', expected 32 hexadecimal digits", digits));
  return id;
}

}  // namespace tailor
