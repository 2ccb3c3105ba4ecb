// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of the machine's instruction set on which control flow rests, executed for 32 lanes. In: an instruction and
// the state of a warp. Out: the state after it. Called by warp_run.cpp.
//
// Which bits hold modifiers was read off single instructions with the vendor's disassembler; the comments name them. A
// modifier that is not listed here makes the result unknown, never wrong.
#include "profiler/compile/warp_state.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/indexed.h"

namespace tailor::profiler {

namespace {

Lanes broadcast(std::uint32_t value) {
  Lanes lanes;
  lanes.value.fill(value);
  lanes.known = all_lanes;
  return lanes;
}

/// Nothing is known; values are left as they come.
Lanes unknown() {
  Lanes lanes;
  return lanes;
}

Lanes uniform_register(const WarpState& state, unsigned number) {
  return is_zero_uniform(number, state.arch) ? broadcast(0) : state.uniform.at(number);
}

/// Words of constant bank 0 that the driver fills: extents of the block, then of the grid.
Lanes constant(const WarpState& state, unsigned bank, unsigned offset) {
  const unsigned block = state.arch < wide_uniform_arch ? 0x0 : 0x360,
                 grid = block + (state.arch < wide_uniform_arch ? 12 : 16);
  if (bank != 0) return unknown();
  for (unsigned i = 0; i < 3; ++i) {
    if (offset == block + 4 * i) return broadcast(state.place.block[i]);
    if (offset == grid + 4 * i) return broadcast(state.place.grid[i]);
  }
  return unknown();
}

}  // namespace

Lanes operand(const WarpState& state, const Instruction& one, Operand which, unsigned above) {
  const Where at = where(one, which);
  switch (at.kind) {
    case Where::Kind::number:
      return broadcast(above == 0 ? at.at : at.at >> 31 == 0 ? 0 : ~0u);
    case Where::Kind::constant:
      return constant(state, at.bank, at.at + 4 * above);
    case Where::Kind::uniform:
      return is_zero_uniform(at.at, state.arch) ? broadcast(0) : uniform_register(state, std::min(at.at + above, 255u));
    case Where::Kind::vector:
      break;
  }
  if (is_uniform(one))
    return is_zero_uniform(at.at, state.arch) ? broadcast(0) : uniform_register(state, std::min(at.at + above, 255u));
  return at.at == 255 ? broadcast(0) : state.registers.at(std::min(at.at + above, 255u));
}

namespace {

/// An operand where it stands; what stands nowhere is written to `room` first.
struct View {
  const std::array<std::uint32_t, 32>& value;
  std::uint32_t known = 0;
};
View view(const WarpState& state, const Instruction& one, Operand which, Lanes& room) {
  const Where at = where(one, which);
  if (at.kind == Where::Kind::vector && at.at != 255 && !is_uniform(one))
    return {state.registers.values[at.at], state.registers.known[at.at]};
  room = operand(state, one, which);
  return {room.value, room.known};
}

void put(WarpState& state, const Instruction& one, const Lanes& result, std::uint32_t active, unsigned above = 0) {
  const unsigned number = one.bits(16, 8);
  if (writes_uniform(one)) {
    if (is_zero_uniform(number, state.arch) || number + above > 254) return;
    const int lane = active == 0 ? 0 : std::countr_zero(active);
    state.uniform.values[number + above].fill(result.value[static_cast<std::size_t>(lane)]);
    state.uniform.known[number + above] = (result.known >> lane & 1) != 0 ? all_lanes : 0;
    return;
  }
  if (number == 255 || number + above > 254) return;
  std::array<std::uint32_t, 32>& to = state.registers.values[number + above];
  std::uint32_t& known = state.registers.known[number + above];
  if (active == all_lanes)
    to = result.value;
  else
    for (std::size_t i = 0; i < 32; ++i) to[i] = (active >> i & 1) != 0 ? result.value[i] : to[i];
  known = (known & ~active) | (result.known & active);
}

void put_predicate(WarpState& state, const Instruction& one, int first, const LaneBits& result, std::uint32_t active) {
  const unsigned number = one.bits(first, 3);
  if (number == 7) return;
  const bool uniform = is_uniform(one);
  LaneBits& to = (uniform ? state.uniform_predicates : state.predicates)[number];
  if (uniform) {
    const int lane = active == 0 ? 0 : std::countr_zero(active);
    to.value = (result.value >> lane & 1) != 0 ? all_lanes : 0;
    to.known = (result.known >> lane & 1) != 0 ? all_lanes : 0;
    return;
  }
  to.value = (to.value & ~active) | (result.value & active);
  to.known = (to.known & ~active) | (result.known & active);
}

template <class Function>
Lanes each(const Lanes& a, const Lanes& b, const Lanes& c, Function&& function) {
  Lanes result;
  for (std::size_t i = 0; i < 32; ++i) result.value[i] = function(a.value[i], b.value[i], c.value[i]);
  result.known = a.known & b.known & c.known;
  return result;
}

std::uint32_t bit_of(const LaneBits& bits, std::size_t lane) { return bits.value >> lane & 1; }

/// A bit for each lane out of a 0 or 1 for each: eight at a time, each moved to its place by a product. The first of
/// eight is the lowest byte, as in the code that is read.
std::uint32_t packed(const std::array<std::uint8_t, 32>& flags) {
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 32; i += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, flags.data() + i, sizeof eight);
    bits |= static_cast<std::uint32_t>(eight * 0x0102040810204080u >> 56) << i;
  }
  return bits;
}

