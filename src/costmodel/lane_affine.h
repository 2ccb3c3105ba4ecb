// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// LaneAffine: a difference of two index expressions as fast counting sees it: how it moves with each outer variable
// (block, loops) and with the lanes and warps. An expression with quotients and remainders moves evenly too, once a
// variable advances by its period: e(x + period) = e(x) + increment, whatever the other variables are.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "costmodel/scratch.h"
#include "ir/kernel/index.h"

namespace tailor::costmodel {

/// period 0: no period known.
struct Period {
  std::int64_t period = 1, increment = 0;
};
Period find_period(const ir::IndexPool& pool, ir::ExprId expr, ir::VarId var);
/// One entry per variable of the kernel.
void find_thread_shares(const ir::Kernel& kernel, std::vector<ThreadShares>& shares);

class LaneAffine {
 public:
  using Lanes = std::array<std::int64_t, warp_lanes>;
  /// scale * (a - b); b may be no_expr. The thread shares of `scratch` are those of this kernel.
  LaneAffine(const ir::Kernel& kernel, Scratch::Body& scratch, ir::ExprId a, ir::ExprId b, std::int64_t scale);

  /// The least step of `var` at which the form moves evenly; 0: none.
  std::int64_t even_step(ir::VarId var) const;
  /// How much the form grows when `var` advances by `step`, which must be a multiple of even_step, or the step of a
  /// range along which no quotient breaks (settle.h).
  std::int64_t growth(ir::VarId var, std::int64_t step) const;

  /// Quotients are numbered so that each comes after those in its dividend.
  int quotient_count() const { return quotient_count_; }
  /// Whether `var` occurs in a term that is none of the quotients: periods alone say how such a term moves.
  bool is_opaque(ir::VarId var) const { return !split_ || opaque_vars_.has(var); }
  /// By how much the dividend of quotient `i` misses a multiple of its divisor when `var` advances by `step`: the value
  /// nearest to 0. Where it is 0 the quotient never breaks. The quotients before `i` must not break along the step.
  std::int64_t drift(int i, ir::VarId var, std::int64_t step) const;
  /// Steps of `drift`, from the domain's start on, before the dividend of quotient `i` crosses a multiple of its
  /// divisor in some active lane, wherever up to `up` more or `down` less takes it; -1: it does so without a step.
  std::int64_t steps_before_break(int i, std::int64_t drift, const IterationDomain& domain, std::int64_t up,
                                  std::int64_t down) const;
  /// After so many steps a quotient that drifts begins anew.
  std::int64_t turns(int i, std::int64_t drift) const;
  /// Multiples of the divisor that so many steps cross, rounded up.
  std::int64_t breaks(int i, std::int64_t drift, std::int64_t steps) const;

  /// The shares of the outer variables where `domain` starts.
  struct Start {
    const IterationDomain* domain = nullptr;
    std::int64_t base = 0;
    std::array<std::int64_t, most_quotients> inner{};
  };
  Start start(const IterationDomain& domain) const;
  /// The usual case, nothing in the warp crosses a multiple of a divisor: lane l's value is `shift` + even_lanes()[l].
  /// Otherwise `shift` means nothing.
  bool is_even(const Start& start, int w, std::int64_t& shift) const;
  /// Warp `w` with the outer variables at the start of the domain: lane l's value is `shift` + lanes[l] of what comes
  /// back, which many warps may share. Nothing where terms are none of the quotients. Valid until the next call.
  WarpPattern* pattern(const Start& start, int w, std::int64_t& shift) const;
  /// The same of any warp.
  const Lanes& lanes(const Start& start, int w, std::int64_t& shift) const;
  const Lanes& even_lanes() const { return sum_.even_lanes; }
  /// Distance of neighbours in even_lanes() when it is the same for all, else no_stride.
  std::int64_t even_stride() const { return even_stride_; }
  std::int64_t least_lane() const { return sum_.least_lane; }
  std::int64_t greatest_lane() const { return sum_.greatest_lane; }
  /// What the values of active lanes lie between over all of the domain; nothing where that is not known.
  std::optional<ir::Interval> bounds(const IterationDomain& domain) const;
  static constexpr std::int64_t no_stride = std::numeric_limits<std::int64_t>::min();

