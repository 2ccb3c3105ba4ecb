// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an instruction of XLA's optimised module is given and where that lies. In: the module and its buffer assignment.
// Out: arguments, operands first. Called by whoever ties launches to memory: kernels (xla_dump.cpp), copies and fills
// (xla_transfers.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/indexed.h"
#include "hlo/hlo_module.h"
#include "profiler/xla/xla_buffer_assignment.h"
#include "profiler/xla/xla_dump.h"

namespace tailor::profiler {

/// An array of a value.
struct XlaLeaf {
  std::string index;  ///< "" of an array, "1" or "1,0" of a tuple's
  ir::Shape shape;
};
std::vector<XlaLeaf> array_leaves(const hlo::HloModule& module, const hlo::HloInstruction& instruction);

/// The computation that holds `one`: operands are resolved within it.
const hlo::HloComputation& home_of(const hlo::HloModule& module, const hlo::HloInstruction& one);
/// `home`: instructions of the user's computation.
const hlo::HloInstruction& operand_of(const hlo::HloModule& module, IndexedSpan<const hlo::HloInstruction> home,
                                      const hlo::HloInstruction& user, std::int32_t number);

/// Operands in order, then results in order, tuples flattened: what XLA passes to a fusion's kernel.
struct XlaBound {
  std::vector<XlaArgument> arguments;
  std::int32_t operands = 0;
  bool assignment_known = false;
};
XlaBound bound_arguments(const hlo::HloModule& module, const XlaBufferAssignment& assignment,
                         const hlo::HloInstruction& fusion);

}  // namespace tailor::profiler
