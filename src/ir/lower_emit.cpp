// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Emission: from "this node at this place" to statements. Demands travel from users to operands in descending node
// order, then values are emitted in ascending order: no recursion, loads first, and each (node, place) once. Arithmetic
// and choices are here; memory is lower_access.cpp's, what outlives a phase lower_keep.cpp's.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "ir/lower_build.h"
#include "ir/number.h"

namespace tailor::ir {

// ---- the value cache
// -------------------------------------------------------------------------------------------------

const Entry* ProgramBuilder::find(NodeId node, const Place& place, PredicateId predicate) const {
  for (const Entry& entry : s_.entries[static_cast<std::size_t>(node)])
    if (entry.predicate == predicate && entry.place == place && entry.compute.depth < static_cast<int>(s_.depth) &&
        s_.frames[static_cast<std::size_t>(entry.compute.depth)].serial == entry.scope)
      return &entry;
  return nullptr;
}

void ProgramBuilder::remember(NodeId node, Entry entry) {
  entry.scope = s_.frames[static_cast<std::size_t>(entry.compute.depth)].serial;
  std::vector<Entry>& list = s_.entries[static_cast<std::size_t>(node)];
  if (list.empty()) s_.touched.push_back(node);
  list.push_back(entry);
}

Entry ProgramBuilder::entry_of(NodeId node, const Place& place, PredicateId predicate) const {
  const Entry* entry = find(node, place, predicate);
  return entry ? *entry : Entry{};
}

void ProgramBuilder::demand(NodeId node, const Place& place, PredicateId predicate) {
  std::vector<Demand>& list = s_.demands[static_cast<std::size_t>(node)];
  for (const Demand& known : list)
    if (known.predicate == predicate && known.place == place) return;
  list.push_back({place, predicate, false});
}

Entry ProgramBuilder::value_of(NodeId node, const Place& place) {
  demand(node, place, 0);
  NodeId lowest = node;
  for (NodeId id = node; id >= 0; --id) {
    std::vector<Demand>& list = s_.demands[static_cast<std::size_t>(id)];
    if (list.empty()) continue;
    lowest = id;
    for (std::size_t i = 0; i < list.size(); ++i) {  // demands of operands never grow this list
      list[i].satisfied = find(id, list[i].place, list[i].predicate) != nullptr || fetch_kept(id, list[i]);
      if (!list[i].satisfied) demand_operands(id, list[i]);
    }
  }
  for (NodeId id = lowest; id <= node; ++id) {
    std::vector<Demand>& list = s_.demands[static_cast<std::size_t>(id)];
    for (const Demand& wanted : list)
      if (!wanted.satisfied && !refusal_) emit(id, wanted);
    list.clear();
  }
  return entry_of(node, place, 0);
}

void ProgramBuilder::prefetch(NodeId node, const Place& place) {
  demand(node, place, 0);
  for (NodeId id = node; id >= 0; --id) {
    std::vector<Demand>& list = s_.demands[static_cast<std::size_t>(id)];
    for (std::size_t i = 0; i < list.size(); ++i) demand_operands(id, list[i]);
  }
  prefetching_ = true;
  for (NodeId id = 0; id <= node; ++id) {
    std::vector<Demand>& list = s_.demands[static_cast<std::size_t>(id)];
    for (const Demand& wanted : list) {
      if (wanted.predicate != 0 || !std::binary_search(keeping_.begin(), keeping_.end(), id)) continue;
      const bool known = std::any_of(s_.kept.begin(), s_.kept.end(), [&](const Kept& kept) {
        return kept.node == id && kept.segment == segment_->number && kept.place == wanted.place;
      });
      if (!known) emit_load(id, wanted);
    }
    list.clear();
  }
  prefetching_ = false;
}

void ProgramBuilder::demand_operands(NodeId id, const Demand& wanted) {
  const Node& node = node_at(id);
  if (node.op == Op::reduce) {        // its accumulator, and whatever the initial value is
    demand(node.operands[1], {}, 0);  // one number, right under any predicate
    return;
  }
  const OpClass kind = class_of(node.op);
  if (kind != OpClass::elementwise && kind != OpClass::index) return;
  for (int k = 0; k < static_cast<int>(node.operands.size()); ++k) {
    PredicateId predicate = wanted.predicate;
    if (node.op == Op::concatenate)
      predicate = inside_predicate(inside_of(s_.build, graph_, node, k, wanted.place), predicate);
    if (node.op == Op::pad && k == 0)
      for (int dim = 0; dim < node.shape.rank(); ++dim)
        predicate = inside_predicate(inside_of(s_.build, graph_, node, dim, wanted.place), predicate);
    demand(node.operands[static_cast<std::size_t>(k)], operand_place(s_.build, graph_, node, k, wanted.place),
           predicate);
  }
}

void ProgramBuilder::emit(NodeId id, const Demand& wanted) {
  const Node& node = node_at(id);
  Entry entry;
  if (node.op == Op::reduce) {
    if (!fetch_accumulator(id, wanted))
      refuse("reduction-place", fmt::format("%{} is needed for another row than the one at hand", node.name));
    return;
  }
  if (node.op == Op::parameter) {
    entry = emit_load(id, wanted);
  } else if (node.op == Op::constant) {
    entry = emit_constant(node);
  } else if (node.op == Op::iota) {
    entry = emit_iota(id, wanted.place);
  } else if (node.op == Op::concatenate || node.op == Op::pad) {
    entry = emit_choice(id, wanted);
  } else if (class_of(node.op) == OpClass::index) {
    entry = entry_of(node.operands[0], operand_place(s_.build, graph_, node, 0, wanted.place), wanted.predicate);
  } else {
    entry = emit_elementwise(id, wanted);
  }
  if (refusal_) return;
  entry.place = wanted.place;
  entry.predicate = wanted.predicate;
  if (wanted.predicate == 0 && std::binary_search(keeping_.begin(), keeping_.end(), id)) keep_value(id, entry);
  remember(id, entry);
}

// ---- values
// ----------------------------------------------------------------------------------------------------------

Val ProgramBuilder::widen(Val raw, DType dtype, NodeId id) {
  const DType compute = row(dtype).compute;
  if (compute == dtype || prefetching_) return raw;
  Value value;
  value.kind = ValueKind::convert;
  value.dtype = compute;
  value.operands[0] = raw.id;
  return let(raw.depth, name_of(id), compute, add_value(value));
}

Val ProgramBuilder::raw_of(const Entry& entry, DType dtype) {
  if (entry.raw.id != no_value) return entry.raw;
  if (row(dtype).compute == dtype) return entry.compute;
  Value value;
  value.kind = ValueKind::convert;
  value.dtype = dtype;
  value.operands[0] = entry.compute.id;
  return {add_value(value), entry.compute.depth};
}

Entry ProgramBuilder::emit_constant(const Node& node) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, node.attributes.literal->bytes.data(),
              std::min<std::size_t>(8, node.attributes.literal->bytes.size()));
  const DType dtype = node.shape.dtype, compute = row(dtype).compute;
  const int unused = 64 - 8 * element_bytes(dtype);
  Entry entry;
  if (is_floating(dtype))
    entry.compute = number(compute, decode(dtype, bits), 0);
  else if (is_signed(dtype))  // sign extension
    entry.compute = number(compute, 0, static_cast<std::int64_t>(bits << unused) >> unused);
  else
    entry.compute = number(compute, 0, static_cast<std::int64_t>(bits));
  return entry;
}

