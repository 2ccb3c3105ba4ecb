// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the plans of one group. In: plans and the kernels they lower to. Out: their work, as count() in mode fast says
// it. What plans have in common is counted once: those of a flat loop differ in blocks and trips alone. Called by
// tune.cpp for every plan of a space.
#pragma once

#include <vector>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"
#include "costmodel/count.h"
#include "costmodel/flat.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

class PlanCounter {
 public:
  /// Both must outlive the counter. `at_once`: what may be shared is, however fast it is counted.
  PlanCounter(const codegen::Prepared& prepared, const ir::Limits& limits, bool at_once = false)
      : prepared_(prepared), limits_(limits), slow_(at_once) {}

  /// Overwrites `work`. `kernel` is what `plan` lowers to.
  void count(const ir::Plan& plan, const ir::Kernel& kernel, costmodel::Work& work);

  std::int64_t looks() const { return scratch_.looks(); }  ///< that counting has taken

  std::int64_t shared = 0;  ///< plans whose counts came from another's

 private:
  /// Plans that differ in blocks and trips alone.
  struct Loop {
    ir::Plan plan;  ///< of one warp a block
    std::optional<costmodel::FlatCounts> counts;
    bool is_sampled = false;  ///< a plan of it took too many looks; then `counts` are of a sample where there is one
  };
  Loop& loop_of(const ir::Plan& plan);
  /// Nothing where the loop does not lower, or has no vectors.
  std::optional<ir::Kernel> lowered_loop(const Loop& loop);
  bool counts_like_others(Loop& loop, const ir::Kernel& kernel, costmodel::Work& work);

  const codegen::Prepared& prepared_;
  const ir::Limits& limits_;
  codegen::LowerScratch lower_scratch_;
  costmodel::Scratch scratch_;
  std::vector<Loop> loops_;
  bool slow_;  ///< a plan of the group takes long to count
};

}  // namespace tailor::explore
