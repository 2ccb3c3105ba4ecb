// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The cache model's stated rules: distinct sectors below the capacity, reuse distance beyond, one answer whatever the
// order in which host threads commit. Accesses are written here so that the expected traffic follows by arithmetic.
// Part of the suite `simulator`.
#include "profiler/simulator/machine/cache_model.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "doctest/doctest.h"

namespace tailor::simulator {
namespace {

constexpr std::uint64_t base = 1 << 20;

/// 32 lanes of 4 bytes from a byte offset on: four sectors.
void touch(BlockTraffic& block, CacheAccess access, std::uint64_t offset) {
  std::array<std::uint64_t, 32> address;
  for (std::uint64_t lane = 0; lane < 32; ++lane) address[lane] = base + offset + lane * 4;
  block.request(access, address.data(), ~0u, 4);
}

TEST_CASE("below the capacity DRAM moves each sector once, whatever is repeated") {
  std::mt19937 random(3);
  const CacheShape shape{0, 1 << 20};
  CacheModel model(base, 1 << 18, shape);
  BlockTraffic block(shape);
  std::set<std::uint64_t> read_first, written, seen;
  std::int64_t loads = 0, stores = 0;
  for (int position = 0; position < 200; ++position) {
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t offset = random() % (1 << 11) * 128;
      const bool store = random() % 4 == 0;
      touch(block, store ? CacheAccess::store : CacheAccess::load, offset);
      (store ? stores : loads) += 128;
      if (seen.insert(offset).second && !store) read_first.insert(offset);
      if (store) written.insert(offset);
    }
    model.commit(position, block);
  }
  REQUIRE(read_first.size() > 100);
  REQUIRE(written.size() > 100);
  CHECK(model.total() == CacheTraffic{loads, stores, static_cast<std::int64_t>(read_first.size()) * 128,
                                      static_cast<std::int64_t>(written.size()) * 128});
}

TEST_CASE("a sweep of twice the capacity reads everything again, a hot line stays") {
  const CacheShape shape{0, 1 << 16};
  CacheModel model(base, 1 << 18, shape);
  BlockTraffic block(shape);
  for (int sweep = 0; sweep < 2; ++sweep)
    for (std::uint64_t offset = 128; offset <= 1 << 17; offset += 128) {
      touch(block, CacheAccess::load, offset);
      touch(block, CacheAccess::load, 0);
    }
  model.commit(0, block);
  CHECK(model.total() == CacheTraffic{4 << 17, 0, (2 << 17) + 128, 0});
}

TEST_CASE("a dirty sector that was evicted is written and read again") {
  const CacheShape shape{0, 1 << 12};
  CacheModel model(base, 1 << 16, shape);
  BlockTraffic block(shape);
  touch(block, CacheAccess::store, 0);
  for (std::uint64_t offset = 128; offset < 1 << 14; offset += 128) touch(block, CacheAccess::load, offset);
  touch(block, CacheAccess::atomic, 0);
  model.commit(0, block);
  CHECK(model.total() == CacheTraffic{1 << 14, 256, 1 << 14, 256});
}

TEST_CASE("L1 takes repeated loads of one block until it stores there, and forgets between blocks") {
  const CacheShape shape{1 << 14, 1 << 20};
  CacheModel model(base, 1 << 16, shape);
  BlockTraffic block(shape);
  touch(block, CacheAccess::load, 0);
  touch(block, CacheAccess::load, 0);
  touch(block, CacheAccess::store, 0);
  touch(block, CacheAccess::load, 0);
  model.commit(0, block);
  touch(block, CacheAccess::load, 0);
  model.commit(1, block);
  CHECK(model.total() == CacheTraffic{3 * 128, 128, 128, 128});
}

TEST_CASE("the order of commits and the number of host threads change nothing") {
  const CacheShape shape{1 << 12, 1 << 13};
  const auto fill = [&](BlockTraffic& block, int position) {
    std::mt19937 random(static_cast<std::uint32_t>(position));
    for (int i = 0; i < 30; ++i) touch(block, static_cast<CacheAccess>(random() % 3), random() % 512 * 128);
  };
  constexpr int blocks = 64;
  CacheModel in_order(base, 1 << 16, shape);
  BlockTraffic traffic(shape);
  for (int position = 0; position < blocks; ++position) {
    fill(traffic, position);
    in_order.commit(position, traffic);
  }
  REQUIRE(in_order.total().dram_read_bytes < in_order.total().l2_read_bytes);
  CacheModel shuffled(base, 1 << 16, shape);
  std::array<int, blocks> order;
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, std::mt19937(5));
  const auto work = [&](int thread) {
    BlockTraffic own(shape);
    for (int i = thread; i < blocks; i += 4) {
      fill(own, order[static_cast<std::size_t>(i)]);
      shuffled.commit(order[static_cast<std::size_t>(i)], own);
    }
  };
  std::array<std::thread, 4> threads;
  for (int i = 0; i < 4; ++i) threads[static_cast<std::size_t>(i)] = std::thread(work, i);
  for (std::thread& thread : threads) thread.join();
  CHECK(shuffled.total() == in_order.total());
}

}  // namespace
}  // namespace tailor::simulator
