// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How fast machine code becomes counts: bytes of code per second for reading what it holds, and microseconds per launch
// for following it, for straight code, for a loop over the grid, and for a guard at the end of a grid. The code is
// written here, for sm_80. A Google Benchmark program, started by hand.
#include <benchmark/benchmark.h>

#include <array>
#include <cstring>
#include <vector>

#include "profiler/compile/machine_flow.h"
#include "profiler/compile/machine_work.h"

namespace {

using namespace tailor;
using namespace tailor::profiler;

struct Text {
  std::vector<std::byte> code;
  void put(std::uint64_t low, std::uint64_t high) {
    std::array<std::byte, 16> both{};
    std::memcpy(both.data(), &low, 8);
    std::memcpy(both.data() + 8, &high, 8);
    code.insert(code.end(), both.begin(), both.end());
  }
  void arithmetic(int count) {
    for (int i = 0; i < count; ++i) put(0x7223 | std::uint64_t(i % 200) << 16, 0);
  }
  void load() { put(0x7381 | std::uint64_t{8} << 16, std::uint64_t{4} << 9); }
  void block_index() { put(0x7919 | std::uint64_t{4} << 16, std::uint64_t{0x25} << 8); }
  /// R4 below a number, as P0.
  void below(std::uint32_t number) {
    put(0x780c | std::uint64_t{4} << 24 | std::uint64_t{number} << 32,
        std::uint64_t{7} << 4 | std::uint64_t{1} << 12 | std::uint64_t{7} << 20 | std::uint64_t{7} << 23);
  }
  void add(std::uint32_t number) {
    put(0x7810 | std::uint64_t{4} << 16 | std::uint64_t{4} << 24 | std::uint64_t{number} << 32,
        255 | std::uint64_t{7} << 13 | std::uint64_t{1} << 16 | std::uint64_t{63} << 17);
  }
  /// Where P0 holds.
  void branch_back(int instructions) {
    put(0x947 | std::uint64_t{static_cast<std::uint32_t>(-16 * (instructions + 1))} << 32, std::uint64_t{7} << 23);
  }
  void exit(std::uint64_t guard = 7) { put(0x94d | guard << 12, std::uint64_t{7} << 23); }
};

Text straight(int count) {
  Text text;
  text.arithmetic(count);
  text.load();
  text.exit();
  return text;
}

Text guarded() {
  Text text;
  text.block_index();
  text.below(5000);
  text.exit(8);
  text.arithmetic(200);
  text.exit();
  return text;
}

Text looping() {
  Text text;
  text.block_index();
  text.load();
  text.arithmetic(200);
  text.add(264);
  text.below(6144);
  text.branch_back(203);
  text.exit();
  return text;
}

void contents(benchmark::State& state) {
  const Text text = straight(20'000);
  for (auto _ : state) benchmark::DoNotOptimize(machine_contents(text.code, 80));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * std::ssize(text.code));
}
BENCHMARK(contents)->Unit(benchmark::kMicrosecond);

void flow(benchmark::State& state) {
  const Text text = straight(20'000);
  const Operations operations(80);
  for (auto _ : state) benchmark::DoNotOptimize(read_flow(text.code, operations));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * std::ssize(text.code));
}
BENCHMARK(flow)->Unit(benchmark::kMicrosecond);

void follow(benchmark::State& state, const Text& text, std::uint32_t grid) {
  for (auto _ : state)
    benchmark::DoNotOptimize(
        machine_work(text.code, 80, {{.grid = {grid, 1, 1}, .block = {256, 1, 1}}, nullptr, false}));
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * std::ssize(text.code));
}
BENCHMARK_CAPTURE(follow, straight, straight(200), 6144)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(follow, guarded, guarded(), 6144)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(follow, looping, looping(), 264)->Unit(benchmark::kMicrosecond);

}  // namespace
