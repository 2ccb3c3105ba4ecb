// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Putting together what groups of lanes, and blocks that share columns, have added up. In: a column pass whose
// accumulators hold each group's sums. Out: statements after which the first group, or every group, holds the results.
// Called by lower_column.cpp, whose head comment tells the orders in which parts are added and why.
//
// Groups exchange through shared memory, between barriers. Blocks exchange through a workspace: each block's first
// group writes its part there, and the one that comes last (lower_meeting.h) reads all parts. All that follows stands
// in the guard of that block.
#include "codegen/lower/lower_column.h"

#include <algorithm>

#include "codegen/lower/lower_meeting.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

ir::Ref accumulator_element(const ColumnPass& pass, std::size_t i) {
  ir::Ref ref;
  ref.array = pass.accumulators[i];
  if (pass.plan.vector > 1) ref.lane = pass.builder.build().var(pass.walk.element);
  return ref;
}

void open_elements(ColumnPass& pass) {
  if (pass.plan.vector > 1) pass.builder.open_loop(pass.walk.element, true);
}
void close_elements(ColumnPass& pass) {
  if (pass.plan.vector > 1) pass.builder.close();
}

int first_group(ColumnPass& pass, std::array<ir::Condition, 2>& conditions) {
  int count = 0;
  if (pass.groups > 1) conditions[count++] = {pass.group, pass.builder.build().constant(0), true};
  if (pass.ragged) conditions[count++] = pass.column_exists;
  return count;
}

namespace {

/// Partial results that one thread adds in a row: their loads are few enough to be on their way together.
constexpr std::int64_t most_partials = 16;

/// Where shared memory has a group's partial results of this lane's columns.
ir::ExprId slot_of(ColumnPass& pass, ir::ExprId group) {
  IndexBuilder& build = pass.builder.build();
  return build.scale(build.add_scaled(pass.lane, group, pass.lanes), pass.plan.vector);
}

int shared_width(const ColumnPass& pass, ir::DType dtype) {
  return std::min(pass.plan.vector, 8 * ir::access_bytes / row(dtype).bits);
}

/// The accumulator goes to its group's slot.
void store_partials(ColumnPass& pass, std::size_t i, ir::ArrayId partials) {
  ProgramBuilder& builder = pass.builder;
  ir::Ref whole;
  whole.array = pass.accumulators[i];
  builder.store_pieces(builder.depth(), false, whole, ir::Space::shared, partials, slot_of(pass, pass.group),
                       shared_width(pass, builder.kernel().arrays[partials].dtype), pass.plan.vector);
}

/// Another group's partial results are added to the accumulator.
void add_partials_of(ColumnPass& pass, std::size_t i, const ir::Node& reduce, ir::ArrayId partials, ir::ExprId group) {
  ProgramBuilder& builder = pass.builder;
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  ir::Ref part;
  part.array = builder.add_array(
      {accumulator.name + "_part", ir::Space::registers, accumulator.dtype, {0, 0}, accumulator.vector});
  builder.declare(builder.depth(), part.array);
  builder.load_pieces(builder.depth(), part, ir::Space::shared, partials, slot_of(pass, group),
                      shared_width(pass, accumulator.dtype), pass.plan.vector, ir::Policy::once);
  open_elements(pass);
  ir::Stmt add;
  add.kind = ir::StmtKind::assign;
  add.op = op_of(reducer(reduce));
  add.target = accumulator_element(pass, i);
  part.lane = add.target.lane;
  add.value = builder.element(accumulator.dtype, part, builder.depth()).id;
  builder.put(builder.depth(), add);
  close_elements(pass);
}

ir::ArrayId add_partials_array(ColumnPass& pass, std::size_t i) {
  ProgramBuilder& builder = pass.builder;
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  return builder.add_shared(accumulator.name + "_groups", accumulator.dtype,
                            std::int64_t{pass.plan.threads} * pass.plan.vector);
}

void start_again(ColumnPass& pass, std::size_t i, const ir::Node& reduce) {
  ProgramBuilder& builder = pass.builder;
  open_elements(pass);
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target = accumulator_element(pass, i);
  assign.value = builder.start_of_sum(reduce);
  builder.put(builder.depth(), assign);
  close_elements(pass);
}

}  // namespace

void combine_groups(ColumnPass& pass, const Phase& phase, bool for_all) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const auto reduction = [&](std::size_t i) -> const ir::Node& { return builder.graph()[phase.reductions[i]]; };
  std::vector<ir::ArrayId>& partials = pass.partials;
  for (std::size_t i = 0; i < phase.reductions.size(); ++i) {
    if (partials.size() == i) partials.push_back(add_partials_array(pass, i));
    store_partials(pass, i, partials[i]);
  }
  pass.builder.put_barrier();
  std::int64_t left = pass.groups;
  for (; left > most_partials && left % 2 == 0; left /= 2) {
    const ir::Condition first_half{pass.group, build.constant(left / 2), false};
    builder.open_guard({&first_half, 1});
    const ir::ExprId other = build.add_constant(build.narrow(pass.group, {0, left / 2 - 1}), left / 2);
    for (std::size_t i = 0; i < phase.reductions.size(); ++i) {
      add_partials_of(pass, i, reduction(i), partials[i], build.expand(other));
      store_partials(pass, i, partials[i]);
    }
    builder.close();
    pass.builder.put_barrier();
  }
  const ir::Condition first{pass.group, build.constant(0), true};
  if (!for_all) builder.open_guard({&first, 1});
  for (std::size_t i = 0; i < phase.reductions.size(); ++i) {
    start_again(pass, i, reduction(i));
    const ir::VarId part = builder.loop_var("p", left);
    builder.open_loop(part, true);
    add_partials_of(pass, i, reduction(i), partials[i], build.var(part));
    builder.close();
  }
  if (!for_all) builder.close();
  pass.combined = true;
}

