// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds a value, against a plain map of bytes; known synchronisation idioms with and without the call that makes
// them right; what findings say; and that host threads change nothing. Part of the suite `simulator`; random orders of
// accesses are judged apart, against race_oracle.h.
#include "profiler/simulator/shadow/shadow.h"

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "doctest/doctest.h"

namespace tailor::simulator {
namespace {

using Offsets = std::array<std::uint32_t, 32>;

Offsets line_of(std::uint32_t from, std::uint32_t step = 4) {
  Offsets offset;
  for (std::uint32_t lane = 0; lane < 32; ++lane) offset[lane] = from + lane * step;
  return offset;
}

ShadowAccess access(ShadowSpace space, int warp, int region, std::uint32_t lanes, const Offsets& offset,
                    std::uint32_t site, int bytes = 4) {
  return {space, warp, region, lanes, offset.data(), bytes, false, site};
}

void start(ResidentShadow& shadow, std::int64_t block) { shadow.start(std::array{block}); }

TEST_CASE("reads of bytes that nobody wrote, or that a copy is writing, are those of a map of bytes") {
  std::mt19937 random(7);
  constexpr std::int64_t size = 2048;
  GlobalShadow global({}, false);
  ResidentShadow shadow(global, {1, 2, 1, size, 2, size});
  std::array<std::vector<bool>, 3> written{}, copying{};
  copying.fill(std::vector<bool>(size));
  std::map<ShadowFault, int> faults;
  for (std::uint32_t step = 0; step < 4000; ++step) {
    if (step % 400 == 0) {
      start(shadow, step);
      written[0].assign(size, false);
      written[2].assign(size, false);
      copying[0].assign(size, false);
    }
    const std::uint32_t space = random() % 2 == 0 ? 0 : 2;  // shared or local
    const int bytes = 2 << random() % 4;
    Offsets offset = line_of(static_cast<std::uint32_t>(random() % 32) * 32, static_cast<std::uint32_t>(bytes));
    if (random() % 2 == 0)
      for (std::uint32_t& at : offset) at = static_cast<std::uint32_t>(random() % (size / bytes) * bytes);
    ShadowAccess a = access(static_cast<ShadowSpace>(space), 0, 0,
                            random() % 3 == 0 ? static_cast<std::uint32_t>(random()) : ~0u, offset, step, bytes);
    const std::uint32_t kind = random() % 8;
    std::map<ShadowFault, int> expected;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if ((a.lanes >> lane & 1) == 0) continue;
      bool missing = false, pending = false;
      for (int byte = 0; byte < bytes; ++byte) {
        const std::size_t at = offset[lane] + static_cast<std::size_t>(byte);
        if (kind == 7 && space == 0) copying[0][at] = true;
        if (kind >= 5 && kind < 7) written[space][at] = true, copying[space][at] = false;
        missing = missing || !written[space][at];
        pending = pending || copying[space][at];
      }
      if (kind >= 5 || (!missing && !pending)) continue;
      const auto first = [&] {
        for (std::size_t at = offset[lane];; ++at)
          if (copying[space][at])
            return ShadowFault::pending;
          else if (!written[space][at])
            return ShadowFault::uninitialised;
      };
      ++expected[first()];
    }
    if (kind == 7 && space == 0) shadow.pending(a);
    if (kind == 7) continue;
    const std::size_t before = shadow.findings().size();
    const bool clean = kind >= 5 ? (shadow.block_barrier(0), a.strong = true, shadow.store(a)) : shadow.load(a);
    REQUIRE(clean == expected.empty());
    for (std::size_t i = before; i < shadow.findings().size(); ++i) {
      const ShadowFinding& f = shadow.findings()[i];
      REQUIRE(f.here.site == step);
      REQUIRE(f.times == expected[f.fault]);
      expected.erase(f.fault);
      ++faults[f.fault];
    }
    REQUIRE(expected.empty());
    shadow.block_barrier(0);
  }
  CHECK(faults[ShadowFault::uninitialised] > 100);
  CHECK(faults[ShadowFault::pending] > 20);
}

TEST_CASE("an output is read by nobody before it is written") {
  const std::array<ShadowBuffer, 2> buffers{ShadowBuffer{256, 4, true, false}, ShadowBuffer{256, 4, false, true}};
  GlobalShadow global(buffers, false);
  ResidentShadow shadow(global, {1, 1, 1, 0, 4, 0});
  start(shadow, 0);
  const Offsets low = line_of(0), high = line_of(128);
  CHECK(shadow.load(access(ShadowSpace::global, 0, 1, ~0u, low, 1)));
  CHECK(shadow.store(access(ShadowSpace::global, 0, 0, 0xffffu, low, 2)));
  CHECK_FALSE(shadow.load(access(ShadowSpace::global, 0, 0, ~0u, low, 3)));
  CHECK_FALSE(shadow.atomic(access(ShadowSpace::global, 0, 0, ~0u, high, 4)));
  REQUIRE(shadow.findings().size() == 2);
  CHECK(shadow.findings()[0].offset == 64);
  CHECK(shadow.findings()[0].times == 16);
  CHECK(shadow.findings()[1].times == 32);
}

TEST_CASE("a tile that is written by rows and read by columns needs the barrier") {
  for (const bool barrier : {true, false}) {
    GlobalShadow global({}, false);
    ResidentShadow shadow(global, {1, 2, 1, 8192, 4, 0});
    start(shadow, 5);
    const Offsets first = line_of(0), second = line_of(132), column = line_of(4, 132);
    shadow.initialised(ShadowSpace::shared, 0, 0, 8192);
    CHECK(shadow.store(access(ShadowSpace::shared, 0, 0, ~0u, first, 1)));
    CHECK(shadow.store(access(ShadowSpace::shared, 1, 0, ~0u, second, 12)));
    if (barrier) shadow.block_barrier(0);
    CHECK(shadow.load(access(ShadowSpace::shared, 0, 0, ~0u, column, 3)) == barrier);
    if (barrier) continue;
    const ShadowNames names{[](std::uint32_t site) { return "line " + std::to_string(site); }, {}, 32, {}};
    CHECK(text(shadow.findings().at(0), names) ==
          "race: thread 0 of block 5 reads shared[4..8) that thread 1 wrote at line 1 without a warp or block barrier "
          "between");
    CHECK(shadow.findings().at(0).times == 2);
  }
}

/// Blocks store, the last to count reads what all stored. What is left out: 0 nothing, 1 the fence before the count,
/// 2 the block barrier before it, 3 the fence after it, 4 the barrier after it.
std::size_t last_block_findings(int left_out) {
  const std::array<ShadowBuffer, 2> buffers{ShadowBuffer{1024, 4, true, false}, ShadowBuffer{4, 4, true, true}};
  GlobalShadow global(buffers, false);
  ResidentShadow shadow(global, {1, 2, 1, 0, 4, 0});
  const Offsets counter{};
  const SyncLocation count{ShadowSpace::global, 1 << 20};
  for (std::uint32_t block = 0; block < 4; ++block) {
    start(shadow, block);
    for (int warp = 0; warp < 2; ++warp) {
      const Offsets part = line_of(block * 256 + static_cast<std::uint32_t>(warp) * 128);
      shadow.store(access(ShadowSpace::global, warp, 0, ~0u, part, 1));
    }
    if (left_out != 2) shadow.block_barrier(0);
    if (left_out != 1) shadow.fence(0, 1, ShadowScope::device);
    shadow.strong_write(0, 0, count);
    shadow.strong_read(0, 0, count);
    shadow.atomic(access(ShadowSpace::global, 0, 1, 1, counter, 2));
    if (left_out != 3) shadow.fence(0, 1, ShadowScope::device);
    if (left_out != 4) shadow.block_barrier(0);
  }
  for (std::uint32_t at = 0; at < 1024; at += 128) {
    const Offsets part = line_of(at);
    shadow.load(access(ShadowSpace::global, 1, 0, ~0u, part, 3));
  }
  return shadow.findings().size();
}

TEST_CASE("the last block may read what the others stored when nothing is left out, and not otherwise") {
  CHECK(last_block_findings(0) == 0);
  for (int left_out = 1; left_out <= 4; ++left_out) {
    INFO("left out " << left_out);
    CHECK(last_block_findings(left_out) == 1);
  }
}

/// Three blocks count at one place by atomics; the lane `by` of the last one's first warp then stores there, and a
/// block that comes later counts again if `later`. The atomics give back what they found if `observed`.
std::size_t reset_findings(bool observed, std::uint32_t by, bool barrier, bool later) {
  const std::array<ShadowBuffer, 1> buffers{ShadowBuffer{4, 4, true, true}};
  GlobalShadow global(buffers, false);
  ResidentShadow shadow(global, {1, 1, 1, 0, 4, 0});
  const Offsets counter{};
  ShadowAccess count = access(ShadowSpace::global, 0, 0, 1, counter, 1);
  count.observed = observed;
  for (std::uint32_t block = 0; block < 3; ++block) {
    start(shadow, block);
    shadow.atomic(count);
  }
  if (barrier) shadow.block_barrier(0);
  shadow.load(access(ShadowSpace::global, 0, 0, 1u << by, counter, 2));
  shadow.store(access(ShadowSpace::global, 0, 0, 1u << by, counter, 3));
  if (later) {
    start(shadow, 3);
    shadow.atomic(count);
  }
  return shadow.findings().size();
}

TEST_CASE("who has seen all other atomics of a place may touch it plainly, until somebody comes later") {
  CHECK(reset_findings(true, 0, false, false) == 0);
  CHECK(reset_findings(true, 7, true, false) == 0);   // another thread, after a barrier
  CHECK(reset_findings(true, 7, false, false) == 2);  // without one
  CHECK(reset_findings(false, 0, false, false) == 2);
  CHECK(reset_findings(true, 0, false, true) == 1);
}

TEST_CASE("readers of a line cost one another nothing, who knows them all looks once, who does not races") {
  constexpr int blocks = 300;
  const ShadowBuffer buffer{128, 4, true, true, {}};
  GlobalShadow global(std::span(&buffer, 1), false);
  std::int64_t patience = 0;  // falls by one for each entry that is looked at
  ResidentShadow shadow(global, {.blocks = blocks, .patience = &patience});
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; id < blocks; ++id) ids.push_back(id);
  shadow.start(ids);
  const SyncLocation meeting{ShadowSpace::global, 4096};
  const auto meet = [&](int but) {
    for (int block = 0; block < blocks; ++block)
      if (block != but) shadow.release(block, ~0u, meeting, ShadowScope::device);
    for (int block = 0; block < blocks; ++block) shadow.acquire(block, ~0u, meeting, ShadowScope::device);
  };
  const auto each = [&](auto&& act) {
    bool clean = true;
    for (int block = 0; block < blocks; ++block) clean = act(block) && clean;
    return clean;
  };
  const Offsets row = line_of(0);
  const auto load = [&](int block) { return shadow.load(access(ShadowSpace::global, block, 0, ~0u, row, 1)); };
  const auto add = [&](int block) { return shadow.atomic(access(ShadowSpace::global, block, 0, ~0u, row, 2)); };
  for (int round = 0; round < 3; ++round) CHECK(each(load));
  CHECK(patience == 0);
  meet(-1);
  CHECK(each(add));
  CHECK(patience >= -blocks);
  const std::int64_t before = patience;
  meet(-1);
  CHECK(each(load));
  CHECK(patience >= before - 2 * blocks);
  meet(77);
  CHECK(!shadow.store(access(ShadowSpace::global, 5, 0, 1u << 9, row, 3)));
  REQUIRE(shadow.findings().size() == 1);
  const ShadowFinding& found = shadow.findings().front();
  CHECK((found.here.block == 5 && found.here.lane == 9 && found.here.site == 3));
  CHECK((found.other.block == 77 && found.other.lane == 9));
  CHECK(found.offset == 36);
}

