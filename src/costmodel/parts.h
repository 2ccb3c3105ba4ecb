// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Small words the models share: a part of an estimate, the greatest of some parts, the interval around the total.
#pragma once

#include <initializer_list>

#include "costmodel/calibration.h"
#include "ir/device.h"
#include "ir/estimate.h"

namespace tailor::costmodel {

inline Seconds& part(ir::Estimate& estimate, ir::Part which) { return estimate.parts[static_cast<std::size_t>(which)]; }
inline Seconds part(const ir::Estimate& estimate, ir::Part which) {
  return estimate.parts[static_cast<std::size_t>(which)];
}

inline ir::Part greatest(const ir::Estimate& estimate, std::initializer_list<ir::Part> among) {
  ir::Part best = *among.begin();
  for (const ir::Part one : among)
    if (part(estimate, one) > part(estimate, best)) best = one;
  return best;
}

/// Sets the total and its interval.
inline void close(ir::Estimate& estimate, Seconds total, const Margin& margin) {
  estimate.total = total;
  estimate.low = total * (1 - margin.low);
  estimate.high = total * (1 + margin.high);
}

/// Share of a kernel's bytes that L2 holds when it starts: warm_share / (1 + (bytes / room)^reuse_knee).
double warm_fraction(double bytes, const ir::Device& device, const Calibration& calibration);

}  // namespace tailor::costmodel
