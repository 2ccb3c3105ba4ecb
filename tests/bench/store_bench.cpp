// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows per second into a fresh database: estimates and plans as a sweep writes them (units of a few hundred plans, one
// commit each), and what a commit alone costs. A Google Benchmark program, started by hand; its database is a fresh
// file that is removed again.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>

#include "store/store.h"

using namespace tailor;
using namespace tailor::store;

namespace {

std::filesystem::path fresh_path() {
  std::string name = (std::filesystem::temp_directory_path() / "tailor_bench_XXXXXX").string();
  return std::filesystem::path(mkdtemp(name.data())) / "a.db";
}

const DeviceRow device{id_of(std::string_view("device")), "h200", "NVIDIA H200", "sm_90", "{}"};
const GroupRow group{id_of(std::string_view("group")), "group", "text", 1, 0, {1}, {1}, 1};

PlanRow plan_row(std::int64_t i) {
  PlanRow plan;
  plan.text = fmt::format("row dominant=%3 threads=128 threads_per_row=32 vector=4 n={}", i);
  plan.id = id_of(plan.text);
  plan.group = group.id;
  plan.skeleton = "row";
  return plan;
}

void save_plans(benchmark::State& state, bool with_plans) {
  const std::int64_t unit = state.range(0);
  const std::filesystem::path path = fresh_path();
  std::int64_t rows = 0;
  {
    Store store = Store::open(path);
    store.save(device);
    store.save(group);
    std::int64_t next = 0;
    for (auto _ : state) {
      state.PauseTiming();
      std::vector<PlanRow> plans;
      std::vector<EstimateRow> estimates;
      for (std::int64_t i = 0; i < unit; ++i) {
        plans.push_back(plan_row(next++));
        estimates.push_back({plans.back().id, device.id, "projected", "projected", {1e-6}, {1e-6}, {1e-6}, "dram", {}});
      }
      if (!with_plans) {
        Store::Transaction before(store);
        for (const PlanRow& plan : plans) store.save(plan);
        before.commit();
      }
      state.ResumeTiming();
      Store::Transaction transaction(store);
      if (with_plans)
        for (const PlanRow& plan : plans) store.save(plan);
      for (const EstimateRow& estimate : estimates) store.save(estimate);
      transaction.commit();
      rows += with_plans ? 2 * unit : unit;
    }
  }
  state.SetItemsProcessed(rows);
  std::filesystem::remove_all(path.parent_path());
}

void save_estimates(benchmark::State& state) { save_plans(state, false); }
void save_plans_and_estimates(benchmark::State& state) { save_plans(state, true); }

void commit_alone(benchmark::State& state) {
  const std::filesystem::path path = fresh_path();
  {
    Store store = Store::open(path);
    store.save(device);
    RunRow run;
    for (auto _ : state) {
      run.seed++;
      run.id = id_of(fmt::format("{}", run.seed));
      store.save(run);
    }
  }
  std::filesystem::remove_all(path.parent_path());
}

}  // namespace

BENCHMARK(save_estimates)->Arg(1000)->Arg(20000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(save_plans_and_estimates)->Arg(1000)->Arg(20000)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(commit_alone)->Unit(benchmark::kMillisecond)->UseRealTime();