namespace {

/// Where the workspace has this lane's columns of a part.
ir::ExprId place_of(ColumnPass& pass, ir::ExprId part) {
  IndexBuilder& build = pass.builder.build();
  const ir::ExprId column =
      pass.plan.vector > 1 ? build.subtract(pass.column, build.var(pass.walk.element)) : pass.column;
  return build.expand(build.add_scaled(column, part, pass.prepared.rows));
}

/// Elements of one access to a workspace.
int workspace_width(ColumnPass& pass, ir::DType dtype) {
  int width = shared_width(pass, dtype);
  while (pass.prepared.rows % width != 0) width /= 2;
  return width;
}

/// The first group writes the block's part of each reduction.
std::vector<ir::BufferId> store_parts(ColumnPass& pass) {
  ProgramBuilder& builder = pass.builder;
  std::vector<ir::BufferId> parts;
  std::array<ir::Condition, 2> conditions{};
  const int count = first_group(pass, conditions);
  if (count > 0) builder.open_guard(std::span(conditions).first(count));
  for (const ir::ArrayId id : pass.accumulators) {
    const ir::Array accumulator = builder.kernel().arrays[id];
    parts.push_back(builder.add_buffer({accumulator.name + "_parts", accumulator.dtype, pass.split * pass.prepared.rows,
                                        ir::BufferRole::workspace, ir::no_id}));
    ir::Ref whole;
    whole.array = id;
    builder.store_pieces(builder.depth(), false, whole, ir::Space::global, parts.back(), place_of(pass, pass.part),
                         workspace_width(pass, accumulator.dtype), pass.plan.vector);
  }
  if (count > 0) builder.close();
  return parts;
}

/// The accumulators of each group become the sums of the parts that are its turn.
void add_parts(ColumnPass& pass, const Phase& phase, const std::vector<ir::BufferId>& parts) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t turns = (pass.split + pass.groups - 1) / pass.groups;
  const std::int64_t together = std::min(turns, parts_together), outer = (turns + together - 1) / together;
  const ir::VarId round = build.add_var({"r", ir::VarKind::loop, outer, 1});
  const ir::VarId turn = build.add_var({"q", ir::VarKind::loop, together, 1});
  const ir::ExprId number =
      build.add_scaled(build.var(turn), outer > 1 ? build.var(round) : build.constant(0), together);
  ir::ExprId part = build.add_scaled(pass.group, number, pass.groups);
  const bool ragged = outer * together * pass.groups != pass.split;
  const ir::Condition part_exists{part, build.constant(pass.split), false};
  if (ragged) part = build.narrow(part, {0, pass.split - 1});
  for (std::size_t i = 0; i < parts.size(); ++i) start_again(pass, i, builder.graph()[phase.reductions[i]]);
  if (pass.ragged) builder.open_guard({&pass.column_exists, 1});
  if (outer > 1) builder.open_loop(round, false);
  std::vector<ir::Ref> loaded;
  for (const ir::ArrayId id : pass.accumulators) {
    const ir::Array accumulator = builder.kernel().arrays[id];
    ir::Ref& ref = loaded.emplace_back();
    ref.array = builder.add_array(
        {accumulator.name + "_part", ir::Space::registers, accumulator.dtype, {together, 0}, accumulator.vector});
    ref.subs[0] = build.var(turn);
    builder.declare(builder.depth(), ref.array);
  }
  builder.open_loop(turn, true);
  if (ragged) builder.open_guard({&part_exists, 1});
  for (std::size_t i = 0; i < parts.size(); ++i)
    builder.load_pieces(builder.depth(), loaded[i], ir::Space::global, parts[i], place_of(pass, part),
                        workspace_width(pass, builder.kernel().arrays[loaded[i].array].dtype), pass.plan.vector,
                        ir::Policy::reload);
  if (ragged) builder.close();
  builder.close();
  ir::Stmt issue;
  issue.kind = ir::StmtKind::issue;
  builder.put(builder.depth(), issue);
  builder.open_loop(turn, true);
  if (ragged) builder.open_guard({&part_exists, 1});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    open_elements(pass);
    ir::Stmt add;
    add.kind = ir::StmtKind::assign;
    add.op = op_of(reducer(builder.graph()[phase.reductions[i]]));
    add.target = accumulator_element(pass, i);
    loaded[i].lane = add.target.lane;
    add.value = builder.element(builder.kernel().arrays[loaded[i].array].dtype, loaded[i], builder.depth()).id;
    builder.put(builder.depth(), add);
    close_elements(pass);
  }
  if (ragged) builder.close();
  builder.close();
  if (outer > 1) builder.close();
  if (pass.ragged) builder.close();
}

}  // namespace

void join_blocks(ColumnPass& pass, const Phase& phase) {
  const std::vector<ir::BufferId> parts = store_parts(pass);
  SharedTile shared{pass.tile, pass.part, pass.tiles, pass.split};
  const ir::ExprId zero = pass.builder.build().constant(0);
  if (pass.lanes > 1) shared.first_thread[shared.conditions++] = {pass.lane, zero, true};
  if (pass.groups > 1) shared.first_thread[shared.conditions++] = {pass.group, zero, true};
  open_last_block(pass.builder, shared);
  add_parts(pass, phase, parts);
  if (pass.groups > 1) combine_groups(pass, phase, false);
}

}  // namespace tailor::codegen
