// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ablations: what the models say without one of their parts. Nothing comes in; the table of parts goes out, each with a
// function that sets a calibrated device's figures to where the part does nothing. A part is a row of ablation.cpp.
// Called by tailor validate --ablate.
#pragma once

#include <span>
#include <string_view>

#include "costmodel/calibration.h"

namespace tailor::calibrate {

struct Ablation {
  std::string_view part;   ///< "the knee of bandwidth"
  std::string_view words;  ///< what is assumed instead
  /// `device` has the data sheet's facts.
  void (*off)(costmodel::CalibratedDevice& figures, const ir::Device& device);
};
std::span<const Ablation> ablations();

}  // namespace tailor::calibrate
