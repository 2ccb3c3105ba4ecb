// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which values of a program its machine code has, and where it computes them. In: a kernel, statement by statement.
// Out: for a value the statement whose executions compute it. Called by cost.cpp, which knows what each costs.
//
// What the compiler does with straight arithmetic, whatever the kernel:
// - a value that nobody reads is not computed;
// - a value whose operands are the same in all copies, or in all passes, of a loop is computed once, in front of it.
//   A guard in the loop keeps it, unless its first copy runs in any case;
// - a product of f32 that only sums and differences read is part of their multiply-adds;
// - an index that differs from copy to copy by a constant alone is the first one and a constant;
// - a quotient that several indices have is made once;
// - a condition is asked once for all guards that have it, and not by copies of which it is known;
// - conversions to 16 bits whose results are neighbours in a vector are done two at a time;
// - of a selection by the number of a copy each copy has the value that it takes, and what only that value needs.
#include <algorithm>
#include <bit>
#include <optional>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

using ir::StmtKind;

namespace {

/// Functions of f32 whose last instruction is a product.
bool ends_in_product(const ir::Kernel& kernel, const ir::Value& value) {
  if (value.kind != ir::ValueKind::op || value.dtype != ir::DType::f32) return false;
  switch (value.op) {
    case ir::Op::multiply:
      return true;
    case ir::Op::divide:
      return ir::computed(value.op, value.dtype, kernel.arithmetic).by != ir::Arithmetic::ieee;
    case ir::Op::exp:
      return ir::computed(value.op, value.dtype, kernel.arithmetic).by == ir::Arithmetic::xla;
    default:
      return false;
  }
}

constexpr std::uint64_t every_copy = ~std::uint64_t{0};

bool holds(ir::Comparison comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case ir::Comparison::eq:
      return a == b;
    case ir::Comparison::ne:
      return a != b;
    case ir::Comparison::ge:
      return a >= b;
    case ir::Comparison::gt:
      return a > b;
    case ir::Comparison::le:
      return a <= b;
    case ir::Comparison::lt:
      return a < b;
  }
  return false;
}

bool is_sum(const ir::Value& value) {
  return value.kind == ir::ValueKind::op && value.dtype == ir::DType::f32 &&
         (value.op == ir::Op::add || value.op == ir::Op::subtract);
}

}  // namespace

ValueWalk::ValueWalk(const ir::Kernel& kernel, ValueScratch& scratch) : kernel_(kernel), scratch_(scratch) {
  scratch_.lets.assign(kernel.lets.size(), {});
  scratch_.writes.clear();
  scratch_.open.clear();
  scratch_.charged.clear();
  find_inner_loops();
  for (std::size_t at = 0; at < kernel.body.size(); ++at)
    if (const ir::Stmt& stmt = kernel.body[at]; stmt.kind == StmtKind::let) {
      scratch_.lets[stmt.let].value = stmt.value;
      scratch_.lets[stmt.let].made_in = scratch_.inner[at];
    }
  // A let is read below where it is made, so readers come first this way.
  for (std::int32_t at = static_cast<std::int32_t>(kernel.body.size()); at-- > 0;) {
    const ir::Stmt& stmt = kernel.body[static_cast<std::size_t>(at)];
    if (stmt.target.array != ir::no_id && stmt.kind != StmtKind::store)
      scratch_.writes.emplace_back(stmt.target.array, at);
    if (stmt.kind == StmtKind::let && !is_read(stmt.let)) continue;
    look_at(stmt);
    const std::uint64_t copies = stmt.kind == StmtKind::let ? scratch_.lets[stmt.let].needed : every_copy;
    need(stmt.value, scratch_.inner[static_cast<std::size_t>(at)], copies);
  }
  std::sort(scratch_.writes.begin(), scratch_.writes.end());
}

