// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose blocks meet in clusters, by hand: what one computes and asks for on paper, in the interpreter and by
// both ways of counting; what the check refuses; and the alarms of the interpreter where blocks read each other too
// early, too late, or while something is written. Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"
#include "support/interpret.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

constexpr int threads_of_block = 64, clusters = 3, blocks_of_cluster = 4, warps_of_block = 2;

/// What a test changes of the kernel below, at the places where blocks meet.
struct Cluster {
  bool meets_before = true, parts = true, meets_behind = true;
  bool writes_again = false;  ///< the parts, before the others have read them
  std::int64_t rank_shift = 0;
};

/// Each cluster adds up its 256 numbers: every warp leaves its sum in shared memory, and lanes of every block read
/// those of all. The first block of a cluster stores the sum, each thread what its number is short of it.
Kernel cluster_sum(const Cluster& how) {
  constexpr std::int64_t blocks = clusters * blocks_of_cluster;
  KernelBuilder b("cluster_sum", threads_of_block, blocks);
  b.kernel.cluster = blocks_of_cluster;
  b.kernel.indices.vars[b.vb] = {"cluster", VarKind::block, clusters, blocks_of_cluster};
  b.kernel.indices.vars.push_back({"rank", VarKind::block, blocks_of_cluster, 1});
  const auto rank = static_cast<VarId>(b.kernel.indices.vars.size() - 1);
  const VarId lane = b.thread("lane", 1, 32), warp = b.thread("warp", 32, warps_of_block);
  const BufferId x = b.in("x", DType::f32, blocks * threads_of_block);
  const BufferId rest = b.out("rest", DType::f32, blocks * threads_of_block), sum = b.out("sum", DType::f32, clusters);
  const ArrayId parts = b.shared("parts", DType::f32, warps_of_block);
  b.kernel.shared_bytes = 16;
  const ArrayId all = b.array("all", DType::f32);
  const ExprId at = b.sum({b.var(lane), b.var(warp, 32), b.var(rank, threads_of_block),
                           b.var(b.vb, std::int64_t{threads_of_block} * blocks_of_cluster)});
  const LetId own = b.load_let("own", x, at);
  b.declare(all, b.get(own));
  b.shuffle(b.ref(all), Op::add, 32);
  const auto leave = [&] {
    b.guard_equal(b.var(lane), b.number(0));
    b.store_shared(parts, b.var(warp), b.element(b.ref(all)));
    b.end();
  };
  leave();
  if (how.meets_before) b.barrier(StitchLevel::cluster);
  b.assign(b.ref(all), b.real(DType::f32, 0));
  const std::int64_t count = std::int64_t{warps_of_block} * blocks_of_cluster;
  b.guard_less(b.var(lane), b.number(count));
  b.load_distributed(b.ref(all), parts, b.mod(b.var(lane), warps_of_block),
                     b.sum({b.div(b.mod(b.var(lane), count), warps_of_block), b.number(how.rank_shift)}));
  b.end();
  b.shuffle(b.ref(all), Op::add, 32);
  if (how.writes_again) leave();
  if (how.parts) b.barrier(StitchLevel::cluster).half = Half::arrive;
  b.store(rest, at, b.op(Op::subtract, {b.element(b.ref(all)), b.get(own)}));
  b.guard_equal(b.sum({b.var(lane), b.var(warp, 32), b.var(rank, threads_of_block)}), b.number(0));
  b.store(sum, b.var(b.vb), b.element(b.ref(all)));
  b.end();
  if (how.meets_behind) b.barrier(StitchLevel::cluster).half = how.parts ? Half::wait : Half::both;
  return b.kernel;
}

