// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// From a mapping to variables, positions, guards and segments. In: a mapping. Out: loops. Called by lower_phases.cpp.
//
// Digits become variables: those of blocks and threads are parts of the launch's numbers, in the order of levels and
// the fast side first; the others are loops, outer ones first. The position on a side is the sum of its digits times
// their strides, in vectors; where the digits name more vectors than there are, a condition asks for those that exist
// and the position is narrowed to them. That is all for most plans.
//
// Elements around vectors are the exception: no product of digits names them. Rows that are no multiple of the vector
// are walked in two segments: whole vectors from the first aligned element on, and an edge of single elements, head and
// tail together, one per lane. Rows start at different offsets, so the head's length depends on the row; the builder is
// told as a fact that row * N + head is a multiple of the vector, and with that it sees that the accesses are aligned.
// The edge needs two lanes for each element of a vector. A flat loop starts aligned and has a tail alone.
#include "codegen/lower/lower_loops.h"

#include <array>
#include <string>

namespace tailor::codegen {

namespace {

/// What threads of each skeleton are called in kernels: by the fast side's levels, then the other's. Where rows in
/// flight part a block's rows, `riw` is the row in its warp and `wib` the warp in its block.
std::string_view thread_name(const Mapping& mapping, Side side, Level level) {
  if (mapping.is_flat()) return "tid";
  if (side == mapping.fast) return level == Level::lane ? "lane" : "warp";
  if (side == Side::along) return "group";
  const bool parted = extent(mapping, side, Level::lane) > 1 && extent(mapping, side, Level::group) > 1;
  return !parted ? "rib" : level == Level::lane ? "riw" : "wib";
}

void add_blocks(ProgramBuilder& builder, const Mapping& mapping, Loops& loops) {
  using enum Level;
  IndexBuilder& build = builder.build();
  const std::int64_t kept = extent(mapping, Side::kept, block),
                     blocks = kept * extent(mapping, Side::along, block) * mapping.sets.count();
  builder.kernel().virtual_blocks = blocks;
  if (const std::int64_t meeting = meeting_blocks(mapping); meeting > 1) {
    const bool in_cluster = extent(mapping, Side::along, cluster) > 1;
    builder.kernel().virtual_blocks = blocks * meeting;
    if (in_cluster) builder.kernel().cluster = static_cast<int>(meeting);
    const ir::ExprId number =
        build.var(build.add_var({in_cluster ? "vc" : "tile", ir::VarKind::block, blocks, meeting}));
    loops.rank = build.var(build.add_var({"rank", ir::VarKind::block, meeting, 1}));
    loops.digits[Side::kept][block] = number;
    loops.digits[Side::along][in_cluster ? cluster : grid] = loops.rank;
    loops.block = build.add_scaled(loops.rank, number, meeting);
    return;
  }
  loops.block = build.var(build.add_var({"vb", ir::VarKind::block, blocks, 1}));
  const auto [outer, own] = build.divide(loops.block, kept);
  loops.digits[Side::kept][block] = own;
  (mapping.sets.count() > 1 ? loops.set : loops.digits[Side::along][block]) = outer;
  const std::int64_t rounds = extent(mapping, Side::kept, loop);
  if (rounds == 1) return;
  loops.round = build.add_var({"r", ir::VarKind::loop, rounds, 1});
  loops.digits[Side::kept][loop] = build.var(loops.round);
}

void add_threads(ProgramBuilder& builder, const Mapping& mapping, Loops& loops) {
  IndexBuilder& build = builder.build();
  const Side slow = mapping.fast == Side::kept ? Side::along : Side::kept;
  for (const Side side : {mapping.fast, slow})
    for (const Level level : {Level::lane, Level::group}) {
      const std::int64_t count = extent(mapping, side, level), stride = thread_stride(mapping, side, level);
      if (count == 1) continue;
      const ir::ExprId digit = build.var(
          build.add_var({std::string(thread_name(mapping, side, level)), ir::VarKind::thread, count, stride}));
      loops.digits[side][level] = digit;
      loops.thread = build.add_scaled(loops.thread, digit, stride);
    }
}

/// The loop over what a thread has at once of what stays, and those over its trips: the outer one of the program, the
/// inner one unrolled.
void add_flight(ProgramBuilder& builder, const Mapping& mapping, Loops& loops) {
  builder.in_flight_rows = static_cast<int>(extent(mapping, Side::kept, Level::flight));
  if (builder.in_flight_rows == 1) return;
  loops.flight = builder.build().add_var({"q", ir::VarKind::loop, builder.in_flight_rows, 1});
  builder.row_in_flight = loops.digits[Side::kept][Level::flight] = builder.build().var(loops.flight);
}

void add_trips(ProgramBuilder& builder, const Mapping& mapping, Loops& loops, Segment& segment) {
  IndexBuilder& build = builder.build();
  const std::int64_t outer = extent(mapping, Side::along, Level::loop);
  segment.section_trips = extent(mapping, Side::along, Level::section);
  segment.trip_count = outer * segment.section_trips;
  const auto add_loop = [&](const char* name, std::int64_t count, bool is_unrolled) {
    const int i = segment.trip_loops++;
    segment.trips[i] = build.add_var({name, ir::VarKind::loop, count, 1});
    segment.unrolled[i] = is_unrolled;
    return build.var(segment.trips[i]);
  };
  auto& digits = loops.digits[Side::along];
  if (outer > 1) digits[Level::loop] = add_loop("t", outer, false);
  if (segment.section_trips > 1) digits[Level::section] = add_loop(outer > 1 ? "u" : "t", segment.section_trips, true);
  segment.section_trip = digits[Level::section];
  segment.trip = build.add_scaled(segment.section_trip, digits[Level::loop], segment.section_trips);
}

/// The position in vectors that the digits name.
ir::ExprId number_on(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops, Side side) {
  ir::ExprId number = builder.build().constant(0);
  std::int64_t stride = 1;
  for (int level = static_cast<int>(Level::lane); level < levels; ++level) {
    number = builder.build().add_scaled(number, loops.digits[side][level], stride);
    stride *= mapping[side].extents[level];
  }
  return number;
}

/// The position in elements of a number in vectors; adds the variable of a vector's elements.
ir::ExprId in_elements(ProgramBuilder& builder, const Mapping& mapping, Side side, ir::ExprId number,
                       Segment& segment) {
  IndexBuilder& build = builder.build();
  const std::int64_t vector = extent(mapping, side, Level::vector);
  if (vector == 1) return number;
  segment.vector = static_cast<int>(vector);
  segment.element = build.add_var({"e", ir::VarKind::loop, vector, 1});
  return build.add(build.scale(number, vector), build.var(segment.element));
}

/// Whole vectors behind the head of the row, and the edge: what is around them.
void add_peeled(ProgramBuilder& builder, const Mapping& mapping, Loops& loops, Segment body) {
  IndexBuilder& build = builder.build();
  const std::int64_t n = mapping[Side::along].size, v = extent(mapping, Side::along, Level::vector);
  const ir::ExprId head = build.mod(build.scale(loops.kept, v - rest(mapping)), v);  // before the first aligned one
  const ir::ExprId first = build.add_scaled(head, number_on(builder, mapping, loops, Side::along), v);
  body.guards[body.guard_count++] = {build.expand(build.add_constant(first, v - 1)), build.constant(n), false};
  const ir::ExprId narrowed = build.narrow(first, {0, n - v});
  builder.fact_divisor = v;
  builder.state().facts.push_back(build.expand(build.add(build.scale(loops.kept, n), head)));
  body.vector = static_cast<int>(v);
  body.element = build.add_var({"e", ir::VarKind::loop, v, 1});
  body.along = build.add(narrowed, build.var(body.element));
  loops.add(body);

  Segment edge;
  edge.number = 1;
  edge.thread_slot = body.thread_slot;
  edge.slots = body.slots;
  const ir::ExprId whole = build.div(build.add_constant(build.scale(head, -1), n), v);
  const ir::ExprId sharing = build.add(loops.rank, loops.digits[Side::along][Level::block]);  // one of both is 0
  const ir::ExprId lane =
      build.add_scaled(thread_on(builder, mapping, loops, Side::along), sharing, threads_on(mapping, Side::along));
  const ir::ExprId column = build.select(lane, head, lane, build.add_scaled(lane, whole, v));
  builder.name_index(build.expand(column));
  edge.guards[edge.guard_count++] = {build.expand(column), build.constant(n), false};
  edge.along = build.narrow(column, {0, n - 1});
  loops.add(edge);
}

/// The condition that so many vectors exist, where the digits name more; narrows the number to it.
bool cut(ProgramBuilder& builder, const Mapping& mapping, Side side, ir::ExprId& number, ir::Condition& exists) {
  if (!is_ragged(mapping, side)) return false;
  const std::int64_t count = units(mapping, side);
  exists = {number, builder.build().constant(count), false};
  number = builder.build().narrow(number, {0, count - 1});
  return true;
}

}  // namespace

Loops make_loops(ProgramBuilder& builder, const Mapping& mapping, bool spans) {
  Loops loops;
  Segment body;
  add_blocks(builder, mapping, loops);
  add_threads(builder, mapping, loops);
  add_flight(builder, mapping, loops);
  ir::ExprId kept = loops.number = number_on(builder, mapping, loops, Side::kept);
  loops.ragged = cut(builder, mapping, Side::kept, kept, loops.exists);
  loops.kept = in_elements(builder, mapping, Side::kept, row_of_set(builder, mapping, loops, kept), body);
  loops.results = body;
  loops.results.number = 1;

  add_trips(builder, mapping, loops, body);
  body.unrolls_all = spans;
  body.thread_slot = loops.thread;
  body.slots = builder.kernel().threads;
  if (mapping.fast == Side::along && rest(mapping) != 0) {
    add_peeled(builder, mapping, loops, body);
    return loops;
  }
  ir::ExprId along = number_on(builder, mapping, loops, Side::along);
  if (cut(builder, mapping, Side::along, along, body.guards[0])) ++body.guard_count;
  body.along = in_elements(builder, mapping, Side::along, along, body);
  loops.add(body);
  return loops;
}

ir::ExprId row_of_set(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops, ir::ExprId member) {
  const RowSets& sets = mapping.sets;
  if (sets.count() == 1) return member;
  IndexBuilder& build = builder.build();
  const auto [outer, inner] = build.divide(loops.set, sets.inner);
  return build.add_scaled(inner, build.add_scaled(member, outer, sets.members), sets.inner);
}

Loops make_tail(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops) {
  IndexBuilder& build = builder.build();
  const std::int64_t vectors = units(mapping, Side::kept), elements = rest(mapping);
  Loops tail;
  Segment edge;
  edge.number = 1;
  edge.guards = {ir::Condition{loops.block, build.constant(builder.kernel().virtual_blocks - 1), true},
                 ir::Condition{loops.thread, build.constant(elements), false}};
  edge.guard_count = 2;
  tail.kept = build.add_constant(build.narrow(loops.thread, {0, elements - 1}),
                                 vectors * extent(mapping, Side::kept, Level::vector));
  tail.add(edge);
  builder.in_flight_rows = 1;
  return tail;
}

ir::ExprId thread_on(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops, Side side) {
  const auto& digits = loops.digits[side];
  return builder.build().add_scaled(digits[Level::lane], digits[Level::group], extent(mapping, side, Level::lane));
}

void open_flight(ProgramBuilder& builder, const Loops& loops) {
  if (builder.in_flight_rows > 1) builder.open_loop(loops.flight, true);
}
void close_flight(ProgramBuilder& builder) {
  if (builder.in_flight_rows > 1) builder.close();
}

void open_existing(ProgramBuilder& builder, const Loops& loops) {
  if (loops.ragged) builder.open_guard({&loops.exists, 1});
}
void close_existing(ProgramBuilder& builder, const Loops& loops) {
  if (loops.ragged) builder.close();
}

void open_items(ProgramBuilder& builder, const Loops& loops) {
  open_flight(builder, loops);
  open_existing(builder, loops);
}
void close_items(ProgramBuilder& builder, const Loops& loops) {
  close_existing(builder, loops);
  close_flight(builder);
}

void open_elements(ProgramBuilder& builder, const Loops& loops) {
  if (loops.results.vector > 1) builder.open_loop(loops.results.element, true);
}
void close_elements(ProgramBuilder& builder, const Loops& loops) {
  if (loops.results.vector > 1) builder.close();
}

void open_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled, bool backward) {
  for (int i = 0; i < segment.trip_loops; ++i)
    if (segment.unrolled[i] == unrolled) builder.open_loop(segment.trips[i], unrolled || segment.unrolls_all, backward);
}
void close_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled) {
  for (int i = 0; i < segment.trip_loops; ++i)
    if (segment.unrolled[i] == unrolled) builder.close();
}

void open_vectors(ProgramBuilder& builder, const Segment& segment) {
  open_trips(builder, segment, true);
  if (segment.guard_count > 0) builder.open_guard(prefix(segment.guards, segment.guard_count));
}
void close_vectors(ProgramBuilder& builder, const Segment& segment) {
  if (segment.guard_count > 0) builder.close();
  close_trips(builder, segment, true);
}

void open_section(ProgramBuilder& builder, const Segment& segment) {
  open_vectors(builder, segment);
  if (segment.vector > 1) builder.open_loop(segment.element, true);
}
void close_section(ProgramBuilder& builder, const Segment& segment) {
  if (segment.vector > 1) builder.close();
  close_vectors(builder, segment);
}

}  // namespace tailor::codegen
