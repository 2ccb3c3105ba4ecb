// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What printing one kernel costs. A compile takes some 100 ms, so anything under 1 ms leaves the compile stage to the
// compiler. Needs neither NVRTC nor a GPU. The kernels are a LayerNorm and a flat map built by hand. A Google
// Benchmark program, started by hand.
#include <benchmark/benchmark.h>

#include "codegen/cuda/cuda.h"
#include "support/kernel_builder.h"

using namespace tailor;

namespace {

void print_layer_norm(benchmark::State& state) {
  const ir::Kernel kernel = ir::example_layer_norm(4096, 6, static_cast<int>(state.range(0)));
  std::size_t bytes = 0;
  for (auto _ : state) bytes = codegen::cuda(kernel, std::string_view("row, by hand")).size();
  state.counters["bytes"] = static_cast<double>(bytes);
}

void print_map(benchmark::State& state) {
  const ir::Kernel kernel = ir::example_map(4096, 768, ir::DType::f16);
  for (auto _ : state) benchmark::DoNotOptimize(codegen::cuda(kernel, std::string_view("map, by hand")));
}

}  // namespace

BENCHMARK(print_layer_norm)->Arg(32)->Arg(128)->Unit(benchmark::kMicrosecond);
BENCHMARK(print_map)->Unit(benchmark::kMicrosecond);
