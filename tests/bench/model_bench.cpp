// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How long counting and the cost models take per plan, for the kernels that a search meets most: a row in a warp, a
// ragged row in a block, and a flat map, each built by hand. A search asks them for every plan, so they set how many
// plans a second can be ranked. A Google Benchmark program, started by hand.
#include <benchmark/benchmark.h>

#include <string>

#include "costmodel/count.h"
#include "costmodel/model.h"
#include "support/kernel_builder.h"
#include "support/paths.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

const CalibratedDevice& device() {
  static const std::string data = tailor::source_folder() + "/data";
  static const CalibratedDevice read = calibrated(ir::find_device("h200", data + "/devices"),
                                                  ir::find_calibration("uncalibrated", data + "/calibrations"));
  return read;
}

void count_kernel(benchmark::State& state, const ir::Kernel& kernel) {
  Scratch scratch;
  Work work;
  for (auto _ : state) {
    count(kernel, Mode::fast, scratch, work);
    benchmark::DoNotOptimize(work);
  }
}
void count_row_in_a_warp(benchmark::State& state) { count_kernel(state, ir::example_layer_norm(4096, 6, 32)); }
void count_ragged_row_in_a_block(benchmark::State& state) { count_kernel(state, ir::example_layer_norm(4097, 6, 128)); }
void count_map(benchmark::State& state) { count_kernel(state, ir::example_map(4096, 768, ir::DType::f16)); }

void project(benchmark::State& state) {
  const Work work = count(ir::example_layer_norm(4096, 6, 32), Mode::fast);
  for (auto _ : state) benchmark::DoNotOptimize(projected(work, device()));
}
void speed_of_light(benchmark::State& state) {
  const GroupWork work = compulsory_work(count(ir::example_layer_norm(4096, 6, 32), Mode::fast));
  for (auto _ : state) benchmark::DoNotOptimize(sol(work, device()));
}

BENCHMARK(count_row_in_a_warp);
BENCHMARK(count_ragged_row_in_a_block);
BENCHMARK(count_map);
BENCHMARK(project);
BENCHMARK(speed_of_light);

}  // namespace
