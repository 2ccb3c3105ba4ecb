// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Emission: from "this node at these coordinates" to statements. In: a node, canonical coordinates, and the open
// scopes of the builder. Out: statements in those scopes, and the value. Called by the skeletons for what a reduction
// reads and for each output.
//
// Two sweeps, no recursion but for the indices of gathers (lower_gather.cpp). Node numbers are a topological order, so
// demands travel from users to operands in descending order: each demanded node asks for its operands at the
// coordinates that its operation maps to (index_map.h). A demand that the value cache or a kept value satisfies asks
// for nothing more. Then values are emitted in ascending order, operands first, each (node, coordinates, predicate)
// once. Loads come first by themselves, because parameters have low numbers and a value goes to the outermost scope
// that defines its variables.
//
// Predicates. A concatenation, a pad or an update reads an operand only where the element lies inside it. Such demands
// carry a predicate, a chain of conditions on the coordinates. A load under a predicate is guarded; arithmetic is
// computed anyway, and the choice between the operands is made by a select, because the result of an element that
// nobody reads does no harm. Where whole vectors are inside or outside together, the condition is asked for the first
// element alone, so the access stays wide.
//
// Types. 16-bit floats are stored as they are and computed as f32: an entry holds the value as it was loaded (raw) and
// widened (compute), and each is made when it is first needed. A value that some plan keeps between phases is rounded
// once, where it is computed, and all read the rounded one: results do not depend on where a plan keeps things.
//
// Bits. A number that is held in a wider type than its own is rounded to its own before its bits are taken: it has none
// before.
//
// Arithmetic classes but ieee divide by a constant as they multiply by its reciprocal, where that is a normal number:
// the rounding of the reciprocal is inside the error that they allow a division.
//
// Memory is lower_access.cpp's; what outlives a phase is lower_keep.cpp's; where a statement goes is
// lower_build.cpp's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "codegen/lower/lower_build.h"
#include "codegen/structure/structure.h"
#include "ir/graph/number.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

namespace {

/// Of one node for one element of a result. Slices and pads of slices and pads, as scans are made of, may ask for
/// thrice as many with each step; a window of 64 elements asks for 64.
constexpr std::size_t most_places = 512;

/// The operand that is read inside a window of the result, the other one being what stands around it: -1 for an
/// operation that has none.
int inside_operand(const ir::Node& node) {
  return node.op == ir::Op::pad ? 0 : node.op == ir::Op::dynamic_update_slice ? 1 : -1;
}

/// Whether that window is half of the result or more.
bool is_often_inside(const ir::Graph& graph, const ir::Node& node) {
  return node.op == ir::Op::pad && 2 * elements(graph[node.operands[0]].shape) >= elements(node.shape);
}

}  // namespace

// ---- the value cache

const Entry* ProgramBuilder::find(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate) const {
  for (const Entry& entry : s_.entries[node])
    if (entry.predicate == predicate && entry.coordinates == coordinates && is_alive(entry.compute, entry.scope))
      return &entry;
  return nullptr;
}

void ProgramBuilder::remember(ir::NodeId node, Entry entry) {
  entry.scope = s_.frames[entry.compute.depth].serial;
  std::vector<Entry>& list = s_.entries[node];
  if (list.empty()) s_.touched.push_back(node);
  list.push_back(entry);
}

Entry ProgramBuilder::find_entry(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate) const {
  const Entry* entry = find(node, coordinates, predicate);
  return entry ? *entry : Entry{};
}

void ProgramBuilder::demand(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate) {
  std::vector<Demand>& list = s_.demands[node];
  for (const Demand& known : list)
    if (known.predicate == predicate && known.coordinates == coordinates) return;
  if (list.size() == most_places)
    refuse("size", fmt::format("an element needs %{} at over {} places", node_at(node).name, most_places));
  else
    list.push_back({coordinates, predicate, false});
}

