// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast kernels are executed on one core, in lane-instructions per second: kernels of ours in tests/bench/ptx (each
// says how it was made) and two that XLA made of a model of ours, launched with more blocks than there. For every
// instruction set of this machine: bare (requests, sectors and instructions are always counted, that cannot be switched
// off), with the cache model, with the sanitizers. And how fast PTX becomes a program, in bytes of text.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/text.h"
#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/ptx/ptx.h"
#include "support/paths.h"

using namespace tailor::simulator;

namespace {

enum class Contents { f32, f16, bf16, s32 };

struct BenchBuffer {
  Contents contents = Contents::f32;
  std::int64_t elements = 0;  ///< 0: no more arguments
  BufferUse use = BufferUse::input;
};

struct BenchKernel {
  const char* name;
  const char* file;  ///< below tests/
  std::uint32_t grid, block;
  std::array<BenchBuffer, 7> arguments;
};

constexpr BufferUse output = BufferUse::output;
constexpr Contents f32 = Contents::f32, f16 = Contents::f16, bf16 = Contents::bf16, s32 = Contents::s32;
constexpr std::int64_t layernorm = 512 * 768, softmax = 512 * 1024, map32 = 512 * 1024, map16 = 512 * 2048;
constexpr std::int64_t sorted = 64 * 512;
constexpr std::int64_t rows = 4096;  // of the loop kernels of XLA, 64 elements each

constexpr BenchKernel kernels[] = {
    {"map_f32", "bench/ptx/bias_gelu_f32.ptx", 512, 256, {{{f32, map32}, {f32, 3072}, {f32, map32, output}}}},
    {"map_f16", "bench/ptx/bias_gelu_f16.ptx", 512, 256, {{{f16, map16}, {f16, 3072}, {f16, map16, output}}}},
    {"map_bf16", "bench/ptx/bias_gelu_bf16.ptx", 512, 256, {{{bf16, map16}, {bf16, 3072}, {bf16, map16, output}}}},
    {"layernorm_warp_f32",
     "bench/ptx/layernorm_warp_f32.ptx",
     256,
     64,
     {{{f32, layernorm}, {f32, 768}, {f32, 768}, {f32, layernorm, output}}}},
    {"layernorm_block_f32",
     "bench/ptx/layernorm_block_f32.ptx",
     512,
     256,
     {{{f32, layernorm}, {f32, 768}, {f32, 768}, {f32, layernorm, output}}}},
    {"softmax_f32", "bench/ptx/softmax_f32.ptx", 128, 128, {{{f32, softmax}, {f32, softmax, output}}}},
    {"softmax_f16", "bench/ptx/softmax_f16.ptx", 128, 128, {{{f16, softmax}, {f16, softmax, output}}}},
    {"bitonic_f32", "bench/ptx/bitonic_f32.ptx", 64, 256, {{{f32, sorted}, {f32, sorted, output}}}},
    {"bitonic_partner_f32", "bench/ptx/bitonic_partner_f32.ptx", 64, 512, {{{f32, sorted}, {f32, sorted, output}}}},
    {"transpose_f32", "bench/ptx/transpose_f32.ptx", 1024, 256, {{{f32, 1 << 20}, {f32, 1 << 20, output}}}},
    {"xla_loop_f32",
     "data/xla_small/dump/module_0000.xla_small.3.ptx",
     rows / 2,
     128,
     {{{f32, 64}, {f32, 64}, {f32, rows}, {f32, rows}, {f32, 32 * 64}, {s32, rows}, {f32, rows * 64, output}}}},
    {"xla_transpose_f32",
     "data/xla_small/dump/module_0000.xla_small.15.ptx",
     rows / 2,
     128,
     {{{f32, rows}, {f32, rows * 64}, {f32, rows}, {f32, rows * 64, output}, {f32, rows * 64, output}}}},
};

enum class Variant { bare, cache, sanitizers };
constexpr const char* variants[] = {"bare", "cache", "sanitizers"};

std::string ptx_of(const BenchKernel& kernel) {
  return tailor::read_file(fmt::format("{}/tests/{}", tailor::source_folder(), kernel.file));
}

void fill(Contents contents, std::span<std::byte> bytes) {
  const std::size_t size = contents == f16 || contents == bf16 ? 2 : 4;
  for (std::size_t i = 0; i < bytes.size() / size; ++i) {
    const auto step = static_cast<std::uint32_t>(i * 2654435761u >> 7);
    const float real = static_cast<float>(step % 4096) / 1024.0f - 2.0f;
    std::uint32_t bits = step % 32;
    if (contents == f32) std::memcpy(&bits, &real, 4);
    if (contents == f16) bits = (step & 0x83ff) | 0x3800;
    if (contents == bf16) bits = (step & 0x807f) | 0x3f00;
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
}

struct BenchLaunch {
  Memory memory;
  Launch launch;
};

BenchLaunch launch_of(const BenchKernel& kernel) {
  BenchLaunch result;
  result.launch.grid = {kernel.grid, 1, 1};
  result.launch.block = {kernel.block, 1, 1};
  for (const BenchBuffer& buffer : kernel.arguments) {
    if (buffer.elements == 0) break;
    const int size = buffer.contents == f16 || buffer.contents == bf16 ? 2 : 4;
    const int at = result.memory.add(fmt::format("argument {}", result.launch.arguments.size()), buffer.elements * size,
                                     size, buffer.use);
    if (buffer.use == BufferUse::input) fill(buffer.contents, result.memory.bytes(at));
    result.launch.arguments.push_back({at, 0, {}});
  }
  return result;
}

void execute(benchmark::State& state, const BenchKernel& kernel, Variant variant, std::string_view instruction_set) {
  const PtxModule module = parse_ptx(ptx_of(kernel), kernel.file);
  const Program program(module, entry_of(module), instruction_set);
  BenchLaunch bench = launch_of(kernel);
  SimulationOptions options;
  options.sanitize = variant == Variant::sanitizers;
  options.count_cache = variant == Variant::cache;
  options.machine.l2_bytes = 50 << 20;
  std::int64_t lanes = 0;
  for (auto _ : state) {
    const Simulation run = simulate(program, bench.launch, bench.memory, options);
    lanes += run.counters.lane_instructions;
    if (run.outcome != SimulationOutcome::finished) state.SkipWithError(run.reason.c_str());
    if (!run.findings.empty()) state.SkipWithError(describe(run.findings[0]).c_str());
    if (state.error_occurred()) break;
  }
  state.counters["lane_instructions"] =
      benchmark::Counter(static_cast<double>(lanes), benchmark::Counter::kIsRate, benchmark::Counter::kIs1000);
}

void decode(benchmark::State& state, const BenchKernel& kernel) {
  const std::string text = ptx_of(kernel);
  for (auto _ : state) {
    const PtxModule module = parse_ptx(text, kernel.file);
    const Program program(module, entry_of(module));
    benchmark::DoNotOptimize(program.instructions());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(text.size()));
}

const bool registered = [] {
  for (const BenchKernel& kernel : kernels) {
    for (const std::string_view instruction_set : lane_table_names())
      for (const Variant variant : {Variant::bare, Variant::cache, Variant::sanitizers})
        benchmark::RegisterBenchmark(
            fmt::format("{}/{}/{}", kernel.name, variants[static_cast<int>(variant)], instruction_set).c_str(),
            [&kernel, variant, instruction_set](benchmark::State& state) {
              execute(state, kernel, variant, instruction_set);
            })
            ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(fmt::format("{}/decode", kernel.name).c_str(), [&kernel](benchmark::State& state) {
      decode(state, kernel);
    })->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
