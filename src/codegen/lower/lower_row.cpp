// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The row skeleton. In: a group of R rows by N columns with reductions along the rows, and a plan. Out: the kernel's
// statements. Called by lower() through the table of skeletons.
//
// Who does what. `threads_per_row` lanes own a row, so a block has threads / threads_per_row rows at once. Where
// values of a row stay in registers, `in_flight` is the number of rows that each group of lanes has side by side, in
// an unrolled loop; where the row is streamed, it is the number of trips at a time. Rows beyond the last one are cut
// off by one guard around each phase.
//
// Phases. A reduction must be complete before anything that needs it, so the group is cut into phases by the number of
// reductions on the way to a value (prepare.cpp). A phase walks the row once: it accumulates its own reductions and
// stores the outputs that are due. Then its reductions are finished, and the next phase starts over the same row. What
// it needs again is found where the plan's residence kept it (registers, shared memory), or is computed or read once
// more.
//
// The walk. A lane takes vectors of `vector` neighbouring elements, threads_per_row vectors apart. The loop over these
// trips is unrolled whole when values stay in registers, since registers cannot be indexed by a variable; else
// `in_flight` trips are unrolled.
//
// Finishing a reduction. Within a warp the lanes exchange by shuffles. Where a row spans several warps, the first lane
// of each warp stores its partial result in shared memory, one barrier serves all reductions of the phase, and every
// lane adds the partial results of its row in the same order, so that all get the same number. A persistent block
// needs one more barrier at its end, before the next tile writes the partial results again.
//
// Rows that are no multiple of the vector are walked in two segments: whole vectors from the first aligned element on,
// and an edge of single elements, head and tail together, one per lane. Rows start at different offsets, so the head's
// length depends on the row; the builder is told as a fact that row * N + head is a multiple of the vector, and with
// that it sees that the accesses are aligned. The edge needs two lanes for each element of a vector, else the plan is
// refused.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/lower/lower_build.h"
#include "codegen/lower/skeletons.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

struct RowLoops {
  ir::ExprId row = 0;   ///< narrowed to the rows that exist
  bool ragged = false;  ///< the last block has rows that do not exist
  ir::Condition row_exists;
  ir::ExprId lane = 0;  ///< lane of the row within its warp
  ir::ExprId warp = 0;  ///< warp of the row
  ir::ExprId row_in_block = 0;
  ir::ExprId row_lane = 0;  ///< lane of the row, over all its warps
  ir::VarId flight = 0;     ///< q
  std::int64_t rows_per_block = 1;
  std::int64_t warps_per_row = 1;
  std::vector<Segment> segments;
};

/// Coordinates in a shape whose last dimensions hold `columns` elements, at (row, column).
Coordinates row_coordinates(IndexBuilder& build, const ir::Shape& shape, std::int64_t columns, ir::ExprId row,
                            ir::ExprId column) {
  Coordinates coordinates;
  coordinates.rank = shape.rank();
  std::int64_t left = columns;
  for (int i = shape.rank(); i-- > 0;) {
    ir::ExprId& rest = left > 1 ? column : row;
    if (shape.dims[i] == 1) {
      coordinates[i] = build.constant(0);
      continue;
    }
    const auto [quotient, index] = build.divide(rest, shape.dims[i]);
    coordinates[i] = index;
    rest = quotient;
    if (left > 1) left /= shape.dims[i];
  }
  return coordinates;
}

