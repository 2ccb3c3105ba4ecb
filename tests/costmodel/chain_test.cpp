// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What single statements are counted as: instructions by pipe, steps of the critical path, traffic of
// buffers. In: kernels of a few statements written here. Out: checks against numbers that were counted by
// hand from the rules in docs/model.md, in both modes of counting. Part of the suite `costmodel`.
#include <doctest/doctest.h>

#include <functional>

#include "costmodel/count.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::costmodel;
using ir::DType;
using ir::Op;

namespace {

constexpr int threads = 128, blocks = 2, warps = threads / 32 * blocks;

/// A kernel of two blocks of four warps, an input of floats and an output, and the index of a thread's own element.
struct Small {
  ir::KernelBuilder b{"small", threads, blocks};
  ir::VarId tid = b.thread("tid", 1, threads);
  ir::BufferId x = b.in("x", DType::f32, threads*blocks), w = b.in("w", DType::f32, threads*blocks);
  ir::BufferId y = b.out("y", DType::f32, threads* blocks);
  ir::ExprId own = b.sum({b.var(tid), b.var(b.vb, threads)});

  ir::LetId load(ir::BufferId from, ir::Policy policy = ir::Policy::once) { return b.load_let("v", from, own, policy); }
  void push(ir::StmtKind kind) {
    ir::Stmt s;
    s.kind = kind;
    b.kernel.body.push_back(s);
  }
  /// A value that has a name and is read.
  void read(ir::ValueId value) {
    const ir::LetId named = b.let("v", value);
    b.assign(ir::KernelBuilder::ref(b.array("kept", b.kernel.lets[named].dtype)), b.get(named));
  }
  /// One for each pass of a loop.
  ir::ValueId element(ir::VarId t) {
    return b.element(
        ir::KernelBuilder::at(b.array("each", DType::f32, {b.kernel.indices.vars[t].extent, 0}), b.var(t)));
  }
  Work counted() {
    const Work exact = count(b.kernel, Mode::exact), fast = count(b.kernel, Mode::fast);
    CHECK(exact == fast);
    return exact;
  }
};

struct Priced {
  std::string_view what;
  std::function<void(Small&)> write;
  Pipes pipes;  ///< of one warp
};

/// fma, alu, xu, f64, widen, narrow, memory, shuffle, barrier, control, address
const std::vector<Priced>& priced_statements() {
  const auto op = [](Op which, DType dtype) {
    return [=](Small& k) {
      ir::KernelBuilder& b = k.b;
      const auto number = [&] { return ir::is_floating(dtype) ? b.real(dtype, 2) : b.integer(dtype, 2); };
      if (ir::row(which).arity == 1)
        k.read(b.op(which, {number()}));
      else
        k.read(b.op(which, {number(), number()}));
    };
  };
  const auto as = [](ir::Arithmetic arithmetic, const auto& write) {
    return [=](Small& k) {
      k.b.kernel.arithmetic = arithmetic;
      write(k);
    };
  };
  const auto convert = [](DType from, DType to) {
    return [=](Small& k) { k.read(k.b.convert(to, ir::is_floating(from) ? k.b.real(from, 1) : k.b.integer(from, 1))); };
  };
  const auto compare = [](DType dtype) {
    return [=](Small& k) {
      const auto one = [&] { return ir::is_floating(dtype) ? k.b.real(dtype, 1) : k.b.integer(dtype, 1); };
      k.read(k.b.compare(ir::Comparison::lt, one(), one()));
    };
  };
  const auto shuffle = [](Op which, DType dtype, int lanes) {
    return [=](Small& k) { k.b.shuffle(ir::KernelBuilder::ref(k.b.array("s", dtype)), which, lanes); };
  };
  const auto exchange = [](DType dtype) {
    return [=](Small& k) {
      const auto one = ir::is_floating(dtype) ? k.b.real(dtype, 1) : k.b.integer(dtype, 1);
      k.b.exchange("other", one, 4, 32);
    };
  };
  const auto loop = [](bool unrolled) {
    return [=](Small& k) {
      const ir::VarId t = k.b.loop_var("t", 5);
      k.b.loop(t, unrolled);
      k.read(k.b.op(Op::add, {k.element(t), k.b.real(DType::f32, 2)}));
      k.b.end();
    };
  };
  const auto remainder = [](bool unrolled) {
    return [=](Small& k) {
      if (unrolled) k.b.each(k.b.loop_var("t", 5));
      k.b.load_let("v", k.x, k.b.mod(k.own, 7), ir::Policy::again);
      if (unrolled) k.b.end();
    };
  };
  const auto remainders = [](bool guarded, std::int64_t apart) {
    return [=](Small& k) {
      const ir::ExprId place = k.b.mod(k.own, 7);
      k.b.load_let("v", k.x, place, ir::Policy::again);
      if (guarded) k.b.guard_less(k.own, k.b.number(threads * blocks - 1));
      k.b.load_let("u", k.x, k.b.sum({place, k.b.number(apart)}), ir::Policy::again);
      if (guarded) k.b.end();
    };
  };
  static const std::vector<Priced> all = {
      {"add f32", op(Op::add, DType::f32), {.fma = 1}},
      {"add f64", op(Op::add, DType::f64), {.f64 = 1}},
      {"tanh f64", op(Op::tanh, DType::f64), {.f64 = 15}},
      {"add s32", op(Op::add, DType::s32), {.alu = 1}},
      {"add s64", op(Op::add, DType::s64), {.alu = 2}},
      {"maximum s64", op(Op::maximum, DType::s64), {.alu = 4}},
      {"maximum f32", op(Op::maximum, DType::f32), {.alu = 1, .extremes = 1}},
      {"clamp f64",
       [](Small& k) {
         const auto number = [&] { return k.b.real(DType::f64, 1); };
         k.read(k.b.op(Op::clamp, {number(), number(), number()}));
       },
       {.alu = 4, .f64 = 4}},
      {"multiply s32", op(Op::multiply, DType::s32), {.fma = 1}},
      {"multiply s64", op(Op::multiply, DType::s64), {.fma = 2}},
      {"multiply f32", op(Op::multiply, DType::f32), {.fma = 1}},
      {"exp as XLA", op(Op::exp, DType::f32), {.fma = 2, .xu = 1}},
      {"exp exactly", as(ir::Arithmetic::ieee, op(Op::exp, DType::f32)), {.fma = 6, .alu = 1, .xu = 1}},
      {"divide as XLA", op(Op::divide, DType::f32), {.fma = 3, .alu = 4, .xu = 1}},
      {"divide exactly", as(ir::Arithmetic::ieee, op(Op::divide, DType::f32)), {.fma = 5, .xu = 2}},
      {"divide roughly", as(ir::Arithmetic::approx, op(Op::divide, DType::f32)), {.fma = 1, .xu = 1}},
      {"compare f32", compare(DType::f32), {.alu = 1}},
      {"compare f64", compare(DType::f64), {.f64 = 1}},
      {"compare s64", compare(DType::s64), {.alu = 2}},
      {"bf16 to f32", convert(DType::bf16, DType::f32), {.alu = 1}},
      {"f16 to f32", convert(DType::f16, DType::f32), {.widen = 1}},
      {"f32 to f16", convert(DType::f32, DType::f16), {.pack = 1}},
      {"f32 to bf16", convert(DType::f32, DType::bf16), {.pack = 1}},
      {"s32 to f32", convert(DType::s32, DType::f32), {.number = 1}},
      {"f32 to s32", convert(DType::f32, DType::s32), {.narrow = 1}},
      {"f8e4m3fn to f32", convert(DType::f8e4m3fn, DType::f32), {.alu = 1, .widen = 1, .pack = 1}},
      {"f32 to f8e4m3fnuz", convert(DType::f32, DType::f8e4m3fnuz), {.fma = 1, .alu = 14}},
      {"s32 to f8e5m2", convert(DType::s32, DType::f8e5m2), {.alu = 6, .pack = 1, .number = 1}},
      {"s32 to s64", convert(DType::s32, DType::s64), {.alu = 1}},
      {"f32 to f32", convert(DType::f32, DType::f32), {}},
      {"sum over 32 lanes", shuffle(Op::add, DType::f32, 32), {.fma = 5, .shuffle = 5}},
      {"greatest of 8 lanes", shuffle(Op::maximum, DType::f32, 8), {.alu = 3, .extremes = 3, .shuffle = 3}},
      {"sum of 16 doubles", shuffle(Op::add, DType::f64, 16), {.f64 = 4, .shuffle = 8}},
      {"exchange of f32", exchange(DType::f32), {.shuffle = 1}},
      {"exchange of f64", exchange(DType::f64), {.shuffle = 2}},
      {"exchange of a predicate", exchange(DType::pred), {.alu = 2, .shuffle = 1}},
      {"rolled loop", loop(false), {.fma = 5, .control = 10}},
      {"unrolled loop", loop(true), {.fma = 5}},
      {"load", [](Small& k) { k.load(k.x); }, {.memory = 1, .address = 1}},
      {"load at a remainder", remainder(false), {.memory = 1, .address = 4}},
      {"the same in all copies", remainder(true), {.memory = 5, .address = 3}},
      {"loads a constant apart", remainders(false, 1), {.memory = 2, .address = 4}},
      {"a remainder around a guard", remainders(true, 0), {.memory = 2, .control = 1, .address = 4}},
      {"a register that starts from a number",
       [](Small& k) {
         k.b.declare(k.b.array("s", DType::f64, {0, 0}, 2), k.b.real(DType::f64, 1));
       },
       {.control = 4}},
      {"store", [](Small& k) { k.b.store(k.y, k.own, k.b.real(DType::f32, 1)); }, {.memory = 1, .address = 1}},
      {"atomic sum",
       [](Small& k) { k.b.atomic(k.y, k.own, Op::add, k.b.op(Op::negate, {k.b.real(DType::f32, 1)})); },
       {.fma = 1, .memory = 1, .address = 1}},
      {"accumulation",
       [](Small& k) {
         k.b.assign(ir::KernelBuilder::ref(k.b.array("s", DType::f32)), k.b.real(DType::f32, 1), Op::add);
       },
       {.fma = 1}},
      {"a number of the index", [](Small& k) { k.read(k.b.index(DType::s32, k.own)); }, {.alu = 1}},
      {"guard",
       [](Small& k) {
         k.b.guard_less(k.own, k.b.number(999));
         k.b.end();
       },
       {.control = 1}},
      {"barrier", [](Small& k) { k.b.barrier(); }, {.barrier = 1}},
      {"fence", [](Small& k) { k.push(ir::StmtKind::fence); }, {.memory = 1}},
      {"issue", [](Small& k) { k.push(ir::StmtKind::issue); }, {.control = 2}},
  };
  return all;
}

}  // namespace

