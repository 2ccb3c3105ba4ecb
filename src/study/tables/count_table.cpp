// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One table says which count of the model stands beside which of the simulator and which counters of a GPU. Counters of
// a GPU are sums over the launch, so a buffer's rows have no cell of its.
#include "study/tables/count_table.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "profiler/gpu/metrics.h"
#include "study/tables/column.h"

namespace tailor::study {

namespace {

using costmodel::Traffic;
using costmodel::Work;
using ir::AccessCounts;
using ir::LaunchCounts;
using report::Cell;
using report::Hint;

/// Up to two counters of a GPU whose sum is meant; empty: none.
using GpuNames = std::array<std::string_view, 2>;

/// One count that the model and the simulator both have.
struct CountPair {
  std::string_view name;
  double (*model)(const Work&);
  double (*executed)(const LaunchCounts&);
  GpuNames gpu;
};

double number(std::int64_t count) { return static_cast<double>(count); }

template <auto Bytes>
double distinct_bytes(const Work& work) {
  std::int64_t sum = 0;
  for (const costmodel::BufferWork& buffer : work.buffers) sum += buffer.*Bytes;
  return number(sum);
}

constexpr auto pair_table = std::to_array<CountPair>({
    {"instructions",
     [](const Work& w) { return number(costmodel::instructions(w.pipes)); },
     [](const LaunchCounts& c) { return c.instructions; },
     {"instructions"}},
    {"fma", [](const Work& w) { return number(w.pipes.fma); }, [](const LaunchCounts& c) { return c.fma; }, {"fma"}},
    {"alu and addresses",
     [](const Work& w) { return number(w.pipes.alu + w.pipes.address); },
     [](const LaunchCounts& c) { return c.alu; },
     {"alu", "uniform"}},
    {"xu", [](const Work& w) { return number(w.pipes.xu); }, [](const LaunchCounts& c) { return c.xu; }, {"xu"}},
    {"f64", [](const Work& w) { return number(w.pipes.f64); }, [](const LaunchCounts& c) { return c.f64; }, {"f64"}},
    {"conversions",
     [](const Work& w) { return number(w.pipes.widen + w.pipes.narrow); },
     [](const LaunchCounts& c) { return c.convert; },
     {}},
    {"moves", [](const Work&) { return 0.0; }, [](const LaunchCounts& c) { return c.move; }, {}},
    {"control",
     [](const Work& w) { return number(w.pipes.control); },
     [](const LaunchCounts& c) { return c.control; },
     {"control"}},
    {"shuffles",
     [](const Work& w) { return number(w.shuffles); },
     [](const LaunchCounts& c) { return c.shuffles; },
     {}},
    {"barriers",
     [](const Work& w) { return number(w.barriers); },
     [](const LaunchCounts& c) { return c.barriers; },
     {}},
    {"shared load requests",
     [](const Work& w) { return number(w.shared_load.requests); },
     [](const LaunchCounts& c) { return c.shared_load.requests; },
     {"shared_load_requests"}},
    {"shared load wavefronts",
     [](const Work& w) { return number(w.shared_load.wavefronts); },
     [](const LaunchCounts& c) { return c.shared_load.sectors; },
     {"shared_load_wavefronts"}},
    {"shared store requests",
     [](const Work& w) { return number(w.shared_store.requests); },
     [](const LaunchCounts& c) { return c.shared_store.requests; },
     {"shared_store_requests"}},
    {"shared store wavefronts",
     [](const Work& w) { return number(w.shared_store.wavefronts); },
     [](const LaunchCounts& c) { return c.shared_store.sectors; },
     {"shared_store_wavefronts"}},
    {"local requests",
     [](const Work&) { return 0.0; },
     [](const LaunchCounts& c) { return c.local_loads + c.local_stores; },
     {"local_load_requests", "local_store_requests"}},
    {"DRAM read bytes",
     distinct_bytes<&costmodel::BufferWork::read_bytes>,
     [](const LaunchCounts& c) { return c.dram_read; },
     {"dram_read_bytes"}},
    {"DRAM written bytes",
     distinct_bytes<&costmodel::BufferWork::written_bytes>,
     [](const LaunchCounts& c) { return c.dram_written; },
     {"dram_write_bytes"}},
});

/// One direction of access, over all buffers.
struct DirectionRow {
  std::string_view name;
  Traffic costmodel::BufferWork::*model;
  AccessCounts ir::BufferCounts::*executed;
  GpuNames requests, sectors, bytes;
};
constexpr auto direction_table = std::to_array<DirectionRow>({
    {"load",
     &costmodel::BufferWork::load,
     &ir::BufferCounts::load,
     {"global_load_requests"},
     {"global_load_sectors"},
     {"global_load_bytes"}},
    {"store",
     &costmodel::BufferWork::store,
     &ir::BufferCounts::store,
     {"global_store_requests"},
     {"global_store_sectors"},
     {"global_store_bytes"}},
    {"atomic",
     &costmodel::BufferWork::atomic,
     &ir::BufferCounts::atomic,
     {"global_atom_requests", "global_red_requests"},
     {"global_atom_sectors", "global_red_sectors"},
     {}},
});

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
    table_.columns = {column("counter", "counter"), column("model", "model", Hint::count)};
    if (executed_) {
      table_.columns.push_back(column("executed", "executed", Hint::count));
      table_.columns.push_back(column("ratio", "model / executed", Hint::ratio));
    }
    if (gpu_.empty()) return;
    table_.columns.push_back(column("gpu", "GPU", Hint::count));
    table_.columns.push_back(column("gpu_ratio", "model / GPU", Hint::ratio));
  }
  bool has_execution() const { return executed_; }

