// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a warp holds as a function of its block's number and of its own. In: instructions. Out: forms of places, and how
// far the way holds. Called through reach.h.
//
// The number of a block and that of a warp are variables, as that of a trip is one in trip.cpp. Where a warp b blocks
// and w warps further on has gone the same way so far, a register holds a + p b + q w there, with the same p and q for
// all lanes: thread indices rise by 32 from warp to warp, block indices by 1 from block to block. Warps are numbered by
// groups where rows of several warps repeat: the lower bits of a thread's index are then those of the warp in its row.
// Sums, differences, products with what is the same everywhere and shifts keep that form modulo 2^32. What reads a
// number as a whole one (a comparison, a carry, a shift to the right, the lower bits) keeps it as long as the number
// passes no border: an inequality, linear in b and w, for each lane. It cuts off a part of the rectangle of warps for
// which the run stands: blocks, where warps of the same block satisfy it, else warps. All else is wild. A way that
// depends on something wild holds for no other block, or no other warp.
//
// So what is said of another warp is an induction over the instructions and no sample. Two things need care. Trips of
// loops that are left out must go the same way there. The forms at the loop's head are asked to be the same from trip
// to trip, so a number is a + d t + p b + q w in trip t, a border that is not passed in the first and in the last of
// them, which are executed, is passed in none between; and a product of what changes with the trip and what changes
// with the block is wild, for it has no such form. And whether a value is known may depend on another value (a product
// with zero, a choice between equals), so there all must be known.
#include "profiler/compile/reach.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace tailor::profiler {

namespace {

constexpr std::size_t by_blocks = 0, by_groups = 1, by_warps = 2;
constexpr std::array axes = {by_blocks, by_groups, by_warps};

/// Wild wherever one of both moves.
PlaceForm wild_where(const PlaceForm& one, const PlaceForm& other = {}) {
  PlaceForm form;
  for (const std::size_t axis : axes)
    form.wild[axis] = (one.by[axis] | one.wild[axis] | other.by[axis] | other.wild[axis]) != 0 ? all_lanes : 0;
  return form;
}

PlaceForm sum_of(const PlaceForm& a, const PlaceForm& b) {
  PlaceForm form;
  for (const std::size_t axis : axes) {
    form.by[axis] = a.by[axis] + b.by[axis];
    form.wild[axis] = a.wild[axis] | b.wild[axis];
  }
  return form;
}

PlaceForm times(PlaceForm form, std::uint32_t factor) {
  for (std::uint32_t& by : form.by) by *= factor;
  return form;
}

std::uint32_t wild_everywhere(const PlaceForm& form) { return form.wild[0] & form.wild[1] & form.wild[2]; }

std::int64_t step_of(std::uint32_t by) { return static_cast<std::int32_t>(by); }

/// Of lanes that are all wild no step is known, so none is kept inside of anything.
std::int64_t step_in(const PlaceForm& form, std::size_t axis, std::uint32_t lanes) {
  return (form.wild[axis] & lanes) == lanes ? 0 : step_of(form.by[axis]);
}

constexpr std::uint32_t sign_bit = 0x80000000u;

/// A number for each lane with the lane's bit: a test of these is one of all lanes at once, which a shift by the lane
/// is not.
constexpr auto lane_bits = [] {
  std::array<std::uint32_t, 32> bits{};
  for (std::size_t i = 0; i < 32; ++i) bits[i] = std::uint32_t{1} << i;
  return bits;
}();

/// A value that all lanes of a mask know and have in common.
bool is_common(const Lanes& lanes, std::uint32_t mask) {
  if ((lanes.known & mask) != mask) return false;
  const std::uint32_t first = lanes.value[static_cast<std::size_t>(std::countr_zero(mask))];
  std::uint32_t other = 0;
  for (std::size_t i = 0; i < 32; ++i) other |= (mask & lane_bits[i]) != 0 ? lanes.value[i] ^ first : 0;
  return other == 0;
}

std::uint32_t first_of(const Lanes& lanes, std::uint32_t mask) {
  return lanes.value[static_cast<std::size_t>(std::countr_zero(mask))];
}

/// Of lanes in which the first number is less, how far below the second the nearest is, and whether some are equal.
struct Below {
  std::int64_t nearest = 0;  ///< 0: in no lane
  bool equal = false;
};
/// `flip`: of the highest bit, which makes the comparison one of signed numbers, or one of unsigned ones. The loop has
/// nothing that instructions for several lanes do not have everywhere, so it compares signed numbers alone.
Below nearest_below(const Lanes& a, const Lanes& b, std::uint32_t flip, std::uint32_t asked) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  std::int32_t nearest = none;  // one less than the distance, which is at most 2^32 - 2, and its sign bit turned
  std::uint32_t equal = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t x = a.value[i] ^ flip, y = b.value[i] ^ flip;
    const std::uint32_t here = (asked & lane_bits[i]) != 0 ? ~0u : 0;
    const bool less = static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    const std::uint32_t counts = less ? here : 0;
    const std::uint32_t distance = ((y - x - 1) ^ sign_bit) & counts;
    nearest = std::min(nearest, static_cast<std::int32_t>(distance | (static_cast<std::uint32_t>(none) & ~counts)));
    equal |= (x == y ? ~0u : 0) & here;
  }
  const std::int64_t found = std::int64_t{static_cast<std::uint32_t>(nearest) ^ sign_bit} + 1;
  return {nearest == none ? 0 : found, equal != 0};
}