 private:
  /// These have no initialisers, for a form is made for every access and most use a small part: clear() sets the rest.
  struct Share {
    ir::VarId var;
    std::int64_t coefficient;
  };
  struct Part {
    int quotient;
    std::int64_t coefficient;
  };
  /// constant + the outer variables' + the warp's + the lanes' share + quotients.
  struct Sum {
    std::int64_t constant;
    int outer_count, thread_count, part_count;
    std::array<Share, 12> outer, thread;
    std::array<Part, most_quotients> parts;
    Lanes lanes;       ///< the variables' share
    Lanes even_lanes;  ///< with that of the remainders, where no lane crosses a multiple of a divisor
    std::int64_t least_lane, greatest_lane;  ///< of even_lanes
    void clear(std::int64_t value);
    std::int64_t base(const IterationDomain& domain) const;
    std::int64_t warp_offset(std::span<const ThreadShares> threads, int w) const;
  };
  /// inner / divisor or inner % divisor.
  struct Quotient {
    ir::TermId term;
    bool remainder;
    std::int64_t divisor;
    std::int64_t low, high;  ///< of what the lanes add to the dividend, wherever the quotients in it stand
    Sum inner;
  };
  void add(ir::ExprId expr, std::int64_t scale);
  /// false: a variable does not split into shares, or there are too many.
  bool add_variable(Sum& sum, ir::VarId var, std::int64_t coefficient) const;
  static void add_part(Sum& sum, int quotient, std::int64_t coefficient);
  /// The quotient's number; -1: it cannot be taken apart.
  int quotient_of(ir::TermId id);
  const Lanes& term_lanes(ir::TermId id, const IterationDomain& domain, int w) const;
  void find_even_lanes(Sum& sum) const;
  void find_reach(Quotient& quotient) const;
  ir::Interval bounds_of(const Sum& sum, const IterationDomain& domain,
                         const std::array<ir::Interval, most_quotients>& quotients) const;
  static std::int64_t linear_growth(const Sum& sum, ir::VarId var, std::int64_t step);
  std::int64_t growth_of(const Sum& sum, ir::VarId var, std::int64_t step) const;
  std::int64_t quotient_growth(int i, ir::VarId var, std::int64_t step) const;
  /// What quotient `i` is worth in an even warp, without its even lanes: false where a lane crosses.
  bool even_quotients(const Start& start, int w, int count, std::array<std::int64_t, most_quotients>& worth) const;
  /// Where the quotients of a warp stand. The dividend of each is a multiple of its divisor, `phase`, and what lanes
  /// add; `worth` is what all lanes' quotients have in common. Where no lane can cross a multiple the phase is the same
  /// for all such warps: `moved` says how far it was moved there.
  struct Phases {
    std::array<std::int64_t, most_quotients> phase, worth, moved;
  };
  Phases phases_of(const Start& start, int w, int count) const;
  /// The dividends of quotient `i`, less the multiples, and less what was moved.
  void dividends(int i, const Phases& phases, const std::array<Lanes, most_quotients>& lanes, Lanes& out) const;
  /// Less what they are worth in common.
  void quotient_lanes(const Phases& phases, int count, std::array<Lanes, most_quotients>& lanes) const;
  /// Of the active lanes, the least and the greatest that the dividend of quotient `i` is beyond a multiple.
  void rests(const Start& start, int w, int i, std::uint32_t mask, std::int64_t& least, std::int64_t& greatest) const;
  Period period(ir::VarId var) const;

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  std::uint64_t serial_;  ///< of this form, among all that the scratch has seen
  ir::ExprId a_, b_;
  std::int64_t scale_;
  ir::VarSet nested_;       ///< variables inside terms
  ir::VarSet opaque_vars_;  ///< variables inside terms that are no quotients
  bool crosses_ = false;    ///< lanes of every warp lie further apart than a multiple: none is even
  bool split_ = true;       ///< variables split, and there is room for all other terms
  struct Opaque {
    ir::TermId term = 0;
    std::int64_t coefficient = 0;
  };
  int opaque_count_ = 0;
  std::array<Opaque, 4> opaque_;  ///< terms that are neither variables nor quotients that could be taken apart
  Sum sum_;
  int quotient_count_ = 0;
  std::array<Quotient, most_quotients> quotients_;
  std::int64_t even_stride_ = no_stride;
  struct Known {
    ir::VarId var = 0;
    Period period;
  };
  mutable int known_count_ = 0;
  mutable std::array<Known, 6> known_;  ///< periods asked for so far
};

}  // namespace tailor::costmodel
