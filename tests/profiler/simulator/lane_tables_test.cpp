// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the table of handlers holds beside its rows: packing and unpacking, the wrappers that flush, saturate, copy and
// negate, partly active warps; and the bounds of the approximations at every exponent. Words are random with fixed
// seeds. Part of the suite `simulator`.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "doctest/doctest.h"
#include "profiler/simulator/lane_harness.h"

namespace tailor::simulator {
namespace {

/// Six slots of 256 bytes of random words, all lanes active.
struct RandomWarp {
  alignas(128) std::byte bytes[6 * 256];
  Slot lists[4] = {0, 256, 512, 768};
  Warp warp;
  Micro micro;
  explicit RandomWarp(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    for (std::byte*& bank : warp.bank) bank = bytes;
    warp.lists = lists;
    warp.active = all_lanes;
    for (std::uint32_t& lane : warp.lanes) lane = ~0u;
  }
  std::uint64_t value(Slot slot, int lane, std::size_t size) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes + slot + size * static_cast<std::size_t>(lane), size);
    return bits;
  }
};

TEST_CASE("packing joins parts low first, unpacking takes them apart and leaves out what nobody wants") {
  for (const std::string_view name : lane_table_names()) {
    const LaneTable& table = *lane_table(name);
    for (const auto& [whole, parts] : {std::pair{16, 2}, {32, 4}, {32, 2}, {64, 4}, {64, 2}}) {
      const std::size_t size = whole == 64 ? 8 : 4;
      const int width = whole / parts;
      const std::uint64_t part_mask = (std::uint64_t{1} << width) - 1;
      RandomWarp joined(static_cast<std::uint64_t>(whole * parts));
      joined.micro.d = 1024;
      table.lane[find_pack(whole, parts)->handler][0](joined.warp, joined.micro);
      RandomWarp apart = joined;
      for (std::byte*& bank : apart.warp.bank) bank = apart.bytes;
      apart.warp.lists = apart.lists;
      std::memset(apart.bytes, 0xaa, 1024);
      apart.micro.a = 1024;
      apart.lists[1] = no_slot;
      table.lane[find_unpack(whole, parts)->handler][0](apart.warp, apart.micro);
      INFO(name, " ", whole, " bits in ", parts);
      for (int lane = 0; lane < lanes_per_warp; ++lane) {
        std::uint64_t wanted = 0;
        for (int k = 0; k < parts; ++k) {
          const std::uint64_t part = joined.value(static_cast<Slot>(256 * k), lane, 4) & part_mask;
          wanted |= part << (width * k);
          const std::uint64_t found = apart.value(static_cast<Slot>(256 * k), lane, 4);
          CHECK((k == 1 ? found == 0xaaaaaaaau : (found & part_mask) == part));
        }
        CHECK((joined.value(1024, lane, size) & (whole == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << whole) - 1)) ==
              wanted);
      }
    }
  }
  CHECK(find_pack(128, 2) == nullptr);
  CHECK(find_unpack(32, 3) == nullptr);
}

std::uint64_t wrapped(const Step step, std::uint64_t value, std::size_t size) {
  RandomWarp one(1);
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    std::memcpy(one.bytes + size * static_cast<std::size_t>(lane), &value, size);
  one.micro.a = 0, one.micro.d = 512;
  step(one.warp, one.micro);
  return one.value(512, 31, size);
}