bool is_place(const Where& at) { return at.kind == Where::Kind::vector || at.kind == Where::Kind::uniform; }

unsigned place_of(const Instruction& one, Operand which) {
  const Where at = where(one, which);
  return at.at + (at.kind == Where::Kind::vector && !is_uniform(one) ? 0 : first_uniform);
}

}  // namespace

void Reaching::begin(const WarpPlace& place, const Reach& most) {
  forms_.fill({});
  reach_ = most;
  period_ = most.period;
  reach_.period = 0;
  plain_blocks_ = place.grid[1] == 1 && place.grid[2] == 1;
  plain_warps_ = place.block[1] == 1 && place.block[2] == 1;
}

/// By no more than `room` may what rises by `by` in each direction, or falls where the sign is -1, do so.
void Reaching::keep(std::int64_t room, Steps by, int sign) {
  for (std::int64_t& one : by) one = std::max<std::int64_t>(sign * one, 0);
  const std::array<std::int64_t*, 3> far = {&reach_.blocks, &reach_.groups, &reach_.warps};
  // As many warps as satisfy it in this block, then as many groups, then blocks.
  for (std::size_t axis = 3; axis-- > 0;) {
    if (by[axis] == 0) continue;
    *far[axis] = std::min(*far[axis], room / by[axis] + 1);
    room -= by[axis] * (*far[axis] - 1);
  }
}

/// Numbers stay between the ends of a word.
void Reaching::keep_word(const Lanes& of, const PlaceForm& form, bool is_signed, std::uint32_t on) {
  const std::uint32_t asked = on & of.known & ~wild_everywhere(form);
  if ((form.by[by_blocks] | form.by[by_groups] | form.by[by_warps]) == 0 || asked == 0) return;
  // As in nearest_below, numbers are compared as signed ones.
  const std::uint32_t flip = is_signed ? 0 : sign_bit;
  std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = std::numeric_limits<std::int32_t>::min();
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t counts = (asked & lane_bits[i]) != 0 ? ~0u : 0, value = (of.value[i] ^ flip) & counts;
    least = std::min(least, static_cast<std::int32_t>(value | (~counts & ~sign_bit)));
    most = std::max(most, static_cast<std::int32_t>(value | (~counts & sign_bit)));
  }
  Steps by{};
  for (const std::size_t axis : axes) by[axis] = step_in(form, axis, asked);
  keep(std::int64_t{std::numeric_limits<std::int32_t>::max()} - most, by, 1);
  keep(std::int64_t{least} - std::numeric_limits<std::int32_t>::min(), by, -1);
}

