// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Values that outlive their phase: what residence keeps in registers or shared memory, and accumulators of finished
// reductions. In: the nodes that a phase is to keep (prepare.cpp found them), values as they are emitted. Out: arrays
// that hold them and, in later phases, the values again. Called by emission, told by the skeletons.
//
// A later phase walks the row with the same loop variables, so a kept value is found again by node, segment and
// coordinates. In registers it is an array indexed by row in flight, trip and element, with all loops over it
// unrolled. In shared memory a thread has slots of its own: what it wrote it alone reads, so no barrier is needed, and
// neighbouring threads have neighbouring vectors.
//
// A parameter that is kept in registers is loaded straight into its array. What does not vary with the element of the
// vector is not kept: it is cheap to hold as a single value.
//
// An accumulator of an earlier phase is a single number per row. It is fetched by its coordinates too; a demand for
// another row's number cannot be met and is refused, which is what makes a structure with values across rows illegal.
#include <algorithm>

#include "codegen/lower/lower_build.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

void ProgramBuilder::keep(std::span<const ir::NodeId> nodes, bool in_shared) {
  keeping_ = nodes;
  keep_in_shared_ = in_shared;
}

Kept* ProgramBuilder::find_or_keep(ir::NodeId id, const Coordinates& coordinates) {
  if (!segment_) return nullptr;
  for (Kept& kept : s_.kept)
    if (kept.node == id && kept.segment == segment_->number && kept.coordinates == coordinates) return &kept;
  const ir::DType dtype = node_at(id).shape.dtype;
  Kept kept{id, coordinates, segment_->number, ir::no_id, keep_in_shared_, ir::no_expr};
  ir::Array array{name_of(id), keep_in_shared_ ? ir::Space::shared : ir::Space::registers, dtype, {0, 0}, 1};
  const std::int64_t trips = segment_->trip_count;
  if (keep_in_shared_) {
    array.name += "_shared";
    array.dims[0] = in_flight_rows * trips * segment_->slots * segment_->vector;
    kernel_.shared_bytes +=
        (array.dims[0] * row(dtype).bits / 8 + ir::access_bytes - 1) / ir::access_bytes * ir::access_bytes;
    const ir::ExprId trip = s_.build.add_scaled(segment_->trip, row_in_flight, trips);
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

ir::Ref ProgramBuilder::kept_ref(const Kept& kept, ir::ExprId lane) {
  ir::Ref ref;
  ref.array = kept.array;
  int dim = 0;
  if (in_flight_rows > 1) ref.subs[static_cast<std::size_t>(dim++)] = row_in_flight;
  if (segment_->trip_count > 1) ref.subs[static_cast<std::size_t>(dim)] = segment_->trip;
  ref.lane = lane;
  return ref;
}

void ProgramBuilder::keep_value(ir::NodeId id, const Entry& entry) {
  const ir::IndexPool& pool = s_.build.pool();
  std::uint64_t vars = 0;
  for (int i = 0; i < entry.coordinates.rank; ++i) vars |= pool[entry.coordinates[i]].vars;
  const bool varies = segment_ && (segment_->vector == 1 || (vars >> segment_->element & 1) != 0);
  if (!varies) return;
  const bool was_there = std::any_of(s_.kept.begin(), s_.kept.end(), [&](const Kept& kept) {
    return kept.node == id && kept.segment == segment_->number && kept.coordinates == entry.coordinates;
  });
  const bool loaded_into_it = was_there && node_at(id).op == ir::Op::parameter && !keep_in_shared_;
  if (loaded_into_it) return;
  Kept* kept = find_or_keep(id, entry.coordinates);
  const ir::DType dtype = node_at(id).shape.dtype;
  const Val raw = to_raw(entry, dtype);
  const ir::ExprId e = segment_->vector > 1 ? s_.build.var(segment_->element) : ir::no_expr;
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.value = raw.id;
  if (!kept->in_shared) {
    assign.target = kept_ref(*kept, e);
    put(depth(), assign);
    return;
  }
  const int outside = segment_->vector > 1 ? depth() - 1 : depth();
  ir::Ref ref;
  ref.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, ref.array);
  ref.lane = e;
  assign.target = ref;
  put(depth(), assign);
  const int width = widest_access(dtype);
  store_pieces(outside, segment_->vector > 1, ref, ir::Space::shared, kept->array, kept->slot, width, segment_->vector);
}

bool ProgramBuilder::fetch_kept(ir::NodeId id, const Demand& wanted) {
  if (!segment_ || wanted.predicate != 0) return false;
  for (const Kept& kept : s_.kept) {
    if (kept.node != id || kept.segment != segment_->number || !(kept.coordinates == wanted.coordinates)) continue;
    if (std::binary_search(keeping_.begin(), keeping_.end(), id)) return false;  // this phase fills it
    const ir::DType dtype = node_at(id).shape.dtype;
    const ir::ExprId e = segment_->vector > 1 ? s_.build.var(segment_->element) : ir::no_expr;
    Entry entry;
    entry.coordinates = wanted.coordinates;
    if (kept.in_shared) {
      const int outside = segment_->vector > 1 ? depth() - 1 : depth();
      ir::Ref ref;
      ref.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, segment_->vector});
      declare(outside, ref.array);
      const int width = widest_access(dtype);
      load_pieces(outside, ref, ir::Space::shared, kept.array, kept.slot, width, segment_->vector, ir::Policy::once);
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

Val ProgramBuilder::reduce_init(const ir::Node& node, Val accumulated, int depth) {
  const ir::Node& init = node_at(node.operands[1]);
  const ir::DType compute = row(node.shape.dtype).compute;
  const ir::Neutral zero = neutral(reducer(node), node.shape.dtype);
  const Entry entry = find_entry(node.operands[1], {}, 0);
  if (init.op == ir::Op::constant) {
    const ir::Value& value = kernel_.values[entry.compute.id];
    if (is_floating(compute) ? value.real == zero.real : value.integer == zero.integer) return accumulated;
  }
  ir::Value value;
  value.kind = ir::ValueKind::op;
  value.op = op_of(reducer(node));
  value.dtype = compute;
  value.operands = {accumulated.id, entry.compute.id, ir::no_value};
  return let(std::max(depth, entry.compute.depth), node.name, compute, add_value(value));
}

bool ProgramBuilder::fetch_accumulator(ir::NodeId id, const Demand& wanted) {
  for (const Accumulator& accumulator : s_.accumulators) {
    if (accumulator.node != id || !(accumulator.coordinates == wanted.coordinates)) continue;
    const ir::Node& node = node_at(id);
    ir::Ref ref;
    ref.array = accumulator.array;
    std::uint64_t vars = 0;
    if (in_flight_rows > 1) {
      ref.subs[0] = row_in_flight;
      vars = s_.build.pool()[row_in_flight].vars;
    }
    const int depth = depth_for(vars);
    Entry entry;
    entry.coordinates = wanted.coordinates;
    entry.predicate = wanted.predicate;
    entry.compute = reduce_init(node, element(row(node.shape.dtype).compute, ref, depth), depth);
    remember(id, entry);
    return true;
  }
  return false;
}

}  // namespace tailor::codegen
