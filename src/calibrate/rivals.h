// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a cost model must beat: predictors that need no physics, and errors that others have published. In: samples to
// fit to. Out: functions from a sample to a time. Called by validation, which scores them beside the models on the same
// samples; a rival is a row of the table in rivals.cpp.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/sample.h"
#include "ir/device.h"

namespace tailor::calibrate {

/// Time in seconds; below 0: it has nothing to say of this sample.
using Predictor = std::function<double(const Sample&)>;

struct Rival {
  std::string_view name;
  std::string_view what;
  /// Fits to samples of one device and operation. Precondition: at least one.
  Predictor (*fit)(std::span<const Sample* const> train, const ir::Device& device);
};
std::span<const Rival> rivals();

/// Fits a rival for each device and operation among `train`.
Predictor fitted_rival(const Rival& rival, std::span<const Sample> train, std::span<const ir::Device> devices);

/// t = a + b * bytes, both from 0 up, of least relative squared error.
struct Line {
  double a = 0, b = 0;
};
Line fit_line(std::span<const double> bytes, std::span<const double> times);

/// Errors that somebody else published for a model of theirs, as text and numbers with their source.
struct Published {
  std::string_view name, operation;
  double mean, median;  ///< relative errors
  std::string_view source;
};
std::span<const Published> published();

}  // namespace tailor::calibrate
