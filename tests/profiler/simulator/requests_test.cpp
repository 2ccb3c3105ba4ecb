// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sectors and bank passes of one warp's access against sets of bytes, words and banks that are filled one byte at a
// time. Every width is tried, with all kinds of patterns and random masks under fixed seeds; a padded and an unpadded
// tile have known numbers. Part of the suite `simulator`.
#include "profiler/simulator/machine/requests.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <span>

#include "doctest/doctest.h"

namespace tailor::simulator {
namespace {

using Offsets = std::array<std::uint32_t, 32>;

std::set<std::uint64_t> sectors_by_set(const Offsets& offset, std::uint64_t base, std::uint32_t lanes, int bytes) {
  std::set<std::uint64_t> sectors;
  for (int lane = 0; lane < 32; ++lane)
    for (int byte = 0; byte < bytes && (lanes >> lane & 1) != 0; ++byte)
      sectors.insert((base + offset[static_cast<std::size_t>(lane)] + static_cast<std::uint64_t>(byte)) / 32);
  return sectors;
}

/// Lanes from `first` on that go through the banks together: what fills 128 bytes, twice as many of 8 and 16 bytes
/// where every active lane of those shares its address with the one 1 from it, or every one with the one 2 from it.
int together_by_rule(const Offsets& offset, std::uint32_t lanes, int bytes, int first) {
  const int plain = std::min(32, 128 / bytes);
  if (bytes != 8 && bytes != 16) return plain;
  const int from = first / (2 * plain) * 2 * plain;
  for (const int apart : {1, 2}) {
    bool share = true;
    for (int lane = from; lane < from + 2 * plain; ++lane) {
      const int partner = lane ^ apart;
      if ((lanes >> lane & 1) == 0 || (lanes >> partner & 1) == 0) continue;
      share = share && offset[static_cast<std::size_t>(lane)] == offset[static_cast<std::size_t>(partner)];
    }
    if (share) return 2 * plain;
  }
  return plain;
}

BankPasses passes_by_set(const Offsets& offset, std::uint32_t lanes, int bytes) {
  BankPasses passes;
  for (int first = 0; first < 32;) {
    const int together = together_by_rule(offset, lanes, bytes, first);
    std::map<std::uint32_t, std::set<std::uint32_t>> words_of_bank;
    for (int lane = first; lane < first + together; ++lane)
      for (int byte = 0; byte < bytes && (lanes >> lane & 1) != 0; ++byte) {
        const std::uint32_t word = (offset[static_cast<std::size_t>(lane)] + static_cast<std::uint32_t>(byte)) / 4;
        words_of_bank[word % 32].insert(word);
      }
    first += together;
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    passes.wavefronts += static_cast<int>(most);
    passes.conflicts += most == 0 ? 0 : static_cast<int>(most) - 1;
  }
  return passes;
}

/// Of atomics: every lane's words count, equal or not.
BankPasses atomic_passes_by_lane(const Offsets& offset, std::uint32_t lanes, int bytes) {
  BankPasses passes;
  const int together = std::min(32, 128 / bytes);
  for (int first = 0; first < 32; first += together) {
    std::map<std::uint32_t, int> in_bank;
    int most = 0;
    for (int lane = first; lane < first + together; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      std::set<std::uint32_t> words;
      for (int byte = 0; byte < bytes; ++byte)
        words.insert((offset[static_cast<std::size_t>(lane)] + static_cast<std::uint32_t>(byte)) / 4);
      for (const std::uint32_t word : words) most = std::max(most, ++in_bank[word % 32]);
    }
    passes.wavefronts += most;
    passes.conflicts += std::max(most - 1, 0);
  }
  return passes;
}

Offsets pattern(std::mt19937& random, int form, int bytes) {
  const auto size = static_cast<std::uint32_t>(bytes);
  Offsets offset{};
  const std::uint32_t base = static_cast<std::uint32_t>(random() % 4096) * size;
  const std::uint32_t stride = static_cast<std::uint32_t>(random() % 70) * size;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const auto any = static_cast<std::uint32_t>(random());
    switch (form) {
      case 0:
        offset[lane] = base + lane * size;
        break;
      case 1:
        offset[lane] = base + lane * stride;
        break;
      case 2:
        offset[lane] = base;
        break;
      case 3:
        offset[lane] = base + (31 - lane) * stride;
        break;
      case 4:
        offset[lane] = any % 1024 * size;
        break;
      case 5:
        offset[lane] = any / size * size;
        break;
      case 6:
        offset[lane] = base + (lane ^ (any % 2)) % 8 * stride;
        break;
      case 7:  // pairs of lanes at one address: neighbours, or the next but one
        offset[lane] = base + (stride % 2 == 0 ? lane & ~1u : lane & ~2u) * stride;
        break;
      default:
        offset[lane] = any % 4000;  // not aligned
    }
  }
  return offset;
}

TEST_CASE("sectors and bank passes are those of sets of bytes and words") {
  std::mt19937 random(11);
  std::set<int> sectors_seen, passes_seen;
  for (int bytes = 1; bytes <= 32; bytes *= 2)
    for (int form = 0; form < 9; ++form)
      for (int round = 0; round < 60; ++round) {
        const Offsets offset = pattern(random, form, bytes);
        const std::uint32_t lanes = round % 3 == 0 ? ~0u : static_cast<std::uint32_t>(random() & random());
        const std::uint64_t base = round % 2 == 0 ? 0 : std::uint64_t{1} << 45;
        INFO("bytes " << bytes << " form " << form << " round " << round);
        std::array<std::uint64_t, 32> address;
        for (std::size_t lane = 0; lane < 32; ++lane) address[lane] = base + offset[lane];
        const std::set<std::uint64_t> expected = sectors_by_set(offset, base, lanes, bytes);
        REQUIRE(distinct_sectors(address.data(), lanes, bytes) == static_cast<int>(expected.size()));
        REQUIRE(distinct_sectors(offset.data(), lanes, bytes) == static_cast<int>(expected.size()));
        std::array<std::uint64_t, 64> listed;
        const int count = list_sectors(address.data(), lanes, bytes, listed.data());
        REQUIRE(std::ranges::equal(expected, std::span(listed).first(static_cast<std::size_t>(count))));
        sectors_seen.insert(count);
        if (form == 8) continue;  // shared accesses are aligned
        const BankPasses passes = passes_by_set(offset, lanes, bytes);
        REQUIRE(bank_passes(offset.data(), lanes, bytes) == passes);
        BankPattern last;
        const auto step = static_cast<std::uint32_t>(bytes);
        Offsets moved = offset;
        for (std::uint32_t& at : moved) at += 5 * step;
        REQUIRE(bank_passes(moved.data(), lanes, bytes, last) == bank_passes(moved.data(), lanes, bytes));
        REQUIRE(bank_passes(offset.data(), lanes, bytes, last) == passes);
        REQUIRE(bank_passes(offset.data(), lanes & 0x7fff3fff, bytes, last) ==
                bank_passes(offset.data(), lanes & 0x7fff3fff, bytes));
        REQUIRE(atomic_passes(offset.data(), lanes, bytes) == atomic_passes_by_lane(offset, lanes, bytes));
        passes_seen.insert(passes.wavefronts);
      }
  CHECK(sectors_seen.size() > 40);  // patterns are not all alike
  CHECK(passes_seen.size() > 20);
}

TEST_CASE("no active lane asks for nothing") {
  const Offsets offset{};
  CHECK(distinct_sectors(offset.data(), 0, 4) == 0);
  CHECK(bank_passes(offset.data(), 0, 4) == BankPasses{});
}

TEST_CASE("a column of a padded tile has no conflicts, of an unpadded one 31") {
  Offsets padded, bare;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    padded[lane] = lane * 33 * 4;
    bare[lane] = lane * 32 * 4;
  }
  CHECK(bank_passes(padded.data(), ~0u, 4) == BankPasses{1, 0});
  CHECK(bank_passes(bare.data(), ~0u, 4) == BankPasses{32, 31});
}

TEST_CASE("lanes that share 8 or 16 bytes in pairs go through the banks in twos, and atomics at one word one by one") {
  Offsets pairs, same{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) pairs[lane] = lane / 2 * 16;
  CHECK(bank_passes(pairs.data(), ~0u, 16) == BankPasses{2, 0});
  for (std::uint32_t lane = 0; lane < 32; ++lane) pairs[lane] = lane / 2 * 8;
  CHECK(bank_passes(pairs.data(), ~0u, 8) == BankPasses{1, 0});
  CHECK(bank_passes(same.data(), ~0u, 16) == BankPasses{2, 0});
  CHECK(bank_passes(same.data(), ~0u, 4) == BankPasses{1, 0});
  CHECK(atomic_passes(same.data(), ~0u, 4) == BankPasses{32, 31});
  CHECK(atomic_passes(same.data(), 0x10u, 4) == BankPasses{1, 0});
}

}  // namespace
}  // namespace tailor::simulator
