// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Every microbenchmark, compiled and executed small on the simulator with its sanitizers on: outputs are right, nothing
// is found, and the bytes it is paid for are the bytes the simulator saw. Launches and laws for real devices by
// arithmetic.
#include "profiler/measure/microbench.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/device.h"
#include "profiler/measure/microbench_check.h"
#include "support/approx.h"
#include "support/kernel_cache.h"
#include "support/paths.h"
#include "support/sequence_run.h"
#include "support/thorough.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

ir::Device h200_facts() { return ir::find_device("h200", source_folder() + "/data/devices"); }

/// The same machine with a few SMs.
ir::Device small_machine(int sms) {
  ir::Device device = h200_facts();
  device.sms.value = sms;
  device.threads_per_sm.value = 512;
  device.dram_bytes.value = 1 << 24;
  return device;
}

constexpr int small_rounds = 7;
BenchSizes small_sizes() {
  return {.bytes = {4096, 32 * 1024 + 48},
          .large = {16 * 1024},
          .resident = {16 * 1024 + 48},
          .passes = 3,
          .far = 1 << 16,
          .near = 1 << 14,
          .streamed = 96 * 1024 + 16,
          .code = {1024, 8192},
          .rounds = small_rounds,
          .launches = {1, 3}};
}

/// The small ones with all contents brought and fetched: patterns are made and looked at by a GPU.
std::vector<Microbench> small_benches() {
  std::vector<Microbench> all = microbenchmarks(small_machine(16), small_sizes());
  for (Microbench& one : all)
    for (gpu::Buffer& buffer : one.sequence.buffers) buffer.pattern = gpu::Pattern::none;
  return all;
}

std::vector<std::byte> as_bytes(const std::string& text) {
  std::vector<std::byte> bytes(text.size());
  std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

/// Compiles each text once.
const ir::Binary& compiled(const Nvrtc& api, const Microbench& bench) {
  static std::map<std::string, ir::Binary> all;
  const CompileRequest request = compile_request(bench, "sm_90");
  const auto [at, is_new] = all.try_emplace(request.cuda);
  if (is_new) at->second = kernels::compiled(api, request);
  return at->second;
}

}  // namespace

TEST_CASE("every microbenchmark computes what it must on the simulator, without a finding, under any schedule" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  std::set<std::string_view> families;
  for (const Microbench& bench : small_benches()) {
    INFO(bench.name);
    const ir::Binary& binary = compiled(*api, bench);
    REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
    CHECK(binary.log.find("warning") == std::string::npos);
    CHECK(binary.spill_stores == 0);
    const gpu::Sequence sequence = with_code(bench, as_bytes(binary.ptx));
    const std::vector<std::byte> inputs = inputs_of(bench);
    for (const std::uint64_t seed : {1, 2}) {
      simulator::SimulationOptions options;
      options.seed = seed;
      const testing::SequenceRun run = testing::run_sequence(sequence, inputs, options);
      CHECK(run.reason == "");
      for (const simulator::Finding& finding : run.findings) CHECK(describe(finding) == "");
      CHECK(complaint(bench, run.outputs) == "");
    }
    families.insert(bench.family->name);
  }
  CHECK(families.size() == bench_families().size());
}

TEST_CASE("a microbenchmark's check finds one wrong bit") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const Microbench& bench : small_benches()) {
    if (bench.family->entry == "empty" || bench.family->name == "dispatch") continue;
    INFO(bench.name);
    testing::SequenceRun run =
        testing::run_sequence(with_code(bench, as_bytes(compiled(*api, bench).ptx)), inputs_of(bench));
    for (const std::size_t place : {run.outputs.size() - 1, run.outputs.size() - 4}) {
      run.outputs[place] ^= std::byte{1};
      CHECK(complaint(bench, run.outputs) != "");
      run.outputs[place] ^= std::byte{1};
    }
    run.outputs.resize(run.outputs.size() / 8 * 4);
    CHECK(complaint(bench, run.outputs) != "");
  }
}

