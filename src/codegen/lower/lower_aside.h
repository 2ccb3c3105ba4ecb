// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs of another size than a kernel's rows and columns. In: which of them (Prepared::free_aside, reduced_aside),
// and how many threads deal them out. Out: a loop that stores each. Called by the row and the column skeleton;
// structure_outputs.cpp tells which outputs there may be.
#pragma once

#include <span>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

/// Thread `thread` of `threads` stores elements thread, thread + threads and so on of each output.
void store_aside(ProgramBuilder& builder, const Prepared& prepared, std::span<const std::int32_t> outputs,
                 ir::ExprId thread, std::int64_t threads);

}  // namespace tailor::codegen
