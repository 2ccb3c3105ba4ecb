// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the two files of tailor import-xla share: the simulator's in import_xla.cpp, the GPU's in import_xla_gpu.cpp.
// The records, tables and rows are study's (study/module/xla_rows.h). In: a dump's module and the options of the
// command. Out: which kernels are meant, and what a GPU made of them.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "study/module/xla_rows.h"

namespace tailor::cli {

/// The kernel with this entry; all without a name. Throws Error(usage) with the nearest.
std::vector<const profiler::XlaKernel*> chosen_kernels(const profiler::XlaModule& module, const std::string& name);

/// Runs them on a GPU instead of the simulator. Throws as tailor profile does.
void import_xla_on_gpu(const profiler::XlaModule& module, const ImportXlaOptions& options, const Context& context);

/// Says how many kernels the database has taken.
void note_stored(std::int64_t kernels, const profiler::XlaModule& module, const ImportXlaOptions& options,
                 const Context& context);

}  // namespace tailor::cli
