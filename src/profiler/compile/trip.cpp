// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A trip as a function of its number. In: a loop's places at its head, instructions. Out: slopes, and how long they
// hold. Called through trip.h.
//
// What is shown is an induction. It is assumed that at the head of trip t a register holds a + b t, where b is what the
// trip before added. Of each instruction follows from that what it leaves: sums, differences, products with what does
// not change and shifts to the left are a + b t again, and so is every function of what does not change. A comparison
// of two such numbers comes out the same up to some t, which is found in closed form. All else is wild: right in the
// trip that is executed, and of no known form in the others. A way must not depend on it, nor may a trip read what the
// trip before left wild. When the trip is back at its head, each register must have the b that was assumed, and have
// moved by it. Then the next trip begins as this one did, with t one greater.
//
// A register that trips set anew before they read it need have no form: after trips were left out, one more is executed
// in the same way, which sets it.
#include "profiler/compile/trip.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tailor::profiler {

namespace {

bool is_predicate(unsigned place) { return place >= first_predicate; }

const std::array<std::uint32_t, 32>& values_at(const WarpState& state, unsigned place) {
  return place < first_uniform ? state.registers.values[place] : state.uniform.values[place - first_uniform];
}

LaneBits bits_at(const WarpState& state, unsigned place) {
  return place < first_uniform_predicate ? state.predicates[place - first_predicate]
                                         : state.uniform_predicates[place - first_uniform_predicate];
}

/// A uniform register is the same for all lanes, those at other places included.
std::uint32_t lanes_of(unsigned place, std::uint32_t lanes) { return is_uniform_place(place) ? all_lanes : lanes; }

std::uint32_t known_at(const WarpState& state, unsigned place) {
  if (is_predicate(place)) return bits_at(state, place).known;
  return place < first_uniform ? state.registers.known[place] : state.uniform.known[place - first_uniform];
}

/// Below that many, what a comparison says is taken to change from trip to trip.
constexpr std::int64_t few_trips = 3;

constexpr std::uint64_t span_of_word = std::uint64_t{1} << 32;

/// For how many t a + b t does not pass the end of a word; b as a signed step.
std::int64_t trips_inside(std::uint32_t a, std::int64_t b, std::int64_t most) {
  if (b == 0) return most;
  const std::int64_t room = b > 0 ? static_cast<std::int64_t>(span_of_word - 1 - a) : std::int64_t{a};
  return std::min(most, room / (b > 0 ? b : -b) + 1);
}

}  // namespace

std::int64_t trips_until_change(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, unsigned how,
                                std::int64_t most) {
  const std::int64_t left_step = static_cast<std::int32_t>(b), right_step = static_cast<std::int32_t>(d);
  const std::int64_t inside = std::min(trips_inside(a, left_step, most), trips_inside(c, right_step, most));
  std::int64_t apart = std::int64_t{a} - std::int64_t{c}, step = left_step - right_step;
  if (step == 0) return inside;
  bool below = (how & 1) != 0, above = (how & 4) != 0;
  const bool equal = (how & 2) != 0;
  if (step < 0) {  // seen from the other side the difference rises
    apart = -apart;
    step = -step;
    std::swap(below, above);
  }
  const auto outcome = [&](std::int64_t difference) {
    return difference < 0 ? below : difference == 0 ? equal : above;
  };
  const bool now = outcome(apart);
  if (apart < 0) {
    const std::int64_t reaches = (-apart + step - 1) / step;
    if (outcome(apart + reaches * step) != now) return std::min(inside, reaches);
  }
  if (apart <= 0) {
    const std::int64_t passes = -apart / step + 1;
    if (above != now) return std::min(inside, passes);
  }
  return inside;
}

AtHead at_head(const WarpState& state, std::span<const std::uint16_t> places) {
  AtHead all;
  all.of.resize(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    all.of[i].known = known_at(state, places[i]);
    if (is_predicate(places[i]))
      all.of[i].values[0] = bits_at(state, places[i]).value;
    else
      all.of[i].values = values_at(state, places[i]);
  }
  return all;
}

void Trip::begin(const AtHead& before, AtHead now, std::span<const std::uint16_t> places, std::uint32_t lanes) {
  places_ = places;
  lanes_ = lanes;
  not_affine_.assign(places.size(), 0);
  head_slopes_.resize(places.size());
  assume(before, std::move(now));
}

void Trip::again(AtHead now) {
  const AtHead before = std::move(head_);
  assume(before, std::move(now));
}

