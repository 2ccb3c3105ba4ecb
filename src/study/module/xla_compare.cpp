// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// XLA beside ourselves, on one module. XLA's row is what its kernels did when they were executed, times how often they
// run. Ours are what a strategy would launch: bytes are inputs and outputs once; with a device each group's best plan
// is lowered and counted, which needs no execution. Kernels and groups without a count are counted themselves.
#include <fmt/format.h>

#include "base/counted.h"
#include "base/stop.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "study/module/xla_rows.h"
#include "study/pipeline/question.h"
#include "study/pipeline/stages.h"
#include "study/tables/column.h"

namespace tailor::study {

using report::Hint;
using report::Table;

namespace {

/// Plans of a group that are scored for a comparison: enough to find a good one.
constexpr std::int64_t plans_scored = 200;

struct Totals {
  std::int64_t kernels = 0;
  double launches = 0, arrays = 0;
  double requests = 0, sectors = 0;  ///< of what was counted
  double dram = 0;
  std::int64_t counted = 0;  ///< kernels whose requests and sectors are in the sums
};

/// Bytes a kernel must move: inputs and outputs once, of arrays that are looked up or updated in place what is touched.
double bytes_needed(const profiler::XlaModule& module, const profiler::XlaKernel& kernel) {
  return kernel.computation.empty() ? array_bytes(kernel) : explore::bytes_once(profiler::graph_of(module, kernel));
}

Totals executed_totals(const profiler::XlaModule& module, const std::vector<CheckedXla>& all) {
  Totals totals;
  for (const CheckedXla& row : all) {
    const simulator::Counters& c = row.check.simulation.counters;
    totals.kernels += static_cast<std::int64_t>(row.kernel->call_sites.size());
    totals.launches += row.kernel->times;
    totals.arrays += row.kernel->times * bytes_needed(module, *row.kernel);
    if (!row.check.executed) continue;
    totals.counted += static_cast<std::int64_t>(row.kernel->call_sites.size());
    const auto add = [&](double& sum, std::int64_t value) { sum += row.kernel->times * static_cast<double>(value); };
    add(totals.requests, c.global_load_requests + c.global_store_requests + c.global_atomic_requests);
    add(totals.sectors, c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors);
    add(totals.dram, c.dram_read_bytes + c.dram_write_bytes);
  }
  return totals;
}

/// What the best plan of a group asks of memory; false when there is no plan.
bool add_best_plan(const explore::DistinctGroup& distinct, const Target& target, const std::stop_token& stop,
                   Totals& totals) {
  const PreparedGroup group(distinct, 0);
  if (group.ready() == nullptr) return false;
  Choosing how;
  how.model = costmodel::find_model("projected");
  how.max_plans = plans_scored;
  how.keep = 1;
  const Choice choice = choose(group, target, how, stop);
  stop_if_asked(stop);
  if (choice.candidates.empty()) return false;
  for (const costmodel::BufferWork& buffer : choice.candidates.front().work.buffers) {
    for (const costmodel::Traffic* traffic : {&buffer.load, &buffer.store, &buffer.atomic}) {
      totals.requests += distinct.times * static_cast<double>(traffic->requests);
      totals.sectors += distinct.times * static_cast<double>(traffic->sectors);
    }
    totals.dram += distinct.times * (costmodel::read_footprint(buffer) + costmodel::written_footprint(buffer));
  }
  return true;
}

Totals planned_totals(const explore::Partition& partition, const std::optional<Target>& target,
                      const std::stop_token& stop) {
  Totals totals;
  totals.kernels = partition.kernels;
  totals.launches = partition.launches;
  totals.arrays = partition.bytes;
  if (!target) return totals;
  for (const explore::DistinctGroup& group : partition.groups)
    if (add_best_plan(group, *target, stop, totals))
      totals.counted += static_cast<std::int64_t>(group.occurrences.size());
  return totals;
}

void add_row(Table& table, const std::string& who, const std::string& how, const Totals& totals, bool counted) {
  const auto cell = [&](double value) { return counted ? report::Cell(value) : report::Cell(); };
  table.rows.push_back({who, totals.kernels, whole_count(totals.launches), totals.arrays, how, totals.counted,
                        cell(totals.requests), cell(totals.sectors), cell(32 * totals.sectors), cell(totals.dram)});
}

}  // namespace

Table xla_comparison(const profiler::XlaModule& module, const std::vector<CheckedXla>& all,
                     const std::optional<Target>& target, bool executed, const Watch& watch) {
  Table table;
  table.title = "one run of the model: XLA's own kernels and our strategies on the same module";
  table.columns = {column("kernels_of", "kernels of"),
                   column("kernels", "kernels", Hint::count),
                   column("launches", "launches", Hint::count),
                   column("arrays", "arrays", Hint::bytes),
                   column("counted_by", "counted by", Hint::text, 1),
                   column("kernels_counted", "kernels counted", Hint::count),
                   column("requests", "requests", Hint::number, 3),
                   column("sectors", "sectors", Hint::number, 3),
                   column("sectors_moved", "sectors moved", Hint::bytes),
                   column("dram", "DRAM", Hint::bytes)};
  const hlo::Imported imported = hlo::import_hlo(*module.text, module.source.hlo.string(), watch.stop);
  const explore::FusionSetting setting = fusion_setting(target ? &target->calibrated : nullptr, watch);
  Totals of_xla = executed_totals(module, all);
  for (const std::string_view name : {std::string_view("imported"), explore::default_strategy_for(target ? 1 : 0)}) {
    watch.observer.progress({fmt::format("planning {}", name), 0, 0, {}});
    const explore::Partition partition = explore::partition(
        imported.graph, explore::fuse(explore::find_strategy(name), imported.graph, setting), watch.stop);
    if (name == "imported") {
      // The same kernels, seen in the model: only there it shows that an array is updated in place.
      if (partition.kernels == of_xla.kernels) of_xla.arrays = partition.bytes;
      add_row(table, "XLA", executed ? "simulator" : "nothing", of_xla, executed);
    }
    add_row(table, std::string(name), target ? "cost model" : "nothing", planned_totals(partition, target, watch.stop),
            target.has_value());
  }
  watch.observer.finish();
  return table;
}

}  // namespace tailor::study
