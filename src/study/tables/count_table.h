// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What was counted of one kernel, side by side: by the cost model from the program, by executing its PTX on the
// simulator, and by a GPU's own counters. Whoever did not count has no column. In: a kernel and who counted it. Out: a
// table. Called by tailor explain.
#pragma once

#include <span>

#include "costmodel/work.h"
#include "ir/counters.h"
#include "ir/kernel/kernel.h"
#include "ir/measurement.h"
#include "report/table.h"

namespace tailor::study {

/// Who counted. The model always did.
struct Counted {
  const costmodel::Work* model = nullptr;
  const ir::LaunchCounts* executed = nullptr;  ///< null or with no block run: nobody executed it
  std::span<const ir::CounterValue> gpu;       ///< counters of ir/counters.def; empty: no GPU did
};

/// One row per counter and per buffer and direction, and the model's count over each of the others. A GPU does not tell
/// buffers apart: with its counters there are rows for all buffers together.
report::Table count_table(const ir::Kernel& kernel, const Counted& counted);

/// All counters of a GPU with their units and meanings: also what the others cannot count (hit rates, stalls).
report::Table gpu_counter_table(std::span<const ir::CounterValue> counters);

}  // namespace tailor::study
