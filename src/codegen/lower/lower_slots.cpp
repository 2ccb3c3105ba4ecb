// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What threads hold of sums across rows, and how a block's parts come into shared memory. In: how a sum folds a row
// (Folding), and the mapping of the row. Out: registers by trip and by element of a vector; slots. Called by
// lower_across.cpp, and for the rule `fold` by the plan space.
//
// Each element has a result: registers are as many as a lane has elements, and each row that a block has at once leaves
// a slot. All of a row make one: each lane has a number, and lanes of a warp exchange theirs by shuffles.
//
// Pieces of a row make one each. Where lanes take no more together than a piece, all of them are in the same one, which
// the trip tells: a number for each piece, exchanged by shuffles. Where they take several, lanes side by side share
// one: a number for each trip, exchanged between these lanes, or a slot for each of them where they are no power of
// two.
//
// Results side by side that come again: where lanes take a whole number of times as many, the same lane has the same
// results in each trip, and other lanes some way apart have them too: a vector, and a slot for each such lane. Where
// they take a part of them, every so many trips the same results come: vectors for these.
#include "codegen/lower/lower_slots.h"

#include <algorithm>
#include <bit>

#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

/// Whether results follow one another along the row and lanes next to each other have the same, or one has its own.
bool fits(const Folding& columns, std::int64_t together, std::int64_t vector) {
  const std::int64_t run = columns.run();
  return columns.is_one() || columns.is_each() || (run % vector == 0 && (run % together == 0 || together % run == 0));
}

}  // namespace

ir::DType type_of(const Prepared& prepared, ir::NodeId sum) { return row((*prepared.graph)[sum].shape.dtype).compute; }

Held held_of(const Folding& columns, const Mapping& mapping) {
  if (columns.is_one()) return {};
  const std::int64_t together = taken_together(mapping), all = trips(mapping);
  if (columns.is_each()) return {all, 1, true};
  if (columns.pieces == 1) return {std::max<std::int64_t>(columns.beside / together, 1), 1, true};
  const std::int64_t each = columns.fold / together;
  return each > 0 ? Held{columns.pieces, each, false} : Held{all, 1, false};
}

namespace {

/// Whether all lanes have parts of the same results.
bool is_alike(const Folding& columns, const Mapping& mapping) {
  return columns.is_one() || (columns.pieces > 1 && columns.fold >= taken_together(mapping));
}

/// Lanes side by side that have parts of the same results, of pieces shorter than what they take together.
std::int64_t lanes_of_piece(const Folding& columns, const Mapping& mapping) {
  return columns.fold / extent(mapping, mapping.fast, Level::vector);
}
/// Whether they exchange them by shuffles.
bool shuffles(const Folding& columns, const Pass& pass) {
  const std::int64_t lanes = lanes_of_piece(columns, pass.mapping);
  return lanes <= pass.limits.warp_size && std::has_single_bit(static_cast<std::uint64_t>(lanes));
}
/// Lanes of a row that have parts of the same results some lanes apart.
std::int64_t lanes_apart(const Folding& columns, const Mapping& mapping) {
  return std::max<std::int64_t>(taken_together(mapping) / columns.beside, 1);
}

/// Number `n` of what it holds.
ir::Ref register_number(const Pass::Across& across, const Held& held, ir::ExprId n) {
  ir::Ref ref;
  ref.array = across.array;
  if (held.trips > 1) ref.subs[0] = n;
  return ref;
}

}  // namespace

bool is_dealt_out(const Pass& pass, const Pass::Across& across) {
  return across.columns.is_each() && pass.threads_on(Side::kept) == 1;
}

std::int64_t slots_of(const Pass& pass, const Pass::Across& across) {
  const Folding& columns = across.columns;
  const std::int64_t rows = pass.threads_on(Side::kept);
  if (!across.of_elements || columns.is_each()) return rows;
  if (is_alike(columns, pass.mapping)) return pass.plan.threads / pass.limits.warp_size;
  if (columns.pieces == 1) return rows * lanes_apart(columns, pass.mapping);
  return shuffles(columns, pass) ? rows : rows * lanes_of_piece(columns, pass.mapping);
}