std::optional<ir::Rejection> make_rows(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                       const ir::Limits& limits, RowLoops& rows) {
  IndexBuilder& build = builder.build();
  const int lanes = plan.threads_per_row;
  rows.rows_per_block = plan.threads / lanes;
  rows.warps_per_row = std::max(lanes / limits.warp_size, 1);
  const std::int64_t per_block = rows.rows_per_block * builder.in_flight_rows;
  const std::int64_t blocks = (prepared.rows + per_block - 1) / per_block;
  if (builder.in_flight_rows > 1 && prepared.rows <= rows.rows_per_block * (builder.in_flight_rows - 1))
    return ir::Rejection{"in-flight",
                         fmt::format("{} rows give blocks of {} rows fewer than {} in flight", prepared.rows,
                                     rows.rows_per_block, builder.in_flight_rows),
                         true};
  builder.kernel().virtual_blocks = blocks;
  const ir::ExprId vb = build.var(build.add_var({"vb", ir::VarKind::block, blocks, 1}));
  rows.lane = build.constant(0);
  if (lanes > 1)
    rows.lane = build.var(build.add_var({"lane", ir::VarKind::thread, std::min(lanes, limits.warp_size), 1}));
  rows.warp = build.constant(0);
  if (rows.warps_per_row > 1)
    rows.warp = build.var(build.add_var({"warp", ir::VarKind::thread, rows.warps_per_row, limits.warp_size}));
  rows.row_in_block = build.constant(0);
  if (rows.rows_per_block > 1)
    rows.row_in_block = build.var(build.add_var({"rib", ir::VarKind::thread, rows.rows_per_block, lanes}));
  rows.row_lane = build.add_scaled(rows.lane, rows.warp, limits.warp_size);
  ir::ExprId row = build.scale(vb, builder.in_flight_rows);
  if (builder.in_flight_rows > 1) {
    rows.flight = build.add_var({"q", ir::VarKind::loop, builder.in_flight_rows, 1});
    builder.row_in_flight = build.var(rows.flight);
    row = build.add(row, builder.row_in_flight);
  }
  row = build.add_scaled(rows.row_in_block, row, rows.rows_per_block);
  rows.ragged = prepared.rows % per_block != 0;
  rows.row_exists = {row, build.constant(prepared.rows), false};
  rows.row = rows.ragged ? build.narrow(row, {0, prepared.rows - 1}) : row;
  return std::nullopt;
}

void make_trips(ProgramBuilder& builder, const ir::Plan& plan, std::int64_t vectors, bool rolled, Segment& segment) {
  IndexBuilder& build = builder.build();
  const std::int64_t trips = (vectors + plan.threads_per_row - 1) / plan.threads_per_row;
  segment.trip_count = trips;
  segment.trip = build.constant(0);
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
  if (unrolled > 1) segment.trip = build.add(segment.trip, add_loop(outer > 1 ? "u" : "t", unrolled, true));
}

