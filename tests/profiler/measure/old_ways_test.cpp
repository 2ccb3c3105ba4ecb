// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Ways to measure that look right and mislead on a GPU, done on purpose beside the way that is used: launches timed
// where CUPTI records, caches flushed by writing alone, one floor for grids of every size, plans of a race each in
// memory of its own. What the stand-in was told to be is the oracle: the old way misses it by a stated margin, and the
// new one does not. The ways to count are in gpu/old_ways_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/device.h"
#include "profiler/gpu/fake_machine.h"
#include "profiler/gpu/session/arena.h"
#include "profiler/gpu/session/gpu.h"
#include "profiler/measure/microbench.h"
#include "profiler/measure/race.h"
#include "support/approx.h"
#include "support/kernel_cache.h"
#include "support/paths.h"
#include "tests/profiler/kernels.h"

using namespace tailor;
using namespace tailor::profiler;

namespace {

/// A stand-in that was opened for one use, and asked microbenchmarks of the real texts.
struct AskedGpu {
  gpu::Gpu gpu;
  const Nvrtc& api;

  AskedGpu(const tests::FakeMachine& machine, gpu::Use use, const Nvrtc& compiler) : api(compiler) {
    const gpu::Response open = gpu.answer(gpu::OpenRequest{machine.library_paths(), 0, use});
    REQUIRE_MESSAGE(open.outcome == ir::Outcome::ok, open.reason);
  }
  double seconds(const Microbench& bench, ir::CacheState cache, ir::TimedBy by) {
    const ir::Binary binary = kernels::compiled(api, compile_request(bench, "sm_90"));
    REQUIRE_MESSAGE(binary.outcome == ir::CompileOutcome::ok, binary.log);
    const gpu::Sequence sequence = with_code(bench, std::as_bytes(std::span(binary.ptx)));
    const gpu::Response load = gpu.answer(gpu::LoadRequest{1, sequence}, inputs_of(bench));
    REQUIRE_MESSAGE(load.outcome == ir::Outcome::ok, load.reason);
    const gpu::Response timed = gpu.answer(gpu::TimeRequest{1, cache, by, bench.launch, 5, 1, false});
    REQUIRE_MESSAGE(timed.outcome == ir::Outcome::ok, timed.reason);
    const BenchResult result = evaluate(bench, timed.samples);
    return bench.family->answer == BenchAnswer::rate ? bench.work / result.value : bench.work * result.value;
  }
};

/// The microbenchmark of a family and a size, of a few small ones; by size where several have it, the first.
Microbench bench_of(std::string_view family, std::int64_t size) {
  BenchSizes sizes;
  sizes.bytes = {1 << 20};
  const ir::Device device = ir::find_device("h200", source_folder() + "/data/devices");
  for (Microbench& bench : microbenchmarks(device, sizes))
    if (bench.family->name == family && bench.size == size) return std::move(bench);
  FAIL("no such microbenchmark: ", family, " of ", size);
  return {};
}

const Nvrtc* fake_and_nvrtc_or_skip() {
  if (has_fake_gpu()) return kernels::nvrtc_or_skip();
  skip("this build has no fake GPU: it was made without CUDA's headers");
  return nullptr;
}

/// Four times the same kernel, in one memory or each in its own, raced.
RaceResult race_with_itself(const tests::FakeMachine& machine, bool one_memory) {
  constexpr std::uint32_t n = 4096;
  gpu::Gpu gpu;
  REQUIRE(gpu.answer(gpu::OpenRequest{machine.library_paths(), 0}).outcome == ir::Outcome::ok);
  const gpu::Sequence one = tests::doubling(n);
  const std::int64_t bytes = gpu::lay_out_arena(one.buffers).bytes;
  std::vector<Contender> contenders;
  for (int id = 1; id <= 4; ++id) {
    const bool filled = one_memory && id > 1;
    const gpu::Response load =
        gpu.answer(one_memory ? gpu::LoadRequest{id, one, 7, bytes, filled} : gpu::LoadRequest{id, one},
                   filled ? std::vector<std::byte>{} : tests::counting(n));
    REQUIRE_MESSAGE(load.outcome == ir::Outcome::ok, load.reason);
    contenders.push_back({std::to_string(id), [&gpu, id](int samples) {
                            gpu::Response timed = gpu.answer(gpu::TimeRequest{
                                id, ir::CacheState::warm, ir::TimedBy::activity, ir::LaunchMode::stream, samples, 1});
                            return SampleBatch{timed.outcome, timed.reason, std::move(timed.samples)};
                          }});
  }
  RaceOptions how;
  how.rule = stop_rule("quick");
  how.batch = 3;
  return race(contenders, how);
}

}  // namespace