void ProgramBuilder::forget_demands(ir::NodeId from) {
  for (ir::NodeId id = from; id >= 0; --id) s_.demands[id].clear();
}

Entry ProgramBuilder::emit_value(ir::NodeId node, const Coordinates& coordinates, PredicateId predicate) {
  demand(node, coordinates, predicate);
  ir::NodeId lowest = node;
  for (ir::NodeId id = node; id >= 0; --id) {
    std::vector<Demand>& list = s_.demands[id];
    if (list.empty()) continue;
    lowest = id;
    for (std::size_t i = 0; i < list.size(); ++i) {  // demands of operands never grow this list
      list[i].satisfied = find(id, list[i].coordinates, list[i].predicate) != nullptr || fetch_kept(id, list[i]);
      if (!list[i].satisfied && find_elsewhere(id, list[i]).kept == nullptr) demand_operands(id, list[i]);
      if (refusal_) return forget_demands(node), Entry{};
    }
  }
  for (ir::NodeId id = lowest; id <= node; ++id) {
    std::vector<Demand>& list = s_.demands[id];
    for (const Demand& wanted : list)
      if (!wanted.satisfied && !refusal_) emit(id, wanted);
    list.clear();
  }
  return find_entry(node, coordinates, predicate);
}

void ProgramBuilder::load_ahead(ir::NodeId node, const Coordinates& coordinates, const Flight& flight,
                                PredicateId predicate) {
  demand(node, coordinates, predicate);
  ir::NodeId lowest = node;
  for (ir::NodeId id = node; id >= 0; --id) {
    std::vector<Demand>& list = s_.demands[id];
    if (list.empty()) continue;
    lowest = id;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (node_at(id).op == ir::Op::gather) {
        // Its places are not known before what they are made of is.
        if (prepared_.placed_in_walk || (flight.ahead_of > 0 && prepared_.placed_by_reduction)) continue;
        demand_indices(id, list[i]);
      }
      const bool is_there = find_kept(id, list[i], false) != nullptr || find_kept(id, list[i], true) != nullptr ||
                            find_elsewhere(id, list[i]).kept != nullptr || waits_by_then(id, flight);
      const bool asks = !is_there || find_home(keeping_, id) != nullptr;
      if (asks && is_scan(prepared_, id))
        demand(node_at(id).operands[0], list[i].coordinates, list[i].predicate);
      else if (asks && node_at(id).op == ir::Op::reduce_window)
        demand_taps(id, list[i], true);
      else if (asks)
        demand_operands(id, list[i]);
      if (refusal_) return forget_demands(node);
    }
  }
  loading_ahead_ = true;
  for (ir::NodeId id = lowest; id <= node; ++id) {
    std::vector<Demand>& list = s_.demands[id];
    if (list.empty()) continue;
    if ((is_read(id) || find_home(shared_, id) != nullptr) && (!flight.places || prepared_.places[id] != 0))
      for (const Demand& wanted : list) fly(id, wanted, flight);
    list.clear();
  }
  loading_ahead_ = false;
}

void ProgramBuilder::demand_operands(ir::NodeId id, const Demand& wanted) {
  const ir::Node& node = node_at(id);
  if (is_read(id)) return;
  if (const auto of = ir::reduced_value(graph_, id)) {  // its accumulator, and whatever the initial value is
    const ir::Node& reduce = node_at(of->reduce);
    if (!ir::known_reducers(graph_, reduce).empty())  // one number, right under any predicate
      demand(reduce.operands[ir::reduced_count(reduce) + of->number], {}, 0);
    return;
  }
  if (is_scan(prepared_, id)) return;  // who walks has made it
  if (node.op == ir::Op::reduce_window) return demand_taps(id, wanted);
  const ir::OpClass kind = class_of(node.op);
  if (!is_elementwise(node.op) && kind != ir::OpClass::index && kind != ir::OpClass::lookup) return;
  // What places a look-up is bound already.
  const std::size_t count = kind == ir::OpClass::lookup ? first_start(node) : node.operands.size();
  for (int k = 0; k < static_cast<int>(count); ++k) {
    PredicateId predicate = wanted.predicate;
    if (!may_read(id, k, wanted.coordinates)) continue;
    if (node.op == ir::Op::concatenate) predicate = inside_predicate(inside_of(id, k, wanted.coordinates), predicate);
    if (k == inside_operand(node))
      for (int dim = 0; dim < node.shape.rank(); ++dim)
        predicate = inside_predicate(inside_of(id, dim, wanted.coordinates), predicate, is_often_inside(graph_, node));
    const Coordinates below = source_coordinates(id, k, wanted.coordinates, wanted.predicate);
    demand(node.operands[k], below, predicate_below(id, below, predicate));
  }
}

