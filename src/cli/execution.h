// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One plan executed on the simulator, or measured by a GPU or from records. The candidate comes in with its program
// and goes on with what was found: binary, verdict, estimates of the higher levels, measurement. Called by tailor
// explain with --simulate or --profiler.
#pragma once

#include "cli/commands.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/observer.h"
#include "study/tables/profile_tables.h"

namespace tailor::cli {

/// Compiles and executes; fills binary, verdict and the estimates of both levels. Throws Error(missing) without a
/// compiler, Error(failed) for a kernel that does not compile.
void execute_plan(const ExplainOptions& options, study::Candidate& one, const study::Watch& watch);

/// Measures the plan alone, by a GPU or from records. Throws Error(missing) when there is neither, or no compiler.
void measure_plan(const ExplainOptions& options, const Context& context, study::Candidate& one,
                  const study::Watch& watch);

}  // namespace tailor::cli