TEST_CASE("each kind of statement takes its instructions on its pipes") {
  for (const Priced& row : priced_statements()) {
    CAPTURE(row.what);
    Small k;
    row.write(k);
    const Work work = k.counted();
    Pipes all;
    for (const auto field : {&Pipes::fma, &Pipes::alu, &Pipes::xu, &Pipes::f64, &Pipes::widen, &Pipes::pack,
                             &Pipes::number, &Pipes::narrow, &Pipes::memory, &Pipes::shuffle, &Pipes::barrier,
                             &Pipes::control, &Pipes::address, &Pipes::extremes})
      all.*field = row.pipes.*field * warps;
    CHECK(work.pipes == all);
    CHECK(work.busiest_block == instructions(all) / blocks);
    CHECK(work.shuffles == all.shuffle);
    CHECK(work.barriers == all.barrier);
  }
}

TEST_CASE("loads between two waits are one trip, and a barrier or a shuffle begins the next") {
  Small k;
  ir::KernelBuilder& b = k.b;
  const ir::ArrayId s = b.array("s", DType::f32);
  const ir::LetId first = k.load(k.x), second = k.load(k.w), third = k.load(k.x, ir::Policy::again);
  b.barrier();
  k.load(k.x);
  b.assign(b.ref(s), b.op(Op::add, {b.op(Op::multiply, {b.get(first), b.get(second)}), b.get(third)}));
  b.shuffle(b.ref(s), Op::add, 32);
  const ir::LetId last = k.load(k.w, ir::Policy::again);
  b.store(k.y, k.own, b.get(last));
  const Work work = k.counted();
  CriticalPath path;
  path.memory = 3;
  path.far = 2;      // the last trip reads what others have read
  path.further = 1;  // the first waits for two buffers
  path.barrier = 1;
  path.shuffle = 5;
  path.arithmetic = 2 + 5;
  CHECK(work.critical_path == path);
  CHECK(work.loads_in_flight == 3);
  CHECK(work.bytes_in_flight == 6 * 4 / 3.0);
}

