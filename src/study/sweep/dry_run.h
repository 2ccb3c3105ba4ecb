// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep would do, and how long that would take here. In: the options of a sweep. Out: a row per step: places,
// how many are done already, and a time. Called by tailor sweep --dry-run. Nothing is written where the sweep would
// write: the database is copied first, and a sample of the open work is done on the copy with the steps of the sweep
// itself. Its time is scaled to the whole, so the figure holds for this machine, its compiler and its models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "report/table.h"
#include "study/pipeline/observer.h"
#include "study/sweep/sweep.h"

namespace tailor::study {

struct ExpectedStep {
  std::string step;                          ///< "fuse", "score", "compile", "check"
  std::string of;                            ///< what is counted: "models", "plans", "kernels"
  std::optional<std::int64_t> places, done;  ///< groups on devices, and those that the database has already
  std::optional<std::int64_t> amount;        ///< of the open places; absent where no sample tells
  std::string_view exactly = "exact";        ///< what the amount is: "exact", "at most", "about"
  std::optional<Seconds> time;               ///< of the open places; absent where nothing here can do it
  std::string note;                          ///< how the figure was made, or why there is none
};

struct DryRun {
  SweepOutcome outcome;             ///< the database and the models that could not be read; nothing else
  std::int64_t points = 1;          ///< of the file's grid
  std::vector<ExpectedStep> steps;  ///< summed over the points
};

/// Throws what run_sweep() throws before it starts, Error(interrupted).
DryRun dry_run(const SweepOptions& options, const Watch& watch);
/// One row per step, and one with the sum of the times.
report::Table dry_run_table(const DryRun& run);

}  // namespace tailor::study
