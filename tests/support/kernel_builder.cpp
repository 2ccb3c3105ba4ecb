// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder's mechanics: terms and expressions are interned in the kernel's own pool so that equal ones have one id,
// ranges are computed from those of the variables, and statements are appended in order; end() closes the innermost
// loop or guard. Nothing is simplified, so a test gets the program that it wrote.
#include "support/kernel_builder.h"

#include <algorithm>
#include <cassert>

namespace tailor::ir {

KernelBuilder::KernelBuilder(std::string name, int threads, std::int64_t blocks) {
  kernel.name = std::move(name);
  kernel.threads = threads;
  kernel.virtual_blocks = kernel.grid = blocks;
  intern(0, {});
  vb = static_cast<VarId>(kernel.indices.vars.size());
  kernel.indices.vars.push_back({"vb", VarKind::block, blocks, 1});
}

VarId KernelBuilder::thread(std::string name, std::int64_t divisor, std::int64_t extent) {
  kernel.indices.vars.push_back({std::move(name), VarKind::thread, extent, divisor});
  return static_cast<VarId>(kernel.indices.vars.size() - 1);
}

VarId KernelBuilder::loop_var(std::string name, std::int64_t extent) {
  kernel.indices.vars.push_back({std::move(name), VarKind::loop, extent, 1});
  return static_cast<VarId>(kernel.indices.vars.size() - 1);
}

ExprId KernelBuilder::intern(std::int64_t constant, const std::vector<Linear>& parts) {
  IndexPool& pool = kernel.indices;
  for (ExprId e = 0; e < pool.exprs.size(); ++e) {
    const auto linear = pool.linear(e);
    if (pool[e].constant == constant && std::equal(linear.begin(), linear.end(), parts.begin(), parts.end())) return e;
  }
  Expr expr{constant,
            static_cast<std::uint32_t>(pool.linears.size()),
            static_cast<std::uint32_t>(parts.size()),
            {constant, constant},
            {}};
  for (const Linear& part : parts) {
    const Term& term = pool.terms[part.term];
    const std::int64_t a = term.range.low * part.coefficient, b = term.range.high * part.coefficient;
    expr.range.low += std::min(a, b);
    expr.range.high += std::max(a, b);
    expr.vars |= term.vars;
    pool.linears.push_back(part);
  }
  pool.exprs.push_back(expr);
  return static_cast<ExprId>(pool.exprs.size() - 1);
}

ExprId KernelBuilder::number(std::int64_t value) { return intern(value, {}); }

ExprId KernelBuilder::var(VarId v, std::int64_t scale) {
  IndexPool& pool = kernel.indices;
  TermId t = 0;
  while (t < pool.terms.size() && !(pool.terms[t].kind == TermKind::var && pool.terms[t].var == v)) ++t;
  if (t == pool.terms.size()) {
    Term term;
    term.var = v;
    term.range = {0, pool.vars[v].extent - 1};
    term.vars = VarSet::only(v);
    pool.terms.push_back(term);
  }
  return intern(0, {{t, scale}});
}

ExprId KernelBuilder::sum(std::initializer_list<ExprId> parts) {
  std::int64_t constant = 0;
  std::vector<Linear> all;
  for (const ExprId e : parts) {
    constant += kernel.indices[e].constant;
    for (const Linear& part : kernel.indices.linear(e)) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const Linear& l) { return l.term == part.term; });
      if (same == all.end())
        all.push_back(part);
      else
        same->coefficient += part.coefficient;
    }
  }
  std::erase_if(all, [](const Linear& l) { return l.coefficient == 0; });
  std::sort(all.begin(), all.end(), [](const Linear& a, const Linear& b) { return a.term < b.term; });
  return intern(constant, all);
}

ExprId KernelBuilder::nested(TermKind kind, ExprId a, ExprId b, ExprId c, ExprId d, std::int64_t divisor) {
  IndexPool& pool = kernel.indices;
  Term term{kind, 0, divisor, a, b, c, d, {}, {}};
  for (const ExprId e : {a, b, c, d})
    if (e != no_expr) term.vars |= pool[e].vars;
  const Interval range = pool[a].range;
  switch (kind) {
    case TermKind::div:
      term.range = {range.low / divisor, range.high / divisor};
      break;
    case TermKind::mod:
      term.range = {0, divisor - 1};
      break;
    case TermKind::sel:
      term.range = {std::min(pool[c].range.low, pool[d].range.low), std::max(pool[c].range.high, pool[d].range.high)};
      break;
    case TermKind::xor_: {
      std::int64_t bound = 1;
      while (bound <= std::max(range.high, pool[b].range.high)) bound *= 2;
      term.range = {0, bound - 1};
      break;
    }
    case TermKind::narrow:
    case TermKind::picked:
    case TermKind::var:
      assert(false && "not nested");
  }
  TermId t = 0;
  while (t < pool.terms.size() &&
         !(pool.terms[t].kind == kind && pool.terms[t].divisor == divisor && pool.terms[t].a == a &&
           pool.terms[t].b == b && pool.terms[t].c == c && pool.terms[t].d == d))
    ++t;
  if (t == pool.terms.size()) pool.terms.push_back(term);
  return intern(0, {{t, 1}});
}

