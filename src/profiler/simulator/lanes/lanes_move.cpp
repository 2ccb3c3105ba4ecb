// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves, selections and comparisons, lane by lane.
#include "profiler/simulator/lanes/lanes_core.h"

namespace tailor::simulator::LANES_TIER {

#define MOVE LANE_HANDLERS
#define COMPARE LANE_HANDLERS
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
