// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code written by hand: instructions for sm_80, field by field, at the places that the reader of machine code
// takes them from. In: calls, one for each instruction. Out: the bytes of a kernel. Used by the tests that follow
// launches through machine code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "profiler/compile/machine_work.h"
#include "profiler/compile/operation.h"

namespace assembler {

using namespace tailor;
using namespace tailor::profiler;

inline constexpr unsigned none = 255, always = 7;

/// Instructions for sm_80, field by field.
struct Assembler {
  std::vector<std::byte> code;

  int here() const { return static_cast<int>(code.size() / instruction_bytes); }
  void put(std::uint64_t low, std::uint64_t high) {
    std::array<std::byte, 16> both{};
    std::memcpy(both.data(), &low, 8);
    std::memcpy(both.data() + 8, &high, 8);
    code.insert(code.end(), both.begin(), both.end());
  }
  static std::uint64_t head(unsigned operation, unsigned guard) { return operation | std::uint64_t{guard} << 12; }

  void number(unsigned to, std::uint32_t value, unsigned guard = always) {
    put(head(0x802, guard) | std::uint64_t{to} << 16 | std::uint64_t{value} << 32, 0);
  }
  void special(unsigned to, unsigned which) {
    put(head(0x919, always) | std::uint64_t{to} << 16, std::uint64_t{which} << 8);
  }
  void add(unsigned to, unsigned from, std::uint32_t value) {
    put(head(0x810, always) | std::uint64_t{to} << 16 | std::uint64_t{from} << 24 | std::uint64_t{value} << 32,
        none | std::uint64_t{7} << 13 | std::uint64_t{1} << 16 | std::uint64_t{7} << 17 | std::uint64_t{7} << 20);
  }
  /// to = one * other + 0
  void product(unsigned to, unsigned one, unsigned other) {
    put(head(0x224, always) | std::uint64_t{to} << 16 | std::uint64_t{one} << 24 | std::uint64_t{other} << 32,
        none | std::uint64_t{7} << 17 | std::uint64_t{7} << 20 | std::uint64_t{7} << 23);
  }
  /// to = the bits of `from` that `mask` has
  void both(unsigned to, unsigned from, std::uint32_t mask) {
    put(head(0x812, always) | std::uint64_t{to} << 16 | std::uint64_t{from} << 24 | std::uint64_t{mask} << 32,
        none | std::uint64_t{0xc0} << 8 | std::uint64_t{7} << 17 | std::uint64_t{7} << 23);
  }
  /// to = what lanes have in `from` below `value`, as a predicate.
  void below(unsigned to, unsigned from, std::uint32_t value) {
    constexpr std::uint64_t less = 1;
    put(head(0x80c, always) | std::uint64_t{from} << 24 | std::uint64_t{value} << 32,
        std::uint64_t{7} << 4 | less << 12 | std::uint64_t{to} << 17 | std::uint64_t{7} << 20 | std::uint64_t{7} << 23);
  }
  void branch(int to, unsigned guard = always) {
    const auto bytes = static_cast<std::uint32_t>((to - here() - 1) * 16);
    put(head(0x947, guard) | std::uint64_t{bytes} << 32, std::uint64_t{7} << 23);
  }
  void meet_at(int to, unsigned barrier) {
    const auto bytes = static_cast<std::uint32_t>((to - here() - 1) * 16);
    put(head(0x945, always) | std::uint64_t{barrier} << 16 | std::uint64_t{bytes} << 32, std::uint64_t{7} << 23);
  }
  void meet(unsigned barrier) { put(head(0x941, always) | std::uint64_t{barrier} << 16, std::uint64_t{7} << 23); }
  void load(unsigned to, unsigned from, unsigned guard = always) {
    put(head(0x381, guard) | std::uint64_t{to} << 16 | std::uint64_t{from} << 24, std::uint64_t{4} << 9);
  }
  void multiply(unsigned to) { put(head(0x220, always) | std::uint64_t{to} << 16, 0); }
  void exit(unsigned guard = always) { put(head(0x94d, guard), std::uint64_t{7} << 23); }
  void nothing() { put(head(0x918, always), 0); }
};

constexpr unsigned unless(unsigned predicate) { return predicate | 8; }

constexpr unsigned thread_index = 0x21, block_index = 0x25, lane_index = 0;

}  // namespace assembler