ExprId KernelBuilder::div(ExprId a, std::int64_t divisor) {
  return nested(TermKind::div, a, no_expr, no_expr, no_expr, divisor);
}
ExprId KernelBuilder::mod(ExprId a, std::int64_t divisor) {
  return nested(TermKind::mod, a, no_expr, no_expr, no_expr, divisor);
}
ExprId KernelBuilder::exclusive_or(ExprId a, ExprId b) { return nested(TermKind::xor_, a, b, no_expr, no_expr, 1); }
ExprId KernelBuilder::select(ExprId a, ExprId b, ExprId c, ExprId d) { return nested(TermKind::sel, a, b, c, d, 1); }

BufferId KernelBuilder::in(std::string name, DType dtype, std::int64_t elements) {
  kernel.buffers.push_back({std::move(name), dtype, elements, BufferRole::input});
  return static_cast<BufferId>(kernel.buffers.size() - 1);
}

BufferId KernelBuilder::out(std::string name, DType dtype, std::int64_t elements) {
  const BufferId id = in(std::move(name), dtype, elements);
  kernel.buffers[id].role = BufferRole::output;
  return id;
}

ArrayId KernelBuilder::array(std::string name, DType dtype, std::array<std::int64_t, 2> dims, int vector) {
  kernel.arrays.push_back({std::move(name), Space::registers, dtype, dims, vector});
  return static_cast<ArrayId>(kernel.arrays.size() - 1);
}

ArrayId KernelBuilder::shared(std::string name, DType dtype, std::int64_t elements) {
  kernel.arrays.push_back({std::move(name), Space::shared, dtype, {elements, 0}, 1});
  kernel.shared_bytes = shared_offsets(kernel).back();
  return static_cast<ArrayId>(kernel.arrays.size() - 1);
}

ValueId KernelBuilder::push(Value value) {
  kernel.values.push_back(value);
  return static_cast<ValueId>(kernel.values.size() - 1);
}

ValueId KernelBuilder::real(DType dtype, double value) {
  Value v;
  v.dtype = dtype;
  v.real = value;
  return push(v);
}

ValueId KernelBuilder::integer(DType dtype, std::int64_t value) {
  Value v;
  v.dtype = dtype;
  v.integer = value;
  return push(v);
}

ValueId KernelBuilder::get(LetId let) {
  Value v;
  v.kind = ValueKind::let;
  v.dtype = kernel.lets[let].dtype;
  v.let = let;
  return push(v);
}

ValueId KernelBuilder::element(const Ref& ref) {
  Value v;
  v.kind = ValueKind::element;
  v.dtype = kernel.arrays[ref.array].dtype;
  v.element = ref;
  return push(v);
}

ValueId KernelBuilder::op(Op op, std::initializer_list<ValueId> operands) {
  Value v;
  v.kind = ValueKind::op;
  v.op = op;
  std::copy(operands.begin(), operands.end(), v.operands.begin());
  v.dtype = op == Op::is_finite ? DType::pred : kernel.values[v.operands[op == Op::select ? 1 : 0]].dtype;
  return push(v);
}

ValueId KernelBuilder::compare(Comparison comparison, ValueId a, ValueId b) {
  Value v;
  v.kind = ValueKind::op;
  v.op = Op::compare;
  v.dtype = DType::pred;
  v.comparison = comparison;
  v.operands = {a, b, no_value};
  return push(v);
}

ValueId KernelBuilder::convert(DType dtype, ValueId a) {
  Value v;
  v.kind = ValueKind::convert;
  v.dtype = dtype;
  v.operands[0] = a;
  return push(v);
}

ValueId KernelBuilder::index(DType dtype, ExprId expr) {
  Value v;
  v.kind = ValueKind::index;
  v.dtype = dtype;
  v.index = expr;
  return push(v);
}

Stmt& KernelBuilder::push(StmtKind kind) {
  Stmt s;
  s.kind = kind;
  kernel.body.push_back(s);
  return kernel.body.back();
}