void Trip::assume(const AtHead& before, AtHead now) {
  lost_ = false;
  trips_ = unlimited;
  moving_.fill(0);
  wild_.fill(0);
  stale_.fill(0);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const unsigned place = places_[i];
    const std::uint32_t lanes = lanes_of(place, lanes_);
    const AtHead::One &was = before.of[i], &is = now.of[i];
    std::uint32_t off = not_affine_[i] | ((was.known ^ is.known) & lanes);
    if (is_predicate(place)) {
      off |= (was.values[0] ^ is.values[0]) & is.known & lanes;
    } else {
      for (std::size_t lane = 0; lane < 32; ++lane) {
        const bool counts = ((lanes & is.known & ~off) >> lane & 1) != 0;
        const std::uint32_t by = counts ? is.values[lane] - was.values[lane] : 0;
        slope_[place][lane] = by;
        moving_[place] |= static_cast<std::uint32_t>(by != 0) << lane;
      }
      head_slopes_[i] = slope_[place];
    }
    if (is_uniform_place(place) && off != 0) off = all_lanes;
    not_affine_[i] = stale_[place] = off;
  }
  head_ = std::move(now);
}

Trip::Slopes Trip::slopes_of(const Instruction& one, Operand which) const {
  const Where at = where(one, which);
  if (at.kind == Where::Kind::number || at.kind == Where::Kind::constant) return {};
  const bool vector = at.kind == Where::Kind::vector && !is_uniform(one);
  // The zero register of the uniform path is no place of a loop, so nothing is said of it.
  const unsigned place = at.at + (vector ? 0 : first_uniform);
  if (vector && at.at == 255) return {};
  Slopes slopes{{}, wild_[place]};
  for (std::size_t i = 0; i < 32; ++i) slopes.by[i] = (moving_[place] >> i & 1) != 0 ? slope_[place][i] : 0;
  return slopes;
}

void Trip::settle(unsigned place, const Slopes& slopes, std::uint32_t active) {
  if (active == 0) return;
  if (is_uniform_place(place)) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(active));
    if (!is_predicate(place)) slope_[place].fill(slopes.by[lane]);
    moving_[place] = slopes.by[lane] != 0 ? all_lanes : 0;
    wild_[place] = (slopes.wild >> lane & 1) != 0 ? all_lanes : 0;
    stale_[place] = 0;
    return;
  }
  if (!is_predicate(place)) {
    std::uint32_t moving = moving_[place] & ~active;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      slope_[place][lane] = slopes.by[lane];
      moving |= static_cast<std::uint32_t>(slopes.by[lane] != 0) << lane;
    }
    moving_[place] = moving;
  }
  wild_[place] = (wild_[place] & ~active) | (slopes.wild & active);
  stale_[place] &= ~active;
}

/// The same for what has no slope.
void Trip::stand_still(unsigned place, std::uint32_t wild, std::uint32_t active) {
  if (active == 0) return;
  if (is_uniform_place(place)) {
    moving_[place] = 0;
    wild_[place] = (wild >> std::countr_zero(active) & 1) != 0 ? all_lanes : 0;
    stale_[place] = 0;
    return;
  }
  moving_[place] &= ~active;
  wild_[place] = (wild_[place] & ~active) | (wild & active);
  stale_[place] &= ~active;
}

/// The lanes in which a comparison is wild; how long the others stay as they are.
std::uint32_t Trip::compare(const WarpState& state, const Instruction& one, std::uint32_t active) {
  const bool uniform = is_uniform(one), extended = one.bit(72);
  const std::uint32_t flip = one.bit(73) ? 0x80000000u : 0;
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second);
  const Slopes of_a = slopes_of(one, Operand::first), of_b = slopes_of(one, Operand::second);
  const unsigned how = one.bits(76, 3), predicates = uniform ? first_uniform_predicate : first_predicate;
  std::uint32_t wild = of_a.wild | of_b.wild;
  if (one.bits(87, 3) != 7) wild |= wild_[predicates + one.bits(87, 3)];
  if (extended && one.bits(68, 3) != 7) wild |= wild_[predicates + one.bits(68, 3)];
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t bit = std::uint32_t{1} << lane;
    if ((active & bit) == 0 || (wild & bit) != 0 || (of_a.by[lane] == 0 && of_b.by[lane] == 0)) continue;
    if ((a.known & b.known & bit) == 0) continue;  // not known in any trip
    const std::int64_t holds = extended ? 0
                                        : trips_until_change(a.value[lane] ^ flip, of_a.by[lane], b.value[lane] ^ flip,
                                                             of_b.by[lane], how, unlimited);
    if (holds < few_trips)
      wild |= bit;
    else
      trips_ = std::min(trips_, holds);
  }
  return wild;
}