TEST_CASE("stores of one value to one place are harmless, of two values a race") {
  for (const bool same : {true, false}) {
    GlobalShadow global({}, false);
    ResidentShadow shadow(global, {1, 2, 1, 128, 4, 0});
    start(shadow, 0);
    const Offsets here{};
    std::array<std::uint32_t, 32> values;
    for (std::uint32_t lane = 0; lane < 32; ++lane) values[lane] = same ? 9 : lane / 16;
    std::uint32_t memory = 0;
    const std::byte* element = reinterpret_cast<const std::byte*>(values.data());
    const ShadowValues stored{&element, 4, 4, reinterpret_cast<const std::byte*>(&memory)};
    CHECK(shadow.store(access(ShadowSpace::shared, 0, 0, ~0u, here, 1), &stored) == same);
    memory = values[31];
    values.fill(same ? 9 : 5);
    CHECK(shadow.store(access(ShadowSpace::shared, 1, 0, ~0u, here, 2), &stored) == same);
    CHECK(shadow.findings().size() == (same ? 0 : 2));
  }
}

TEST_CASE("clocks that run out end no order and, from the next block on, hide no race") {
  GlobalShadow global({}, false);
  ResidentShadow shadow(global, {1, 2, 1, 128, 4, 0});
  const Offsets row = line_of(0);
  for (const int barriers : {0, 150'000, 300'000, 1}) {
    start(shadow, barriers);
    CHECK(shadow.store(access(ShadowSpace::shared, 0, 0, ~0u, row, 1)));
    for (int i = 0; i < barriers; ++i) shadow.block_barrier(0);
    CHECK(shadow.load(access(ShadowSpace::shared, 1, 0, ~0u, row, 2)) == (barriers > 0));
    shadow.block_barrier(0);
    CHECK(shadow.store(access(ShadowSpace::shared, 0, 0, ~0u, row, 3)));
  }
  start(shadow, 9);
  CHECK(shadow.store(access(ShadowSpace::shared, 1, 0, ~0u, row, 4)));
  CHECK_FALSE(shadow.load(access(ShadowSpace::shared, 0, 0, ~0u, row, 5)));
}

