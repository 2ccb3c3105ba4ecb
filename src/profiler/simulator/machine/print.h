// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel prints. In: a warp at a call of vprintf, whose parameters are addresses in local memory. Out:
// text, kept by the machine with the resident set it came from, until the launch ends and the texts of all sets are put
// in order. Called as a step of a program (address_steps.cpp); simulate.cpp knows how much is kept.
#pragma once

#include <cstddef>

#include "profiler/simulator/machine/machine.h"

namespace tailor::simulator {

/// Bytes of a launch that are kept: as a driver's buffer holds unless it is told otherwise (CUDA C++ Programming Guide,
/// cudaLimitPrintfFifoSize).
inline constexpr std::size_t most_printed = std::size_t{1} << 20;

/// The text of each active lane, in order of lanes.
void print(Warp& warp, const Micro& micro);

}  // namespace tailor::simulator
