// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places that data decides for each element: gather, and scatter, which is the same with its updates for a result. In:
// a gather and coordinates of its result. Out: coordinates of its operand, with index variables in them that are bound
// to what the indices hold there; of a scatter what its updates do there. Called by emission.
//
// Such a variable stands for a function of others: "what the indices hold at this place, clamped to where the slice
// still fits". A Pick says which place, and equal places have one variable. The variable's term has all variables in it
// that the place depends on, so everything else follows from the expressions as ever: in which loop an address is
// computed, which rows differ, whether a vector's elements are neighbours in memory (they are where the place does not
// depend on the element).
//
// Coordinates may name a variable long before it has a value, and often it needs none: what was loaded ahead or kept is
// found again by its coordinates. So the value is read where an address or a guard is made of it (bind_picked): the
// indices are emitted like any other value, in the outermost scope that defines their place, then clamped and bound
// there. When that scope is closed the variable is free, and the next phase that reads the operand binds it again. The
// demands of the emission that waits for the value are set aside meanwhile.
//
// What the indices hold may follow from the place (structure/known_number.h), as for frames of a signal. Then there is
// no such variable, and the operand is read as a slice reads it.
//
// Where several rows are on their way together their indices are loaded first, in a flight of their own.
//
// Scatters. The loop of such a group goes over the updates, as it would over any array that it stores (structure.h).
// What an update's element becomes is where it goes: the indices at its place are read as a gather's are, but bound to
// one number more than there are places, which stands for all at which the window does not lie inside as a whole. A
// guard leaves these out. So an access is wide where the address shows it, and indices that belong to whole windows are
// read once for all of their elements that a thread has.
//
// What is done there: an update that takes the place of what is there is a store, one that may meet others unless the
// scatter says that no two windows overlap. One that is added to it is an atomic without result, as wide as the GPU has
// them, and where it has none, a compare-and-swap; where windows are apart, what is there is loaded, changed and
// stored.
//
// Where the array is not in place, a launch before has stored into the result what the scatter finds there
// (Prepared::fill).
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/lower/lower_build.h"
#include "codegen/structure/known_number.h"
#include "ir/kernel/atomic.h"

