// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting what a request needs. In: the addresses of the active lanes and the bytes of each. Out: how many sectors of
// 32 bytes, or how many passes through the banks of shared memory. Called for every memory instruction that runs, so
// the usual patterns must cost little.
//
// Sectors. Lanes side by side are the usual case and need a subtraction. Ascending addresses are counted by where the
// sector changes; anything else goes through a small hash table. Lanes that reach into a second sector add those.
//
// Banks. A request runs in phases of 128 bytes; two phases of 64-bit lanes, or of 128-bit lanes in one half of the
// warp, run as one where lanes read in pairs (each lane shares its address with the next one, or with the next but
// one). A lane wider than a word is a chunk of neighbouring banks, and chunks conflict as a whole. A phase whose chunks
// lie in one row of the banks, or each in a bank of its own, takes one pass; any other takes as many as the most
// distinct chunks that one bank must deliver.
#include "profiler/simulator/machine/requests.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace tailor::simulator {
namespace {

constexpr int most_sectors = 64;
constexpr std::uint32_t every_lane = ~0u;

/// First sectors of the active lanes, in lane order, then the last ones of lanes that reach into another.
template <class Address>
int sectors_of_lanes(const Address* address, std::uint32_t lanes, int bytes, std::uint64_t* sectors) {
  int count = 0;
  std::uint64_t across = 0;
  const auto size = static_cast<std::uint64_t>(bytes);
  if (lanes == every_lane) {
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint64_t at = address[lane];
      sectors[lane] = at / sector_bytes;
      across |= at / sector_bytes ^ (at + size - 1) / sector_bytes;
    }
    count = 32;
  } else {
    for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
      const std::uint64_t at = address[std::countr_zero(left)];
      sectors[count++] = at / sector_bytes;
      across |= at / sector_bytes ^ (at + size - 1) / sector_bytes;
    }
  }
  if (across == 0) return count;
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const std::uint64_t at = address[std::countr_zero(left)];
    if (at / sector_bytes != (at + size - 1) / sector_bytes) sectors[count++] = (at + size - 1) / sector_bytes;
  }
  return count;
}

int distinct_of(const std::uint64_t* sectors, int count) {
  if (count == 0) return 0;
  std::uint32_t changes = 0, falls = 0;
  if (count == 32) {  // a fixed count, for the vectoriser
    for (int i = 1; i < 32; ++i) {
      changes += sectors[i] != sectors[i - 1];
      falls += sectors[i] < sectors[i - 1];
    }
  } else {
    for (int i = 1; i < count; ++i) {
      changes += sectors[i] != sectors[i - 1];
      falls += sectors[i] < sectors[i - 1];
    }
  }
  if (falls == 0) return static_cast<int>(changes) + 1;
  std::array<std::uint8_t, 256> slot{};  // 1 + index of the sector that hashed here
  int distinct = 0;
  for (int i = 0; i < count; ++i) {
    std::uint32_t at = static_cast<std::uint32_t>(sectors[i] * 0x9e3779b97f4a7c15ull >> 56);
    while (slot[at] != 0 && sectors[slot[at] - 1] != sectors[i]) at = (at + 1) % 256;
    if (slot[at] == 0) {
      slot[at] = static_cast<std::uint8_t>(i + 1);
      ++distinct;
    }
  }
  return distinct;
}

/// All lanes are active and each begins where the one before it ends.
template <class Address>
bool neighbours(const Address* address, std::uint32_t lanes, int bytes) {
  Address differ = lanes ^ every_lane;
  for (Address lane = 0; lane < 32; ++lane) differ |= address[lane] ^ (address[0] + lane * static_cast<Address>(bytes));
  return differ == 0;
}

/// The active lanes are where their numbers lead from one place.
bool in_a_row(const std::uint32_t* offset, std::uint32_t lanes, int bytes) {
  if (lanes == 0) return true;
  const auto first = static_cast<std::uint32_t>(std::countr_zero(lanes)), size = static_cast<std::uint32_t>(bytes);
  const std::uint32_t from = offset[first] - first * size;
  std::uint32_t differ = 0;
  for (std::size_t lane = 0; lane < 32; ++lane)
    differ |= (offset[lane] ^ (from + static_cast<std::uint32_t>(lane) * size)) &
              ((lanes & lane_bits[lane]) != 0 ? every_lane : 0);
  return differ == 0;
}

