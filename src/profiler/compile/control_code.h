// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of machine code that says which way a warp goes: what branches, and requests under a guard, depend on. In:
// the code and its flow. Out: its steps, ready for all warps of all launches. Called by machine_work.cpp; warp_run.cpp
// follows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/compile/machine_flow.h"
#include "profiler/compile/operand.h"

namespace tailor::profiler {

inline constexpr int no_loop = -1;

/// The code, prepared once for all warps of all launches.
struct ControlCode {
  const MachineFlow* flow = nullptr;  ///< outlives it
  struct Step {
    Instruction instruction;
    bool computed = false;                                 ///< else it makes what it writes unknown
    bool always = false;                                   ///< without a guard
    bool meets = false;                                    ///< it sets a barrier register
    Places reads, writes, conditions;                      ///< conditions: of its guard
    std::int64_t ir::MachineRequests::*counter = nullptr;  ///< of a request that has a guard
  };
  std::vector<Step> steps;                    ///< of all blocks, one behind the other: what branches depend on
  IndexedVector<int> first_step;              ///< of a block; one more at the end
  IndexedVector<Instruction> last;            ///< of a block
  IndexedVector<Places> conditions;           ///< of the last one
  IndexedVector<ir::MachineRequests> always;  ///< requests of a block without a guard
  IndexedVector<char> requests;               ///< whether a block has any
  IndexedVector<int> loop;                    ///< the innermost around a block, or no_loop
  IndexedVector<int> headed;                  ///< the loop whose head a block is, or no_loop
  /// What the instructions of a loop read, write and depend on, of what is still wanted at its head.
  IndexedVector<std::vector<std::uint16_t>> loop_places;
  IndexedVector<std::vector<int>> inner_loops;  ///< loops inside of a loop
};
ControlCode control_code(std::span<const std::byte> code, const Operations& operations, const MachineFlow& flow);

}  // namespace tailor::profiler