void ProgramBuilder::emit(ir::NodeId id, const Demand& wanted) {
  const ir::Node& node = node_at(id);
  Entry entry;
  if (ir::reduced_value(graph_, id)) {
    if (!fetch_accumulator(id, wanted))
      refuse("reduction-place", fmt::format("%{} is needed for another row than the one at hand", node.name));
    return;
  }
  if (is_read(id) || find_elsewhere(id, wanted).kept != nullptr) {
    entry = emit_load(id, wanted);
  } else if (node.op == ir::Op::constant) {
    entry = emit_constant(node);
  } else if (node.op == ir::Op::iota) {
    entry = emit_iota(id, wanted.coordinates);
  } else if (node.op == ir::Op::concatenate || inside_operand(node) >= 0) {
    entry = emit_choice(id, wanted);
  } else if (is_scan(prepared_, id)) {
    entry = emit_scan(id, wanted);
  } else if (node.op == ir::Op::reduce_window) {
    entry = emit_window(id, wanted);
  } else if (class_of(node.op) == ir::OpClass::index || class_of(node.op) == ir::OpClass::lookup) {
    const Coordinates below = source_coordinates(id, 0, wanted.coordinates, wanted.predicate);
    entry = find_entry(node.operands[0], below, predicate_below(id, below, wanted.predicate));
  } else {
    entry = emit_elementwise(id, wanted);
  }
  if (refusal_) return;
  if (prepared_.rounded[id] && entry.raw.id == ir::no_value) entry = rounded(id, entry);
  entry.coordinates = wanted.coordinates;
  entry.predicate = wanted.predicate;
  if (const ir::Home* home = find_home(keeping_, id); home != nullptr && wanted.predicate == 0)
    keep_value(*home, entry);
  remember(id, entry);
}

// ---- values

Val ProgramBuilder::widen(Val raw, ir::DType dtype, std::string_view name) {
  const ir::DType compute = row(dtype).compute;
  if (compute == dtype) return raw;
  ir::Value value;
  value.kind = ir::ValueKind::convert;
  value.dtype = compute;
  value.operands[0] = raw.id;
  return let(raw.depth, name, compute, add_value(value));
}

Val ProgramBuilder::to_raw(const Entry& entry, ir::DType dtype) {
  if (entry.raw.id != ir::no_value) return entry.raw;
  if (row(dtype).compute == dtype) return entry.compute;
  ir::Value value;
  value.kind = ir::ValueKind::convert;
  value.dtype = dtype;
  value.operands[0] = entry.compute.id;
  return {add_value(value), entry.compute.depth};
}

Entry ProgramBuilder::rounded(ir::NodeId id, Entry entry) {
  const ir::DType dtype = node_at(id).shape.dtype;
  const int depth = entry.compute.depth;
  entry.raw = let(depth, name_of(id), dtype, to_raw(entry, dtype).id);
  entry.compute = widen(entry.raw, dtype, id);
  return entry;
}