TEST_CASE("turns of a rolled loop follow one another, copies of an unrolled one stand side by side") {
  struct Row {
    std::string_view what;
    int rolled, unrolled;
    bool waits;  ///< a barrier in the innermost loop
    double memory, arithmetic, barriers;
    std::int64_t together;
  };
  // Each pass loads, squares and accumulates: one step for the product, one for each copy of the sum.
  for (const Row& row : {Row{"no loop", 1, 1, false, 1, 2, 0, 1},
                         {"rolled", 6, 1, false, 6, 12, 0, 1},
                         {"unrolled", 1, 4, false, 1, 5, 0, 4},
                         {"unrolled in rolled", 6, 4, false, 6, 30, 0, 4},
                         {"unrolled around a barrier", 1, 4, true, 4, 8, 4, 1},
                         {"both around a barrier", 3, 4, true, 12, 24, 12, 1}}) {
    CAPTURE(row.what);
    Small k;
    ir::KernelBuilder& b = k.b;
    const ir::ArrayId sum = b.array("sum", DType::f32);
    b.declare(sum, b.real(DType::f32, 0));
    if (row.rolled > 1) b.loop(b.loop_var("t", row.rolled));
    if (row.unrolled > 1) b.each(b.loop_var("e", row.unrolled));
    const ir::LetId v = k.load(k.x);
    b.assign(b.ref(sum), b.op(Op::multiply, {b.get(v), b.get(v)}), Op::add);
    if (row.waits) b.barrier();
    if (row.unrolled > 1) b.end();
    if (row.rolled > 1) b.end();
    const Work work = k.counted();
    CHECK(work.critical_path.memory == row.memory);
    CHECK(work.critical_path.far == row.memory);
    CHECK(work.critical_path.arithmetic == row.arithmetic);
    CHECK(work.critical_path.barrier == row.barriers);
    CHECK(work.loads_in_flight == row.together);
    CHECK(work.bytes_in_flight == 4.0 * row.rolled * row.unrolled / row.memory);
  }
}

