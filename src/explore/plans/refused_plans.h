// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the lowering has refused of one group, so that it is not asked again. In: plans with what the lowering said of
// them. Out: what it said, or would say, of another plan. Kept by tune() for as long as it looks for a plan.
//
// A group of windows over windows may need an element at more places than a kernel can hold. The lowering finds that
// out by writing the expression, which takes it longer than any kernel that there is; and where all plans are refused
// they are asked for again with one rule less, and at last for the reason. How many places an element needs follows
// from the way a loop goes over elements and from what waits where. It does not follow from how the loop is dealt out:
// plans that differ in that alone are refused together, which a test shows for drawn plans of such groups. Of other
// refusals only the plan itself is known again.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "ir/fusion.h"
#include "ir/plan.h"
#include "ir/refusal.h"

namespace tailor::explore {

/// The plan with fixed values wherever it says only how its loop is dealt out: whole blocks, trips and their grid.
ir::Plan without_dealing(ir::Plan plan);

class RefusedPlans {
 public:
  explicit RefusedPlans(Id group) : group_(group) {}

  /// Nothing where the lowering has to be asked.
  const ir::Rejection* find(const ir::Plan& plan) const;
  /// `again`: the same plan may be met again.
  void add(const ir::Plan& plan, const ir::Rejection& why, bool again);

 private:
  Id group_;
  std::vector<std::pair<ir::Plan, ir::Rejection>> too_large_;  ///< of each way to go over elements one
  std::map<Id, ir::Rejection> plans_;
};

}  // namespace tailor::explore