/// Lanes in which the first is less (1), equal (2) or greater (4) stay apart from those where it is not, as far as
/// `how` tells these from those.
bool Reaching::keep_order(const Lanes& a, const PlaceForm& of_a, const Lanes& b, const PlaceForm& of_b, bool is_signed,
                          unsigned how, std::uint32_t on) {
  if (!of_a.moves() && !of_b.moves()) return false;
  keep_word(a, of_a, is_signed, on & b.known);
  keep_word(b, of_b, is_signed, on & a.known);
  const std::uint32_t both = on & a.known & b.known;
  Steps by{};
  std::uint32_t wild = all_lanes;
  for (const std::size_t axis : axes) {
    const std::uint32_t here = of_a.wild[axis] | of_b.wild[axis];
    if ((here & both) != both) by[axis] = step_of(of_a.by[axis]) - step_of(of_b.by[axis]);
    wild &= here;
  }
  if (by == Steps{}) return true;
  const std::uint32_t flip = is_signed ? 0 : sign_bit;
  const std::uint32_t asked = both & ~wild;
  const bool below = (how & 1) != 0, equal = (how & 2) != 0, above = (how & 4) != 0;
  // By how much differences may rise, and fall, before one is in another of the classes that are told apart.
  constexpr std::int64_t far = std::int64_t{1} << 40;
  std::int64_t up = far, down = far;
  if (std::any_of(by.begin(), by.end(), [](std::int64_t one) { return one > 0; })) {
    const Below less = nearest_below(a, b, flip, asked);
    if (less.nearest > 0 && (below != equal || below != above)) up = below != equal ? less.nearest - 1 : less.nearest;
    if (less.equal && equal != above) up = 0;
  }
  if (std::any_of(by.begin(), by.end(), [](std::int64_t one) { return one < 0; })) {
    const Below more = nearest_below(b, a, flip, asked);
    if (more.nearest > 0 && (above != equal || below != above)) down = above != equal ? more.nearest - 1 : more.nearest;
    if (more.equal && equal != below) down = 0;
  }
  keep(up, by, 1);
  keep(down, by, -1);
  return true;
}

PlaceForm Reaching::predicate_form(const Instruction& one, int first) const {
  return forms_[(is_uniform(one) ? first_uniform_predicate : first_predicate) + one.bits(first, 3)];
}

PlaceForm Reaching::form_of(const Instruction& one, Operand which) const {
  return is_place(where(one, which)) ? forms_[place_of(one, which)] : PlaceForm{};
}

/// What the special registers bring in.
PlaceForm Reaching::source(const Instruction& one) const {
  PlaceForm form;
  const unsigned which = one.bits(72, 8);
  constexpr unsigned thread = 0x21, block = 0x25;
  if (which >= thread && which < thread + 3) {
    if (!plain_warps_) form.wild[by_warps] = form.wild[by_groups] = all_lanes;
    if (which == thread) form.by[by_warps] = 32;
    if (which == thread) form.by[by_groups] = 32 * static_cast<std::uint32_t>(period_);
  }
  if (which >= block && which < block + 3) {
    if (!plain_blocks_) form.wild[by_blocks] = all_lanes;
    if (which == block) form.by[by_blocks] = 1;
  }
  return form;
}

/// Of a in the lanes of `first`, of b in the others.
PlaceForm Reaching::chosen(const PlaceForm& a, const PlaceForm& b, std::uint32_t first) const {
  PlaceForm form;
  const bool mostly_first = std::popcount(first) >= 16;
  for (const std::size_t axis : axes) {
    form.by[axis] = first == 0 || (first != all_lanes && !mostly_first) ? b.by[axis] : a.by[axis];
    form.wild[axis] = (a.wild[axis] & first) | (b.wild[axis] & ~first);
    if (a.by[axis] != form.by[axis]) form.wild[axis] |= first;
    if (b.by[axis] != form.by[axis]) form.wild[axis] |= ~first;
  }
  return form;
}

