// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of what a fit may move: figures of ir/figures.def with the scale they are moved in, their bounds, how
// surely the value before the fit is believed, and which observations tell of them. A figure that a fit is to move is a
// row of parameters.cpp and nothing else. Read by fit.cpp and propose.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "costmodel/calibration.h"
#include "ir/regime.h"

namespace tailor::calibrate {

/// In which scale a figure is moved, and its prior is normal.
enum class Scale : std::uint8_t { logarithm, linear };

/// Whether a figure has a value for all calls, or one for the calls of each operation around a common one.
enum class Extent : std::uint8_t { all, operation };

struct Parameter {
  std::string_view figure;
  Scale scale = Scale::logarithm;
  double low = 0, high = 0;  ///< bounds, in the figure's unit
  double width = 0;          ///< of the prior, in the scale: 0.2 is 20 % of a figure that is moved by its logarithm
  Extent extent = Extent::all;
  /// Times in which this kind of regime can tell it; others leave it where it was.
  bool (*told_by)(const ir::Regime& regime) = nullptr;
  std::string_view words;                  ///< what tells it, for people
  double share_of_least = 1;               ///< where it is not known before, it begins at this share of the least time
  ir::Figure ir::Device::*most = nullptr;  ///< of the data sheet: it is never above that
  double costmodel::CalibratedDevice::*member = nullptr;  ///< filled in by parameters()
};

/// In the order of importance: where there are few observations, those that stand first are moved.
std::span<const Parameter> parameters();

/// Into the scale and back.
double scaled(const Parameter& parameter, double value);
double unscaled(const Parameter& parameter, double x);

}  // namespace tailor::calibrate
