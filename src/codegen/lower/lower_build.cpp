// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel under construction: scopes, arrays, values and memory statements. In: calls of the phases
// (lower_phases.cpp) and of emission (lower_emit.cpp), which decide in which loops and what. Out: the Kernel, or a
// refusal. Called by the lowering only.
//
// Scopes are a stack of open loops and guards. Each has two lists of statements, those that stand before what is opened
// in it next and those that stand after; closing a scope appends it to its parent, or drops it when it stayed empty.
//
// The value cache holds, for each node, the values that were computed so far, by coordinates and by the predicate under
// which they exist. Coordinates are canonical index expressions (index_build.h), so equal elements have equal keys. A
// value lives in the outermost scope that defines all variables of its coordinates, and is found again from every scope
// inside. Therefore what does not depend on a loop is computed once in front of it, and no later pass has to move it.
// Arithmetic may be placed outside a guard; a memory access may not leave a guard that shares a variable with its
// address. When the phase of a row ends its values are forgotten, but for those that have a home (lower_keep.cpp).
#include "codegen/lower/lower_build.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "ir/graph/reducer.h"
#include "ir/graph/region_reduction.h"
#include "ir/kernel/unread.h"

namespace tailor::codegen {

namespace {

bool is_conversion(const ir::Value& value) { return value.kind == ir::ValueKind::convert; }

}  // namespace

ProgramBuilder::ProgramBuilder(const Prepared& prepared, const ir::Plan& plan, LowerScratch::State& state)
    : prepared_(prepared), plan_(plan), graph_(*prepared.graph), s_(state) {
  s_.build.reset();
  s_.depth = 0;
  forget_values();
  s_.strip_places.clear();
  if (s_.entries.size() < graph_.nodes.size()) s_.entries.resize(graph_.nodes.size());
  if (s_.demands.size() < graph_.nodes.size()) s_.demands.resize(graph_.nodes.size());
  for (std::vector<Demand>& list : s_.demands) list.clear();
  if (s_.kept.size() < graph_.nodes.size()) s_.kept.resize(graph_.nodes.size());
  for (const ir::NodeId id : s_.kept_nodes) s_.kept[id].clear();
  s_.kept_nodes.clear();
  s_.accumulators.clear();
  s_.walked.clear();
  s_.starts.clear();
  s_.picks.clear();
  s_.picked = {};
  s_.late = {};
  s_.predicates.assign(1, {});
  s_.facts.clear();
  s_.named.clear();
  kernel_.name = prepared.title;
  kernel_.threads = plan.threads;
  kernel_.index_cache = plan.index_cache;
  kernel_.arithmetic = plan.arithmetic;
  kernel_.values.reserve(128);
  for (const ir::NodeId id : parameters(graph_)) {
    const ir::Node& node = node_at(id);
    kernel_.buffers.push_back({name_of(id), node.shape.dtype, elements(node.shape), ir::BufferRole::input});
  }
  first_output_ = kernel_.buffers.size();
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ir::NodeId id = graph_.outputs[i];
    const ir::Node& node = node_at(id);
    ir::Buffer result{name_of(id), node.shape.dtype, elements(node.shape), ir::BufferRole::output};
    for (const ir::InPlace& pair : graph_.in_place)
      if (ir::index(pair.output) == i) {
        result.role = ir::BufferRole::in_place;
        result.of = static_cast<ir::BufferId>(pair.parameter);
      }
    kernel_.buffers.push_back(std::move(result));
  }
  open_guard({});
}

void ProgramBuilder::refuse(const ir::Refusal& rule, std::string reason) {
  if (!refusal_) refusal_ = ir::Rejection{rule, std::move(reason)};
}

// ---- scopes

void ProgramBuilder::open_loop(ir::VarId var, bool unrolled, bool backward) {
  if (s_.frames.size() == s_.depth) s_.frames.emplace_back();
  ScopeFrame& frame = s_.frames[s_.depth++];
  frame.kind = ir::StmtKind::loop;
  frame.var = var;
  frame.unrolled = unrolled;
  frame.backward = backward && !unrolled;
  frame.value = ir::no_value;
  frame.guard_vars = {};
  frame.serial = ++s_.serials;
  frame.before.clear();
  frame.after.clear();
}