/// Loops of more copies than there are bits are as rolled ones, and so is what stands behind a guard.
void ValueWalk::find_inner_loops() {
  scratch_.inner.assign(kernel_.body.size(), -1);
  scratch_.open.clear();
  for (std::int32_t at = 0; at < std::ssize(kernel_.body); ++at) {
    while (!scratch_.open.empty() && scratch_.open.back().end <= at) scratch_.open.pop_back();
    if (!scratch_.open.empty() && scratch_.open.back().unrolled)
      scratch_.inner[static_cast<std::size_t>(at)] = scratch_.open.back().at;
    const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
    if (stmt.kind != StmtKind::loop && stmt.kind != StmtKind::guard) continue;
    const bool loop = stmt.kind == StmtKind::loop;
    const bool few = loop && stmt.unrolled && kernel_.indices.vars[stmt.var].extent <= 64;
    scratch_.open.push_back({at, stmt.end, loop, few, false, stmt.var});
  }
  scratch_.open.clear();
}

void ValueWalk::need(ir::ValueId id, std::int32_t loop, std::uint64_t copies) {
  if (id == ir::no_value) return;
  const ir::Value& value = kernel_.values[id];
  if (value.kind == ir::ValueKind::let) {
    LetFacts& let = scratch_.lets[value.let];
    let.needed |= let.made_in == loop ? copies : every_copy;
  }
  const std::optional<std::uint64_t> first = first_of(value, loop);
  for (std::size_t i = first ? 1 : 0; i < value.operands.size(); ++i)
    need(value.operands[i], loop, !first ? copies : i == 1 ? copies & *first : copies & ~*first);
}

std::pair<std::int32_t, std::int64_t> ValueWalk::needed_copies(ir::LetId let) const {
  const LetFacts& facts = scratch_.lets[let];
  if (facts.made_in < 0 || facts.value == ir::no_value) return {-1, 0};
  const std::int64_t extent = kernel_.indices.vars[kernel_.body[static_cast<std::size_t>(facts.made_in)].var].extent;
  const std::uint64_t all = extent == 64 ? every_copy : (std::uint64_t{1} << extent) - 1;
  if ((facts.needed & all) == all) return {-1, 0};
  return {facts.made_in, std::popcount(facts.needed & all)};
}

std::optional<std::uint64_t> ValueWalk::first_of(const ir::Value& selection, std::int32_t loop) const {
  if (loop < 0 || selection.kind != ir::ValueKind::op || selection.op != ir::Op::select) return std::nullopt;
  const ir::Value& asked = made(selection.operands[0]);
  if (asked.kind != ir::ValueKind::op || asked.op != ir::Op::compare) return std::nullopt;
  const ir::VarId var = kernel_.body[static_cast<std::size_t>(loop)].var;
  std::uint64_t first = 0;
  for (std::int64_t copy = 0; copy < kernel_.indices.vars[var].extent; ++copy) {
    const std::optional<std::int64_t> a = number_in(asked.operands[0], var, copy),
                                      b = number_in(asked.operands[1], var, copy);
    if (!a || !b) return std::nullopt;
    first |= std::uint64_t{holds(asked.comparison, *a, *b)} << copy;
  }
  return first;
}

/// What an integer is in a copy of a loop, where it is made of that copy's number and constants.
std::optional<std::int64_t> ValueWalk::number_in(ir::ValueId id, ir::VarId var, std::int64_t copy) const {
  const ir::Value& value = kernel_.values[id];
  if (value.kind == ir::ValueKind::constant && ir::is_integer(value.dtype)) return value.integer;
  if (value.kind != ir::ValueKind::index || !ir::is_integer(value.dtype)) return std::nullopt;
  return costmodel::number_in(kernel_.indices, value.index, var, copy);
}

