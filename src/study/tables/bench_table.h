// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Microbenchmarks as a table: items that ran, were answered from records or were stopped come in; one row each goes
// out, with what the family measures beside the time it was made from. Called by tailor microbench. Nothing is
// computed here but the median of the samples.
#pragma once

#include <vector>

#include "report/table.h"
#include "study/pipeline/microbench_run.h"

namespace tailor::study {

/// What the compiler made of each: "compiled", or its first words. Of items that passed compile_benches().
report::Table compiled_bench_table(const std::vector<BenchItem>& items);
report::Table bench_table(const std::vector<BenchItem>& items);

}  // namespace tailor::study
