// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for arithmetic in f32 and f64, made from opcodes_float.def. In: slots of 32 lanes. Out: slots of 32
// lanes. Compiled once per instruction set; the expressions are in the rows, what they need beyond C++ in
// lanes_order.h.
#include "profiler/simulator/lanes/lanes_order.h"

namespace tailor::simulator::LANES_TIER {
#define FLOAT LANE_HANDLERS
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
