// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a warp knows of its registers while its control flow is executed: 32 numbers each, and for which lanes they are
// known. In: instructions of integer arithmetic, comparison, selection. Out: their results; what is loaded, and what
// comes of floating-point numbers, is not known. Called by warp_run.cpp.
#pragma once

#include <array>
#include <cstdint>

#include "ir/kernel/launch.h"
#include "profiler/compile/operand.h"

namespace tailor::profiler {

/// Which warp of a launch.
struct WarpPlace {
  ir::Extent3 grid{1, 1, 1}, block{1, 1, 1};  ///< of the launch: blocks, threads
  ir::Extent3 index{0, 0, 0};                 ///< of the block
  std::uint32_t warp = 0;                     ///< in the block
};

/// Of lanes that are not known the values are anything: they are made for each operand, so nothing fills them.
struct Lanes {
  std::array<std::uint32_t, 32> value;
  std::uint32_t known = 0;  ///< a bit for each lane
};
/// Predicates and masks of lanes.
struct LaneBits {
  std::uint32_t value = 0, known = 0;
};

/// Values apart from what is known of them, so that little is touched to start anew.
struct RegisterFile {
  std::array<std::array<std::uint32_t, 32>, 256> values;
  std::array<std::uint32_t, 256> known{};

  Lanes at(unsigned number) const { return {values[number], known[number]}; }
};

/// Vector and uniform registers and predicates. The last of each always reads as zero, or true. Uniform ones hold the
/// same in all lanes.
struct WarpState {
  RegisterFile registers, uniform;
  std::array<LaneBits, 8> predicates;
  std::array<LaneBits, 8> uniform_predicates;
  WarpPlace place;
  int arch = 0;

  WarpState();
  /// Nothing is known any more.
  void start(const WarpPlace& where, int of_arch);
};

/// Executes one instruction that is computed, for the lanes of `active`; its guard has been applied.
void execute(WarpState& state, const Instruction& instruction, std::uint32_t active);
/// Makes places unknown for the lanes of `active`.
void forget(WarpState& state, const Places& places, std::uint32_t active);
/// What an instruction reads. `above`: the register behind it, of a pair; of a number the upper half is its sign.
Lanes operand(const WarpState& state, const Instruction& instruction, Operand which, unsigned above = 0);
/// The predicate in three bits from `first` on, negated by the bit `negation`.
inline LaneBits predicate_at(const WarpState& state, const Instruction& one, int first, int negation, bool uniform) {
  LaneBits bits = (uniform ? state.uniform_predicates : state.predicates)[one.bits(first, 3)];
  if (one.bit(negation)) bits.value = ~bits.value;
  return bits;
}
/// The lanes for which the guard in bits 12 to 15 holds.
inline LaneBits guard_of(const WarpState& state, const Instruction& one) {
  return predicate_at(state, one, 12, 15, is_uniform(one));
}

}  // namespace tailor::profiler