ir::VarId ProgramBuilder::loop_var(std::string_view name, std::int64_t extent) {
  const std::vector<ir::Var>& vars = s_.build.pool().vars;
  const auto is_open = [&](std::size_t v) {
    for (std::size_t i = 1; i < s_.depth; ++i)
      if (s_.frames[i].kind == ir::StmtKind::loop && s_.frames[i].var == v) return true;
    return false;
  };
  for (std::size_t v = 0; v < vars.size(); ++v)
    if (vars[v].kind == ir::VarKind::loop && vars[v].name == name && vars[v].extent == extent && !is_open(v))
      return static_cast<ir::VarId>(v);
  return s_.build.add_var({std::string(name), ir::VarKind::loop, extent, 1});
}

void ProgramBuilder::open_guard(std::span<const ir::Condition> conditions) {
  open_loop(0, false);
  ScopeFrame& frame = s_.frames[s_.depth - 1];
  frame.kind = ir::StmtKind::guard;
  frame.conditions = {};
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    frame.conditions[i] = conditions[i];
    frame.guard_vars |= s_.build.pool()[conditions[i].a].vars | s_.build.pool()[conditions[i].b].vars;
  }
}

void ProgramBuilder::open_agreed(ir::ValueId value, const ir::Condition& counted) {
  open_guard({&counted, 1});
  s_.frames[s_.depth - 1].value = value;
  floor_ = depth();
}

void ProgramBuilder::close() {
  ScopeFrame& frame = s_.frames[--s_.depth];
  if (frame.value != ir::no_value) {
    floor_ = 0;  // that of the agreed guard around it, if there is one
    for (int i = depth(); i > 0 && floor_ == 0; --i)
      if (s_.frames[i].value != ir::no_value) floor_ = i;
  }
  ScopeFrame& outer = s_.frames[s_.depth - 1];
  assert(frame.after.empty());
  if (frame.before.empty()) return;
  ir::Stmt head;
  head.kind = frame.kind;
  head.var = frame.var;
  head.unrolled = frame.unrolled;
  head.backward = frame.backward;
  head.conditions = frame.conditions;
  head.value = frame.value;
  head.end = static_cast<std::int32_t>(frame.before.size());  // relative until take()
  outer.before.push_back(head);
  outer.before.insert(outer.before.end(), frame.before.begin(), frame.before.end());
  outer.before.insert(outer.before.end(), outer.after.begin(), outer.after.end());
  outer.after.clear();
}

void ProgramBuilder::put_barrier(ir::StitchLevel scope, ir::Half half) {
  ir::Stmt barrier;
  barrier.kind = ir::StmtKind::barrier;
  barrier.scope = scope;
  barrier.half = half;
  put(depth(), barrier);
}

void ProgramBuilder::put_wait() {
  ir::Stmt wait;
  wait.kind = ir::StmtKind::wait;
  put(depth(), wait);
}

void ProgramBuilder::put_meeting(ir::BufferId ticket, ir::ExprId counter, ir::ExprId rank) {
  ir::Stmt barrier;
  barrier.kind = ir::StmtKind::barrier;
  barrier.scope = ir::StitchLevel::grid;
  barrier.memory = ticket;
  barrier.expr = counter;
  barrier.rank = rank;
  put(depth(), barrier);
  kernel_.cooperative = true;
}

int ProgramBuilder::depth_for(ir::VarSet vars, bool anywhere) const {
  if (vars.overlaps(s_.picked)) {
    int depth = depth_for(vars.without(s_.picked), anywhere);
    for (const Pick& pick : s_.picks)
      if (vars.has(pick.var) && is_bound(pick)) depth = std::max(depth, pick.depth);
    return depth;
  }
  for (std::size_t i = s_.depth; i-- > 1;) {
    const ScopeFrame& frame = s_.frames[i];
    const ir::VarSet own = frame.kind == ir::StmtKind::loop ? ir::VarSet::only(frame.var) : frame.guard_vars;
    // Asked anew in each pass of a loop; where it is asked once, what it keeps out would be loaded by all.
    if (anywhere && frame.kind == ir::StmtKind::guard && frame.value == ir::no_value &&
        std::any_of(s_.frames.begin(), s_.frames.begin() + static_cast<std::ptrdiff_t>(i), [&](const ScopeFrame& one) {
          return one.kind == ir::StmtKind::loop && own.without(vars).has(one.var);
        }))
      continue;
    if (own.overlaps(vars)) return std::max(static_cast<int>(i), floor_);
  }
  return floor_;
}

ir::VarSet ProgramBuilder::guard_vars() const {
  ir::VarSet vars;
  for (std::size_t i = 0; i < s_.depth; ++i) vars |= s_.frames[i].guard_vars;
  return vars;
}

