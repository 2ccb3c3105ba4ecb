// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What to measure on a GPU that nobody measured. In: its name or file, models whose plans may be measured, how many
// measurements there is time for, and observations that are there already. Out: a table of plans and copies, the most
// telling first, with the error that is expected after each. Called by tailor calibrate --budget.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"
#include "study/evidence/calibrating.h"

namespace tailor::study {

struct ProposalAnswer {
  report::Table table;
  double error_before = 0;
  std::vector<std::string> left;         ///< figures that none of them tells
  std::vector<std::string> priors_from;  ///< calibrated GPUs; empty: none, and the table's widths are believed
};
/// Candidates are the best plans of every group of `models` (files; empty: those that ship) and copies of arrays from
/// 64 KiB up to an eighth of the memory, each cold and warm. Throws as calibrate_device() and FusedModel do.
ProposalAnswer propose_measurements(const CalibrationQuestion& question, const std::vector<std::string>& models,
                                    std::int64_t budget, const std::filesystem::path& data, const Watch& watch);

}  // namespace tailor::study