/// An operand with its sign; with a carry to come, minus is only the complement.
Lanes signed_operand(const WarpState& state, const Instruction& one, Operand which, bool complement = false) {
  Lanes lanes = operand(state, one, which);
  if (is_negated(one, which))
    for (std::uint32_t& value : lanes.value) value = complement ? ~value : 0 - value;
  return lanes;
}

/// IADD3: bit 74 adds the carries in 87 to 90 and 77 to 80; carries out go to 81 and 84. Those of negated operands are
/// not computed.
void add_three(WarpState& state, const Instruction& one, std::uint32_t active) {
  const bool extended = one.bit(74), uniform = is_uniform(one);
  const bool signs =
      is_negated(one, Operand::first) || is_negated(one, Operand::second) || is_negated(one, Operand::third);
  if (!extended && !signs && one.bits(81, 3) == 7 && one.bits(84, 3) == 7) {
    Lanes rooms[3];
    const View a = view(state, one, Operand::first, rooms[0]), b = view(state, one, Operand::second, rooms[1]),
               c = view(state, one, Operand::third, rooms[2]);
    Lanes sum;
    for (std::size_t i = 0; i < 32; ++i) sum.value[i] = a.value[i] + b.value[i] + c.value[i];
    sum.known = a.known & b.known & c.known;
    return put(state, one, sum, active);
  }
  const Lanes a = signed_operand(state, one, Operand::first, extended);
  const Lanes b = signed_operand(state, one, Operand::second, extended);
  const Lanes c = signed_operand(state, one, Operand::third, extended);
  LaneBits in{0, all_lanes}, more{0, all_lanes};
  if (extended) {
    in = predicate_at(state, one, 87, 90, uniform);
    more = predicate_at(state, one, 77, 80, uniform);
  }
  Lanes sum;
  LaneBits carry, second;
  const bool carries = one.bits(81, 3) != 7 || one.bits(84, 3) != 7;
  if (!extended && !carries) {
    for (std::size_t i = 0; i < 32; ++i) sum.value[i] = a.value[i] + b.value[i] + c.value[i];
  } else {
    std::array<std::uint8_t, 32> above{}, far_above{};
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint64_t all = std::uint64_t{a.value[i]} + b.value[i] + c.value[i] + bit_of(in, i) + bit_of(more, i);
      sum.value[i] = static_cast<std::uint32_t>(all);
      above[i] = static_cast<std::uint8_t>((all >> 32) != 0);
      far_above[i] = static_cast<std::uint8_t>((all >> 32) > 1);
    }
    carry.value = packed(above);
    second.value = packed(far_above);
  }
  sum.known = a.known & b.known & c.known & in.known & more.known;
  carry.known = second.known = signs ? 0 : sum.known;
  put(state, one, sum, active);
  put_predicate(state, one, 81, carry, active);
  put_predicate(state, one, 84, second, active);
}

