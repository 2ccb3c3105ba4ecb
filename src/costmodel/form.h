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
  const std::array<std::int64_t, warp_lanes>& lane_offsets() const { return lane_offsets_; }
  std::int64_t least_lane() const { return *std::min_element(lane_offsets_.begin(), lane_offsets_.end()); }
  std::int64_t greatest_lane() const { return *std::max_element(lane_offsets_.begin(), lane_offsets_.end()); }

 private:
  struct Share {
    ir::VarId var = 0;
    std::int64_t coefficient = 0;
  };
  void add(ir::ExprId expr, std::int64_t scale);
  void add_thread(const ir::Var& var, std::int64_t coefficient);

  const ir::Kernel& kernel_;
  ir::ExprId a_, b_;
  std::int64_t scale_, constant_ = 0;
  std::uint64_t nested_ = 0;  ///< variables inside terms
  bool affine_ = true;
  int outer_count_ = 0, thread_count_ = 0;
  std::array<Share, 24> outer_, thread_;
  std::array<std::int64_t, warp_lanes> lane_offsets_{};
};

}  // namespace tailor::costmodel