  /// Left out when nobody counted any.
  void add(std::string name, double model, double executed, const GpuNames& names) {
    const std::optional<double> gpu = on_gpu(gpu_, names);
    if (model == 0 && executed == 0 && gpu.value_or(0) == 0) return;
    std::vector<Cell> row = {std::move(name), whole(model)};
    if (executed_) row.insert(row.end(), {whole(executed), executed > 0 ? Cell(model / executed) : Cell()});
    if (!gpu_.empty())
      row.insert(row.end(), {gpu ? whole(*gpu) : Cell(), gpu.value_or(0) > 0 ? Cell(model / *gpu) : Cell()});
    table_.rows.push_back(std::move(row));
  }

 private:
  std::span<const ir::CounterValue> gpu_;
  report::Table& table_;
  bool executed_ = false;
};

void add_traffic(Rows& rows, const std::string& what, const Traffic& model, const AccessCounts& executed,
                 const DirectionRow& names) {
  rows.add(what + " requests", number(model.requests), executed.requests, names.requests);
  rows.add(what + " sectors", number(model.sectors), executed.sectors, names.sectors);
  rows.add(what + " bytes", number(model.bytes), executed.bytes, names.bytes);
}

AccessCounts executed_of(const LaunchCounts& counts, std::size_t buffer, AccessCounts ir::BufferCounts::*direction) {
  return buffer < counts.buffers.size() ? counts.buffers[buffer].*direction : AccessCounts{};
}

}  // namespace

report::Table count_table(const ir::Kernel& kernel, const Counted& counted) {
  report::Table table;
  table.title = "counted side by side (warp instructions, sectors of 32 bytes; DRAM in the model: each byte once)";
  Rows rows(counted, table);
  if (!rows.has_execution() && counted.gpu.empty()) return table;
  const Work& work = *counted.model;
  const LaunchCounts executed = rows.has_execution() ? *counted.executed : LaunchCounts{};
  for (const CountPair& pair : pair_table)
    rows.add(std::string(pair.name), pair.model(work), pair.executed(executed), pair.gpu);
  if (!counted.gpu.empty())
    for (const DirectionRow& direction : direction_table) {
      Traffic model;
      AccessCounts seen;
      for (std::size_t i = 0; i < work.buffers.size(); ++i) {
        const Traffic& part = work.buffers[i].*direction.model;
        const AccessCounts other = executed_of(executed, i, direction.executed);
        model = {model.requests + part.requests, model.sectors + part.sectors, model.bytes + part.bytes};
        seen = {seen.requests + other.requests, seen.sectors + other.sectors, seen.bytes + other.bytes};
      }
      add_traffic(rows, "all buffers " + std::string(direction.name), model, seen, direction);
    }
  for (std::size_t i = 0; i < work.buffers.size() && i < kernel.buffers.size(); ++i)
    for (const DirectionRow& direction : direction_table)
      add_traffic(rows, kernel.buffers[i].name + " " + std::string(direction.name), work.buffers[i].*direction.model,
                  executed_of(executed, i, direction.executed), {});
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