/// ISETP.
Reaching::Made Reaching::compared(const WarpState& state, const Instruction& one, std::uint32_t on) {
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const PlaceForm of_a = form_of(one, Operand::first), of_b = form_of(one, Operand::second);
  const bool extended = one.bit(72);
  // What comes from the lower halves decides where the upper ones are equal, so these must stay what they are.
  const bool moves = keep_order(a, of_a, b, of_b, one.bit(73), extended ? 1u : one.bits(76, 3), on);
  if (moves && extended) keep_order(a, of_a, b, of_b, one.bit(73), 4u, on);
  Made made;
  for (const std::size_t axis : axes) {
    std::uint32_t wild = of_a.wild[axis] | of_b.wild[axis] | predicate_form(one, 87).wild[axis];
    if (extended) wild |= predicate_form(one, 68).wild[axis];
    made.others.wild[axis] = wild;
  }
  return made;
}

/// IADD3, with carries in and out. A sum that is carried from is a whole number, and so are its parts.
Reaching::Made Reaching::added(const WarpState& state, const Instruction& one, std::uint32_t on) {
  Made made;
  constexpr std::array which = {Operand::first, Operand::second, Operand::third};
  // Carries of negated operands are not known in any warp.
  const bool signs = std::any_of(which.begin(), which.end(), [&](Operand each) { return is_negated(one, each); });
  const bool has_carry = !signs && (one.bits(81, 3) != 7 || one.bits(84, 3) != 7);
  Lanes all{{}, on};
  for (const Operand each : which) {
    made.result = sum_of(made.result, times(form_of(one, each), is_negated(one, each) ? ~0u : 1));
    if (!has_carry) continue;
    const Lanes lanes = operand(state, one, each);
    keep_word(lanes, form_of(one, each), false, on);
    for (std::size_t i = 0; i < 32; ++i) all.value[i] += lanes.value[i];
    all.known &= lanes.known;
  }
  if (one.bit(74))
    for (const int first : {87, 77}) {
      const LaneBits bits = predicate_at(state, one, first, first == 87 ? 90 : 80, is_uniform(one));
      for (std::size_t i = 0; i < 32; ++i) all.value[i] += bits.value >> i & 1;
      for (const std::size_t axis : axes) made.result.wild[axis] |= predicate_form(one, first).wild[axis];
    }
  if (has_carry) keep_word(all, made.result, false, on);
  made.others.wild = made.result.wild;
  return made;
}

/// The lower bits of a number, or what is above them, moved down.
PlaceForm Reaching::split(const Lanes& of, PlaceForm form, unsigned bits, bool is_signed, bool upper,
                          std::uint32_t on) {
  if (upper) keep_word(of, form, is_signed, on);
  const std::int64_t period = std::int64_t{1} << bits;
  Steps low{};
  PlaceForm made;
  for (const std::size_t axis : axes) {
    const std::int64_t by = step_in(form, axis, on & of.known);
    low[axis] = by % period;
    made.by[axis] = static_cast<std::uint32_t>(upper ? by / period : low[axis]);
    made.wild[axis] = form.wild[axis];
  }
  const std::uint32_t asked = on & of.known & ~wild_everywhere(form);
  if (asked == 0) return made;
  std::int64_t up = period, down = period;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((asked >> i & 1) == 0) continue;
    const std::int64_t rest = of.value[i] & (period - 1);
    up = std::min(up, period - 1 - rest);
    down = std::min(down, rest);
  }
  const std::int64_t step = std::abs(low[by_warps]), turn = step == 0 ? 0 : period / step;
  if (turn > 1 && turn < reach_.warps && turn * step == period) reach_.period = turn;
  keep(up, low, 1);
  keep(down, low, -1);
  return made;
}

