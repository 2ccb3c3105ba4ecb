// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Printed kernels, as they are for a GPU, compiled to PTX and executed: every byte that they leave behind is the one
// that the interpreter of the tests leaves. Kernels by hand hold what printing decides: how elements of each type are
// packed into words and taken out again, atomics, shuffles, thread variables, addresses that branches share. Part of
// the suite `codegen`; skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "codegen/cuda/cuda.h"
#include "codegen/cuda/pin_checks.h"
#include "ir/graph/number.h"
#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/ptx/ptx.h"
#include "support/cells.h"
#include "support/interpret.h"
#include "support/kernel_builder.h"
#include "support/kernel_cache.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

using Bytes = std::vector<std::vector<std::byte>>;

/// Numbers that every type holds exactly: all bytes of integers, halves of floating types.
Bytes drawn_contents(const Kernel& kernel, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes all;
  for (const Buffer& buffer : kernel.buffers) {
    const auto width = static_cast<std::size_t>(row(buffer.dtype).bits / 8);
    std::vector<std::byte>& bytes = all.emplace_back(static_cast<std::size_t>(buffer.elements) * width);
    for (std::size_t i = 0; i < bytes.size(); i += width) {
      const auto number = static_cast<std::int64_t>(random());
      if (buffer.dtype == DType::pred)
        bytes[i] = static_cast<std::byte>(number & 1);
      else if (is_floating(buffer.dtype))
        write_cell(buffer.dtype, bytes.data() + i, real_cell(static_cast<double>(number % 25) / 2));
      else
        write_cell(buffer.dtype, bytes.data() + i, fitted(buffer.dtype, integer_cell(number)));
    }
  }
  return all;
}

/// What the compiled PTX leaves in the buffers.
Bytes executed(const profiler::Nvrtc& nvrtc, const Kernel& kernel, const Bytes& contents) {
  profiler::CompileRequest request;
  request.cuda = codegen::cuda(kernel);
  request.entry = kernel.name;
  for (const Kernel& follower : kernel.followers) request.followers.push_back(follower.name);
  const Binary binary = kernels::compiled(nvrtc, request);
  REQUIRE_MESSAGE(binary.outcome == CompileOutcome::ok, binary.log);
  const simulator::PtxModule module = simulator::parse_ptx(binary.ptx, "kernel.ptx");
  simulator::Memory memory;
  simulator::Launch launch;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    const bool input = kernel.buffers[i].role == BufferRole::input;
    const int at = memory.add(kernel.buffers[i].name, static_cast<std::int64_t>(contents[i].size()),
                              row(kernel.buffers[i].dtype).bits / 8,
                              input ? simulator::BufferUse::input : simulator::BufferUse::both);
    std::copy(contents[i].begin(), contents[i].end(), memory.bytes(at).begin());
    launch.arguments.push_back({at, 0, {}});
  }
  for (const Kernel& one : kernels_of(kernel)) {
    const simulator::Program program(module, simulator::entry_of(module, one.name));
    launch.grid[0] = static_cast<std::uint32_t>(one.grid);
    launch.block[0] = static_cast<std::uint32_t>(one.threads);
    const simulator::Simulation done = simulator::simulate(program, launch, memory, {});
    CHECK_MESSAGE(done.outcome == simulator::SimulationOutcome::finished, done.reason);
    CHECK(done.findings.empty());
  }
  Bytes left;
  for (int i = 0; i < memory.buffers(); ++i) {
    const std::span<const std::byte> bytes = std::as_const(memory).bytes(i);
    left.emplace_back(bytes.begin(), bytes.end());
  }
  return left;
}

void check_bytes(const Kernel& kernel, std::uint64_t seed) {
  const profiler::Nvrtc* nvrtc = nvrtc_or_skip();
  if (nvrtc == nullptr) return;
  const Bytes contents = drawn_contents(kernel, seed);
  const Bytes found = executed(*nvrtc, kernel, contents);
  const KernelRun expected = interpret(kernel, contents);
  for (const std::string& violation : expected.violations) FAIL_CHECK(violation);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK_MESSAGE(found[i] == expected.buffers[i], "buffer ", kernel.buffers[i].name);
}

