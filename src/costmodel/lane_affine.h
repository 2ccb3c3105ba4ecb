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
  /// Quotients of sums over variables that a form takes apart.
  static constexpr int most_quotients = 4;

  /// scale * (a - b); b may be no_expr. The thread shares of `scratch` are those of this kernel.
  LaneAffine(const ir::Kernel& kernel, Scratch::Body& scratch, ir::ExprId a, ir::ExprId b, std::int64_t scale);

  /// The least step of `var` at which the form moves evenly; 0: none.
  std::int64_t even_step(ir::VarId var) const;
  /// How much the form grows when `var` advances by `step`, a multiple of even_step.
  std::int64_t growth(ir::VarId var, std::int64_t step) const;

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
  const Lanes& even_lanes() const { return even_lanes_; }
  /// Distance of neighbours in even_lanes() when it is the same for all, else no_stride.
  std::int64_t even_stride() const { return even_stride_; }
  std::int64_t least_lane() const { return least_lane_; }
  std::int64_t greatest_lane() const { return greatest_lane_; }
  static constexpr std::int64_t no_stride = std::numeric_limits<std::int64_t>::min();
  /// The values of all lanes of warp `w` with the outer variables at the start of the domain.
  void values(const Start& start, int w, Lanes& out) const;

 private:
  struct Share {
    ir::VarId var = 0;
    std::int64_t coefficient = 0;
  };
  /// constant + the outer variables' + the warp's + the lanes' share.
  struct Sum {
    std::int64_t constant = 0;
    int outer_count = 0, thread_count = 0;
    std::array<Share, 12> outer, thread;
    Lanes lanes{};
    std::int64_t base(const IterationDomain& domain) const;
    std::int64_t warp_offset(std::span<const ThreadShares> threads, int w) const;
  };
  /// coefficient * (inner / divisor) or coefficient * (inner % divisor).
  struct Quotient {
    bool remainder = false;
    std::int64_t divisor = 1, coefficient = 0;
    std::int64_t least_lane = 0, greatest_lane = 0;
    Sum inner;
  };
  void add(ir::ExprId expr, std::int64_t scale);
  /// false: a variable does not split into shares, or there are too many.
  bool add_variable(Sum& sum, ir::VarId var, std::int64_t coefficient) const;
  bool add_quotient(const ir::Term& term, std::int64_t coefficient);
  const Lanes& term_lanes(ir::TermId id, const IterationDomain& domain, int w) const;
  void find_even_lanes();
  Period period(ir::VarId var) const;

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  ir::ExprId a_, b_;
  std::int64_t scale_;
  std::uint64_t nested_ = 0;  ///< variables inside terms
  bool split_ = true;         ///< variables split, and there is room for all other terms
  struct Opaque {
    ir::TermId term = 0;
    std::int64_t coefficient = 0;
  };
  int opaque_count_ = 0;
  std::array<Opaque, 4> opaque_;  ///< terms that are neither variables nor quotients of sums over variables
  Sum sum_;
  int quotient_count_ = 0;
  std::array<Quotient, most_quotients> quotients_;
  Lanes even_lanes_;
  std::int64_t even_stride_ = no_stride, least_lane_ = 0, greatest_lane_ = 0;
  struct Known {
    ir::VarId var = 0;
    Period period;
  };
  mutable int known_count_ = 0;
  mutable std::array<Known, 6> known_;  ///< periods asked for so far
};

}  // namespace tailor::costmodel
