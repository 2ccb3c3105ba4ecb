// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Registers that a program keeps alive, rule by rule. In: kernels of a few statements written here. Out: checks against
// numbers that were counted by hand from the rules at the head of live.cpp. What a compiler makes of whole kernels is
// compared by tests/bench/registers_bench. Part of the suite `costmodel`.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "costmodel/count.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::costmodel;
using ir::DType;
using ir::Op;

namespace {

constexpr int block_threads = 128, grid_blocks = 2;
constexpr std::int64_t live_elements = 1 << 20;

/// A kernel in which an index `own` of block and thread stands.
struct LiveProgram {
  ir::KernelBuilder b{"small", block_threads, grid_blocks};
  ir::VarId tid = b.thread("tid", 1, block_threads);
  ir::BufferId x = b.in("x", DType::f32, live_elements), w = b.in("w", DType::f32, live_elements);
  ir::BufferId y = b.out("y", DType::f32, live_elements);
  ir::ExprId own = b.sum({b.var(tid), b.var(b.vb, block_threads)});

  int live() { return count(b.kernel, Mode::fast).live_registers; }
  int early() { return count(b.kernel, Mode::fast).early_registers; }
  ir::ArrayId array(DType dtype, std::array<std::int64_t, 2> dims, int vector) {
    return b.array("a", dtype, dims, vector);
  }
  /// An array that is alive in one place.
  void hold(DType dtype, std::array<std::int64_t, 2> dims, int vector) {
    b.declare(array(dtype, dims, vector), b.real(dtype, 1));
  }
  /// A loop over the elements of a vector of four: `to` = `op` of `from`.
  void each_element(const ir::Ref& from, const ir::Ref& to, Op op) {
    const ir::VarId e = b.loop_var("e", 4);
    b.each(e);
    const ir::LetId result = b.let("r", b.op(op, {b.element({from.array, from.subs, b.var(e)})}));
    b.assign({to.array, to.subs, b.var(e)}, b.get(result));
    b.end();
  }
};

}  // namespace

TEST_CASE("a value lives until a statement writes over it, in words of 32 bits") {
  const auto sum_of = [](DType dtype) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::BufferId from = b.in("v", dtype, live_elements), to = b.out("u", dtype, live_elements);
    const ir::LetId first = b.load_let("first", from, k.own), second = b.load_let("second", from, k.own);
    const ir::LetId sum = b.let("sum", b.op(Op::add, {b.get(first), b.get(second)}));
    b.store(to, k.own, b.get(sum));
    return k.live();
  };
  CHECK(sum_of(DType::f32) == 2);  // the sum takes the place of a term
  CHECK(sum_of(DType::f64) == 4);
  CHECK(sum_of(DType::f16) == 2);
  const auto held = [](DType dtype, std::array<std::int64_t, 2> dims, int vector) {
    LiveProgram k;
    k.hold(dtype, dims, vector);
    return k.live();
  };
  CHECK(held(DType::f32, {0, 0}, 1) == 1);
  CHECK(held(DType::f32, {3, 0}, 4) == 12);
  CHECK(held(DType::f32, {3, 5}, 2) == 30);
  CHECK(held(DType::f16, {3, 0}, 1) == 2);
  CHECK(held(DType::f64, {3, 0}, 1) == 6);
  LiveProgram k;  // what lives and dies before is not there at the same time
  for (const int words : {5, 7, 6}) k.hold(DType::f32, {words, 0}, 1);
  CHECK(k.live() == 7);
}

TEST_CASE("what a loop needs again lives to its end, with its counter and the parts of indices that it holds") {
  struct Row {
    std::string_view what;
    bool first, last, behind;
    int registers;
  };
  // Eight registers in the loop. The counter alone is the one index that the model's base has.
  for (const Row& row : {Row{"nobody reads it", false, false, false, 8},
                         {"its first statement does", true, false, false, 8 + 1 + 1},
                         {"its last statement does", false, true, false, 8 + 1 + 1},
                         {"it is read behind", false, false, true, 8 + 1 + 1}}) {
    CAPTURE(row.what);
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::LetId before = b.load_let("v", k.x, k.own);
    const auto use = [&] { b.store(k.y, k.own, b.get(before)); };
    b.loop(b.loop_var("t", 5));
    if (row.first) use();
    k.hold(DType::f32, {8, 0}, 1);
    if (row.last) use();
    b.end();
    if (row.behind) use();
    CHECK(k.live() == row.registers);
  }
}

