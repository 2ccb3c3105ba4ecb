// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the points of an experiment's grid came to, summed up by the values of some of its keys. In: a database, and the
// words of tailor report --by. Out: a table, what was left out of it, and what its times are. Called by tailor report
// and by the verdict of a report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/table.h"
#include "store/store.h"

namespace tailor::study {

struct GridAnswer {
  report::Table table;
  report::Table left_out;  ///< without columns where nothing was
  std::string words;       ///< what the times are, and what was left out, in sentences
};

/// Of the grid that was swept last, a row for each combination of what points have at `by` (keys of the grid by their
/// names or last words, "model", "device", "point") and each strategy. Throws Error(missing) where no grid was swept,
/// Error(usage) for a key that it does not turn or that stands twice.
GridAnswer grid_table(const store::Store& store, const std::vector<std::string>& by);

/// The points of the grid of which `point` is one, by number; empty where it is of none. Where it is of several grids,
/// one of them.
std::vector<store::PointRow> grid_of(const store::Store& store, Id point);

}  // namespace tailor::study
