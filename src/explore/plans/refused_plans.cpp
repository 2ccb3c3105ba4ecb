// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Refusals that are known already. In: plans and what the lowering said of them. Out: what is known of another plan,
// because it is the same, or because it goes over elements in the same way and was too large for a kernel. Called by
// tune.cpp.
#include "explore/plans/refused_plans.h"

#include <string_view>

namespace tailor::explore {

namespace {

constexpr std::string_view too_large = "size";  ///< of refusals.def

}  // namespace

ir::Plan without_dealing(ir::Plan plan) {
  const ir::Plan plain;
  plan.grid = plain.grid;
  plan.blocks_per_sm = plain.blocks_per_sm;
  plan.min_blocks = plain.min_blocks;
  plan.arithmetic = plain.arithmetic;
  // Of other loops threads and trips say who shares a row or a tile, and so how wide it is read.
  if (plan.skeleton != ir::Skeleton::map) return plan;
  plan.threads = plain.threads;
  plan.unroll = plain.unroll;
  return plan;
}

const ir::Rejection* RefusedPlans::find(const ir::Plan& plan) const {
  if (!too_large_.empty()) {
    const ir::Plan wanted = without_dealing(plan);
    for (const auto& [known, why] : too_large_)
      if (known == wanted) return &why;
  }
  if (plans_.empty()) return nullptr;
  const auto found = plans_.find(id_of(plan, group_));
  return found == plans_.end() ? nullptr : &found->second;
}

void RefusedPlans::add(const ir::Plan& plan, const ir::Rejection& why, bool again) {
  if (why.rule == too_large)
    too_large_.emplace_back(without_dealing(plan), why);
  else if (again)
    plans_.emplace(id_of(plan, group_), why);
}

}  // namespace tailor::explore
