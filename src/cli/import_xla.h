// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of tailor import-xla: what was found of each kernel, the tables that show it, XLA beside our strategies,
// and the rows a database keeps.
#pragma once

#include <optional>
#include <vector>

#include "cli/commands.h"
#include "ir/device.h"
#include "profiler/xla/xla_check.h"
#include "profiler/xla/xla_measure.h"
#include "report/table.h"

namespace tailor::cli {

/// A kernel of XLA's and what came of executing it.
struct CheckedXla {
  const profiler::XlaKernel* kernel = nullptr;
  profiler::XlaCheck check;
};

/// A kernel of XLA's and what came of running it on a GPU.
struct MeasuredXla {
  const profiler::XlaKernel* kernel = nullptr;
  profiler::XlaMeasured found;
};

/// All kernels of a module on a GPU.
struct MeasuredXlaModule {
  std::vector<MeasuredXla> kernels;
  std::optional<profiler::XlaModuleSequence> sequence;  ///< of --module-times
  std::vector<ir::Measurement> times;                   ///< of the sequence
};

/// What the row of a whole module of XLA's kernels is called, among strategies.
inline constexpr std::string_view xla_strategy = "xla (its kernels)";

/// The kernel with this entry; all without a name. Throws Error(usage) with the nearest.
std::vector<const profiler::XlaKernel*> chosen_kernels(const profiler::XlaModule& module, const std::string& name);

/// Runs them on a GPU instead of the simulator. Throws as tailor profile does.
void import_xla_on_gpu(const profiler::XlaModule& module, const ImportXlaOptions& options, const Context& context);

/// Operands and results of a kernel, each once.
double array_bytes(const profiler::XlaKernel& kernel);

/// One row per kernel; without outcomes when none was executed.
report::Table xla_kernel_table(const std::vector<CheckedXla>& all, bool executed);
report::Table xla_outcome_table(const std::vector<CheckedXla>& all);
report::Table xla_other_table(const profiler::XlaModule& module);

/// One run of the model: XLA's kernels as they were executed, and what our strategies make of the same module. With a
/// device our kernels' requests and sectors are counted too, of the best plan of each group.
report::Table xla_comparison(const profiler::XlaModule& module, const std::vector<CheckedXla>& all,
                             const std::optional<ir::Device>& device, const ImportXlaOptions& options,
                             const Context& context);

/// Stores the module, its groups, and for every kernel its verdict and counters. Throws Error(failed) as the store
/// does.
void store_xla(const profiler::XlaModule& module, const std::vector<CheckedXla>& all, const ir::Device& device,
               const ImportXlaOptions& options, const Context& context);

/// The same with times, and those of the whole module.
void store_xla(const profiler::XlaModule& module, const MeasuredXlaModule& all, const ir::Device& device,
               const std::string& device_name, const ImportXlaOptions& options, const Context& context);

}  // namespace tailor::cli
