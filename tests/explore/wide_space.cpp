// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Wide spaces of plans. In: a prepared group. Out: axes, or plans. Called by every_plan.cpp. The product of the spaces
// of several bodies is out of reach, so each plan of a body is put beside the next ones of the others; a stage that is
// a pack has plans that were made so.
#include "explore/wide_space.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "codegen/lower/lower_pack.h"
#include "codegen/lower/lower_stages.h"
#include "explore/plans/walk.h"

namespace tailor::explore {

using namespace tailor::ir;
using namespace tailor::codegen;

Axes wide_axes(const Prepared& prepared) {
  Axes axes = default_axes(prepared, small_limits);
  axes[PlanField::value_cache] = {1, 0};
  axes[PlanField::strip] = {prepared.strip.rows};  // other strips are other loops
  std::vector<int> threads{64, 192, 256};
  for (const int parts_of_warps : axes[PlanField::threads])  // of columns
    if (parts_of_warps % small_limits.warp_size != 0 && threads.size() < 5) threads.push_back(parts_of_warps);
  axes[PlanField::threads] = threads;
  axes[PlanField::threads_per_row].push_back(3 * small_limits.warp_size);  // whole warps need be no power of two
  axes[PlanField::split] = {1, 3, 18};
  axes[PlanField::meet].clear();
  constexpr std::int64_t shared_row = 64;  // a lane of two warps for each element
  if (prepared.columns >= shared_row) axes[PlanField::cluster] = {0, 2, 3};
  for (const Meeting meet : {Meeting::last, Meeting::grid, Meeting::kernel})
    if (meet == Meeting::last || !prepared.sums_across) axes[PlanField::meet].push_back(static_cast<int>(meet));
  return axes;
}

bool is_taken(std::uint64_t number, Thinning thinning) {
  // Scattered, so that no axis loses its values to the beat of the enumeration.
  return (number * 0x9e3779b97f4a7c15ULL >> 33) % static_cast<std::uint64_t>(thinning.one_in) == 0;
}

namespace {

std::vector<Plan> put_together(const Prepared& whole, Thinning thinning, bool in_stages);

/// What a stage has none of, nor a body of one.
bool is_of_a_launch(const Plan& plan) {
  return plan.grid != GridShape::tile || plan.min_blocks != 0 || plan.cluster > 1 || plan.meet != Meeting::last;
}

/// Those of one body that need no launch of their own, in its own numbers.
std::vector<Plan> plans_of_body(const Prepared& whole, std::size_t body, Thinning thinning, bool in_stages,
                                LowerScratch& scratch) {
  const Prepared& own = *whole.bodies[body].prepared;
  if (!own.bodies.empty()) return put_together(own, thinning, in_stages);
  const Axes axes = wide_axes(own);
  Plans plans(own, axes, small_limits);
  std::vector<Plan> found;
  std::uint64_t number = 0;
  while (const auto plan = plans.next()) {
    if (!is_taken(++number, thinning)) continue;
    if (in_stages && is_of_a_launch(*plan)) continue;
    const Lowered lowered = lower(own, *plan, small_limits, scratch);
    if (std::holds_alternative<Kernel>(lowered) && !refuse_beside(whole, *plan, body)) found.push_back(*plan);
  }
  return found;
}

std::vector<Plan> put_together(const Prepared& pack, Thinning thinning, bool in_stages) {
  std::map<std::string, std::pair<Plan, std::vector<std::vector<Plan>>>> by_head;
  LowerScratch scratch;
  for (std::size_t body = 0; body < pack.bodies.size(); ++body) {
    for (const Plan& plan : plans_of_body(pack, body, thinning, in_stages, scratch)) {
      Plan head;
      head.skeleton = pack.skeleton;
      copy_fields(head, plan, Skeleton::pack);
      auto& [said, lists] = by_head[text(head)];
      said = head;
      lists.resize(pack.bodies.size());
      lists[body].push_back(plan_in_whole(pack.bodies[body], plan));
    }
  }
  std::vector<Plan> found;
  for (const auto& [words, heads] : by_head) {
    const auto& [head, lists] = heads;
    std::size_t most = 0;
    for (const std::vector<Plan>& list : lists) most = list.empty() ? 0 : std::max(most, list.size());
    if (std::any_of(lists.begin(), lists.end(), [](const auto& list) { return list.empty(); })) continue;
    for (std::size_t i = 0; i < most; ++i) {
      Plan plan = head;
      for (const std::vector<Plan>& list : lists) plan.bodies.push_back(list[i % list.size()]);
      if (pack.skeleton == Skeleton::stages) {
        plan.homes = homes_between(pack);
        plan.grid = GridShape::persistent;
        plan.blocks_per_sm = 1 + static_cast<int>(i) % std::min(3, small_limits.threads_per_sm / plan.threads);
      }
      copy_fields(plan, plan, plan.skeleton);
      found.push_back(std::move(plan));
    }
  }
  return found;
}

}  // namespace

std::vector<Plan> plans_of_bodies(const Prepared& whole, Thinning thinning) {
  return put_together(whole, thinning, whole.skeleton == Skeleton::stages);
}

}  // namespace tailor::explore
