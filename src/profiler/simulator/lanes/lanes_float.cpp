// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic in f32 and f64, lane by lane.
#include "profiler/simulator/lanes/lanes_order.h"

namespace tailor::simulator::LANES_TIER {
#define FLOAT LANE_HANDLERS
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