constexpr auto every_type =
    std::to_array<DType>({DType::pred, DType::s8, DType::s16, DType::s32, DType::s64, DType::u8, DType::u16, DType::u32,
                          DType::u64, DType::f16, DType::bf16, DType::f32, DType::f64});

constexpr auto number_types = std::to_array<DType>({DType::s32, DType::u32, DType::s64, DType::u64});

}  // namespace

TEST_CASE("elements of every type keep all their bytes through words of every width, in memory of either kind") {
  // Each vector comes back with its elements in the other order, so that an element in its neighbour's place shows.
  KernelBuilder b("turned", 32, 2);
  const VarId tid = b.thread("tid", 1, 32);
  struct Pair {
    BufferId x, y;
    DType dtype;
    int width;
  };
  std::vector<Pair> pairs;
  const auto each_pair = [](auto&& visit) {
    for (const DType dtype : every_type)
      for (int width = 1; width * row(dtype).bits <= 128; width *= 2) visit(dtype, width);
  };
  each_pair([&](DType dtype, int width) {
    pairs.push_back({b.in(fmt::format("x_{}_{}", name(dtype), width), dtype, 64 * width), 0, dtype, width});
  });
  for (Pair& pair : pairs)
    pair.y = b.out(fmt::format("y_{}_{}", name(pair.dtype), pair.width), pair.dtype, 64 * pair.width);
  for (const Pair& pair : pairs) {
    const ArrayId from = b.array("from", pair.dtype, {0, 0}, pair.width),
                  to = b.array("to", pair.dtype, {0, 0}, pair.width);
    const ArrayId staged = b.shared("staged", pair.dtype, 32 * pair.width);
    const ExprId at = b.sum({b.var(tid, pair.width), b.var(b.vb, 32 * pair.width)});
    b.declare(from);
    b.load(b.ref(from), pair.x, at, pair.width, pair.width == 2 ? Policy::again : Policy::once);
    b.declare(to);
    for (int e = 0; e < pair.width; ++e)
      b.assign(b.ref(to, b.number(e)), b.element(b.ref(from, b.number(pair.width - 1 - e))));
    b.store_shared(staged, b.var(tid, pair.width), pair.width, b.ref(to));
    b.barrier();
    b.load_shared(b.ref(from), staged, b.var(tid, pair.width), pair.width);
    b.store(pair.y, at, pair.width, b.ref(from));
  }
  check_bytes(b.finished(), 1);
}

TEST_CASE("atomics of every kind and type leave what one thread after the other would") {
  KernelBuilder b("atomics", 64, 3);
  const VarId tid = b.thread("tid", 1, 64);
  std::vector<BufferId> inputs, outputs;
  for (const DType dtype : number_types) inputs.push_back(b.in(fmt::format("x_{}", name(dtype)), dtype, 192));
  for (const DType dtype : {DType::f32, DType::f64})
    inputs.push_back(b.in(fmt::format("x_{}", name(dtype)), dtype, 192));
  struct Target {
    BufferId x, y;
    Op op;
  };
  std::vector<Target> targets;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (const Op op : {Op::add, Op::maximum, Op::minimum}) {
      const DType dtype = b.kernel.buffers[inputs[i]].dtype;
      if (is_floating(dtype) && op != Op::add) continue;
      targets.push_back({inputs[i], b.out(fmt::format("{}_{}", name(op), name(dtype)), dtype, 4), op});
    }
  for (const Target& target : targets) {
    const LetId value = b.load_let("v", target.x, b.sum({b.var(tid), b.var(b.vb, 64)}));
    b.atomic(target.y, b.mod(b.var(tid), 4), target.op, b.get(value));
  }
  check_bytes(b.finished(), 2);
}

