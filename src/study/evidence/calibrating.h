// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration as a question: a GPU, observations, what was believed before. In: names and paths. Out: the text of a
// calibration file, and tables of what was fitted and what to measure next. Called by tailor calibrate, which writes
// the file when all of it is there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "calibrate/transfer.h"
#include "report/table.h"
#include "study/evidence/evidence.h"

namespace tailor::study {

struct CalibrationQuestion {
  std::vector<std::string> sources;
  std::string device;                        ///< a name or a file
  std::string calibration = "uncalibrated";  ///< before
  bool few = false;        ///< priors are what the calibrations of other GPUs say; few observations are enough
  bool residual = false;   ///< learn what the figures leave over, too
  std::int64_t shots = 0;  ///< fit to so many observations, drawn by `seed`; 0: all
  std::int64_t seed = 1;
  bool informative = false;  ///< of half of the observations, drawn, the shots that say most
};

struct CalibrationAnswer {
  calibrate::Fitted fitted;
  report::Table figures;                 ///< one row for each figure that was moved
  std::vector<std::string> priors_from;  ///< calibrations that the priors are from
  Samples samples;                       ///< counts
  std::int64_t sooner_than_dram = 0;     ///< with cold caches, in less time than dram_bandwidth takes for the input
};
/// The calibrated GPUs (calibrations of the data folder that are named as a device) that are most like this one.
std::vector<calibrate::Neighbour> nearest_calibrated(const ir::Device& device, const std::filesystem::path& data);

/// What grows the trees of residuals, "" where the build has nothing, and what to do about that.
std::string learning_library();
std::string learning_remedy();

CalibrationAnswer calibrate_device(const CalibrationQuestion& question, const std::filesystem::path& data,
                                   const Watch& watch);

}  // namespace tailor::study