Val ProgramBuilder::constant_of(const ir::Node& node, ir::DType as) {
  std::uint64_t bits = 0;
  const std::vector<std::byte>& contents = ir::attributes_as<ir::Literal>(node).bytes;
  std::memcpy(&bits, contents.data(), std::min<std::size_t>(8, contents.size()));
  const ir::DType dtype = node.shape.dtype;
  const int unused = 64 - 8 * element_bytes(dtype);
  if (is_floating(dtype)) return number(as, decode(dtype, bits), 0);
  if (is_signed(dtype)) return number(as, 0, static_cast<std::int64_t>(bits << unused) >> unused);  // sign extension
  return number(as, 0, static_cast<std::int64_t>(bits));
}

Entry ProgramBuilder::emit_constant(const ir::Node& node) {
  Entry entry;
  entry.compute = constant_of(node, row(node.shape.dtype).compute);
  return entry;
}

Entry ProgramBuilder::emit_iota(ir::NodeId id, const Coordinates& coordinates) {
  const ir::Node& node = node_at(id);
  const Val index = index_value(coordinates[std::max(axis(node), 0)]);
  ir::Value value;
  value.kind = ir::ValueKind::convert;
  value.dtype = row(node.shape.dtype).compute;
  value.operands[0] = index.id;
  Entry entry;
  entry.compute = kernel_.values[index.id].dtype == value.dtype
                      ? index
                      : let(index.depth, name_of(id), value.dtype, add_value(value));
  // A narrow type has no number for every index: 257 is 256 in bf16.
  return value.dtype == node.shape.dtype ? entry : rounded(id, entry);
}

std::optional<Val> ProgramBuilder::reciprocal(const Val& divisor) {
  const ir::Value& known = kernel_.values[divisor.id];
  if (!ir::multiplies_by_reciprocal(plan_.arithmetic) || known.kind != ir::ValueKind::constant ||
      !ir::has_classes(known.dtype))
    return std::nullopt;
  const float factor = 1.0F / static_cast<float>(known.real);
  if (!std::isnormal(factor)) return std::nullopt;
  return number(known.dtype, factor, 0);
}

namespace {

/// Operations that make 0 of zeros.
bool keeps_zero(ir::Op op) {
  switch (op) {
    case ir::Op::convert:
    case ir::Op::copy:
    case ir::Op::negate:
    case ir::Op::abs:
    case ir::Op::add:
    case ir::Op::subtract:
    case ir::Op::multiply:
      return true;
    default:
      return false;
  }
}

}  // namespace

Entry ProgramBuilder::emit_elementwise(ir::NodeId id, const Demand& wanted) {
  const ir::Node& node = node_at(id);
  const std::size_t count = node.operands.size();
  std::array<Entry, 4> few;  // of all but maps of many
  std::vector<Entry> many(count > few.size() ? count : 0);
  const std::span<Entry> operands = many.empty() ? std::span(few).first(count) : std::span(many);
  for (std::size_t k = 0; k < count; ++k)
    operands[k] = find_entry(node.operands[k],
                             operand_coordinates(s_.build, graph_, node, static_cast<int>(k), wanted.coordinates),
                             wanted.predicate);
  if (node.op != ir::Op::map) {
    Entry entry = computed(graph_, node, name_of(id), operands);
    const bool are_zero = std::all_of(operands.begin(), operands.end(),
                                      [](const Entry& operand) { return operand.outside == Outside::zero; });
    entry.outside = are_zero && keeps_zero(node.op) ? Outside::zero : Outside::unknown;
    return entry;
  }
  const ir::Graph& function = body(graph_, node, 0);
  return written_out(function, name_of(id), operands)[ir::index(function.outputs[0])];
}

