// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one execution of a statement costs, in instructions per pipe. Arithmetic comes from the cost columns of the
// operation table, as the kernel's class of arithmetic has them. Multiply and add count separately though the compiler
// may contract them; values repeated in a scope count each time though it may merge them. Addresses are an estimate:
// one instruction for an access outside unrolled loops (inside them the offset is part of the instruction), and a
// multiply, a shift and a subtraction for each quotient or remainder. Everything here is per statement, nothing depends
// on how often it runs.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

using ir::DType;
using ir::StmtKind;

int registers_of(DType dtype) { return std::max(1, ir::row(dtype).bits / 32); }
bool is_half(DType dtype) { return ir::is_floating(dtype) && ir::row(dtype).bits < 32; }

void add_operation(Pipes& pipes, ir::Op op, DType dtype, ir::Arithmetic arithmetic) {
  const ir::Computed& row = ir::computed(op, dtype, arithmetic);
  const int all = row.fma + row.alu + row.xu;
  if (dtype == DType::f64) {
    pipes.f64 += all;
  } else if (ir::is_floating(dtype)) {
    pipes.fma += row.fma;
    pipes.alu += row.alu;
    pipes.xu += row.xu;
  } else if (op == ir::Op::multiply) {
    pipes.fma += registers_of(dtype);  // integer multiply-add runs on the FMA pipe
  } else {
    pipes.alu += std::int64_t{all} * registers_of(dtype);
  }
}

void add_conversion(Pipes& pipes, DType from, DType to) {
  if (from == to) return;
  if (from == DType::bf16 && ir::is_floating(to))
    pipes.alu += 1;  // a shift: bf16 is the upper half of f32
  else if (from == DType::pred)
    pipes.alu += 1;  // a selection
  else if (is_half(from) && ir::is_floating(to))
    pipes.widen += 1;
  else if (from == DType::f32 && is_half(to))
    pipes.pack += 1;
  else if (ir::is_narrow_integer(from) && (to == DType::f32 || is_half(to))) {
    pipes.alu += 1;  // two additions: float_of_narrow(), codegen/cuda/prelude.cpp
    pipes.fma += 1;
    pipes.pack += is_half(to);
  } else if (to == DType::f32 && !ir::is_floating(from))
    pipes.number += 1;
  else if (ir::is_floating(from) || ir::is_floating(to))
    pipes.narrow += 1;
  else
    pipes.alu += 1;
}

void add_value(Pipes& pipes, const ir::Kernel& kernel, ir::ValueId id) {
  if (id == ir::no_value) return;
  const ir::Value& value = kernel.values[id];
  for (const ir::ValueId operand : value.operands) add_value(pipes, kernel, operand);
  switch (value.kind) {
    case ir::ValueKind::constant:
    case ir::ValueKind::let:
    case ir::ValueKind::element:
      return;
    case ir::ValueKind::op: {
      const bool compares = value.op == ir::Op::compare && value.operands[0] != ir::no_value;
      return add_operation(pipes, value.op, compares ? kernel.values[value.operands[0]].dtype : value.dtype,
                           kernel.arithmetic);
    }
    case ir::ValueKind::convert:
      return add_conversion(pipes, kernel.values[value.operands[0]].dtype, value.dtype);
    case ir::ValueKind::index:
      pipes.alu += kernel.indices[value.index].count;
      return;
  }
}

DType type_of(const ir::Kernel& kernel, const ir::Stmt& stmt) {
  if (stmt.target.array != ir::no_id) return kernel.arrays[stmt.target.array].dtype;
  if (stmt.value != ir::no_value) return kernel.values[stmt.value].dtype;
  return stmt.let != ir::no_id ? kernel.lets[stmt.let].dtype : DType::f32;
}

/// Quotients and remainders are a multiply, a shift and a subtraction each.
std::int64_t address_instructions(const ir::Kernel& kernel, ir::ExprId expr) {
  std::int64_t sum = 0;
  for (const ir::Linear& part : kernel.indices.linear(expr)) {
    const ir::TermKind kind = kernel.indices.terms[part.term].kind;
    if (kind != ir::TermKind::var && kind != ir::TermKind::picked) sum += 3;
  }
  return sum;
}

