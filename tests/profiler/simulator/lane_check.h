// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Judges one row of the opcode table: against the oracle for every text that means the row, and every instruction set
// against the fastest. Comes in: a row and its operands; goes out: a failed doctest check that shows the first wrong
// answer. Called by lanes_test.cpp and lanes_slow_test.cpp.
#pragma once

#include "profiler/simulator/lane_oracle.h"

namespace tailor::simulator {

/// All pairs of the values where a type changes its ways, then random tuples.
std::vector<LaneOperands> operand_tuples(const LaneOpcode& opcode, std::size_t random_tuples, std::uint64_t seed);

/// Complains about the first wrong answer.
void check_row(const LaneOpcode& opcode, const std::vector<LaneOperands>& tuples, std::uint32_t extra);

}  // namespace tailor::simulator