/// LEA: (first << shift in 75 to 79) + second; with bit 80 the upper half of (third : first) << shift, where bit 73
/// takes the first's sign in the place of the third. Sign of the second: 63. A negated first (72) and a carry (74),
/// which addresses of 64 bits have, are not computed.
void shift_and_add(WarpState& state, const Instruction& one, std::uint32_t active) {
  const unsigned shift = one.bits(75, 5);
  const bool high = one.bit(80), extends = one.bit(73);
  Lanes result;
  if (!one.bit(74) && !one.bit(72)) {
    const Lanes a = operand(state, one, Operand::first);
    Lanes b = operand(state, one, Operand::second);
    if (where(one, Operand::second).kind != Where::Kind::number && one.bit(63))
      for (std::uint32_t& value : b.value) value = 0 - value;
    const Lanes c = high && !extends ? operand(state, one, Operand::third) : broadcast(0);
    result = each(a, b, c, [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) {
      const std::uint32_t above = extends && x >> 31 != 0 ? ~0u : z;
      const std::uint64_t wide = (std::uint64_t{above} << 32 | x) << shift;
      return (high ? static_cast<std::uint32_t>(wide >> 32) : static_cast<std::uint32_t>(wide)) + y;
    });
  }
  put(state, one, result, active);
  put_predicate(state, one, 81, {}, active);
}

std::uint32_t looked_up(unsigned table, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  if ((table & 0x01) != 0) result |= ~a & ~b & ~c;
  if ((table & 0x02) != 0) result |= ~a & ~b & c;
  if ((table & 0x04) != 0) result |= ~a & b & ~c;
  if ((table & 0x08) != 0) result |= ~a & b & c;
  if ((table & 0x10) != 0) result |= a & ~b & ~c;
  if ((table & 0x20) != 0) result |= a & ~b & c;
  if ((table & 0x40) != 0) result |= a & b & ~c;
  if ((table & 0x80) != 0) result |= a & b & c;
  return result;
}

/// LOP3: a table of eight bits in 72 to 79. The predicate at 81 says whether the result, or the predicate in 87 to 90,
/// is not zero; with bit 80 both.
void logic(WarpState& state, const Instruction& one, std::uint32_t active) {
  const unsigned table = one.bits(72, 8);
  Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second),
        c = operand(state, one, Operand::third);
  // An operand that the table does not ask for need not be known.
  if (((table ^ table >> 4) & 0x0f) == 0) a.known = all_lanes;
  if (((table ^ table >> 2) & 0x33) == 0) b.known = all_lanes;
  if (((table ^ table >> 1) & 0x55) == 0) c.known = all_lanes;
  const Lanes result =
      each(a, b, c, [&](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return looked_up(table, x, y, z); });
  std::array<std::uint8_t, 32> not_zero{};
  for (std::size_t i = 0; i < 32; ++i) not_zero[i] = static_cast<std::uint8_t>(result.value[i] != 0);
  LaneBits some{packed(not_zero), 0};
  const LaneBits with = predicate_at(state, one, 87, 90, is_uniform(one));
  some.value = one.bit(80) ? some.value & with.value : some.value | with.value;
  some.known = result.known & with.known;
  put(state, one, result, active);
  put_predicate(state, one, 81, some, active);
}

/// Three-valued: one side alone may decide. `how`: and, or, exclusive or.
LaneBits joined(const LaneBits& a, const LaneBits& b, unsigned how) {
  const std::uint32_t both = a.known & b.known;
  if (how == 0) return {a.value & b.value, both | (a.known & ~a.value) | (b.known & ~b.value)};
  if (how == 1) return {(a.value & a.known) | (b.value & b.known), both | (a.known & a.value) | (b.known & b.value)};
  return {a.value ^ b.value, both};
}