TEST_CASE("the bytes that a memory microbenchmark is paid for are those its instructions move") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  for (const Microbench& bench : small_benches()) {
    if (bench.family->unit != "B/s") continue;
    INFO(bench.name);
    simulator::Memory memory;
    double bytes = 0;
    const gpu::Sequence sequence = with_code(bench, as_bytes(compiled(*api, bench).ptx));
    const testing::SequenceRun run = testing::run_sequence(sequence, inputs_of(bench));
    for (const simulator::BufferCounters& buffer : run.buffers)
      bytes += static_cast<double>(buffer.load.bytes + buffer.store.bytes);
    const double partials = bench.family->name == "copy" || bench.family->name == "write"
                                ? 0
                                : 4.0 * sequence.launches[0].grid[0];  // a word per block, not paid for
    CHECK(bytes == bench.work + partials);
  }
}

TEST_CASE("on every device the microbenchmarks fit its limits") {
  for (const std::string& name : ir::device_names(source_folder() + "/data/devices")) {
    const ir::Device device = ir::find_device(name, source_folder() + "/data/devices");
    const ir::Limits limits = ir::limits(device);
    std::set<std::string> names;
    std::set<std::string_view> families;
    for (const Microbench& bench : microbenchmarks(device)) {
      INFO(name, ": ", bench.name);
      CHECK(names.insert(bench.name).second);
      families.insert(bench.family->name);
      CHECK(bench.family->compute_capability <= limits.compute_capability);
      CHECK(bench.work > 0);
      double bytes = 0;
      for (const gpu::Buffer& buffer : bench.sequence.buffers) {
        CHECK(buffer.bytes > 0);
        bytes += static_cast<double>(buffer.bytes);
      }
      CHECK(bytes <= device.dram_bytes.value / 2);
      for (const gpu::Launch& launch : bench.sequence.launches) {
        CHECK(launch.block[0] <= static_cast<unsigned>(limits.threads_per_block));
        CHECK(launch.block[0] % static_cast<unsigned>(limits.warp_size) == 0);
        CHECK(launch.grid[0] % launch.cluster[0] == 0);
        CHECK(launch.dynamic_shared >= 0);
        CHECK(launch.dynamic_shared <= limits.shared_per_block);
        if (launch.cooperative)
          CHECK(launch.grid[0] / static_cast<unsigned>(limits.sms) * launch.block[0] <=
                static_cast<unsigned>(limits.threads_per_sm));
      }
    }
    CHECK(families.contains("cluster exchange") == (limits.compute_capability >= 90));
    CHECK(families.contains("copy"));
    CHECK(names.size() > 40);
  }
}

TEST_CASE("in the bytes-in-flight curve, loads of the resident threads are the bytes that it is named after") {
  const ir::Device device = h200_facts();
  const ir::Limits limits = ir::limits(device);
  std::set<std::int64_t> sizes;
  for (const Microbench& bench : microbenchmarks(device)) {
    if (bench.family->name != "bytes in flight") continue;
    INFO(bench.name);
    const gpu::Launch& launch = bench.sequence.launches[0];
    const std::int64_t blocks = launch.grid[0] / limits.sms;
    CHECK(blocks * limits.sms == launch.grid[0]);
    CHECK(blocks * bench.shape.threads * bench.shape.loads * 16 == bench.size);
    sizes.insert(bench.size);
  }
  CHECK(sizes.size() == 10);
  CHECK(*sizes.begin() == 4 * 1024);
  CHECK(*sizes.rbegin() == 96 * 1024);
}

TEST_CASE("kernels whose blocks must all be resident have the registers for it") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  const ir::Device device = h200_facts();
  const ir::Limits limits = ir::limits(device);
  for (const Microbench& bench : microbenchmarks(device)) {
    const std::string_view family = bench.family->name;
    if (family != "read" && family != "L2 read" && family != "bytes in flight" && family != "grid barrier") continue;
    INFO(bench.name);
    const ir::Binary& binary = compiled(*api, bench);
    const std::int64_t blocks = bench.sequence.launches[0].grid[0] / limits.sms;
    const std::int64_t of_warp = (binary.registers * 32 + limits.register_unit - 1) / limits.register_unit;
    CHECK(blocks * bench.shape.threads / 32 * of_warp * limits.register_unit <= limits.registers_per_sm);
  }
}

