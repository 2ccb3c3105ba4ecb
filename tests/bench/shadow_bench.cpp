// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the sanitizers' shadow memory, the request counters and the cache model cost per warp instruction. They see
// every access that the simulator executes, so their cost is part of every check. Addresses follow five patterns, from
// contiguous to random. A Google Benchmark program, started by hand.
#include <benchmark/benchmark.h>

#include <array>
#include <random>

#include "profiler/simulator/machine/cache_model.h"
#include "profiler/simulator/machine/requests.h"
#include "profiler/simulator/shadow/shadow.h"

namespace {

using namespace tailor::simulator;

using Offsets = std::array<std::uint32_t, 32>;

/// 0 contiguous, 1 contiguous but not from a line's start, 2 stride of 33 elements, 3 random, 4 broadcast.
Offsets offsets_of(int form, int bytes, std::uint32_t range) {
  std::mt19937 random(1);
  Offsets offset;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const std::uint32_t elements = range / static_cast<std::uint32_t>(bytes);
    const std::uint32_t at = form == 0   ? lane
                             : form == 1 ? lane + 5
                             : form == 2 ? lane * 33
                             : form == 3 ? static_cast<std::uint32_t>(random())
                                         : 7;
    offset[lane] = at % elements * static_cast<std::uint32_t>(bytes);
  }
  return offset;
}

constexpr int warps = 8;
constexpr std::uint32_t shared_bytes = 48 * 1024;

/// Every warp stores its part, a barrier, every warp loads its part, or what warp 0 wrote.
void shared_requests(benchmark::State& state, bool same_part) {
  const int form = static_cast<int>(state.range(0)), bytes = static_cast<int>(state.range(1));
  GlobalShadow global({}, false);
  ResidentShadow shadow(global, {1, warps, 1, shared_bytes, std::min(bytes, 4), 0});
  const std::array<std::int64_t, 1> blocks{0};
  shadow.start(blocks);
  const std::uint32_t part = shared_bytes / warps;
  const Offsets plain = offsets_of(form, bytes, part), row = offsets_of(0, bytes, part);
  std::int64_t requests = 0;
  for (auto _ : state) {
    for (int warp = 0; warp < warps; ++warp)
      for (const bool write : {true, false}) {
        Offsets offset = write && form == 4 ? row : plain;
        const std::uint32_t at = write || !same_part ? static_cast<std::uint32_t>(warp) : 0;
        for (std::uint32_t& o : offset) o += at * part;
        const ShadowAccess access{ShadowSpace::shared, warp, 0, ~0u, offset.data(), bytes, false, 3};
        benchmark::DoNotOptimize(write ? shadow.store(access) : shadow.load(access));
        if (write && same_part && warp == 0) shadow.block_barrier(0);
      }
    shadow.block_barrier(0);
    requests += 2 * warps;
  }
  if (form != 3 && !shadow.findings().empty()) state.SkipWithError("a race where there is none");
  state.SetItemsProcessed(requests);
}
BENCHMARK_CAPTURE(shared_requests, own_part, false)->ArgsProduct({{0, 1, 2}, {4, 16}});
BENCHMARK_CAPTURE(shared_requests, part_of_warp_0, true)->ArgsProduct({{0, 1, 2, 4}, {4}});

void global_stores(benchmark::State& state) {
  const int form = static_cast<int>(state.range(0)), bytes = static_cast<int>(state.range(1));
  constexpr std::int64_t size = 1 << 24;
  const std::array<ShadowBuffer, 1> buffers{ShadowBuffer{size, std::min(bytes, 4), true, false}};
  const Offsets plain = offsets_of(form, bytes, 1 << 16);
  const auto step = static_cast<std::uint32_t>(32 * bytes);
  std::int64_t requests = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto global = std::make_unique<GlobalShadow>(buffers, false);
    auto shadow = std::make_unique<ResidentShadow>(*global, ResidentShape{1, warps, 1, 0, 4, 0});
    const std::array<std::int64_t, 1> blocks{0};
    shadow->start(blocks);
    state.ResumeTiming();
    for (std::uint32_t at = 0; at + (1 << 17) < size; at += step) {
      Offsets offset = plain;
      for (std::uint32_t& o : offset) o += at;
      const ShadowAccess access{
          ShadowSpace::global, static_cast<int>(at / step % warps), 0, ~0u, offset.data(), bytes, false, 3};
      benchmark::DoNotOptimize(shadow->store(access));
      ++requests;
    }
    state.PauseTiming();
    shadow.reset();
    global.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(requests);
}
BENCHMARK(global_stores)->ArgsProduct({{0, 1}, {4, 16}});

void start_block(benchmark::State& state) {
  GlobalShadow global({}, false);
  ResidentShadow shadow(global, {1, warps, 1, state.range(0), 4, 0});
  std::array<std::int64_t, 1> blocks{0};
  for (auto _ : state) {
    shadow.start(blocks);
    ++blocks[0];
  }
}
BENCHMARK(start_block)->Arg(0)->Arg(49152)->Arg(232448);

void barrier(benchmark::State& state) {
  GlobalShadow global({}, false);
  ResidentShadow shadow(global, {1, 32, 1, 0, 4, 0});
  shadow.start(std::array<std::int64_t, 1>{0});
  for (auto _ : state) shadow.block_barrier(0);
}
BENCHMARK(barrier);

void warp_barrier(benchmark::State& state) {
  GlobalShadow global({}, false);
  ResidentShadow shadow(global, {1, 32, 1, 0, 4, 0});
  for (auto _ : state) {
    shadow.start(std::array<std::int64_t, 1>{0});
    for (int i = 0; i < 1000; ++i) shadow.warp_sync(i % 32, ~0u);
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(warp_barrier);

void sectors(benchmark::State& state) {
  const int form = static_cast<int>(state.range(0)), bytes = static_cast<int>(state.range(1));
  const Offsets offset = offsets_of(form, bytes, 1 << 20);
  std::array<std::uint64_t, 32> address;
  for (std::size_t lane = 0; lane < 32; ++lane) address[lane] = (std::uint64_t{1} << 40) + offset[lane];
  for (auto _ : state) {
    benchmark::DoNotOptimize(address.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(distinct_sectors(address.data(), ~0u, bytes));
  }
}
BENCHMARK(sectors)->ArgsProduct({{0, 2, 3, 4}, {4, 16}});

void passes(benchmark::State& state) {
  const int form = static_cast<int>(state.range(0)), bytes = static_cast<int>(state.range(1));
  const Offsets offset = offsets_of(form, bytes, 1 << 15);
  for (auto _ : state) {
    benchmark::DoNotOptimize(offset.data());
    benchmark::ClobberMemory();
    benchmark::DoNotOptimize(bank_passes(offset.data(), ~0u, bytes));
  }
}
BENCHMARK(passes)->ArgsProduct({{0, 2, 3, 4}, {4, 16}});

void cache_blocks(benchmark::State& state) {
  const CacheShape shape{1 << 17, 50 << 20};
  CacheModel model(0, 1 << 28, shape);
  BlockTraffic block(shape);
  std::int64_t position = 0, requests = 0;
  std::array<std::uint64_t, 32> address;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < 256; ++i) {
      for (std::uint64_t lane = 0; lane < 32; ++lane)
        address[lane] = ((static_cast<std::uint64_t>(position) * 256 + i) * 128 + lane * 4) % (1 << 28);
      block.request(CacheAccess::load, address.data(), ~0u, 4);
      ++requests;
    }
    model.commit(position++, block);
  }
  state.SetItemsProcessed(requests);
}
BENCHMARK(cache_blocks);

}  // namespace