/// ISETP: which of less, equal, greater in 76 to 78, signed by 73; bit 72 goes on from the comparison of the lower
/// halves in 68 to 71; joined with the predicate in 87 to 90 by 74 and 75.
void compare(WarpState& state, const Instruction& one, std::uint32_t active) {
  const bool uniform = is_uniform(one), extended = one.bit(72);
  // An exclusive or with the sign makes the unsigned comparison a signed one.
  const std::uint32_t flip = one.bit(73) ? 0x80000000u : 0;
  Lanes rooms[2];
  const View a = view(state, one, Operand::first, rooms[0]), b = view(state, one, Operand::second, rooms[1]);
  const LaneBits lower = extended ? predicate_at(state, one, 68, 71, uniform) : LaneBits{};
  const unsigned how = one.bits(76, 3);
  constexpr unsigned less = 1, equal = 2, greater = 4;
  std::array<std::uint8_t, 32> is_less{}, is_equal{};
  for (std::size_t i = 0; i < 32; ++i) {
    is_less[i] = static_cast<std::uint8_t>((a.value[i] ^ flip) < (b.value[i] ^ flip));
    is_equal[i] = static_cast<std::uint8_t>(a.value[i] == b.value[i]);
  }
  const std::uint32_t lesser = packed(is_less), equals = packed(is_equal);
  LaneBits holds;
  if ((how & less) != 0) holds.value |= lesser;
  if ((how & equal) != 0) holds.value |= equals;
  if ((how & greater) != 0) holds.value |= ~(lesser | equals);
  holds.known = how == 0 || how == 7 ? all_lanes : a.known & b.known;
  if (extended) {
    holds.value = (holds.value & ~equals) | (lower.value & equals);
    holds.known &= lower.known | ~equals;
  }
  const LaneBits with = predicate_at(state, one, 87, 90, uniform);
  put_predicate(state, one, 81, joined(holds, with, one.bits(74, 2)), active);
  put_predicate(state, one, 84, joined({~holds.value, holds.known}, with, one.bits(74, 2)), active);
}

/// PLOP3: predicates in 87 to 90, 77 to 80 and 68 to 71 by the table in 72 to 76 (upper bits) and 64 to 66; the second
/// table, in 16 to 23, makes the second result. Bit 67 says that the third one is uniform.
void predicate_logic(WarpState& state, const Instruction& one, std::uint32_t active) {
  const bool uniform = is_uniform(one);
  const LaneBits a = predicate_at(state, one, 87, 90, uniform), b = predicate_at(state, one, 77, 80, uniform);
  const LaneBits c = predicate_at(state, one, 68, 71, uniform || one.bit(67));
  const auto result = [&](unsigned table) {
    LaneBits bits{0, a.known & b.known & c.known};
    // Known also where each value that an unknown side may have gives the same.
    const std::uint32_t low = looked_up(table, a.value & a.known, b.value & b.known, c.value & c.known);
    const std::uint32_t high = looked_up(table, a.value | ~a.known, b.value | ~b.known, c.value | ~c.known);
    bits.value = low;
    const int unknowns = (a.known != all_lanes) + (b.known != all_lanes) + (c.known != all_lanes);
    if (unknowns == 1) bits.known = ~(low ^ high);
    return bits;
  };
  put_predicate(state, one, 81, result(one.bits(72, 5) << 3 | one.bits(64, 3)), active);
  put_predicate(state, one, 84, result(one.bits(16, 8)), active);
}

