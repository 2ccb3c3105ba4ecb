// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One row of the opcode table against the oracle and every instruction set against the fastest.
#pragma once

#include "profiler/simulator/lane_oracle.h"

namespace tailor::simulator {

/// All pairs of the values where a type changes its ways, then random tuples.
std::vector<LaneOperands> operand_tuples(const LaneOpcode& opcode, std::size_t random_tuples, std::uint64_t seed);

/// Complains about the first wrong answer.
void check_row(const LaneOpcode& opcode, const std::vector<LaneOperands>& tuples, std::uint32_t extra);

}  // namespace tailor::simulator