/// The lanes in which the carries of IADD3 are wild. Of the sum of more than a carry comes in, only what does not
/// change is looked at; carries of negated operands are known in no trip.
std::uint32_t Trip::carries(const WarpState& state, const Instruction& one, std::uint32_t active) {
  constexpr std::array which = {Operand::first, Operand::second, Operand::third};
  std::uint32_t wild = 0, known = active;
  std::array<std::uint64_t, 32> sums{};
  std::array<std::int64_t, 32> steps{}, holds{};
  holds.fill(unlimited);
  for (const Operand each : which) {
    const Lanes lanes = operand(state, one, each);
    const Slopes slopes = slopes_of(one, each);
    wild |= slopes.wild;
    known &= lanes.known;
    for (std::size_t i = 0; i < 32; ++i) {
      const std::int64_t step = static_cast<std::int32_t>(slopes.by[i]);
      sums[i] += lanes.value[i];
      steps[i] += step;
      holds[i] = std::min(holds[i], trips_inside(lanes.value[i], step, unlimited));
    }
  }
  const bool carried_in = one.bit(74), uniform = is_uniform(one);
  if (carried_in)
    for (const int first : {87, 77})
      if (one.bits(first, 3) != 7)
        wild |= wild_[(uniform ? first_uniform_predicate : first_predicate) + one.bits(first, 3)];
  const bool has_carry = one.bits(81, 3) != 7 || one.bits(84, 3) != 7;
  if (!has_carry) return wild;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t bit = std::uint32_t{1} << i;
    if ((active & bit) == 0 || (wild & bit) != 0 || (known & bit) == 0 || steps[i] == 0) continue;
    const std::int64_t same =
        carried_in ? 0 : std::min(holds[i], trips_inside(static_cast<std::uint32_t>(sums[i]), steps[i], unlimited));
    if (same < few_trips)
      wild |= bit;
    else
      trips_ = std::min(trips_, same);
  }
  return wild;
}

/// What an instruction puts into its first register, or that no form is known.
std::optional<Trip::Slopes> Trip::made_by(const WarpState& state, const Instruction& one) const {
  const auto with_sign = [&](Operand which) {
    Slopes slopes = slopes_of(one, which);
    if (is_negated(one, which))
      for (std::uint32_t& by : slopes.by) by = 0 - by;
    return slopes;
  };
  const auto sum = [](const Slopes& a, const Slopes& b, unsigned shift = 0) {
    Slopes all{{}, a.wild | b.wild};
    for (std::size_t i = 0; i < 32; ++i) all.by[i] = (a.by[i] << shift) + b.by[i];
    return all;
  };
  switch (plain_base(one)) {
    case bases::mov:
      return slopes_of(one, Operand::second);
    case bases::r2ur:
    case bases::r2ur_new:
      return slopes_of(one, Operand::first);
    case bases::iadd3:
      return sum(sum(with_sign(Operand::first), with_sign(Operand::second)), with_sign(Operand::third));
    case bases::hfma2_or_iadd:
      if (state.arch < 120) return {};
      [[fallthrough]];
    case bases::viadd:
      return sum(with_sign(Operand::first), with_sign(Operand::second));
    case bases::lea: {
      if (one.bit(74) || one.bit(72) || one.bit(80)) return {};
      Slopes added = slopes_of(one, Operand::second);
      if (one.bit(63) && where(one, Operand::second).kind != Where::Kind::number)
        for (std::uint32_t& by : added.by) by = 0 - by;
      return sum(slopes_of(one, Operand::first), added, one.bits(75, 5));
    }
    case bases::shf:
      return shifted(state, one);
    case bases::imad:
    case bases::imad_wide:
      return multiplied(state, one);
    default:
      return {};
  }
}

/// To the left, by what does not change.
std::optional<Trip::Slopes> Trip::shifted(const WarpState& state, const Instruction& one) const {
  if (one.bit(76) || one.bit(80)) return {};
  const Lanes distance = operand(state, one, Operand::second);
  const Slopes by = slopes_of(one, Operand::second);
  Slopes moved = slopes_of(one, Operand::first);
  const std::uint32_t most = one.bits(73, 2) < 2 ? 64 : 32;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t far = one.bit(75) ? distance.value[i] & (most - 1) : std::min(distance.value[i], most);
    moved.by[i] = far >= 32 ? 0 : moved.by[i] << far;
    moved.wild |= static_cast<std::uint32_t>(by.by[i] != 0) << i;
  }
  moved.wild |= by.wild | ~distance.known;
  return moved;
}