template <class Address>
int count_distinct(const Address* address, std::uint32_t lanes, int bytes) {
  if (neighbours(address, lanes, bytes)) {
    const Address last = address[0] + static_cast<Address>(32 * bytes - 1);
    if (last > address[0]) return static_cast<int>(last / sector_bytes - address[0] / sector_bytes) + 1;
  }
  std::array<std::uint64_t, most_sectors> sectors;
  return distinct_of(sectors.data(), sectors_of_lanes(address, lanes, bytes, sectors.data()));
}

/// The most chunks in one bank; no two are the same. All banks are counted at once, in columns of binary digits.
int most_in_a_bank(const std::uint32_t* chunk, int count, std::uint32_t bank_mask) {
  std::array<std::uint32_t, 6> digit{};
  for (int i = 0; i < count; ++i) {
    std::uint32_t carry = 1u << (chunk[i] & bank_mask);
    for (std::uint32_t& column : digit) {
      const std::uint32_t next = column & carry;
      column ^= carry;
      carry = next;
    }
  }
  std::uint32_t banks = ~0u;
  int most = 0;
  for (std::size_t k = digit.size(); k-- > 0;) {
    if ((banks & digit[k]) == 0) continue;
    banks &= digit[k];
    most |= 1 << k;
  }
  return most;
}

/// Passes of one phase: the most distinct words that one bank delivers. A lane wider than a word is one chunk of as
/// many neighbouring banks as it has words: chunks conflict as a whole.
int passes_of(const std::uint32_t* chunk, int count, int bank_bits) {
  const std::uint32_t bank_mask = (1u << bank_bits) - 1;
  std::uint32_t once = 0, twice = 0, more = 0, rows = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t bank = 1u << (chunk[i] & bank_mask);
    more |= twice & bank;
    twice |= once & bank;
    once |= bank;
    rows |= chunk[i] ^ chunk[0];
  }
  if (rows >> bank_bits == 0 || twice == 0) return 1;
  bool ascend = true;
  for (int i = 1; i < count; ++i) ascend &= chunk[i] > chunk[i - 1];
  if (ascend) return more == 0 ? 2 : most_in_a_bank(chunk, count, bank_mask);
  // In each round a bank delivers one chunk, to all lanes that ask for it.
  std::array<std::uint32_t, 32> delivered, rest;
  std::copy_n(chunk, count, rest.begin());
  int rounds = 0;
  for (int left = count; left != 0; ++rounds) {
    std::uint32_t busy = 0;
    int later = 0;
    for (int i = 0; i < left; ++i) {
      const std::uint32_t asked = rest[static_cast<std::size_t>(i)], bank = asked & bank_mask;
      if ((busy >> bank & 1) == 0) delivered[bank] = asked;
      busy |= 1u << bank;
      rest[static_cast<std::size_t>(later)] = asked;
      later += delivered[bank] != asked ? 1 : 0;
    }
    left = later;
  }
  return rounds;
}

}  // namespace

int distinct_sectors(const std::uint64_t* address, std::uint32_t lanes, int bytes) {
  return count_distinct(address, lanes, bytes);
}

int distinct_sectors(const std::uint32_t* offset, std::uint32_t lanes, int bytes) {
  return count_distinct(offset, lanes, bytes);
}

int list_sectors(const std::uint64_t* address, std::uint32_t lanes, int bytes, std::uint64_t* sectors) {
  if (neighbours(address, lanes, bytes)) {
    const std::uint64_t first = address[0] / sector_bytes, last = (address[31] + bytes - 1) / sector_bytes;
    for (std::uint64_t sector = first; sector <= last; ++sector) sectors[sector - first] = sector;
    return static_cast<int>(last - first) + 1;
  }
  const int count = sectors_of_lanes(address, lanes, bytes, sectors);
  if (!std::is_sorted(sectors, sectors + count)) std::sort(sectors, sectors + count);
  return static_cast<int>(std::unique(sectors, sectors + count) - sectors);
}

