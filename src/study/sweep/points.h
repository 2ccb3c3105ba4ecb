// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep comes to. In: a sweep whose steps are done. Out: what its strategies come to by its own short lists; of
// a point of a grid, rows of that. Called by run_sweep(). Sweeps and points share databases, whose views take the best
// plan of all of them: what one of them came to is therefore made here, by the plans on its own short lists.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"
#include "store/store.h"
#include "study/sweep/sweep_stages.h"

namespace tailor::study {

struct OwnTotals {
  std::vector<store::StrategyTotals> strategies;
  std::vector<store::StrategySearchAdded> search_added;  ///< of strategies with a kernel as XLA's among the own plans
};

/// As the database's view `strategies`, of this sweep's fusions and with the times of its own short lists; a group that
/// has no plan there counts with its bound. Measured times count where this sweep measures. By model, device, time.
OwnTotals own_totals(Sweep& sweep);

/// Stores what a point is, and what its strategies came to. `grid` is the id of the whole file's configuration.
void save_point(Sweep& sweep, Id grid, std::int64_t number, const std::vector<store::StrategyTotals>& totals);

}  // namespace tailor::study
