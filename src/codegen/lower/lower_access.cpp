// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads of parameters and stores of outputs: how wide, in which scope, under which guards. In: a node at coordinates
// and the state of the builder. Out: statements. Called by emission when a value comes from memory or goes there.
//
// Width. The coordinates become one address, expanded as far as the pool can (index_build.h). When it steps by one
// with the vector's element variable, and the rest of it is a multiple of a power of two, the access takes that many
// elements at once, up to 16 bytes; a vector of more bytes becomes several pieces. Nothing else makes an access wide:
// no pattern is recognised, the address must show it.
//
// Spread. A vector may take every second element (the halves of an interleaved rotary embedding), each element twice
// (nibbles of a byte, an image that is enlarged) or pairs in another order. Its address is a base plus a function of
// the element variable alone, so where each element lies is known when the kernel is written: all that lies between
// the first and the last is read in wide pieces, and each element takes its lane. That is done where it takes fewer
// loads, and where all of it is the array's; then a condition on the element variable alone needs no guard. Elements
// that are taken from the same pieces in two ways are loaded once.
//
// Scope. A load stands in the outermost scope that defines all variables of its address and of its guards, so a value
// that does not depend on the row loop is loaded once in front of it. A wide access stands outside of the loop over
// the elements of the vector. An access must not leave a guard that shares a variable with its address, even where the
// address was narrowed to a constant: only the threads that the guard lets pass may access.
//
// Policy. Elements of a full array that are read for the first time are `once`; those of later phases are `reload`;
// anything smaller than the row block is `again`, expected to stay in a cache, or `early` where it is loaded ahead.
// Printer and cost model read the same word.
//
// Loading ahead. What an unrolled section reads is loaded in loops of its own before anything of it is used, so that
// all of it is on its way together: that is what rows in flight, trips and unrolled vectors are for. Each input gets a
// register array with as many dimensions as its address varies in; the section finds it there like a kept value. An
// `issue` ends the section: the assembler would move a load down to its first use, and what it is used for up to it.
//
// Stores. Where several threads hold the same element, those whose thread variables do not occur in the address must
// be zero, so one thread writes it.
#include <algorithm>

#include "base/division.h"
#include "codegen/lower/lower_build.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

ir::VarSet vars_of(const ir::IndexPool& pool, std::span<const ir::Condition> conditions) {
  ir::VarSet vars;
  for (const ir::Condition& c : conditions) vars |= pool[c.a].vars | pool[c.b].vars;
  return vars;
}

}  // namespace

void ProgramBuilder::put_guards(int depth, std::span<const ir::Condition> conditions, int inner, bool after) {
  int guards = static_cast<int>((conditions.size() + 1) / 2);
  for (std::size_t i = 0; i < conditions.size(); i += 2) {
    ir::Stmt guard;
    guard.kind = ir::StmtKind::guard;
    guard.conditions[0] = conditions[i];
    if (i + 1 < conditions.size()) guard.conditions[1] = conditions[i + 1];
    guard.end = --guards + inner;
    after ? put_after(depth, guard) : put(depth, guard);
  }
}

int ProgramBuilder::widest_access(ir::DType dtype) const {
  return std::min(segment_->vector, 8 * ir::access_bytes / row(dtype).bits);
}

/// Elements that are read for each of the vector, at most: pixels have three colours, a box has four sides. What only
/// one slice reads is not worth more registers than that.
constexpr int most_spread = 3, most_of_slices = 4;

