// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the points of an experiment's grid came to, summed up by the values of some of its keys. In: a database, and the
// words of tailor report --by. Out: a table. Called by tailor report. Points, models and devices of equal values are
// added up, for each strategy alone.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"
#include "store/store.h"

namespace tailor::study {

/// Of the grid that was swept last, a row for each combination of what points have at `by` (keys of the grid by their
/// names or last words, "model", "device", "point") and each strategy. Throws Error(missing) where no grid was swept,
/// Error(usage) for a key that it does not turn.
report::Table grid_table(const store::Store& store, const std::vector<std::string>& by);

}  // namespace tailor::study