Stmt& KernelBuilder::declare(ArrayId array, ValueId value) {
  Stmt& s = push(StmtKind::declare);
  s.target.array = array;
  s.value = value;
  return s;
}

void KernelBuilder::name_index(ExprId expr) { push(StmtKind::index).expr = expr; }

LetId KernelBuilder::let(std::string name, ValueId value) {
  kernel.lets.push_back({std::move(name), kernel.values[value].dtype});
  Stmt& s = push(StmtKind::let);
  s.let = static_cast<LetId>(kernel.lets.size() - 1);
  s.value = value;
  return s.let;
}

void KernelBuilder::assign(const Ref& target, ValueId value, Op op) {
  Stmt& s = push(StmtKind::assign);
  s.target = target;
  s.value = value;
  s.op = op;
}

Stmt& KernelBuilder::load(const Ref& target, BufferId buffer, ExprId expr, int width, Policy policy) {
  Stmt& s = push(StmtKind::load);
  s.target = target;
  s.memory = buffer;
  s.expr = expr;
  s.width = static_cast<std::uint8_t>(width);
  s.policy = policy;
  return s;
}

LetId KernelBuilder::load_let(std::string name, BufferId buffer, ExprId expr, Policy policy) {
  kernel.lets.push_back({std::move(name), kernel.buffers[buffer].dtype});
  Stmt& s = load(Ref{}, buffer, expr, 1, policy);
  s.let = static_cast<LetId>(kernel.lets.size() - 1);
  return s.let;
}

void KernelBuilder::store(BufferId buffer, ExprId expr, int width, const Ref& from) {
  Stmt& s = push(StmtKind::store);
  s.memory = buffer;
  s.expr = expr;
  s.width = static_cast<std::uint8_t>(width);
  s.target = from;
}

void KernelBuilder::store(BufferId buffer, ExprId expr, ValueId value) {
  store(buffer, expr, 1, Ref{});
  kernel.body.back().value = value;
}

void KernelBuilder::load_shared(const Ref& target, ArrayId memory, ExprId expr, int width) {
  load(target, memory, expr, width).space = Space::shared;
}

void KernelBuilder::load_distributed(const Ref& target, ArrayId memory, ExprId expr, ExprId rank) {
  Stmt& s = load(target, memory, expr, 1);
  s.space = Space::distributed;
  s.rank = rank;
}

void KernelBuilder::store_shared(ArrayId memory, ExprId expr, int width, const Ref& from) {
  store(memory, expr, width, from);
  kernel.body.back().space = Space::shared;
}

void KernelBuilder::store_shared(ArrayId memory, ExprId expr, ValueId value) {
  store(memory, expr, value);
  kernel.body.back().space = Space::shared;
}

void KernelBuilder::atomic(BufferId buffer, ExprId expr, Op op, ValueId value) {
  store(buffer, expr, value);
  kernel.body.back().kind = StmtKind::atomic;
  kernel.body.back().op = op;
}

void KernelBuilder::loop(VarId v, bool unrolled) {
  open_.push_back(kernel.body.size());
  Stmt& s = push(StmtKind::loop);
  s.var = v;
  s.unrolled = unrolled;
}

void KernelBuilder::guard_less(ExprId a, ExprId b) {
  open_.push_back(kernel.body.size());
  push(StmtKind::guard).conditions[0] = {a, b, false};
}

void KernelBuilder::guard_equal(ExprId a, ExprId b) {
  guard_less(a, b);
  kernel.body.back().conditions[0].equal = true;
}

void KernelBuilder::end() {
  kernel.body[open_.back()].end = static_cast<std::int32_t>(kernel.body.size());
  open_.pop_back();
}

void KernelBuilder::shuffle(const Ref& target, Op op, int lanes) {
  Stmt& s = push(StmtKind::shuffle);
  s.target = target;
  s.op = op;
  s.lanes = static_cast<std::uint8_t>(lanes);
}

LetId KernelBuilder::exchange(std::string name, ValueId value, int stride, int lanes) {
  kernel.lets.push_back({std::move(name), kernel.values[value].dtype});
  Stmt& s = push(StmtKind::exchange);
  s.let = static_cast<LetId>(kernel.lets.size() - 1);
  s.value = value;
  s.stride = static_cast<std::uint8_t>(stride);
  s.lanes = static_cast<std::uint8_t>(lanes);
  return s.let;
}

void KernelBuilder::wait() { push(StmtKind::wait); }

Stmt& KernelBuilder::barrier(StitchLevel scope) {
  Stmt& s = push(StmtKind::barrier);
  s.scope = scope;
  return s;
}

Kernel KernelBuilder::finished() {
  verify(kernel);
  return kernel;
}

}  // namespace tailor::ir
