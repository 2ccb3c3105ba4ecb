// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Operands and places of machine instructions. In: an instruction. Out: where its operands stand, what it reads and
// writes. Called by warp_state.cpp and warp_run.cpp.
//
// Operands stand where bits 9 to 11 say: the first is the register in bits 24 to 31; the second and the third are
// registers in 32 to 39 and 64 to 71, or one of them is a number of 32 bits (forms 4 and 2), a word of constant memory
// (5 and 3) or a uniform register (6 and 7), which stands in bits 32 to 63, and the other one is in 64 to 71.
// Operations of the uniform path have the same layout with uniform registers. Both were read off single instructions
// with the vendor's disassembler.
#include "profiler/compile/operand.h"

#include <algorithm>

namespace tailor::profiler {

unsigned plain_base(const Instruction& one) {
  const unsigned base = one.base(), plain = base - bases::uniform;
  switch (plain) {
    case bases::mov:
    case bases::vote:
    case bases::sel:
    case bases::isetp:
    case bases::iadd3:
    case bases::lea:
    case bases::lop3:
    case bases::prmt:
    case bases::shf:
    case bases::plop3:
    case bases::imad:
    case bases::imad_wide:
      return plain;
    default:
      return base;
  }
}

bool is_computed(const Instruction& one, int arch) {
  switch (plain_base(one)) {
    case bases::mov:
    case bases::sel:
    case bases::isetp:
    case bases::iadd3:
    case bases::lea:
    case bases::lop3:
    case bases::iabs:
    case bases::prmt:
    case bases::imnmx:
    case bases::shf:
    case bases::plop3:
    case bases::imad:
    case bases::imad_wide:
    case bases::imad_high:
    case bases::hfma2:
    case bases::vimnmx:
    case bases::cs2r:
    case bases::vote:
    case bases::s2r:
    case bases::s2ur:
    case bases::ldc:
    case bases::ldcu:
    case bases::uldc:
    case bases::r2ur:
    case bases::r2ur_new:
    case bases::popc:
    case bases::upopc:
    case bases::flo:
    case bases::uflo:
      return true;
    case bases::hfma2_or_iadd:
      return arch < 120 || !one.bit(73);
    case bases::viadd:
      return arch >= 90;
    default:
      return false;
  }
}

Places read_by(const Instruction& one, int arch) {
  Places places;
  const bool uniform = is_uniform(one);
  const auto add_predicate = [&](int first, bool of_uniform) {
    const unsigned number = one.bits(first, 3);
    if (number != 7) places.add((of_uniform ? first_uniform_predicate : first_predicate) + number);
  };
  const auto add_register = [&](Operand which, unsigned above = 0) {
    const Where at = where(one, which);
    const bool is_vector = at.kind == Where::Kind::vector && !uniform;
    if (at.kind == Where::Kind::number || at.kind == Where::Kind::constant) return;
    if (is_vector ? at.at == 255 : is_zero_uniform(at.at, arch)) return;
    places.add(std::min(at.at + above, 254u) + (is_vector ? 0 : first_uniform));
  };
  add_predicate(12, uniform);
  const unsigned base = plain_base(one);
  const bool no_operands = base == bases::s2r || base == bases::s2ur || base == bases::cs2r || base == bases::uldc ||
                           base == bases::uldc_too || base == bases::ldcu || base == bases::vote ||
                           base == bases::plop3;
  const bool only_second = base == bases::mov || base == bases::iabs || base == bases::popc || base == bases::upopc ||
                           base == bases::flo || base == bases::uflo;
  // Additions of two have nothing in bits 64 to 71, which is no reading of register 0.
  const bool only_two = base == bases::viadd || (base == bases::hfma2_or_iadd && arch >= 120);
  const bool only_first = base == bases::r2ur || base == bases::r2ur_new || base == bases::ldc;
  if (!no_operands) {
    if (!only_second) add_register(Operand::first);
    if (!only_first) add_register(Operand::second);
    if (!only_second && !only_first && !only_two) add_register(Operand::third);
    if (base == bases::imad_wide) add_register(Operand::third, 1);
  }
  const bool selects = base == bases::sel || base == bases::isetp || base == bases::lop3 || base == bases::plop3 ||
                       base == bases::imnmx || base == bases::vimnmx;
  if (base == bases::vote)
    add_predicate(87, false);
  else if (selects || (base == bases::iadd3 && one.bit(74)))
    add_predicate(87, uniform);
  if (base == bases::plop3 || (base == bases::iadd3 && one.bit(74))) add_predicate(77, uniform);
  if (base == bases::isetp && one.bit(72)) add_predicate(68, uniform);
  if (base == bases::plop3) add_predicate(68, uniform || one.bit(67));
  return places;
}

void add_rarely_written(Places& places, const Instruction& one, const Operation* operation, int arch) {
  const Writes writes = operation == nullptr ? Writes::four : operation->writes;
  const unsigned number = one.bits(16, 8), size = one.bits(73, 3);
  unsigned count = writes == Writes::none ? 0 : writes == Writes::two ? 2 : writes == Writes::four ? 4 : 1;
  if (writes == Writes::sized || writes == Writes::uniform)
    count = std::max(count, size == 5 ? 2u : size == 6 ? 4u : 1u);
  if (one.base() == bases::uniform + bases::imad_wide) count = 2;
  if (writes == Writes::none) count = 0;
  const bool to_uniform = writes == Writes::uniform;
  const bool discards = to_uniform ? is_zero_uniform(number, arch) : number == 255;
  for (unsigned i = 0; i < count && !discards && number + i < 255; ++i)
    places.add(number + i + (to_uniform ? first_uniform : 0));
  const int predicates = operation == nullptr ? 2 : operation->predicates;
  const unsigned first = is_uniform(one) ? first_uniform_predicate : first_predicate;
  if (predicates > 0 && one.bits(81, 3) != 7) places.add(first + one.bits(81, 3));
  if (predicates > 1 && one.bits(84, 3) != 7) places.add(first + one.bits(84, 3));
  if (one.base() == bases::r2p)
    for (unsigned i = 0; i < 7; ++i) places.add(first_predicate + i);
}

Places conditions_of(const Instruction& one) {
  Places places;
  const auto add = [&](int first, unsigned from) {
    if (one.bits(first, 3) != 7) places.add(from + one.bits(first, 3));
  };
  add(12, is_uniform(one) ? first_uniform_predicate : first_predicate);
  const unsigned at = one.base();
  if (at == bases::bra || at == bases::exit || at == bases::bsync) add(87, first_predicate);
  if (is_uniform_branch(one)) add(24, first_uniform_predicate);
  return places;
}

}  // namespace tailor::profiler
