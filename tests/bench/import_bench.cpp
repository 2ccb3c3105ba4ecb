// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast HLO text becomes a graph: reading alone, and reading with normalisation. Figures are bytes of text per
// second on one core. The text is a dump of the test data folder, or a long chain written here when that is empty. A
// Google Benchmark program, started by hand.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "base/text.h"
#include "hlo/hlo_module.h"
#include "hlo/import.h"
#include "support/paths.h"

namespace {

std::string chain_of_operations() {
  std::string text = "HloModule chain\n\nENTRY main {\n  x0 = f32[64,768]{1,0} parameter(0)\n";
  for (int i = 0; i < 10000; ++i)
    text += fmt::format(
        "  x{} = f32[64,768]{{1,0}} add(f32[64,768]{{1,0}} x{}, f32[64,768]{{1,0}} x{}), "
        "metadata={{op_name=\"jit(main)/layer_{}/add\" source_file=\"model.py\" source_line={}}}\n",
        i + 1, i, i / 2, i / 100, i);
  return text + "}\n";
}

const std::string& sample() {
  static const std::string text = [] {
    const std::filesystem::path dump =
        std::filesystem::path(tailor::third_party_folder()) / "hlo" / "gemma3_1b_flax_call.hlo";
    return std::filesystem::exists(dump) ? tailor::read_file(dump) : chain_of_operations();
  }();
  return text;
}

void parse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tailor::hlo::parse_module(sample(), "sample"));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(sample().size()));
}
BENCHMARK(parse)->Unit(benchmark::kMillisecond);

void import(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(tailor::hlo::import_hlo(sample(), "sample"));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(sample().size()));
}
BENCHMARK(import)->Unit(benchmark::kMillisecond);

}  // namespace
