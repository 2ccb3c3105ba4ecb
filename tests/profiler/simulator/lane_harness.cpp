// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills a warp's slots and calls the handler as the interpreter would. Slots 0 to 3 hold operands, 4 the carry, 5 and
// 6 the results of the handler for full warps and of the one for partly active warps. Lanes that are off hold junk
// that must survive, and the bits above a narrow value are junk too, so a handler that reads them is found.
#include "profiler/simulator/lane_harness.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "doctest/doctest.h"

namespace tailor::simulator {

namespace {

constexpr std::uint32_t slot_bytes = 256;
constexpr Slot carry_slot = 4 * slot_bytes, full_slot = 5 * slot_bytes, some_slot = 6 * slot_bytes;

struct Frame {
  alignas(128) std::byte bytes[8 * slot_bytes] = {};
  Slot lists[4] = {};
  Warp warp;
  Frame() {
    for (std::byte*& bank : warp.bank) bank = bytes;
    warp.lists = lists;
  }
  void set(Slot slot, LaneType type, int lane, std::uint64_t value) {
    if (slot_bits(type) == 64) {
      std::memcpy(bytes + slot + 8 * lane, &value, 8);
    } else {
      const auto word = static_cast<std::uint32_t>(value);
      std::memcpy(bytes + slot + 4 * lane, &word, 4);
    }
  }
  std::uint64_t value(Slot slot, LaneType type, int lane) const {
    std::uint64_t wide = 0;
    if (slot_bits(type) == 64) {
      std::memcpy(&wide, bytes + slot + 8 * lane, 8);
    } else {
      std::memcpy(&wide, bytes + slot + 4 * lane, 4);
    }
    return wide;
  }
};

int type_bits(LaneType type) {
  switch (type) {
    case LaneType::u8:
    case LaneType::s8:
      return 8;
    case LaneType::u16:
    case LaneType::s16:
    case LaneType::f16:
    case LaneType::bf16:
      return 16;
    case LaneType::u64:
    case LaneType::s64:
    case LaneType::f64:
      return 64;
    default:
      return 32;
  }
}

bool holds_nan(LaneType type, std::uint64_t bits) {
  if (type == LaneType::f32) return (bits & 0x7fffffff) > 0x7f800000;
  return type == LaneType::f64 && (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

void set_active(Warp& warp, std::uint32_t active) {
  warp.active = active;
  for (int lane = 0; lane < lanes_per_warp; ++lane) warp.lanes[lane] = (active >> lane) & 1 ? ~0u : 0;
}

}  // namespace

std::uint64_t cut(LaneType type, std::uint64_t bits) {
  const int width = type_bits(type);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

bool same_result(LaneType type, std::uint64_t a, std::uint64_t b) {
  return a == b || (holds_nan(type, a) && holds_nan(type, b));
}

std::vector<std::uint64_t> lane_results(const LaneTable& table, const LaneOpcode& opcode,
                                        std::span<const LaneOperands> operands, std::uint32_t extra,
                                        std::vector<std::uint64_t>* carries) {
  Frame frame;
  std::mt19937_64 random(operands.size());
  Micro micro;
  micro.a = 0, micro.b = slot_bytes, micro.c = 2 * slot_bytes;
  frame.lists[0] = opcode.carry ? carry_slot : 3 * slot_bytes;
  micro.extra = extra;
  std::vector<std::uint64_t> results(operands.size());
  if (carries != nullptr) carries->resize(operands.size());
  const Step* steps = table.lane[opcode.handler];
  int wrong_lanes = 0;
  for (std::size_t first = 0; first < operands.size(); first += lanes_per_warp) {
    const auto count = static_cast<int>(std::min<std::size_t>(lanes_per_warp, operands.size() - first));
    const std::uint32_t active = static_cast<std::uint32_t>(random());
    const auto fill = [&] {
      for (int lane = 0; lane < lanes_per_warp; ++lane) {
        const LaneOperands& tuple = operands[first + static_cast<std::size_t>(lane % count)];
        for (int k = 0; k < opcode.source_count; ++k) {
          const LaneType type = opcode.sources[static_cast<std::size_t>(k)];
          const std::uint64_t whole = tuple[static_cast<std::size_t>(k)];
          const std::uint64_t junk =
              cut(type, ~std::uint64_t{0}) >> 32 != 0 ? 0 : random() & ~cut(type, ~std::uint64_t{0});
          frame.set(static_cast<Slot>(k) * slot_bytes, type, lane, cut(type, whole) | junk);
        }
        frame.set(carry_slot, LaneType::u32, lane, tuple[3] & 1);
        frame.set(some_slot, opcode.d, lane, 0x1234567890abcdefu + static_cast<std::uint64_t>(lane));
      }
    };
    fill();
    set_active(frame.warp, all_lanes);
    micro.d = full_slot;
    steps[0](frame.warp, micro);
    std::uint64_t full_carry[lanes_per_warp];
    for (int lane = 0; lane < lanes_per_warp; ++lane) full_carry[lane] = frame.value(carry_slot, LaneType::u32, lane);
    for (int lane = 0; lane < count; ++lane) {
      results[first + static_cast<std::size_t>(lane)] = cut(opcode.d, frame.value(full_slot, opcode.d, lane));
      if (carries != nullptr) (*carries)[first + static_cast<std::size_t>(lane)] = full_carry[lane];
    }
    fill();
    set_active(frame.warp, active);
    micro.d = some_slot;
    steps[1](frame.warp, micro);
    for (int lane = 0; lane < lanes_per_warp; ++lane) {
      const bool is_active = (active >> lane) & 1;
      const std::uint64_t tuple_carry = operands[first + static_cast<std::size_t>(lane % count)][3] & 1;
      std::uint64_t untouched = 0x1234567890abcdefu + static_cast<std::uint64_t>(lane);
      if (slot_bits(opcode.d) != 64) untouched &= 0xffffffffu;
      const std::uint64_t wanted = is_active ? cut(opcode.d, frame.value(full_slot, opcode.d, lane)) : untouched;
      const std::uint64_t found = frame.value(some_slot, opcode.d, lane);
      wrong_lanes += !same_result(opcode.d, is_active ? cut(opcode.d, found) : found, wanted);
      wrong_lanes += frame.value(carry_slot, LaneType::u32, lane) != (is_active ? full_carry[lane] : tuple_carry);
    }
  }
  INFO(opcode.key, " on ", table.name, ": partly active warps");
  CHECK(wrong_lanes == 0);
  return results;
}

}  // namespace tailor::simulator
