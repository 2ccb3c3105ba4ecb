// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A trip of a loop, as it depends on which trip it is. In: what a warp knows at the loop's head before and after a
// trip, and the instructions of the next one. Out: for how many trips all goes the same way, and what they leave in
// registers. Called by warp_run.cpp, which leaves such trips out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiler/compile/warp_state.h"

namespace tailor::profiler {

/// Registers and predicates at the head of a loop.
struct AtHead {
  struct One {
    std::array<std::uint32_t, 32> values{};  ///< of a predicate: its 32 bits in the first
    std::uint32_t known = 0;
  };
  std::vector<One> of;  ///< as many as the loop has places
};
AtHead at_head(const WarpState& state, std::span<const std::uint16_t> places);

/// An instruction of a trip.
struct TripStep {
  const Instruction& instruction;
  const Places &reads, &writes;
  bool computed = false;  ///< else it makes what it writes unknown
  bool decides = false;   ///< what is counted, or where lanes meet, depends on its guard
};

/// What a trip makes of values that are a + b * t in trip t, with a and b for each lane and register, modulo 2^32.
class Trip {
 public:
  /// Takes it that what changed in the last trip changes as much in each. `places`: what the loop reads or writes;
  /// outlives the trip. `lanes`: those that go round.
  void begin(const AtHead& before, AtHead now, std::span<const std::uint16_t> places, std::uint32_t lanes);
  /// The same after a trip that ended `other`: with what it moved, and without what was found to have no such form.
  void again(AtHead now);
  /// An instruction that lanes of `mask` come to, before it is executed.
  void step(const WarpState& state, const TripStep& step, std::uint32_t mask);
  /// A way that lanes of `mask` choose by some predicates.
  void decide(const Places& conditions, std::uint32_t mask);

  /// `same`: each trip makes of a + b * t what the next one begins with. `other`: not of what was assumed. `lost`: its
  /// way depends on numbers of another form.
  enum class End : std::uint8_t { same, other, lost };
  /// Back at the head.
  End end(const WarpState& state);
  /// How many trips go the way of this one, itself among them; as far as is known.
  std::int64_t trips() const { return trips_; }
  /// Whether a place may hold something else in other trips.
  bool moves(unsigned place) const { return (moving_[place] | wild_[place]) != 0; }
  bool is_endless() const { return trips_ == unlimited; }
  /// From the head after this trip to the head `count` trips later. Registers that each trip sets anew before it reads
  /// them keep what they had: they are right again after one trip more.
  void advance(WarpState& state, std::int64_t count) const;

 private:
  struct Slopes {
    std::array<std::uint32_t, 32> by{};
    std::uint32_t wild = 0;
  };
  void assume(const AtHead& before, AtHead now);
  Slopes slopes_of(const Instruction& one, Operand which) const;
  void settle(unsigned place, const Slopes& slopes, std::uint32_t active);
  void stand_still(unsigned place, std::uint32_t wild, std::uint32_t active);
  std::uint32_t compare(const WarpState& state, const Instruction& one, std::uint32_t active);
  std::uint32_t carries(const WarpState& state, const Instruction& one, std::uint32_t active);
  std::optional<Slopes> made_by(const WarpState& state, const Instruction& one) const;
  std::optional<Slopes> shifted(const WarpState& state, const Instruction& one) const;
  std::optional<Slopes> multiplied(const WarpState& state, const Instruction& one) const;

  static constexpr std::int64_t unlimited = std::int64_t{1} << 40;
  std::span<const std::uint16_t> places_;
  std::uint32_t lanes_ = 0;
  AtHead head_;
  std::vector<std::array<std::uint32_t, 32>> head_slopes_;
  std::vector<std::uint32_t> not_affine_;  ///< lanes in which a place of the loop has no such form at the head
  bool lost_ = false;
  std::int64_t trips_ = unlimited;
  /// Of each place of the machine: b where `moving` says it is not 0; lanes in which it has no such form; lanes in
  /// which it holds what an earlier trip left and this one did not set anew.
  std::array<std::array<std::uint32_t, 32>, first_predicate> slope_;
  std::array<std::uint32_t, place_count> moving_, wild_, stale_;
};

/// For how many t from 0 on a comparison of a + b t with c + d t comes out as for t = 0, without one of them passing
/// the end of 32 bits. `how`: which of less (1), equal (2), greater (4) it asks for.
std::int64_t trips_until_change(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d, unsigned how,
                                std::int64_t most);

}  // namespace tailor::profiler
