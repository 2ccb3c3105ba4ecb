// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A crowd of one line against a plain list of every touch: it tells of each touch that no later one of the same lane
// stands for, and of nothing that was not there. And its memory, which follows the warps and not their accesses. Part
// of the suite `simulator`; what races with a crowd is judged in shadow_race_test.cpp.
#include "profiler/simulator/shadow/shadow_crowd.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "doctest/doctest.h"
#include "support/thorough.h"

namespace tailor::simulator {
namespace {

constexpr ShadowWord lane_and_shift = ShadowWord{255} << word_shift_at;

ShadowWord word_of(std::uint32_t block, std::uint32_t warp, std::uint32_t clock, std::uint32_t site,
                   ShadowWord flags = 0) {
  return ShadowWord{block} << word_block_at | ShadowWord{clock} << word_clock_at | ShadowWord{warp} << word_warp_at |
         flags | site;
}

/// Of a warp: its lane, the granule, and the word without lane and shift.
using Place = std::tuple<ShadowWord, std::uint32_t, int>;  ///< block and warp, lane, granule

struct Model {
  std::map<Place, std::vector<ShadowWord>> last;  ///< touches that no later one stands for, in order

  static ShadowWord warp_of(ShadowWord word) { return ShadowWord{word_block(word)} << 5 | word_warp(word); }
  static bool stands_for(ShadowWord later, ShadowWord earlier) {
    const bool later_strong = (later & word_strong) != 0, earlier_strong = (earlier & word_strong) != 0;
    if (!later_strong) return true;
    return earlier_strong && ((earlier & word_block_scope) == 0 || (later & word_block_scope) != 0);
  }
  void add(ShadowWord word, std::uint32_t lane, int cell) {
    std::vector<ShadowWord>& touches = last[{warp_of(word), lane, cell}];
    std::erase_if(touches, [&](ShadowWord earlier) { return stands_for(word, earlier); });
    touches.push_back(word & ~lane_and_shift);
  }
  void clear(std::uint32_t cells) {
    std::erase_if(last, [&](const auto& touch) { return (cells >> std::get<2>(touch.first) & 1) != 0; });
  }
};

ShadowEntry any_entry(std::mt19937& random, ShadowWord word) {
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  const std::uint32_t cells =
      std::array<std::uint32_t, 6>{~0u, 0xfffff000u, 0xfffu, 0x10u, 0xff00u, 0x5a5a0001u}[pick(6)];
  const std::uint32_t lanes = std::array<std::uint32_t, 6>{~0u, 1u, 0xffffu, 0x80000000u, 0x3u, 0xf0u}[pick(6)];
  const auto lane_word = [&](std::uint32_t lane, std::uint32_t shift) {
    return word | ShadowWord{lane} << word_lane_at | ShadowWord{shift} << word_shift_at;
  };
  switch (pick(4)) {
    case 0:
      return {lane_word(pick(32), one_lane), cells, 0};
    case 1:
      return {lane_word(0, lanes == ~0u ? all_of_warp : one_lane), cells, lanes};
    case 2:
      return {lane_word(pick(4), paired), cells, 0};
    default:
      return {lane_word(pick(32), pick(3)), cells, 0};
  }
}

/// Everything that the crowd tells of `cells`.
std::set<std::pair<Place, ShadowWord>> told(const ShadowCrowd& crowd, std::uint32_t cells) {
  std::set<std::pair<Place, ShadowWord>> all;
  crowd.visit(
      cells, [](ShadowWord) { return false; },
      [&](ShadowWord word, std::uint32_t at, std::uint32_t lanes) {
        for_cells(at, [&](int cell) {
          for_cells(lanes != 0 ? lanes : 1u << word_lane(word, cell), [&](int lane) {
            all.insert({{Model::warp_of(word), static_cast<std::uint32_t>(lane), cell}, word & ~lane_and_shift});
          });
        });
      });
  return all;
}

TEST_CASE("a crowd tells of every last touch, and of nothing else") {
  for (std::uint32_t seed = 0; seed < tailor::testing::effort(9u, 30u, 30u); ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::uint32_t blocks = 1 + seed % 3, sites = 1 + seed % 2;
    const bool plain_only = seed % 4 == 0;
    ShadowCrowd crowd;
    Model model;
    std::set<std::pair<Place, ShadowWord>> ever;
    bool mixed = false;
    std::uint32_t clock = 1;
    for (int step = 0; step < 400; ++step) {
      if (random() % 20 == 0) ++clock;
      if (random() % 60 == 0) {
        const std::uint32_t cells = random() % 2 == 0 ? 0xfff0u : ~0u << random() % 32;
        crowd.clear(cells), model.clear(cells);
      }
      const ShadowWord flags = plain_only || random() % 2 == 0 ? 0
                               : random() % 2 == 0             ? word_strong
                                                               : word_strong | word_block_scope;
      mixed = mixed || flags != word_strong;
      const ShadowEntry entry = any_entry(
          random, word_of(1 + static_cast<std::uint32_t>(random() % blocks), static_cast<std::uint32_t>(random() % 2),
                          clock, 1 + static_cast<std::uint32_t>(random() % sites), flags));
      crowd.add(entry);
      for_cells(entry.cells, [&](int cell) {
        for_cells(entry.lanes != 0 ? entry.lanes : 1u << word_lane(entry.word, cell), [&](int lane) {
          model.add(entry.word, static_cast<std::uint32_t>(lane), cell);
          ever.insert(
              {{Model::warp_of(entry.word), static_cast<std::uint32_t>(lane), cell}, entry.word & ~lane_and_shift});
        });
      });
      if (step % 20 != 0) continue;
      REQUIRE(crowd.all_strong() == !mixed);
      const auto all = told(crowd, ~0u);
      bool nothing_lost = true, nothing_else = true;
      for (const auto& [place, words] : model.last)
        for (const ShadowWord word : words) {
          // Of one clock nobody else can tell which was the last.
          const bool stood_for =
              std::any_of(all.lower_bound({place, 0}), all.upper_bound({place, ~ShadowWord{0}}), [&](const auto& one) {
                return word_clock(one.second) >= word_clock(word) && Model::stands_for(one.second, word);
              });
          nothing_lost = nothing_lost && (sites == 1 && plain_only ? all.contains({place, word}) : stood_for);
        }
      for (const auto& one : all) {
        nothing_else = nothing_else && ever.contains(one) && (crowd.cells() >> std::get<2>(one.first) & 1) != 0;
        // A touch that another stands for may be told too, if all of its granule is still there.
        nothing_else = nothing_else && model.last.contains(one.first);
      }
      REQUIRE(nothing_lost);
      REQUIRE(nothing_else);
    }
  }
}

TEST_CASE("a crowd tells of one warp, forgets what is of the past, and holds a note until somebody comes") {
  ShadowCrowd crowd;
  for (std::uint32_t warp = 0; warp < 500; ++warp) crowd.add({word_of(1 + warp / 32, warp % 32, 5, 1), 0xffu, 0});
  int times = 0;
  crowd.visit_warp(word_of(3, 7, 9, 2), 0xf0u, [&](ShadowWord word, std::uint32_t cells, std::uint32_t) {
    ++times;
    CHECK((word_block(word) == 3 && word_warp(word) == 7));
    CHECK(cells == 0xf0u);
  });
  crowd.visit_warp(word_of(99, 7, 9, 2), ~0u, [&](ShadowWord, std::uint32_t, std::uint32_t) { ++times; });
  CHECK(times == 1);

  const Knowledge all = std::make_shared<VectorClock>();
  crowd.note_known(all, 0xfu);
  CHECK(crowd.is_known(all, 0x3u));
  CHECK(!crowd.is_known(all, 0x13u));
  CHECK(!crowd.is_known(std::make_shared<VectorClock>(), 0x3u));
  CHECK(!crowd.is_known(nullptr, 0x3u));
  crowd.add({word_of(2, 0, 6, 1), 0x100u, 0});
  CHECK(!crowd.is_known(all, 0x3u));

  CHECK(crowd.cells() == 0x1ffu);
  crowd.forget([](ShadowWord word) { return word_clock(word) <= 5; });
  CHECK(crowd.cells() == 0x100u);
  CHECK(told(crowd, ~0u).size() == 1);
}

TEST_CASE("a crowd's memory follows its warps, not how often they come and in what alignment") {
  const std::uint32_t warps = 2000;
  const auto bytes_after = [&](std::uint32_t ways, std::uint32_t clocks) {
    ShadowCrowd crowd;
    for (std::uint32_t clock = 1; clock <= clocks; ++clock)
      for (std::uint32_t way = 0; way < ways; ++way)
        for (std::uint32_t warp = 0; warp < warps; ++warp)
          crowd.add({word_of(1 + warp / 4, warp % 4, clock, 1) | ShadowWord{way} << word_lane_at, ~0u, 0});
    return crowd.bytes();
  };
  CHECK(bytes_after(1, 1) < std::size_t{warps} * 64);
  CHECK(bytes_after(1, 50) == bytes_after(1, 1));
  CHECK(bytes_after(20, 1) < std::size_t{warps} * 640);  // with what a vector that grows has to spare
  CHECK(bytes_after(32, 20) < std::size_t{warps} * 640);
}

}  // namespace
}  // namespace tailor::simulator
