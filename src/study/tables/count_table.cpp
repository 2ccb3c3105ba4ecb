// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of counts side by side: takes what the model, the simulator and a GPU counted of a kernel and gives a row
// for each name of the vocabulary (ir/counters.def) that the model counts, in its order. Counters of a GPU are sums
// over the launch, so a buffer's rows have no cell of its.
#include "study/tables/count_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "profiler/gpu/cupti/metrics.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using costmodel::Work;
using ir::LaunchCounts;
using report::Cell;
using report::Hint;

using GpuNames = std::array<std::string_view, 2>;

/// The sum of the counters named; none when one of them was not collected.
std::optional<double> on_gpu(std::span<const ir::CounterValue> counters, const GpuNames& names) {
  std::optional<double> sum;
  for (const std::string_view name : names) {
    if (name.empty()) continue;
    const auto found = std::find_if(counters.begin(), counters.end(),
                                    [&](const ir::CounterValue& counter) { return counter.name == name; });
    if (found == counters.end()) return std::nullopt;
    sum = sum.value_or(0) + found->value;
  }
  return sum;
}

Cell whole(double count) { return static_cast<std::int64_t>(count + 0.5); }

/// The table as it grows: a count and, for each of the others who counted, their count and the model's share of it.
class Rows {
 public:
  Rows(const Counted& counted, report::Table& table) : gpu_(counted.gpu), table_(table) {
    executed_ = counted.executed != nullptr && counted.executed->blocks_run > 0;
    sampled_ = executed_ && counted.executed->blocks_run < counted.executed->blocks_total;
    table_.columns = {column("counter", "counter"), column("model_count", "model", Hint::count)};
    if (executed_) {
      table_.columns.push_back(column("executed_count", "executed", Hint::count));
      table_.columns.push_back(column("model_to_executed", "model / executed", Hint::ratio));
    }
    if (gpu_.empty()) return;
    table_.columns.push_back(column("gpu_count", "GPU", Hint::count));
    table_.columns.push_back(column("model_to_gpu", "model / GPU", Hint::ratio));
  }
  bool has_execution() const { return executed_; }
  bool is_sample() const { return sampled_; }

  /// Left out when nobody counted any. A sample's traffic with DRAM is compared with no model's: a line that blocks
  /// share is brought for each block of a sample that has none of the others beside it.
  void add(std::string name, double model, double executed, const GpuNames& names) {
    const std::optional<double> gpu = on_gpu(gpu_, names);
    if (model == 0 && executed == 0 && gpu.value_or(0) == 0) return;
    const bool comparable = executed > 0 && !(sampled_ && name.starts_with("dram_"));
    std::vector<Cell> row = {std::move(name), whole(model)};
    if (executed_) row.insert(row.end(), {whole(executed), comparable ? Cell(model / executed) : Cell()});
    if (!gpu_.empty())
      row.insert(row.end(), {gpu ? whole(*gpu) : Cell(), gpu.value_or(0) > 0 ? Cell(model / *gpu) : Cell()});
    table_.rows.push_back(std::move(row));
  }

 private:
  std::span<const ir::CounterValue> gpu_;
  report::Table& table_;
  bool executed_ = false, sampled_ = false;
};

double executed_of(const LaunchCounts& counts, std::size_t buffer, const ir::CounterRow& row) {
  return buffer < counts.buffers.size() ? counts.buffers[buffer].*row.direction.*row.part : 0;
}

}  // namespace

report::Table count_table(const ir::Kernel& kernel, const Counted& counted) {
  report::Table table;
  table.title =
      "counted side by side: by the model in the program, and in its PTX as it was executed (warp instructions, "
      "sectors "
      "of 32 bytes; DRAM in the model: each byte once)";
  Rows rows(counted, table);
  if (!rows.has_execution() && counted.gpu.empty()) return table;
  if (rows.is_sample())
    table.title += "; in a sample of blocks a line of DRAM that blocks share may count for each of them";
  const Work& work = *counted.model;
  const LaunchCounts executed = rows.has_execution() ? *counted.executed : LaunchCounts{};
  for (const ir::CounterRow& row : ir::counter_table()) {
    if (row.direction != nullptr && counted.gpu.empty()) continue;  // the rows of the buffers say it all
    if (const std::optional<double> model = costmodel::model_count(work, row.name))
      rows.add(std::string(row.name), *model, ir::value_of(row, executed), row.on_gpu);
  }
  for (std::size_t i = 0; i < work.buffers.size() && i < kernel.buffers.size(); ++i)
    for (const ir::CounterRow& row : ir::counter_table())
      if (const std::optional<double> model = costmodel::model_count(costmodel::buffer_of_program(work, i), row.name))
        rows.add(ir::buffer_counter(row, kernel.buffers[i].name), *model, executed_of(executed, i, row), {});
  return table;
}

report::Table gpu_counter_table(std::span<const ir::CounterValue> counters) {
  report::Table table;
  table.title = "counted by the GPU";
  table.columns = {column("counter", "counter"), column("value", "value", Hint::number), column("unit", "unit"),
                   column("meaning", "meaning", Hint::text, 1)};
  const auto known = gpu::counter_table();
  for (const ir::CounterValue& counter : counters) {
    const auto row = std::find_if(known.begin(), known.end(),
                                  [&](const gpu::CounterRow& candidate) { return candidate.name == counter.name; });
    table.rows.push_back({counter.name, counter.value, counter.unit,
                          row == known.end() ? std::string("CUPTI's own") : std::string(row->meaning)});
  }
  return table;
}

}  // namespace tailor::study
