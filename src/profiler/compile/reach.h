// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How far what a warp does holds: for which warps behind it in its block, and which blocks behind its own. In: the
// instructions of a warp that is executed. Out: a number of blocks and of warps, all of which go its way. Called by
// warp_run.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profiler/compile/trip.h"
#include "profiler/compile/warp_state.h"

namespace tailor::profiler {

/// Blocks from a warp's own on; in each of them as many warps at the same place of groups from its own on, and with
/// each of these warps from it on. Itself among them. Groups are `period` warps, which may be rows.
struct Reach {
  std::int64_t blocks = 1, groups = 1, warps = 1;
  std::int64_t period = 1;
};

/// What a place holds in a warp that is b blocks, g groups and w warps further on: as much as here, and by[0] b + by[1]
/// g + by[2] w more, modulo 2^32. Lanes of wild[0] have no such form where b is not 0, and so on.
struct PlaceForm {
  std::array<std::uint32_t, 3> by{}, wild{};

  bool moves() const { return (by[0] | by[1] | by[2] | wild[0] | wild[1] | wild[2]) != 0; }
  bool operator==(const PlaceForm&) const = default;
};

class Reaching {
 public:
  /// `most`: no further than that is asked about.
  void begin(const WarpPlace& place, const Reach& most);
  /// An instruction that lanes of `mask` come to, before it is executed. `conditions`: of its guard. `trip`: that it
  /// belongs to; nullptr: none.
  void step(const WarpState& state, const TripStep& step, const Places& conditions, std::uint32_t mask,
            const Trip* trip);
  /// A way that lanes of `mask` choose by some predicates.
  void decide(const Places& conditions, std::uint32_t mask);
  /// Forms at the head of a loop, of its places.
  std::vector<PlaceForm> at_head(std::span<const std::uint16_t> places) const;
  /// Whether they are still those before a trip. Where not they become wild.
  bool stays(std::span<const std::uint16_t> places, const std::vector<PlaceForm>& before);
  /// With the period in which warps seem to repeat, where it is shorter than their number; else 0.
  const Reach& reach() const { return reach_; }

 private:
  /// Of the first register that an instruction writes, and of what else it does.
  struct Made {
    PlaceForm result{}, others{};
  };
  PlaceForm source(const Instruction& one) const;
  Made made_by(const WarpState& state, const TripStep& step, std::uint32_t on, const Trip* trip);
  Made compared(const WarpState& state, const Instruction& one, std::uint32_t on);
  Made added(const WarpState& state, const Instruction& one, std::uint32_t on);
  PlaceForm masked(const WarpState& state, const Instruction& one, std::uint32_t on);
  PlaceForm shifted(const WarpState& state, const Instruction& one, std::uint32_t on);
  PlaceForm shifted_and_added(const WarpState& state, const Instruction& one, std::uint32_t on);
  std::optional<PlaceForm> multiplied(const WarpState& state, const Instruction& one, std::uint32_t on,
                                      const Trip* trip) const;
  PlaceForm split(const Lanes& of, PlaceForm form, unsigned bits, bool is_signed, bool upper, std::uint32_t on);
  PlaceForm chosen(const PlaceForm& a, const PlaceForm& b, std::uint32_t first) const;
  PlaceForm lesser(const WarpState& state, const Instruction& one, std::uint32_t on);
  bool keep_order(const Lanes& a, const PlaceForm& of_a, const Lanes& b, const PlaceForm& of_b, bool is_signed,
                  unsigned how, std::uint32_t on);
  void keep_word(const Lanes& of, const PlaceForm& form, bool is_signed, std::uint32_t on);
  using Steps = std::array<std::int64_t, 3>;
  void keep(std::int64_t room, Steps by, int sign);
  PlaceForm predicate_form(const Instruction& one, int first) const;
  PlaceForm form_of(const Instruction& one, Operand which) const;
  bool any_moves(const Places& places) const;
  void settle(const WarpState& state, unsigned place, const PlaceForm& form, std::uint32_t active);

  std::array<PlaceForm, place_count> forms_;
  Reach reach_;
  std::int64_t period_ = 1;
  bool plain_blocks_ = true, plain_warps_ = true;  ///< numbered along the first axis alone
};

}  // namespace tailor::profiler