bool ProgramBuilder::is_guarded(int depth, const ir::Condition& condition) const {
  for (int i = 1; i <= depth; ++i) {
    const ScopeFrame& frame = s_.frames[i];
    if (frame.kind != ir::StmtKind::guard || frame.value != ir::no_value) continue;
    for (const ir::Condition& one : frame.conditions)
      if (one.a == condition.a && one.b == condition.b && one.equal == condition.equal) return true;
  }
  return false;
}

bool ProgramBuilder::outside_elements(ir::VarSet vars) const {
  return depth_for(vars) < depth_for(ir::VarSet::only(segment_->element));
}

void ProgramBuilder::forget_values() {
  for (const ir::NodeId id : s_.touched) s_.entries[id].clear();
  s_.touched.clear();
  s_.lines.clear();
  s_.tests.clear();
}

ir::Kernel ProgramBuilder::take() {
  assert(s_.depth == 1);
  ScopeFrame& root = s_.frames[0];
  assert(root.after.empty());
  kernel_.body = root.before;
  s_.depth = 0;
  for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
    ir::Stmt& stmt = kernel_.body[i];
    if (stmt.kind == ir::StmtKind::loop || stmt.kind == ir::StmtKind::guard)
      stmt.end += static_cast<std::int32_t>(i) + 1;
  }
  // Only what is widened is made for readers that may not come.
  if (std::any_of(kernel_.values.begin(), kernel_.values.end(), is_conversion)) ir::drop_unread_lets(kernel_);
  kernel_.indices = s_.build.take();
  return std::move(kernel_);
}

// ---- arrays and values

ir::ArrayId ProgramBuilder::add_array(ir::Array array) {
  if (kernel_.arrays.size() + 1 >= ir::no_id) refuse("size", "the kernel would need over 65,000 arrays");
  kernel_.arrays.push_back(std::move(array));
  return static_cast<ir::ArrayId>(kernel_.arrays.size() - 1);
}

ir::ArrayId ProgramBuilder::add_shared(std::string name, ir::DType dtype, std::int64_t elements) {
  const std::int64_t bytes = elements * row(dtype).bits / 8;
  kernel_.shared_bytes += (bytes + ir::access_bytes - 1) / ir::access_bytes * ir::access_bytes;
  const ir::ArrayId array = add_array({std::move(name), ir::Space::shared, dtype, {elements, 0}, 1});
  declare(0, array);
  return array;
}

ir::BufferId ProgramBuilder::add_buffer(ir::Buffer buffer) {
  kernel_.buffers.push_back(std::move(buffer));
  return static_cast<ir::BufferId>(kernel_.buffers.size() - 1);
}

ir::ValueId ProgramBuilder::define(ir::Stmt& stmt, std::string_view name, ir::DType dtype) {
  kernel_.lets.push_back({std::string(name), dtype});
  stmt.let = static_cast<ir::LetId>(kernel_.lets.size() - 1);
  ir::Value value;
  value.kind = ir::ValueKind::let;
  value.dtype = dtype;
  value.let = stmt.let;
  return add_value(value);
}

void ProgramBuilder::declare(int depth, ir::ArrayId array, ir::ValueId initial) {
  ir::Stmt stmt;
  stmt.kind = ir::StmtKind::declare;
  stmt.target.array = array;
  stmt.value = initial;
  put(depth, stmt);
}

ir::ValueId ProgramBuilder::add_value(const ir::Value& value) {
  kernel_.values.push_back(value);
  return static_cast<ir::ValueId>(kernel_.values.size() - 1);
}

Val ProgramBuilder::number(ir::DType dtype, double real, std::int64_t integer) {
  ir::Value value;
  value.kind = ir::ValueKind::constant;
  value.dtype = dtype;
  value.real = real;
  value.integer = integer;
  return {add_value(value), 0};
}

ir::ValueId ProgramBuilder::start_of_sum(const ir::Node& reduce, std::size_t array) {
  const std::vector<ir::Reducer> known = ir::known_reducers(graph_, reduce);
  const ir::Node& start = node_at(reduce.operands[ir::reduced_count(reduce) + array]);
  const ir::DType dtype = start.shape.dtype;
  if (known.empty()) return constant_of(start, row(dtype).compute).id;
  const ir::Neutral zero = neutral(known[array], dtype);
  return number(row(dtype).compute, zero.real, zero.integer).id;
}

