// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Calibration: the few numbers of the models that are neither counted nor a device's, read from data/calibrations. The
// shipped file `uncalibrated` holds priors and openly assumed errors; fitted ones take its place.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "ir/estimate.h"

namespace tailor::costmodel {

/// Relative: a time t is claimed to lie in t * (1 - low) .. t * (1 + high).
struct Margin {
  double low = 0, high = 0;
};

struct Calibration {
  double register_base = 0;  ///< registers a kernel needs beside the values its program keeps alive
  double warm_share = 0;     ///< 0: inputs are cold; 1: inputs that fit are in L2 when the kernel starts
  double reuse_knee = 1;     ///< exponent of the hit rate around the size of L2
  Margin sol, projected, compiled;
};

/// Throws Error(failed) with line and column.
Calibration read_calibration(const std::string& path);
Calibration parse_calibration(std::string_view text, const std::string& file);

}  // namespace tailor::costmodel
