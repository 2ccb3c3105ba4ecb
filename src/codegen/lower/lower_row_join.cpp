// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Putting together what lanes and warps of a row, and blocks that share rows, have summed up. In: a row pass whose
// accumulators hold each lane's sums. Out: statements after which every lane of a row holds the results. Called by
// lower_row.cpp, whose head comment tells the orders in which parts are added and why.
//
// Lanes of a warp exchange by shuffles, warps through shared memory. Blocks exchange through a workspace that holds the
// parts of a row side by side: the row's first lane in each block writes the block's part there, and in the block that
// comes last (lower_meeting.h) the lanes of the row read neighbouring parts, as many apart as the row has lanes, and
// combine what they have as before. All that follows stands in the guard of that block.
#include <algorithm>
#include <numeric>

#include "codegen/lower/lower_meeting.h"
#include "codegen/lower/lower_row.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

/// The accumulator of reduction `i` of the phase, of the row in flight at hand.
ir::Ref accumulator_ref(const RowPass& pass, std::size_t i) {
  ir::Ref ref;
  ref.array = pass.accumulators[i];
  if (pass.builder.in_flight_rows > 1) ref.subs[0] = pass.builder.row_in_flight;
  return ref;
}

/// One element per warp of the block and row in flight.
ir::ArrayId add_partials_array(RowPass& pass, std::size_t i) {
  ProgramBuilder& builder = pass.builder;
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  return builder.add_shared(accumulator.name + "_warps", accumulator.dtype,
                            pass.rows.rows_per_block * builder.in_flight_rows * pass.rows.warps_per_row);
}

/// Each warp's first lane writes its element.
void store_partial(RowPass& pass, std::size_t i, ir::ArrayId partials, ir::ExprId group) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
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
  const ir::VarId lane = builder.loop_var("w", width);
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

void start_again(RowPass& pass, std::size_t i, const ir::Node& reduce) {
  ProgramBuilder& builder = pass.builder;
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target = accumulator_ref(pass, i);
  assign.value = builder.start_of_sum(reduce);
  builder.put(builder.depth(), assign);
}

/// The accumulator becomes the sum of its row's partial results.
void add_partials(RowPass& pass, std::size_t i, const ir::Node& reduce, ir::ArrayId partials, ir::ExprId group) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t warps = pass.rows.warps_per_row;
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  const int width = static_cast<int>(std::gcd(warps, 8 * ir::access_bytes / row(accumulator.dtype).bits));
  start_again(pass, i, reduce);
  ir::Ref part;
  part.array = builder.add_array({accumulator.name + "_part", ir::Space::registers, accumulator.dtype, {0, 0}, width});
  const ir::ExprId first = build.expand(group);
  const ir::Op op = op_of(reducer(reduce));
  if (warps == width) return add_piece(pass, i, op, part, partials, first);
  const ir::VarId piece = builder.loop_var("p", warps / width);
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
  std::vector<ir::ArrayId>& partials = pass.partials;
  if (several) builder.open_loop(pass.rows.flight, true);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i) {
    if (partials.size() == i) partials.push_back(add_partials_array(pass, i));
    store_partial(pass, i, partials[i], group);
  }
  if (several) builder.close();
  builder.put_barrier();
  if (several) builder.open_loop(pass.rows.flight, true);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i)
    add_partials(pass, i, builder.graph()[phase.reductions[i]], partials[i], group);
  if (several) builder.close();
}

}  // namespace

void combine_lanes(RowPass& pass, const Phase& phase) {
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
}

namespace {

/// Where the workspace has a part of this lane's row.
ir::ExprId place_of(RowPass& pass, ir::ExprId part) {
  IndexBuilder& build = pass.builder.build();
  return build.expand(build.add_scaled(part, pass.rows.row, pass.plan.split));
}

/// The first lane of each row writes the block's part of each reduction.
std::vector<ir::BufferId> store_parts(RowPass& pass) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  std::vector<ir::BufferId> parts;
  std::array<ir::Condition, 2> conditions{};
  int count = 0;
  if (pass.plan.threads_per_row > 1) conditions[count++] = {pass.rows.row_lane, build.constant(0), true};
  if (pass.rows.ragged) conditions[count++] = pass.rows.row_exists;
  if (count > 0) builder.open_guard(std::span(conditions).first(count));
  for (std::size_t i = 0; i < pass.accumulators.size(); ++i) {
    const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
    parts.push_back(builder.add_buffer({accumulator.name + "_parts", accumulator.dtype,
                                        pass.plan.split * pass.prepared.rows, ir::BufferRole::workspace, ir::no_id}));
    ir::Stmt store;
    store.kind = ir::StmtKind::store;
    store.memory = parts.back();
    store.expr = place_of(pass, pass.rows.part);
    store.value = builder.element(accumulator.dtype, accumulator_ref(pass, i), builder.depth()).id;
    builder.put(builder.depth(), store);
  }
  if (count > 0) builder.close();
  return parts;
}

