// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of microbenchmarks, one row per item in the order of the items; what is not known is an empty cell. In:
// results and samples. Out: a table; nothing is computed here but the median of the samples. Called by tailor
// microbench.
#include "study/tables/bench_table.h"

#include "base/statistics.h"
#include "study/tables/check_tables.h"
#include "study/tables/column.h"
#include "study/tables/profile_tables.h"

namespace tailor::study {

using report::Cell;
using report::Hint;

report::Table compiled_bench_table(const std::vector<BenchItem>& items) {
  report::Table table;
  table.columns = {column("microbenchmark", "microbenchmark"), column("outcome", "outcome"),
                   sentence("reason", "reason")};
  for (const BenchItem& item : items) {
    std::pair<std::string, std::string> said{"compiled", ""};
    if (!item.binary)
      said = {"interrupted", ""};
    else if (item.binary->outcome != ir::CompileOutcome::ok)
      said = not_compiled(*item.binary);
    table.rows.push_back({item.bench.name, said.first, said.second});
  }
  return table;
}

report::Table bench_table(const std::vector<BenchItem>& items) {
  report::Table table;
  table.columns = {column("microbenchmark", "microbenchmark"),
                   column("value", "value", Hint::number),
                   column("low", "from", Hint::number, 4),
                   column("high", "to", Hint::number, 4),
                   column("unit", "unit"),
                   column("median", "time", Hint::seconds),
                   column("samples", "samples", Hint::integer, 2),
                   column("sm_clock_mhz", "SM MHz", Hint::number, 3),
                   column("outcome", "outcome"),
                   sentence("reason", "reason")};
  for (const BenchItem& item : items) {
    const bool known = item.result.has_value();
    const std::vector<double> seconds = profiler::durations(item.measured.samples);
    table.rows.push_back({item.bench.name, known ? Cell(item.result->value) : Cell(),
                          known ? Cell(item.result->low) : Cell(), known ? Cell(item.result->high) : Cell(),
                          std::string(item.bench.family->unit), seconds.empty() ? Cell() : Cell(median_of(seconds)),
                          static_cast<std::int64_t>(seconds.size()), clock_of(item.measured),
                          std::string(ir::name(item.measured.outcome)), item.measured.reason});
  }
  return table;
}

}  // namespace tailor::study
