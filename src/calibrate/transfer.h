// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What other GPUs say about a new one. In: calibrations of GPUs that were measured, with their devices. Out: a prior
// for each figure that fits move, and which of the GPUs are nearest. Called where there are fewer observations than
// figures (tailor calibrate --few).
#pragma once

#include <span>
#include <vector>

#include "calibrate/fit.h"

namespace tailor::calibrate {

struct Neighbour {
  ir::Device device;
  ir::Calibration calibration;  ///< of that device
};

/// The `count` of `others` whose memory and processors are most like the device's, by the logarithms of their facts;
/// never the device itself.
std::vector<Neighbour> nearest(const ir::Device& device, std::span<const Neighbour> others, std::size_t count);

/// Median and spread of what the neighbours' fits found: shares and exponents as they are, rates in proportion to what
/// the device could at most. Empty for no neighbour.
std::map<std::string, Prior> priors_from(const ir::Device& device, std::span<const Neighbour> neighbours);

}  // namespace tailor::calibrate