/// The accumulators of each lane become the sums of the parts that are its turn.
void add_parts(RowPass& pass, const Phase& phase, const std::vector<ir::BufferId>& parts) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t lanes = pass.plan.threads_per_row, split = pass.plan.split;
  const std::int64_t turns = (split + lanes - 1) / lanes;
  const std::int64_t together = std::min(turns, parts_together), outer = (turns + together - 1) / together;
  const ir::VarId round = build.add_var({"r", ir::VarKind::loop, outer, 1});
  const ir::VarId turn = build.add_var({"y", ir::VarKind::loop, together, 1});
  const ir::ExprId number =
      build.add_scaled(build.var(turn), outer > 1 ? build.var(round) : build.constant(0), together);
  ir::ExprId part = build.add_scaled(pass.rows.row_lane, number, lanes);
  const bool ragged = outer * together * lanes != split;
  const ir::Condition part_exists{part, build.constant(split), false};
  if (ragged) part = build.narrow(part, {0, split - 1});
  for (std::size_t i = 0; i < parts.size(); ++i) start_again(pass, i, builder.graph()[phase.reductions[i]]);
  if (pass.rows.ragged) builder.open_guard({&pass.rows.row_exists, 1});
  if (outer > 1) builder.open_loop(round, false);
  std::vector<ir::Ref> loaded;
  for (const ir::ArrayId id : pass.accumulators) {
    const ir::Array accumulator = builder.kernel().arrays[id];
    ir::Ref& ref = loaded.emplace_back();
    ref.array =
        builder.add_array({accumulator.name + "_part", ir::Space::registers, accumulator.dtype, {together, 0}, 1});
    ref.subs[0] = build.var(turn);
    builder.declare(builder.depth(), ref.array);
  }
  const auto for_all_parts = [&](auto emit) {
    builder.open_loop(turn, true);
    if (ragged) builder.open_guard({&part_exists, 1});
    for (std::size_t i = 0; i < parts.size(); ++i) emit(i);
    if (ragged) builder.close();
    builder.close();
  };
  for_all_parts([&](std::size_t i) {
    builder.load_pieces(builder.depth(), loaded[i], ir::Space::global, parts[i], place_of(pass, part), 1, 1,
                        ir::Policy::reload);
  });
  ir::Stmt issue;
  issue.kind = ir::StmtKind::issue;
  builder.put(builder.depth(), issue);
  for_all_parts([&](std::size_t i) {
    ir::Stmt add;
    add.kind = ir::StmtKind::assign;
    add.op = op_of(reducer(builder.graph()[phase.reductions[i]]));
    add.target = accumulator_ref(pass, i);
    add.value = builder.element(builder.kernel().arrays[loaded[i].array].dtype, loaded[i], builder.depth()).id;
    builder.put(builder.depth(), add);
  });
  if (outer > 1) builder.close();
  if (pass.rows.ragged) builder.close();
}

}  // namespace

void join_blocks(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::vector<ir::BufferId> parts = store_parts(pass);
  SharedTile shared{pass.rows.tile, pass.rows.part, pass.rows.tiles, pass.plan.split};
  if (pass.plan.threads > 1) {
    const ir::ExprId thread = build.add_scaled(pass.rows.row_lane, pass.rows.row_in_block, pass.plan.threads_per_row);
    shared.first_thread[shared.conditions++] = {build.expand(thread), build.constant(0), true};
  }
  open_last_block(builder, shared);
  add_parts(pass, phase, parts);
  combine_lanes(pass, phase);
}

}  // namespace tailor::codegen
