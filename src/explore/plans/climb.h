// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Climbing the levels of the cost model. A level costs a hundred times the one below, so it looks only at the plans
// that are best by a lower one. Plans with what is known of them come in; an evaluator is called with those that are to
// be looked at more closely. Evaluators are plain functions that the caller brings: this room knows no compiler, no
// simulator and no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "ir/estimate.h"

namespace tailor::explore {

/// What is known of one plan on its way up.
struct Standing {
  Id group;  ///< plans of one group on one device compete with one another
  Id device;
  std::vector<ir::Estimate> estimates;  ///< one a level, in the order in which they were made
  bool refuted = false;                 ///< its kernel is wrong: it is out

  /// Null where the level has not looked.
  const ir::Estimate* at(ir::Level level) const;
};

/// The numbers of the plans that are among the `top` fastest of their group by level `by`: group by group in the order
/// in which the groups first stand there, fastest first, equal times in the order given. Plans that are refuted or were
/// not estimated at that level are not among them. 0 takes none.
std::vector<std::size_t> best_by(std::span<const Standing* const> plans, ir::Level by, std::int64_t top);

/// One step of the climb.
struct Rung {
  ir::Level by;          ///< the level whose best are looked at
  std::int64_t top = 0;  ///< how many of each group
  /// Looks at the plans of these numbers; what it learns it adds to their standings.
  std::function<void(std::span<const std::size_t>)> evaluate;
};

/// Takes the steps in order, each over what the steps before left.
void climb(std::span<const Standing* const> plans, std::span<const Rung> rungs);

}  // namespace tailor::explore