TEST_CASE("of exclusive arms a warp takes the longest, and a guard that stands for the rest costs nothing") {
  const auto arms = [](bool exclusive) {
    Small k;
    ir::KernelBuilder& b = k.b;
    const ir::ArrayId v = b.array("v", DType::f32);
    b.declare(v);
    b.guard_less(b.var(k.tid), b.number(64));
    b.load(b.ref(v), k.x, k.own, 1);
    b.barrier();  // so that what follows is another trip
    b.load(b.ref(v), k.x, k.own, 1);
    b.end();
    b.guard_less(b.number(63), b.var(k.tid));
    b.kernel.body.back().otherwise = exclusive;
    b.load(b.ref(v), k.w, k.own, 1);
    b.end();
    return count(b.kernel, Mode::exact);  // the fast count of distinct bytes is an upper bound here
  };
  const Work both = arms(false), one = arms(true);
  CHECK(both.critical_path.memory == 2);
  CHECK(both.critical_path.further == 1);  // the second trip waits for both buffers
  CHECK(one.critical_path.memory == 2);
  CHECK(one.critical_path.further == 0);
  CHECK(one.critical_path.barrier == 1);
  CHECK(both.bytes_in_flight == 6);
  CHECK(one.bytes_in_flight == 4);
  CHECK(both.pipes.control - one.pipes.control == warps);
  CHECK(one.buffers[0].load == both.buffers[0].load);
}

TEST_CASE("exchanges that follow one another are one step, and what stands between parts them") {
  const auto steps = [](bool between) {
    Small k;
    const ir::ValueId one = k.b.real(DType::f32, 1);
    k.b.exchange("a", one, 1, 32);
    k.b.exchange("b", one, 1, 32);
    if (between) k.b.let("c", one);
    k.b.exchange("d", one, 2, 32);
    return k.counted().critical_path.shuffle;
  };
  CHECK(steps(false) == 1);
  CHECK(steps(true) == 2);
}