/// LOP3 as a mask: bits from some place on, up to some place, or between both.
PlaceForm Reaching::masked(const WarpState& state, const Instruction& one, std::uint32_t on) {
  const PlaceForm of_a = form_of(one, Operand::first), of_b = form_of(one, Operand::second);
  const PlaceForm all = wild_where(of_a, sum_of(wild_where(of_b), wild_where(form_of(one, Operand::third))));
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const bool swaps = of_b.moves();
  const Lanes &of = swaps ? b : a, &mask = swaps ? a : b;
  const PlaceForm form = swaps ? of_b : of_a;
  if (one.bits(72, 8) != 0xc0 || (of_a.moves() && of_b.moves()) || !is_common(mask, on)) return all;
  const std::uint32_t bits = first_of(mask, on);
  const int from = bits == 0 ? 32 : std::countr_zero(bits), count = std::countr_one(bits >> (from & 31));
  if (bits == 0) return {};
  if (from + count < 32 && bits >> (from + count) != 0) return all;
  PlaceForm low = from + count == 32 ? form : split(of, form, static_cast<unsigned>(from + count), false, false, on);
  if (from > 0) low = sum_of(low, times(split(of, form, static_cast<unsigned>(from), false, false, on), ~0u));
  return low;
}

/// SHF: to the left, or of one word to the right.
PlaceForm Reaching::shifted(const WarpState& state, const Instruction& one, std::uint32_t on) {
  const PlaceForm of_a = form_of(one, Operand::first), of_c = form_of(one, Operand::third);
  const PlaceForm all = wild_where(of_a, sum_of(wild_where(of_c), wild_where(form_of(one, Operand::second))));
  const Lanes distance = operand(state, one, Operand::second);
  if (form_of(one, Operand::second).moves() || !is_common(distance, on)) return all;
  const unsigned kind = one.bits(73, 2), most = kind < 2 ? 64 : 32;
  const unsigned far = first_of(distance, on), by = one.bit(75) ? far & (most - 1) : std::min(far, most);
  const bool right = one.bit(76), high = one.bit(80);
  if (by >= 32) return all;
  if (!right && !high) return times(of_a, std::uint32_t{1} << by);
  if (!right || by == 0) return all;
  if (high) return split(operand(state, one, Operand::third), of_c, by, kind == 0 || kind == 2, true, on);
  const Lanes above = operand(state, one, Operand::third);
  if (of_c.moves() || !is_common(above, on) || first_of(above, on) != 0) return all;
  return split(operand(state, one, Operand::first), of_a, by, false, true, on);
}

/// LEA: the first moved to the left, or what that moves out of the word, and the second.
PlaceForm Reaching::shifted_and_added(const WarpState& state, const Instruction& one, std::uint32_t on) {
  const unsigned shift = one.bits(75, 5);
  const bool high = one.bit(80), extends = one.bit(73);
  const bool minus = one.bit(63) && where(one, Operand::second).kind != Where::Kind::number;
  const PlaceForm of_a = form_of(one, Operand::first);
  const PlaceForm added = times(form_of(one, Operand::second), minus ? ~0u : 1);
  if (!high) return sum_of(times(of_a, std::uint32_t{1} << shift), added);
  const PlaceForm of_c = extends ? PlaceForm{} : form_of(one, Operand::third);
  if (!of_a.moves() && !of_c.moves()) return added;
  const Lanes above = operand(state, one, Operand::third);
  const bool is_word = extends || (!of_c.moves() && is_common(above, on) && first_of(above, on) == 0);
  if (!is_word || shift == 0) return sum_of(wild_where(of_a, of_c), added);
  return sum_of(split(operand(state, one, Operand::first), of_a, 32 - shift, extends, true, on), added);
}