std::optional<ProgramBuilder::Spread> ProgramBuilder::find_spread(ir::NodeId id, ir::ExprId address) {
  const ir::IndexPool& pool = s_.build.pool();
  const ir::Shape& shape = node_at(id).shape;
  const bool of_slices = prepared_.slices_of[id] >= most_of_slices;  // which take what one of them has loaded
  const ir::VarSet own = ir::VarSet::only(segment_->element);
  ir::ExprId within = s_.build.constant(pool[address].constant);
  const auto terms = pool.linear(address);
  const std::vector<ir::Linear> parts(terms.begin(), terms.end());  // a copy: the pool grows meanwhile
  for (const ir::Linear& part : parts) {
    const ir::VarSet vars = pool.terms[part.term].vars;
    if (vars == own)
      within = s_.build.add_scaled(within, s_.build.term(part.term), part.coefficient);
    else if (vars.overlaps(own))
      return std::nullopt;
  }
  std::vector<std::int64_t> values(pool.vars.size(), 0), places;
  for (std::int64_t& e = values[segment_->element]; e < segment_->vector; ++e)
    places.push_back(evaluate(pool, within, values));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const std::int64_t most = std::int64_t{of_slices ? most_of_slices : most_spread} * segment_->vector;
  if (places.back() - places.front() >= most) return std::nullopt;
  const ir::ExprId outside = s_.build.subtract(address, within);
  for (int width = 8 * ir::access_bytes / row(shape.dtype).bits; width > 1; width /= 2) {
    const std::int64_t first = floor_div(places.front(), width) * width;
    const std::int64_t count = (places.back() - first) / width * width + width;
    const std::int64_t asked = std::ssize(places) * (of_slices ? most_of_slices : 1);
    if (count > most || count / width >= asked) continue;
    const ir::Interval range = pool[outside].range;
    if (range.low + first < 0 || range.high + first + count > elements(shape)) continue;
    const ir::ExprId base = s_.build.add_constant(outside, first);
    if (aligned_width(base, width) != width) continue;
    return Spread{base, s_.build.add_constant(within, -first), width, static_cast<int>(count)};
  }
  return std::nullopt;
}

void ProgramBuilder::take_spread(ir::NodeId id, Access& access, std::vector<ir::Condition>& conditions) {
  const ir::IndexPool& pool = s_.build.pool();
  const ir::VarSet own = ir::VarSet::only(segment_->element);
  std::vector<ir::Condition> others;  // what guards ask of more than the element
  for (const ir::Condition& one : conditions)
    if ((pool[one.a].vars | pool[one.b].vars) != own) others.push_back(one);
  const ir::VarSet guard_vars = vars_of(pool, others);
  if (guard_vars.overlaps(own)) return;
  const std::optional<Spread> spread = find_spread(id, access.address);
  if (!spread || !outside_elements(pool[spread->base].vars | guard_vars)) return;
  access.base = spread->base;
  access.width = spread->width;
  access.lanes = spread->count;
  access.lane = spread->lane;
  conditions = std::move(others);
}

namespace {

/// Of a sum of multiples of variables, whatever they are; nothing of other indices. Ranges in the pool will not do:
/// they may hold under any guard.
std::optional<ir::Interval> range_of_variables(const ir::IndexPool& pool, ir::ExprId index) {
  ir::Interval range{pool[index].constant, pool[index].constant};
  for (const ir::Linear& part : pool.linear(index)) {
    const ir::Term& term = pool.terms[part.term];
    if (term.kind != ir::TermKind::var) return std::nullopt;
    const std::int64_t most = part.coefficient * (pool.vars[term.var].extent - 1);
    range.low += std::min<std::int64_t>(most, 0);
    range.high += std::max<std::int64_t>(most, 0);
  }
  return range;
}

/// Whether such an index is from 0 to `last` always, or where guards that ask for nothing else are open.
bool lies_inside(const ir::IndexPool& pool, std::span<const ScopeFrame> open, ir::ExprId index, std::int64_t last) {
  const std::optional<ir::Interval> range = range_of_variables(pool, index);
  if (!range) return false;
  const auto asks = [&](const ScopeFrame& frame) {
    return frame.kind == ir::StmtKind::guard && frame.value == ir::no_value &&
           frame.guard_vars.without(pool[index].vars).empty() &&
           std::any_of(frame.conditions.begin(), frame.conditions.end(), [&](const ir::Condition& one) {
             return one.a == index && !one.equal && pool[one.b].range.high <= last + 1;
           });
  };
  return range->low >= 0 && (range->high <= last || std::any_of(open.begin(), open.end(), asks));
}

}  // namespace