TEST_CASE("shuffles of independent sums are taken in turns, those that need one another follow") {
  struct Row {
    std::string_view what;
    std::function<void(Small&, ir::ArrayId, ir::ArrayId)> write;
    double shuffles, arithmetic;
  };
  const auto four = [](bool rolled, const auto& inside) {
    return [=](Small& k, ir::ArrayId s, ir::ArrayId t) {
      const ir::VarId q = k.b.loop_var("q", 4);
      k.b.loop(q, !rolled);
      inside(k.b, s, t, k.b.var(q));
      k.b.end();
    };
  };
  using Builder = ir::KernelBuilder;
  const auto own = [](Builder& b, ir::ArrayId s, ir::ArrayId, ir::ExprId q) {
    b.shuffle(Builder::at(s, q), Op::add, 32);
  };
  const auto both = [](Builder& b, ir::ArrayId s, ir::ArrayId t, ir::ExprId q) {
    b.shuffle(Builder::at(s, q), Op::add, 8);
    b.shuffle(Builder::at(t, q), Op::add, 32);
  };
  const auto same = [](Builder& b, ir::ArrayId s, ir::ArrayId, ir::ExprId) {
    b.shuffle(Builder::at(s, b.number(0)), Op::add, 32);
  };
  const auto apart = [](Builder& b, ir::ArrayId s, ir::ArrayId t, ir::ExprId q) {
    b.shuffle(Builder::at(s, q), Op::add, 32);
    b.assign(Builder::at(t, q), b.real(DType::f32, 1), Op::add);
    b.shuffle(Builder::at(t, q), Op::add, 32);
  };
  const auto again = [](Builder& b, ir::ArrayId s, ir::ArrayId, ir::ExprId q) {
    b.shuffle(Builder::at(s, q), Op::add, 32);
    b.shuffle(Builder::at(s, q), Op::maximum, 32);
  };
  const auto loads = [](Builder& b, ir::ArrayId s, ir::ArrayId, ir::ExprId q) {
    b.load_let("v", 0, b.number(0));
    b.shuffle(Builder::at(s, q), Op::add, 32);
  };
  const auto sums = [](Builder& b, ir::ArrayId s, ir::ArrayId, ir::ExprId q) {
    b.assign(Builder::at(s, q), b.real(DType::f32, 1), Op::add);
  };
  for (const Row& row :
       {Row{"each its own", four(false, own), 5, 5}, Row{"two each", four(false, both), 5, 5},
        Row{"one for all", four(false, same), 20, 20}, Row{"a statement between", four(false, apart), 10, 11},
        Row{"the same again", four(false, again), 10, 10}, Row{"rolled", four(true, own), 20, 20},
        Row{"with a load", four(false, loads), 20, 20}, Row{"no shuffle", four(false, sums), 0, 1}}) {
    CAPTURE(row.what);
    Small k;
    const ir::ArrayId s = k.b.array("s", DType::f32, {4, 0}), t = k.b.array("t", DType::f32, {4, 0});
    row.write(k, s, t);
    const Work work = k.counted();
    CHECK(work.critical_path.shuffle == row.shuffles);
    CHECK(work.critical_path.arithmetic == row.arithmetic);
  }
}

TEST_CASE("the deepest way through an expression is what is waited for, and shared memory has trips of its own") {
  Small k;
  ir::KernelBuilder& b = k.b;
  const ir::ArrayId s = b.shared("s", DType::f32, threads);
  const ir::LetId v = k.load(k.x);
  const auto negated = [&](ir::ValueId a) { return b.op(Op::negate, {a}); };
  b.let("deep", b.op(Op::add, {b.op(Op::exp, {b.get(v)}), negated(negated(b.get(v)))}));
  b.let("flat", b.convert(DType::f16, b.get(v)));
  b.store_shared(s, b.var(k.tid), b.get(v));
  b.barrier();
  const ir::ArrayId part = b.array("part", DType::f32);
  b.load_shared(b.ref(part), s, b.var(k.tid), 1);
  b.load_shared(b.ref(part), s, b.number(0), 1);
  const Work work = k.counted();
  CriticalPath path;
  path.memory = path.far = 1;
  path.shared = 1;
  path.barrier = 1;
  path.xu = 1;
  path.arithmetic = 2 + 1 + 1;  // exp's other instructions, the sum, the conversion
  CHECK(work.critical_path == path);
  CHECK(work.loads_in_flight == 1);
  CHECK(work.bytes_in_flight == 4);
}

TEST_CASE("a fence waits, an atomic waits only where its result is asked for, and both go to L2") {
  Small k;
  k.load(k.x);
  k.push(ir::StmtKind::fence);
  k.b.atomic(k.y, k.own, Op::add, k.b.real(DType::f32, 1));
  k.load(k.x);
  Work work = k.counted();
  CHECK(work.critical_path.memory == 3);
  CHECK(work.critical_path.far == 2);
  CHECK(work.critical_path.coherent == 1);
  k.b.kernel.lets.push_back({"before", DType::f32});
  k.b.kernel.body[2].let = static_cast<ir::LetId>(k.b.kernel.lets.size() - 1);
  work = count(k.b.kernel, Mode::fast);
  CHECK(work.critical_path.memory == 4);
  CHECK(work.critical_path.far == 2);
  CHECK(work.critical_path.coherent == 2);
}

