// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Choices: an element that comes from exactly one of several places in memory. In: a group with concatenations and
// pads, later a demand for an element of one. Out: which of them are choices, once per group; a register array with
// the element, which one load fills. Called by prepare, and by emission as for a parameter.
//
// What is a choice. Below a concatenation or a pad only operations stand that move elements (slices, reshapes, other
// concatenations, dynamic slices), down to parameters, and constants around pads, all of one value. Then nothing has to
// be computed before it is known which operand is meant: the element is loaded where it is. Where an operand is
// computed, emission loads and computes all of them and takes one by a select (lower_emit.cpp).
//
// How it is written. The places are a tree: a split by where an index lies among ascending bounds, a window by
// conditions on indices, a load. A split of n arms becomes pairs of guards, one for the lower half and `otherwise` one
// for the rest, until one arm is left: a thread asks about log2 n of them and loads once, into the array that all arms
// share. Outside of a window the array keeps what it was declared with, the constant around the pad.
//
// What is compared. A coordinate is a quotient of a place; the place in what the coordinate and those inside of it
// count says the same against bounds as many times as large, with fewer quotients, which machine and counters are quick
// with. Where all bounds are multiples of the vector, the first element decides for the vector and loads stay wide.
//
// Starts in arms. A dynamic slice reads its start in front of all loops, once. Of a stack of many a thread needs one
// or two: then the start is read, clamped and bound in the arm. A bind in an arm ends with it, so what is emitted for
// it must not be found by other arms.
#include <algorithm>
#include <utility>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

namespace {

/// Starts of more slices than this, of which a thread needs one, are read where they are needed.
constexpr int most_early_slices = 4;

bool is_move(ir::Op op) {
  return op == ir::Op::reshape || op == ir::Op::bitcast || op == ir::Op::transpose || op == ir::Op::slice ||
         op == ir::Op::reverse || op == ir::Op::broadcast || op == ir::Op::dynamic_slice;
}

bool same_bytes(const ir::Graph& graph, ir::NodeId a, ir::NodeId b) {
  return ir::attributes_as<ir::Literal>(graph[a]).bytes == ir::attributes_as<ir::Literal>(graph[b]).bytes;
}

bool pads(const ir::Node& node) {
  for (int dim = 0; dim < node.shape.rank(); ++dim) {
    const ir::PadRange& range = pad_range(node, dim);
    if (range.low > 0 || range.high > 0 || range.interior > 0) return true;
  }
  return false;
}

Choice in_memory(const ir::Graph& graph, const ir::Node& node, const IndexedVector<Choice>& known) {
  Choice all;
  all.found = node.op == ir::Op::parameter;
  const bool is_pad = node.op == ir::Op::pad, joins = node.op == ir::Op::concatenate;
  if (!is_pad && !joins && !is_move(node.op)) return all;
  if (is_pad) {
    if (graph[node.operands[1]].op != ir::Op::constant) return {};
    all.around = node.operands[1];
  }
  for (std::size_t k = 0; k < (joins ? node.operands.size() : 1); ++k) {
    const Choice& one = known[node.operands[k]];
    const ir::Shape& shape = graph[node.operands[k]].shape;
    if (!one.found || shape.dtype != node.shape.dtype) return {};
    if (one.around != ir::no_node && all.around != ir::no_node && !same_bytes(graph, all.around, one.around)) return {};
    if (one.around != ir::no_node) all.around = one.around;
    all.repeats |= one.repeats || (node.op == ir::Op::broadcast && elements(node.shape) > elements(shape));
  }
  all.found = true;
  return all;
}

bool has_arms(const ir::Node& node) {
  return (node.op == ir::Op::concatenate && node.operands.size() > 1) || (node.op == ir::Op::pad && pads(node));
}

/// Quotients and remainders that an index is made of.
int quotients_in(const ir::IndexPool& pool, ir::ExprId index) {
  int count = 0;
  for (const ir::Linear& part : pool.linear(index)) {
    const ir::Term& term = pool.terms[part.term];
    if (term.kind == ir::TermKind::var) continue;
    count += 1 + (term.a == ir::no_expr ? 0 : quotients_in(pool, term.a));
  }
  return count;
}

/// The only choice that reads each node; no_node: others do too, or none.
IndexedVector<ir::NodeId> readers(const ir::Graph& graph, const Prepared& prepared) {
  IndexedVector<ir::NodeId> reader(graph.nodes.size(), ir::no_node);
  for (auto id = static_cast<ir::NodeId>(graph.nodes.size()); id-- > 0;) {
    bool one = std::find(prepared.stored.begin(), prepared.stored.end(), id) == prepared.stored.end();
    const std::vector<ir::NodeId>& users = prepared.users[id];
    for (const ir::NodeId user : users) one = one && reader[user] == reader[users.front()];
    if (one && !users.empty()) reader[id] = reader[users.front()];
    if (reader[id] == ir::no_node && prepared.choices[id].found && has_arms(graph[id])) reader[id] = id;
  }
  return reader;
}

/// The parameter that `operand` is, or reshapes, step by step as `like` does: an element of both lies at one place.
/// no_node where there is none.
ir::NodeId parameter_like(const ir::Graph& graph, ir::NodeId operand, ir::NodeId like) {
  for (;; operand = graph[operand].operands[0], like = graph[like].operands[0]) {
    const ir::Node &one = graph[operand], &other = graph[like];
    if (one.op != other.op || one.shape != other.shape) return ir::no_node;
    if (one.op == ir::Op::parameter) return operand;
    if (one.op != ir::Op::reshape && one.op != ir::Op::bitcast) return ir::no_node;
  }
}

}  // namespace

