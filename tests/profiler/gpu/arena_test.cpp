// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Guard zones by their laws: buffers do not overlap, every byte of the arena belongs to a buffer or a zone, and a zone
// that was written to says by whom and where. Inputs are seeded random lists of buffers, and every byte of a zone
// written once. Part of the suite `gpu`; needs no GPU.
#include "profiler/gpu/session/arena.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>

namespace {

using namespace tailor;
using gpu::Arena;
using gpu::Buffer;
using gpu::lay_out_arena;
using gpu::Zone;

constexpr unsigned arena_seed = 20260711;

std::vector<Buffer> random_buffers(std::mt19937& random, std::size_t count) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<>(0, 27)(random))) - 1;
    buffers.push_back({fmt::format("b{}", i), size, gpu::BufferRole::input});
  }
  return buffers;
}

/// What two buffers and the zone between them say after some bytes of that zone were written.
std::string said(std::int64_t first, std::int64_t last) {
  const std::vector<Buffer> buffers = {{"x", 1000, gpu::BufferRole::input}, {"y", 1000, gpu::BufferRole::output}};
  const Zone zone = lay_out_arena(buffers).zones[1];
  std::vector<std::byte> found = gpu::guard_pattern(zone, arena_seed);
  if (first < 0) first += zone.bytes, last += zone.bytes;
  for (std::int64_t i = first; i <= last; ++i) found[static_cast<std::size_t>(i)] ^= std::byte{0x5a};
  return gpu::overrun(zone, found, arena_seed, buffers);
}

}  // namespace

TEST_CASE("buffers and guard zones tile the arena, with buffers at multiples of 256 bytes") {
  INFO("seed ", arena_seed);
  std::mt19937 random(arena_seed);
  for (std::size_t count : {0, 1, 2, 7, 40, 3000}) {
    const std::vector<Buffer> buffers = random_buffers(random, count);
    const Arena arena = lay_out_arena(buffers);
    REQUIRE(arena.offsets.size() == count);
    REQUIRE(arena.zones.size() == count + 1);
    std::int64_t end = 0;
    for (std::size_t i = 0; i <= count; ++i) {
      const Zone& zone = arena.zones[i];
      CHECK(zone.begin == end);
      CHECK(zone.bytes >= 4096);
      CHECK(zone.bytes <= (1 << 20) + 256);
      CHECK(zone.before == (i > 0 ? static_cast<int>(i) - 1 : -1));
      CHECK(zone.after == (i < count ? static_cast<int>(i) : -1));
      end = zone.begin + zone.bytes;
      if (i == count) break;
      CHECK(arena.offsets[i] == end);
      CHECK(arena.offsets[i] % 256 == 0);
      end += buffers[i].bytes;
    }
    CHECK(arena.bytes == end);
  }
}

TEST_CASE("zones grow with their larger neighbour, and all of them together stay bounded") {
  const auto zones = [](std::int64_t bytes, std::size_t count) {
    return lay_out_arena(std::vector<Buffer>(count, {"b", bytes, gpu::BufferRole::input})).zones;
  };
  CHECK(zones(1 << 20, 2)[1].bytes == (1 << 20) / 16);
  CHECK(zones(std::int64_t{1} << 33, 2)[1].bytes == 1 << 20);
  std::int64_t all = 0;
  for (const Zone& zone : zones(std::int64_t{1} << 33, 5000)) all += zone.bytes;
  CHECK(all <= (std::int64_t{64} << 20) + 5001 * 256);
}

TEST_CASE("an untouched zone says nothing and a written byte is always seen, wherever it is") {
  const std::vector<Buffer> buffers = {{"x", 777, gpu::BufferRole::input}};
  for (const Zone& zone : lay_out_arena(buffers).zones) {
    const std::vector<std::byte> pattern = gpu::guard_pattern(zone, arena_seed);
    CHECK(gpu::overrun(zone, pattern, arena_seed, buffers).empty());
    for (std::size_t place = 0; place < pattern.size(); ++place) {
      std::vector<std::byte> found = pattern;
      found[place] ^= std::byte{1};
      const std::string why = gpu::overrun(zone, found, arena_seed, buffers);
      REQUIRE(why.find("1 byte written") != why.npos);
      REQUIRE(why.find("'x'") != why.npos);
    }
  }
}

TEST_CASE("an overrun names the nearer buffer, the side and the byte") {
  CHECK(said(0, 3) == "4 bytes written past the end of 'x', the first at byte 0 after its 1000");
  CHECK(said(16, 16) == "1 byte written past the end of 'x', the first at byte 16 after its 1000");
  CHECK(said(-8, -5) == "4 bytes written before the start of 'y', the nearest 5 bytes before it");
}

TEST_CASE("guard patterns differ between seeds and places, and no short stretch of one repeats") {
  const Zone zone{4096, 8192, 0, 1}, elsewhere{12288, 8192, 1, 2};
  CHECK(gpu::guard_pattern(zone, 1) != gpu::guard_pattern(zone, 2));
  CHECK(gpu::guard_pattern(zone, 1) != gpu::guard_pattern(elsewhere, 1));
  const std::vector<std::byte> bytes = gpu::guard_pattern(zone, 1);
  std::set<std::uint64_t> words;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    words.insert(word);
  }
  CHECK(words.size() == bytes.size() / 8);
}

TEST_CASE("poison is no number in the types that kernels write, and changes with the seed") {
  std::set<std::uint32_t> words;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const std::uint32_t word = gpu::poison_word(i);
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    CHECK(std::isnan(value));
    const std::uint32_t half = word & 0xffff;
    CHECK(half == word >> 16);
    const std::uint32_t bf16 = half << 16;
    std::memcpy(&value, &bf16, sizeof value);
    CHECK(std::isnan(value));
    const bool f16_nan = (half & 0x7c00) == 0x7c00 && (half & 0x3ff) != 0;
    CHECK(f16_nan);
    words.insert(word);
  }
  CHECK(words.size() == 126);
}
