// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Making a picture small enough to be looked at. Comes in: panels with all their boxes and lines, what each box costs,
// and how much there may be. Goes out: the same panels with equal boxes summed up and the cheapest left out, which are
// counted. Called by fusion_picture().
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "report/picture.h"
#include "study/module/fusion_picture.h"

namespace tailor::study {

struct BoxCost {
  double cost = 0;           ///< what boxes are ranked by: those of a kind among themselves
  std::int64_t number = -1;  ///< of the kernel's group: equal ones are the same kernel; -1: no kernel
};

struct CostedPanel {
  report::PicturePanel panel;
  std::vector<BoxCost> costs;  ///< one per box
};

/// Applies the limits; `left_out` of a panel counts the kernels and calls that are gone. Near-linear.
void limit_panels(std::vector<CostedPanel>& panels, const PictureLimits& limits, const std::stop_token& stop);

}  // namespace tailor::study
