// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting: what one request moves against drawings of the rule, fast counting equal to exact counting over lowered
// plans and hand-made programs, and totals that can be worked out on paper. Exact counting is the oracle of fast
// counting; the request rule itself is said a second time, slowly, over sets of sectors. Part of the suite
// `costmodel`.
#include "costmodel/count.h"

#include <doctest/doctest.h>

#include <set>

#include "costmodel/scratch.h"
#include "lowered.h"
#include "support/approx.h"
#include "support/kernel_builder.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::costmodel;

namespace {

std::array<std::int64_t, 32> stride(std::int64_t bytes) {
  std::array<std::int64_t, 32> offsets;
  for (int lane = 0; lane < 32; ++lane) offsets[lane] = lane * bytes;
  return offsets;
}

/// The rule said again, as slowly as possible.
std::int64_t sectors_drawn(const std::array<std::int64_t, 32>& offsets, std::int64_t shift, std::uint32_t mask,
                           int bytes) {
  std::set<std::int64_t> touched;
  for (int lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1) != 0)
      for (int b = 0; b < bytes; ++b) touched.insert((offsets[lane] + shift + b + 32 * 1000000) / 32);
  return static_cast<std::int64_t>(touched.size());
}

void check_same(const Work& exact, const Work& fast) {
  CHECK_FALSE(fast.sampled);
  REQUIRE(exact.buffers.size() == fast.buffers.size());
  for (std::size_t b = 0; b < exact.buffers.size(); ++b) {
    CAPTURE(b);
    CHECK(exact.buffers[b].load.requests == fast.buffers[b].load.requests);
    CHECK(exact.buffers[b].load.sectors == fast.buffers[b].load.sectors);
    CHECK(exact.buffers[b].load.bytes == fast.buffers[b].load.bytes);
    CHECK(exact.buffers[b].store.sectors == fast.buffers[b].store.sectors);
    CHECK(exact.buffers[b].read_bytes == fast.buffers[b].read_bytes);
    CHECK(exact.buffers[b].written_bytes == fast.buffers[b].written_bytes);
  }
  CHECK(exact.shared_load.requests == fast.shared_load.requests);
  CHECK(exact.shared_load.wavefronts == fast.shared_load.wavefronts);
  CHECK(exact.shared_store.wavefronts == fast.shared_store.wavefronts);
  CHECK(exact.busiest_block == fast.busiest_block);
  CHECK(exact == fast);
}

}  // namespace

TEST_CASE("sectors of a request are the distinct ones its active lanes touch") {
  std::uint64_t state = 7;
  CAPTURE(state);
  const auto random = [&] {
    return static_cast<std::int64_t>((state = state * 6364136223846793005u + 1442695040888963407u) >> 33);
  };
  for (int round = 0; round < 4000; ++round) {
    const int bytes = 1 << random() % 5;
    std::array<std::int64_t, 32> offsets = stride(bytes * (random() % 12));
    if (round % 3 == 0)
      for (auto& offset : offsets) offset = bytes * (random() % 300 - 100);
    const auto mask = static_cast<std::uint32_t>(round % 4 == 0 ? ~0u : random());
    const std::int64_t shift = bytes * (random() % 40);
    CHECK(count_sectors(offsets, shift, mask, bytes) == sectors_drawn(offsets, shift, mask, bytes));
  }
}

