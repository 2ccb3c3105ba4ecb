// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops of the row skeleton: which thread has which rows and which of their elements. In: a prepared group, a plan,
// limits. Out: index expressions of row and column, the segments of a row, or a rejection. Called by lower_row.cpp.
//
// Rows that are no multiple of the vector are walked in two segments: whole vectors from the first aligned element on,
// and an edge of single elements, head and tail together, one per lane. Rows start at different offsets, so the head's
// length depends on the row; the builder is told as a fact that row * N + head is a multiple of the vector, and with
// that it sees that the accesses are aligned. The edge needs two lanes for each element of a vector, else the plan is
// refused.
//
// Rows whose elements do not lie together (domain.h) are whole vectors or nothing: each of their runs begins a new one.
//
// Where sums go across rows, every block adds up what its rows give before blocks put their parts together: a block of
// a persistent grid walks its tiles in a loop of the program, because registers outlive them. Blocks beyond the last
// tile have rows that do not exist.
//
// Blocks that share a row (plan.split) are like so many more lanes of it: block `part` has the lanes behind those of
// the parts before, and a trip is as long as all of them together.
#include "codegen/lower/lower_row_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tailor::codegen {

namespace {

/// Which blocks there are where sums across rows are put together, and the families that they meet in: as near to equal
/// in number and size as their count allows.
void deal_tiles(const ir::Plan& plan, const ir::Limits& limits, RowLoops& rows) {
  constexpr std::int64_t most_alone = 16;
  const bool persistent = plan.grid == ir::GridShape::persistent;
  const std::int64_t wanted = persistent ? std::int64_t{plan.blocks_per_sm} * limits.sms : rows.tiles;
  rows.family = wanted;
  if (wanted > most_alone) {
    const auto root = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(wanted))));
    rows.family = root;
    for (std::int64_t size = root; size <= 2 * root; ++size)
      if (wanted % size == 0) {
        rows.family = size;
        break;
      }
  }
  rows.families = (wanted + (persistent ? 0 : rows.family - 1)) / rows.family;
  rows.blocks = rows.family * rows.families;
  rows.rounds = (rows.tiles + rows.blocks - 1) / rows.blocks;
}

/// Adds the variable of blocks, and the loop over a block's tiles where sums across rows have one.
void make_blocks(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                 RowLoops& rows) {
  IndexBuilder& build = builder.build();
  if (prepared.sums_across) deal_tiles(plan, limits, rows);
  const std::int64_t blocks = prepared.sums_across ? rows.blocks : rows.tiles * plan.split;
  builder.kernel().virtual_blocks = blocks;
  rows.block = build.var(build.add_var({"vb", ir::VarKind::block, blocks, 1}));
  if (!prepared.sums_across) {
    std::tie(rows.part, rows.tile) = build.divide(rows.block, rows.tiles);
    return;
  }
  rows.tile = rows.block;
  rows.part = build.constant(0);
  std::tie(rows.family_of_block, rows.member) = build.divide(rows.block, rows.family);
  if (rows.rounds == 1) return;
  rows.round = build.add_var({"r", ir::VarKind::loop, rows.rounds, 1});
  rows.tile = build.add_scaled(rows.block, build.var(rows.round), blocks);
}

}  // namespace