std::optional<ir::Rejection> make_segments(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                           bool rolled, RowLoops& rows) {
  IndexBuilder& build = builder.build();
  const std::int64_t n = prepared.columns, v = plan.vector, lanes = plan.threads_per_row;
  const std::int64_t vectors = n / v, rest = n % v;
  if (vectors == 0) return ir::Rejection{"vector", fmt::format("rows of {} do not fill a vector of {}", n, v), true};
  if (rest != 0 && lanes < 2 * v)
    return ir::Rejection{
        "peel",
        fmt::format("rows of {} need {} lanes for the elements around vectors of {}, found {}", n, 2 * v, v, lanes),
        true};
  Segment body;
  body.vector = plan.vector;
  make_trips(builder, plan, vectors, rolled, body);
  body.thread_slot = build.add_scaled(rows.row_lane, rows.row_in_block, lanes);
  body.slots = plan.threads;
  const ir::ExprId j = build.add_scaled(rows.row_lane, body.trip, lanes);
  ir::ExprId head = build.constant(0);
  if (rest == 0) {
    ir::ExprId vector_number = j;
    if (body.trip_count * lanes > vectors) {
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
  edge.trip = build.constant(0);
  edge.thread_slot = body.thread_slot;
  edge.slots = plan.threads;
  const ir::ExprId whole = build.div(build.add_constant(build.scale(head, -1), n), v);
  const ir::ExprId column = build.select(rows.row_lane, head, rows.row_lane, build.add_scaled(rows.row_lane, whole, v));
  builder.name_index(build.expand(column));
  edge.guards[edge.guard_count++] = {build.expand(column), build.constant(n), false};
  edge.column = build.narrow(column, {0, n - 1});
  rows.segments.push_back(edge);
  return std::nullopt;
}

struct RowPass {
  ProgramBuilder& builder;
  const Prepared& prepared;
  const ir::Plan& plan;
  const ir::Limits& limits;
  RowLoops rows;
  std::vector<ir::ArrayId> accumulators;  ///< parallel to the phase's reductions
};

bool is_full_output(const RowPass& pass, std::int32_t output) {
  const ir::Graph& graph = pass.builder.graph();
  return elements(graph[graph.outputs[output]].shape) == pass.prepared.rows * pass.prepared.columns;
}

Coordinates full_output_coordinates(RowPass& pass, std::int32_t output, ir::ExprId column) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const auto dominant = static_cast<std::size_t>(
      std::find(pass.prepared.dominants.begin(), pass.prepared.dominants.end(), pass.plan.dominant) -
      pass.prepared.dominants.begin());
  const Route& route = pass.prepared.routes[dominant][output];
  const std::int64_t n = pass.prepared.columns;
  if (route.found) {
    const ir::NodeId start = graph[pass.plan.dominant].operands[0];
    return follow(build, graph, route, row_coordinates(build, graph[start].shape, n, pass.rows.row, column));
  }
  const ir::Shape& shape = graph[graph.outputs[output]].shape;
  return delinearize(build, shape, build.add_scaled(column, pass.rows.row, n));
}

void walk_segment(RowPass& pass, const Phase& phase, const Segment& segment) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  builder.enter_segment(&segment);
  for (int i = 0; i < segment.trip_loops; ++i) builder.open_loop(segment.trips[i], segment.unrolled[i]);
  if (segment.guard_count > 0) builder.open_guard(prefix(segment.guards, segment.guard_count));
  if (segment.vector > 1) builder.open_loop(segment.element, true);
  for (std::size_t i = 0; i < phase.reductions.size() && !builder.refusal(); ++i) {
    if (!pass.plan.value_cache) builder.forget_values();
    const ir::Node& reduce = graph[phase.reductions[i]];
    const Coordinates coordinates = row_coordinates(builder.build(), graph[reduce.operands[0]].shape,
                                                    pass.prepared.columns, pass.rows.row, segment.column);
    const Entry entry = builder.emit_value(reduce.operands[0], coordinates);
    ir::Stmt add;
    add.kind = ir::StmtKind::assign;
    add.op = op_of(reducer(reduce));
    add.target.array = pass.accumulators[i];
    if (builder.in_flight_rows > 1) add.target.subs[0] = builder.row_in_flight;
    add.value = entry.compute.id;
    builder.put(builder.depth(), add);
  }
  for (const std::int32_t output : phase.outputs) {
    if (builder.refusal() || !is_full_output(pass, output)) continue;
    if (!pass.plan.value_cache) builder.forget_values();
    builder.store_output(output, full_output_coordinates(pass, output, segment.column));
  }
  if (segment.vector > 1) builder.close();
  if (segment.guard_count > 0) builder.close();
  for (int i = 0; i < segment.trip_loops; ++i) builder.close();
  builder.enter_segment(nullptr);
}

void store_row_outputs(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  for (const std::int32_t output : phase.outputs) {
    if (is_full_output(pass, output) || builder.refusal()) continue;
    const ir::Node& node = graph[graph.outputs[output]];
    if (elements(node.shape) != pass.prepared.rows) {
      builder.refuse("output-shape",
                     fmt::format("output %{} {} is neither one per row ({}) nor one per element ({} x {})", node.name,
                                 text(node.shape), pass.prepared.rows, pass.prepared.rows, pass.prepared.columns));
      return;
    }
    builder.store_output(output, delinearize(builder.build(), node.shape, pass.rows.row));
  }
}

