// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's own kernels of a model: what was found of each, the tables that show it, XLA beside our strategies, and the
// rows a database keeps. A module and what came of executing or timing its kernels come in. Called by tailor
// import-xla.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "profiler/xla/xla_check.h"
#include "profiler/xla/xla_measure.h"
#include "report/table.h"
#include "study/pipeline/candidate.h"
#include "study/pipeline/observer.h"

namespace tailor::study {

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

/// Operands and results of a kernel, each once.
double array_bytes(const profiler::XlaKernel& kernel);

/// One row per kernel; without outcomes when none was executed.
report::Table xla_kernel_table(const std::vector<CheckedXla>& all, bool executed);
report::Table xla_outcome_table(const std::vector<CheckedXla>& all);
report::Table xla_other_table(const profiler::XlaModule& module);

/// The same of a GPU: one row per kernel and cache state, how many ended how, one run of the module by adding up, and
/// the module's kernels in order.
report::Table xla_measured_table(const std::vector<MeasuredXla>& all, const profiler::MeasureOptions& how);
report::Table xla_outcome_table(const std::vector<MeasuredXla>& all);
report::Table xla_sum_table(const profiler::XlaModule& module, const std::vector<MeasuredXla>& all,
                            const profiler::MeasureOptions& how);
/// Precondition: the sequence is there.
report::Table xla_module_table(const MeasuredXlaModule& all);

/// One run of the model: XLA's kernels as they were executed (or only found, when `executed` is false), and what our
/// strategies make of the same module. With a target our kernels' requests and sectors are counted too, of the best
/// plan of each group.
report::Table xla_comparison(const profiler::XlaModule& module, const std::vector<CheckedXla>& all,
                             const std::optional<Target>& target, bool executed, const Watch& watch);

/// Under what rows of a run on XLA's kernels are stored.
struct XlaRun {
  std::filesystem::path database;
  std::string command;
  std::int64_t seed = 1;
};
/// Stores the module, its groups, and for every kernel its verdict and counters; says of how many kernels. Throws
/// Error(failed) as the store does.
std::int64_t store_xla(const profiler::XlaModule& module, const std::vector<CheckedXla>& all, const Target& target,
                       const XlaRun& run);
/// The same with times, and those of the whole module.
std::int64_t store_xla(const profiler::XlaModule& module, const MeasuredXlaModule& all, const Target& target,
                       const XlaRun& run);

}  // namespace tailor::study