/// IMAD: first * second + third; WIDE gives 64 bits, HIGH the upper half of the product. Signed by 73; the third is
/// negated by 75, a carry of 74 is not computed.
void multiply_add(WarpState& state, const Instruction& one, std::uint32_t active) {
  const unsigned base = plain_base(one);
  const bool is_signed = one.bit(73);
  const bool signs = is_negated(one, Operand::first) || is_negated(one, Operand::second);
  const bool minus = is_negated(one, Operand::third);
  Lanes low, high;
  if (!signs && !one.bit(74)) {
    const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
    const Lanes c = operand(state, one, Operand::third);
    const Lanes above = base == bases::imad_wide ? operand(state, one, Operand::third, 1) : broadcast(0);
    const auto wide = [&](std::uint32_t x) {
      return is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(x)}) : std::uint64_t{x};
    };
    for (std::size_t i = 0; i < 32; ++i) {
      const std::uint64_t product = wide(a.value[i]) * wide(b.value[i]);
      std::uint64_t addend = std::uint64_t{above.value[i]} << 32 | c.value[i];
      if (minus) addend = 0 - addend;
      const std::uint64_t sum = (base == bases::imad_high ? product >> 32 : product) + addend;
      low.value[i] = static_cast<std::uint32_t>(sum);
      high.value[i] = static_cast<std::uint32_t>(sum >> 32);
    }
    // A product with a known zero is known.
    std::uint32_t zero = 0;
    for (std::size_t i = 0; i < 32 && (a.known & b.known) != all_lanes; ++i) {
      const bool none = ((a.known >> i & 1) != 0 && a.value[i] == 0) || ((b.known >> i & 1) != 0 && b.value[i] == 0);
      zero |= static_cast<std::uint32_t>(none) << i;
    }
    for (std::size_t i = 0; i < 32 && zero != 0; ++i)
      if ((zero >> i & 1) != 0 && base == bases::imad) low.value[i] = minus ? 0 - c.value[i] : c.value[i];
    low.known = ((a.known & b.known) | (base == bases::imad ? zero : 0)) & c.known;
    high.known = a.known & b.known & c.known & above.known;
  }
  put(state, one, low, active);
  if (base == bases::imad_wide) put(state, one, high, active, 1);
  put_predicate(state, one, 81, {}, active);
}

/// SHF: (third : first) by the second. Kind of number in 73 and 74 (0 and 1: 64 bits), 75 wraps the distance, 76 to the
/// right, 80 the upper half.
void funnel_shift(WarpState& state, const Instruction& one, std::uint32_t active) {
  const bool right = one.bit(76), high = one.bit(80), wraps = one.bit(75);
  const bool is_signed = one.bits(73, 2) == 0 || one.bits(73, 2) == 2, wide = one.bits(73, 2) < 2;
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const Lanes c = operand(state, one, Operand::third);
  const unsigned most = wide ? 64 : 32;
  const Lanes result = each(a, b, c, [&](std::uint32_t x, std::uint32_t distance, std::uint32_t z) -> std::uint32_t {
    const std::uint64_t both = std::uint64_t{z} << 32 | x;
    const unsigned by = wraps ? distance & (most - 1) : std::min(distance, most);
    std::uint64_t moved = 0;
    if (!right)
      moved = by >= 64 ? 0 : both << by;
    else if (is_signed)
      moved = static_cast<std::uint64_t>(static_cast<std::int64_t>(both) >> std::min(by, 63u));
    else
      moved = by >= 64 ? 0 : both >> by;
    return static_cast<std::uint32_t>(high ? moved >> 32 : moved);
  });
  put(state, one, result, active);
}

