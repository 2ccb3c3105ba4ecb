// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of the opcode table on far more operands than the normal suite has time for: every value of the 16-bit
// types, and many random operands for everything else. The oracle is lane_oracle.h. A program of its own, `lanes`, in
// the slow suite.
#include "doctest/doctest.h"
#include "profiler/simulator/lane_check.h"

namespace tailor::simulator {
namespace {

bool narrow(LaneType type) {
  return type == LaneType::f16 || type == LaneType::bf16 || type == LaneType::u16 || type == LaneType::s16 ||
         type == LaneType::u8 || type == LaneType::s8;
}

TEST_CASE("one-operand rows of 16 bits or fewer are right for every value") {
  std::vector<LaneOperands> all;
  for (std::uint64_t value = 0; value < 0x10000; ++value) all.push_back({value, 0, 0, 0});
  for (const LaneOpcode& opcode : lane_opcodes()) {
    if (opcode.source_count == 1 && narrow(opcode.sources[0]) && !opcode.key.empty()) check_row(opcode, all, 0);
  }
}

TEST_CASE("every row is right for many random operands") {
  for (const LaneOpcode& opcode : lane_opcodes()) {
    if (!opcode.key.empty() && !opcode.literal) check_row(opcode, operand_tuples(opcode, 20000, 11), 0);
  }
}

}  // namespace
}  // namespace tailor::simulator
