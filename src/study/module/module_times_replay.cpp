// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole models from records: the rows that a GPU's run would show, each as it was measured. A question and records
// come in, the comparison's table goes out. A strategy that was not recorded has no row and is named; when none was,
// that is an Error. Called by tailor profile --module when records stand in for a GPU.
#include <fmt/format.h>

#include <map>

#include "base/counted.h"
#include "base/error.h"
#include "study/module/module_times.h"
#include "study/module/xla_rows.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/replay.h"
#include "study/pipeline/to_rows.h"

namespace tailor::study {

namespace {

using report::Cell;

Cell known(const std::optional<Seconds>& time) { return time ? Cell(time->value) : Cell(); }

const store::ModuleTimeRow* find_time(const std::vector<store::Recorded>& records, Id graph, std::string_view strategy,
                                      const ir::Protocol& protocol) {
  for (const store::Recorded& one : records)
    if (const store::ModuleTimeRow* row = one.module_time(graph, strategy, protocol)) return row;
  return nullptr;
}

std::int64_t places_left_out(const store::ModuleTimeRow& row) {
  std::int64_t places = 0;
  for (const store::LeftOutRow& one : row.left_out) places += one.places;
  return places;
}

std::vector<Cell> make_row(const store::ModuleTimeRow& row, const store::ModuleTimeRow* first) {
  const std::int64_t left_out = places_left_out(row);
  const bool compared = first != nullptr && first->median && row.median && same_work(row, *first);
  std::string note = row.reason.empty() ? "measured on " + row.gpu + " at " + row.measured_at : row.reason;
  if (first != nullptr && !same_work(row, *first))
    note += fmt::format("; not compared: it leaves out {} and {} {}, not the same work", counted(left_out, "group"),
                        first->strategy, places_left_out(*first));
  return {row.strategy,
          row.launches,
          Cell(),  // records do not tell copies from kernels
          left_out,
          row.buffers.value,
          std::string(ir::name(row.protocol.cache)),
          std::string(ir::name(row.protocol.launch)),
          known(row.median),
          known(row.low),
          known(row.high),
          static_cast<std::int64_t>(row.samples.size()),
          compared ? Cell(first->median->value / row.median->value) : Cell(),
          note};
}

}  // namespace

ReplayedModule replay_module(const ModuleQuestion& question, const std::filesystem::path& data, const Watch& watch) {
  const ir::Device device = load_device(data, question.what.device);
  const auto records = recorded_files(question.measure.recorded, data, device);
  const hlo::Imported imported = load_model(data, question.what.model, watch);
  const Id graph = graph_id(imported.graph, watch.stop);
  std::vector<std::string> names = question.strategies;
  const std::string first = names.front();
  names.emplace_back(xla_strategy);
  report::Table table;
  table.title = "memory-bound kernels of the whole model, library calls left out, as they were measured";
  table.columns = module_columns(first);
  std::vector<std::string> missing;
  std::map<std::pair<ir::CacheState, ir::LaunchMode>, const store::ModuleTimeRow*> baselines;
  for (const std::string& name : names) {
    const std::size_t before = table.rows.size();
    for (const ir::CacheState cache : parse_cache_states(question.measure.cache_states))
      for (const ir::LaunchMode launch : {ir::LaunchMode::stream, ir::LaunchMode::graph}) {
        const ir::Protocol protocol{cache, ir::TimedBy::events, launch, {}};
        const store::ModuleTimeRow* row = find_time(*records, graph, name, protocol);
        if (row == nullptr) continue;
        if (name == first) baselines[{cache, launch}] = row;
        table.rows.push_back(make_row(*row, baselines[{cache, launch}]));
      }
    if (table.rows.size() == before && name != xla_strategy) missing.push_back(name);
  }
  if (table.rows.empty())
    throw Error(Fault::missing,
                fmt::format("no times of {} as a whole are recorded for {}", imported.graph.name, device.name),
                "profile --module measures them on a GPU; --cache-state names the state they were measured under");
  return {device.name, std::move(table), std::move(missing)};
}

}  // namespace tailor::study