Val ProgramBuilder::let(int depth, std::string_view name, ir::DType dtype, ir::ValueId value) {
  if (kernel_.lets.size() + 1 >= ir::no_id) {
    refuse("size", "the kernel would need over 65,000 values");
    kernel_.lets.clear();
  }
  kernel_.lets.push_back({std::string(name), dtype});
  ir::Stmt stmt;
  stmt.kind = ir::StmtKind::let;
  stmt.let = static_cast<ir::LetId>(kernel_.lets.size() - 1);
  stmt.value = value;
  put(depth, stmt);
  ir::Value named;
  named.kind = ir::ValueKind::let;
  named.dtype = dtype;
  named.let = stmt.let;
  return {add_value(named), depth};
}

Val ProgramBuilder::element(ir::DType dtype, const ir::Ref& ref, int depth) {
  ir::Value value;
  value.kind = ir::ValueKind::element;
  value.dtype = dtype;
  value.element = ref;
  return {add_value(value), depth};
}

Val ProgramBuilder::index_value(ir::ExprId expr) {
  expr = s_.build.expand(expr);
  bind_picked(s_.build.pool()[expr].vars);
  const ir::Interval range = s_.build.pool()[expr].range;
  const bool fits = range.high <= std::numeric_limits<std::int32_t>::max();
  ir::Value value;
  value.kind = ir::ValueKind::index;
  value.dtype = fits ? ir::DType::s32 : ir::DType::s64;
  value.index = expr;
  return {add_value(value), depth_for(s_.build.pool()[expr].vars)};
}

// ---- memory

int ProgramBuilder::aligned_width(ir::ExprId base, int most) const {
  for (int width = most; width > 1; width /= 2) {
    if (s_.build.is_multiple(base, width)) return width;
    if (fact_divisor % width != 0) continue;
    for (const ir::ExprId fact : s_.facts)
      if (s_.build.is_multiple(s_.build.subtract(base, fact), width)) return width;
  }
  return 1;
}

void ProgramBuilder::load_pieces(int depth, const ir::Ref& target, ir::Space space, std::uint16_t memory,
                                 ir::ExprId base, int width, int count, ir::Policy policy, ir::ExprId rank) {
  for (int done = 0; done < count; done += width) {
    ir::Stmt stmt;
    stmt.kind = ir::StmtKind::load;
    stmt.target = target;
    stmt.target.lane = s_.build.constant(done);
    stmt.space = space;
    stmt.memory = memory;
    stmt.expr = s_.build.add_constant(base, done);
    stmt.width = static_cast<std::uint8_t>(width);
    stmt.policy = policy;
    stmt.rank = rank;
    put(depth, stmt);
  }
}

void ProgramBuilder::store_pieces(int depth, bool after, const ir::Ref& source, ir::Space space, std::uint16_t memory,
                                  ir::ExprId base, int width, int count) {
  for (int done = 0; done < count; done += width) {
    ir::Stmt stmt;
    stmt.kind = ir::StmtKind::store;
    stmt.target = source;
    stmt.target.lane = s_.build.constant(done);
    stmt.space = space;
    stmt.memory = memory;
    stmt.expr = s_.build.add_constant(base, done);
    stmt.width = static_cast<std::uint8_t>(width);
    after ? put_after(depth, stmt) : put(depth, stmt);
  }
}

void ProgramBuilder::name_index(ir::ExprId address) {
  if (!plan_.index_cache) return;
  const ir::IndexPool& pool = s_.build.pool();
  ir::ExprId fixed = s_.build.constant(0);
  int parts = 0;
  const auto linear = pool.linear(address);
  for (const ir::Linear& item : std::vector<ir::Linear>(linear.begin(), linear.end())) {
    const ir::VarSet vars = pool.terms[item.term].vars;
    // A number that is bound behind the beginning is not there yet.
    bool in_loop = vars.overlaps(s_.late) || (vars.overlaps(s_.picked) && depth_for(vars & s_.picked) > 0);
    for (std::size_t v = 0; v < pool.vars.size(); ++v)
      in_loop = in_loop || (vars.has(v) && pool.vars[v].kind == ir::VarKind::loop);
    if (in_loop) continue;
    fixed = s_.build.add_scaled(fixed, s_.build.term(item.term), item.coefficient);
    parts += pool.terms[item.term].kind == ir::TermKind::var ? 1 : 2;
  }
  if (parts < 2 || std::find(s_.named.begin(), s_.named.end(), fixed) != s_.named.end()) return;
  s_.named.push_back(fixed);
  ir::Stmt stmt;
  stmt.kind = ir::StmtKind::index;
  stmt.expr = fixed;
  put(0, stmt);
}

}  // namespace tailor::codegen
