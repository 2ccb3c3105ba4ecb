// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Places that data decides for each element: gather. In: a gather and coordinates of its result. Out: coordinates of
// its operand, with index variables in them that are bound to what the indices hold there. Called by emission.
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
// Where several rows are on their way together their indices are loaded first, in a flight of their own.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codegen/lower/lower_build.h"

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
  made.var = s_.build.add_var({name_of(id) + "_at", ir::VarKind::picked, wanted.last + 1, 1});
  ir::ExprId place = s_.build.constant(0);
  std::int64_t places = 1;
  for (int i = numbers.places.size(); i-- > 0;) {
    const int dim = static_cast<int>(numbers.places[i]);
    place = s_.build.add_scaled(place, coordinates[dim], places);
    places *= node_at(id).shape.dims[dim];
  }
  ir::VarSet guards;
  for (const ir::Condition& one : conditions_of(wanted.predicate))
    guards |= s_.build.pool()[one.a].vars | s_.build.pool()[one.b].vars;
  made.value = s_.build.picked(made.var, place, places, elements(node_at(id).shape) / places, guards);
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

Coordinates ProgramBuilder::gathered_from(ir::NodeId id, const Coordinates& coordinates, PredicateId predicate) {
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
    if (along.index < 0 || along.last == 0) continue;
    wanted.number = along.index;
    wanted.last = along.last;
    if (numbers.vector_dim < wanted.at.rank) wanted.at[numbers.vector_dim] = s_.build.constant(along.index);
    out[d] = s_.build.add(out[d], pick(id, wanted, numbers, coordinates));
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
  const Val number = clamped(from, value, wanted.last);
  ir::Stmt bind;
  bind.kind = ir::StmtKind::bind;
  bind.var = wanted.var;
  bind.value = number.id;
  put(number.depth, bind);
  Pick& bound = s_.picks[i];
  bound.depth = number.depth;
  bound.scope = s_.frames[number.depth].serial;
}

}  // namespace tailor::codegen