ir::Ref register_of(const Pass& pass, const Pass::Across& across) {
  IndexBuilder& build = pass.builder.build();
  const Segment& body = pass.loops.segments().front();
  const Held held = held_of(across.columns, pass.mapping);
  ir::Ref ref;
  ref.array = across.array;
  if (held.trips > 1) ref.subs[0] = build.mod(build.div(body.section_trip, held.each), held.trips);
  return ref;
}

namespace {

/// A vector of what the lane holds goes to the memory.
void store_held(Pass& pass, const Pass::Across& across, const ir::Ref& ref, ir::Space space, std::uint16_t memory,
                ir::ExprId at) {
  const int vector = pass.loops.segments().front().vector;
  const int width = std::min(vector, 8 * ir::access_bytes / row(type_of(pass.prepared, across.sum)).bits);
  pass.builder.store_pieces(pass.builder.depth(), false, ref, space, memory, pass.builder.build().expand(at), width,
                            vector);
}

}  // namespace

void store_columns(Pass& pass, const Pass::Across& across, ir::Space space, std::uint16_t memory, ir::ExprId first) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const Segment& body = pass.loops.segments().front();
  open_vectors(builder, body);
  ir::ExprId column = body.along;
  if (body.vector > 1) column = build.subtract(column, build.var(body.element));
  store_held(pass, across, register_of(pass, across), space, memory, build.add(column, first));
  close_vectors(builder, body);
}

namespace {

/// One of the lane's numbers goes to the place.
void store_number(Pass& pass, const Pass::Across& across, const ir::Ref& ref, ir::ArrayId slots, ir::ExprId place) {
  ProgramBuilder& builder = pass.builder;
  put_store(builder, ir::Space::shared, slots, builder.build().expand(place),
            builder.element(type_of(pass.prepared, across.sum), ref, builder.depth()).id);
}

/// Each lane's number `ref` becomes the sum over so many lanes side by side.
void shuffle_number(Pass& pass, const Pass::Across& across, const ir::Ref& ref, std::int64_t lanes) {
  if (lanes == 1) return;
  ir::Stmt shuffle;
  shuffle.kind = ir::StmtKind::shuffle;
  shuffle.op = op_of(reducer(pass.builder.graph()[across.sum]));
  shuffle.target = ref;
  shuffle.lanes = static_cast<std::uint8_t>(lanes);
  pass.builder.put(pass.builder.depth(), shuffle);
}

/// f(n) for each number that a lane holds, in a loop that is unrolled.
void for_held(Pass& pass, const Held& held, const auto& f) {
  if (held.trips == 1) return f(ir::ExprId{0});
  const ir::VarId number = pass.builder.loop_var("n", held.trips);
  pass.builder.open_loop(number, true);
  f(pass.builder.build().var(number));
  pass.builder.close();
}

/// The guard of the lanes whose number is no multiple; none where there is no other.
void store_by_first_lane(Pass& pass, ir::ExprId lane, bool is_alone, const auto& store) {
  const ir::Condition first{lane, pass.builder.build().constant(0), true};
  if (!is_alone) pass.builder.open_guard({&first, 1});
  store();
  if (!is_alone) pass.builder.close();
}

/// All lanes of a warp have parts of the same results.
void store_alike(Pass& pass, const Pass::Across& across, ir::ArrayId slots) {
  IndexBuilder& build = pass.builder.build();
  const Held held = held_of(across.columns, pass.mapping);
  const int lanes = pass.limits.warp_size;
  for_held(pass, held, [&](ir::ExprId n) { shuffle_number(pass, across, register_number(across, held, n), lanes); });
  const auto [warp, lane] = build.divide(pass.loops.thread, lanes);
  store_by_first_lane(pass, lane, lanes == 1, [&] {
    for_held(pass, held, [&](ir::ExprId n) {
      store_number(pass, across, register_number(across, held, n), slots,
                   build.add_scaled(n, warp, across.columns.width()));
    });
  });
}

/// Pieces of the row that are shorter than what lanes take together: lanes side by side have the same one.
void store_of_pieces(Pass& pass, const Pass::Across& across, ir::ArrayId slots) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const Segment& body = pass.loops.segments().front();
  const std::int64_t lanes = lanes_of_piece(across.columns, pass.mapping);
  const bool exchange = shuffles(across.columns, pass);
  const Held held = held_of(across.columns, pass.mapping);
  if (exchange)
    for_held(pass, held, [&](ir::ExprId n) { shuffle_number(pass, across, register_number(across, held, n), lanes); });
  const auto [group, lane] = build.divide(thread_on(pass, Side::along), lanes);
  const ir::ExprId row = thread_on(pass, Side::kept), slot = exchange ? row : build.add_scaled(lane, row, lanes);
  store_by_first_lane(pass, lane, !exchange || lanes == 1, [&] {
    open_vectors(builder, body);
    const ir::ExprId piece = build.add_scaled(group, body.section_trip, pass.threads_on(Side::along) / lanes);
    store_number(pass, across, register_of(pass, across), slots, build.add_scaled(piece, slot, across.columns.pieces));
    close_vectors(builder, body);
  });
}

