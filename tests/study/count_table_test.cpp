// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts of model, simulator and GPU side by side, with numbers invented so that each can be told from all others: a
// value in the wrong cell shows. Who did not count has no column, and a sum with a part missing is not there. Part of
// the suite `study`.
#include "study/tables/count_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "profiler/gpu/cupti/metrics.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::study;
using report::Cell;
using report::Table;

namespace {

/// Two buffers: one read, one written and added to.
struct Sample {
  ir::Kernel kernel;
  costmodel::Work work;
  ir::LaunchCounts executed;
  std::vector<ir::CounterValue> gpu;

  Sample() {
    kernel.buffers.resize(2);
    kernel.buffers[0].name = "x";
    kernel.buffers[1].name = "y";
    work.buffers.resize(2);
    work.buffers[0].load = {10, 40, 1280};
    work.buffers[0].read_bytes = 1280;
    work.buffers[1].load = {1, 4, 128};
    work.buffers[1].store = {5, 20, 640};
    work.buffers[1].atomic = {7, 7, 28};
    work.buffers[1].written_bytes = 640;
    work.pipes.fma = 100;
    work.pipes.xu = 3;
    executed.blocks_run = executed.blocks_total = 1;
    executed.instructions = 200;
    executed.fma = 50;
    executed.buffers.resize(2);
    executed.buffers[0].load = {10, 40, 1280};
    executed.buffers[1].load = {1, 4, 128};
    gpu = {{"instructions", 400, "warp instructions"}, {"global_load_requests", 22, "requests"},
           {"global_load_sectors", 44, "sectors"},     {"global_atom_requests", 3, "requests"},
           {"global_red_requests", 4, "requests"},     {"global_atom_sectors", 7, "sectors"},
           {"dram_read_bytes", 2560, "bytes"},         {"local_load_requests", 8, "requests"},
           {"local_store_requests", 9, "requests"},    {"l2_hit_rate", 0.5, "fraction"}};
  }
};

const std::vector<Cell>* row_of(const Table& table, const std::string& name) {
  for (const std::vector<Cell>& row : table.rows)
    if (std::get<std::string>(row.front()) == name) return &row;
  return nullptr;
}

Cell cell(const Table& table, const std::string& row, const std::string& key) {
  const auto column = std::find_if(table.columns.begin(), table.columns.end(),
                                   [&](const report::Column& candidate) { return candidate.key == key; });
  REQUIRE(column != table.columns.end());
  const std::vector<Cell>* found = row_of(table, row);
  REQUIRE(found != nullptr);
  REQUIRE(found->size() == table.columns.size());
  return (*found)[static_cast<std::size_t>(column - table.columns.begin())];
}

std::set<std::string> keys(const Table& table) {
  std::set<std::string> all;
  for (const report::Column& column : table.columns) all.insert(column.key);
  return all;
}

std::int64_t whole(const Cell& cell) { return std::get<std::int64_t>(cell); }

}  // namespace

TEST_CASE("who did not count has no column") {
  const Sample s;
  CHECK(keys(count_table(s.kernel, {&s.work, &s.executed, {}})) ==
        std::set<std::string>{"counter", "model_count", "executed_count", "model_to_executed"});
  CHECK(keys(count_table(s.kernel, {&s.work, nullptr, s.gpu})) ==
        std::set<std::string>{"counter", "model_count", "gpu_count", "model_to_gpu"});
  CHECK(keys(count_table(s.kernel, {&s.work, &s.executed, s.gpu})).size() == 6);
  const ir::LaunchCounts nothing;
  CHECK(keys(count_table(s.kernel, {&s.work, &nothing, s.gpu})).size() == 4);
  CHECK(count_table(s.kernel, {&s.work, &nothing, {}}).rows.empty());
}

TEST_CASE("every row has a cell for every column, and no row is there twice") {
  const Sample s;
  std::set<std::string> names;
  const Table table = count_table(s.kernel, {&s.work, &s.executed, s.gpu});
  for (const std::vector<Cell>& row : table.rows) {
    CHECK(row.size() == table.columns.size());
    CHECK(names.insert(std::get<std::string>(row.front())).second);
  }
}

TEST_CASE("a sample's traffic with DRAM is told and held against nothing, and the title says why") {
  Sample s;
  s.executed.dram_read_bytes = 2560;
  const auto ratio = [&](const Table& table, const char* row) { return cell(table, row, "model_to_executed"); };
  const Table all = count_table(s.kernel, {&s.work, &s.executed, {}});
  CHECK(std::get<double>(ratio(all, "dram_read_bytes")) == approx(0.75));
  CHECK(all.title.find("sample") == std::string::npos);
  s.executed.blocks_total = 4;
  const Table some = count_table(s.kernel, {&s.work, &s.executed, {}});
  CHECK(whole(cell(some, "dram_read_bytes", "executed_count")) == 2560);
  CHECK(ratio(some, "dram_read_bytes") == Cell());
  CHECK(ratio(some, "fma") == ratio(all, "fma"));
  CHECK(some.title.find("in a sample of blocks") != std::string::npos);
}

