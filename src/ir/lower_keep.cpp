// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that outlive their phase: what residence keeps in registers or shared memory, and accumulators of finished
// reductions. A later phase uses the same loop variables, so a kept value is found again by node and place.
#include <algorithm>

#include "ir/lower_build.h"

namespace tailor::ir {

void ProgramBuilder::keep(std::span<const NodeId> nodes, bool in_shared) {
  keeping_ = nodes;
  keep_in_shared_ = in_shared;
}

Kept* ProgramBuilder::kept_place(NodeId id, const Place& place) {
  if (!segment_) return nullptr;
  for (Kept& kept : s_.kept)
    if (kept.node == id && kept.segment == segment_->number && kept.place == place) return &kept;
  const DType dtype = node_at(id).shape.dtype;
  Kept kept{id, place, segment_->number, no_id, keep_in_shared_, no_expr};
  Array array{name_of(id), keep_in_shared_ ? Space::shared : Space::registers, dtype, {0, 0}, 1};
  const std::int64_t trips = segment_->trip_count;
  if (keep_in_shared_) {
    array.name += "_shared";
    array.dims[0] = in_flight_rows * trips * segment_->slots * segment_->vector;
    kernel_.shared_bytes += (array.dims[0] * row(dtype).bits / 8 + access_bytes - 1) / access_bytes * access_bytes;
    const ExprId trip = s_.build.add_scaled(segment_->trip, row_in_flight, trips);
    kept.slot = s_.build.scale(s_.build.add_scaled(segment_->thread_slot, trip, segment_->slots), segment_->vector);
  } else {
    array.name += "_row";
    int dim = 0;
    if (in_flight_rows > 1) array.dims[static_cast<std::size_t>(dim++)] = in_flight_rows;
    if (trips > 1) array.dims[static_cast<std::size_t>(dim)] = trips;
    array.vector = segment_->vector;
    kept_bytes += in_flight_rows * trips * segment_->vector * std::max(row(dtype).bits / 8, 1);
  }
  kept.array = add_array(std::move(array));
  declare(0, kept.array);
  s_.kept.push_back(kept);
  return &s_.kept.back();
}

Ref ProgramBuilder::kept_ref(const Kept& kept, ExprId lane) {
  Ref ref;
  ref.array = kept.array;
  int dim = 0;
  if (in_flight_rows > 1) ref.subs[static_cast<std::size_t>(dim++)] = row_in_flight;
  if (segment_->trip_count > 1) ref.subs[static_cast<std::size_t>(dim)] = segment_->trip;
  ref.lane = lane;
  return ref;
}

void ProgramBuilder::keep_value(NodeId id, const Entry& entry) {
  const IndexPool& pool = s_.build.pool();
  std::uint64_t vars = 0;
  for (int i = 0; i < entry.place.rank; ++i) vars |= pool[entry.place[i]].vars;
  const bool varies = segment_ && (segment_->vector == 1 || (vars >> segment_->element & 1) != 0);
  if (!varies) return;
  const bool was_there = std::any_of(s_.kept.begin(), s_.kept.end(), [&](const Kept& kept) {
    return kept.node == id && kept.segment == segment_->number && kept.place == entry.place;
  });
  const bool loaded_into_it = was_there && node_at(id).op == Op::parameter && !keep_in_shared_;
  if (loaded_into_it) return;
  Kept* kept = kept_place(id, entry.place);
  const DType dtype = node_at(id).shape.dtype;
  const Val raw = raw_of(entry, dtype);
  const ExprId e = segment_->vector > 1 ? s_.build.var(segment_->element) : no_expr;
  Stmt assign;
  assign.kind = StmtKind::assign;
  assign.value = raw.id;
  if (!kept->in_shared) {
    assign.target = kept_ref(*kept, e);
    put(depth(), assign);
    return;
  }
  const int outside = segment_->vector > 1 ? depth() - 1 : depth();
  Ref ref;
  ref.array = add_array({name_of(id), Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, ref.array);
  ref.lane = e;
  assign.target = ref;
  put(depth(), assign);
  const int width = widest_access(dtype);
  store_pieces(outside, segment_->vector > 1, ref, Space::shared, kept->array, kept->slot, width, segment_->vector);
}

bool ProgramBuilder::fetch_kept(NodeId id, const Demand& wanted) {
  if (!segment_ || wanted.predicate != 0) return false;
  for (const Kept& kept : s_.kept) {
    if (kept.node != id || kept.segment != segment_->number || !(kept.place == wanted.place)) continue;
    if (std::binary_search(keeping_.begin(), keeping_.end(), id)) return false;  // this phase fills it
    const DType dtype = node_at(id).shape.dtype;
    const ExprId e = segment_->vector > 1 ? s_.build.var(segment_->element) : no_expr;
    Entry entry;
    entry.place = wanted.place;
    if (kept.in_shared) {
      const int outside = segment_->vector > 1 ? depth() - 1 : depth();
      Ref ref;
      ref.array = add_array({name_of(id), Space::registers, dtype, {0, 0}, segment_->vector});
      declare(outside, ref.array);
      const int width = widest_access(dtype);
      load_pieces(outside, ref, Space::shared, kept.array, kept.slot, width, segment_->vector, Policy::once);
      ref.lane = e;
      entry.raw = element(dtype, ref, depth());
    } else {
      entry.raw = element(dtype, kept_ref(kept, e), depth());
    }
    entry.compute = widen(entry.raw, dtype, id);
    remember(id, entry);
    return true;
  }
  return false;
}

Val ProgramBuilder::reduce_init(const Node& node, Val accumulated, int depth) {
  const Node& init = node_at(node.operands[1]);
  const DType compute = row(node.shape.dtype).compute;
  const Neutral zero = neutral(node.attributes.reducer, node.shape.dtype);
  const Entry entry = entry_of(node.operands[1], {}, 0);
  if (init.op == Op::constant) {
    const Value& value = kernel_.values[entry.compute.id];
    if (is_floating(compute) ? value.real == zero.real : value.integer == zero.integer) return accumulated;
  }
  Value value;
  value.kind = ValueKind::op;
  value.op = op_of(node.attributes.reducer);
  value.dtype = compute;
  value.operands = {accumulated.id, entry.compute.id, no_value};
  return let(std::max(depth, entry.compute.depth), node.name, compute, add_value(value));
}

bool ProgramBuilder::fetch_accumulator(NodeId id, const Demand& wanted) {
  for (const Accumulator& accumulator : s_.accumulators) {
    if (accumulator.node != id || !(accumulator.place == wanted.place)) continue;
    const Node& node = node_at(id);
    Ref ref;
    ref.array = accumulator.array;
    std::uint64_t vars = 0;
    if (in_flight_rows > 1) {
      ref.subs[0] = row_in_flight;
      vars = s_.build.pool()[row_in_flight].vars;
    }
    const int depth = depth_for(vars);
    Entry entry;
    entry.place = wanted.place;
    entry.predicate = wanted.predicate;
    entry.compute = reduce_init(node, element(row(node.shape.dtype).compute, ref, depth), depth);
    remember(id, entry);
    return true;
  }
  return false;
}

}  // namespace tailor::ir