void add_statement(Pipes& pipes, const ir::Kernel& kernel, const ir::Stmt& stmt, bool unrolled) {
  add_value(pipes, kernel, stmt.value);
  switch (stmt.kind) {
    case StmtKind::declare:
    case StmtKind::index:
    case StmtKind::let:
      return;
    case StmtKind::assign:
      if (stmt.op != ir::Op::copy) add_operation(pipes, stmt.op, type_of(kernel, stmt), kernel.arithmetic);
      return;
    case StmtKind::load:
    case StmtKind::store:
    case StmtKind::atomic:
      pipes.memory += 1;
      pipes.address += (unrolled ? 0 : 1) + address_instructions(kernel, stmt.expr);
      pipes.address += stmt.space == ir::Space::distributed ? 1 : 0;  // from a block's number to its memory
      return;
    case StmtKind::loop:
      pipes.control += stmt.unrolled ? 0 : 2 * kernel.indices.vars[stmt.var].extent;
      return;
    case StmtKind::guard:
      if (stmt.otherwise) return;  // the guard before it asked
      for (const ir::Condition& condition : stmt.conditions) pipes.control += condition.a != ir::no_expr;
      return;
    case StmtKind::shuffle: {
      const int steps = std::countr_zero(static_cast<unsigned>(stmt.lanes));
      pipes.shuffle += std::int64_t{steps} * registers_of(type_of(kernel, stmt));
      for (int i = 0; i < steps; ++i) add_operation(pipes, stmt.op, type_of(kernel, stmt), kernel.arithmetic);
      return;
    }
    case StmtKind::barrier:
      pipes.barrier += barrier_instructions(stmt);
      return;
    case StmtKind::bind:
      return;
    case StmtKind::issue:  // a comparison and a branch
      pipes.control += 2;
      return;
    case StmtKind::fence:
      pipes.memory += 1;
      return;
    case StmtKind::wait:
      pipes.control += 1;
      return;
  }
}

/// What lies in the code of a value beside what ordinary operands execute.
std::int64_t rare_instructions(const ir::Kernel& kernel, ir::ValueId id) {
  if (id == ir::no_value) return 0;
  const ir::Value& value = kernel.values[id];
  const ir::BranchingRow* row =
      value.kind == ir::ValueKind::op ? ir::branching(value.op, value.dtype, kernel.arithmetic) : nullptr;
  std::int64_t sum = row == nullptr ? 0 : row->rare;
  for (const ir::ValueId operand : value.operands) sum += rare_instructions(kernel, operand);
  return sum;
}

}  // namespace

std::int64_t code_instructions(const ir::Kernel& kernel, const Scratch::Body& scratch) {
  std::int64_t sum = 0, copies = 1;
  std::array<std::pair<std::int32_t, std::int64_t>, 64> open;  // unrolled loops around a statement: end and passes
  std::size_t depth = 0;
  for (std::int32_t at = 0; at < static_cast<std::int32_t>(kernel.body.size()); ++at) {
    while (depth > 0 && open[depth - 1].first <= at) copies /= open[--depth].second;
    const ir::Stmt& stmt = kernel.body[at];
    // A rolled loop's counting is there once.
    const bool rolled = stmt.kind == StmtKind::loop && !stmt.unrolled;
    sum += copies * (rolled ? 2 : scratch.costs[at].issue + rare_instructions(kernel, stmt.value));
    if (stmt.kind != StmtKind::loop || !stmt.unrolled || depth == open.size()) continue;
    const std::int64_t passes = std::max<std::int64_t>(1, kernel.indices.vars[stmt.var].extent);
    open[depth++] = {stmt.end, passes};
    copies *= passes;
  }
  return sum;
}

int barrier_instructions(const ir::Stmt& barrier) {
  const bool is_cluster = barrier.scope == ir::StitchLevel::cluster && barrier.half == ir::Half::both;
  return is_cluster || is_grid_barrier(barrier) ? 2 : 1;
}

std::int64_t conversions(const Pipes& p) { return p.widen + p.pack + p.number + p.narrow; }

std::int64_t instructions(const Pipes& p) {
  return p.fma + p.integer + p.alu + p.xu + p.f64 + conversions(p) + p.memory + p.shuffle + p.barrier + p.control +
         p.address;
}

void fill_costs(const ir::Kernel& kernel, Scratch::Body& scratch) {
  scratch.costs.assign(kernel.body.size(), {});
  std::int32_t unrolled_until = 0;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    const bool unrolled = static_cast<std::int32_t>(at) < unrolled_until;
    add_statement(scratch.costs[at].pipes, kernel, stmt, unrolled);
    scratch.costs[at].issue = instructions(scratch.costs[at].pipes);
    if (stmt.kind == StmtKind::loop && stmt.unrolled) unrolled_until = std::max(unrolled_until, stmt.end);
    if (stmt.kind == StmtKind::loop && !stmt.unrolled) unrolled_until = 0;
  }
}

}  // namespace tailor::costmodel