/// IMNMX and VIMNMX.
PlaceForm Reaching::lesser(const WarpState& state, const Instruction& one, std::uint32_t on) {
  const PlaceForm of_a = form_of(one, Operand::first), of_b = form_of(one, Operand::second);
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const LaneBits asks = predicate_at(state, one, 87, 90, is_uniform(one));
  const bool is_signed = one.bit(plain_base(one) == bases::imnmx ? 73 : 72);
  PlaceForm all = wild_where(of_a, of_b);
  if (predicate_form(one, 87).moves() || (a.known & b.known & asks.known & on) != on) return all;
  const std::uint32_t flip = is_signed ? 0x80000000u : 0;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const bool below = (a.value[i] ^ flip) < (b.value[i] ^ flip);
    first |= static_cast<std::uint32_t>(below == ((asks.value >> i & 1) != 0)) << i;
  }
  keep_order(a, of_a, b, of_b, is_signed, 1, on);
  // Of lanes that are not looked at either is right.
  first = (first & on) == on ? all_lanes : (first & on) == 0 ? 0 : first;
  PlaceForm form = chosen(of_a, of_b, first);
  for (const std::size_t axis : axes) form.wild[axis] |= of_a.wild[axis] | of_b.wild[axis];
  return form;
}

/// The lower half of a product and a sum, where one factor is the same everywhere.
std::optional<PlaceForm> Reaching::multiplied(const WarpState& state, const Instruction& one, std::uint32_t on,
                                              const Trip* trip) const {
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const PlaceForm of_a = form_of(one, Operand::first), of_b = form_of(one, Operand::second);
  const bool signs = one.bit(74) || is_negated(one, Operand::first) || is_negated(one, Operand::second);
  const auto moves_in_trip = [&](Operand which) {
    return trip != nullptr && is_place(where(one, which)) && trip->moves(place_of(one, which));
  };
  if (signs || (a.known & b.known & operand(state, one, Operand::third).known & on) != on) return {};
  if (of_a.moves() && (of_b.moves() || !is_common(b, on) || moves_in_trip(Operand::second))) return {};
  if (of_b.moves() && (!is_common(a, on) || moves_in_trip(Operand::first))) return {};
  const std::uint32_t sign = is_negated(one, Operand::third) ? ~0u : 1;
  return sum_of(sum_of(times(of_a, first_of(b, on)), times(of_b, first_of(a, on))),
                times(form_of(one, Operand::third), sign));
}

Reaching::Made Reaching::made_by(const WarpState& state, const TripStep& step, std::uint32_t on, const Trip* trip) {
  const Instruction& one = step.instruction;
  Made made;
  for (const unsigned place : step.reads) made.others = wild_where(made.others, forms_[place]);
  const auto with_sign = [&](Operand which) { return times(form_of(one, which), is_negated(one, which) ? ~0u : 1); };
  switch (plain_base(one)) {
    case bases::isetp:
      return compared(state, one, on);
    case bases::iadd3:
      return added(state, one, on);
    case bases::mov:
      made.result = form_of(one, Operand::second);
      return made;
    case bases::r2ur:
    case bases::r2ur_new:
      made.result = form_of(one, Operand::first);
      return made;
    case bases::hfma2_or_iadd:
      if (state.arch < 120) break;
      [[fallthrough]];
    case bases::viadd:
      made.result = sum_of(with_sign(Operand::first), with_sign(Operand::second));
      return made;
    case bases::lea:
      if (one.bit(74) || one.bit(72)) break;
      made.result = shifted_and_added(state, one, on);
      return made;
    case bases::sel: {
      const LaneBits first = predicate_at(state, one, 87, 90, is_uniform(one));
      if (predicate_form(one, 87).moves() || (first.known & on) != on) break;
      made.result = chosen(form_of(one, Operand::first), form_of(one, Operand::second), first.value);
      return made;
    }
    case bases::imad:
    case bases::imad_wide:
      made.result = multiplied(state, one, on, trip).value_or(made.others);
      return made;
    case bases::shf:
      made.result = shifted(state, one, on);
      return made;
    case bases::lop3:
      made.result = masked(state, one, on);
      // The predicate says whether the result is zero.
      if (!made.result.moves()) made.others = predicate_form(one, 87);
      return made;
    case bases::imnmx:
    case bases::vimnmx:
      made.result = lesser(state, one, on);
      return made;
    default:
      break;
  }
  made.result = made.others;
  return made;
}