Entry ProgramBuilder::computed(const ir::Graph& graph, const ir::Node& node, std::string_view name,
                               std::span<const Entry> operands) {
  int depth = 0;
  for (const Entry& operand : operands) depth = std::max(depth, operand.compute.depth);
  const ir::DType from = graph[node.operands[0]].shape.dtype, to = node.shape.dtype;
  if (node.op == ir::Op::copy || (node.op == ir::Op::convert && from == to)) return operands[0];
  Entry entry;
  if (ir::works_on_bits(node.op)) return emit_bits(graph, node, name, operands[0]);
  if (node.op == ir::Op::convert) {
    if (to == row(from).compute) {
      entry.compute = operands[0].compute;
      return entry;
    }
    const ir::DType compute = row(to).compute;
    // A mask is read in several phases, each of which makes numbers of it. Without a rounding between the assembler
    // makes them once and keeps f32, four times what the mask takes.
    const bool is_exact = compute != to && from != ir::DType::pred && ir::has_all_of(to, from);
    if (is_exact && compute == row(from).compute) {
      entry.compute = operands[0].compute;
      return entry;
    }
    ir::Value value;
    value.kind = ir::ValueKind::convert;
    value.dtype = is_exact ? compute : to;
    value.operands[0] = operands[0].compute.id;
    const Val rounded = let(depth, name, value.dtype, add_value(value));
    if (is_exact) {
      entry.compute = rounded;
      return entry;
    }
    entry.raw = rounded;
    entry.compute = widen(rounded, to, name);
    return entry;
  }
  ir::Value value;
  value.kind = ir::ValueKind::op;
  value.op = node.op;
  const auto* compare = std::get_if<ir::CompareOptions>(&node.attributes);
  if (compare != nullptr) value.comparison = compare->comparison;
  value.dtype = row(to).compute;
  for (std::size_t k = 0; k < node.operands.size(); ++k) value.operands[k] = operands[k].compute.id;
  if (compare != nullptr && compare->total_order && is_floating(from))
    for (std::size_t k = 0; k < node.operands.size(); ++k) value.operands[k] = order_key(operands[k], from).id;
  if (node.op == ir::Op::divide)
    if (const std::optional<Val> factor = reciprocal(operands[1].compute)) {
      value.op = ir::Op::multiply;
      value.operands[1] = factor->id;
    }
  entry.compute = let(depth, name, value.dtype, add_value(value));
  return entry;
}

Val ProgramBuilder::both_of(const Val& a, const Val& b) {
  if (a.id == ir::no_value || b.id == ir::no_value) return a.id == ir::no_value ? b : a;
  ir::Value both;
  both.kind = ir::ValueKind::op;
  both.op = ir::Op::bit_and;
  both.dtype = ir::DType::pred;
  both.operands = {a.id, b.id, ir::no_value};
  return {add_value(both), std::max(a.depth, b.depth)};
}

Val ProgramBuilder::inside_value(const Inside& inside) {
  const ir::Interval range = s_.build.pool()[inside.value].range;
  Val all{ir::no_value, 0};
  const auto require = [&](const Val& a, ir::Comparison comparison, const Val& b) {
    ir::Value value;
    value.kind = ir::ValueKind::op;
    value.op = ir::Op::compare;
    value.comparison = comparison;
    value.dtype = ir::DType::pred;
    value.operands = {a.id, b.id, ir::no_value};
    all = both_of(all, {add_value(value), std::max(a.depth, b.depth)});
  };
  const Val index = index_value(inside.value);
  const ir::DType dtype = kernel_.values[index.id].dtype;
  if (inside.low > range.low) require(number(dtype, 0, inside.low - 1), ir::Comparison::lt, index);
  if (inside.high <= range.high) require(index, ir::Comparison::lt, number(dtype, 0, inside.high));
  if (inside.rest != ir::no_expr) {
    const Val rest = index_value(inside.rest);
    require(rest, ir::Comparison::eq, number(kernel_.values[rest.id].dtype, 0, 0));
  }
  return all;
}