// What is repeated is one number for many elements, and mostly so is what a window reads of it at each of its taps.
// Under the condition of each tap it would be loaded and computed anew for nearly every tap; without, once.
PredicateId ProgramBuilder::predicate_below(ir::NodeId id, const Coordinates& below, PredicateId predicate) {
  if (node_at(id).op != ir::Op::broadcast) return predicate;
  for (PredicateId at = predicate; at != 0; at = s_.predicates[at].parent)
    if (!s_.predicates[at].often) return predicate;
  const ir::Shape& shape = node_at(node_at(id).operands[0]).shape;
  for (int dim = 0; dim < shape.rank(); ++dim) {
    const std::optional<ir::Interval> range = range_of_variables(s_.build.pool(), s_.build.expand(below[dim]));
    if (!range || range->low < 0 || range->high >= shape.dims[dim]) return predicate;
  }
  return 0;
}

ProgramBuilder::Access ProgramBuilder::make_access(ir::NodeId id, const Demand& wanted,
                                                   std::vector<ir::Condition>& conditions) {
  const ir::Node& node = node_at(id);
  const ir::IndexPool& pool = s_.build.pool();
  ir::VarSet guard_vars = vars_of(pool, conditions);
  Access access;
  access.memory = static_cast<std::uint16_t>(parameter_number(node));
  access.address = s_.build.expand(memory_index(s_.build, node.shape, wanted.coordinates));
  access.base = access.address;
  access.vars = pool[access.address].vars;
  bind_picked(pool[access.address].vars | guard_vars);
  access.has_element = segment_ && segment_->vector > 1 && pool[access.address].vars.has(segment_->element);
  if (access.has_element && !parts_of_vectors) {
    const bool steps = steps_by_element(access.address);
    if (steps && !guard_vars.has(segment_->element)) {
      const ir::ExprId base = s_.build.subtract(access.address, s_.build.var(segment_->element));
      if (outside_elements(pool[base].vars | guard_vars))
        access.width = aligned_width(base, widest_access(node.shape.dtype));
      if (access.width > 1) access.base = base;
    } else if (!steps) {
      take_spread(id, access, conditions);
      guard_vars = vars_of(pool, conditions);
    }
  } else if (segment_ && segment_->vector > 1 && !parts_of_vectors && prepared_.slices_of[id] >= most_of_slices) {
    take_spread(id, access, conditions);  // one number for all elements, beside those that other slices take
    guard_vars = vars_of(pool, conditions);
    access.has_element = access.lanes > 0;
  }
  // What the whole row reads is read in front of the guard of its edge, where shifted rows have it.
  const std::int64_t last = elements(node.shape) - std::max(access.width, access.lanes);
  const bool is_inside = lies_inside(pool, {s_.frames.data(), s_.depth}, access.base, last);
  access.depth = depth_for(pool[access.base].vars | guard_vars, is_inside);
  access.policy = policy_of(id, false);
  return access;
}

ir::Policy ProgramBuilder::policy_of(ir::NodeId parameter, bool in_choice) const {
  // A part of an array that is written in place may be read by who writes it: no load promises that nobody does.
  const std::int64_t number = parameter_number(node_at(parameter));
  const auto is_written = [&](const ir::InPlace& pair) { return pair.parameter == number; };
  if (std::any_of(graph_.in_place.begin(), graph_.in_place.end(), is_written)) return ir::Policy::reload;
  if (prepared_.full[parameter] != 0 || (in_choice && prepared_.choices[parameter].read_once))
    return later_loads ? ir::Policy::reload : ir::Policy::once;
  return loading_ahead_ ? ir::Policy::early : ir::Policy::again;
}

