// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One plan, compiled and executed on the simulator, and what was counted beside what the program said.
#pragma once

#include <span>
#include <string>

#include "cli/planned.h"
#include "ir/binary.h"
#include "ir/measurement.h"
#include "profiler/check/check.h"
#include "profiler/measure/measure.h"
#include "report/table.h"

namespace tailor::cli {

struct Execution {
  ir::Binary binary;
  profiler::Checked checked;
  ir::Estimate compiled, simulated;  ///< the latter only when something was executed
};

/// Throws Error(missing) without a compiler, Error(failed) for a kernel that does not compile.
Execution execute_plan(const ExplainOptions& options, const Context& context, const Chosen& chosen, const Planned& one);

/// The plan measured by a GPU or from records, alone. Throws Error(missing) when there is neither, or no compiler.
profiler::CandidateResult measured_plan(const ExplainOptions& options, const Context& context, const Chosen& chosen,
                                        const Planned& one);
/// The same as a table: outcome, median, interval, what the model says for the regime of that time, protocol, GPU.
report::Table measured_plan_table(const profiler::CandidateResult& result, const Chosen& chosen, const Planned& one);
/// The median with its interval, or why there is none.
std::string measured_words(const profiler::CandidateResult& result, const Chosen& chosen, const Planned& one);

/// State, findings and the two estimates, for people.
std::string execution_words(const Execution& execution);

}  // namespace tailor::cli