/// PRMT without a mode (72 to 74): four bytes out of eight, each by four bits of the second operand; 8 copies the sign.
Lanes permuted(const WarpState& state, const Instruction& one) {
  if (one.bits(72, 3) != 0) return unknown();
  return each(operand(state, one, Operand::first), operand(state, one, Operand::second),
              operand(state, one, Operand::third), [](std::uint32_t x, std::uint32_t choice, std::uint32_t y) {
                const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
                std::uint32_t out = 0;
                for (unsigned k = 0; k < 4; ++k) {
                  const unsigned one_choice = choice >> 4 * k & 0xf;
                  auto byte = static_cast<std::uint32_t>(bytes >> 8 * (one_choice & 7) & 0xff);
                  if ((one_choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
                  out |= byte << 8 * k;
                }
                return out;
              });
}

Lanes selected(const Lanes& a, const Lanes& b, const LaneBits& first) {
  Lanes result;
  for (std::size_t i = 0; i < 32; ++i) result.value[i] = (first.value >> i & 1) != 0 ? a.value[i] : b.value[i];
  std::uint32_t same = 0;
  for (std::size_t i = 0; i < 32; ++i) same |= static_cast<std::uint32_t>(a.value[i] == b.value[i]) << i;
  result.known = (first.known & ((first.value & a.known) | (~first.value & b.known))) | (a.known & b.known & same);
  return result;
}

/// IMNMX and VIMNMX: the lesser where the predicate in 87 to 90 holds. `sign`: the bit that makes them signed.
Lanes lesser_or_greater(const WarpState& state, const Instruction& one, int sign) {
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const LaneBits lesser = predicate_at(state, one, 87, 90, is_uniform(one));
  const std::uint32_t flip = one.bit(sign) ? 0x80000000u : 0;
  Lanes result;
  for (std::size_t i = 0; i < 32; ++i) {
    const bool below = (a.value[i] ^ flip) < (b.value[i] ^ flip);
    result.value[i] = below == (bit_of(lesser, i) != 0) ? a.value[i] : b.value[i];
  }
  result.known = a.known & b.known & lesser.known;
  return result;
}

/// S2R and S2UR: the special register in 72 to 79.
Lanes special(const WarpState& state, const Instruction& one) {
  constexpr unsigned lane_id = 0x00, thread = 0x21, block = 0x25, below = 0x39;
  const unsigned which = one.bits(72, 8);
  const WarpPlace& at = state.place;
  Lanes result;
  if (which >= block && which < block + 3) return broadcast(at.index[which - block]);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t flat = at.warp * 32 + i;
    const std::array<std::uint32_t, 3> thread_index = {flat % at.block[0], flat / at.block[0] % at.block[1],
                                                       flat / (at.block[0] * at.block[1])};
    if (which == lane_id) result.value[i] = i;
    if (which == below) result.value[i] = (std::uint32_t{1} << i) - 1;
    if (which >= thread && which < thread + 3) result.value[i] = thread_index[which - thread];
  }
  result.known = which == lane_id || which == below || (which >= thread && which < thread + 3) ? all_lanes : 0;
  return result;
}

/// LDC, ULDC, LDCU: as many words as bits 73 to 75 say (4: one, 5: two, 6: four), of a bank in 54 to 58, at the bytes
/// in 38 to 53, of LDCU in 37 to 53. Not computed where a register in 24 to 31 is added.
void load_constant(WarpState& state, const Instruction& one, std::uint32_t active) {
  const unsigned size = one.bits(73, 3), words = size == 5 ? 2 : size == 6 ? 4 : 1, index = one.bits(24, 8);
  const bool fixed = one.base() == bases::uldc || one.base() == bases::uldc_too ||
                     (one.base() == bases::ldc ? index == 255 : is_zero_uniform(index, state.arch));
  const unsigned at = one.base() == bases::ldcu ? one.bits(37, 17) : one.bits(38, 16);
  for (unsigned i = 0; i < words; ++i)
    put(state, one, fixed && size >= 4 ? constant(state, one.bits(54, 5), at + 4 * i) : unknown(), active, i);
}

/// VOTE: whether all lanes (72 and 73: 0), or any (1), have the predicate in 87 to 90; the register gets which.
void vote(WarpState& state, const Instruction& one, std::uint32_t active) {
  const LaneBits asked = predicate_at(state, one, 87, 90, false);
  const unsigned how = one.bits(72, 2);
  const bool known = (asked.known & active) == active;
  const std::uint32_t have = asked.value & active;
  const bool holds = how == 0 ? have == active : how == 1 ? have != 0 : have == active || have == 0;
  Lanes ballot = broadcast(have);
  ballot.known = known ? all_lanes : 0;
  put(state, one, ballot, active);
  // Any lane that is known to have it decides `any`, one that is known not to have it `all`.
  bool told = known, answer = holds;
  if (how == 1 && (have & asked.known) != 0) told = answer = true;
  put_predicate(state, one, 81, {answer ? all_lanes : 0, told ? all_lanes : 0}, active);
}

/// FLO: the place of the highest bit that is set, all ones for none. Not computed: of signed numbers (73), and as a
/// distance to shift by (74).
Lanes highest_bit(const WarpState& state, const Instruction& one) {
  if (one.bit(73) || one.bit(74)) return unknown();
  const Lanes of = operand(state, one, Operand::second);
  return each(of, of, of, [](std::uint32_t x, std::uint32_t, std::uint32_t) {
    return static_cast<std::uint32_t>(31 - std::countl_zero(x));
  });
}

/// IADD of sm_120 and VIADD: first + second; bit 73 says 64 bits, which are not computed. Signs: 72, 63.
Lanes add_two(const WarpState& state, const Instruction& one) {
  return each(signed_operand(state, one, Operand::first), signed_operand(state, one, Operand::second), broadcast(0),
              [](std::uint32_t x, std::uint32_t y, std::uint32_t) { return x + y; });
}

/// HFMA2 with two zeros as factors moves the number that it adds.
Lanes half_constant(const WarpState& state, const Instruction& one) {
  const bool zeros = one.form() == 2 && one.bits(24, 8) == 255 && one.bits(64, 8) == 255;
  return zeros ? operand(state, one, Operand::third) : unknown();
}

}  // namespace

