// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads of parameters and stores of outputs: how wide, how far out, under which guards.
#include <algorithm>

#include "ir/lower_build.h"

namespace tailor::ir {

namespace {

std::uint64_t vars_of(const IndexPool& pool, std::span<const Condition> conditions) {
  std::uint64_t vars = 0;
  for (const Condition& c : conditions) vars |= pool[c.a].vars | pool[c.b].vars;
  return vars;
}

}  // namespace

void ProgramBuilder::put_guards(int depth, std::span<const Condition> conditions, int inner) {
  int guards = static_cast<int>((conditions.size() + 1) / 2);
  for (std::size_t i = 0; i < conditions.size(); i += 2) {
    Stmt guard;
    guard.kind = StmtKind::guard;
    guard.conditions[0] = conditions[i];
    if (i + 1 < conditions.size()) guard.conditions[1] = conditions[i + 1];
    guard.end = --guards + inner;
    put(depth, guard);
  }
}

int ProgramBuilder::widest_access(DType dtype) const {
  return std::min(segment_->vector, 8 * access_bytes / row(dtype).bits);
}

ProgramBuilder::Access ProgramBuilder::access_of(NodeId id, const Demand& wanted, std::uint64_t guard_vars) {
  const Node& node = node_at(id);
  const IndexPool& pool = s_.build.pool();
  Access access;
  access.place = s_.build.expand(memory_index(s_.build, node.shape, wanted.place));
  access.base = access.place;
  access.has_element = segment_ && segment_->vector > 1 && (pool[access.place].vars >> segment_->element & 1) != 0;
  if (access.has_element && (guard_vars >> segment_->element & 1) == 0 && steps_by_element(access.place)) {
    const ExprId base = s_.build.subtract(access.place, s_.build.var(segment_->element));
    if (outside_elements(pool[base].vars | guard_vars))
      access.width = aligned_width(base, widest_access(node.shape.dtype));
    if (access.width > 1) access.base = base;
  }
  access.depth = depth_for(pool[access.base].vars | guard_vars);
  const bool is_full = prepared_.full[static_cast<std::size_t>(id)] != 0;
  access.policy = is_full ? (later_loads ? Policy::reload : Policy::once) : Policy::again;
  return access;
}

bool ProgramBuilder::steps_by_element(ExprId place) const {
  const IndexPool& pool = s_.build.pool();
  return coefficient(pool, place, segment_->element) == 1 && !is_nested(pool, place, segment_->element);
}

Val ProgramBuilder::load_scalar(NodeId id, const Access& access) {
  const Node& node = node_at(id);
  kernel_.lets.push_back({name_of(id), node.shape.dtype});
  Stmt stmt;
  stmt.kind = StmtKind::load;
  stmt.let = static_cast<LetId>(kernel_.lets.size() - 1);
  stmt.memory = static_cast<std::uint16_t>(node.attributes.number);
  stmt.expr = access.place;
  stmt.policy = access.policy;
  put(access.depth, stmt);
  Value value;
  value.kind = ValueKind::let;
  value.dtype = node.shape.dtype;
  value.let = stmt.let;
  return {add_value(value), access.depth};
}

Ref ProgramBuilder::load_array(NodeId id, const Access& access, const Kept* kept,
                               std::span<const Condition> conditions) {
  const Node& node = node_at(id);
  const DType dtype = node.shape.dtype;
  const int count = access.width > 1 ? segment_->vector : 1;
  Ref target;
  if (kept) {
    target = kept_ref(*kept, no_expr);
  } else {
    target.array = add_array({name_of(id), Space::registers, dtype, {0, 0}, count});
    declare(access.depth, target.array, conditions.empty() ? no_value : number(dtype, 0, 0).id);
  }
  const ExprId e = access.has_element ? s_.build.var(segment_->element) : no_expr;
  put_guards(access.depth, conditions, count / access.width);
  for (int done = 0; done < count; done += access.width) {
    Stmt stmt;
    stmt.kind = StmtKind::load;
    stmt.target = target;
    stmt.target.lane = access.width > 1 ? s_.build.constant(done) : (kept ? e : no_expr);
    stmt.memory = static_cast<std::uint16_t>(node.attributes.number);
    stmt.expr = s_.build.add_constant(access.base, done);
    stmt.width = static_cast<std::uint8_t>(access.width);
    stmt.policy = access.policy;
    put(access.depth, stmt);
  }
  target.lane = access.width > 1 || kept ? e : no_expr;
  return target;
}

Entry ProgramBuilder::emit_load(NodeId id, const Demand& wanted) {
  const DType dtype = node_at(id).shape.dtype;
  const std::vector<Condition> conditions = conditions_of(wanted.predicate);
  const std::uint64_t guard_vars = vars_of(s_.build.pool(), conditions);
  const Access access = access_of(id, wanted, guard_vars);
  name_index(access.base);
  const bool keeps = wanted.predicate == 0 && access.has_element && !keep_in_shared_ &&
                     std::binary_search(keeping_.begin(), keeping_.end(), id);
  const Kept* kept = keeps ? kept_place(id, wanted.place) : nullptr;
  Entry entry;
  if (access.width == 1 && !kept && conditions.empty()) {
    entry.raw = load_scalar(id, access);
  } else {
    const Ref ref = load_array(id, access, kept, conditions);
    entry.raw = element(dtype, ref, depth_for(s_.build.pool()[access.place].vars | guard_vars));
  }
  entry.compute = widen(entry.raw, dtype, id);
  return entry;
}

bool ProgramBuilder::store_vector(NodeId id, std::uint16_t memory, ExprId at, ValueId value) {
  const DType dtype = node_at(id).shape.dtype;
  const IndexPool& pool = s_.build.pool();
  if (!segment_ || segment_->vector == 1 || !steps_by_element(at)) return false;
  const ExprId base = s_.build.subtract(at, s_.build.var(segment_->element));
  const int width = aligned_width(base, widest_access(dtype));
  // A place that a guard has narrowed to one need not name the guard's variables any more, but only those it lets pass
  // may write there.
  const std::uint64_t vars = pool[base].vars | guard_vars();
  if (width == 1 || !outside_elements(vars)) return false;
  const int outside = depth_for(vars);
  Stmt assign;
  assign.kind = StmtKind::assign;
  assign.target.array = add_array({name_of(id), Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, assign.target.array);
  assign.target.lane = s_.build.var(segment_->element);
  assign.value = value;
  put(depth(), assign);
  store_pieces(outside, true, assign.target, Space::global, memory, base, width, segment_->vector);
  return true;
}

void ProgramBuilder::store_output(std::int32_t output, const Place& place) {
  const NodeId id = graph_.outputs[static_cast<std::size_t>(output)];
  const Entry entry = value_of(id, place);
  if (refusal_) return;
  const Node& node = node_at(id);
  const IndexPool& pool = s_.build.pool();
  const ExprId at = s_.build.expand(memory_index(s_.build, node.shape, place));
  const Val raw = raw_of(entry, node.shape.dtype);
  name_index(at);
  Stmt store;
  store.kind = StmtKind::store;
  store.memory =
      static_cast<std::uint16_t>(kernel_.buffers.size() - graph_.outputs.size() + static_cast<std::size_t>(output));
  if (store_vector(id, store.memory, at, raw.id)) return;
  store.expr = at;
  store.value = raw.id;
  // Threads that share the element: one of them writes it.
  std::vector<Condition> conditions;
  for (std::size_t v = 0; v < pool.vars.size(); ++v) {
    const Var& var = pool.vars[v];
    if (var.kind == VarKind::thread && var.extent > 1 && (pool[at].vars >> v & 1) == 0)
      conditions.push_back({s_.build.var(static_cast<VarId>(v)), s_.build.constant(0), true});
  }
  const int depth = std::max(depth_for(pool[at].vars), raw.depth);
  put_guards(depth, conditions, 1);
  put(depth, store);
}

}  // namespace tailor::ir