TEST_CASE("a GPU's counters stand beside the sums over all buffers, and no buffer has a cell of its") {
  const Sample s;
  const Table table = count_table(s.kernel, {&s.work, &s.executed, s.gpu});
  CHECK(whole(cell(table, "global_load_requests", "model_count")) == 11);
  CHECK(whole(cell(table, "global_load_requests", "executed_count")) == 11);
  CHECK(whole(cell(table, "global_load_requests", "gpu_count")) == 22);
  CHECK(std::get<double>(cell(table, "global_load_requests", "model_to_gpu")) == approx(0.5));
  CHECK(whole(cell(table, "global_load_sectors", "gpu_count")) == 44);
  CHECK(cell(table, "global[x]_load_requests", "gpu_count") == Cell());
  CHECK(whole(cell(table, "global[x]_load_requests", "model_count")) == 10);
  CHECK(row_of(count_table(s.kernel, {&s.work, &s.executed, {}}), "global_load_requests") == nullptr);
}

TEST_CASE("counters that belong together are added, and a sum with a part missing is not there") {
  const Sample s;
  const Table table = count_table(s.kernel, {&s.work, &s.executed, s.gpu});
  CHECK(whole(cell(table, "global_atomic_requests", "gpu_count")) == 7);
  CHECK(whole(cell(table, "local_load_requests", "gpu_count")) == 8);
  CHECK(cell(table, "global_atomic_sectors", "gpu_count") == Cell());  // of those without a result none was collected
  CHECK(cell(table, "global_store_requests", "gpu_count") == Cell());
  CHECK(cell(table, "fma", "gpu_count") == Cell());
}

TEST_CASE("the model's count is held over the others', and a count of nothing has no share") {
  const Sample s;
  const Table table = count_table(s.kernel, {&s.work, &s.executed, s.gpu});
  CHECK(whole(cell(table, "fma", "model_count")) == 100);
  CHECK(whole(cell(table, "fma", "executed_count")) == 50);
  CHECK(std::get<double>(cell(table, "fma", "model_to_executed")) == approx(2));
  CHECK(std::get<double>(cell(table, "dram_read_bytes", "model_to_gpu")) == approx(0.75));
  CHECK(whole(cell(table, "xu", "executed_count")) == 0);
  CHECK(cell(table, "xu", "model_to_executed") == Cell());
  CHECK(std::get<double>(cell(table, "global[y]_load_sectors", "model_to_executed")) == approx(1));
}

TEST_CASE("DRAM bytes of the model are those that must move once, and an atomic operation reads where it writes") {
  const Sample s;
  const Table table = count_table(s.kernel, {&s.work, nullptr, s.gpu});
  CHECK(whole(cell(table, "dram_read_bytes", "model_count")) == 1280 + 640);
  CHECK(whole(cell(table, "dram_read_bytes", "gpu_count")) == 2560);
  CHECK(whole(cell(table, "dram_write_bytes", "model_count")) == 640);
}

TEST_CASE("what only one of them counted is shown, what nobody counted is not") {
  const Sample s;
  const Table table = count_table(s.kernel, {&s.work, &s.executed, s.gpu});
  CHECK(whole(cell(table, "local_store_requests", "model_count")) == 0);
  CHECK(whole(cell(table, "xu", "model_count")) == 3);
  CHECK(row_of(table, "f64") == nullptr);
  CHECK(row_of(table, "global[x]_store_requests") == nullptr);
}

TEST_CASE("every counter that stands beside the model's is a row of the table of counters") {
  // With all counters of the table present each row that can have a cell of the GPU has one.
  Sample s;
  s.gpu.clear();
  for (const gpu::CounterRow& row : gpu::counter_table())
    s.gpu.push_back({std::string(row.name), 1000, std::string(row.unit)});
  const Table table = count_table(s.kernel, {&s.work, &s.executed, s.gpu});
  int with_gpu = 0;
  for (const std::vector<Cell>& row : table.rows) with_gpu += row[4] != Cell() ? 1 : 0;
  CHECK(with_gpu == 24);
}

TEST_CASE("the GPU's own table has a row, unit and meaning for each counter, also for metrics of CUPTI's") {
  const Sample s;
  std::vector<ir::CounterValue> counters = s.gpu;
  counters.push_back({"lts__t_sectors_op_read.sum", 5, "l2_sector"});
  const Table table = gpu_counter_table(counters);
  CHECK(table.rows.size() == counters.size());
  CHECK(std::get<double>(cell(table, "l2_hit_rate", "value")) == 0.5);
  CHECK(std::get<std::string>(cell(table, "l2_hit_rate", "meaning")) == "sectors found in L2");
  CHECK(std::get<std::string>(cell(table, "lts__t_sectors_op_read.sum", "meaning")) == "CUPTI's own");
}
