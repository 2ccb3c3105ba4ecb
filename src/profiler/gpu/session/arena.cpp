// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One allocation for all buffers of a sequence, with guard zones before, between and after them. In: the buffers'
// sizes, a seed. Out: offsets, zones, the bytes that a zone must hold, and what a damaged zone says. Called when a
// sequence is loaded and after every run that is checked.
//
// Buffers begin at multiples of 256 bytes, as the driver's own allocations do, so widths of accesses are legal as they
// would be there. A zone is a sixteenth of its larger neighbour, within limits, because the wrong index that leaves a
// buffer usually goes one row or tile too far. All zones together are bounded too, since they are read back.
//
// A zone's bytes are a hash of seed and place, so no stretch repeats and a kernel that copies a zone onto itself
// elsewhere is seen as well. A byte that differs was written to: the message names the buffer whose edge is nearest,
// the side and the distance. Outputs are poisoned with a word that is NaN in the types that kernels write, and changes
// with the seed.
#include "profiler/gpu/session/arena.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/indexed.h"

namespace tailor::gpu {
namespace {

constexpr std::int64_t grain = 256, smallest_zone = 4096, largest_zone = std::int64_t{1} << 20;
constexpr std::int64_t all_zones = std::int64_t{64} << 20;
constexpr std::int64_t share = 16;

std::int64_t aligned(std::int64_t bytes) { return (bytes + grain - 1) / grain * grain; }

/// Sebastiano Vigna's SplitMix64: every position gets bits of its own.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::byte pattern_byte(std::int64_t place, std::uint64_t seed) {
  const std::uint64_t word = mixed(seed ^ mixed(static_cast<std::uint64_t>(place) / 8));
  return static_cast<std::byte>(word >> (static_cast<std::uint64_t>(place) % 8 * 8));
}

}  // namespace

Arena lay_out_arena(std::span<const Buffer> given) {
  const IndexedSpan buffers(given);
  const auto count = static_cast<std::int64_t>(buffers.size());
  const std::int64_t most = std::clamp(all_zones / (count + 1), smallest_zone, largest_zone);
  const auto wish = [&](std::int64_t i) { return i < 0 || i >= count ? 0 : buffers[i].bytes / share; };
  Arena arena;
  std::int64_t end = 0;  // of the buffer before
  for (std::int64_t i = 0; i <= count; ++i) {
    const std::int64_t zone = std::clamp(std::max(wish(i - 1), wish(i)), smallest_zone, most);
    const std::int64_t next = aligned(end + zone);
    const int behind = i > 0 ? static_cast<int>(i - 1) : -1;
    arena.zones.push_back({end, next - end, behind, i < count ? static_cast<int>(i) : -1});
    end = next;
    if (i == count) break;
    arena.offsets.push_back(next);
    end = next + buffers[i].bytes;
  }
  arena.bytes = end;
  return arena;
}

std::optional<std::vector<std::pair<std::int64_t, std::int64_t>>> input_places(std::span<const Buffer> given) {
  const Arena arena = lay_out_arena(given);
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].role == BufferRole::in_place) return {};
    if (brings_contents(given[i])) places.emplace_back(arena.offsets[i], given[i].bytes);
  }
  return places;
}

std::vector<std::byte> guard_pattern(const Zone& zone, std::uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(zone.bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = pattern_byte(zone.begin + static_cast<std::int64_t>(i), seed);
  return bytes;
}

std::string overrun(const Zone& zone, std::span<const std::byte> bytes_found, std::uint64_t seed,
                    std::span<const Buffer> given) {
  const IndexedSpan found(bytes_found);
  const IndexedSpan buffers(given);
  std::int64_t first = -1, last = -1, written = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(found.size()); ++i) {
    if (found[i] == pattern_byte(zone.begin + i, seed)) continue;
    first = written == 0 ? i : first;
    last = i;
    ++written;
  }
  if (written == 0) return {};
  const std::string bytes = written == 1 ? "1 byte" : fmt::format("{} bytes", written);
  const std::int64_t back = zone.bytes - last;  // from the last byte to the next buffer
  if (zone.before >= 0 && (zone.after < 0 || first <= back))
    return fmt::format("{} written past the end of '{}', the first at byte {} after its {}", bytes,
                       buffers[zone.before].name, first, buffers[zone.before].bytes);
  if (zone.after < 0) return fmt::format("{} written outside of every buffer", bytes);
  return fmt::format("{} written before the start of '{}', the nearest {} bytes before it", bytes,
                     buffers[zone.after].name, back);
}

std::uint32_t poison_word(std::uint64_t seed) {
  const std::uint32_t half = 0x7f81U + static_cast<std::uint32_t>(mixed(seed) % 126);
  return half << 16 | half;
}

}  // namespace tailor::gpu