void ValueWalk::look_at(const ir::Stmt& stmt) {
  read(stmt.value);
  if (stmt.value == ir::no_value || stmt.kind != StmtKind::assign) return;
  const ir::Value& value = kernel_.values[stmt.value];
  if (value.kind != ir::ValueKind::let) return;
  LetFacts& let = scratch_.lets[value.let];
  if (stmt.op == ir::Op::add && value.dtype == ir::DType::f32) sum_of(stmt.value, ir::no_value);
  if (stmt.op != ir::Op::copy || stmt.target.lane == ir::no_expr) return;
  const ir::VarSet vars = kernel_.indices[stmt.target.lane].vars;
  if (vars.empty()) return;
  let.vectors += 1;
  let.vector = static_cast<ir::VarId>(vars.first());
  let.array = stmt.target.array;
}

void ValueWalk::read(ir::ValueId id) {
  if (id == ir::no_value) return;
  const ir::Value& value = kernel_.values[id];
  if (value.kind == ir::ValueKind::let) scratch_.lets[value.let].reads += 1;
  for (const ir::ValueId operand : value.operands) read(operand);
  if (is_sum(value)) sum_of(value.operands[0], value.operands[1]);
}

bool ValueWalk::is_product(ir::ValueId id) const {
  if (id == ir::no_value) return false;
  return ends_in_product(kernel_, made(id));
}

ir::ValueId ValueWalk::product_in(ir::ValueId a, ir::ValueId b) const {
  return is_product(a) ? a : is_product(b) ? b : ir::no_value;
}

/// A sum takes one product in.
void ValueWalk::sum_of(ir::ValueId a, ir::ValueId b) {
  const ir::ValueId product = product_in(a, b);
  if (product == ir::no_value) return;
  const ir::Value& value = kernel_.values[product];
  if (value.kind == ir::ValueKind::let) scratch_.lets[value.let].sums += 1;
}

bool ValueWalk::is_taken_in(ir::LetId let) const {
  const LetFacts& facts = scratch_.lets[let];
  return facts.sums > 0 && facts.sums == facts.reads;
}

bool ValueWalk::takes_in(const ir::Value& sum) const {
  if (!is_sum(sum)) return false;
  const ir::ValueId product = product_in(sum.operands[0], sum.operands[1]);
  return product != ir::no_value && kernel_.values[product].kind != ir::ValueKind::let;
}

bool ValueWalk::takes_in(const ir::Stmt& sum) const {
  return sum.kind == StmtKind::assign && sum.op == ir::Op::add && is_product(sum.value) &&
         kernel_.values[sum.value].kind != ir::ValueKind::let;
}

void ValueWalk::enter(std::int32_t at) {
  scratch_.at = at;
  while (!scratch_.open.empty() && scratch_.open.back().end <= at) scratch_.open.pop_back();
  if (at == 0) return;
  const std::int32_t before = at - 1;  // what it opens is around this one
  const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(before)];
  if ((stmt.kind != StmtKind::loop && stmt.kind != StmtKind::guard) || stmt.end <= at) return;
  const bool loop = stmt.kind == StmtKind::loop;
  scratch_.open.push_back({before, stmt.end, loop, loop && stmt.unrolled, !loop && first_copy_runs(stmt), stmt.var});
}

void ValueWalk::define(std::int32_t at, ir::VarSet vars) {
  const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
  if (stmt.let != ir::no_id) scratch_.lets[stmt.let].vars = stmt.kind == StmtKind::let ? vars : all_loops();
}

ir::VarSet ValueWalk::all_loops() const {
  ir::VarSet all;
  for (const OpenScope& scope : scratch_.open)
    if (scope.loop) all |= ir::VarSet::only(scope.var);
  return all;
}

/// Numbers from memory may be others in each pass.
ir::VarSet ValueWalk::of_loops(const ir::VarSet& vars) const {
  for (ir::VarSet left = vars; !left.empty(); left.drop_first()) {
    const ir::VarKind kind = kernel_.indices.vars[left.first()].kind;
    if (kind == ir::VarKind::data || kind == ir::VarKind::picked) return all_loops();
  }
  return vars & all_loops();
}

