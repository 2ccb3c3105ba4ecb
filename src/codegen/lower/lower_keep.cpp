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
// A parameter that is loaded ahead of its use (lower_access.cpp) stands in an array too; kept in registers, it stays
// there. What does not vary with the element of the vector is not kept: it is cheap to hold as a single value.
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

const Kept* ProgramBuilder::find_kept(ir::NodeId id, const Demand& wanted, bool in_shared) const {
  for (const Kept& kept : s_.kept)
    if (kept.node == id && kept.segment == segment_->number && kept.in_shared == in_shared &&
        kept.predicate == wanted.predicate && kept.coordinates == wanted.coordinates)
      return &kept;
  return nullptr;
}

const Kept* ProgramBuilder::keep_in_registers(const Kept& kept, int depth, ir::ValueId initial) {
  const ir::DType dtype = node_at(kept.node).shape.dtype;
  ir::Array array{name_of(kept.node) + "_row", ir::Space::registers, dtype, {0, 0}, 1};
  std::size_t dim = 0;
  if (kept.by_row) array.dims[dim++] = in_flight_rows;
  if (kept.by_trip) array.dims[dim] = segment_->section_trips;
  if (kept.by_element) array.vector = segment_->vector;
  Kept& made = s_.kept.emplace_back(kept);
  made.bytes = std::max<std::int64_t>(array.dims[0], 1) * std::max<std::int64_t>(array.dims[1], 1) * array.vector *
               std::max(row(dtype).bits / 8, 1);
  kept_bytes += made.bytes;
  most_kept = std::max(most_kept, kept_bytes);
  made.array = add_array(std::move(array));
  declare(depth, made.array, initial);
  made.depth = depth;
  return &made;
}

const Kept* ProgramBuilder::find_or_keep(ir::NodeId id, const Coordinates& coordinates) {
  if (const Kept* kept = find_kept(id, {coordinates}, keep_in_shared_)) return kept;
  Kept kept{id, coordinates, 0, segment_->number};
  kept.by_row = in_flight_rows > 1;
  kept.by_trip = segment_->section_trips > 1;
  if (!keep_in_shared_) return keep_in_registers(kept, row_depth);
  kept.in_shared = true;
  const ir::DType dtype = node_at(id).shape.dtype;
  const std::int64_t trips = segment_->trip_count;
  ir::Array array{name_of(id) + "_shared", ir::Space::shared, dtype, {0, 0}, 1};
  array.dims[0] = in_flight_rows * trips * segment_->slots * segment_->vector;
  kernel_.shared_bytes +=
      (array.dims[0] * row(dtype).bits / 8 + ir::access_bytes - 1) / ir::access_bytes * ir::access_bytes;
  const ir::ExprId trip = s_.build.add_scaled(segment_->trip, row_in_flight, trips);
  kept.slot = s_.build.scale(s_.build.add_scaled(segment_->thread_slot, trip, segment_->slots), segment_->vector);
  kept.array = add_array(std::move(array));
  declare(0, kept.array);
  s_.kept.push_back(kept);
  return &s_.kept.back();
}

void ProgramBuilder::land(Stay stay) {
  for (const Kept& kept : s_.kept)
    if (kept.stay <= stay) kept_bytes -= kept.bytes;
  std::erase_if(s_.kept, [&](const Kept& kept) { return kept.stay <= stay; });
}

bool ProgramBuilder::is_loaded(ir::NodeId id) const {
  return std::any_of(s_.kept.begin(), s_.kept.end(),
                     [&](const Kept& kept) { return kept.node == id && !kept.in_shared; });
}

ir::Ref ProgramBuilder::kept_ref(const Kept& kept, ir::ExprId element) {
  ir::Ref ref;
  ref.array = kept.array;
  std::size_t dim = 0;
  if (kept.by_row) ref.subs[dim++] = row_in_flight;
  if (kept.by_trip) ref.subs[dim] = segment_->section_trip;
  ref.lane = element;
  return ref;
}

Entry ProgramBuilder::kept_entry(ir::NodeId id, const Kept& kept, const Demand& wanted) {
  const ir::DType dtype = node_at(id).shape.dtype;
  const bool each = kept.by_element && segment_->vector > 1;
  const ir::IndexPool& pool = s_.build.pool();
  ir::VarSet vars;
  for (int i = 0; i < wanted.coordinates.rank; ++i) vars |= pool[wanted.coordinates[i]].vars;
  if (kept.by_row) vars |= pool[row_in_flight].vars;
  if (kept.by_trip) vars |= pool[segment_->section_trip].vars;
  Entry entry;
  entry.coordinates = wanted.coordinates;
  entry.predicate = wanted.predicate;
  entry.raw = element(dtype, kept_ref(kept, each ? s_.build.var(segment_->element) : ir::no_expr),
                      kept.by_element ? depth() : std::max(depth_for(vars), kept.depth));
  entry.compute = widen(entry.raw, dtype, id);
  return entry;
}

void ProgramBuilder::keep_value(ir::NodeId id, const Entry& entry) {
  const ir::IndexPool& pool = s_.build.pool();
  ir::VarSet vars;
  for (int i = 0; i < entry.coordinates.rank; ++i) vars |= pool[entry.coordinates[i]].vars;
  const bool varies = segment_ && (segment_->vector == 1 || vars.has(segment_->element));
  if (!varies) return;
  const Kept* kept = find_or_keep(id, entry.coordinates);
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
  if (!segment_) return false;
  if (std::binary_search(keeping_.begin(), keeping_.end(), id)) return false;  // this phase fills it
  if (const Kept* kept = find_kept(id, wanted, false)) {
    remember(id, kept_entry(id, *kept, wanted));
    return true;
  }
  const Kept* kept = find_kept(id, wanted, true);
  if (kept == nullptr) return false;
  const ir::DType dtype = node_at(id).shape.dtype;
  const int outside = segment_->vector > 1 ? depth() - 1 : depth();
  ir::Ref ref;
  ref.array = add_array({name_of(id), ir::Space::registers, dtype, {0, 0}, segment_->vector});
  declare(outside, ref.array);
  const int width = widest_access(dtype);
  load_pieces(outside, ref, ir::Space::shared, kept->array, kept->slot, width, segment_->vector, ir::Policy::once);
  ref.lane = segment_->vector > 1 ? s_.build.var(segment_->element) : ir::no_expr;
  Entry entry;
  entry.coordinates = wanted.coordinates;
  entry.raw = element(dtype, ref, depth());
  entry.compute = widen(entry.raw, dtype, id);
  remember(id, entry);
  return true;
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
    ir::VarSet vars;
    if (in_flight_rows > 1) {
      ref.subs[0] = row_in_flight;
      vars = s_.build.pool()[row_in_flight].vars;
    }
    ref.lane = accumulator.lane;
    if (ref.lane != ir::no_expr) vars |= s_.build.pool()[ref.lane].vars;
    const int depth = std::max(depth_for(vars), accumulator.depth);
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