namespace tailor::codegen {

namespace {

/// Loops of the skeletons need some variables.
constexpr std::size_t most_variables = ir::max_vars - 16;

}  // namespace

ir::ExprId ProgramBuilder::pick(ir::NodeId id, const Pick& wanted, const ir::GatherNumbers& numbers,
                                const Coordinates& coordinates) {
  for (const Pick& known : s_.picks)
    if (known.node == id && known.number == wanted.number && known.predicate == wanted.predicate &&
        known.at == wanted.at)
      return known.value;
  if (s_.build.pool().vars.size() >= most_variables) {
    refuse("indices", fmt::format("%{} is read at more places than a kernel has variables for", node_at(id).name));
    return s_.build.constant(0);
  }
  Pick made = wanted;
  const std::int64_t outside = node_at(id).op == ir::Op::scatter ? 1 : 0;
  made.var = s_.build.add_var({name_of(id) + "_at", ir::VarKind::picked, wanted.last + 1 + outside, 1});
  const ir::Shape& shape = picked_shape(graph_, node_at(id));
  ir::ExprId place = s_.build.constant(0);
  std::int64_t places = 1;
  for (int i = numbers.places.size(); i-- > 0;) {
    const int dim = static_cast<int>(numbers.places[i]);
    place = s_.build.add_scaled(place, coordinates[dim], places);
    places *= shape.dims[dim];
  }
  ir::VarSet guards;
  for (const ir::Condition& one : conditions_of(wanted.predicate))
    guards |= s_.build.pool()[one.a].vars | s_.build.pool()[one.b].vars;
  made.value = s_.build.picked(made.var, place, places, elements(shape) / places, guards, outside);
  s_.picked |= ir::VarSet::only(made.var);
  s_.picks.push_back(made);
  return made.value;
}

const ir::GatherNumbers& ProgramBuilder::numbers_of(ir::NodeId gather) const {
  return std::lower_bound(prepared_.gathers.begin(), prepared_.gathers.end(), gather,
                          [](const auto& one, ir::NodeId wanted) { return one.first < wanted; })
      ->second;
}

Coordinates ProgramBuilder::index_place(ir::NodeId gather, const Coordinates& coordinates) const {
  const ir::GatherNumbers& numbers = numbers_of(gather);
  Coordinates at;
  at.rank = node_at(node_at(gather).operands[1]).shape.rank();
  for (int d = 0, next = 0; d < at.rank; ++d)
    if (d != numbers.vector_dim) at[d] = coordinates[static_cast<int>(numbers.places[next++])];
  return at;
}

Coordinates ProgramBuilder::gathered_from(ir::NodeId id, const Coordinates& coordinates, PredicateId predicate,
                                          std::vector<ir::Condition>* inside) {
  const ir::Node& node = node_at(id);
  const ir::GatherNumbers& numbers = numbers_of(id);
  Pick wanted;
  wanted.node = id;
  wanted.predicate = predicate;
  wanted.at = index_place(id, coordinates);
  Coordinates out;
  out.rank = node_at(node.operands[0]).shape.rank();
  for (int d = 0; d < out.rank; ++d) {
    const ir::GatherNumbers::Along& along = numbers.along[d];
    out[d] = along.offset >= 0 ? coordinates[along.offset] : s_.build.constant(0);
    if (along.place >= 0) out[d] = coordinates[along.place];
    const bool may_miss = node.op == ir::Op::scatter;
    if (along.index < 0 || (along.last == 0 && !may_miss)) continue;
    wanted.number = along.index;
    wanted.last = along.last;
    if (numbers.vector_dim < wanted.at.rank) wanted.at[numbers.vector_dim] = s_.build.constant(along.index);
    if (const auto known = may_miss ? std::nullopt : known_number(s_.build, graph_, node.operands[1], wanted.at);
        known && s_.build.pool()[*known].range.low >= 0 && s_.build.pool()[*known].range.high <= along.last) {
      out[d] = s_.build.add(out[d], *known);
      continue;
    }
    const ir::ExprId number = pick(id, wanted, numbers, coordinates);
    if (inside != nullptr) inside->push_back({number, s_.build.constant(along.last + 1), false});
    out[d] = s_.build.add(out[d], may_miss ? s_.build.narrow(number, {0, along.last}) : number);
  }
  return out;
}

void ProgramBuilder::demand_indices(ir::NodeId id, const Demand& wanted) {
  gathered_from(id, wanted.coordinates, wanted.predicate);
  Coordinates here = index_place(id, wanted.coordinates);
  const int vector_dim = numbers_of(id).vector_dim;
  for (std::size_t i = 0; i < s_.picks.size(); ++i) {
    const Pick& pick = s_.picks[i];
    if (pick.node != id || pick.predicate != wanted.predicate) continue;
    if (vector_dim < here.rank) here[vector_dim] = pick.at[vector_dim];  // of all indices of this place, and no other's
    if (pick.at == here) demand(node_at(id).operands[1], pick.at, pick.predicate);
  }
}

bool ProgramBuilder::is_bound(const Pick& pick) const {
  return pick.depth >= 0 && pick.depth < static_cast<int>(s_.depth) && s_.frames[pick.depth].serial == pick.scope;
}

void ProgramBuilder::bind_picked(ir::VarSet vars) {
  if (!vars.overlaps(s_.picked)) return;
  for (std::size_t i = 0; i < s_.picks.size() && !refusal_; ++i)
    if (vars.has(s_.picks[i].var) && !is_bound(s_.picks[i])) bind_pick(i);
}

Val ProgramBuilder::apart(ir::NodeId from, const Coordinates& at, PredicateId predicate) {
  IndexedVector<std::vector<Demand>> waiting;
  if (!s_.set_aside.empty()) {
    waiting = std::move(s_.set_aside.back());
    s_.set_aside.pop_back();
  }
  if (waiting.size() < s_.demands.size()) waiting.resize(s_.demands.size());
  std::swap(s_.demands, waiting);
  const std::span<const ir::Home> keeping = std::exchange(keeping_, {});
  const Entry entry = emit_value(from, at, predicate);
  keeping_ = keeping;
  std::swap(s_.demands, waiting);
  s_.set_aside.push_back(std::move(waiting));
  return entry.compute;
}

void ProgramBuilder::bind_pick(std::size_t i) {
  const Pick wanted = s_.picks[i];
  const ir::NodeId from = node_at(wanted.node).operands[1];
  const Val value = apart(from, wanted.at, wanted.predicate);
  if (refusal_) return;
  const bool may_miss = node_at(wanted.node).op == ir::Op::scatter;
  const Val number = may_miss ? checked(from, value, wanted.last) : clamped(from, value, wanted.last);
  ir::Stmt bind;
  bind.kind = ir::StmtKind::bind;
  bind.var = wanted.var;
  bind.value = number.id;
  put(number.depth, bind);
  Pick& bound = s_.picks[i];
  bound.depth = number.depth;
  bound.scope = s_.frames[number.depth].serial;
}

// ---- scatters

/// Where an element of the updates goes.
struct ProgramBuilder::Landing {
  ir::NodeId scatter = ir::no_node;
  ir::ExprId at = ir::no_expr;
  std::vector<ir::Condition> inside;
  ir::VarSet vars;  ///< of the conditions