TEST_CASE("wavefronts follow the bank rule") {
  CHECK(count_wavefronts(stride(4), 0, ~0u, 4) == 1);
  CHECK(count_wavefronts(stride(8), 0, ~0u, 4) == 2);
  CHECK(count_wavefronts(stride(128), 0, ~0u, 4) == 32);
  CHECK(count_wavefronts(stride(132), 0, ~0u, 4) == 1);
  CHECK(count_wavefronts(stride(0), 0, ~0u, 4) == 1);
  CHECK(count_wavefronts(stride(2), 0, ~0u, 2) == 1);
  CHECK(count_wavefronts(stride(8), 0, ~0u, 8) == 2);
  CHECK(count_wavefronts(stride(16), 0, ~0u, 16) == 4);
  CHECK(count_wavefronts(stride(16), 0, 0xffu, 16) == 1);
  CHECK(count_wavefronts(stride(128), 0, 1u, 16) == 1);
  CHECK(count_wavefronts(stride(4), 0, 0u, 4) == 0);
  // Lanes that share 8 or 16 bytes in pairs go in twos.
  std::array<std::int64_t, warp_lanes> pairs;
  for (int lane = 0; lane < warp_lanes; ++lane) pairs[lane] = lane / 2 * 16;
  CHECK(count_wavefronts(pairs, 0, ~0u, 16) == 2);
  for (int lane = 0; lane < warp_lanes; ++lane) pairs[lane] = (lane & ~2) * 8;
  CHECK(count_wavefronts(pairs, 0, ~0u, 8) == 2);
  CHECK(count_wavefronts(stride(0), 0, ~0u, 8) == 1);
  CHECK(count_wavefronts(stride(0), 0, ~0u, 16) == 2);
  // Neighbours, or lanes two apart, over 128 bytes without a gap: half the passes of lanes that share in no such pairs.
  std::array<std::int64_t, warp_lanes> next, second, fourth;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    next[lane] = lane / 2;
    second[lane] = lane / 4 * 2 + lane % 2;
    fourth[lane] = lane / 8 * 4 + lane % 4;
  }
  for (const int bytes : {8, 16}) {
    const auto passes = [&](std::array<std::int64_t, warp_lanes> places) {
      for (std::int64_t& place : places) place *= bytes;
      return count_wavefronts(places, 0, ~0u, bytes);
    };
    CHECK(passes(next) == bytes / 8);
    CHECK(passes(second) == bytes / 8);
    CHECK(passes(fourth) == bytes / 4);
  }
}

TEST_CASE("fast counting equals exact counting on every lowered plan") {
  const ir::Limits limits = limits_of("h200");
  int kernels = 0, number = 0;
  for (const std::string_view name : graph_names)
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{37, 256}, {64, 768}, {9, 1000}, {33, 77}})
      for (const std::string_view dtype : {"f32", "f16"}) {
        if (!testing::thorough() && (rows % 2 == 0) != (dtype == "f16"))
          continue;  // either type sees odd and even rows
        if (!testing::broad() && number++ % 2 != 0) continue;
        const ir::Group group = group_of(graph_text(name, rows, columns, dtype));
        kernels += for_each_kernel(group, limits, [&](const ir::Plan& plan, const ir::Kernel& kernel) {
          CAPTURE(name);
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(dtype);
          CAPTURE(text(plan));
          const Work exact = count(kernel, Mode::exact), fast = count(kernel, Mode::fast);
          if (name == "map" && fast.sampled)  // a bias whose period in the block is long
            CHECK(static_cast<double>(sectors(fast)) == approx(static_cast<double>(sectors(exact))).epsilon(0.02));
          else
            check_same(exact, fast);
        });
      }
  CHECK(kernels > testing::effort(250, 500, 1000));
}

TEST_CASE("fast counting equals exact counting on programs made by hand") {
  for (const std::int64_t rows : {1, 5, 37, 128})
    for (const int lanes : {8, 32, 128})
      for (const int trips : {1, 3, 6}) {
        const ir::Kernel kernel = ir::example_layer_norm(rows, trips, lanes);
        check_same(count(kernel, Mode::exact), count(kernel, Mode::fast));
      }
  for (const std::int64_t columns : {64, 96, 768})
    check_same(count(ir::example_map(37, columns, ir::DType::f16), Mode::exact),
               count(ir::example_map(37, columns, ir::DType::f16), Mode::fast));
}

TEST_CASE("a layer norm of whole rows moves what paper says") {
  // 4096 rows of 768, 32 lanes per row, 6 trips of 4 elements.
  const Work work = count(ir::example_layer_norm(4096, 6, 32), Mode::fast);
  REQUIRE(work.buffers.size() == 4);
  for (const BufferWork& buffer : {work.buffers[0], work.buffers[1], work.buffers[2]}) {
    CHECK(buffer.load.requests == 4096 * 6);
    CHECK(buffer.load.sectors == 4096 * 6 * 16);
  }
  CHECK(work.buffers[3].store.sectors == 4096 * 768 * 4 / 32);
  CHECK(work.buffers[0].read_bytes == 4096 * 768 * 4);
  CHECK(work.buffers[1].read_bytes == 768 * 4);
  CHECK(work.shuffles == 4096 * 2 * 5);
  CHECK(work.barriers == 0);
  CHECK(work.pipes.xu == 4096);
  CHECK(work.busiest_block * work.virtual_blocks == instructions(work.pipes));
  CHECK(work.critical_path.shuffle == 10);
  CHECK(work.critical_path.memory == 2);
  CHECK(work.live_registers >= 24);
  CHECK(work.live_registers < 48);
}

