// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs one row of the opcode table on any number of operand tuples, 32 at a time, as the interpreter would: operands
// in slots, junk above narrow values. Every call also checks the handler for partly active warps against the full one.
// Used by lane_check.cpp and lane_tables_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/simulator/decode/opcode.h"

namespace tailor::simulator {

using LaneOperands = std::array<std::uint64_t, 4>;

/// The low bits that a value of the type has: 8 for u8, 32 for f32 and predicates.
std::uint64_t cut(LaneType type, std::uint64_t bits);

/// Equal, or both NaN: which NaN an f32 or f64 operation gives is open.
bool same_result(LaneType type, std::uint64_t a, std::uint64_t b);

/// Results by tuple, cut to their type. Carry-in is the last operand; `carries` receives carry-out when not null.
std::vector<std::uint64_t> lane_results(const LaneTable& table, const LaneOpcode& opcode,
                                        std::span<const LaneOperands> operands, std::uint32_t extra = 0,
                                        std::vector<std::uint64_t>* carries = nullptr);

}  // namespace tailor::simulator
