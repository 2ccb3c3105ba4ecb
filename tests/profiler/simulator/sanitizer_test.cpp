// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the sanitizers say of single slips, by launches of a few instructions of PTX that are written here: arrays that
// overrun, scopes that are too narrow, registers that nothing was written to, volatile accesses between lanes, blocks
// of a cluster that need not have started. And what a lane gets that may not load. Part of the suite `simulator`; needs
// no NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "profiler/simulator/machine/launch.h"

namespace tailor::simulator {
namespace {

/// A kernel of one parameter, y, whose global address is in %rd1; %r1 is the thread, %r2 the block.
std::string watched_entry(const std::string& body, const std::string& variables = {}) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 y)\n{\n" + variables +
         "  .reg .pred %p<9>;\n  .reg .b32 %r<30>;\n  .reg .b64 %rd<30>;\n  .reg .f32 %f<9>;\n"
         "  ld.param.u64 %rd29, [y];\n  cvta.to.global.u64 %rd1, %rd29;\n  mov.u32 %r1, %tid.x;\n"
         "  mov.u32 %r2, %ctaid.x;\n" +
         body + "  ret;\n}\n";
}

struct Watched {
  Simulation simulation;
  std::vector<std::uint32_t> y;
};

Watched watch(const std::string& text, Launch launch, BufferUse use = BufferUse::scratch, int threads = 1) {
  constexpr int words = 64;
  Memory memory;
  launch.arguments.push_back({memory.add("y", words * 4, 4, use), 0, {}});
  SimulationOptions options;
  options.threads = threads;
  options.count_cache = true;
  options.machine.l2_bytes = 1 << 20;
  const PtxModule module = parse_ptx(text, "k.ptx");
  Watched made{simulate(Program(module, entry_of(module)), launch, memory, options), std::vector<std::uint32_t>(words)};
  CHECK(made.simulation.reason == "");
  std::memcpy(made.y.data(), memory.bytes(0).data(), words * 4);
  return made;
}

Launch grid_of(std::uint32_t blocks, std::uint32_t threads, std::uint32_t cluster = 1) {
  Launch launch;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.cluster = {cluster, 1, 1};
  return launch;
}

/// Kind and text of the only finding; empty: none. Several fail.
std::string only_finding(const Watched& made) {
  const auto& all = made.simulation.findings;
  CHECK(all.size() <= 1);
  return all.empty() ? "" : fmt::format("{}: {}", name(all[0].kind), all[0].text);
}

TEST_CASE("an access past the end of a shared array is out of bounds, whatever lies behind it") {
  const std::string arrays =
      "  .shared .align 4 .b8 a[256];\n  .shared .align 4 .b8 b[256];\n  .extern .shared .b8 d[];\n";
  const auto store_at = [&](const std::string& address) {
    Launch launch = grid_of(1, 1);
    launch.dynamic_shared = 64;
    return only_finding(watch(watched_entry("  mov.u32 %r3, a;\n  mov.u32 %r4, b;\n  mov.u32 %r5, d;\n"
                                            "  st.shared.u32 [" +
                                                address + "], %r1;\n",
                                            arrays),
                              launch));
  };
  CHECK(store_at("%r3") == "");
  CHECK(store_at("%r3+252") == "");
  CHECK(store_at("%r4+252") == "");
  CHECK(store_at("%r5+60") == "");
  const std::string accesses = "out-of-bounds access: thread 0 of block 0 accesses 4 bytes at ";
  CHECK(store_at("%r3+256") == accesses + "byte 256 of the shared array a, which has 256");
  CHECK(store_at("%r4+260") == accesses + "byte 260 of the shared array b, which has 256");
  CHECK(store_at("%r4+-4") == accesses + "byte -4 of the shared array b, which has 256");
  CHECK(store_at("%r3+-4") == accesses + "4 bytes before the first byte of shared memory");
  CHECK(store_at("%r5+64") == accesses + "offset 64 of 64 bytes of dynamic shared memory");
  // Without dynamic shared memory what lies behind the last array is told from that one.
  const std::string alone = "  .shared .align 4 .b8 a[256];\n";
  CHECK(only_finding(watch(watched_entry("  mov.u32 %r3, a;\n  st.shared.u32 [%r3+260], %r1;\n", alone),
                           grid_of(1, 1))) == accesses + "byte 260 of the shared array a, which has 256");
}

TEST_CASE("an access behind a variable of bytes is told in bytes") {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b8 w[20];\n"
      ".visible .entry k(.param .u64 y)\n{\n  .reg .b64 %rd<3>;\n  mov.u64 %rd1, w;\n  st.global.u32 [%rd1+20], 1;\n"
      "  ret;\n}\n";
  CHECK(only_finding(watch(text, grid_of(1, 1))) ==
        "out-of-bounds access: thread 0 of block 0 accesses 4 bytes at byte 20 of buffer w, which has 20");
}

TEST_CASE("guards between shared arrays count as no shared memory and move no array to other banks") {
  const std::string arrays = "  .shared .align 4 .b8 a[100];\n  .shared .align 4 .b8 b[256];\n";
  const std::string body =
      "  mov.u32 %r3, b;\n  mov.u32 %r6, a;\n  and.b32 %r3, %r3, 127;\n"
      "  mov.u32 %r5, %total_smem_size;\n  st.global.v2.u32 [%rd1], {%r3, %r5};\n";
  const Watched made = watch(watched_entry(body, arrays), grid_of(1, 1));
  CHECK(made.y[0] == 100);
  CHECK(made.y[1] == 356);
}

TEST_CASE("a null pointer is called one") {
  const std::string body = "  mov.u64 %rd2, 128;\n  st.global.u32 [%rd2], %r1;\n";
  CHECK(only_finding(watch(watched_entry(body), grid_of(1, 1))) ==
        "out-of-bounds access: thread 0 of block 0 accesses 4 bytes at address 0x80, a null pointer");
  const std::string generic = "  mov.u64 %rd2, 128;\n  st.u32 [%rd2], %r1;\n";
  CHECK(only_finding(watch(watched_entry(generic), grid_of(1, 1))) ==
        "out-of-bounds access: thread 0 of block 0 accesses 4 bytes at address 0x80, a null pointer");
}

TEST_CASE("a register that nothing was written to may be moved and dropped, and not be used") {
  const std::string half =
      "  setp.lt.u32 %p1, %r1, 16;\n  @%p1 mov.u32 %r3, 7;\n  add.s32 %r4, %r3, 1;\n"
      "  mul.wide.u32 %rd2, %r1, 4;\n  add.s64 %rd3, %rd1, %rd2;\n";
  CHECK(only_finding(watch(watched_entry(half + "  st.global.u32 [%rd3], %r4;\n"), grid_of(1, 32))) ==
        "uninitialised read: thread 16 of block 0 uses register %r3, to which nothing was written");
  CHECK(only_finding(watch(watched_entry(half + "  @%p1 st.global.u32 [%rd3], %r4;\n"), grid_of(1, 32))) == "");
  CHECK(only_finding(watch(watched_entry(half + "  selp.b32 %r5, %r4, 0, %p1;\n  st.global.u32 [%rd3], %r5;\n"),
                           grid_of(1, 32))) == "");
  // A predicate of it is dropped where the guard alone decides: and with false, or with true, in any order.
  const auto with_guard = [&](std::string_view guard, std::string_view joined) {
    const std::string body = fmt::format(
        "  setp.gt.u32 %p2, %r4, 3;\n  setp.{}.u32 %p3, %r1, 16;\n  {};\n  selp.b32 %r5, 1, 0, %p2;\n"
        "  st.global.u32 [%rd3], %r5;\n",
        guard, joined);
    return only_finding(watch(watched_entry(half + body), grid_of(1, 32)));
  };
  CHECK(with_guard("lt", "and.pred %p2, %p3, %p2") == "");
  CHECK(with_guard("lt", "and.pred %p2, %p2, %p3") == "");
  CHECK(with_guard("ge", "or.pred %p2, %p2, %p3") == "");
  CHECK(with_guard("ge", "or.pred %p2, %p3, %p2") == "");
  const std::string used = "uninitialised read: thread 16 of block 0 uses register %r3, to which nothing was written";
  CHECK(with_guard("ge", "and.pred %p2, %p3, %p2") == used);
  CHECK(with_guard("lt", "or.pred %p2, %p2, %p3") == used);
  CHECK(with_guard("lt", "xor.pred %p2, %p2, %p3") == used);
  CHECK(with_guard("lt", "and.pred %p2, %p2, %p2") == used);
}

/// A value in y[0] and a flag in y[1]: block 0 gives them, block 1 takes them.
std::string handed_over(const std::string& give, const std::string& take) {
  return watched_entry("  setp.ne.u32 %p1, %r2, 0;\n  @%p1 bra TAKE;\n  st.global.u32 [%rd1], 5;\n" + give +
                       "  ret;\nTAKE:\n" + take + "  ld.global.u32 %r6, [%rd1];\n  st.global.u32 [%rd1+8], %r6;\n");
}

TEST_CASE("what is fenced, released or acquired within a block orders no two blocks") {
  const auto races = [](const std::string& give, const std::string& take) {
    const auto found = watch(handed_over(give, take), grid_of(2, 1)).simulation.findings;
    for (const Finding& one : found) CHECK(one.kind == FindingKind::race);
    return std::ssize(found);
  };
  const auto fenced = [](const std::string& scope) {
    return "  fence.acq_rel." + scope + ";\n  st.relaxed.gpu.global.u32 [%rd1+4], 1;\n";
  };
  const auto looked = [](const std::string& scope) {
    return "  ld.relaxed.gpu.global.u32 %r5, [%rd1+4];\n  fence.acq_rel." + scope + ";\n";
  };
  CHECK(races(fenced("gpu"), looked("gpu")) == 0);
  CHECK(races(fenced("sys"), looked("gpu")) == 0);
  CHECK(races(fenced("cta"), looked("gpu")) == 1);
  CHECK(races(fenced("gpu"), looked("cta")) == 1);
  const auto released = [](const std::string& scope) { return "  st.release." + scope + ".global.u32 [%rd1+4], 1;\n"; };
  const auto acquired = [](const std::string& scope) {
    return "  ld.acquire." + scope + ".global.u32 %r5, [%rd1+4];\n";
  };
  CHECK(races(released("gpu"), acquired("gpu")) == 0);
  CHECK(races(released("gpu"), looked("gpu")) == 0);
  CHECK(races(released("cta"), acquired("gpu")) == 2);  // of the flag too, which is strong within one block only
}

TEST_CASE("fences of a block's scope order the threads of a block") {
  const std::string give =
      "  setp.ge.u32 %p1, %r1, 32;\n  @%p1 bra TAKE;\n  st.global.u32 [%rd1], 5;\n"
      "  fence.acq_rel.cta;\n  st.relaxed.cta.global.u32 [%rd1+4], 1;\n  ret;\nTAKE:\n"
      "  ld.relaxed.cta.global.u32 %r5, [%rd1+4];\n  setp.eq.u32 %p2, %r5, 0;\n  @%p2 bra TAKE;\n";
  const std::string read = "  ld.global.u32 %r6, [%rd1];\n";
  CHECK(only_finding(watch(watched_entry(give + "  fence.acq_rel.cta;\n" + read), grid_of(1, 33))) == "");
  CHECK(only_finding(watch(watched_entry(give + read), grid_of(1, 33))).starts_with("race: "));
}

TEST_CASE("atomics of a block's scope race between blocks and not within one") {
  const auto add = [](const std::string& scope) {
    return watched_entry("  red.relaxed." + scope + ".global.add.u32 [%rd1], 1;\n");
  };
  CHECK(only_finding(watch(add("gpu"), grid_of(2, 64))) == "");
  CHECK(only_finding(watch(add("cta"), grid_of(1, 64))) == "");
  CHECK(only_finding(watch(add("cta"), grid_of(2, 64))).starts_with("race: "));
  // The blocks run in the order of their number: the narrower scope may be the earlier or the later one's.
  const auto adds = [&](const std::string& first, const std::string& second, const std::string& more = "") {
    const std::string body = "  setp.eq.u32 %p1, %r2, 0;\n  @%p1 red.relaxed." + first +
                             ".global.add.u32 [%rd1], 1;\n" + more + "  @!%p1 red.relaxed." + second +
                             ".global.add.u32 [%rd1], 1;\n";
    return only_finding(watch(watched_entry(body), grid_of(2, 64)));
  };
  CHECK(adds("gpu", "gpu") == "");
  CHECK(adds("gpu", "cta").starts_with("race: "));
  CHECK(adds("cta", "gpu").starts_with("race: "));
  CHECK(adds("cta", "gpu", "  @%p1 red.relaxed.gpu.global.add.u32 [%rd1], 1;\n").starts_with("race: "));
}

TEST_CASE("volatile accesses order no lanes of a warp, and one lane's flag may be polled") {
  const std::string shared = "  .shared .align 4 .b8 s[256];\n";
  const std::string own =
      "  shl.b32 %r3, %r1, 2;\n  mov.u32 %r4, s;\n  add.s32 %r5, %r4, %r3;\n"
      "  st.volatile.shared.u32 [%r5], %r1;\n";
  const std::string next = "  xor.b32 %r6, %r3, 4;\n  add.s32 %r7, %r4, %r6;\n  ld.volatile.shared.u32 %r8, [%r7];\n";
  CHECK(only_finding(watch(watched_entry(own + next, shared), grid_of(1, 32))).starts_with("race: "));
  CHECK(only_finding(watch(watched_entry(own + "  bar.warp.sync -1;\n" + next, shared), grid_of(1, 32))) == "");
  const std::string flag =
      "  mov.u32 %r4, s;\n  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra WAIT;\n"
      "  st.volatile.shared.u32 [%r4], 1;\n  ret;\nWAIT:\n"
      "  ld.volatile.shared.u32 %r5, [%r4];\n  setp.eq.u32 %p2, %r5, 0;\n  @%p2 bra WAIT;\n";
  for (const Finding& one : watch(watched_entry(flag, shared), grid_of(1, 32)).simulation.findings)
    CHECK(one.kind != FindingKind::race);  // it may read what nobody wrote yet, which is another matter
}

TEST_CASE("the shared memory of another block is there after a cluster barrier") {
  const std::string shared = "  .shared .align 4 .b8 s[128];\n";
  const std::string meet = "  barrier.cluster.arrive;\n  barrier.cluster.wait;\n";
  const std::string meet_relaxed = "  barrier.cluster.arrive.relaxed;\n  barrier.cluster.wait;\n";
  const std::string store =
      "  mov.u32 %r3, s;\n  xor.b32 %r4, %r2, 1;\n  mapa.shared::cluster.u32 %r5, %r3, %r4;\n"
      "  st.shared::cluster.u32 [%r5], %r1;\n";
  const auto found = [&](const std::string& before) {
    return only_finding(watch(watched_entry(before + store + meet, shared), grid_of(2, 1, 2)));
  };
  CHECK(found(meet) == "");
  CHECK(found(meet_relaxed) == "");
  CHECK(found("").find("which need not have started") != std::string::npos);
}

TEST_CASE("a lane that may not load gets the same on every number of host threads") {
  const std::string shared = "  .shared .align 4 .b8 s[128];\n";
  // Values that differ from block to block lie in the registers before.
  const std::string body =
      "  mad.lo.s32 %r3, %r2, 77, %r1;\n  mov.u32 %r4, s;\n  shl.b32 %r5, %r1, 3;\n"
      "  add.s32 %r6, %r4, %r5;\n  shl.b32 %r7, %r1, 2;\n  add.s32 %r8, %r4, %r7;\n"
      "  st.shared.u32 [%r8], %r3;\n  bar.sync 0;\n  ld.shared.u32 %r9, [%r6];\n"
      "  atom.shared.add.u32 %r10, [%r6+4], 1;\n  setp.gt.u32 %p1, %r9, 40;\n"
      "  @!%p1 bra SKIP;\n  add.s32 %r9, %r9, 1;\nSKIP:\n  add.s32 %r9, %r9, %r10;\n"
      "  mul.wide.u32 %rd2, %r2, 4;\n  add.s64 %rd3, %rd1, %rd2;\n"
      "  setp.eq.u32 %p2, %r1, 31;\n  @%p2 st.global.u32 [%rd3], %r9;\n";
  const std::string text = watched_entry(body, shared);
  const Watched one = watch(text, grid_of(64, 32), BufferUse::output);
  CHECK_FALSE(one.simulation.findings.empty());
  for (const int threads : {2, 3, 5}) {
    const Watched more = watch(text, grid_of(64, 32), BufferUse::output, threads);
    CHECK(more.y == one.y);
    CHECK(more.simulation.counters == one.simulation.counters);
  }
}

TEST_CASE("asynchronous copies count the sectors they read and write, and the bytes of L2 and DRAM") {
  const std::string shared = "  .shared .align 128 .b8 s[1024];\n  .shared .align 8 .b8 bar[8];\n";
  const std::string each =
      "  mul.wide.u32 %rd2, %r1, 8;\n  add.s64 %rd3, %rd1, %rd2;\n  mov.u32 %r3, s;\n"
      "  shl.b32 %r4, %r1, 2;\n  add.s32 %r5, %r3, %r4;\n"
      "  cp.async.ca.shared.global [%r5], [%rd3], 4;\n  cp.async.wait_all;\n";
  const Counters strided = watch(watched_entry(each, shared), grid_of(1, 32), BufferUse::input).simulation.counters;
  CHECK(strided.global_load_requests == 1);
  CHECK(strided.global_load_sectors == 8);  // 4 bytes of every 8
  CHECK(strided.global_load_bytes == 128);
  CHECK(strided.l2_read_bytes == 256);
  CHECK(strided.dram_read_bytes == 256);
  const std::string bulk =
      "  mov.u32 %r3, s;\n  mov.u32 %r4, bar;\n  mbarrier.init.shared::cta.b64 [%r4], 1;\n"
      "  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 96;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1+16], 96, "
      "[%r4];\nW:\n  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], 0;\n  @!%p1 bra W;\n";
  const Counters in = watch(watched_entry(bulk, shared), grid_of(1, 1), BufferUse::input).simulation.counters;
  CHECK(in.global_load_requests == 1);
  CHECK(in.global_load_sectors == 4);  // bytes 16 to 111
  CHECK(in.global_load_bytes == 96);
  CHECK(in.l2_read_bytes == 128);
  const std::string out =
      "  mov.u32 %r3, s;\n  st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};\n"
      "  st.shared.v4.u32 [%r3+16], {%r1, %r1, %r1, %r1};\n  fence.proxy.async;\n"
      "  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 32;\n"
      "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n";
  const Counters stored = watch(watched_entry(out, shared), grid_of(1, 1), BufferUse::output).simulation.counters;
  CHECK(stored.global_store_requests == 1);
  CHECK(stored.global_store_sectors == 1);
  CHECK(stored.global_store_bytes == 32);
  CHECK(stored.l2_write_bytes == 32);
}

TEST_CASE("atomics at one word of shared memory conflict") {
  const std::string shared = "  .shared .align 4 .b8 s[128];\n";
  const std::string body =
      "  mov.u32 %r3, s;\n  st.shared.u32 [%r3], 0;\n  bar.sync 0;\n"
      "  red.shared.add.u32 [%r3], 1;\n";
  const Counters counters = watch(watched_entry(body, shared), grid_of(1, 32)).simulation.counters;
  CHECK(counters.shared_atomic_requests == 1);
  CHECK(counters.bank_conflicts == 31);
}

}  // namespace
}  // namespace tailor::simulator