Entry ProgramBuilder::emit_iota(NodeId id, const Place& place) {
  const Node& node = node_at(id);
  const Val index = index_value(place[static_cast<int>(node.attributes.axes[0])]);
  Value value;
  value.kind = ValueKind::convert;
  value.dtype = row(node.shape.dtype).compute;
  value.operands[0] = index.id;
  Entry entry;
  entry.compute = kernel_.values[index.id].dtype == value.dtype
                      ? index
                      : let(index.depth, name_of(id), value.dtype, add_value(value));
  return entry;
}

Entry ProgramBuilder::emit_elementwise(NodeId id, const Demand& wanted) {
  const Node& node = node_at(id);
  Entry operands[3];
  int depth = 0;
  assert(node.operands.size() <= 3);
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    operands[k] = entry_of(node.operands[k], operand_place(s_.build, graph_, node, static_cast<int>(k), wanted.place),
                           wanted.predicate);
    depth = std::max(depth, operands[k].compute.depth);
  }
  const DType from = node_at(node.operands[0]).shape.dtype, to = node.shape.dtype;
  if (node.op == Op::copy || (node.op == Op::convert && from == to)) return operands[0];
  Entry entry;
  if (node.op == Op::convert) {
    if (to == row(from).compute) {
      entry.compute = operands[0].compute;
      return entry;
    }
    Value value;
    value.kind = ValueKind::convert;
    value.dtype = to;
    value.operands[0] = operands[0].compute.id;
    const Val rounded = let(depth, name_of(id), to, add_value(value));
    entry.raw = rounded;
    entry.compute = widen(rounded, to, id);
    return entry;
  }
  Value value;
  value.kind = ValueKind::op;
  value.op = node.op;
  value.comparison = node.attributes.comparison;
  value.dtype = row(to).compute;
  for (std::size_t k = 0; k < node.operands.size(); ++k) value.operands[k] = operands[k].compute.id;
  if (node.op == Op::compare && node.attributes.total_order)
    refuse("operation", fmt::format("compare %{} in total order has no kernel text", node.name));
  entry.compute = let(depth, name_of(id), value.dtype, add_value(value));
  return entry;
}