std::string refused_cluster(
    const Cluster& how, const std::function<void(Kernel&)>& spoil = [](Kernel&) {}) {
  Kernel kernel = cluster_sum(how);
  spoil(kernel);
  try {
    verify(kernel);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "accepted";
}

KernelRun run_cluster(const Kernel& kernel) {
  std::vector<std::vector<std::byte>> buffers;
  for (const Buffer& buffer : kernel.buffers) buffers.emplace_back(static_cast<std::size_t>(4 * buffer.elements));
  for (std::size_t i = 0; i < static_cast<std::size_t>(kernel.buffers[0].elements); ++i) {
    const auto value = static_cast<float>(i % 11);
    std::memcpy(buffers[0].data() + 4 * i, &value, 4);
  }
  return interpret(kernel, std::move(buffers));
}

Stmt& cluster_stmt(Kernel& kernel, const std::function<bool(const Stmt&)>& is) {
  for (Stmt& stmt : kernel.body)
    if (is(stmt)) return stmt;
  throw std::logic_error("no such statement");
}

bool reads_other(const Stmt& stmt) { return stmt.space == Space::distributed; }
bool says_contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("blocks of a cluster read each other's sums between two barriers") {
  for (const bool parts : {true, false}) {
    CAPTURE(parts);
    Cluster how;
    how.parts = parts;
    const Kernel kernel = cluster_sum(how);
    verify(kernel);
    const KernelRun run = run_cluster(kernel);
    CHECK(run.violations == std::vector<std::string>());
    for (std::size_t c = 0; c < clusters; ++c) {
      float expected = 0, found = 0;
      for (std::size_t i = 256 * c; i < 256 * (c + 1); ++i) expected += static_cast<float>(i % 11);
      std::memcpy(&found, run.buffers[2].data() + 4 * c, 4);
      CHECK(found == expected);
      std::memcpy(&found, run.buffers[1].data() + 4 * (256 * c + 200), 4);
      CHECK(found == expected - static_cast<float>((256 * c + 200) % 11));
    }
    const int warps = clusters * blocks_of_cluster * warps_of_block;
    CHECK(run.counts.cluster_barriers == 2 * 2 * warps);  // arrivals and waits, before and behind
    CHECK(run.counts.barriers == 0);
    CHECK(run.counts.shared_stores.requests == warps);
    CHECK(run.counts.shared_loads.requests == warps);
    CHECK(run.counts.shared_loads.bytes == 8 * 4 * warps);
    CHECK(run.counts.buffers[2][1].requests == clusters);
  }
}

TEST_CASE("a kernel with clusters says in its text who reads whom, and which half of a barrier is where") {
  const std::string shown = text(cluster_sum({}));
  CHECK(says_contains(shown, "kernel cluster_sum threads=64 vblocks=12 shared=16 cluster=4 idempotent"));
  CHECK(says_contains(shown, "index cluster = vb / 4"));
  CHECK(says_contains(shown, "index rank = vb % 4"));
  CHECK(says_contains(shown, "all <- shared parts[lane % 2] of lane % 8 / 2 x1"));
  CHECK(says_contains(shown, "  barrier cluster\n"));
  CHECK(says_contains(shown, "  barrier cluster arrive\n"));
  CHECK(says_contains(shown, "  barrier cluster wait\n"));
}

TEST_CASE("the rank and the half of a barrier are part of a kernel's id") {
  const Id plain = id_of(cluster_sum({}));
  Kernel other = cluster_sum({});
  Stmt& read = cluster_stmt(other, reads_other);
  read.rank = read.expr;
  CHECK(id_of(other) != plain);
  Cluster whole;
  whole.parts = false;
  CHECK(id_of(cluster_sum(whole)) != plain);
}

TEST_CASE("the check refuses clusters whose blocks read each other where they may not") {
  CHECK(refused_cluster({}) == "accepted");
  CHECK(says_contains(refused_cluster({.meets_before = false}), "is read before all of them have met"));
  CHECK(says_contains(refused_cluster({.parts = false, .meets_behind = false}), "may end while another one reads it"));
  CHECK(says_contains(refused_cluster({.meets_behind = false}), "a cluster barrier that nobody waits at"));
  CHECK(says_contains(refused_cluster({.rank_shift = 4}), "the cluster: index"));
  const auto spoilt = [](const std::function<void(Kernel&)>& spoil) { return refused_cluster({}, spoil); };
  CHECK(says_contains(spoilt([](Kernel& k) { cluster_stmt(k, reads_other).rank = no_expr; }), "is named elsewhere"));
  CHECK(
      says_contains(spoilt([](Kernel& k) { cluster_stmt(k, reads_other).space = Space::shared; }), "named elsewhere"));
  CHECK(says_contains(spoilt([](Kernel& k) {
                        Stmt& store = cluster_stmt(
                            k, [](const Stmt& s) { return s.kind == StmtKind::store && s.space == Space::shared; });
                        store.space = Space::distributed;
                        store.rank = 0;
                      }),
                      "a store to another block"));
  CHECK(says_contains(
      spoilt([](Kernel& k) { cluster_stmt(k, [](const Stmt& s) { return s.half == Half::wait; }).half = Half::both; }),
      "halves of a cluster barrier that do not follow each other"));
  CHECK(says_contains(spoilt([](Kernel& k) {
                        cluster_stmt(k, [](const Stmt& s) { return s.half == Half::arrive; }).scope =
                            StitchLevel::block;
                      }),
                      "half of a barrier that has no halves"));
  CHECK(says_contains(spoilt([](Kernel& k) { k.indices.vars[0].divisor = 2; }), "the block variable's divisor"));
  CHECK(says_contains(spoilt([](Kernel& k) {  // in the guard of the lanes that read
                        std::swap(cluster_stmt(k, reads_other).kind,
                                  cluster_stmt(k, [](const Stmt& s) { return s.half == Half::arrive; }).kind);
                      }),
                      "kernel cluster_sum, statement"));
}

TEST_CASE("the interpreter sees blocks that are read too early, too late, or while they write") {
  const auto violation = [](const Cluster& how) {
    const KernelRun run = run_cluster(cluster_sum(how));
    std::string all;
    for (const std::string& one : run.violations) all += one + "\n";
    return all;
  };
  CHECK(violation({}).empty());
  CHECK(says_contains(violation({.meets_before = false}), "reads a block that may not have begun"));
  CHECK(says_contains(violation({.parts = false, .meets_behind = false}), "a block that is read by others may have"));
  CHECK(says_contains(violation({.writes_again = true}), "writes what another block reads"));
  CHECK(says_contains(violation({.rank_shift = 1}), "reads block 4"));
}