std::optional<ir::Rejection> make_rows(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                       const ir::Limits& limits, RowLoops& rows) {
  IndexBuilder& build = builder.build();
  const int lanes = plan.threads_per_row;
  rows.rows_per_block = plan.threads / lanes;
  rows.warps_per_row = std::max(lanes / limits.warp_size, 1);
  const std::int64_t per_block = rows.rows_per_block * builder.in_flight_rows;
  rows.tiles = (prepared.rows + per_block - 1) / per_block;
  if (builder.in_flight_rows > 1 && prepared.rows <= rows.rows_per_block * (builder.in_flight_rows - 1))
    return ir::Rejection{"in-flight",
                         fmt::format("{} rows give blocks of {} rows fewer than {} in flight", prepared.rows,
                                     rows.rows_per_block, builder.in_flight_rows),
                         true};
  make_blocks(builder, prepared, plan, limits, rows);
  rows.lane = build.constant(0);
  if (lanes > 1)
    rows.lane = build.var(build.add_var({"lane", ir::VarKind::thread, std::min(lanes, limits.warp_size), 1}));
  rows.warp = build.constant(0);
  if (rows.warps_per_row > 1)
    rows.warp = build.var(build.add_var({"warp", ir::VarKind::thread, rows.warps_per_row, limits.warp_size}));
  rows.row_lane = build.add_scaled(rows.lane, rows.warp, limits.warp_size);
  rows.wide_lane = build.add_scaled(rows.row_lane, rows.part, lanes);
  rows.lanes = std::int64_t{lanes} * plan.split;
  // A warp has neighbouring rows at once, and the rows that it has in flight follow them.
  rows.rows_per_warp = builder.in_flight_rows > 1 ? std::max(limits.warp_size / lanes, 1) : rows.rows_per_block;
  const std::int64_t groups = rows.rows_per_block / rows.rows_per_warp;
  const auto thread_var = [&](const char* name, std::int64_t extent, std::int64_t divisor) {
    return extent > 1 ? build.var(build.add_var({name, ir::VarKind::thread, extent, divisor})) : build.constant(0);
  };
  const bool plain = rows.rows_per_warp == 1 || groups == 1;
  const ir::ExprId group = thread_var(plain ? "rib" : "wib", groups, lanes * rows.rows_per_warp);
  rows.row_in_warp = thread_var(plain ? "rib" : "riw", rows.rows_per_warp, lanes);
  rows.row_in_block = build.add_scaled(rows.row_in_warp, group, rows.rows_per_warp);
  rows.first_row = build.scale(build.add_scaled(group, rows.tile, groups), rows.rows_per_warp * builder.in_flight_rows);
  rows.first_row = build.add(rows.first_row, rows.row_in_warp);
  ir::ExprId row = rows.first_row;
  if (builder.in_flight_rows > 1) {
    rows.flight = build.add_var({"q", ir::VarKind::loop, builder.in_flight_rows, 1});
    builder.row_in_flight = build.var(rows.flight);
    row = build.add_scaled(row, builder.row_in_flight, rows.rows_per_warp);
  }
  rows.ragged = (prepared.sums_across ? rows.rounds * rows.blocks : rows.tiles) * per_block != prepared.rows;
  rows.row_exists = {row, build.constant(prepared.rows), false};
  rows.row = rows.ragged ? build.narrow(row, {0, prepared.rows - 1}) : row;
  return std::nullopt;
}

namespace {

void make_trips(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, bool rolled,
                Segment& segment) {
  IndexBuilder& build = builder.build();
  const std::int64_t trips = trips_per_row(prepared, plan);
  segment.trip_count = trips;
  segment.trip = segment.section_trip = build.constant(0);
  if (trips == 1) return;
  const std::int64_t unrolled = rolled ? std::min<std::int64_t>(plan.in_flight, trips) : trips;
  const std::int64_t outer = (trips + unrolled - 1) / unrolled;
  segment.trip_count = outer * unrolled;
  const auto add_loop = [&](std::string_view name, std::int64_t extent, bool is_unrolled) {
    const int i = segment.trip_loops++;
    segment.trips[i] = build.add_var({std::string(name), ir::VarKind::loop, extent, 1});
    segment.unrolled[i] = is_unrolled;
    return build.var(segment.trips[i]);
  };
  if (outer > 1) segment.trip = build.scale(add_loop("t", outer, false), unrolled);
  if (unrolled > 1) {
    segment.section_trip = add_loop(outer > 1 ? "u" : "t", unrolled, true);
    segment.section_trips = unrolled;
    segment.trip = build.add(segment.trip, segment.section_trip);
  }
}

}  // namespace