/// Loads that only some elements need (of a concatenation's operands each needs one) would hold registers for all; so
/// many together are few enough.
constexpr std::int64_t most_conditional = 8;

void ProgramBuilder::fly(ir::NodeId id, const Demand& wanted, const Flight& flight) {
  if (find_kept(id, wanted, false) != nullptr) return;
  if (find_kept(id, wanted, true) != nullptr && find_home(keeping_, id) == nullptr) return;  // it waits there
  const Elsewhere elsewhere = find_elsewhere(id, wanted);
  if (elsewhere.kept == nullptr && !is_read(id)) return;
  if (waits_by_then(id, flight)) return;
  const ir::IndexPool& pool = s_.build.pool();
  std::vector<ir::Condition> conditions = conditions_of(wanted.predicate);
  const std::size_t asked = conditions.size();
  const ir::VarSet guard_vars = vars_of(pool, conditions);
  const bool is_choice = prepared_.choices[id].found;
  Access access;
  if (is_choice) access = choice_access(id, wanted);
  const ir::VarSet vars =
      is_choice ? access.vars
      : elsewhere.kept != nullptr
          ? pool[s_.build.expand(elsewhere.place)].vars | pool[row_places.kept].vars
          : pool[s_.build.expand(memory_index(s_.build, node_at(id).shape, wanted.coordinates))].vars;
  const ir::Home* home = find_home(keeping_, id);
  const Stay stay = home != nullptr && home->level == ir::StitchLevel::registers ? Stay::kernel : flight.stay;
  const ir::VarSet trips = pool[spans_row(stay) ? segment_->trip : segment_->section_trip].vars;
  ir::VarSet loops = pool[row_in_flight].vars | trips;
  if (segment_->vector > 1) loops |= ir::VarSet::only(segment_->element);
  if (guard_vars.overlaps(loops.without(vars))) return;  // one number under a condition for each element
  if (!flight.with.without(vars).empty() || vars.overlaps(flight.without)) return;
  if (is_choice)
    place_choice(id, guard_vars, access);
  else
    access =
        elsewhere.kept != nullptr ? access_elsewhere(id, elsewhere, guard_vars) : make_access(id, wanted, conditions);
  Kept kept{id, wanted.coordinates, wanted.predicate, segment_->number, stay};
  kept.lanes = access.lanes;
  kept.lane = access.lane;
  kept.by_row = vars.overlaps(pool[row_in_flight].vars);
  kept.by_trip = vars.overlaps(trips);
  kept.by_element = access.has_element;
  if (!kept.by_row && !kept.by_trip && !kept.by_element && !flight.all) return;
  const std::int64_t loads = (kept.by_row ? in_flight_rows : 1) * (kept.by_trip ? segment_->section_trips : 1) *
                             (kept.by_element ? lanes_of(kept.lanes) : 1) / access.width;
  if (!conditions.empty() && loads_ahead_ + loads > most_conditional) return;
  if (elsewhere.kept == nullptr) kept.outside = outside_of(id, access, conditions.size() < asked);
  const bool is_loaded = elsewhere.kept == nullptr && !is_choice;  // itself, at its own place
  if (elsewhere.kept != nullptr) found_elsewhere.push_back(id);
  if (is_loaded) name_index(access.base);
  if (is_loaded && conditions.empty() && access.has_element && access.width > 1) kept.from = access.base;
  if (shares_spread(kept)) return;
  const ir::ValueId initial = conditions.empty() && !access.partly ? ir::no_value : start_of_array(id);
  const int depth = std::min(spans_row(stay) ? row_depth : flight.depth, access.depth);
  const Kept* made = keep_in_registers(kept, depth, initial, "_row");
  loads_ahead_ += loads;
  load_array(id, access, made, conditions);
}

