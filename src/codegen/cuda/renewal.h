// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a kernel's text has the compiler compute indices again that it would keep from phase to phase. In: a kernel.
// Out: statements, and the variables of threads that it is to take for new numbers in front of each. Called by the
// printer (cuda.cpp).
#pragma once

#include <cstddef>
#include <vector>

#include "ir/kernel/kernel.h"

namespace tailor::codegen {

struct Renewal {
  std::size_t at = 0;  ///< an unrolled loop with no unrolled loop around it
  ir::VarSet vars;
};

/// In order of the statements.
std::vector<Renewal> renewals(const ir::Kernel& kernel);

}  // namespace tailor::codegen