TEST_CASE("where CUPTI records, one launch is only its kernel and many have the recording in them; by events neither") {
  const Nvrtc* api = fake_and_nvrtc_or_skip();
  if (api == nullptr) return;
  // Of the stand-in: an empty kernel, the gap before it, and what recording adds to the gap.
  constexpr double kernel = 1.4e-6, gap = 1.0e-6, recording = 0.7e-6;
  constexpr const char* chip = R"({"noise": 0, "chip": {"l2_bytes": 1048576, "tick": 1}})";
  const tests::FakeMachine traced_machine(chip), machine(chip);  // two, as they stand for two processes
  AskedGpu tracing(traced_machine, gpu::Use::trace, *api), untraced(machine, gpu::Use::events, *api);
  const Microbench one = bench_of("launch", 1), many = bench_of("launch", 64);
  const auto both = [&](AskedGpu& gpu, ir::TimedBy by) {
    return std::pair{gpu.seconds(one, ir::CacheState::warm, by), gpu.seconds(many, ir::CacheState::warm, by)};
  };
  const auto [old_one, old_many] = both(tracing, ir::TimedBy::activity);
  const auto [new_one, new_many] = both(untraced, ir::TimedBy::events);
  CHECK(old_one / kernel == approx(1).epsilon(0.01));
  CHECK((old_many - old_one) / 63 / (kernel + gap + recording) == approx(1).epsilon(0.01));
  CHECK(new_one >= kernel + gap);
  CHECK((new_many - new_one) / 63 / (kernel + gap) == approx(1).epsilon(0.01));
  CHECK(one.family->by_events);
}

TEST_CASE("reading as much as L2 holds seems to take twice as long after a flush that only wrote") {
  const Nvrtc* api = fake_and_nvrtc_or_skip();
  if (api == nullptr) return;
  constexpr double bandwidth = 1e10;
  const tests::FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576, "dram_bandwidth": 1e10}})");
  AskedGpu gpu(machine, gpu::Use::trace, *api);
  const Microbench read = bench_of("read", 1 << 20);
  const auto found = [&](ir::CacheState cache) { return read.work / gpu.seconds(read, cache, ir::TimedBy::activity); };
  CHECK(found(ir::CacheState::dirty) / bandwidth == approx(0.5).epsilon(0.05));
  CHECK(found(ir::CacheState::cold) / bandwidth == approx(1).epsilon(0.05));
  CHECK(read.cache == ir::CacheState::cold);
}

TEST_CASE("the floor of one block is not that of a large grid; blocks are started at a rate, which dispatch finds") {
  const Nvrtc* api = fake_and_nvrtc_or_skip();
  if (api == nullptr) return;
  constexpr double rate = 2e9;
  const tests::FakeMachine machine(R"({"noise": 0, "chip": {"l2_bytes": 1048576, "dispatch_rate": 2e9}})");
  AskedGpu gpu(machine, gpu::Use::trace, *api);
  constexpr std::int64_t wave = 132 * 8;
  const auto taken = [&](const Microbench& bench) {
    return gpu.seconds(bench, ir::CacheState::warm, ir::TimedBy::activity);
  };
  const double floor = taken(bench_of("recorded launch", 1));
  const double few = taken(bench_of("dispatch", wave)), many = taken(bench_of("dispatch", 64 * wave));
  CHECK(many > 20 * floor);
  CHECK(63 * wave / (many - few) / rate == approx(1).epsilon(0.02));
}

TEST_CASE("of four times the same kernel one is called faster where each lies in its own memory, none in the same") {
  if (!has_fake_gpu()) return skip("this build has no fake GPU: it was made without CUDA's headers");
  const tests::FakeMachine machine(R"({"noise": 0.01, "placement": 0.2, "chip": {"l2_bytes": 1048576},
                                       "times": [{"kernel": "twice", "seconds": 2e-5}]})");
  const RaceResult apart = race_with_itself(machine, false), together = race_with_itself(machine, true);
  CHECK(apart.tie.size() < 4);
  const auto [low, high] =
      std::minmax_element(apart.standings.begin(), apart.standings.end(),
                          [](const Standing& a, const Standing& b) { return a.time.median < b.time.median; });
  CHECK(high->time.median > 1.05 * low->time.median);
  CHECK(together.tie.size() == 4);
}
