// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting many plans of one group. In: a plan and its kernel. Out: its work. Called by tune.cpp.
//
// Most groups are counted in microseconds a plan. Where arrays are padded, cut or joined a plan may take milliseconds,
// because each block meets other edges. Such groups are flat loops, whose plans differ in how a vector's number is made
// up of block, trip and thread. So once a plan would take long, or those so far together did, the loop is lowered for
// blocks of one warp, counted warp by warp, and the other plans of the same vector take their counts from there
// (costmodel/flat.h). A plan that does not agree with the loop is counted as any other.
//
// A loop may have too many warps for that. Then each plan is counted alone while that takes some milliseconds; once one
// takes longer, a sample of the warps is counted instead, again once for all plans of the vector. Counting each plan
// alone would take samples too, and a hundred of them.
#include "explore/plans/plan_counter.h"

#include <algorithm>

#include "explore/plans/tiling.h"

namespace tailor::explore {

namespace {

/// Looks beyond which it pays to share, of one plan and of all so far; and beyond which a sample that is shared is
/// better than so many of each plan.
constexpr std::int64_t few_looks = 1000, few_looks_together = 3000, many_looks = 8000;

}  // namespace

std::optional<ir::Kernel> PlanCounter::lowered_loop(const Loop& loop) {
  codegen::Lowered lowered = codegen::lower(prepared_, loop.plan, limits_, lower_scratch_);
  if (auto* kernel = std::get_if<ir::Kernel>(&lowered)) return std::move(*kernel);
  return std::nullopt;
}

PlanCounter::Loop& PlanCounter::loop_of(const ir::Plan& plan) {
  ir::Plan one_warp = plan;
  one_warp.threads = limits_.warp_size;
  one_warp.unroll = 1;
  one_warp.grid = ir::GridShape::tile;
  one_warp.blocks_per_sm = one_warp.min_blocks = 0;
  for (Loop& known : loops_)
    if (known.plan == one_warp) return known;
  Loop& made = loops_.emplace_back(Loop{one_warp, std::nullopt});
  if (prepared_.columns % plan.vector != 0) return made;  // elements that fill no vector belong to no warp of the loop
  if (const auto kernel = lowered_loop(made))
    made.counts = costmodel::count_flat(*kernel, tiling_of(prepared_, one_warp, limits_).vectors, scratch_);
  return made;
}

bool PlanCounter::counts_like_others(Loop& loop, const ir::Kernel& kernel, costmodel::Work& work) {
  if (!loop.counts || !costmodel::count_like(*loop.counts, kernel, scratch_, work)) return false;
  ++shared;
  return true;
}

void PlanCounter::count(const ir::Plan& plan, const ir::Kernel& kernel, costmodel::Work& work) {
  if (scratch_.looks() > few_looks_together) slow_ = true;
  if (!slow_ && costmodel::count_within(kernel, few_looks, scratch_, work)) return;
  slow_ = true;
  if (plan.skeleton == ir::Skeleton::map) {
    Loop& loop = loop_of(plan);
    if (counts_like_others(loop, kernel, work)) return;
    if (!loop.counts && !loop.is_sampled) {
      if (costmodel::count_within(kernel, many_looks, scratch_, work)) return;
      loop.is_sampled = true;
      if (const auto one_warp = lowered_loop(loop))
        loop.counts = costmodel::sample_flat(*one_warp, tiling_of(prepared_, loop.plan, limits_).vectors, scratch_);
      if (counts_like_others(loop, kernel, work)) return;
    }
  }
  costmodel::count(kernel, costmodel::Mode::fast, scratch_, work);
}

}  // namespace tailor::explore
