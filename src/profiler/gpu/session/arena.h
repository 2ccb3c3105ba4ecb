// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arena: where the buffers of a sequence lie in one allocation, with a guard zone before, between and after them. In:
// sizes of buffers. Out: offsets, the bytes that belong into each zone, and which bytes of a zone were overwritten.
// Called by loaded.cpp and run.cpp. A zone's pattern is made of a seed and the position, so neither a copied pattern
// nor a constant passes for it. No CUDA here: offsets and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/gpu/request/sequence.h"

namespace tailor::gpu {

/// A guard zone: the bytes between two buffers, begun by the first byte after a buffer.
struct Zone {
  std::int64_t begin = 0, bytes = 0;  ///< in the arena
  int before = -1, after = -1;        ///< the buffers on both sides; -1: none
  bool operator==(const Zone&) const = default;
};

struct Arena {
  std::vector<std::int64_t> offsets;  ///< of buffers, in bytes from the start, multiples of 256
  std::vector<Zone> zones;            ///< one more than buffers
  std::int64_t bytes = 0;
  bool operator==(const Arena&) const = default;
};

Arena lay_out_arena(std::span<const Buffer> buffers);

/// Where the contents of a sequence lie: offset and bytes of each buffer that has any. Nothing where one of them is
/// written in place, so that its contents do not last.
std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> input_places(std::span<const Buffer> buffers);

/// What belongs into a guard zone.
std::vector<std::byte> guard_pattern(const Zone& zone, std::uint64_t seed);

/// Nothing when the zone is as it should be; else which bytes were written, counted from the nearer buffer: "12 bytes
/// past the end of 'x' (first at byte 4)".
std::string overrun(const Zone& zone, std::span<const std::byte> found, std::uint64_t seed,
                    std::span<const Buffer> buffers);

/// The 32-bit word that outputs are filled with before a checked run: not a number as f32, and both halves as f16 and
/// bf16; other for another seed (126 words).
std::uint32_t poison_word(std::uint64_t seed);

}  // namespace tailor::gpu