std::optional<ir::Rejection> make_segments(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                           bool rolled, RowLoops& rows) {
  IndexBuilder& build = builder.build();
  const std::int64_t n = prepared.columns, v = plan.vector, lanes = plan.threads_per_row;
  const std::int64_t vectors = n / v, rest = n % v;
  if (vectors == 0) return ir::Rejection{"vector", fmt::format("rows of {} do not fill a vector of {}", n, v), true};
  if (breaks_vectors(prepared, plan))
    return ir::Rejection{
        "vector",
        fmt::format("rows whose elements lie as {} are no whole number of vectors of {}", text(prepared.domain), v),
        true};
  if (rest != 0 && lanes < 2 * v)
    return ir::Rejection{
        "peel",
        fmt::format("rows of {} need {} lanes for the elements around vectors of {}, found {}", n, 2 * v, v, lanes),
        true};
  Segment body;
  body.vector = plan.vector;
  body.unrolls_all = rolled && plan.split == 1 && has_level(plan.homes, ir::StitchLevel::registers);
  make_trips(builder, prepared, plan, rolled, body);
  body.thread_slot = build.add_scaled(rows.row_lane, rows.row_in_block, lanes);
  body.slots = plan.threads;
  const ir::ExprId j = build.add_scaled(rows.wide_lane, body.trip, rows.lanes);
  ir::ExprId head = build.constant(0);
  if (rest == 0) {
    ir::ExprId vector_number = j;
    if (body.trip_count * rows.lanes > vectors) {
      body.guards[body.guard_count++] = {j, build.constant(vectors), false};
      vector_number = build.narrow(j, {0, vectors - 1});
    }
    body.column = build.scale(vector_number, v);
  } else {
    head = build.mod(build.scale(rows.row, v - rest), v);  // elements before the first aligned one
    const ir::ExprId first = build.add_scaled(head, j, v);
    body.guards[body.guard_count++] = {build.expand(build.add_constant(first, v - 1)), build.constant(n), false};
    body.column = build.narrow(first, {0, n - v});
    builder.fact_divisor = v;
    builder.state().facts.push_back(build.expand(build.add(build.scale(rows.row, n), head)));
  }
  if (v > 1) {
    body.element = build.add_var({"e", ir::VarKind::loop, v, 1});
    body.column = build.add(body.column, build.var(body.element));
  }
  rows.segments.push_back(body);
  if (rest == 0) return std::nullopt;

  Segment edge;
  edge.number = 1;
  edge.trip = edge.section_trip = build.constant(0);
  edge.thread_slot = body.thread_slot;
  edge.slots = plan.threads;
  const ir::ExprId whole = build.div(build.add_constant(build.scale(head, -1), n), v);
  const ir::ExprId column =
      build.select(rows.wide_lane, head, rows.wide_lane, build.add_scaled(rows.wide_lane, whole, v));
  builder.name_index(build.expand(column));
  edge.guards[edge.guard_count++] = {build.expand(column), build.constant(n), false};
  edge.column = build.narrow(column, {0, n - 1});
  rows.segments.push_back(edge);
  return std::nullopt;
}

void open_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled) {
  for (int i = 0; i < segment.trip_loops; ++i)
    if (segment.unrolled[i] == unrolled) builder.open_loop(segment.trips[i], unrolled || segment.unrolls_all);
}
void close_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled) {
  for (int i = 0; i < segment.trip_loops; ++i)
    if (segment.unrolled[i] == unrolled) builder.close();
}

void open_section(ProgramBuilder& builder, const Segment& segment) {
  open_trips(builder, segment, true);
  if (segment.guard_count > 0) builder.open_guard(prefix(segment.guards, segment.guard_count));
  if (segment.vector > 1) builder.open_loop(segment.element, true);
}
void close_section(ProgramBuilder& builder, const Segment& segment) {
  if (segment.vector > 1) builder.close();
  if (segment.guard_count > 0) builder.close();
  close_trips(builder, segment, true);
}

}  // namespace tailor::codegen