void find_choices(const ir::Graph& graph, Prepared& out) {
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const bool by_piece = std::binary_search(out.joined.begin(), out.joined.end(), static_cast<ir::NodeId>(id));
    out.choices.push_back(by_piece ? Choice{} : in_memory(graph, graph.nodes[id], out.choices));
  }
  const IndexedVector<ir::NodeId> reader = readers(graph, out);
  IndexedVector<int> slices(graph.nodes.size(), 0);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].op == ir::Op::dynamic_slice && reader[id] != ir::no_node) ++slices[reader[id]];
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    Choice& choice = out.choices[id];
    const ir::Node& node = graph.nodes[id];
    const ir::NodeId by = reader[id];
    if (by != ir::no_node) {
      choice.late_start = node.op == ir::Op::dynamic_slice && slices[by] > most_early_slices;
      choice.read_once = node.op == ir::Op::parameter && !out.choices[by].repeats &&
                         elements(graph[by].shape) == out.rows * out.columns;
    }
  }
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)  // last: nodes between were asked whether they are found
    out.choices[id].found = out.choices[id].found && has_arms(graph.nodes[id]);
}

// ---- the tree of places

ir::ExprId ProgramBuilder::of_vector(ir::ExprId value, std::span<const std::int64_t> bounds) {
  if (segment_ == nullptr || segment_->vector == 1) return value;
  const ir::ExprId base = s_.build.subtract(value, s_.build.var(segment_->element));
  const int v = segment_->vector;
  const bool whole = std::all_of(bounds.begin(), bounds.end(), [&](std::int64_t bound) { return bound % v == 0; });
  const bool decides = whole && coefficient(s_.build.pool(), value, segment_->element) == 1 &&
                       !is_nested(s_.build.pool(), value, segment_->element) && s_.build.is_multiple(base, v);
  return decides ? base : value;
}

std::pair<ir::ExprId, std::int64_t> ProgramBuilder::along(const ir::Shape& shape, const Coordinates& coordinates,
                                                          int dim) {
  const ir::ExprId index = s_.build.expand(coordinates[dim]);
  const int quotients = quotients_in(s_.build.pool(), index);
  if (quotients == 0) return {index, 1};
  std::int64_t inner = 1, outer = 1;
  for (int other = 0; other < shape.rank(); ++other)
    if (other != dim) (other < dim ? outer : inner) *= shape.dims[other];
  ir::ExprId place = s_.build.expand(linear_index(s_.build, shape, coordinates));
  if (s_.build.pool()[place].range.low < 0) return {index, 1};
  if (outer != 1) place = s_.build.mod(place, shape.dims[dim] * inner);
  return quotients_in(s_.build.pool(), place) < quotients ? std::pair(place, inner) : std::pair(index, std::int64_t{1});
}