TEST_CASE("code of so many bytes is as many instructions in a row, and all sizes run about as many in all") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  int seen = 0;
  for (const Microbench& bench : microbenchmarks(h200_facts(), small_sizes())) {
    if (bench.family->name != "code" && bench.family->name != "cold code") continue;
    ++seen;
    INFO(bench.name);
    const std::int64_t around = compiled(*api, bench).machine_instructions - bench.size / 16;
    CHECK(around > 0);
    CHECK(around < 80);
    CHECK(bench.cache == (bench.family->name == "code" ? ir::CacheState::warm : ir::CacheState::cold));
  }
  CHECK(seen == 6);
  for (const Microbench& bench : microbenchmarks(h200_facts())) {
    if (bench.family->name != "code") continue;
    INFO(bench.name);
    CHECK(bench.shape.rounds >= 4);
    CHECK(static_cast<double>(bench.shape.rounds * bench.shape.steps) > 63'999);
    CHECK(static_cast<double>(bench.shape.rounds * bench.shape.steps) < 82'000);
  }
}

TEST_CASE("of clusters there are as many as the GPU holds at once, one where nobody tells, and those compute right") {
  const Nvrtc* api = kernels::nvrtc_or_skip();
  if (api == nullptr) return;
  int seen = 0;
  for (const Microbench& bench : microbenchmarks(h200_facts(), small_sizes())) {
    const std::uint32_t of_cluster = bench.sequence.launches[0].cluster[0];
    if (of_cluster == 1) {
      CHECK(with_clusters(bench, 0)->sequence == bench.sequence);
      continue;
    }
    ++seen;
    INFO(bench.name);
    constexpr std::uint32_t all = 4;
    CHECK(bench.sequence.launches[0].grid[0] == all * of_cluster);
    CHECK(with_clusters(bench, static_cast<int>(all))->sequence == bench.sequence);
    CHECK_FALSE(with_clusters(bench, 0));
    for (const auto& [at_once, clusters] : {std::pair{3, 3U}, {1, 1U}, {-1, 1U}}) {
      const std::optional<Microbench> few = with_clusters(bench, at_once);
      REQUIRE(few);
      CHECK(few->sequence.launches[0].grid[0] == clusters * of_cluster);
      const testing::SequenceRun run =
          testing::run_sequence(with_code(*few, as_bytes(compiled(*api, *few).ptx)), inputs_of(*few));
      CHECK(run.reason == "");
      CHECK(complaint(*few, run.outputs) == "");
    }
  }
  CHECK(seen == 4);
}

TEST_CASE("the answer is the work over the median time, or the time of one piece, with the interval turned along") {
  const std::vector<Microbench> all = microbenchmarks(h200_facts());
  const auto find = [&](std::string_view family) {
    return std::find_if(all.begin(), all.end(), [&](const Microbench& one) { return one.family->name == family; });
  };
  std::vector<ir::Sample> samples;
  for (int i = 0; i < 21; ++i) samples.push_back({{(100 + i) * 1e-6}});
  const BenchResult copy = evaluate(*find("copy"), samples);
  CHECK(copy.value == approx(2.0 * (1 << 20) / 110e-6));
  CHECK(copy.low < copy.value);
  CHECK(copy.high > copy.value);
  CHECK(copy.unit == "B/s");
  CHECK(copy.samples == 21);
  const BenchResult barrier = evaluate(*find("grid barrier"), samples);
  CHECK(barrier.value == approx(110e-9));
  CHECK(barrier.low < barrier.value);
  CHECK(barrier.high > barrier.value);
  CHECK(barrier.unit == "s");
  CHECK(barrier.size == 132);
  int rows = 0;
  for (const Microbench& one : all) rows += one.family->name == "launch" ? 1 : 0;
  CHECK(rows == 8);
}
