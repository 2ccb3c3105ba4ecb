// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Form: a difference of two index expressions as fast counting sees it: how it moves with each outer variable (block,
// loops) and with the lanes and warps. An expression with quotients and remainders moves evenly too, once a variable
// advances by its period: e(x + period) = e(x) + increment, whatever the other variables are.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "costmodel/scratch.h"
#include "ir/index.h"

namespace tailor::costmodel {

/// period 0: no period known.
struct Period {
  std::int64_t period = 1, increment = 0;
};
Period period_of(const ir::IndexPool& pool, ir::ExprId expr, ir::VarId var);

class Form {
 public:
  /// scale * (a - b); b may be no_expr.
  Form(const ir::Kernel& kernel, ir::ExprId a, ir::ExprId b, std::int64_t scale);

  /// The least step of `var` at which the form moves evenly; 0: none.
  std::int64_t even_step(ir::VarId var) const;
  /// How much the form grows when `var` advances by `step`, a multiple of even_step.
  std::int64_t growth(ir::VarId var, std::int64_t step) const;
  /// Whether the lanes' offsets are the same everywhere (no thread variable stands inside a quotient or the like, and
  /// each splits into a lane's and a warp's share).
  bool is_affine() const { return affine_; }
  /// The values of all lanes of warp `w` with the outer variables at the start of `box`.
  void values(const Box& box, int w, std::array<std::int64_t, warp_lanes>& out) const;
  /// Affine only: the outer variables' and the warp's share of values(); lane_offsets() is the lanes'.
  std::int64_t base(const Box& box) const;
  std::int64_t warp_offset(int w) const;
  const std::array<std::int64_t, warp_lanes>& lane_offsets() const { return sum_.lanes; }
  std::int64_t least_lane() const { return *std::min_element(sum_.lanes.begin(), sum_.lanes.end()); }
  std::int64_t greatest_lane() const { return *std::max_element(sum_.lanes.begin(), sum_.lanes.end()); }

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
    std::array<std::int64_t, warp_lanes> lanes{};
    std::int64_t base(const Box& box) const;
    std::int64_t warp_offset(const ir::Kernel& kernel, int w) const;
  };
  /// coefficient * (inner / divisor) or coefficient * (inner % divisor).
  struct Quotient {
    bool remainder = false;
    std::int64_t divisor = 1, coefficient = 0;
    Sum inner;
  };
  void add(ir::ExprId expr, std::int64_t scale);
  /// false: a variable does not split into shares, or there are too many.
  bool add_variable(Sum& sum, ir::VarId var, std::int64_t coefficient) const;
  bool add_quotient(const ir::Term& term, std::int64_t coefficient);

  const ir::Kernel& kernel_;
  ir::ExprId a_, b_;
  std::int64_t scale_;
  std::uint64_t nested_ = 0;  ///< variables inside terms
  bool affine_ = true;
  bool split_ = true;  ///< affine but for quotients of affine sums
  Sum sum_;
  int quotient_count_ = 0;
  std::array<Quotient, 4> quotients_;
};

}  // namespace tailor::costmodel