std::int32_t ProgramBuilder::find_places(ir::NodeId id, const Coordinates& coordinates,
                                         std::vector<ir::NodeId>& slices) {
  const ir::Node& node = node_at(id);
  if (node.op == ir::Op::concatenate) return find_arms(id, coordinates, slices);
  Place place;
  if (node.op == ir::Op::parameter) {
    place.parameter = id;
    place.at = s_.build.expand(memory_index(s_.build, node.shape, coordinates));
    place.first = static_cast<std::int32_t>(s_.place_slices.size());
    s_.place_slices.insert(s_.place_slices.end(), slices.begin(), slices.end());
    place.end = static_cast<std::int32_t>(s_.place_slices.size());
    s_.places.push_back(place);
    return static_cast<std::int32_t>(s_.places.size() - 1);
  }
  if (node.op == ir::Op::dynamic_slice) slices.push_back(id);
  const std::int32_t from = find_places(node.operands[0], source_coordinates(id, 0, coordinates, 0), slices);
  if (node.op == ir::Op::dynamic_slice) slices.pop_back();
  if (node.op != ir::Op::pad) return from;
  for (int dim = node.shape.rank(); dim-- > 0;) {  // the outermost is asked first
    Inside inside = inside_of(id, dim, coordinates);
    if (inside.rest == ir::no_expr) {
      constexpr std::int64_t none = std::int64_t{1} << 62;
      const ir::Interval range = s_.build.pool()[inside.value].range;
      const auto [value, scale] = along(node.shape, coordinates, dim);
      inside = {value, inside.low > range.low ? inside.low * scale : -none,
                inside.high <= range.high ? inside.high * scale : none, ir::no_expr};
    }
    place.inside = inside_predicate(inside, place.inside);
  }
  if (place.inside == 0) return from;
  place.first = from;
  s_.places.push_back(place);
  return static_cast<std::int32_t>(s_.places.size() - 1);
}

std::int32_t ProgramBuilder::find_operand(ir::NodeId id, int k, std::int64_t begin, const Coordinates& coordinates,
                                          Alike& alike, std::vector<ir::NodeId>& slices) {
  const ir::NodeId operand = node_at(id).operands[k];
  const ir::Node& node = node_at(operand);
  const bool is_parameter = node.op == ir::Op::parameter, is_single = node.shape.dims[ir::axis(node_at(id))] == 1;
  const ir::NodeId parameter = alike.of == ir::no_node ? ir::no_node : parameter_like(graph_, operand, alike.of);
  if (parameter == ir::no_node) {
    const Coordinates inside = source_coordinates(id, k, coordinates, 0);
    const std::int32_t found = find_places(operand, inside, slices);
    // Where only one index is in reach it is that number, and says nothing of others; a single one is 0 for all.
    const bool moves = !is_constant(s_.build.pool(), inside[ir::axis(node_at(id))]);
    // Behind a reshape the next place need not be a stride further, so only single ones are alike.
    if (is_single ? parameter_like(graph_, operand, operand) != ir::no_node : is_parameter && moves)
      alike = {operand, begin, found, moves};
    return found;
  }
  Place place = s_.places[static_cast<std::size_t>(alike.place)];
  const std::int64_t stride = strides(node.shape)[ir::axis(node_at(id))];
  place.parameter = parameter;
  place.like = alike.place;
  place.shift = alike.moves ? (alike.begin - begin) * stride : 0;
  place.at = s_.build.add_constant(place.at, place.shift);
  s_.places.push_back(place);
  return static_cast<std::int32_t>(s_.places.size() - 1);
}