TEST_CASE("a loop walks through each buffer by a pointer of two registers, and its copies need none") {
  const auto walked = [](bool unrolled, int buffers) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::VarId t = b.loop_var("t", 5);
    b.loop(t, unrolled);
    for (int i = 0; i < buffers; ++i) {
      const ir::LetId v = b.load_let("v", i == 0 ? k.x : k.w, b.sum({k.own, b.var(t, 4096)}));
      b.store(k.y, k.own, b.get(v));
    }
    b.end();
    return k.live();
  };
  CHECK(walked(true, 1) == 4);  // four copies side by side
  CHECK(walked(true, 2) == 4);
  // A value; the counter, the place that is written, the pointers; less the index that the model's base has.
  CHECK(walked(false, 1) == 1 + 2 + 2 - 1);
  CHECK(walked(false, 2) == 1 + 2 + 4 - 1);
}

TEST_CASE(
    "a part of an index is held from its first to its last use, and a variable until it is part of the last one") {
  const auto parts = [](const std::function<void(LiveProgram&)>& between) {
    LiveProgram k;
    const ir::LetId v = k.b.load_let("v", k.x, k.own);
    between(k);
    k.b.store(k.y, k.own, k.b.get(v));
    return k.live();
  };
  CHECK(parts([](LiveProgram&) {}) == 1);
  // lane and vb are needed until the second part is made of them; then the two parts are there.
  CHECK(parts([](LiveProgram& k) {
          const ir::ExprId other = k.b.sum({k.b.var(k.tid, 4), k.b.var(k.b.vb)});
          const ir::LetId u = k.b.load_let("u", k.w, other);
          k.b.store(k.y, other, k.b.get(u));
        }) == 1 + 2);
}

TEST_CASE("arrays that a nest of unrolled loops goes through give their registers one by one to others") {
  LiveProgram k;
  ir::KernelBuilder& b = k.b;
  const ir::ArrayId from = k.array(DType::f32, {6, 0}, 4), to = k.array(DType::f32, {6, 0}, 4);
  const auto over = [&](const std::function<void(ir::VarId)>& body) {
    const ir::VarId t = b.loop_var("t", 6);
    b.each(t);
    body(t);
    b.end();
  };
  over([&](ir::VarId t) { b.load(b.at(from, b.var(t), b.number(0)), k.x, b.sum({k.own, b.var(t, 4096)}), 4); });
  over([&](ir::VarId t) { k.each_element(b.at(from, b.var(t)), b.at(to, b.var(t)), Op::negate); });
  over([&](ir::VarId t) { b.store(k.y, b.sum({k.own, b.var(t, 4096)}), 4, b.at(to, b.var(t), b.number(0))); });
  CHECK(k.live() == 24);
}

TEST_CASE("the elements of a vector stand side by side, each with what its function holds on the way") {
  const auto mapped = [](Op op) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::ArrayId from = k.array(DType::f32, {0, 0}, 4), to = k.array(DType::f32, {0, 0}, 4);
    b.load(b.ref(from, b.number(0)), k.x, k.own, 4);
    k.each_element(b.ref(from), b.ref(to), op);
    b.store(k.y, k.own, 4, b.ref(to, b.number(0)));
    return k.live();
  };
  CHECK(mapped(Op::negate) == 4);
  CHECK(mapped(Op::exp) == 4 + 4);   // a few instructions: one number beside the result
  CHECK(mapped(Op::tanh) == 4 + 8);  // a quotient of two polynomials: two
}

