// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What observations covered, and whether a kernel lies beyond it. In: kernels' work. Out: the ranges that a fit writes
// into its file, and sentences for kernels outside of them: their times are extrapolated. Called by fits and by
// commands that show a prediction.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "costmodel/work.h"
#include "ir/calibration.h"

namespace tailor::calibrate {

/// Of bytes moved, blocks of the launch, threads of a block. Precondition: at least one.
std::vector<ir::ObservedRange> ranges_over(std::span<const costmodel::Work* const> works);

/// "moves 1.2 GB, observed were 1 kB to 805 MB", one for each quantity that lies outside of what every fitted figure of
/// the device was observed over; nothing for a calibration that rests on no observations.
std::vector<std::string> beyond(const ir::Calibration& calibration, std::string_view device,
                                const costmodel::Work& work);

}  // namespace tailor::calibrate
