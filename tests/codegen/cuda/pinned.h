// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The pin, as two countings that must agree: memory instructions, shuffles and barriers that a kernel's statements
// stand for, and those that stand in its PTX. Both are static: an unrolled loop counts its trips, another counts once.
// Called by pin_checks.cpp and cuda_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

/// By what it is and how many bytes one thread moves: "ld.global.nc 16", "st.shared 4", "shfl", "bar".
using InstructionCounts = std::map<std::string, std::int64_t>;

/// What no thread reaches by its guards, as in later trips over a short edge. Compilers leave it out or keep it, by
/// architecture.
enum class Unreached { kept, left_out };
InstructionCounts instructions_of(const Kernel& kernel, Unreached unreached);
InstructionCounts instructions_of(std::string_view ptx);
/// "ld.global.nc 16: 4, bar: 2".
std::string text(const InstructionCounts& counts);

}  // namespace tailor::ir