TEST_CASE("numbers of 16 bits that are converted twice are kept as what they are converted to") {
  const auto kept = [](int times) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::BufferId h = b.in("h", DType::f16, live_elements);
    const ir::ArrayId from = k.array(DType::f16, {0, 0}, 8), sum = k.array(DType::f32, {0, 0}, 1);
    b.load(b.ref(from, b.number(0)), h, k.own, 8);
    b.declare(sum, b.real(DType::f32, 0));
    for (int i = 0; i < times; ++i) {
      const ir::VarId e = b.loop_var("e", 8);
      b.each(e);
      b.assign(b.ref(sum), b.convert(DType::f32, b.element(b.ref(from, b.var(e)))), Op::add);
      b.end();
    }
    b.store(k.y, k.own, b.element(b.ref(sum)));
    return k.live();
  };
  CHECK(kept(1) == 4);  // the sum takes the place of the first
  CHECK(kept(2) == 8 + 1);
}

TEST_CASE("a value that an array keeps is converted where the value is") {
  // A row of 16-bit results: each is widened for a sum where it is made, and the row is widened again in a later loop.
  const auto kept = [](bool for_sum, bool later) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::BufferId h = b.in("h", DType::f16, live_elements);
    const ir::ArrayId from = k.array(DType::f16, {0, 0}, 8), row = k.array(DType::f16, {0, 0}, 8);
    const ir::ArrayId sum = k.array(DType::f32, {0, 0}, 1), to = k.array(DType::f32, {0, 0}, 1);
    b.load(b.ref(from, b.number(0)), h, k.own, 8);
    b.declare(sum, b.real(DType::f32, 0));
    const ir::VarId e = b.loop_var("e", 8);
    b.each(e);
    const ir::ValueId wide = b.convert(DType::f32, b.element(b.ref(from, b.var(e))));
    const ir::LetId narrow = b.let("n", b.convert(DType::f16, b.op(Op::negate, {wide})));
    if (for_sum) b.assign(b.ref(sum), b.convert(DType::f32, b.get(narrow)), Op::add);
    b.assign(b.ref(row, b.var(e)), b.get(narrow));
    b.end();
    k.hold(DType::f32, {0, 0}, 16);
    b.declare(to, b.real(DType::f32, 0));
    const ir::VarId again = b.loop_var("f", 8);
    b.each(again);
    if (later) b.assign(b.ref(to), b.convert(DType::f32, b.element(b.ref(row, b.var(again)))), Op::add);
    b.end();
    b.store(k.y, k.own, b.element(b.ref(to)));
    b.store(k.y, k.own, b.element(b.ref(sum)));
    return k.live();
  };
  CHECK(kept(false, true) == 16 + 4);
  CHECK(kept(true, true) == 16 + 8 + 1);  // and the sum
  CHECK(kept(true, false) == 16 + 1);
}

TEST_CASE("an array that begins with a constant takes a register where it is used, truth values up to seven none") {
  LiveProgram k;
  ir::KernelBuilder& b = k.b;
  const ir::ArrayId from = k.array(DType::f32, {0, 0}, 4), sums = k.array(DType::f32, {0, 0}, 4);
  b.declare(sums, b.real(DType::f32, 0));
  b.load(b.ref(from, b.number(0)), k.x, k.own, 4);
  k.each_element(b.ref(from), b.ref(sums), Op::negate);
  b.store(k.y, k.own, 4, b.ref(sums, b.number(0)));
  CHECK(k.live() == 4);
  const auto chosen = [](int truths) {
    LiveProgram p;
    const ir::LetId first = p.b.load_let("first", p.x, p.own), second = p.b.load_let("second", p.w, p.own);
    std::vector<ir::LetId> all;
    for (int i = 0; i < truths; ++i)
      all.push_back(p.b.let("t", p.b.compare(ir::Comparison::lt, p.b.get(first), p.b.real(DType::f32, i))));
    ir::ValueId value = p.b.get(second);
    for (const ir::LetId truth : all) value = p.b.op(Op::select, {p.b.get(truth), p.b.get(first), value});
    p.b.store(p.y, p.own, value);
    return p.live();
  };
  CHECK(chosen(1) == chosen(7));
}

