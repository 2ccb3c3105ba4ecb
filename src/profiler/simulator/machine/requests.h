// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one warp instruction asks of memory: sectors of global memory, passes through the banks of shared memory. In: 32
// addresses, which lanes are active, bytes per lane. Out: numbers that are exact for any addresses and quick for the
// usual ones. Called by translate.cpp for accesses off the fast path, by the cache model, and by tests that compare
// with a plain count.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tailor::simulator {

/// Of each lane. Tests against these are vector operations on every machine, shifts by the lane are not.
inline constexpr auto lane_bits = [] {
  std::array<std::uint32_t, 32> bits{};
  for (std::size_t lane = 0; lane < bits.size(); ++lane) bits[lane] = 1u << lane;
  return bits;
}();

inline constexpr int sector_bytes = 32;

/// Distinct 32-byte sectors that the active lanes touch. Lanes access `bytes` (1 to 32, a power of two) each, aligned
/// to it or not. `address` has 32 entries; those of inactive lanes may hold anything.
int distinct_sectors(const std::uint64_t* address, std::uint32_t lanes, int bytes);

/// The same for offsets from a base that is a multiple of 32.
int distinct_sectors(const std::uint32_t* offset, std::uint32_t lanes, int bytes);

/// Writes the distinct sectors (address / 32), ascending, and returns how many: at most 64 for 32 lanes.
int list_sectors(const std::uint64_t* address, std::uint32_t lanes, int bytes, std::uint64_t* sectors);

/// A request to shared memory runs in phases of as many lanes as fill 128 bytes (32 lanes of up to 4 bytes, 16 of 8,
/// 8 of 16), twice as many of 8 and 16 bytes where lanes share their addresses in pairs: every active lane with the
/// one 1 from it, or every one with the one 2 from it, if that is active. A phase with an active lane takes as many
/// passes (wavefronts) as the most distinct 4-byte words that one of the 32 banks must deliver. `conflicts` are the
/// passes beyond the fewest that the request needs: one per phase with an active lane. Lanes are aligned to `bytes`, as
/// the machine demands.
struct BankPasses {
  int wavefronts = 0, conflicts = 0;
  bool operator==(const BankPasses&) const = default;
};
BankPasses bank_passes(const std::uint32_t* offset, std::uint32_t lanes, int bytes);

/// The last request of an instruction. Warp after warp asks for the same pattern elsewhere, and passes depend on
/// nothing but the pattern: a multiple of a lane's bytes turns the banks around as a whole.
struct BankPattern {
  std::uint32_t lanes = 0;
  std::uint32_t offset[32];  ///< less that of the first active lane
  BankPasses passes;
};
/// bank_passes, by way of `last`.
BankPasses bank_passes(const std::uint32_t* offset, std::uint32_t lanes, int bytes, BankPattern& last);

/// The same for atomics: lanes at one word come one after another, as those at different words of one bank do.
BankPasses atomic_passes(const std::uint32_t* offset, std::uint32_t lanes, int bytes);

}  // namespace tailor::simulator
