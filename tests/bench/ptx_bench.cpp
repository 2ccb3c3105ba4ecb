// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast PTX text becomes structure: bytes of text per second on one core, for a long kernel in the style of a
// compiler and for a small file in which declarations weigh more. Both texts are written here. A Google Benchmark
// program, started by hand.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "profiler/simulator/ptx/ptx.h"
#include "support/paths.h"

namespace {

std::string long_kernel(int steps) {
  std::string text = fmt::format(
      ".version 9.0\n.target sm_90\n.address_size 64\n\n.visible .entry chain(\n\t.param .u64 chain_param_0,\n\t.param "
      ".u64 chain_param_1\n)\n{{\n\t.reg .pred \t%p<{0}>;\n\t.reg .b32 \t%r<{0}>;\n\t.reg .f32 \t%f<{0}>;\n\t.reg .b64 "
      "\t%rd<{0}>;\n\n\tld.param.u64 \t%rd0, [chain_param_0];\n",
      4 * steps + 8);
  for (int i = 0; i < steps; ++i)
    text += fmt::format(
        "\tmul.wide.s32 \t%rd{1}, %r{0}, 4;\n\tadd.s64 \t%rd{2}, %rd0, %rd{1};\n\tld.global.nc.v4.f32 \t{{%f{0}, "
        "%f{1}, "
        "%f{2}, %f{3}}}, [%rd{2}+16];\n\tfma.rn.f32 \t%f{4}, %f{0}, 0f3FB8AA3B, %f{1};\n\tsetp.gt.s32 \t%p{1}, "
        "%r{0}, 128;\n\t@%p{1} bra \t$L__BB0_{5};\n\tst.shared.f32 \t[%rd{2}], %f{4};\n\n$L__BB0_{5}:\n"
        "\tbar.sync \t0;\n",
        4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3, 4 * i + 4, i);
  return text + "\tret;\n}\n";
}

void parse(benchmark::State& state, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(tailor::simulator::parse_ptx(text));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(text.size()));
}

void long_text(benchmark::State& state) { parse(state, long_kernel(20000)); }
BENCHMARK(long_text)->Unit(benchmark::kMillisecond);

void small_file(benchmark::State& state) {
  parse(state, tailor::read_file(tailor::source_folder() + "/tests/fuzz/corpus/ptx/forms.ptx"));
}
BENCHMARK(small_file)->Unit(benchmark::kMicrosecond);

}  // namespace