TEST_CASE("a vector of zeros has no registers, as long as nothing else is written there") {
  const auto filled = [](double with, bool added) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::ArrayId row = k.array(DType::f32, {0, 0}, 4);
    b.declare(row);
    const ir::VarId e = b.loop_var("e", 4);
    b.each(e);
    b.assign(b.ref(row, b.var(e)), b.real(DType::f32, with));
    if (added) b.assign(b.ref(row, b.var(e)), b.real(DType::f32, 0), Op::add);
    b.end();
    b.store(k.y, k.own, 4, b.ref(row, b.number(0)));
    return k.live();
  };
  CHECK(filled(0, false) == 0);
  CHECK(filled(-0.0, false) == 4);
  CHECK(filled(1, false) == 4);
  CHECK(filled(0, true) == 4);
}

TEST_CASE("copies that widen their elements are made ahead, all at once") {
  // Four vectors of four numbers of 16 bits each: eight registers that become sixteen.
  const auto of = [](DType from, DType to) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::BufferId x = b.in("v", from, live_elements), y = b.out("u", to, live_elements);
    const ir::ArrayId row = k.array(from, {4, 0}, 4), result = k.array(to, {0, 0}, 4);
    b.declare(row);
    const ir::VarId q = b.loop_var("q", 4), u = b.loop_var("u", 4), e = b.loop_var("e", 4);
    b.each(q);
    b.load({row, {b.var(q), ir::no_expr}, b.number(0)}, x, b.sum({b.var(k.tid, 4), b.var(q, 128)}), 4);
    b.end();
    b.each(u);
    b.declare(result);
    b.each(e);
    b.assign(b.ref(result, b.var(e)), b.convert(to, b.element({row, {b.var(u), ir::no_expr}, b.var(e)})));
    b.end();
    b.store(y, b.sum({b.var(k.tid, 4), b.var(u, 128)}), 4, b.ref(result, b.number(0)));
    b.end();
    return k.early() - k.live();
  };
  CHECK(of(DType::f32, DType::f32) == 0);
  CHECK(of(DType::f32, DType::bf16) == 0);
  CHECK(of(DType::bf16, DType::f32) > 0);
  CHECK(of(DType::u8, DType::f32) > of(DType::bf16, DType::f32));
}

TEST_CASE("addresses are ready in front of the first access, a pair of registers for each buffer but two") {
  for (const int buffers : {1, 2, 3, 8}) {
    CAPTURE(buffers);
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    std::vector<ir::LetId> loads;
    for (int i = 0; i < buffers; ++i)
      loads.push_back(b.load_let("v", b.in("v", DType::f32, live_elements), k.own, ir::Policy::once));
    ir::ValueId sum = b.get(loads[0]);
    for (int i = 1; i < buffers; ++i) sum = b.op(Op::add, {sum, b.get(loads[i])});
    b.store(k.y, k.own, sum);
    CHECK(k.live() == buffers);
    // Beside the values so far a pair for each buffer that is to come, the one that is written among them.
    int most = buffers;
    for (int i = 0; i < buffers; ++i) most = std::max(most, i + 1 + std::max(0, 2 * (buffers - i) - 4));
    CHECK(k.early() == most);
  }
}

TEST_CASE("elements of less than a register that are loaded one by one have a register each") {
  const auto of = [](DType dtype, int width) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::BufferId from = b.in("v", dtype, live_elements), to = b.out("u", dtype, live_elements);
    const ir::ArrayId row = k.array(dtype, {4, 0}, 4);
    const ir::VarId u = b.loop_var("u", 4), e = b.loop_var("e", 4 / width);
    b.each(u);
    b.each(e);
    b.load({row, {b.var(u), ir::no_expr}, b.var(e, width)}, from, b.sum({b.var(k.tid, 4), b.var(e, width)}), width,
           ir::Policy::early);
    b.end();
    b.end();
    for (const int which : {0, 3}) b.store(to, b.var(k.tid, 4), 4, b.at(row, b.number(which), b.number(0)));
    return k.live();
  };
  CHECK(of(DType::f32, 1) == of(DType::f32, 4));
  CHECK(of(DType::f16, 1) - of(DType::f16, 4) == 8);
  CHECK(of(DType::f16, 2) == of(DType::f16, 4));
  CHECK(of(DType::u8, 1) - of(DType::u8, 4) == 12);
}