namespace {

/// Every active lane of `lanes` finds the same address at the lane `apart` from it, or nobody there.
bool partners_share(const std::uint32_t* offset, std::uint32_t lanes, int apart) {
  for (std::uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left), partner = lane ^ apart;
    if ((lanes >> partner & 1) != 0 && offset[lane] != offset[partner]) return false;
  }
  return true;
}

/// How many lanes of a request go through the banks together.
int lanes_together(const std::uint32_t* offset, std::uint32_t lanes, int bytes) {
  const int plain = bytes <= 4 ? 32 : 128 / bytes;
  if (bytes != 8 && bytes != 16) return plain;
  return partners_share(offset, lanes, 1) || partners_share(offset, lanes, 2) ? 2 * plain : plain;
}

std::uint32_t lane_range(int first, int count) { return (count == 32 ? every_lane : (1u << count) - 1) << first; }

}  // namespace

BankPasses bank_passes(const std::uint32_t* offset, std::uint32_t lanes, int bytes) {
  const int widest = bytes <= 4 || bytes == 8 ? 32 : bytes == 16 ? 16 : 128 / bytes;
  if (lanes != every_lane && bytes <= 4 && in_a_row(offset, lanes, bytes)) return {lanes == 0 ? 0 : 1, 0};
  if (neighbours(offset, lanes, bytes)) return {bytes <= 4 ? 1 : bytes / 4, 0};
  const int chunk_shift = std::countr_zero(static_cast<unsigned>(std::max(bytes, 4)));
  BankPasses passes;
  for (int first = 0; first < 32;) {
    const int count_lanes = lanes_together(offset, lanes & lane_range(first / widest * widest, widest), bytes);
    const std::uint32_t active = lanes & lane_range(first, count_lanes);
    first += count_lanes;
    if (active == 0) continue;
    std::array<std::uint32_t, 32> chunks;
    int count = 0;
    if (active == every_lane) {
      for (std::size_t lane = 0; lane < 32; ++lane) chunks[lane] = offset[lane] >> chunk_shift;
      count = 32;
    } else {
      for (std::uint32_t left = active; left != 0; left &= left - 1)
        chunks[static_cast<std::size_t>(count++)] = offset[std::countr_zero(left)] >> chunk_shift;
    }
    const int needed = passes_of(chunks.data(), count, 7 - chunk_shift);
    passes.wavefronts += needed;
    passes.conflicts += needed - 1;
  }
  return passes;
}

BankPasses bank_passes(const std::uint32_t* offset, std::uint32_t lanes, int bytes, BankPattern& last) {
  if (lanes == 0 || bytes < 4)
    return bank_passes(offset, lanes, bytes);  // narrow lanes share words by where they begin
  const std::uint32_t from = offset[std::countr_zero(lanes)];
  if (lanes == last.lanes) {
    std::uint32_t differ = 0;
    for (std::size_t lane = 0; lane < 32; ++lane)
      differ |= (offset[lane] ^ (from + last.offset[lane])) & ((lanes & lane_bits[lane]) != 0 ? every_lane : 0);
    if (differ == 0) return last.passes;
  }
  last.lanes = lanes;
  for (int lane = 0; lane < 32; ++lane) last.offset[lane] = offset[lane] - from;
  return last.passes = bank_passes(offset, lanes, bytes);
}

BankPasses atomic_passes(const std::uint32_t* offset, std::uint32_t lanes, int bytes) {
  const int together = bytes <= 4 ? 32 : 128 / bytes;
  BankPasses passes;
  for (int first = 0; first < 32; first += together) {
    std::array<int, 32> in_bank{};
    int most = 0;
    for (std::uint32_t left = lanes & lane_range(first, together); left != 0; left &= left - 1) {
      const std::uint32_t at = offset[std::countr_zero(left)];
      for (std::uint32_t word = at / 4; word * 4 < at + static_cast<std::uint32_t>(bytes); ++word)
        most = std::max(most, ++in_bank[word % 32]);
    }
    passes.wavefronts += most;
    passes.conflicts += std::max(most - 1, 0);
  }
  return passes;
}

}  // namespace tailor::simulator