TEST_CASE("shuffles combine every type over every number of lanes") {
  KernelBuilder b("shuffles", 64, 1);
  const VarId tid = b.thread("tid", 1, 64);
  struct Sum {
    BufferId x, y;
    Op op;
    int lanes;
  };
  std::vector<Sum> sums;
  const auto of = [](DType dtype) {
    if (dtype == DType::pred) return std::vector<Op>{Op::bit_or, Op::bit_and};
    return std::vector<Op>{Op::add, Op::maximum, Op::minimum};
  };
  for (const DType dtype : every_type)
    for (const Op op : of(dtype))
      sums.push_back(
          {b.in(fmt::format("x_{}_{}", name(dtype), name(op)), dtype, 64), 0, op, 1 << (1 + (sums.size() % 5))});
  for (Sum& sum : sums) {
    const Buffer from = b.kernel.buffers[sum.x];
    sum.y = b.out("y" + from.name.substr(1), from.dtype, 64);
  }
  for (const Sum& sum : sums) {
    const DType dtype = b.kernel.buffers[sum.x].dtype;
    const ArrayId v = b.array("v", dtype);
    b.declare(v);
    b.load(b.ref(v), sum.x, b.var(tid), 1);
    b.shuffle(b.ref(v), sum.op, sum.lanes);
    b.store(sum.y, b.var(tid), b.element(b.ref(v)));
  }
  check_bytes(b.finished(), 3);
}

TEST_CASE(
    "parts of the thread index count as far as they go, and branches find their elements on both sides of a base") {
  KernelBuilder b("parts", 192, 2);
  // 192 threads: three rows of two warps of 32 lanes, in all orders of the parts.
  const VarId lane = b.thread("lane", 1, 32), warp = b.thread("warp", 32, 2), rib = b.thread("rib", 64, 3);
  const VarId pair = b.thread("pair", 2, 16), low = b.thread("low", 1, 2);
  const VarId e = b.loop_var("e", 4);
  const BufferId x = b.in("x", DType::s32, 4096), y = b.out("y", DType::s32, 1152), z = b.out("z", DType::s32, 4096);
  const ExprId own = b.sum({b.var(lane), b.var(warp, 32), b.var(rib, 64), b.var(b.vb, 192)});
  b.store(y, own,
          b.op(Op::add, {b.index(DType::s32, b.sum({b.var(rib, 100), b.var(warp, 10), b.var(low)})),
                         b.index(DType::s32, b.var(pair, 1000))}));
  const ExprId base = b.sum({b.var(lane, 8), b.var(warp, 256), b.var(rib, 512), b.var(b.vb, 1536), b.number(64)});
  b.name_index(base);
  b.each(e);
  b.guard_less(b.sum({b.var(e), b.mod(b.var(lane), 2)}), b.number(4));
  const LetId before = b.load_let("before", x, b.sum({base, b.var(e, -1)}));
  const LetId at = b.load_let("at", x, b.sum({base, b.number(-7)}));
  const LetId behind = b.load_let("behind", x, b.sum({base, b.var(e, 2), b.number(1)}));
  b.store(z, b.sum({base, b.var(e)}), b.op(Op::add, {b.op(Op::add, {b.get(before), b.get(at)}), b.get(behind)}));
  b.store(z, b.sum({base, b.var(e, -1), b.number(-1)}), b.get(at));
  b.end();
  b.end();
  check_bytes(b.finished(), 4);
}