std::int32_t ProgramBuilder::find_arms(ir::NodeId id, const Coordinates& coordinates, std::vector<ir::NodeId>& slices) {
  const ir::Node& node = node_at(id);
  const int axis = ir::axis(node);
  const ir::Interval reached = s_.build.pool()[coordinates[axis]].range;
  Place place;
  Alike alike;
  std::vector<Arm> arms;
  std::vector<std::int64_t> bounds;
  std::int64_t end = 0;
  for (int k = 0; k < static_cast<int>(node.operands.size()); ++k) {
    const std::int64_t begin = end;
    end += node_at(node.operands[k]).shape.dims[axis];
    if (begin == end || end <= reached.low || begin > reached.high) continue;
    arms.push_back({find_operand(id, k, begin, coordinates, alike, slices), end});
    if (end <= reached.high) bounds.push_back(end);
  }
  if (arms.size() == 1) return arms.front().place;
  const auto [at, scale] = along(node.shape, coordinates, axis);
  place.at = at;
  for (std::int64_t& bound : bounds) bound *= scale;
  for (Arm& arm : arms) arm.end *= scale;
  place.at = of_vector(place.at, bounds);
  place.first = static_cast<std::int32_t>(s_.arms.size());
  s_.arms.insert(s_.arms.end(), arms.begin(), arms.end());
  place.end = static_cast<std::int32_t>(s_.arms.size());
  s_.places.push_back(place);
  return static_cast<std::int32_t>(s_.places.size() - 1);
}

ProgramBuilder::Access ProgramBuilder::choice_access(ir::NodeId id, const Demand& wanted) {
  s_.places.clear();
  s_.arms.clear();
  s_.place_slices.clear();
  std::vector<ir::NodeId> slices;
  Access access;
  access.place = find_places(id, wanted.coordinates, slices);
  const ir::IndexPool& pool = s_.build.pool();
  for (const Place& place : s_.places) {
    if (place.like >= 0) continue;
    if (place.at != ir::no_expr) access.vars |= pool[place.at].vars;
    for (const ir::Condition& one : conditions_of(place.inside)) {
      access.vars |= pool[one.a].vars | pool[one.b].vars;
      access.partly = true;
    }
  }
  access.has_element = segment_ && segment_->vector > 1 && access.vars.has(segment_->element);
  return access;
}

void ProgramBuilder::place_choice(ir::NodeId id, ir::VarSet guard_vars, Access& access) {
  const ir::IndexPool& pool = s_.build.pool();
  bind_picked(access.vars | guard_vars);
  ir::VarSet vars = guard_vars;  // but for addresses that go up with the element
  int width = access.has_element && !guard_vars.has(segment_->element) ? widest_access(node_at(id).shape.dtype) : 1;
  for (const Place& place : s_.places) {
    for (const ir::Condition& one : conditions_of(place.inside)) vars |= pool[one.a].vars | pool[one.b].vars;
    if (place.parameter == ir::no_node && place.at != ir::no_expr) vars |= pool[place.at].vars;
  }
  if (width > 1 && vars.has(segment_->element)) width = 1;
  for (const Place& place : s_.places) {
    if (width == 1 || place.parameter == ir::no_node) continue;
    if (place.like >= 0) {
      while (place.shift % width != 0) width /= 2;
      continue;
    }
    if (!steps_by_element(place.at)) {
      width = 1;
      break;
    }
    const ir::ExprId base = s_.build.subtract(place.at, s_.build.var(segment_->element));
    vars |= pool[base].vars;
    width = std::min(width, aligned_width(base, width));
  }
  if (width > 1 && !outside_elements(vars)) width = 1;
  access.width = width;
  if (width > 1)
    for (Place& place : s_.places) {
      if (place.parameter == ir::no_node) continue;
      place.at = place.like >= 0
                     ? s_.build.add_constant(s_.places[static_cast<std::size_t>(place.like)].at, place.shift)
                     : s_.build.subtract(place.at, s_.build.var(segment_->element));
    }
  access.depth = depth_for(width > 1 ? vars : access.vars | guard_vars);
}

// ---- statements

