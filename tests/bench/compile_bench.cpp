// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How much of the compile stage is spent inside NVRTC, and how the stage scales with workers. Counters: compiler_share
// is the fraction of the workers' time inside NVRTC (0.9 or more is wanted), texts_per_s the rate. Needs NVRTC, no
// GPU. Texts are normalisations that differ in one number each, so that the cache has none of them. A Google Benchmark
// program, started by hand.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>

#include "profiler/compile/pool.h"
#include "support/paths.h"

using namespace tailor::profiler;

namespace {

/// A normalisation of rows of 768, different for each number so that no two texts are equal.
std::string row_norm(int number) {
  return fmt::format(R"(
extern "C" __global__ void __launch_bounds__(256) row_norm(const float* a, const float* scale, float* b) {{
  __shared__ float partial[2][8];
  const float* row = a + blockIdx.x * 768;
  float v[3], sum = 0, squares = 0;
  for (int i = 0; i < 3; i++) {{ v[i] = row[threadIdx.x + i * 256]; sum += v[i]; squares += v[i] * v[i]; }}
  for (int d = 16; d > 0; d /= 2) {{
    sum += __shfl_xor_sync(~0u, sum, d); squares += __shfl_xor_sync(~0u, squares, d);
  }}
  if (threadIdx.x % 32 == 0) {{ partial[0][threadIdx.x / 32] = sum; partial[1][threadIdx.x / 32] = squares; }}
  __syncthreads();
  sum = squares = 0;
  for (int w = 0; w < 8; w++) {{ sum += partial[0][w]; squares += partial[1][w]; }}
  float mean = sum / 768, rate = rsqrtf(squares / 768 - mean * mean + {}e-6f);
  for (int i = 0; i < 3; i++) b[blockIdx.x * 768 + threadIdx.x + i * 256] = (v[i] - mean) * rate * scale[threadIdx.x + i * 256];
}})",
                     number);
}

std::vector<CompileRequest> batch(int size) {
  std::vector<CompileRequest> requests;
  for (int i = 0; i < size; ++i) requests.push_back({.cuda = row_norm(i + 1), .entry = "row_norm"});
  return requests;
}

void compile_stage(benchmark::State& state) {
  const FoundNvrtc found = find_nvrtc(default_nvrtc_paths({tailor::source_folder() + "/.venv"}));
  if (!found) return state.SkipWithError(found.reason.c_str());
  const std::vector<CompileRequest> requests = batch(32);
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tailor-compile-bench";
  const BinaryCache cache{folder};
  compile_all(*found.api, std::span(requests).first(1), {});  // the library's own start is no part of the stage
  for (auto _ : state) {
    std::filesystem::remove_all(folder);
    const CompiledAll all =
        compile_all(*found.api, requests, {.workers = static_cast<int>(state.range(0)), .cache = &cache});
    state.counters["compiler_share"] = all.account.compiler_share();
    state.counters["texts_per_s"] = static_cast<double>(all.account.compiled) / all.account.wall.value;
  }
  std::filesystem::remove_all(folder);
}

void resumed_stage(benchmark::State& state) {
  const FoundNvrtc found = find_nvrtc(default_nvrtc_paths({tailor::source_folder() + "/.venv"}));
  if (!found) return state.SkipWithError(found.reason.c_str());
  const std::vector<CompileRequest> requests = batch(32);
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "tailor-compile-bench";
  const BinaryCache cache{folder};
  compile_all(*found.api, requests, {.cache = &cache});
  for (auto _ : state) {
    const CompiledAll all = compile_all(*found.api, requests, {.cache = &cache});
    state.counters["compiled"] = static_cast<double>(all.account.compiled);
    state.counters["texts_per_s"] = static_cast<double>(all.account.cached) / all.account.wall.value;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

BENCHMARK(compile_stage)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);
BENCHMARK(resumed_stage)->Unit(benchmark::kMillisecond)->UseRealTime();
