// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for moves, selections and comparisons, made from opcodes_move.def and opcodes_compare.def. In: slots of
// 32 lanes. Out: slots of 32 lanes, or predicates as words that are 0 or all ones. Compiled once per instruction
// set.
#include "profiler/simulator/lanes/lanes_core.h"

namespace tailor::simulator::LANES_TIER {

#define MOVE LANE_HANDLERS
#define COMPARE LANE_HANDLERS
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