TEST_CASE("wrappers flush, saturate, copy and negate") {
  for (const std::string_view name : lane_table_names()) {
    const LaneTable& table = *lane_table(name);
    CHECK(wrapped(table.flush_f32[0], 0x807fffff, 4) == 0x80000000);
    CHECK(wrapped(table.flush_f32[0], 0x00800000, 4) == 0x00800000);
    CHECK((wrapped(table.flush_f16[0], 0x83ff, 4) & 0xffff) == 0x8000);
    CHECK(wrapped(table.flush_f16x2[0], 0x83ff0400, 4) == 0x80000400);
    CHECK(wrapped(table.saturate_f32[0], 0x7fc00000, 4) == 0);
    CHECK(wrapped(table.saturate_f32[0], 0xbf800000, 4) == 0);
    CHECK(wrapped(table.saturate_f32[0], 0x40000000, 4) == 0x3f800000);
    CHECK(wrapped(table.saturate_f32[0], 0x3e800000, 4) == 0x3e800000);
    CHECK((wrapped(table.saturate_f16[0], 0x4000, 4) & 0xffff) == 0x3c00);
    CHECK((wrapped(table.saturate_bf16[0], 0x4000, 4) & 0xffff) == 0x3f80);
    CHECK(wrapped(table.saturate_f16x2[0], 0x7e004000, 4) == 0x00003c00);
    CHECK(wrapped(table.saturate_bf16x2[0], 0x3e004000, 4) == 0x3e003f80);
    CHECK(wrapped(table.saturate_f64[0], std::bit_cast<std::uint64_t>(2.5), 8) == std::bit_cast<std::uint64_t>(1.0));
    CHECK(wrapped(table.copy32[0], 0x12345678, 4) == 0x12345678);
    CHECK(wrapped(table.copy64[0], 0x123456789abcdefu, 8) == 0x123456789abcdefu);
    CHECK(wrapped(table.negate_predicate[0], 0, 4) == 0xffffffff);
    alignas(64) std::uint32_t predicate[lanes_per_warp] = {};
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      predicate[lane] = ~0u;
      CHECK(table.mask_of(predicate) == all_lanes >> (31 - lane));
    }
  }
}

using Function = long double (*)(long double);
struct Approximation {
  const char* text;
  Function exact;
  long double relative, absolute, largest;  ///< the bound, where |x| is at most `largest`
};

const Approximation approximations[] = {
    {"ex2.approx.f32", [](long double x) { return std::exp2(x); }, 2e-7L, 0x1p-149L, INFINITY},
    {"lg2.approx.f32", [](long double x) { return std::log2(x); }, 2e-7L, 4e-7L, INFINITY},
    {"sin.approx.f32", [](long double x) { return std::sin(x); }, 0, 2e-7L, 0x1p31L},
    {"cos.approx.f32", [](long double x) { return std::cos(x); }, 0, 2e-7L, 0x1p31L},
    {"tanh.approx.f32", [](long double x) { return std::tanh(x); }, 4e-7L, 0x1p-149L, INFINITY},
    {"rsqrt.approx.f32", [](long double x) { return 1 / std::sqrt(x); }, 2e-7L, 0, INFINITY},
};

TEST_CASE("approximations keep their bounds at every exponent") {
  std::mt19937 random(3);
  std::vector<LaneOperands> tuples;
  for (std::uint64_t exponent = 0; exponent < 512; ++exponent) {
    for (int k = 0; k < 96; ++k)
      tuples.push_back({exponent << 23 | (k == 0 ? 0 : k == 1 ? 0x7fffff : random() & 0x7fffff), 0, 0, 0});
  }
  for (const Approximation& row : approximations) {
    const std::vector<std::uint64_t> found = lane_results(*lane_table(), *find_lane_opcode(row.text)->row, tuples);
    long double worst = 0;  // as a fraction of the bound
    for (std::size_t i = 0; i < tuples.size(); ++i) {
      const auto x = static_cast<long double>(std::bit_cast<float>(static_cast<std::uint32_t>(tuples[i][0])));
      const auto y = static_cast<long double>(std::bit_cast<float>(static_cast<std::uint32_t>(found[i])));
      const long double exact = row.exact(x);
      if (std::isnan(exact) || std::isnan(y)) {
        worst = std::max(worst, std::isnan(exact) && std::isnan(y) ? 0.0L : 1e9L);
      } else if (std::fabs(x) <= row.largest && static_cast<float>(exact) != static_cast<float>(y)) {
        worst = std::max(worst, std::fabs(y - exact) / std::max(row.relative * std::fabs(exact), row.absolute));
      }
    }
    INFO(row.text, ": worst error as a fraction of its bound ", static_cast<double>(worst));
    CHECK(worst <= 1);
  }
}

}  // namespace
}  // namespace tailor::simulator