/// Results side by side again and again along the row: lanes some way apart have the same ones.
void store_apart(Pass& pass, const Pass::Across& across, ir::ArrayId slots) {
  IndexBuilder& build = pass.builder.build();
  const Folding& columns = across.columns;
  const Held held = held_of(columns, pass.mapping);
  const std::int64_t vector = extent(pass.mapping, Side::along, Level::vector),
                     apart = lanes_apart(columns, pass.mapping);
  const auto [turn, lane] =
      build.divide(thread_on(pass, Side::along), std::min(columns.beside / vector, pass.threads_on(Side::along)));
  const ir::ExprId slot = build.add_scaled(turn, thread_on(pass, Side::kept), apart);
  const ir::ExprId first = build.add_scaled(build.scale(lane, vector), slot, columns.beside);
  for_held(pass, held, [&](ir::ExprId n) {
    store_held(pass, across, register_number(across, held, n), ir::Space::shared, slots,
               build.add_scaled(first, n, taken_together(pass.mapping)));
  });
}

void fill_slots(Pass& pass, const Pass::Across& across, ir::ArrayId slots) {
  IndexBuilder& build = pass.builder.build();
  const ir::ExprId row = thread_on(pass, Side::kept);
  if (!across.of_elements)
    return store_by_first_lane(pass, thread_on(pass, Side::along), pass.threads_on(Side::along) == 1,
                               [&] { store_number(pass, across, register_number(across, {}, 0), slots, row); });
  if (across.columns.is_each())
    return store_columns(pass, across, ir::Space::shared, slots, build.scale(row, pass.prepared.columns));
  if (is_alike(across.columns, pass.mapping)) return store_alike(pass, across, slots);
  across.columns.pieces > 1 ? store_of_pieces(pass, across, slots) : store_apart(pass, across, slots);
}

}  // namespace

ir::ArrayId store_slots(Pass& pass, const Pass::Across& across) {
  const ir::ArrayId slots =
      pass.builder.add_shared(pass.prepared.names[across.sum] + "_slots", type_of(pass.prepared, across.sum),
                              slots_of(pass, across) * across.columns.width());
  fill_slots(pass, across, slots);
  return slots;
}

const AcrossSum* across_of(const Prepared& prepared, ir::NodeId id) {
  const auto found = std::ranges::find(prepared.across, id, &std::pair<ir::NodeId, AcrossSum>::first);
  return found == prepared.across.end() ? nullptr : &found->second;
}

bool can_fold(const Prepared& prepared, std::int64_t together, std::int64_t vector) {
  return std::ranges::all_of(prepared.across,
                             [&](const auto& sum) { return fits(sum.second.columns, together, vector); });
}

}  // namespace tailor::codegen
