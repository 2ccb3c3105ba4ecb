// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast models are cut into groups: each strategy, and counting what its partition means, on the largest graphs of
// the test data folder, or on a model that ships when that is empty. Figures are nodes per second on one core. A
// Google Benchmark program, started by hand.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <utility>

#include "explore/partition.h"
#include "explore/strategy.h"
#include "hlo/import.h"
#include "support/paths.h"

namespace {

tailor::ir::Graph sample(const std::string& name) {
  const std::filesystem::path dump = std::filesystem::path(tailor::third_party_folder()) / name;
  const std::filesystem::path shipped =
      std::filesystem::path(tailor::source_folder()) / "data" / "models" / "bert_infer_l12_b1_s128_f16.hlo";
  return tailor::hlo::import_file((std::filesystem::exists(dump) ? dump : shipped).string()).graph;
}

void count_nodes(benchmark::State& state, const tailor::ir::Graph& graph) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(graph.nodes.size()));
}

void fuse(benchmark::State& state, const std::string& strategy, const std::string& model) {
  const tailor::ir::Graph graph = sample(model);
  const tailor::explore::ChosenStrategy row = tailor::explore::find_strategy(strategy);
  for (auto _ : state) benchmark::DoNotOptimize(tailor::explore::fuse(row, graph));
  count_nodes(state, graph);
}

void partition(benchmark::State& state, const std::string& strategy, const std::string& model) {
  const tailor::ir::Graph graph = sample(model);
  const tailor::ir::Fusion fusion = tailor::explore::fuse(tailor::explore::find_strategy(strategy), graph);
  for (auto _ : state) benchmark::DoNotOptimize(tailor::explore::partition(graph, fusion));
  count_nodes(state, graph);
}

constexpr auto gemma = "hlo/gemma3_1b_flax_call.hlo";
constexpr auto adamw = "workloads/hlo/adamw_clip_bert_l12.hlo";
BENCHMARK_CAPTURE(fuse, stitch_v1_gemma, "stitch-v1", gemma)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fuse, stitch_v1_adamw, "stitch-v1", adamw)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fuse, unfused_gemma, "unfused", gemma)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(partition, stitch_v1_gemma, "stitch-v1", gemma)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(partition, stitch_v1_adamw, "stitch-v1", adamw)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(partition, unfused_gemma, "unfused", gemma)->Unit(benchmark::kMillisecond);

}  // namespace