  ir::DType dtype(const ir::Graph& graph) const { return graph[scatter].shape.dtype; }
};

ProgramBuilder::Landing ProgramBuilder::landing_of(ir::NodeId scatter, const Coordinates& coordinates) {
  Landing landing;
  landing.scatter = scatter;
  const Coordinates place = gathered_from(scatter, coordinates, 0, &landing.inside);
  landing.at = s_.build.expand(memory_index(s_.build, node_at(scatter).shape, place));
  for (const ir::Condition& one : landing.inside) landing.vars |= s_.build.pool()[one.a].vars;
  return landing;
}

void ProgramBuilder::load_landing_ahead(std::int32_t output, const Coordinates& coordinates, const Flight& flight) {
  const ir::NodeId id = graph_.outputs[output];
  if (node_at(id).op != ir::Op::scatter || prepared_.fills) return;
  const Landing landing = landing_of(id, coordinates);
  std::vector<Coordinates> places;
  for (const Pick& pick : s_.picks)
    if (pick.node == id && landing.vars.has(pick.var)) places.push_back(pick.at);
  for (const Coordinates& place : places) load_ahead(node_at(id).operands[1], place, flight);
}

Val ProgramBuilder::checked(ir::NodeId from, Val start, std::int64_t last) {
  // As a number without sign what is below zero is above all places.
  const ir::DType dtype = row(node_at(from).shape.dtype).bits == 64 ? ir::DType::u64 : ir::DType::u32;
  const ir::DType wide = dtype == ir::DType::u64 ? ir::DType::s64 : ir::DType::s32;
  const auto convert = [&](ir::DType to) {
    if (kernel_.values[start.id].dtype == to) return;
    ir::Value converted;
    converted.kind = ir::ValueKind::convert;
    converted.dtype = to;
    converted.operands[0] = start.id;
    start = {add_value(converted), start.depth};
  };
  if (is_signed(kernel_.values[start.id].dtype)) convert(wide);
  convert(dtype);
  ir::Value clamped;
  clamped.kind = ir::ValueKind::op;
  clamped.op = ir::Op::clamp;
  clamped.dtype = dtype;
  clamped.operands = {number(dtype, 0, 0).id, start.id, number(dtype, 0, last + 1).id};
  return {add_value(clamped), start.depth};
}

const ir::ScatterForm& ProgramBuilder::form_of(ir::NodeId scatter) const {
  return std::find_if(prepared_.scatters.begin(), prepared_.scatters.end(),
                      [&](const auto& one) { return one.first == scatter; })
      ->second;
}

void ProgramBuilder::scatter_element(std::int32_t output, const Coordinates& coordinates) {
  const ir::NodeId id = graph_.outputs[output];
  const Entry entry = emit_value(prepared_.stored[output], coordinates);
  if (refusal_) return;
  const Landing landing = landing_of(id, coordinates);
  bind_picked(s_.build.pool()[landing.at].vars | landing.vars);
  if (refusal_) return;
  const ir::DType dtype = landing.dtype(graph_);
  const ir::ScatterForm& form = form_of(id);
  const ir::Op op = form.reducer == ir::Reducer::none ? ir::Op::copy : op_of(form.reducer);
  name_index(landing.at);
  ir::Stmt stmt;
  stmt.memory = static_cast<std::uint16_t>(first_output_ + static_cast<std::size_t>(output));
  stmt.kind = op == ir::Op::copy ? ir::StmtKind::store : ir::StmtKind::atomic;
  stmt.op = op;
  stmt.policy = op == ir::Op::copy && !form.unique ? ir::Policy::fresh : ir::Policy::once;
  int most =
      op == ir::Op::copy ? 8 * ir::access_bytes / row(dtype).bits : ir::widest_reduction(op, dtype, compute_capability);
  if (most == 0 && form.unique) return change_alone(landing, stmt, entry);
  if (most == 0) {
    if (!ir::has_exchange(dtype, compute_capability))
      return refuse("atomic", fmt::format("%{} changes numbers of type {} by {}, which this GPU has no atomic for",
                                          node_at(id).name, name(dtype), name(op)));
    stmt.by_exchange = true;
    most = 1;
  }
  const Val raw = to_raw(entry, dtype);
  if (scatter_vector(landing, stmt, raw.id, most)) return;
  stmt.expr = landing.at;
  stmt.value = raw.id;
  put_guards(depth(), landing.inside, 1);
  put(depth(), stmt);
}

bool ProgramBuilder::scatter_vector(const Landing& landing, ir::Stmt stmt, ir::ValueId update, int most) {
  const ir::DType dtype = landing.dtype(graph_);
  const ir::IndexPool& pool = s_.build.pool();
  if (!segment_ || segment_->vector == 1 || !steps_by_element(landing.at)) return false;
  if (landing.vars.has(segment_->element)) return false;
  const ir::ExprId base = s_.build.subtract(landing.at, s_.build.var(segment_->element));
  const ir::VarSet vars = pool[base].vars | landing.vars | guard_vars();
  if (!outside_elements(vars)) return false;
  const int width = aligned_width(base, std::min(most, widest_access(dtype)));
  const int outside = depth_for(vars), count = segment_->vector;
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target.array = add_array({name_of(landing.scatter), ir::Space::registers, dtype, {0, 0}, count});
  declare(outside, assign.target.array);
  assign.target.lane = s_.build.var(segment_->element);
  assign.value = update;
  put(depth(), assign);
  const int pieces = count / width;
  int guards = static_cast<int>((landing.inside.size() + 1) / 2);
  for (std::size_t i = 0; i < landing.inside.size(); i += 2) {
    ir::Stmt guard;
    guard.kind = ir::StmtKind::guard;
    guard.conditions[0] = landing.inside[i];
    if (i + 1 < landing.inside.size()) guard.conditions[1] = landing.inside[i + 1];
    guard.end = --guards + pieces;
    put_after(outside, guard);
  }
  for (int done = 0; done < count; done += width) {
    stmt.target = assign.target;
    stmt.target.lane = s_.build.constant(done);
    stmt.expr = s_.build.add_constant(base, done);
    stmt.width = static_cast<std::uint8_t>(width);
    put_after(outside, stmt);
  }
  return true;
}

void ProgramBuilder::change_alone(const Landing& landing, ir::Stmt store, const Entry& update) {
  const ir::DType dtype = landing.dtype(graph_);
  for (std::size_t i = 0; i < landing.inside.size(); i += 2)
    open_guard(std::span(landing.inside).subspan(i, std::min<std::size_t>(2, landing.inside.size() - i)));
  ir::Stmt load;
  load.kind = ir::StmtKind::load;
  load.memory = store.memory;
  load.expr = landing.at;
  load.policy = ir::Policy::reload;
  Entry before;
  before.raw = {define(load, name_of(landing.scatter) + "_before", dtype), depth()};
  put(depth(), load);
  before.compute = widen(before.raw, dtype, landing.scatter);
  ir::Value value;
  value.kind = ir::ValueKind::op;
  value.op = store.op;
  value.dtype = row(dtype).compute;
  value.operands = {before.compute.id, update.compute.id, ir::no_value};
  Entry after;
  after.compute = let(depth(), name_of(landing.scatter), value.dtype, add_value(value));
  store.kind = ir::StmtKind::store;
  store.expr = landing.at;
  store.value = to_raw(after, dtype).id;
  store.op = ir::Op::copy;
  put(depth(), store);
  for (std::size_t i = 0; i < landing.inside.size(); i += 2) close();
}

}  // namespace tailor::codegen
