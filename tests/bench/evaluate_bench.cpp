// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The reference evaluator's speed: elements of the result per second for element-wise operations and reductions, and
// whole small models. It is the oracle of full-shape checks, so it must not be the slow part of them. Both are timed
// with error bounds and without; then what a check does beside: making inputs, and holding results against a reference.
// Times are real ones, of as many threads as there are processors. A Google Benchmark program, started by hand.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>

#include "hlo/import.h"
#include "reference/compare.h"
#include "reference/inputs.h"
#include "support/paths.h"

namespace {

using namespace tailor::ir;
using namespace tailor::reference;
using namespace tailor::hlo;

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const NodeId id : parameters(graph))
    inputs.push_back(random_tensor(graph[id].shape, static_cast<std::uint64_t>(id)));
  return inputs;
}

void run(benchmark::State& state, const Graph& graph) {
  const std::vector<Tensor> inputs = inputs_of(graph);
  std::int64_t read = 0;
  for (const Tensor& input : inputs) read += elements(input.shape);
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(graph, inputs));
  state.SetItemsProcessed(state.iterations() * read);
}

void run_bounded(benchmark::State& state, const Graph& graph) {
  const std::vector<Tensor> inputs = inputs_of(graph);
  std::int64_t read = 0;
  for (const Tensor& input : inputs) read += elements(input.shape);
  for (auto _ : state) benchmark::DoNotOptimize(evaluate_with_error_bounds(graph, inputs));
  state.SetItemsProcessed(state.iterations() * read);
}

void operation(benchmark::State& state, const char* line, const char* dtype) {
  run(state, parse_graph(fmt::format("graph g {{\n  %x = parameter 0 : {0}[1024,1024]\n  %z = constant 0 : {0}[]\n"
                                     "  %y = {1}\n  output %y\n}}\n",
                                     dtype, fmt::format(fmt::runtime(line), dtype))));
}

void model(benchmark::State& state, const char* name) {
  run(state, import_file(std::string(tailor::source_folder() + "/data/models/") + name).graph);
}

void bounded(benchmark::State& state, const char* name) {
  run_bounded(state, import_file(std::string(tailor::source_folder() + "/data/models/") + name).graph);
}

/// A right kernel's results, off by a half to a hundredth of their bounds.
void compared(benchmark::State& state, DType dtype) {
  const Shape shape = make_shape(dtype, {4096, 4096});
  BoundedTensor expected{random_tensor(shape, 1), {}};
  const std::int64_t count = elements(shape);
  Tensor found = expected.value;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = as_double(expected.value, i);
    store(found, i, value * (1 + 2 * unit_roundoff(dtype)));
    expected.error.push_back(std::fabs(as_double(found, i) - value) * static_cast<double>(2 + i * 37 % 99) + 1e-30);
  }
  for (auto _ : state) benchmark::DoNotOptimize(compare(expected, found.bytes));
  state.SetItemsProcessed(state.iterations() * count);
}

void drawn(benchmark::State& state, const char* dtype) {
  const Graph graph = parse_graph(fmt::format(
      "graph g {{\n  %x = parameter 0 : {0}[4096,4096]\n  %y = exp %x : {0}[4096,4096]\n  output %y\n}}\n", dtype));
  for (auto _ : state) benchmark::DoNotOptimize(sensible_inputs(graph, 1, Edges::not_finite));
  state.SetItemsProcessed(state.iterations() * 4096 * 4096);
}

BENCHMARK_CAPTURE(compared, f32, DType::f32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(compared, bf16, DType::bf16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(drawn, f32, "f32")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(drawn, bf16, "bf16")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(operation, add_f32, "add %x, %x : {}[1024,1024]", "f32")->UseRealTime();
BENCHMARK_CAPTURE(operation, add_bf16, "add %x, %x : {}[1024,1024]", "bf16")->UseRealTime();
BENCHMARK_CAPTURE(operation, exp_f32, "exp %x : {}[1024,1024]", "f32")->UseRealTime();
BENCHMARK_CAPTURE(operation, row_sum_f32, "reduce add %x, %z, axes={{1}} : {}[1024]", "f32")->UseRealTime();
BENCHMARK_CAPTURE(operation, transpose_f32, "transpose %x, axes={{1,0}} : {}[1024,1024]", "f32")->UseRealTime();
BENCHMARK_CAPTURE(model, layernorm, "layernorm_fwd_tf_f32_4096x768.hlo")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(model, softmax, "softmax_fwd_f32_4096x1024.hlo")->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(bounded, layernorm, "layernorm_fwd_tf_f32_4096x768.hlo")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(bounded, softmax, "softmax_fwd_f32_4096x1024.hlo")->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
