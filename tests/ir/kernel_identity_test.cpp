// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Two programs share an id only where they are the same program: every field that a statement, a value, a buffer, an
// array, a variable or a launch has is changed in turn, one at a time, in kernels by hand that have every kind of
// statement, and the id must change. And contracts between statements of a kernel: what stands under guards that
// depend on the thread, and accesses at both sides of the end of their memory. Part of the suite `ir`.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"
#include "support/kernel_builder.h"

using namespace tailor;
using namespace tailor::ir;

namespace {

/// Every kind of statement and of value once, and what they refer to twice.
Kernel every_kind() {
  KernelBuilder b("every", 64, 4);
  const VarId tid = b.thread("tid", 1, 64), t = b.loop_var("t", 4), u = b.loop_var("u", 4);
  const BufferId x = b.in("x", DType::f32, 1024), i = b.in("i", DType::s32, 4);
  const BufferId y = b.out("y", DType::f32, 1024), z = b.out("z", DType::s32, 64);
  const ArrayId v = b.array("v", DType::f32, {4, 0}, 4), w = b.array("w", DType::f32, {4, 0}, 4);
  const ArrayId s = b.shared("s", DType::f32, 64);
  const VarId place = b.loop_var("place", 8);
  b.kernel.indices.vars[place].kind = VarKind::data;
  b.declare(v, b.real(DType::f32, 0));
  b.declare(w);
  const LetId from = b.load_let("from", i, b.number(0), Policy::again);
  const LetId to = b.load_let("to", i, b.number(1), Policy::again);
  Stmt bind;
  bind.kind = StmtKind::bind;
  bind.var = place;
  bind.value = b.op(Op::clamp, {b.integer(DType::s32, 0), b.get(from), b.integer(DType::s32, 7)});
  b.kernel.body.push_back(bind);
  const ExprId at = b.sum({b.var(tid, 4), b.var(b.vb, 256)});
  b.loop(t);
  b.load(b.at(v, b.var(t), b.number(0)), x, at, 4, Policy::early);
  b.end();
  b.loop(u, true);
  b.load(b.at(w, b.var(u), b.number(0)), x, at, 4);
  b.assign(b.at(v, b.var(u), b.number(1)), b.element(b.at(w, b.var(u), b.number(2))), Op::add);
  b.end();
  Stmt issue;
  issue.kind = StmtKind::issue;
  b.kernel.body.push_back(issue);
  const LetId sum = b.let("sum", b.op(Op::subtract, {b.element(b.at(v, b.number(0), b.number(0))),
                                                     b.element(b.at(w, b.number(0), b.number(0)))}));
  const LetId less = b.let("less", b.compare(Comparison::lt, b.get(sum), b.real(DType::f32, 2)));
  const LetId number = b.let("number", b.index(DType::s32, b.var(tid)));
  const LetId wide = b.let("wide", b.convert(DType::f32, b.get(number)));
  const LetId one = b.let("one", b.op(Op::select, {b.get(less), b.get(sum), b.get(wide)}));
  b.shuffle(b.at(v, b.number(0), b.number(0)), Op::maximum, 16);
  const LetId theirs = b.exchange("theirs", b.get(one), 4, 16);
  b.guard_less(b.var(tid), b.number(32));
  b.store_shared(s, b.var(tid), b.get(theirs));
  b.end();
  b.barrier();
  b.load_shared(b.at(v, b.number(1), b.number(0)), s, b.number(0), 4);
  b.guard_equal(b.mod(b.var(tid), 8), b.number(0));
  b.store(y, at, 4, b.at(v, b.number(1), b.number(0)));
  b.atomic(z, b.div(b.var(tid), 2), Op::add, b.get(to));
  b.store(z, b.var(place), b.op(Op::add, {b.get(number), b.integer(DType::s32, 3)}));
  Stmt fence;
  fence.kind = StmtKind::fence;
  b.kernel.body.push_back(fence);
  b.end();
  return b.finished();
}

/// Another expression, value or array than this one. Kernels by hand hold each expression once.
ExprId other(const Kernel& kernel, ExprId expr) {
  return static_cast<ExprId>((expr + 1) % kernel.indices.exprs.size());
}

bool is_access(const Stmt& s) {
  return s.kind == StmtKind::load || s.kind == StmtKind::store || s.kind == StmtKind::atomic;
}

struct FieldOfStatement {
  std::string_view name;
  /// Changes the field where the statement has it; whether it does.
  bool (*change)(Kernel& kernel, Stmt& s);
};

constexpr auto fields_of_statements = std::to_array<FieldOfStatement>({
    {"kind",
     [](Kernel&, Stmt& s) {
       if (s.kind != StmtKind::issue && s.kind != StmtKind::fence) return false;
       s.kind = s.kind == StmtKind::issue ? StmtKind::fence : StmtKind::issue;
       return true;
     }},
    {"value",
     [](Kernel& k, Stmt& s) {
       if (s.value == no_value) return false;
       k.values.push_back(k.values[s.value]);
       k.values.back().kind = ValueKind::constant;
       k.values.back().real = 77;
       s.value = static_cast<ValueId>(k.values.size() - 1);
       return true;
     }},
    {"no value", [](Kernel&, Stmt& s) { return s.value != no_value && (s.value = no_value, true); }},
    {"op",
     [](Kernel&, Stmt& s) {
       if (s.kind != StmtKind::assign && s.kind != StmtKind::atomic && s.kind != StmtKind::shuffle) return false;
       s.op = Op::minimum;
       return true;
     }},
    {"memory",
     [](Kernel&, Stmt& s) {
       return is_access(s) && s.space == Space::global &&
              (s.memory = static_cast<std::uint16_t>((s.memory + 1) % 4), true);
     }},
    {"expr", [](Kernel& k, Stmt& s) { return is_access(s) && (s.expr = other(k, s.expr), true); }},
    {"width", [](Kernel&, Stmt& s) { return is_access(s) && (s.width = s.width == 1 ? 2 : 1, true); }},
    {"policy",
     [](Kernel&, Stmt& s) {
       if (!is_access(s) || s.kind != StmtKind::load) return false;
       s.policy = s.policy == Policy::reload ? Policy::once : Policy::reload;
       return true;
     }},
    {"loop or bind variable",
     [](Kernel& k, Stmt& s) {
       if (s.kind != StmtKind::loop && s.kind != StmtKind::bind) return false;
       k.indices.vars.push_back(k.indices.vars[s.var]);
       k.indices.vars.back().extent += 1;
       s.var = static_cast<VarId>(k.indices.vars.size() - 1);
       return true;
     }},
    {"backward", [](Kernel&, Stmt& s) { return s.kind == StmtKind::loop && (s.backward = !s.backward, true); }},
    {"unrolled", [](Kernel&, Stmt& s) { return s.kind == StmtKind::loop && (s.unrolled = !s.unrolled, true); }},
    {"left side",
     [](Kernel& k, Stmt& s) {
       return s.kind == StmtKind::guard && (s.conditions[0].a = other(k, s.conditions[0].a), true);
     }},
    {"right side",
     [](Kernel& k, Stmt& s) {
       return s.kind == StmtKind::guard && (s.conditions[0].b = other(k, s.conditions[0].b), true);
     }},
    {"equal or less",
     [](Kernel&, Stmt& s) {
       return s.kind == StmtKind::guard && (s.conditions[0].equal = !s.conditions[0].equal, true);
     }},
    {"second condition",
     [](Kernel&, Stmt& s) { return s.kind == StmtKind::guard && (s.conditions[1] = s.conditions[0], true); }},
    {"end of a scope",
     [](Kernel&, Stmt& s) { return (s.kind == StmtKind::guard || s.kind == StmtKind::loop) && (s.end -= 1, true); }},
    {"lanes", [](Kernel&, Stmt& s) { return exchanges_lanes(s) && (s.lanes = 8, true); }},
    {"stride", [](Kernel&, Stmt& s) { return s.kind == StmtKind::exchange && (s.stride = 2, true); }},
    {"scope", [](Kernel&, Stmt& s) { return s.kind == StmtKind::barrier && (s.scope = StitchLevel::warp, true); }},
    {"lane of a target",
     [](Kernel& k, Stmt& s) { return s.target.lane != no_expr && (s.target.lane = other(k, s.target.lane), true); }},
    {"subscript of a target",
     [](Kernel& k,
        Stmt& s) { return s.target.subs[0] != no_expr && (s.target.subs[0] = other(k, s.target.subs[0]), true); }},
    {"no target", [](Kernel&, Stmt& s) { return s.target.array != no_id && (s.target = {}, true); }},
});

struct Change {
  std::string_view name;
  void (*change)(Kernel& kernel);
};

/// The value of the statement that defines this name.
Value& value_named(Kernel& kernel, std::string_view name) {
  for (const Stmt& s : kernel.body)
    if (s.kind == StmtKind::let && kernel.lets[s.let].name == name) return kernel.values[s.value];
  throw std::logic_error("no such name");
}

constexpr auto other_changes = std::to_array<Change>({
    {"threads", [](Kernel& k) { k.threads = 128; }},
    {"virtual blocks", [](Kernel& k) { k.virtual_blocks = 5; }},
    {"grid", [](Kernel& k) { k.grid = 2; }},
    {"persistent", [](Kernel& k) { k.persistent = true; }},
    {"shared bytes", [](Kernel& k) { k.shared_bytes = 512; }},
    {"dynamic shared", [](Kernel& k) { k.dynamic_shared = true; }},
    {"cluster", [](Kernel& k) { k.cluster = 2; }},
    {"cooperative", [](Kernel& k) { k.cooperative = true; }},
    {"min blocks", [](Kernel& k) { k.min_blocks = 1; }},
    {"type of a buffer", [](Kernel& k) { k.buffers[0].dtype = DType::s32; }},
    {"size of a buffer", [](Kernel& k) { k.buffers[3].elements += 1; }},
    {"role of a buffer", [](Kernel& k) { k.buffers[3].role = BufferRole::workspace; }},
    {"one more buffer", [](Kernel& k) { k.buffers.push_back(k.buffers.back()); }},
    {"type of an array", [](Kernel& k) { k.arrays[0].dtype = DType::s32; }},
    {"space of an array", [](Kernel& k) { k.arrays[2].space = Space::registers; }},
    {"length of an array", [](Kernel& k) { k.arrays[0].dims[0] += 1; }},
    {"second length of an array", [](Kernel& k) { k.arrays[0].dims[1] = 2; }},
    {"vector of an array", [](Kernel& k) { k.arrays[0].vector = 8; }},
    {"length of a shared array", [](Kernel& k) { k.arrays[2].dims[0] += 1; }},
    {"extent of a thread variable", [](Kernel& k) { k.indices.vars[1].extent = 32; }},
    {"divisor of a thread variable", [](Kernel& k) { k.indices.vars[1].divisor = 2; }},
    {"operation", [](Kernel& k) { value_named(k, "sum").op = Op::multiply; }},
    {"order of operands",
     [](Kernel& k) { std::swap(value_named(k, "sum").operands[0], value_named(k, "sum").operands[1]); }},
    {"third operand", [](Kernel& k) { value_named(k, "one").operands[2] = value_named(k, "one").operands[1]; }},
    {"comparison", [](Kernel& k) { value_named(k, "less").comparison = Comparison::le; }},
    {"real constant", [](Kernel& k) { k.values[value_named(k, "less").operands[1]].real = 3; }},
    {"integer constant",
     [](Kernel& k) {
       for (Value& v : k.values)
         if (v.kind == ValueKind::constant && v.integer == 3) v.integer = 4;
     }},
    {"type of a value", [](Kernel& k) { value_named(k, "wide").dtype = DType::f64; }},
    {"index of a value", [](Kernel& k) { value_named(k, "number").index = other(k, value_named(k, "number").index); }},
    {"divisor of an index", [](Kernel& k) {
       for (Term& term : k.indices.terms)
         if (term.kind == TermKind::div) term.divisor = 4;
     }},
    {"quotient or remainder", [](Kernel& k) {
       for (Term& term : k.indices.terms)
         if (term.kind == TermKind::div) term.kind = TermKind::mod;
     }},
    {"coefficient of an index", [](Kernel& k) {
       for (Linear& part : k.indices.linears)
         if (part.coefficient == 256) part.coefficient = 128;
     }},
});

std::string refusal_of(const std::function<void(KernelBuilder&, VarId tid)>& write) {
  KernelBuilder b("small", 64, 4);
  const VarId tid = b.thread("tid", 1, 64);
  b.in("x", DType::f32, 512), b.in("one_less", DType::f32, 511), b.out("y", DType::f32, 512);
  write(b, tid);
  try {
    verify(b.kernel);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "accepted";
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("the id of a kernel sees every field of every statement") {
  const Kernel kernel = every_kind();
  std::set<StmtKind> kinds;
  for (const Stmt& s : kernel.body) kinds.insert(s.kind);
  CHECK(kinds.size() == 14);  // all but the names of indices, which only printing needs
  for (const FieldOfStatement& field : fields_of_statements) {
    CAPTURE(field.name);
    int changed = 0;
    for (std::size_t i = 0; i < kernel.body.size(); ++i) {
      Kernel one = kernel;
      if (!field.change(one, one.body[i])) continue;
      CAPTURE(i);
      CHECK(id_of(one) != id_of(kernel));
      ++changed;
    }
    CHECK(changed > 0);
  }
}

TEST_CASE("the id of a kernel sees its launch, memory, arrays, variables, values and indices") {
  const Kernel kernel = every_kind();
  std::set<std::string> ids{hex(id_of(kernel))};
  for (const Change& change : other_changes) {
    CAPTURE(change.name);
    Kernel one = kernel;
    change.change(one);
    CHECK(ids.insert(hex(id_of(one))).second);  // not that of another change either
  }
}

TEST_CASE("a barrier or an exchange of lanes under any guard that depends on the thread is refused, however deep") {
  enum class Meets { shuffle, exchange, barrier };
  const auto inside = [](bool outer_of_thread, bool inner_of_thread, Meets how) {
    return refusal_of([&](KernelBuilder& b, VarId tid) {
      const ArrayId v = b.array("v", DType::f32);
      b.declare(v, b.real(DType::f32, 1));
      b.guard_less(outer_of_thread ? b.var(tid) : b.var(b.vb), b.number(2));
      b.guard_less(inner_of_thread ? b.var(tid) : b.var(b.vb), b.number(1));
      if (how == Meets::shuffle) b.shuffle(b.ref(v), Op::add, 32);
      if (how == Meets::exchange) b.exchange("other", b.element(b.ref(v)), 1, 32);
      if (how == Meets::barrier) b.barrier();
      b.end(), b.end();
    });
  };
  for (const Meets how : {Meets::shuffle, Meets::exchange, Meets::barrier}) {
    CHECK(inside(false, false, how) == "accepted");
    CHECK(has(inside(true, false, how), "in a guard that depends on the thread"));
    CHECK(has(inside(false, true, how), "in a guard that depends on the thread"));
    CHECK(has(inside(true, true, how), "in a guard that depends on the thread"));
  }
  // Behind the guard all threads are there again.
  CHECK(refusal_of([](KernelBuilder& b, VarId tid) {
          b.guard_less(b.var(tid), b.number(2));
          b.end();
          b.barrier();
        }) == "accepted");
}

TEST_CASE("an exchange is with a lane of its group, one bit away or the first, and of what registers hold") {
  const auto exchange = [](int stride, int lanes, DType dtype) {
    return refusal_of([&](KernelBuilder& b, VarId) { b.exchange("other", b.real(dtype, 1), stride, lanes); });
  };
  for (const int stride : {0, 1, 2, 4, 8, 16}) CHECK(exchange(stride, 32, DType::f32) == "accepted");
  CHECK(has(exchange(3, 32, DType::f32), "no lane of its group"));
  CHECK(has(exchange(8, 8, DType::f32), "no lane of its group"));
  CHECK(has(exchange(1, 12, DType::f32), "among odd lanes"));
  CHECK(has(exchange(0, 1, DType::f32), "among odd lanes"));
  CHECK(has(exchange(1, 32, DType::bf16), "only memory holds"));
}

TEST_CASE("an access of any width ends where its memory ends, and begins at a multiple of its width") {
  for (const int width : {1, 2, 4}) {
    CAPTURE(width);
    const auto access = [&](std::int64_t scale, std::int64_t first, BufferId from = 0) {
      return refusal_of([&](KernelBuilder& b, VarId tid) {
        const ArrayId v = b.array("v", DType::f32, {0, 0}, 4);
        b.declare(v);
        b.load(b.ref(v, b.number(0)), from, b.sum({b.var(tid, scale), b.number(first)}), width);
      });
    };
    CHECK(access(width, 512 - 64 * width) == "accepted");
    CHECK(has(access(width, 512 - 64 * width + width), "extent 512"));
    CHECK(has(access(width, 512 - 64 * width, 1), "extent 511"));  // its last element alone lies behind the end
    CHECK(has(access(width, -width), "extent 512"));
    if (width > 1) CHECK(has(access(width, 1), "is not a multiple of its width"));
    if (width > 1) CHECK(has(access(1, 0), "is not a multiple of its width"));
  }
}