TEST_CASE("a sine holds what reduces large arguments") {
  const auto of = [](Op op) {
    LiveProgram k;
    const ir::LetId x = k.b.load_let("x", k.x, k.own);
    k.b.store(k.y, k.own, k.b.op(op, {k.b.get(x)}));
    return k.live();
  };
  CHECK(of(Op::sin) - of(Op::tanh) == 9);
}

TEST_CASE("loads go ahead from shared memory, and to their use where they are not ordered") {
  const auto ahead = [](std::int64_t copies, int width) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::ArrayId parts = b.shared("s", DType::f32, 1024), part = k.array(DType::f32, {0, 0}, width);
    const ir::ArrayId sum = k.array(DType::f32, {0, 0}, 1);
    b.declare(sum, b.real(DType::f32, 0));
    const ir::VarId p = b.loop_var("p", copies);
    b.each(p);
    b.load_shared(b.ref(part, b.number(0)), parts, b.var(p, width), width);
    b.assign(b.ref(sum), b.element(b.ref(part, b.number(0))), Op::add);
    b.end();
    return k.live();
  };
  CHECK(ahead(2, 1) == 2);
  CHECK(ahead(16, 1) == 16);
  CHECK(ahead(16, 4) == 16);
  CHECK(ahead(64, 1) == 16);
  const auto chosen = [](ir::Policy policy) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    std::vector<ir::LetId> loads;
    for (int i = 0; i < 10; ++i) loads.push_back(b.load_let("v", k.x, k.own, policy));
    for (const ir::LetId load : loads) b.store(k.y, k.own, b.get(load));
    return k.live();
  };
  CHECK(chosen(ir::Policy::once) == 10);
  CHECK(chosen(ir::Policy::again) == 1);
}

TEST_CASE("a quotient that each copy has for itself waits for a later nest that needs it, unless threads meet before") {
  const auto copied = [](bool again, bool deeper, bool meets) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::VarId q = b.loop_var("q", 8);
    const ir::ArrayId row = b.array("row", DType::f32, {8, 0});
    const ir::ExprId own = b.div(b.sum({k.own, b.var(q, 4)}), 10), other = b.div(b.sum({k.own, b.var(q, 4)}), 7);
    b.declare(row);
    b.each(q);
    b.load(ir::KernelBuilder::at(row, b.var(q)), k.x, own, 1);
    b.end();
    if (meets) b.barrier();
    b.each(q);
    b.store(k.y, again ? deeper ? b.mod(own, 6) : own : other, b.element(ir::KernelBuilder::at(row, b.var(q))));
    b.end();
    return k.live();
  };
  const int alone = copied(false, false, false);
  CHECK(copied(true, false, false) == alone + 8 - 1);  // the models' base has one index
  CHECK(copied(true, true, false) == alone + 8 - 1);
  CHECK(copied(true, false, true) == copied(false, false, true));
}

TEST_CASE("an array that begins with a constant in front of a guard has its registers from the guard on") {
  const auto summed = [](bool guarded) {
    LiveProgram k;
    ir::KernelBuilder& b = k.b;
    const ir::VarId t = b.loop_var("t", 8);
    const ir::ArrayId sum = b.array("sum", DType::f32, {8, 0}), row = b.array("row", DType::f32, {8, 0});
    const auto each = [&](ir::ArrayId array) { return ir::KernelBuilder::at(array, b.var(t)); };
    b.declare(sum, b.real(DType::f32, 0));
    b.declare(row);
    b.each(t);
    b.load(each(row), k.x, b.sum({k.own, b.var(t, 4096)}), 1);
    b.end();
    if (guarded) b.guard_less(b.var(k.tid), b.number(100));
    b.each(t);
    b.assign(each(sum), b.element(each(row)), Op::add);
    b.end();
    if (guarded) b.end();
    b.each(t);
    b.store(k.y, b.sum({k.own, b.var(t, 4096)}), 1, each(sum));
    b.end();
    return k.live();
  };
  CHECK(summed(true) >= 16);
  CHECK(summed(false) <= 10);
}