ir::VarSet ValueWalk::vars_of(const ir::Ref& element) const {
  ir::VarSet vars;
  for (const ir::ExprId part : {element.subs[0], element.subs[1], element.lane})
    if (part != ir::no_expr) vars |= of_loops(kernel_.indices[part].vars);
  for (const OpenScope& scope : scratch_.open) {
    if (!scope.loop) continue;
    const auto write = std::lower_bound(scratch_.writes.begin(), scratch_.writes.end(),
                                        std::pair<ir::ArrayId, std::int32_t>(element.array, scope.at));
    if (write != scratch_.writes.end() && write->first == element.array && write->second < scope.end)
      vars |= ir::VarSet::only(scope.var);
  }
  return vars;
}

bool ValueWalk::is_constant(ir::VarId var) const {
  return std::any_of(scratch_.open.begin(), scratch_.open.end(),
                     [&](const OpenScope& scope) { return scope.unrolled && scope.var == var; });
}

std::int32_t ValueWalk::place(const ir::VarSet& vars) const {
  std::int32_t found = scratch_.at;
  for (std::size_t i = scratch_.open.size(); i-- > 0;) {
    const OpenScope& scope = scratch_.open[i];
    if (scope.loop ? vars.has(scope.var) : !scope.runs) break;
    if (scope.loop) found = scope.at;
  }
  return found;
}

std::pair<std::int32_t, std::int64_t> ValueWalk::place_of_copies(const ir::VarSet& vars) const {
  std::pair<std::int32_t, std::int64_t> found{scratch_.at, 1};
  std::int64_t copies = 1;
  for (std::size_t i = scratch_.open.size(); i-- > 0;) {
    const OpenScope& scope = scratch_.open[i];
    if (scope.loop ? vars.has(scope.var) && !scope.unrolled : !scope.runs) break;
    if (!scope.loop) continue;
    if (vars.has(scope.var))
      copies *= kernel_.indices.vars[scope.var].extent;
    else
      found = {scope.at, copies};
  }
  return found;
}

bool ValueWalk::is_first(const ir::Value& operand, const ir::VarSet& vars) {
  std::uint64_t key = operand.kind == ir::ValueKind::let       ? std::uint64_t{operand.let} << 1
                      : operand.kind == ir::ValueKind::element ? std::uint64_t{operand.element.array} << 1 | 1
                                                               : 0;
  if (key == 0 && operand.kind != ir::ValueKind::let) return true;
  if (operand.kind == ir::ValueKind::element) {  // and the last time that the array was written
    const auto write = std::lower_bound(scratch_.writes.begin(), scratch_.writes.end(),
                                        std::pair<ir::ArrayId, std::int32_t>(operand.element.array, scratch_.at));
    if (write != scratch_.writes.begin() && std::prev(write)->first == operand.element.array)
      key = mixed(key, static_cast<std::uint64_t>(std::prev(write)->second) + 2);
    for (const ir::ExprId part : {operand.element.subs[0], operand.element.subs[1], operand.element.lane})
      key = mixed(key, std::uint64_t{part} + 1);
  }
  return is_new(key, vars);
}

bool ValueWalk::is_first(const ir::Condition& condition, const ir::VarSet& vars) {
  return is_new(mixed(mixed(condition.equal ? 3 : 5, condition.a), condition.b), vars);
}

bool ValueWalk::is_first(ir::TermId term, const ir::VarSet& vars) { return is_new(mixed(7, term), vars); }

bool ValueWalk::is_first(const ir::Term& quotient, const ir::VarSet& vars) {
  return is_new(mixed(mixed(9, quotient.a), static_cast<std::uint64_t>(quotient.divisor)), vars);
}