/// The accumulator of reduction `i` of the phase, of the row in flight at hand.
ir::Ref accumulator_ref(const RowPass& pass, std::size_t i) {
  ir::Ref ref;
  ref.array = pass.accumulators[i];
  if (pass.builder.in_flight_rows > 1) ref.subs[0] = pass.builder.row_in_flight;
  return ref;
}

/// One element per warp of the block and row in flight. Each warp's first lane writes it.
ir::ArrayId store_partial(RowPass& pass, std::size_t i, ir::ExprId group) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  ir::Array shared{accumulator.name + "_warps", ir::Space::shared, accumulator.dtype, {0, 0}, 1};
  shared.dims[0] = pass.rows.rows_per_block * builder.in_flight_rows * pass.rows.warps_per_row;
  const std::int64_t bytes = shared.dims[0] * row(shared.dtype).bits / 8;
  builder.kernel().shared_bytes += (bytes + ir::access_bytes - 1) / ir::access_bytes * ir::access_bytes;
  const ir::ArrayId partials = builder.add_array(std::move(shared));
  builder.declare(0, partials);
  const ir::Condition first_lane{pass.rows.lane, build.constant(0), true};
  builder.open_guard({&first_lane, 1});
  ir::Stmt store;
  store.kind = ir::StmtKind::store;
  store.space = ir::Space::shared;
  store.memory = partials;
  store.expr = build.add(group, pass.rows.warp);
  store.value = builder.element(accumulator.dtype, accumulator_ref(pass, i), builder.depth()).id;
  builder.put(builder.depth(), store);
  builder.close();
  return partials;
}

/// Loads `width` partial results and adds each to the accumulator.
void add_piece(RowPass& pass, std::size_t i, ir::Op op, const ir::Ref& part, ir::ArrayId partials, ir::ExprId first) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::Array& array = builder.kernel().arrays[part.array];
  const ir::DType dtype = array.dtype;
  const int width = array.vector;
  builder.declare(builder.depth(), part.array);
  ir::Stmt load;
  load.kind = ir::StmtKind::load;
  load.space = ir::Space::shared;
  load.memory = partials;
  load.target = part;
  load.target.lane = build.constant(0);
  load.expr = first;
  load.width = static_cast<std::uint8_t>(width);
  builder.put(builder.depth(), load);
  const ir::VarId lane = build.add_var({"w", ir::VarKind::loop, width, 1});
  if (width > 1) builder.open_loop(lane, true);
  ir::Stmt add;
  add.kind = ir::StmtKind::assign;
  add.target = accumulator_ref(pass, i);
  add.op = op;
  ir::Ref one = part;
  one.lane = width > 1 ? build.var(lane) : ir::no_expr;
  add.value = builder.element(dtype, one, builder.depth()).id;
  builder.put(builder.depth(), add);
  if (width > 1) builder.close();
}

/// The accumulator becomes the sum of its row's partial results.
void add_partials(RowPass& pass, std::size_t i, const ir::Node& reduce, ir::ArrayId partials, ir::ExprId group) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t warps = pass.rows.warps_per_row;
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  const int width = static_cast<int>(std::min<std::int64_t>(warps, 8 * ir::access_bytes / row(accumulator.dtype).bits));
  const ir::Neutral zero = neutral(reducer(reduce), reduce.shape.dtype);
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target = accumulator_ref(pass, i);
  assign.value = builder.number(accumulator.dtype, zero.real, zero.integer).id;
  builder.put(builder.depth(), assign);
  ir::Ref part;
  part.array = builder.add_array({accumulator.name + "_part", ir::Space::registers, accumulator.dtype, {0, 0}, width});
  const ir::ExprId first = build.expand(group);
  const ir::Op op = op_of(reducer(reduce));
  if (warps == width) return add_piece(pass, i, op, part, partials, first);
  const ir::VarId piece = build.add_var({"p", ir::VarKind::loop, warps / width, 1});
  builder.open_loop(piece, true);
  add_piece(pass, i, op, part, partials, build.add_scaled(first, build.var(piece), width));
  builder.close();
}