void ProgramBuilder::read_late_starts(const Place& place) {
  s_.frames[depth()].serial = ++s_.serials;  // what was emitted for other arms is not there
  if (place.first == place.end) return;
  // A start may be computed with choices of its own, and is no part of the vector or of what is loaded ahead.
  std::vector<ir::NodeId> slices;
  std::vector<Place> places;
  std::vector<Arm> arms;
  std::swap(slices, s_.place_slices);
  std::swap(places, s_.places);
  std::swap(arms, s_.arms);
  const Segment* segment = std::exchange(segment_, nullptr);
  const bool ahead = std::exchange(loading_ahead_, false);
  for (std::int32_t i = place.first; i < place.end; ++i)
    for (const Start& start : s_.starts) {
      if (refusal_ || start.node != slices[static_cast<std::size_t>(i)] || !start.is_late) continue;
      const Val number = apart(start.from, start.place, 0);
      if (!refusal_) put_bind(start, number);
    }
  segment_ = segment;
  loading_ahead_ = ahead;
  std::swap(slices, s_.place_slices);
  std::swap(places, s_.places);
  std::swap(arms, s_.arms);
}

void ProgramBuilder::put_loads(int depth, ir::NodeId parameter, ir::ExprId base, const ChoiceTarget& target) {
  for (int done = 0; done < target.count; done += target.width) {
    ir::Stmt load;
    load.kind = ir::StmtKind::load;
    load.target = target.ref;
    load.target.lane = target.width > 1 ? s_.build.constant(done) : target.element;
    load.memory = static_cast<std::uint16_t>(parameter_number(node_at(parameter)));
    load.expr = s_.build.add_constant(base, done);
    load.width = static_cast<std::uint8_t>(target.width);
    load.policy = policy_of(parameter, true);
    put(depth, load);
  }
}

void ProgramBuilder::put_place(std::int32_t at, const ChoiceTarget& target) {
  const Place place = s_.places[static_cast<std::size_t>(at)];
  if (place.inside != 0) {
    const std::vector<ir::Condition> conditions = conditions_of(place.inside);
    const std::size_t head = s_.frames[depth()].before.size();
    put_guards(depth(), conditions, 0);
    put_place(place.first, target);
    std::vector<ir::Stmt>& body = s_.frames[depth()].before;
    for (std::size_t i = head; i < head + (conditions.size() + 1) / 2; ++i)
      body[i].end = static_cast<std::int32_t>(body.size() - i - 1);
    return;
  }
  if (place.parameter == ir::no_node) return put_arms(place, place.first, place.end, target);
  read_late_starts(place);
  put_loads(depth(), place.parameter, place.at, target);
}

void ProgramBuilder::put_arms(const Place& place, std::int32_t first, std::int32_t end, const ChoiceTarget& target) {
  if (end - first == 1) return put_place(s_.arms[static_cast<std::size_t>(first)].place, target);
  const std::int32_t middle = first + (end - first) / 2;
  const std::int64_t bound = s_.arms[static_cast<std::size_t>(middle - 1)].end;
  ir::Stmt guard;
  guard.kind = ir::StmtKind::guard;
  for (const bool rest : {false, true}) {
    guard.otherwise = rest;
    guard.conditions[0] = rest ? ir::Condition{s_.build.constant(bound - 1), place.at, false}
                               : ir::Condition{place.at, s_.build.constant(bound), false};
    const std::size_t head = s_.frames[depth()].before.size();
    put(depth(), guard);
    rest ? put_arms(place, middle, end, target) : put_arms(place, first, middle, target);
    std::vector<ir::Stmt>& body = s_.frames[depth()].before;
    body[head].end = static_cast<std::int32_t>(body.size() - head - 1);
  }
}

void ProgramBuilder::load_choice(const Access& access, const ChoiceTarget& target,
                                 std::span<const ir::Condition> conditions) {
  // Above all open scopes, so that what is emitted for starts has a scope; then it goes where it belongs.
  const int floor = std::exchange(floor_, static_cast<int>(s_.depth));
  open_guard({});
  put_place(access.place, target);
  std::vector<ir::Stmt>& made = s_.frames[depth()].before;
  --s_.depth;
  floor_ = floor;
  put_guards(access.depth, conditions, static_cast<int>(made.size()));
  std::vector<ir::Stmt>& to = s_.frames[access.depth].before;
  to.insert(to.end(), made.begin(), made.end());
}

}  // namespace tailor::codegen
