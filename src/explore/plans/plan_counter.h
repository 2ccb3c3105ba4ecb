// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts the plans of one group. In: plans and the kernels they lower to. Out: their work, as count() in mode fast says
// it. What plans have in common is counted once: those of a flat loop differ in blocks and trips alone. Called by
// tune.cpp for every plan of a space.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "codegen/lower/lower.h"
#include "codegen/lower/prepare.h"
#include "costmodel/count.h"
#include "costmodel/flat/flat.h"
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
  /// Plans that differ in blocks and trips alone. Where a program has several kernels, each is a loop of its own, of
  /// vectors that may be longer than the plan's.
  struct Loop {
    ir::Plan plan;                                             ///< of one warp a block
    std::vector<std::optional<costmodel::FlatCounts>> counts;  ///< of each kernel of the program
    std::int64_t tried = 0;                                    ///< looks that counting it was given
    std::int64_t taken = 0;                                    ///< looks that counting it took, in vain or not
    bool is_sampled = false;  ///< a plan of it took too many looks; then `counts` are of a sample where there is one
  };
  /// Counts the loop where that takes no more than so many looks and was not tried with as many before.
  Loop& loop_of(const ir::Plan& plan, int vector, std::int64_t most_looks);
  void count_loop(Loop& loop, std::int64_t most_looks);
  /// Nothing where the plan does not lower.
  std::optional<ir::Kernel> lowered_loop(const ir::Plan& plan);
  /// Whether a kernel's counts came from others; of loops that are counted in no more than so many looks.
  bool counts_like_others(const ir::Plan& plan, const ir::Kernel& kernel, std::int64_t most_looks,
                          costmodel::Work& work);

  const codegen::Prepared& prepared_;
  const ir::Limits& limits_;
  codegen::LowerScratch lower_scratch_;
  costmodel::Scratch scratch_;
  std::deque<Loop> loops_;
  std::vector<costmodel::FlatCounts*> like_;  ///< of the program at hand
  bool slow_;                                 ///< a plan of the group takes long to count
  bool many_parts_ = false;                   ///< a loop of the group took too many looks
};

}  // namespace tailor::explore