Val ProgramBuilder::inside_value(const Inside& inside) {
  const Interval range = s_.build.pool()[inside.value].range;
  Val all{no_value, 0};
  const auto require = [&](const Val& a, const Val& b) {
    Value value;
    value.kind = ValueKind::op;
    value.op = Op::compare;
    value.comparison = Comparison::lt;
    value.dtype = DType::pred;
    value.operands = {a.id, b.id, no_value};
    const Val test{add_value(value), std::max(a.depth, b.depth)};
    if (all.id == no_value) {
      all = test;
      return;
    }
    Value both;
    both.kind = ValueKind::op;
    both.op = Op::bit_and;
    both.dtype = DType::pred;
    both.operands = {all.id, test.id, no_value};
    all = {add_value(both), std::max(all.depth, test.depth)};
  };
  const Val index = index_value(inside.value);
  const DType dtype = kernel_.values[index.id].dtype;
  if (inside.low > range.low) require(number(dtype, 0, inside.low - 1), index);
  if (inside.high <= range.high) require(index, number(dtype, 0, inside.high));
  return all;
}

Entry ProgramBuilder::emit_choice(NodeId id, const Demand& wanted) {
  const Node& node = node_at(id);
  const auto operand = [&](int k, PredicateId predicate) {
    return entry_of(node.operands[static_cast<std::size_t>(k)], operand_place(s_.build, graph_, node, k, wanted.place),
                    predicate)
        .compute;
  };
  const auto choose = [&](const Val& test, const Val& yes, const Val& no) {
    if (test.id == no_value) return yes;
    Value value;
    value.kind = ValueKind::op;
    value.op = Op::select;
    value.dtype = row(node.shape.dtype).compute;
    value.operands = {test.id, yes.id, no.id};
    const int depth = std::max({test.depth, yes.depth, no.depth});
    return let(depth, name_of(id), value.dtype, add_value(value));
  };
  Entry entry;
  if (node.op == Op::concatenate) {
    for (int k = static_cast<int>(node.operands.size()); k-- > 0;) {
      Inside inside = inside_of(s_.build, graph_, node, k, wanted.place);
      const Val value = operand(k, inside_predicate(inside, wanted.predicate));
      inside.low = std::numeric_limits<std::int64_t>::min();  // earlier operands were asked first
      entry.compute = entry.compute.id == no_value ? value : choose(inside_value(inside), value, entry.compute);
    }
    return entry;
  }
  PredicateId predicate = wanted.predicate;
  for (int dim = 0; dim < node.shape.rank(); ++dim)
    predicate = inside_predicate(inside_of(s_.build, graph_, node, dim, wanted.place), predicate);
  entry.compute = operand(0, predicate);
  const Val padding = operand(1, wanted.predicate);
  for (int dim = 0; dim < node.shape.rank(); ++dim)
    entry.compute = choose(inside_value(inside_of(s_.build, graph_, node, dim, wanted.place)), entry.compute, padding);
  return entry;
}

// ---- predicates
// ------------------------------------------------------------------------------------------------------

PredicateId ProgramBuilder::inside_predicate(const Inside& inside, PredicateId parent) {
  const Interval range = s_.build.pool()[inside.value].range;
  ExprId value = s_.build.expand(inside.value);
  // Whole vectors are inside or outside when everything is a multiple of the width: then the first element decides.
  if (segment_ && segment_->vector > 1) {
    const ExprId e = s_.build.var(segment_->element);
    const ExprId base = s_.build.subtract(value, e);
    const int v = segment_->vector;
    if (coefficient(s_.build.pool(), value, segment_->element) == 1 && inside.low % v == 0 && inside.high % v == 0 &&
        !is_nested(s_.build.pool(), value, segment_->element) && s_.build.is_multiple(base, v))
      value = base;
  }
  const auto add = [&](const Condition& condition) {
    for (std::size_t i = 1; i < s_.predicates.size(); ++i)
      if (s_.predicates[i].parent == parent && s_.predicates[i].condition.a == condition.a &&
          s_.predicates[i].condition.b == condition.b) {
        parent = static_cast<PredicateId>(i);
        return;
      }
    s_.predicates.push_back({parent, condition});
    parent = static_cast<PredicateId>(s_.predicates.size() - 1);
  };
  if (inside.low > range.low) add({s_.build.constant(inside.low - 1), value, false});
  if (inside.high <= range.high) add({value, s_.build.constant(inside.high), false});
  return parent;
}

std::vector<Condition> ProgramBuilder::conditions_of(PredicateId predicate) const {
  std::vector<Condition> all;
  for (; predicate != 0; predicate = s_.predicates[static_cast<std::size_t>(predicate)].parent)
    all.push_back(s_.predicates[static_cast<std::size_t>(predicate)].condition);
  return all;
}

}  // namespace tailor::ir