/// Blocks store 33 elements, 32 apart; `overlap` false: 32.
std::vector<ShadowFinding> run_blocks(int host_threads, bool overlap, bool& raced) {
  constexpr int blocks = 400;
  const std::array<ShadowBuffer, 1> buffers{ShadowBuffer{(blocks + 1) * 128, 4, true, false}};
  GlobalShadow global(buffers, host_threads > 1);
  std::vector<std::vector<ShadowFinding>> parts(static_cast<std::size_t>(host_threads));
  std::atomic<int> next = 0;
  const auto work = [&](int thread) {
    ResidentShadow shadow(global, {1, 2, 1, 0, 4, 0});
    for (int block = next++; block < blocks; block = next++) {
      start(shadow, block);
      const Offsets own = line_of(static_cast<std::uint32_t>(block) * 128), beyond = line_of(own[31] + 4);
      shadow.store(access(ShadowSpace::global, 0, 0, ~0u, own, 1));
      if (overlap) shadow.store(access(ShadowSpace::global, 1, 0, 1, beyond, 1));
      shadow.load(access(ShadowSpace::global, 0, 0, ~0u, own, 2));
    }
    parts[static_cast<std::size_t>(thread)] = shadow.findings();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < host_threads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  raced = global.sets_raced();
  return merged_findings(parts);
}

TEST_CASE("host threads find no race where there is none, and never miss one between blocks") {
  bool raced = true;
  CHECK(run_blocks(4, false, raced).empty());
  CHECK_FALSE(raced);
  const std::vector<ShadowFinding> alone = run_blocks(1, true, raced);
  CHECK(raced);
  REQUIRE_FALSE(alone.empty());
  CHECK(alone[0].here.block == 1);
  CHECK(alone[0].other.block == 0);
  for (int round = 0; round < 20; ++round) {
    raced = false;
    const std::vector<ShadowFinding> together = run_blocks(2 + round % 3, true, raced);
    REQUIRE(raced);
    REQUIRE_FALSE(together.empty());
    REQUIRE(together[0].here.block == 1);
    REQUIRE(together[0].offset == alone[0].offset);
    REQUIRE(together[0].other.block == 0);
  }
}

}  // namespace
}  // namespace tailor::simulator