bool ProgramBuilder::may_read(ir::NodeId id, int k, const Coordinates& coordinates) {
  const ir::Node& node = node_at(id);
  if (node.op == ir::Op::concatenate) return may_hold(s_.build, inside_of(id, k, coordinates));
  if (k != inside_operand(node)) return true;
  for (int dim = 0; dim < node.shape.rank(); ++dim)
    if (!may_hold(s_.build, inside_of(id, dim, coordinates))) return false;
  return true;
}

Val ProgramBuilder::choose(ir::NodeId id, const Val& test, const Val& yes, const Val& no) {
  if (test.id == ir::no_value) return yes;
  ir::Value value;
  value.kind = ir::ValueKind::op;
  value.op = ir::Op::select;
  value.dtype = row(node_at(id).shape.dtype).compute;
  value.operands = {test.id, yes.id, no.id};
  return let(std::max({test.depth, yes.depth, no.depth}), name_of(id), value.dtype, add_value(value));
}

Entry ProgramBuilder::emit_choice(ir::NodeId id, const Demand& wanted) {
  const ir::Node& node = node_at(id);
  const auto operand = [&](int k, PredicateId predicate) {
    return find_entry(node.operands[k], source_coordinates(id, k, wanted.coordinates, predicate), predicate).compute;
  };
  Entry entry;
  if (node.op == ir::Op::concatenate) {
    for (int k = static_cast<int>(node.operands.size()); k-- > 0;) {
      if (!may_read(id, k, wanted.coordinates)) continue;
      Inside inside = inside_of(id, k, wanted.coordinates);
      const Val value = operand(k, inside_predicate(inside, wanted.predicate));
      inside.low = std::numeric_limits<std::int64_t>::min();  // earlier operands were asked first
      entry.compute = entry.compute.id == ir::no_value ? value : choose(id, inside_value(inside), value, entry.compute);
    }
    // Under a condition that never holds no operand may be meant.
    if (entry.compute.id == ir::no_value) entry.compute = number(row(node.shape.dtype).compute, 0, 0);
    return entry;
  }
  const int within = inside_operand(node);
  PredicateId predicate = wanted.predicate;
  for (int dim = 0; dim < node.shape.rank(); ++dim)
    predicate = inside_predicate(inside_of(id, dim, wanted.coordinates), predicate, is_often_inside(graph_, node));
  const Val around = operand(1 - within, wanted.predicate);
  if (!may_read(id, within, wanted.coordinates)) {
    entry.compute = around;
    return entry;
  }
  entry.compute = operand(within, predicate);
  for (int dim = 0; dim < node.shape.rank(); ++dim)
    entry.compute = choose(id, inside_value(inside_of(id, dim, wanted.coordinates)), entry.compute, around);
  return entry;
}

// ---- predicates

PredicateId ProgramBuilder::inside_predicate(const Inside& inside, PredicateId parent, bool often) {
  const ir::Interval range = s_.build.pool()[inside.value].range;
  const std::int64_t bounds[] = {inside.low, inside.high};
  const ir::ExprId value = of_vector(s_.build.expand(inside.value), bounds);
  const auto add = [&](const ir::Condition& condition) {
    for (std::size_t i = 1; i < s_.predicates.size(); ++i)
      if (s_.predicates[i].parent == parent && s_.predicates[i].condition.a == condition.a &&
          s_.predicates[i].condition.b == condition.b && s_.predicates[i].condition.equal == condition.equal) {
        parent = static_cast<PredicateId>(i);
        return;
      }
    s_.predicates.push_back({parent, condition, often});
    parent = static_cast<PredicateId>(s_.predicates.size() - 1);
  };
  if (inside.low > range.low) add({s_.build.constant(inside.low - 1), value, false});
  if (inside.high <= range.high) add({value, s_.build.constant(inside.high), false});
  if (inside.rest != ir::no_expr) add({inside.rest, s_.build.constant(0), true});
  return parent;
}

std::vector<ir::Condition> ProgramBuilder::conditions_of(PredicateId predicate) const {
  std::vector<ir::Condition> all;
  for (; predicate != 0; predicate = s_.predicates[predicate].parent) all.push_back(s_.predicates[predicate].condition);
  return all;
}

