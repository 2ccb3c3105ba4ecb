// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Conversions, lane by lane. Narrow integers are written extended to the whole word, as a wider register expects them.
#include "simulator/lanes_convert.h"

namespace tailor::simulator::LANES_TIER {

#define CONVERT LANE_HANDLERS
#include "simulator/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
