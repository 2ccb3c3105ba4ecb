// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA's kernels as they were found and executed on the simulator, as tables: one row a kernel, one an outcome, one for
// what is no kernel of XLA's own. Called by tailor import-xla. In: kernels with their verdicts and counts. Out:
// tables; an empty cell is what nobody looked at.
#include <algorithm>
#include <map>

#include "study/module/xla_rows.h"
#include "study/tables/column.h"

namespace tailor::study {

using profiler::XlaOutcome;
using report::Cell;
using report::Hint;
using report::Table;

double array_bytes(const profiler::XlaKernel& kernel) {
  double sum = 0;
  for (const profiler::XlaArgument& argument : kernel.arguments) sum += static_cast<double>(ir::bytes(argument.shape));
  return sum;
}

namespace {

std::vector<Cell> executed_cells(const profiler::XlaCheck& check) {
  const simulator::Counters& counters = check.simulation.counters;
  std::vector<Cell> cells{std::string(profiler::name(check.outcome))};
  if (!check.executed) {
    cells.resize(9);
    return cells;
  }
  cells.emplace_back(check.worst);
  cells.emplace_back(check.unjudged);
  for (const std::int64_t count :
       {counters.lane_instructions, counters.global_load_requests, counters.global_load_sectors,
        counters.global_store_requests, counters.global_store_sectors})
    cells.emplace_back(count);
  cells.emplace_back(static_cast<double>(counters.dram_read_bytes + counters.dram_write_bytes));
  return cells;
}

}  // namespace

Table xla_kernel_table(const std::vector<CheckedXla>& all, bool executed) {
  Table table;
  table.title = "XLA's kernels";
  table.columns = {column("entry", "entry"),
                   column("fusion_kind", "kind", Hint::text, 9),
                   column("places", "places", Hint::count, 4),
                   column("runs", "runs", Hint::count, 3),
                   column("grid", "blocks", Hint::count, 10),
                   column("threads", "threads", Hint::integer, 10),
                   column("arrays", "arrays", Hint::bytes, 2)};
  // "matched" is said of what was judged: where that is not all, no width takes the column away.
  const bool partly_judged = std::any_of(
      all.begin(), all.end(), [](const CheckedXla& row) { return row.check.executed && row.check.unjudged > 0; });
  if (executed)
    for (report::Column& added : std::vector<report::Column>{
             column("outcome", "outcome"), column("worst", "worst error", Hint::number, 5),
             column("unjudged", "unjudged", Hint::count, partly_judged ? 0 : 11),
             column("lane_instructions", "lane instructions", Hint::count, 8),
             column("load_requests", "load requests", Hint::count, 7),
             column("load_sectors", "load sectors", Hint::count, 6),
             column("store_requests", "store requests", Hint::count, 7),
             column("store_sectors", "store sectors", Hint::count, 6), column("dram", "DRAM", Hint::bytes, 1)})
      table.columns.push_back(added);
  table.columns.push_back(sentence("reason", "reason"));
  for (const CheckedXla& row : all) {
    const profiler::XlaKernel& kernel = *row.kernel;
    const auto &grid = kernel.launch.grid, &block = kernel.launch.block;
    std::vector<Cell> cells{kernel.entry,
                            kernel.kind,
                            static_cast<std::int64_t>(kernel.call_sites.size()),
                            static_cast<std::int64_t>(kernel.times),
                            std::int64_t{grid[0]} * grid[1] * grid[2],
                            std::int64_t{block[0]} * block[1] * block[2],
                            array_bytes(kernel)};
    if (executed)
      for (Cell& cell : executed_cells(row.check)) cells.push_back(std::move(cell));
    cells.emplace_back(executed ? row.check.reason : kernel.reason);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table xla_outcome_table(const std::vector<CheckedXla>& all) {
  Table table;
  table.title = "outcomes";
  table.columns = {column("outcome", "outcome"), column("kernels", "kernels", Hint::count)};
  std::map<XlaOutcome, std::int64_t> counts;
  for (const CheckedXla& row : all) ++counts[row.check.outcome];
  for (const auto& [outcome, count] : counts) table.rows.push_back({std::string(profiler::name(outcome)), count});
  return table;
}

Table xla_other_table(const profiler::XlaModule& module) {
  Table table;
  table.title = "launches that are no kernel of XLA's own";
  table.columns = {column("thunk", "thunk"), column("places", "places", Hint::count),
                   column("runs", "runs", Hint::count)};
  for (const profiler::XlaOther& other : module.others)
    table.rows.push_back({other.thunk, other.launches, static_cast<std::int64_t>(other.times)});
  return table;
}

}  // namespace tailor::study
