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
inline bool is_uniform_place(unsigned place) {
  return (place >= first_uniform && place < first_predicate) || place >= first_uniform_predicate;
}
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
void add_rarely_written(Places& places, const Instruction& instruction, const Operation* operation, int arch);
/// One register, and no predicate.
inline bool writes_one(const Operation* operation) {
  return operation != nullptr && operation->writes == Writes::one && operation->predicates == 0;
}
inline void add_written(Places& places, const Instruction& one, const Operation* operation, int arch) {
  if (!writes_one(operation)) return add_rarely_written(places, one, operation, arch);
  if (one.bits(16, 8) != 255) places.add(one.bits(16, 8));
}
/// The predicates on which it depends whether an instruction happens, and where a branch goes.
Places conditions_of(const Instruction& instruction);

/// Reads uniform registers. R2UR and CREDUX take vector registers to uniform ones.
inline bool is_uniform(const Instruction& one) {
  const unsigned at = one.base();
  return at >= bases::uniform && at < 0x100 && at != bases::r2ur_new && at != bases::credux;
}
inline bool writes_uniform(const Instruction& one) {
  const unsigned at = one.base();
  return (at >= bases::uniform && at < 0x100) || at == bases::ldcu || at == bases::r2ur || at == bases::s2ur ||
         at == bases::redux;
}
/// The operation without the mark of the uniform path.
unsigned plain_base(const Instruction& instruction);
/// Whether a uniform register reads as zero: the last one, of 64 before sm_100 and of 256 since.
inline bool is_zero_uniform(unsigned number, int arch) {
  return arch < wide_uniform_arch ? (number & 63) == 63 : number == 255;
}

enum class Operand { first, second, third };

struct Where {
  enum class Kind { vector, uniform, number, constant } kind = Kind::vector;
  unsigned at = 0;  ///< a register, a number, or the offset in the bank
  unsigned bank = 0;
  bool low_half = true;  ///< in bits 32 to 63, with its signs in 62 and 63
};
inline Where where(const Instruction& one, Operand which) {
  const unsigned form = one.form();
  if (which == Operand::first) return {Where::Kind::vector, one.bits(24, 8), 0, false};
  const bool second = which == Operand::second;
  // Forms 2, 3 and 7 have the third operand in the low half and the second one above.
  const bool swapped = form == 2 || form == 3 || form == 7;
  if (second == swapped) return {Where::Kind::vector, one.bits(64, 8), 0, false};
  if (form == 2 || form == 4) return {Where::Kind::number, one.bits(32, 32), 0, true};
  if (form == 3 || form == 5) return {Where::Kind::constant, one.bits(38, 16), one.bits(54, 5), true};
  if (form == 6 || form == 7) return {Where::Kind::uniform, one.bits(32, 8), 0, true};
  return {Where::Kind::vector, one.bits(32, 8), 0, true};
}
/// Which bit negates an operand: of the first 72; of the others 63 in the lower half and 75 above. Numbers have none.
inline bool is_negated(const Instruction& one, Operand which) {
  if (which == Operand::first) return one.bit(72);
  const Where at = where(one, which);
  return at.kind != Where::Kind::number && (at.low_half ? one.bit(63) : one.bit(75));
}

}  // namespace tailor::profiler
