// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one warp's request moves: sectors of global memory, passes through the banks of shared memory. In: an offset
// for each of 32 lanes, the lanes that are active, the bytes of an access. Out: a number. Both ways of counting use
// these, so they are plain and are tested against drawings of the rule.
//
// Sectors are 32 bytes; a request moves each that an active lane touches once. Neighbouring active lanes at a constant
// stride of at most a sector, which is nearly every request, are counted by arithmetic; others by listing the sectors.
//
// Shared memory has 32 banks of 4 bytes. A request runs in phases of as many lanes as fill 128 bytes: 32 lanes of up
// to 4 bytes, 16 of 8, 8 of 16; two such phases of 8 or 16 bytes are one where lanes share their addresses in pairs
// (each with the lane 1 from it, or each with the one 2 from it). A phase takes as many passes as the most distinct
// words that one bank must deliver; lanes that read the same word share it.
#include <algorithm>
#include <bit>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

/// Distance between neighbouring lanes when it is the same for all 32, else -1.
std::int64_t constant_stride(const std::array<std::int64_t, warp_lanes>& offsets) {
  const std::int64_t stride = offsets[1] - offsets[0];
  for (int lane = 2; lane < warp_lanes; ++lane)
    if (offsets[lane] - offsets[lane - 1] != stride) return -1;
  return stride;
}

}  // namespace

std::int64_t count_sectors(const std::array<std::int64_t, warp_lanes>& offsets, std::int64_t shift, std::uint32_t mask,
                           int bytes) {
  if (mask == 0) return 0;
  const int first = std::countr_zero(mask), lanes = std::popcount(mask);
  const bool is_run = mask >> first == (lanes == warp_lanes ? ~0u : (1u << lanes) - 1);
  if (is_run) {
    // Neighbours at most a sector apart leave no sector between them untouched.
    const std::int64_t stride = constant_stride(offsets);
    if (stride >= 0 && stride <= sector_bytes) {
      const std::int64_t low = offsets[first] + shift, high = low + stride * (lanes - 1) + bytes - 1;
      return floor_div(high, sector_bytes) - floor_div(low, sector_bytes) + 1;
    }
  }
  std::array<std::int64_t, 2 * warp_lanes> touched;
  std::size_t count = 0;
  bool ascending = true;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::int64_t low = offsets[std::countr_zero(rest)] + shift;
    const std::int64_t last = floor_div(low + bytes - 1, sector_bytes);
    for (std::int64_t sector = floor_div(low, sector_bytes); sector <= last; ++sector) {
      if (count > 0 && sector == touched[count - 1]) continue;
      if (count > 0 && sector < touched[count - 1]) ascending = false;
      touched[count++] = sector;
    }
  }
  if (ascending) return static_cast<std::int64_t>(count);
  std::sort(touched.begin(), touched.begin() + count);
  return std::unique(touched.begin(), touched.begin() + count) - touched.begin();
}

namespace {

/// Lanes that share their addresses in pairs (each with the one `apart` from it, if that is active).
bool lanes_share(const std::array<std::int64_t, warp_lanes>& offsets, std::uint32_t mask, int apart) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if ((mask >> (lane ^ apart) & 1) != 0 && offsets[lane] != offsets[lane ^ apart]) return false;
  }
  return true;
}

}  // namespace

std::int64_t count_wavefronts(const std::array<std::int64_t, warp_lanes>& offsets, std::int64_t shift,
                              std::uint32_t mask, int bytes) {
  constexpr int banks = 32, word_bytes = 4;
  const int words = std::max(1, bytes / word_bytes);
  const int plain = warp_lanes / words, widest = bytes == 8 || bytes == 16 ? 2 * plain : plain;
  std::int64_t passes = 0;
  for (int from = 0; from < warp_lanes;) {
    std::uint32_t pair_mask = 0;
    for (int lane = from / widest * widest; lane < (from / widest + 1) * widest; ++lane)
      pair_mask |= mask & (1u << lane);
    const bool pairs = widest > plain && (lanes_share(offsets, pair_mask, 1) || lanes_share(offsets, pair_mask, 2));
    const int together = pairs ? widest : plain;
    std::array<std::array<std::int64_t, warp_lanes>, banks> held;
    std::array<std::int64_t, banks> counts{};
    std::int64_t most = 0;
    for (int lane = from; lane < from + together; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (int k = 0; k < words; ++k) {
        const std::int64_t word = floor_div(offsets[lane] + shift, word_bytes) + k;
        const auto bank = static_cast<std::size_t>(word & (banks - 1));
        const auto end = held[bank].begin() + counts[bank];
        if (std::find(held[bank].begin(), end, word) == end) held[bank][counts[bank]++] = word;
        most = std::max(most, counts[bank]);
      }
    }
    passes += most;
    from += together;
  }
  return passes;
}

int element_bytes(const ir::Kernel& kernel, const ir::Stmt& stmt) {
  const ir::DType dtype =
      stmt.space == ir::Space::global ? kernel.buffers[stmt.memory].dtype : kernel.arrays[stmt.memory].dtype;
  return std::max(1, ir::row(dtype).bits / 8);
}

}  // namespace tailor::costmodel