/// The lower half, where at most one factor changes. Whether a product is known may depend on a factor that is not.
std::optional<Trip::Slopes> Trip::multiplied(const WarpState& state, const Instruction& one) const {
  if (one.bit(74) || is_negated(one, Operand::first) || is_negated(one, Operand::second)) return {};
  const Lanes a = operand(state, one, Operand::first), b = operand(state, one, Operand::second),
              c = operand(state, one, Operand::third);
  const Slopes of_a = slopes_of(one, Operand::first), of_b = slopes_of(one, Operand::second);
  Slopes all = slopes_of(one, Operand::third);
  const bool minus = is_negated(one, Operand::third);
  all.wild |= of_a.wild | of_b.wild | ~(a.known & b.known & c.known);
  for (std::size_t i = 0; i < 32; ++i) {
    if (of_a.by[i] != 0 && of_b.by[i] != 0) all.wild |= std::uint32_t{1} << i;
    all.by[i] = (minus ? 0 - all.by[i] : all.by[i]) + of_a.by[i] * b.value[i] + of_b.by[i] * a.value[i];
  }
  return all;
}

void Trip::step(const WarpState& state, const TripStep& step, std::uint32_t mask) {
  const Instruction& one = step.instruction;
  std::uint32_t unsure = 0;
  for (const unsigned place : conditions_of(one)) unsure |= (wild_[place] | stale_[place]) & mask;
  lost_ = lost_ || (unsure != 0 && step.decides);
  const LaneBits guard = guard_of(state, one);
  const std::uint32_t on = mask & guard.known & guard.value, perhaps = mask & ~guard.known;
  bool steady = true;
  if (step.computed)
    for (const unsigned place : step.reads) {
      lost_ = lost_ || (stale_[place] & (on | unsure)) != 0;
      steady = steady && ((moving_[place] | wild_[place]) & on) == 0;
    }
  // Where a guard may come out otherwise, what the place had before stays in some trips.
  for (const unsigned place : step.writes) lost_ = lost_ || (stale_[place] & unsure) != 0;
  if (lost_) return;
  const bool compares = step.computed && plain_base(one) == bases::isetp;
  std::optional<Slopes> made;
  std::uint32_t wild = 0;
  if (step.computed && !steady && on != 0) {
    const bool adds = plain_base(one) == bases::iadd3;
    wild = compares ? compare(state, one, on) : adds ? carries(state, one, on) : all_lanes;
    if (!compares) made = made_by(state, one);
    if (adds && one.bit(74)) made->wild |= wild;
  }
  bool first = true;
  for (const unsigned place : step.writes) {
    // The first place is the register that bits 16 to 23 name, where the instruction has one that is read below.
    const bool is_result = made && first && place % first_uniform == one.bits(16, 8) && !is_predicate(place);
    if (is_result)
      settle(place, *made, on);
    else
      stand_still(place, wild, on);
    stand_still(place, 0, perhaps);
    if (unsure != 0) wild_[place] |= lanes_of(place, unsure);
    first = false;
  }
}

void Trip::decide(const Places& conditions, std::uint32_t mask) {
  for (const unsigned place : conditions) lost_ = lost_ || ((wild_[place] | stale_[place]) & mask) != 0;
}

Trip::End Trip::end(const WarpState& state) {
  if (lost_) return End::lost;
  End how = End::same;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const unsigned place = places_[i];
    const std::uint32_t lanes = lanes_of(place, lanes_), known = known_at(state, place);
    // What was taken to hold nothing and is not set anew stays as it is, trip after trip.
    const std::uint32_t kept = not_affine_[i] & stale_[place] & lanes;
    std::uint32_t wrong = wild_[place] | (known ^ head_.of[i].known);
    if (is_predicate(place)) {
      wrong |= (bits_at(state, place).value ^ head_.of[i].values[0]) & known;
    } else {
      const std::array<std::uint32_t, 32>& values = values_at(state, place);
      for (std::size_t lane = 0; lane < 32; ++lane) {
        if ((known >> lane & 1) == 0) continue;
        const std::uint32_t by = (moving_[place] >> lane & 1) != 0 ? slope_[place][lane] : 0;
        const std::uint32_t assumed = head_slopes_[i][lane];
        const bool right = by == assumed && values[lane] == head_.of[i].values[lane] + assumed;
        wrong |= static_cast<std::uint32_t>(!right) << lane;
      }
    }
    wrong &= lanes & ~not_affine_[i];
    if ((wrong | kept) != 0) how = End::other;
    not_affine_[i] = (not_affine_[i] & ~kept) | wrong;
  }
  return how;
}

void Trip::advance(WarpState& state, std::int64_t count) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const unsigned place = places_[i];
    if (is_predicate(place)) continue;
    const std::uint32_t lanes = lanes_of(place, lanes_) & ~not_affine_[i] & known_at(state, place);
    std::array<std::uint32_t, 32>& values =
        place < first_uniform ? state.registers.values[place] : state.uniform.values[place - first_uniform];
    for (std::size_t lane = 0; lane < 32; ++lane)
      if ((lanes >> lane & 1) != 0) values[lane] += head_slopes_[i][lane] * static_cast<std::uint32_t>(count);
  }
}

}  // namespace tailor::profiler