TEST_CASE("indices are printed with the precedence that they have: quotients, remainders, choices and bits of sums") {
  KernelBuilder b("indices", 64, 3);
  const VarId tid = b.thread("tid", 1, 64);
  const ExprId sum = b.sum({b.var(tid, 3), b.var(b.vb, 5), b.number(7)}),
               minus = b.sum({b.var(tid, -2), b.number(130)});
  const ExprId all[] = {
      b.div(sum, 4),
      b.mod(sum, 6),
      b.div(b.sum({b.mod(sum, 10), b.number(3)}), 2),
      b.mod(b.div(sum, 3), 5),
      b.sum({b.div(minus, 4), b.mod(minus, 7), b.var(tid)}),
      b.select(b.mod(sum, 8), b.number(5), b.div(sum, 2), minus),
      b.sum({b.select(b.var(tid), b.sum({b.var(b.vb, 9), b.number(1)}), b.number(40), b.var(b.vb)), b.var(tid, 2)}),
      b.exclusive_or(b.var(tid), b.mod(b.var(b.vb), 8)),
      b.exclusive_or(b.div(b.sum({b.var(tid), b.number(64)}), 2), b.sum({b.var(b.vb), b.number(8)})),
      b.div(b.exclusive_or(b.var(tid), b.number(5)), 3),
  };
  std::vector<BufferId> outputs;
  for (std::size_t i = 0; i < std::size(all); ++i)
    outputs.push_back(b.out(fmt::format("y{}", i), i % 2 == 0 ? DType::s32 : DType::s64, 192));
  for (std::size_t i = 0; i < std::size(all); ++i)
    b.store(outputs[i], b.sum({b.var(tid), b.var(b.vb, 64)}), b.index(i % 2 == 0 ? DType::s32 : DType::s64, all[i]));
  check_bytes(b.finished(), 6);
}

TEST_CASE("a guard in unrolled loops lets the same elements pass, wherever the turns end that need no branch") {
  for (const std::int64_t bound : {1, 8, 40, 71, 72, 73, 136, 137, 160, 167}) {
    KernelBuilder b("turns", 32, 2);
    const VarId tid = b.thread("tid", 1, 32), t = b.loop_var("t", 5), u = b.loop_var("u", 2);
    const BufferId x = b.in("x", DType::s32, 200), y = b.out("y", DType::s32, 640);
    b.each(u);
    b.each(t);
    const ExprId place = b.sum({b.var(tid), b.var(t, 32), b.var(u, -8), b.var(b.vb, 4), b.number(8)});
    b.guard_less(place, b.number(bound));
    const LetId v = b.load_let("v", x, place);
    b.store(y, b.sum({b.var(tid), b.var(t, 32), b.var(u, 160), b.var(b.vb, 320)}), b.get(v));
    b.end();
    b.end();
    b.end();
    CAPTURE(bound);
    check_bytes(b.finished(), static_cast<std::uint64_t>(bound));
  }
}

TEST_CASE("a window at a place from memory, a persistent loop and a guard on equality run as they are printed") {
  KernelBuilder b("place", 32, 5);
  const VarId tid = b.thread("tid", 1, 32);
  const BufferId x = b.in("x", DType::u8, 512), i = b.in("i", DType::s32, 8), y = b.out("y", DType::u8, 160),
                 n = b.out("n", DType::s64, 5);
  const VarId place = b.loop_var("place", 300);
  b.kernel.indices.vars[place].kind = VarKind::data;
  const LetId from = b.load_let("from", i, b.var(b.vb), Policy::again);
  Stmt bind;
  bind.kind = StmtKind::bind;
  bind.var = place;
  bind.value = b.op(Op::clamp, {b.integer(DType::s32, 0), b.get(from), b.integer(DType::s32, 299)});
  b.kernel.body.push_back(bind);
  const LetId v = b.load_let("v", x, b.sum({b.var(place), b.var(tid, 2)}));
  b.store(y, b.sum({b.var(tid), b.var(b.vb, 32)}), b.get(v));
  b.guard_equal(b.var(tid), b.number(31));
  b.store(n, b.var(b.vb), b.convert(DType::s64, b.get(from)));
  b.end();
  b.kernel.grid = 2;
  b.kernel.persistent = true;
  check_bytes(b.finished(), 5);
}

TEST_CASE("each launch of a program is an entry of one text, and together they leave what the interpreter leaves") {
  for (const int launches : {2, 3})
    for (const auto& [rows, columns, parts] : {std::tuple{5, 512, 2}, std::tuple{4, 3072, 12}, std::tuple{2, 8192, 32}})
      check_bytes(example_split_rows(rows, columns, parts, launches), 7);
}