WarpState::WarpState() { start({}, 0); }

void WarpState::start(const WarpPlace& where, int of_arch) {
  registers.known.fill(0);
  uniform.known.fill(0);
  for (LaneBits& bits : predicates) bits = {};
  for (LaneBits& bits : uniform_predicates) bits = {};
  registers.values[255].fill(0);
  registers.known[255] = all_lanes;
  predicates[7] = uniform_predicates[7] = {all_lanes, all_lanes};
  place = where;
  arch = of_arch;
}

void forget(WarpState& state, const Places& places, std::uint32_t active) {
  for (const unsigned place : places) {
    if (place < first_uniform)
      state.registers.known[place] &= ~active;
    else if (place < first_predicate)
      state.uniform.known[place - first_uniform] = 0;
    else if (place < first_uniform_predicate)
      state.predicates[place - first_predicate].known &= ~active;
    else
      state.uniform_predicates[place - first_uniform_predicate].known = 0;
  }
}

namespace {

/// The result of an operation that writes one register and nothing else.
Lanes value_of(const WarpState& state, const Instruction& one) {
  switch (plain_base(one)) {
    case bases::mov:
      return operand(state, one, Operand::second);
    case bases::sel:
      return selected(operand(state, one, Operand::first), operand(state, one, Operand::second),
                      predicate_at(state, one, 87, 90, is_uniform(one)));
    case bases::iabs:
    case bases::popc:
    case bases::upopc: {
      const Lanes of = operand(state, one, Operand::second);
      const bool counts = plain_base(one) != bases::iabs;
      return each(of, of, of, [&](std::uint32_t x, std::uint32_t, std::uint32_t) {
        return counts ? static_cast<std::uint32_t>(std::popcount(x)) : x >> 31 != 0 ? 0 - x : x;
      });
    }
    case bases::prmt:
      return permuted(state, one);
    case bases::imnmx:
      return lesser_or_greater(state, one, 73);
    case bases::vimnmx:
      return lesser_or_greater(state, one, 72);
    case bases::hfma2:
      return half_constant(state, one);
    case bases::hfma2_or_iadd:
      return state.arch < 120 ? half_constant(state, one) : add_two(state, one);
    case bases::viadd:
      return add_two(state, one);
    case bases::flo:
    case bases::uflo:
      return highest_bit(state, one);
    case bases::s2r:
    case bases::s2ur:
      return special(state, one);
    case bases::r2ur:
    case bases::r2ur_new:
      return operand(state, one, Operand::first);
    default:
      return unknown();
  }
}

}  // namespace

void execute(WarpState& state, const Instruction& one, std::uint32_t active) {
  switch (plain_base(one)) {
    case bases::isetp:
      return compare(state, one, active);
    case bases::iadd3:
      return add_three(state, one, active);
    case bases::lea:
      return shift_and_add(state, one, active);
    case bases::lop3:
      return logic(state, one, active);
    case bases::shf:
      return funnel_shift(state, one, active);
    case bases::plop3:
      return predicate_logic(state, one, active);
    case bases::imad:
    case bases::imad_wide:
    case bases::imad_high:
      return multiply_add(state, one, active);
    case bases::vote:
      return vote(state, one, active);
    case bases::ldc:
    case bases::ldcu:
    case bases::uldc:
      return load_constant(state, one, active);
    case bases::cs2r: {
      const Lanes zero = one.bits(72, 8) == 0xff ? broadcast(0) : unknown();
      put(state, one, zero, active);
      return put(state, one, zero, active, 1);
    }
    case bases::vimnmx:
      put_predicate(state, one, 81, {}, active);
      break;
    default:
      break;
  }
  put(state, one, value_of(state, one), active);
}

}  // namespace tailor::profiler