/// Lanes that are not active keep what they know; where that moves otherwise it has no form any more.
void Reaching::settle(const WarpState& state, unsigned place, const PlaceForm& form, std::uint32_t active) {
  if (active == 0) return;
  PlaceForm& to = forms_[place];
  if (!form.moves() && !to.moves()) return;
  if (is_uniform_place(place)) {
    const int lane = std::countr_zero(active);
    to.by = form.by;
    for (const std::size_t axis : axes) to.wild[axis] = (form.wild[axis] >> lane & 1) != 0 ? all_lanes : 0;
    return;
  }
  if (active == all_lanes) {
    to = form;
    return;
  }
  const std::uint32_t known = place < first_uniform ? state.registers.known[place] : all_lanes;
  for (const std::size_t axis : axes) {
    const std::uint32_t strange = to.by[axis] != form.by[axis] ? known : 0;
    to.wild[axis] = ((to.wild[axis] | strange) & ~active) | (form.wild[axis] & active);
    to.by[axis] = form.by[axis];
  }
}

bool Reaching::any_moves(const Places& places) const {
  return std::any_of(places.begin(), places.end(), [&](unsigned place) { return forms_[place].moves(); });
}

void Reaching::step(const WarpState& state, const TripStep& step, const Places& conditions, std::uint32_t mask,
                    const Trip* trip) {
  const Instruction& one = step.instruction;
  if (step.writes.count == 0 && !step.decides) return;
  if (step.decides) decide(conditions, mask);
  const bool brings_in = step.computed && (one.base() == bases::s2r || one.base() == bases::s2ur);
  if (conditions.count == 0 && !brings_in && !(step.computed && any_moves(step.reads))) {
    // Most steps: nothing moves that is read, so nothing that is written does.
    for (const unsigned place : step.writes) settle(state, place, {}, mask);
    return;
  }
  const LaneBits guard = guard_of(state, one);
  const std::uint32_t on = mask & guard.known & guard.value, perhaps = mask & ~guard.known;
  std::array<std::uint32_t, 3> unsure{};
  for (const unsigned place : conditions)
    for (const std::size_t axis : axes) unsure[axis] |= forms_[place].wild[axis] & mask;
  Made made;
  if (step.computed && on != 0 && any_moves(step.reads)) made = made_by(state, step, on, trip);
  if (brings_in) made.result = source(one);
  const unsigned first = one.bits(16, 8) + (writes_uniform(one) ? first_uniform : 0);
  for (const unsigned place : step.writes) {
    settle(state, place, place == first ? made.result : made.others, on);
    settle(state, place, {}, perhaps);
    for (const std::size_t axis : axes)
      if (unsure[axis] != 0) forms_[place].wild[axis] |= is_uniform_place(place) ? all_lanes : unsure[axis];
  }
}

void Reaching::decide(const Places& conditions, std::uint32_t mask) {
  for (const unsigned place : conditions) {
    if ((forms_[place].wild[by_blocks] & mask) != 0) reach_.blocks = 1;
    if ((forms_[place].wild[by_groups] & mask) != 0) reach_.groups = 1;
    if ((forms_[place].wild[by_warps] & mask) != 0) reach_.warps = 1;
  }
}

std::vector<PlaceForm> Reaching::at_head(std::span<const std::uint16_t> places) const {
  std::vector<PlaceForm> all;
  all.reserve(places.size());
  for (const unsigned place : places) all.push_back(forms_[place]);
  return all;
}

bool Reaching::stays(std::span<const std::uint16_t> places, const std::vector<PlaceForm>& before) {
  bool same = true;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (const std::size_t axis : axes) {
      PlaceForm& is = forms_[places[i]];
      const std::uint32_t assumed = before[i].wild[axis];
      const bool holds = assumed == all_lanes || (is.by[axis] == before[i].by[axis] && (is.wild[axis] & ~assumed) == 0);
      if (!holds) is.wild[axis] = all_lanes;
      same = same && holds;
    }
  return same;
}

}  // namespace tailor::profiler