bool ValueWalk::is_first_address(const ir::Stmt& access) {
  std::uint64_t key = mixed(11, std::uint64_t{access.memory} << 8 | static_cast<std::uint64_t>(access.space));
  if (access.expr == ir::no_expr) return true;
  for (const ir::Linear& linear : kernel_.indices.linear(access.expr))
    key = mixed(mixed(key, linear.term), static_cast<std::uint64_t>(linear.coefficient));
  return is_new(key, all_loops());
}

bool ValueWalk::is_first_number(ir::ExprId index, const ir::VarSet& vars) { return is_new(mixed(13, index), vars); }

/// By the scopes around the place: what one of them has made is there inside of it.
bool ValueWalk::is_new(std::uint64_t key, const ir::VarSet& vars) {
  const auto in = [&](std::int32_t scope) { return mixed(key, static_cast<std::uint64_t>(scope + 2)); };
  const std::int32_t at = place(vars);
  std::int32_t around = -1;
  for (const OpenScope& scope : scratch_.open) {
    if (scope.at >= at) continue;
    if (scratch_.charged.contains(in(around))) return false;
    around = scope.at;
  }
  return scratch_.charged.insert(in(around));
}

std::pair<std::int32_t, std::int64_t> ValueWalk::known_copies(const ir::Condition& condition) const {
  if (scratch_.open.empty() || !scratch_.open.back().unrolled || condition.equal) return {-1, 0};
  const OpenScope& loop = scratch_.open.back();
  std::int64_t step = 0, others = kernel_.indices[condition.a].constant;
  for (const ir::Linear& linear : kernel_.indices.linear(condition.a)) {
    const ir::Term& term = kernel_.indices.terms[linear.term];
    if (term.kind == ir::TermKind::var && term.var == loop.var)
      step = linear.coefficient;
    else
      others += linear.coefficient * (linear.coefficient > 0 ? term.range.high : term.range.low);
  }
  const std::int64_t room = kernel_.indices[condition.b].range.low - 1 - others;
  if (step <= 0 || room < 0) return {loop.at, 0};
  return {loop.at, std::min(room / step + 1, kernel_.indices.vars[loop.var].extent)};
}

std::int32_t ValueWalk::vector_of(ir::LetId let) const {
  const LetFacts& facts = scratch_.lets[let];
  return facts.vectors == 0 ? -1 : unrolled_loop(facts.vector);
}

std::int32_t ValueWalk::vector_of(const ir::Ref& element) const {
  if (element.lane == ir::no_expr) return -1;
  const ir::VarSet vars = kernel_.indices[element.lane].vars;
  return vars.empty() ? -1 : unrolled_loop(static_cast<ir::VarId>(vars.first()));
}

/// Around the statement at hand, with none that is rolled between them.
std::int32_t ValueWalk::unrolled_loop(ir::VarId var) const {
  for (std::size_t i = scratch_.open.size(); i-- > 0;) {
    const OpenScope& scope = scratch_.open[i];
    if (!scope.unrolled) return -1;
    if (scope.var == var) return scope.at;
  }
  return -1;
}

/// In the first copy the variables of unrolled loops are 0.
std::int64_t ValueWalk::most_in_first_copy(ir::ExprId id) const {
  std::int64_t most = kernel_.indices[id].constant;
  for (const ir::Linear& linear : kernel_.indices.linear(id)) {
    const ir::Term& term = kernel_.indices.terms[linear.term];
    if (term.kind == ir::TermKind::var && is_constant(term.var)) continue;
    most += linear.coefficient * (linear.coefficient > 0 ? term.range.high : term.range.low);
  }
  return most;
}

bool ValueWalk::first_copy_runs(const ir::Stmt& guard) const {
  if (guard.value != ir::no_value || guard.otherwise) return false;
  return std::all_of(guard.conditions.begin(), guard.conditions.end(), [&](const ir::Condition& condition) {
    if (condition.a == ir::no_expr) return true;
    return !condition.equal && most_in_first_copy(condition.a) < kernel_.indices[condition.b].range.low;
  });
}

}  // namespace tailor::costmodel