TEST_CASE("loads, stores and atomics of a buffer stand in rows of their own, and what is loaded over is told apart") {
  ir::Kernel kernel = ir::example_in_place();
  for (ir::Stmt& s : kernel.body)
    if (s.kind == ir::StmtKind::barrier) s.scope = ir::StitchLevel::block;
  for (const Mode mode : {Mode::exact, Mode::fast}) {
    const Work work = count(kernel, mode);  // 2 warps in each of 4 blocks; 256 floats are 32 sectors
    const Traffic all{8, 32, 1024}, none{};
    REQUIRE(work.buffers.size() == 4);
    CHECK(work.buffers[0].load == all);
    CHECK(work.buffers[0].reload_sectors == 32);
    CHECK(work.buffers[0].store == none);
    CHECK(work.buffers[1].store == all);
    CHECK(work.buffers[2].store == all);
    CHECK(work.buffers[2].atomic == none);
    CHECK(work.buffers[3].atomic == Traffic{8, 8, 1024});
    CHECK(work.buffers[3].store == none);
    CHECK(work.buffers[3].load == none);
  }
}

TEST_CASE("elements that two indices reach count once") {
  struct Row {
    std::int64_t stride, shift, distinct;
  };
  // x[stride * i] and x[stride * i + shift] for 256 threads.
  for (const Row& row :
       {Row{1, 0, 256}, {1, 1, 257}, {1, 100, 356}, {2, 1, 512}, {2, 2, 257}, {4, 8, 258}, {1, 300, 512}}) {
    CAPTURE(row.stride);
    CAPTURE(row.shift);
    ir::KernelBuilder b("two", threads, blocks);
    const ir::VarId tid = b.thread("tid", 1, threads);
    const ir::BufferId x = b.in("x", DType::f32, 2000), y = b.out("y", DType::f32, threads * blocks);
    const ir::ExprId at = b.sum({b.var(tid, row.stride), b.var(b.vb, row.stride * threads)});
    const ir::LetId v = b.load_let("v", x, at), w = b.load_let("w", x, b.sum({at, b.number(row.shift)}));
    b.store(y, b.sum({b.var(tid), b.var(b.vb, threads)}), b.op(Op::add, {b.get(v), b.get(w)}));
    CHECK(count(b.kernel, Mode::exact).buffers[0].read_bytes == 4 * row.distinct);
    const std::int64_t fast = count(b.kernel, Mode::fast).buffers[0].read_bytes;
    if (row.shift < 300)
      CHECK(fast == 4 * row.distinct);
    else
      CHECK(fast >= 4 * row.distinct);  // a gap between the two is bounded, not seen
  }
}

TEST_CASE("guards hold to the last index and not beyond, wherever they end") {
  // Threads of two blocks, each with three turns: element tid + 128 turn + 384 block, from `low` to below `high`.
  const auto kernel_of = [](std::int64_t low, std::int64_t high) {
    ir::KernelBuilder b("guarded", threads, blocks);
    const ir::VarId tid = b.thread("tid", 1, threads), turn = b.loop_var("turn", 3);
    const ir::BufferId x = b.in("x", DType::f32, 768), y = b.out("y", DType::f32, 768);
    b.loop(turn);
    const ir::ExprId at = b.sum({b.var(tid), b.var(turn, threads), b.var(b.vb, 3 * threads)});
    b.guard_less(b.number(low - 1), at);
    b.guard_less(at, b.number(high));
    const ir::LetId v = b.load_let("v", x, at);
    b.store(y, at, b.get(v));
    b.end();
    b.end();
    b.end();
    return b.finished();
  };
  for (std::int64_t high = 0; high <= 768; high += high % 128 < 4 || high % 128 > 124 ? 1 : 30)
    for (const std::int64_t low : {0, 1, 127, 128, 129, 384, 500}) {
      CAPTURE(low);
      CAPTURE(high);
      const ir::Kernel kernel = kernel_of(low, high);
      const Work exact = count(kernel, Mode::exact), fast = count(kernel, Mode::fast);
      REQUIRE(exact.buffers[0].load.bytes == 4 * std::max<std::int64_t>(0, high - low));
      REQUIRE(exact.pipes == fast.pipes);
      REQUIRE(exact.buffers[0].load == fast.buffers[0].load);
      REQUIRE(exact.buffers[1].store == fast.buffers[1].store);
      REQUIRE(exact.busiest_block == fast.busiest_block);
    }
}