/// Combines the warps of a row: partial results through shared memory, one barrier for all reductions of the phase.
void combine_warps(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const bool several = builder.in_flight_rows > 1;
  ir::ExprId group = several ? build.add_scaled(pass.rows.row_in_block, builder.row_in_flight, pass.rows.rows_per_block)
                             : pass.rows.row_in_block;
  group = build.scale(group, pass.rows.warps_per_row);
  std::vector<ir::ArrayId> partials;
  if (several) builder.open_loop(pass.rows.flight, true);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i) partials.push_back(store_partial(pass, i, group));
  if (several) builder.close();
  ir::Stmt barrier;
  barrier.kind = ir::StmtKind::barrier;
  builder.put(0, barrier);
  if (several) builder.open_loop(pass.rows.flight, true);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i)
    add_partials(pass, i, builder.graph()[phase.reductions[i]], partials[i], group);
  if (several) builder.close();
}

void finish_reductions(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  const int lanes = std::min(pass.plan.threads_per_row, pass.limits.warp_size);
  if (lanes > 1) {
    if (builder.in_flight_rows > 1) builder.open_loop(pass.rows.flight, true);
    for (std::size_t i = 0; i < phase.reductions.size(); ++i) {
      ir::Stmt shuffle;
      shuffle.kind = ir::StmtKind::shuffle;
      shuffle.op = op_of(reducer(graph[phase.reductions[i]]));
      shuffle.target.array = pass.accumulators[i];
      if (builder.in_flight_rows > 1) shuffle.target.subs[0] = builder.row_in_flight;
      shuffle.lanes = static_cast<std::uint8_t>(lanes);
      builder.put(builder.depth(), shuffle);
    }
    if (builder.in_flight_rows > 1) builder.close();
  }
  if (pass.rows.warps_per_row > 1) combine_warps(pass, phase);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i) {
    const ir::Shape& shape = graph[phase.reductions[i]].shape;
    builder.state().accumulators.push_back(
        {phase.reductions[i], delinearize(builder.build(), shape, pass.rows.row), pass.accumulators[i]});
  }
}

void declare_accumulators(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  pass.accumulators.clear();
  for (const ir::NodeId id : phase.reductions) {
    const ir::Node& reduce = builder.graph()[id];
    const ir::DType dtype = row(reduce.shape.dtype).compute;
    ir::Array array{pass.prepared.names[id], ir::Space::registers, dtype, {0, 0}, 1};
    if (builder.in_flight_rows > 1) array.dims[0] = builder.in_flight_rows;
    pass.accumulators.push_back(builder.add_array(array));
    const ir::Neutral zero = neutral(reducer(reduce), reduce.shape.dtype);
    builder.declare(0, pass.accumulators.back(), builder.number(dtype, zero.real, zero.integer).id);
  }
}