TEST_CASE("an index without a period is sampled, near the exact count, and says so") {
  for (const std::int64_t columns : {777, 1001}) {
    ir::KernelBuilder b("odd", 128, 400 * columns / 128);
    const ir::VarId tid = b.thread("tid", 1, 128);
    const ir::BufferId x = b.in("x", ir::DType::f32, 400 * columns), bias = b.in("bias", ir::DType::f32, columns);
    const ir::BufferId y = b.out("y", ir::DType::f32, 400 * columns);
    const ir::ExprId i = b.sum({b.var(tid), b.var(b.vb, 128)});
    const ir::LetId v = b.load_let("v", x, i), w = b.load_let("w", bias, b.mod(i, columns), ir::Policy::again);
    b.store(y, i, b.op(ir::Op::add, {b.get(v), b.get(w)}));
    const ir::Kernel odd = b.finished();
    const Work exact = count(odd, Mode::exact), fast = count(odd, Mode::fast);
    CHECK(fast.sampled);
    CHECK(fast.buffers[0] == exact.buffers[0]);
    CHECK(fast.buffers[1].load.requests == exact.buffers[1].load.requests);
    CHECK(static_cast<double>(fast.buffers[1].load.sectors) ==
          approx(static_cast<double>(exact.buffers[1].load.sectors)).epsilon(0.02));
    CHECK(fast.pipes == exact.pipes);
  }
}

TEST_CASE("a barrier of the grid is two of each block, a number and a look; of others each is its own") {
  ir::Kernel kernel = ir::example_in_place();  // of the cluster and of the grid, in four blocks of two warps
  constexpr std::int64_t blocks = 4, warps = 2;
  for (const Mode mode : {Mode::exact, Mode::fast}) {
    const Work work = count(kernel, mode);
    CHECK(work.barriers == 2 * warps * blocks);
    CHECK(work.cluster_barriers == 2 * warps * blocks);
    CHECK(work.buffers[3].atomic.requests == warps * blocks + blocks);  // its own statement counts there as well
    CHECK(work.buffers[3].load == Traffic{blocks, blocks, 4 * blocks});
    CHECK(work.critical_path.barrier == 2);
    CHECK(work.critical_path.coherent == 3);
  }
  for (ir::Stmt& s : kernel.body)
    if (s.kind == ir::StmtKind::barrier) s.scope = ir::StitchLevel::block;
  CHECK(count(kernel, Mode::exact).barriers == 2 * 2 * 4);
  for (ir::Stmt& s : kernel.body)
    if (s.kind == ir::StmtKind::barrier) s.scope = ir::StitchLevel::cluster;
  CHECK(count(kernel, Mode::exact).barriers == 0);
  CHECK(count(kernel, Mode::exact).cluster_barriers == 2 * 2 * 2 * 4);  // arrivals and waits
}

TEST_CASE("bytes that may come from other blocks of a cluster are told among those of shared memory") {
  constexpr std::int64_t blocks = 4, threads = 64;
  ir::KernelBuilder b("read_others", threads, blocks);
  b.kernel.cluster = 2;
  b.kernel.indices.vars[b.vb] = {"vc", ir::VarKind::block, 2, 2};
  b.kernel.indices.vars.push_back({"rank", ir::VarKind::block, 2, 1});
  const ir::VarId tid = b.thread("tid", 1, threads);
  const ir::ArrayId own = b.shared("own", ir::DType::f32, threads), got = b.array("got", ir::DType::f32);
  b.kernel.shared_bytes = 4 * threads;
  b.store_shared(own, b.var(tid), b.real(ir::DType::f32, 1));
  b.barrier(ir::StitchLevel::cluster);
  b.declare(got, b.real(ir::DType::f32, 0));
  b.load_distributed(b.ref(got), own, b.var(tid), b.number(1));
  b.barrier(ir::StitchLevel::cluster);
  for (const Mode mode : {Mode::exact, Mode::fast}) {
    const Work work = count(b.kernel, mode);
    CHECK(work.distributed_bytes == 4 * threads * blocks);
    CHECK(work.shared_load.bytes == work.distributed_bytes);
    CHECK(work.shared_store.bytes == 4 * threads * blocks);
  }
}

TEST_CASE("counting again with the same scratch gives the same work") {
  Scratch scratch;
  Work first, second;
  const ir::Kernel a = ir::example_layer_norm(37, 6, 128), b = ir::example_map(7, 96, ir::DType::f32);
  count(a, Mode::fast, scratch, first);
  count(b, Mode::fast, scratch, second);
  count(a, Mode::fast, scratch, second);
  CHECK(first == second);
}