bool ProgramBuilder::shares_spread(const Kept& kept) {
  if (kept.from == ir::no_expr) return false;
  const std::vector<Kept>& of_node = s_.kept[kept.node];
  const auto same = std::find_if(of_node.begin(), of_node.end(), [&](const Kept& other) {
    return other.from == kept.from && lanes_of(other.lanes) == lanes_of(kept.lanes) && other.segment == kept.segment &&
           other.stay == kept.stay && other.by_row == kept.by_row && other.by_trip == kept.by_trip;
  });
  if (same == of_node.end()) return false;
  Kept shared = kept;
  shared.array = same->array;
  shared.depth = same->depth;
  add_kept(shared);
  return true;
}

void ProgramBuilder::issue(int depth) {
  ir::Stmt stmt;
  stmt.kind = ir::StmtKind::issue;
  if (loads_ahead_ > 1) put(depth, stmt);
  loads_ahead_ = 0;
}

bool ProgramBuilder::steps_by_element(ir::ExprId address) const {
  const ir::IndexPool& pool = s_.build.pool();
  return coefficient(pool, address, segment_->element) == 1 && !is_nested(pool, address, segment_->element);
}

Val ProgramBuilder::load_scalar(ir::NodeId id, const Access& access) {
  const ir::Node& node = node_at(id);
  kernel_.lets.push_back({name_of(id), node.shape.dtype});
  ir::Stmt stmt;
  stmt.kind = ir::StmtKind::load;
  stmt.let = static_cast<ir::LetId>(kernel_.lets.size() - 1);
  stmt.space = access.space;
  stmt.memory = access.memory;
  stmt.rank = access.rank;
  stmt.expr = access.address;
  stmt.policy = access.policy;
  put(access.depth, stmt);
  ir::Value value;
  value.kind = ir::ValueKind::let;
  value.dtype = node.shape.dtype;
  value.let = stmt.let;
  return {add_value(value), access.depth};
}

ir::ValueId ProgramBuilder::start_of_array(ir::NodeId id) {
  const ir::DType dtype = node_at(id).shape.dtype;
  const ir::NodeId around = prepared_.choices[id].around;
  if (around != ir::no_node) return constant_of(node_at(around), dtype).id;
  if (prepared_.window_of[id] == ir::Reducer::none) return number(dtype, 0, 0).id;
  const ir::Neutral nothing = ir::neutral(prepared_.window_of[id], dtype);
  return number(dtype, nothing.real, nothing.integer).id;
}

Outside ProgramBuilder::outside_of(ir::NodeId id, const Access& access, bool some) const {
  if (some || access.place >= 0) return Outside::unknown;
  return prepared_.window_of[id] == ir::Reducer::none ? Outside::zero : Outside::neutral;
}

ir::Ref ProgramBuilder::load_array(ir::NodeId id, const Access& access, const Kept* kept,
                                   std::span<const ir::Condition> conditions) {
  const ir::Node& node = node_at(id);
  const ir::DType dtype = node.shape.dtype;
  const int count = access.width > 1 ? lanes_of(access.lanes) : 1;
  ir::Ref target;
  if (kept) {
    target = kept_ref(*kept, ir::no_expr);
  } else {
    target.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, count});
    declare(access.depth, target.array, conditions.empty() && !access.partly ? ir::no_value : start_of_array(id));
  }
  const ir::ExprId e = access.has_element ? s_.build.var(segment_->element) : ir::no_expr;
  if (access.place >= 0) {
    load_choice(access, {target, kept ? e : ir::no_expr, access.width, count}, conditions);
    target.lane = access.width > 1 || kept ? e : ir::no_expr;
    return target;
  }
  put_guards(access.depth, conditions, count / access.width);
  for (int done = 0; done < count; done += access.width) {
    ir::Stmt stmt;
    stmt.kind = ir::StmtKind::load;
    stmt.target = target;
    stmt.target.lane = access.width > 1 ? s_.build.constant(done) : (kept ? e : ir::no_expr);
    stmt.space = access.space;
    stmt.memory = access.memory;
    stmt.rank = access.rank;
    stmt.expr = s_.build.add_constant(access.base, done);
    stmt.width = static_cast<std::uint8_t>(access.width);
    stmt.policy = access.policy;
    put(access.depth, stmt);
  }
  target.lane = access.lane != ir::no_expr ? access.lane : access.width > 1 || kept ? e : ir::no_expr;
  return target;
}

