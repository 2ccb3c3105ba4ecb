// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the operands of a machine instruction stand, and which registers and predicates it reads and writes. In: an
// instruction. Out: places. Called by warp_state.cpp, which computes, and by warp_run.cpp, which chooses what to
// compute.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/compile/operation.h"

namespace tailor::profiler {

/// What an instruction reads or writes, as numbers of places: registers from 0, uniform ones from 256, predicates from
/// 512, uniform ones from 520.
inline constexpr unsigned first_uniform = 256, first_predicate = 512, first_uniform_predicate = 520, place_count = 528;
struct Places {
  std::array<std::uint16_t, 14> at{};
  unsigned count = 0;

  void add(unsigned place) { at[count++] = static_cast<std::uint16_t>(place); }
  const std::uint16_t* begin() const { return at.data(); }
  const std::uint16_t* end() const { return at.data() + count; }
};
inline constexpr std::uint32_t all_lanes = 0xffffffff;

/// Whether an operation is computed. Others only make what they write unknown.
bool is_computed(const Instruction& instruction, int arch);
/// What an instruction of the slice reads, and what any writes.
Places read_by(const Instruction& instruction, int arch);
Places written_by(const Instruction& instruction, const Operation* operation, int arch);
/// The predicates on which it depends whether an instruction happens, and where a branch goes.
Places conditions_of(const Instruction& instruction);

/// Reads uniform registers. R2UR and CREDUX take vector registers to uniform ones.
bool is_uniform(const Instruction& instruction);
bool writes_uniform(const Instruction& instruction);
/// The operation without the mark of the uniform path.
unsigned plain_base(const Instruction& instruction);
/// Whether a uniform register reads as zero: the last one, of 64 before sm_100 and of 256 since.
bool is_zero_uniform(unsigned number, int arch);

enum class Operand { first, second, third };

struct Where {
  enum class Kind { vector, uniform, number, constant } kind = Kind::vector;
  unsigned at = 0;  ///< a register, a number, or the offset in the bank
  unsigned bank = 0;
  bool low_half = true;  ///< in bits 32 to 63, with its signs in 62 and 63
};
Where where(const Instruction& instruction, Operand which);
/// Which bit negates an operand: of the first 72; of the others 63 in the lower half and 75 above. Numbers have none.
bool is_negated(const Instruction& instruction, Operand which);

}  // namespace tailor::profiler
