// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who wrote into a database: the row of runs that a command begins with. In: the command, compiler, seed and
// configuration. Out: the row. Called by sweeps and by commands with --store. It stands for the run in the database:
// every row that is stored later names it.
#pragma once

#include <string>

#include "profiler/gpu/request/request.h"
#include "store/rows.h"

namespace tailor::study {

/// Now in UTC, ISO 8601 with milliseconds.
std::string time_now();

/// A run that has just begun on this machine. `config` is a sweep's canonical text, or empty; its id is left to the
/// caller. Every call gives another id.
store::RunRow begun_run(const std::string& command, const std::string& toolchain, std::int64_t seed,
                        const std::string& config);

/// Names the GPU that a run measured on, its driver, and its clocks when it was opened.
void name_gpu(store::RunRow& run, const gpu::Response& opened);

}  // namespace tailor::study
