// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels on a GPU. In: a module's dump and a worker. Out: for each kernel a verdict and its times; then the
// times of all of a module in order, as a stream of launches and as a CUDA graph. Called by `tailor import-xla`. Each
// kernel is run on seeded inputs between guard zones and held against the reference before it is timed. Whatever a
// kernel does is its own outcome.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/measure/measure.h"
#include "profiler/xla/xla_sequence.h"

namespace tailor::profiler {

struct XlaMeasured {
  std::optional<XlaRefusal> left_out;  ///< it was not run; all else is empty
  CandidateResult result;              ///< wrong, when a result differs
};
/// "matched", "differs", "not judged" of a kernel that ran without a reference, else what stopped it.
std::string_view outcome_word(const XlaMeasured& measured);

/// Of the options: caches, timed_by, launch, stop rule, seed, time limit, stop. Kernels that compute more than
/// `most_elements` are left out; 0: none is. Asked to stop, also in the middle of the reference, it says so in the
/// outcome.
XlaMeasured measure_xla(Worker& worker, const XlaModule& module, const XlaKernel& kernel, std::int64_t most_elements,
                        const MeasureOptions& options);

/// A whole module: by cache state, as stream and as graph, by events. Its time is that of all launches with the gaps
/// between them.
std::vector<ir::Measurement> measure_xla_module(Worker& worker, const XlaModuleSequence& all,
                                                const MeasureOptions& options);

}  // namespace tailor::profiler