Entry ProgramBuilder::emit_load(ir::NodeId id, const Demand& wanted) {
  const ir::DType dtype = node_at(id).shape.dtype;
  if (segment_ != nullptr)
    if (const Kept* kept = find_kept(id, wanted, false)) return kept_entry(id, *kept, wanted);
  std::vector<ir::Condition> conditions = conditions_of(wanted.predicate);
  const std::size_t asked = conditions.size();
  const ir::VarSet guard_vars = vars_of(s_.build.pool(), conditions);
  Access access;
  Entry entry;
  if (const Elsewhere elsewhere = find_elsewhere(id, wanted); elsewhere.kept != nullptr) {
    access = access_elsewhere(id, elsewhere, guard_vars);
    found_elsewhere.push_back(id);
  } else if (prepared_.choices[id].found) {
    access = choice_access(id, wanted);
    place_choice(id, guard_vars, access);
  } else {
    access = make_access(id, wanted, conditions);
    name_index(access.base);
    entry.outside = outside_of(id, access, conditions.size() < asked);
  }
  if (access.width == 1 && conditions.empty() && access.place < 0) {
    entry.raw = load_scalar(id, access);
  } else {
    const ir::Ref ref = load_array(id, access, nullptr, conditions);
    entry.raw = element(dtype, ref, depth_for(access.vars | guard_vars));
  }
  entry.compute = widen(entry.raw, dtype, id);
  return entry;
}

bool ProgramBuilder::store_vector(ir::NodeId id, std::uint16_t memory, ir::ExprId at, ir::ValueId value,
                                  std::span<const ir::Condition> conditions) {
  const ir::DType dtype = node_at(id).shape.dtype;
  const ir::IndexPool& pool = s_.build.pool();
  if (!segment_ || segment_->vector == 1 || !steps_by_element(at)) return false;
  const ir::ExprId base = s_.build.subtract(at, s_.build.var(segment_->element));
  const int width = aligned_width(base, widest_access(dtype));
  // An address that a guard has narrowed to one need not name the guard's variables any more, but only those it lets
  // pass may write there.
  const ir::VarSet vars = pool[base].vars | guard_vars() | vars_of(pool, conditions);
  if (width == 1 || !outside_elements(vars)) return false;
  const int outside = depth_for(vars);
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, assign.target.array);
  assign.target.lane = s_.build.var(segment_->element);
  assign.value = value;
  put(depth(), assign);
  put_guards(outside, conditions, segment_->vector / width, true);
  store_pieces(outside, true, assign.target, ir::Space::global, memory, base, width, segment_->vector);
  return true;
}

