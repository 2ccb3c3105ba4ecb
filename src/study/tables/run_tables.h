// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What came of running anybody's kernel, as tables: the run in one row, its buffers, its findings, what it counted, and
// the same by line. In: a KernelRun with the text it was compiled from. Out: tables; nothing is decided here but how
// the command ends. Called by tailor run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "profiler/run/run_kernel.h"
#include "report/table.h"

namespace tailor::study {

/// "clean", "findings", "wrong", "too long", "stopped", "refused", "not executed".
std::string_view outcome_word(const profiler::KernelRun& run);

/// One row. `kernel` is the entry's name.
report::Table run_table(const profiler::KernelRun& run, std::string_view kernel);
report::Table run_buffer_table(const profiler::KernelRun& run, const profiler::RunSpec& spec);
/// `text` is what the source lines of findings are lines of: CUDA, or the PTX itself.
report::Table run_finding_table(const profiler::KernelRun& run, const std::string& text);
/// What the kernel printed, a row per line.
report::Table run_printed_table(const profiler::KernelRun& run);
report::Table run_counter_table(const profiler::KernelRun& run);
/// Instructions that touch memory, by line.
report::Table run_line_table(const profiler::KernelRun& run, const std::string& text);

/// How a command that ran it ends: nothing where it is clean and as expected.
std::optional<Error> fault_of(const profiler::KernelRun& run, const profiler::RunSpec& spec);

}  // namespace tailor::study
