// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a sweep came to, as tables: what `tailor sweep` answers. In: its outcome.
// Out: strategies with both speed-ups, and what was done.
// Called by the command.
#pragma once

#include <string>

#include "report/table.h"
#include "study/sweep/sweep.h"

namespace tailor::study {

/// One row per model, device and strategy. Speed-ups are over the baseline on the same model and device: of the fused
/// kernels alone, and with the library calls. Times are absent where a group has neither plan nor bound.
report::Table strategies_table(const SweepOutcome& outcome);
/// One row: models, groups, plans, kernels by what became of them, the claim with its figure, where everything is.
report::Table done_table(const SweepOutcome& outcome);

/// That no model has anything to fuse, in a sentence without its point; empty where one has, or where none was read.
std::string nothing_swept(const SweepOutcome& outcome);

/// One row per model that could not be read, with the reason; no rows where all could.
report::Table left_out_table(const SweepOutcome& outcome);

}  // namespace tailor::study
