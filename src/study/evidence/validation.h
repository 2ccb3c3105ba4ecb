// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Validation as a question and its tables: which observations, which models under which calibrations, apart by what.
// In: names and paths. Out: tables for people and programs, and how many observations were left out and why. Called by
// tailor validate.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/table.h"
#include "study/evidence/evidence.h"

namespace tailor::study {

struct ValidationQuestion {
  std::vector<std::string> sources;
  std::string device;                                               ///< only this one; empty: all
  std::vector<std::string> models = {"projected", "sol"};           ///< rows of costmodel::models()
  std::vector<std::string> calibrations = {"uncalibrated", "own"};  ///< own: the file named as the device, if any
  std::vector<std::string> by = {"operation"};
  bool ablate = false;             ///< instead of rivals, rows for each model without one of its parts
  std::string split = "held-out";  ///< train, validate, test; held-out: what no calibration in the table was fitted to
};

struct ValidationAnswer {
  std::vector<std::pair<std::string, report::Table>> tables;  ///< by key; the first is over all
  std::int64_t scored = 0, fitted = 0;  ///< observations; of them left out because a calibration rests on them
  Samples samples;                      ///< counts only: `samples` was moved out
};

/// Throws Error(usage) for a name that is none, Error(failed) when nothing is left to score, Error(missing) for files
/// and devices that are not there.
ValidationAnswer validate(const ValidationQuestion& question, const std::filesystem::path& data, const Watch& watch);

}  // namespace tailor::study