TEST_CASE("code holds what a warp executes, a rolled loop's body once, and what ordinary operands do not enter") {
  // Without guards and rolled loops a warp executes all of it.
  for (const int lanes : {8, 32, 128}) {
    const Work work = count(ir::example_layer_norm(4096, 6, lanes), Mode::fast);
    const std::int64_t warps = work.virtual_blocks * work.threads / 32;
    CAPTURE(lanes);
    if (lanes <= 32) CHECK(work.code_instructions * warps == instructions(work.pipes));
    CHECK(work.code_instructions * warps >= instructions(work.pipes));
  }
  const auto code_of = [](Op op, ir::Arithmetic arithmetic, bool unrolled, int passes) {
    Small k;
    k.b.kernel.arithmetic = arithmetic;
    const ir::VarId t = k.b.loop_var("t", passes);
    k.b.loop(t, unrolled);
    k.read(k.b.op(op, {k.element(t)}));
    k.b.end();
    return k.counted().code_instructions;
  };
  constexpr ir::Arithmetic xla = ir::Arithmetic::xla, ieee = ir::Arithmetic::ieee;
  CHECK(code_of(Op::tanh, xla, true, 5) == 5 * 15);
  CHECK(code_of(Op::tanh, xla, false, 5) == 15 + 2);
  CHECK(code_of(Op::cos, xla, true, 5) == 5 * (23 + 68));
  CHECK(code_of(Op::sqrt, xla, true, 5) == 5 * 4);
  CHECK(code_of(Op::sqrt, ieee, true, 5) == 5 * (7 + 10));
}

TEST_CASE("copies whose machine code branches are computed one after the other, others side by side") {
  const auto path_of = [](Op op, ir::Arithmetic arithmetic, DType dtype) {
    Small k;
    k.b.kernel.arithmetic = arithmetic;
    k.b.each(k.b.loop_var("q", 3));
    k.b.each(k.b.loop_var("e", 4));
    const ir::ValueId two = ir::is_floating(dtype) ? k.b.real(dtype, 2) : k.b.integer(dtype, 2);
    const ir::ValueId branching = ir::row(op).arity == 1 ? k.b.op(op, {two}) : k.b.op(op, {two, two});
    k.b.let("v", k.b.op(Op::add, {branching, two}));
    k.b.end(), k.b.end();
    return k.counted().critical_path;
  };
  constexpr ir::Arithmetic xla = ir::Arithmetic::xla, ieee = ir::Arithmetic::ieee;
  CHECK(path_of(Op::tanh, xla, DType::f32).arithmetic == 9 + 4 + 1);
  CHECK(path_of(Op::cos, xla, DType::f32).arithmetic == 12 * (11 + 11 + 1));
  CHECK(path_of(Op::cos, xla, DType::f32).xu == 12);
  CHECK(path_of(Op::sqrt, xla, DType::f32).xu == 1);
  CHECK(path_of(Op::sqrt, ieee, DType::f32).xu == 12);
  CHECK(path_of(Op::divide, xla, DType::f32).xu == 1);
  CHECK(path_of(Op::divide, xla, DType::s32).xu == ir::row(Op::divide).xu);
  CHECK(path_of(Op::power, xla, DType::s32).xu == 12 * ir::row(Op::power).xu);
}

TEST_CASE("of loads behind a guard that asks for a copy's number alone as many travel together as copies pass it") {
  for (const std::int64_t pass : {1, 3, 4}) {
    Small k;
    const ir::VarId e = k.b.loop_var("e", 4);
    k.b.each(e);
    k.b.guard_less(k.b.var(e), k.b.number(pass));
    k.load(k.x);
    k.b.end(), k.b.end();
    const Work work = k.counted();
    CHECK(work.loads_in_flight == pass);
  }
  // Of threads nobody knows which they are.
  Small k;
  const ir::VarId e = k.b.loop_var("e", 4);
  k.b.each(e);
  k.b.guard_less(k.b.sum({k.b.var(e), k.b.var(k.tid)}), k.b.number(2));
  k.load(k.x);
  k.b.end(), k.b.end();
  CHECK(count(k.b.kernel, Mode::exact).loads_in_flight == 4);
}