// ---- bits

namespace {

/// The signed integer as wide as the type.
ir::DType signed_as_wide(ir::DType dtype) {
  for (const ir::DTypeRow& one : ir::dtype_table)
    if (one.kind == ir::DTypeKind::signed_integer && one.bits == row(dtype).bits) return one.dtype;
  return ir::DType::s64;
}

}  // namespace

Entry ProgramBuilder::emit_bits(const ir::Graph& graph, const ir::Node& node, std::string_view name,
                                const Entry& operand) {
  const ir::DType from = graph[node.operands[0]].shape.dtype;
  ir::Value value;
  value.dtype = node.shape.dtype;
  if (node.op == ir::Op::bitcast_convert) {
    value.kind = ir::ValueKind::op;
    value.op = node.op;
    value.operands[0] = to_raw(operand, from).id;
  } else if (const std::optional<ir::DType> format = rounding_type(graph, node)) {
    if (*format == from && row(from).compute == from) return operand;
    value.kind = ir::ValueKind::convert;
    value.dtype = *format;
    value.operands[0] = operand.compute.id;
  } else {
    value.kind = ir::ValueKind::op;
    value.op = node.op;
    value.digits = kept_digits(graph, node);
    value.operands[0] = to_raw(operand, from).id;
  }
  const Val kept = let(operand.compute.depth, name, value.dtype, add_value(value));
  Entry entry;
  if (value.dtype == node.shape.dtype && row(value.dtype).compute != value.dtype) entry.raw = kept;
  entry.compute = widen(kept, value.dtype, name);
  return entry;
}

Val ProgramBuilder::order_key(const Entry& operand, ir::DType dtype) {
  const ir::DType whole = signed_as_wide(dtype);
  const auto operate = [&](ir::Op op, const Val& a, const Val& b) {
    ir::Value value;
    value.kind = ir::ValueKind::op;
    value.op = op;
    value.dtype = whole;
    value.operands = {a.id, b.id, ir::no_value};
    return Val{add_value(value), a.depth};
  };
  // A negative number's other bits are turned: the larger they are, the smaller it is.
  const Val bits = operate(ir::Op::bitcast_convert, to_raw(operand, dtype), {ir::no_value, 0});
  const Val sign = operate(ir::Op::shift_right_arithmetic, bits, number(whole, 0, row(dtype).bits - 1));
  const Val others = operate(ir::Op::shift_right_logical, sign, number(whole, 0, 1));
  return operate(ir::Op::bit_xor, bits, others);
}

// ---- outputs aside

/// Such outputs are small beside what the kernel does, so nothing is made of vectors, flights or kept values: a value
/// is computed where it is asked for, in the order of memory.
void store_aside(ProgramBuilder& builder, const Prepared& prepared, std::span<const std::int32_t> outputs,
                 ir::ExprId thread, std::int64_t threads) {
  IndexBuilder& build = builder.build();
  for (const std::int32_t output : outputs) {
    if (builder.refusal()) return;
    const ir::Shape& shape = builder.graph()[prepared.stored[output]].shape;
    const std::int64_t count = elements(shape), turns = (count + threads - 1) / threads;
    const ir::VarId turn = builder.loop_var("o", turns);
    ir::ExprId element = build.expand(thread);
    if (turns > 1) element = build.add_scaled(element, build.var(turn), threads);
    const bool ragged = turns * threads != count;
    const ir::Condition exists{element, build.constant(count), false};
    if (ragged) element = build.narrow(element, {0, count - 1});
    if (turns > 1) builder.open_loop(turn, false);
    if (ragged) builder.open_guard({&exists, 1});
    builder.store_output(output, delinearize_memory(build, shape, element));
    if (ragged) builder.close();
    if (turns > 1) builder.close();
  }
}

}  // namespace tailor::codegen
