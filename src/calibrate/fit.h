// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A calibration from observations. In: samples of one device, the calibration before (its values are the priors), and
// how surely it is believed. Out: a calibration in the form of ir/calibration.h: each figure that was moved with
// interval, observations and ranges, the others as they were; and what the fit says about itself. The same samples, in
// any order, give the same calibration, byte for byte. Called by tailor calibrate and by tests.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "calibrate/learn.h"
#include "calibrate/least_squares.h"
#include "calibrate/parameters.h"
#include "calibrate/sample.h"

namespace tailor::calibrate {

/// What is believed of a figure before the fit, where that is not the calibration's value and the table's width.
struct Prior {
  double value = 0;
  double width = 0;  ///< in the parameter's scale
  std::string source;
};

struct FitOptions {
  std::map<std::string, Prior> priors;  ///< by figure, and "figure of operation"
  bool few = false;                     ///< fewer observations than figures are enough: the priors say the rest
  std::string model = "projected";
  bool residual = false;  ///< learn what the figures leave over, where cross-validation gains by it
};

/// One figure as the fit left it.
struct Moved {
  std::string figure, operation;
  double before = 0, value = 0, low = 0, high = 0;  ///< low, high: 90 % interval
  double shrink = 1;  ///< width of the interval over that of the prior: near 1, the observations did not tell it
};

struct Fitted {
  ir::Calibration calibration;
  std::vector<Moved> moved;
  std::vector<std::string> left;               ///< figures that no observation tells of
  std::int64_t used = 0;                       ///< observations fitted to
  std::int64_t weightless = 0;                 ///< of these, so far off that they say nothing: calls of a slower host
  double median_before = 0, median_after = 0;  ///< median relative error on them
  std::string learned;                         ///< what was said of a residual; empty where none was asked for
  double expected_error = 0;  ///< standard deviation that new predictions of such kernels have, from the fit itself
};

/// Fits to the samples of side train of `device`; those of side validate set the margins of predictions. `before` is
/// complete for the device. Throws Error(failed) naming how many observations are there and how many are needed, for
/// samples of another device, and for times that contradict one another by more than a factor of ten for one kernel.
Fitted fit(std::span<const Sample> samples, const ir::Device& device, const ir::Calibration& before,
           const FitOptions& options, const std::stop_token& stop = {});

/// The unknowns of a fit to `samples` and the residuals that they move: what propose.cpp looks at.
struct Posed {
  std::vector<Unknown> unknowns;
  std::vector<const Parameter*> parameters;  ///< of each unknown
  std::vector<std::string> operations;       ///< of each unknown; empty: of all
  std::vector<std::string> left;
  Residuals residuals;
};
Posed pose(std::span<const Sample* const> samples, const ir::Device& device, const ir::Calibration& before,
           const FitOptions& options);

}  // namespace tailor::calibrate