void ProgramBuilder::store_output(std::int32_t output, const Coordinates& coordinates, PredicateId predicate,
                                  std::span<const ir::Condition> where) {
  const ir::NodeId id = prepared_.stored[output];
  if (node_at(graph_.outputs[output]).op == ir::Op::scatter && !prepared_.fills)
    return scatter_element(output, coordinates);
  const Entry entry = emit_value(id, coordinates, predicate);
  if (refusal_) return;
  const ir::Node& node = node_at(id);
  const ir::IndexPool& pool = s_.build.pool();
  std::vector<ir::Condition> conditions = conditions_of(predicate);
  conditions.insert(conditions.end(), where.begin(), where.end());
  const ir::ExprId at = stored_at(output, coordinates);
  const Val raw = to_raw(entry, node.shape.dtype);
  name_index(at);
  ir::Stmt store;
  store.kind = ir::StmtKind::store;
  store.memory = static_cast<std::uint16_t>(first_output_ + static_cast<std::size_t>(output));
  if (store_vector(id, store.memory, at, raw.id, conditions)) return;
  store.expr = at;
  store.value = raw.id;
  // Where a guard lets one element pass the address is a number and names no variable of the guard, but all others stay
  // outside. Threads that share the element: one of them writes it.
  const int depth = std::max(depth_for(pool[at].vars | guard_vars() | vars_of(pool, conditions)), raw.depth);
  for (std::size_t v = 0; v < pool.vars.size(); ++v) {
    const ir::Var& var = pool.vars[v];
    if (var.kind != ir::VarKind::thread || var.extent == 1 || pool[at].vars.has(v)) continue;
    const ir::Condition first{s_.build.var(static_cast<ir::VarId>(v)), s_.build.constant(0), true};
    if (!is_guarded(depth, first)) conditions.push_back(first);
  }
  put_guards(depth, conditions, 1);
  put(depth, store);
}

void ProgramBuilder::put_value(ir::NodeId node, const Coordinates& coordinates, const ir::Ref& target) {
  const Entry entry = emit_value(node, coordinates);
  if (refusal_) return;
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target = target;
  assign.value = to_raw(entry, node_at(node).shape.dtype).id;
  put(depth(), assign);
}

ir::ArrayId ProgramBuilder::keep_row_number(std::int32_t output, const Coordinates& coordinates) {
  const ir::NodeId id = prepared_.stored[output];
  const Entry entry = emit_value(id, coordinates);
  if (refusal_) return ir::no_id;
  const ir::DType compute = row(node_at(id).shape.dtype).compute;
  const ir::ArrayId array = add_array({name_of(id) + "_rows", ir::Space::registers, compute, {in_flight_rows, 0}, 1});
  declare(row_depth, array, number(compute, 0, 0).id);
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target.array = array;
  assign.target.subs[0] = row_in_flight;
  assign.value = entry.compute.id;
  put(depth(), assign);
  return array;
}

void ProgramBuilder::store_picked(std::int32_t output, ir::ArrayId array, ir::ExprId lane,
                                  const Coordinates& coordinates, std::span<const ir::Condition> conditions) {
  const ir::NodeId id = prepared_.stored[output];
  const ir::DType dtype = node_at(id).shape.dtype, compute = row(dtype).compute;
  const auto entry = [&](int q) {
    ir::Ref ref;
    ref.array = array;
    ref.subs[0] = s_.build.constant(q);
    return element(compute, ref, depth());
  };
  const Val place = index_value(lane);
  Val picked = entry(0);
  for (int q = 1; q < in_flight_rows; ++q) {
    ir::Value test;
    test.kind = ir::ValueKind::op;
    test.op = ir::Op::compare;
    test.comparison = ir::Comparison::eq;
    test.dtype = ir::DType::pred;
    test.operands = {place.id, number(kernel_.values[place.id].dtype, 0, q).id, ir::no_value};
    ir::Value choice;
    choice.kind = ir::ValueKind::op;
    choice.op = ir::Op::select;
    choice.dtype = compute;
    choice.operands = {add_value(test), entry(q).id, picked.id};
    picked = let(depth(), name_of(id), compute, add_value(choice));
  }
  Entry whole;
  whole.compute = picked;
  ir::Stmt store;
  store.kind = ir::StmtKind::store;
  store.memory = static_cast<std::uint16_t>(first_output_ + static_cast<std::size_t>(output));
  store.expr = stored_at(output, coordinates);
  store.value = to_raw(whole, dtype).id;
  name_index(store.expr);
  put_guards(depth(), conditions, 1);
  put(depth(), store);
}

}  // namespace tailor::codegen