void run_phase(RowPass& pass, const Phase& phase, std::vector<ir::NodeId>& kept_before) {
  ProgramBuilder& builder = pass.builder;
  std::vector<ir::NodeId> keeping;
  if (pass.plan.residence != ir::Residence::reload) {
    const std::vector<ir::NodeId>& wanted = kept_nodes(phase, pass.plan.residence);
    std::set_difference(wanted.begin(), wanted.end(), kept_before.begin(), kept_before.end(),
                        std::back_inserter(keeping));
  }
  declare_accumulators(pass, phase);
  builder.keep(keeping, pass.plan.residence == ir::Residence::shared);
  const bool walks =
      !phase.reductions.empty() || std::any_of(phase.outputs.begin(), phase.outputs.end(),
                                               [&](std::int32_t output) { return is_full_output(pass, output); });
  if (builder.in_flight_rows > 1) builder.open_loop(pass.rows.flight, true);
  if (pass.rows.ragged) builder.open_guard({&pass.rows.row_exists, 1});
  store_row_outputs(pass, phase);
  if (walks)
    for (const Segment& segment : pass.rows.segments) walk_segment(pass, phase, segment);
  if (pass.rows.ragged) builder.close();
  if (builder.in_flight_rows > 1) builder.close();
  builder.keep({}, false);
  if (!phase.reductions.empty()) finish_reductions(pass, phase);
  kept_before.insert(kept_before.end(), keeping.begin(), keeping.end());
  std::sort(kept_before.begin(), kept_before.end());
}

}  // namespace

/// The first reduction, and others whose operands have other dimensions.
void dominants_row(const ir::Graph& graph, Prepared& prepared) {
  for (const Phase& phase : prepared.phases)
    for (const ir::NodeId id : phase.reductions)
      if (prepared.dominants.empty() ||
          graph[graph[id].operands[0]].shape.dims != graph[graph[prepared.dominants[0]].operands[0]].shape.dims)
        prepared.dominants.push_back(id);
}

Tiling tiling_row(const Prepared& prepared, const ir::Plan& plan) {
  Tiling tiling;
  tiling.vectors = prepared.columns / plan.vector;
  tiling.trips = trips_per_row(prepared, plan);
  tiling.streamed = is_streamed(prepared, plan);
  tiling.lanes = plan.threads_per_row;
  tiling.at_once = plan.in_flight;
  tiling.items = prepared.rows;
  tiling.items_per_block = std::int64_t{plan.threads / plan.threads_per_row} * (tiling.streamed ? 1 : plan.in_flight);
  return tiling;
}

std::optional<ir::Rejection> refuse_row(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  if (!is_power_of_two(plan.threads_per_row) || plan.threads % plan.threads_per_row != 0)
    return ir::Rejection{"threads-per-row",
                         fmt::format("{} threads per row do not divide {} threads", plan.threads_per_row, plan.threads),
                         true};
  std::vector<ir::SubRoot> expected = sub_roots(prepared, plan.threads_per_row, limits.warp_size);
  if (expected != plan.sub_roots) {
    ir::Plan wanted = plan;
    wanted.sub_roots = std::move(expected);
    return ir::Rejection{"sub-roots", fmt::format("sub-roots and levels must be those of '{}'", text(wanted)), true};
  }
  return std::nullopt;
}

std::optional<ir::Rejection> lower_row(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                       const ir::Limits& limits) {
  const std::int64_t trips = trips_per_row(prepared, plan);
  const bool rolled = is_streamed(prepared, plan);
  builder.in_flight_rows = rolled ? 1 : plan.in_flight;
  if (rolled && plan.in_flight > trips)
    return ir::Rejection{"in-flight",
                         fmt::format("rows take {} vectors per thread, fewer than {} in flight", trips, plan.in_flight),
                         true};
  RowPass pass{builder, prepared, plan, limits, {}, {}};
  if (auto no = make_rows(builder, prepared, plan, limits, pass.rows)) return no;
  if (auto no = make_segments(builder, prepared, plan, rolled, pass.rows)) return no;
  std::vector<ir::NodeId> kept_before;
  for (std::size_t i = 0; i < prepared.phases.size() && !builder.refusal(); ++i) {
    builder.later_loads = i > 0;
    run_phase(pass, prepared.phases[i], kept_before);
  }
  if (plan.grid == ir::GridShape::persistent && pass.rows.warps_per_row > 1) {
    ir::Stmt barrier;  // the next tile writes the partial results again
    barrier.kind = ir::StmtKind::barrier;
    builder.put(0, barrier);
  }
  return builder.refusal();
}

}  // namespace tailor::codegen
