// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which results of a kernel are written in place of an operand, read off the PTX when no buffer assignment is at hand.
// XLA declares a pointer for every result, but a kernel that works in place never touches it and stores through the
// operand's pointer instead. Which of several such operands a result is, is told by their shapes and their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/simulator/ptx/ptx.h"
#include "profiler/xla/xla_dump.h"

namespace tailor::profiler {

/// How a kernel uses its pointer parameters: followed through 64-bit arithmetic from where each is loaded.
struct PointerUse {
  std::vector<bool> named;   ///< the body mentions the parameter
  std::vector<bool> stored;  ///< some store or atomic may go through it
};
PointerUse pointer_use(const simulator::PtxFunction& entry);

/// Fills `shares` of results whose parameters the entry never touches. `arguments` are those of the kernel, operands
/// first. False when a result is neither written nor has an operand to share.
bool share_in_place(const PointerUse& use, std::int32_t operands, std::span<XlaArgument> arguments);

}  // namespace tailor::profiler
