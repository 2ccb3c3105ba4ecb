// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One plan, compiled and executed on the simulator, and what was counted beside what the program said.
#pragma once

#include <string>

#include "cli/planned.h"
#include "ir/binary.h"
#include "profiler/check.h"
#include "report/table.h"

namespace tailor::cli {

struct Execution {
  ir::Binary binary;
  profiler::Checked checked;
  ir::Estimate compiled, simulated;  ///< the latter only when something was executed
};

/// Throws Error(missing) without a compiler, Error(failed) for a kernel that does not compile.
Execution execution_of(const ExplainOptions& options, const Context& context, const Chosen& chosen, const Planned& one);

/// State, findings and the two estimates, for people.
std::string execution_words(const Execution& execution);

/// One row per counter and per buffer and direction: the model's count, the execution's, their ratio.
report::Table count_table(const Planned& one, const Execution& execution);

}  // namespace tailor::cli
