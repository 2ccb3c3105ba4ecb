// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting many plans of one group. In: a plan and its kernel. Out: its work. Called by tune.cpp.
//
// Most groups are counted in microseconds a plan. Where arrays are padded, cut or joined a plan may take milliseconds,
// because each block meets other edges. Such groups are flat loops, whose plans differ in how a vector's number is made
// up of block, trip and thread. So once a plan would take long, or those so far together did, the loop is lowered for
// blocks of one warp, counted warp by warp, and the other plans of the same vector take their counts from there
// (costmodel/flat/flat.h). A plan that does not agree with the loop is counted as any other.
//
// A loop may have too many warps for that. Then each plan is counted alone while that takes some milliseconds; once one
// takes longer, a sample of the warps is counted instead, again once for all plans of the vector. Counting each plan
// alone would take samples too, and a hundred of them. What one vector of the group took many looks for in vain is
// tried with fewer for the others.
#include "explore/plans/plan_counter.h"

#include <algorithm>

#include "explore/plans/tiling.h"

namespace tailor::explore {

namespace {

/// Looks beyond which it pays to share, of one plan and of all so far; and beyond which a sample that is shared is
/// better than so many of each plan.
constexpr std::int64_t few_looks = 1000, few_looks_together = 3000, many_looks = 8000;
/// Looks of all plans so far beyond which it pays to share where the loop is counted in few looks itself.
constexpr std::int64_t first_looks_together = 300, first_flat_looks = 1000;

}  // namespace

std::optional<ir::Kernel> PlanCounter::lowered_loop(const ir::Plan& plan) {
  codegen::Lowered lowered = codegen::lower(prepared_, plan, limits_, lower_scratch_);
  if (auto* kernel = std::get_if<ir::Kernel>(&lowered)) return std::move(*kernel);
  return std::nullopt;
}

void PlanCounter::count_loop(Loop& loop, std::int64_t most_looks) {
  const auto program = lowered_loop(loop.plan);
  if (!program) return;
  const bool alone = program->followers.empty();
  // Elements that fill no vector belong to no warp of the loop.
  if (alone && prepared_.columns % loop.plan.vector != 0) return;
  const std::int64_t vectors = alone ? tiling_of(prepared_, loop.plan, limits_).vectors : 0;
  loop.counts.clear();
  for (const ir::Kernel& kernel : ir::kernels_of(*program))
    loop.counts.push_back(alone || costmodel::widest_access(kernel) <= loop.plan.vector
                              ? costmodel::count_flat(kernel, vectors, scratch_, most_looks)
                              : std::nullopt);
}

PlanCounter::Loop& PlanCounter::loop_of(const ir::Plan& plan, int vector, std::int64_t most_looks) {
  ir::Plan one_warp = plan;
  one_warp.threads = limits_.warp_size;
  one_warp.vector = vector;
  one_warp.unroll = 1;
  one_warp.grid = ir::GridShape::tile;
  one_warp.blocks_per_sm = one_warp.min_blocks = 0;
  const auto known = std::find_if(loops_.begin(), loops_.end(), [&](const Loop& one) { return one.plan == one_warp; });
  Loop& loop = known != loops_.end() ? *known : loops_.emplace_back(Loop{one_warp, {}});
  const auto is_counted = [&] {
    return !loop.counts.empty() &&
           std::all_of(loop.counts.begin(), loop.counts.end(), [](const auto& one) { return one.has_value(); });
  };
  if (is_counted() || loop.tried >= most_looks) return loop;
  loop.tried = most_looks;
  const std::int64_t before = looks();
  count_loop(loop, many_parts_ ? std::min(most_looks, many_looks) : most_looks);
  loop.taken = looks() - before;
  many_parts_ |= !is_counted() && loop.taken >= costmodel::most_flat_looks;
  return loop;
}

bool PlanCounter::counts_like_others(const ir::Plan& plan, const ir::Kernel& kernel, std::int64_t most_looks,
                                     costmodel::Work& work) {
  like_.clear();
  for (const ir::Kernel& one : ir::kernels_of(kernel)) {
    // What fills an array has vectors as wide as can be, whatever the plan's.
    const int vector = kernel.followers.empty() ? plan.vector : std::max(plan.vector, costmodel::widest_access(one));
    Loop& loop = loop_of(plan, vector, most_looks);
    const std::size_t at = like_.size();
    if (loop.counts.size() <= at || !loop.counts[at]) return false;
    like_.push_back(&*loop.counts[at]);
  }
  if (!costmodel::count_like(like_, kernel, scratch_, work)) return false;
  ++shared;
  return true;
}

void PlanCounter::count(const ir::Plan& plan, const ir::Kernel& kernel, costmodel::Work& work) {
  const bool is_flat = plan.skeleton == ir::Skeleton::map;
  if (scratch_.looks() > few_looks_together) slow_ = true;
  if (!slow_ && is_flat && scratch_.looks() > first_looks_together &&
      counts_like_others(plan, kernel, first_flat_looks, work))
    return;
  if (!slow_ && costmodel::count_within(kernel, few_looks, scratch_, work)) return;
  slow_ = true;
  if (is_flat) {
    if (counts_like_others(plan, kernel, costmodel::most_flat_looks, work)) return;
    Loop& loop = loop_of(plan, plan.vector, costmodel::most_flat_looks);
    if (std::none_of(loop.counts.begin(), loop.counts.end(), [](const auto& one) { return one.has_value(); }) &&
        !loop.is_sampled) {
      if (loop.taken < many_looks && costmodel::count_within(kernel, many_looks, scratch_, work)) return;
      loop.is_sampled = true;
      if (const auto one_warp = lowered_loop(loop.plan))
        loop.counts.assign(
            1, costmodel::sample_flat(*one_warp, tiling_of(prepared_, loop.plan, limits_).vectors, scratch_));
      if (counts_like_others(plan, kernel, costmodel::most_flat_looks, work)) return;
    }
  }
  costmodel::count(kernel, costmodel::Mode::fast, scratch_, work);
}

}  // namespace tailor::explore
