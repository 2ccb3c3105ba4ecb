// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across the rows of a row kernel. In: a row pass with its loops. Out: statements that add up while rows go by,
// and the kernel's end. Called by lower_row.cpp.
//
// While rows go by. A lane has the same columns of every row that it sees, so it adds up element j of its rows in
// registers of its own, as many as it has elements of a row. A number of each row is known to all lanes of it; each
// adds it up, and one of them counts in the end. Of a sum over everything each lane has a part.
//
// The end. Where a block has one row at a time, each lane has columns of its own and writes them to a workspace: the
// block's part. Rows that a block has side by side left parts in different lanes. These go to shared memory, one slot
// for each row at once, or for each warp of a sum over everything, whose lanes have exchanged by shuffles before. From
// here on threads are for results: thread t has results t, t + threads and so on, of each of them it adds up the slots
// and writes the block's part, of up to four sums at a time.
//
// Blocks meet twice (lower_meeting.h). One block that adds up the parts of all would read as many times the results as
// there are blocks, alone, while the others are done. So blocks are families, as many as each has members: the last of
// a family adds up its members' parts, and the last of these the families' parts. Each adds in the order of numbers, so
// results are the same in each run. What stands behind a meeting stands in its guard. Few blocks are one family.
#include "codegen/lower/lower_across.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "codegen/lower/lower_meeting.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

RowReduction kind_of(const Prepared& prepared, ir::NodeId sum) {
  const ir::Graph& graph = *prepared.graph;
  return row_reduction(graph, graph[sum], {prepared.skeleton, prepared.rows, prepared.columns, prepared.domain});
}

ir::DType type_of(const Prepared& prepared, ir::NodeId sum) { return row((*prepared.graph)[sum].shape.dtype).compute; }

/// How many results a sum has.
std::int64_t width_of(const Prepared& prepared, RowReduction kind) {
  return kind == RowReduction::columns ? prepared.columns : 1;
}

/// Whether each result of the sum is with one lane of the block: it has one row at a time, and lanes have its columns.
bool is_dealt_out(const RowPass& pass, const RowPass::Across& across) {
  return across.kind == RowReduction::columns && pass.rows.rows_per_block == 1;
}

/// Parts that a block's threads leave of each result: one for each row that it has at once, or for each warp.
std::int64_t slots_of(const RowPass& pass, RowReduction kind) {
  return kind == RowReduction::everything ? pass.plan.threads / pass.limits.warp_size : pass.rows.rows_per_block;
}

/// What a lane adds up, of the trip at hand.
ir::Ref register_of(const RowPass& pass, const RowPass::Across& across) {
  const Segment& body = pass.rows.segments.front();
  ir::Ref ref;
  ref.array = across.array;
  if (across.kind == RowReduction::columns && body.section_trips > 1) ref.subs[0] = body.section_trip;
  return ref;
}

// ---- parts of one block

ir::ArrayId add_slots(RowPass& pass, const RowPass::Across& across) {
  return pass.builder.add_shared(pass.prepared.names[across.sum] + "_slots", type_of(pass.prepared, across.sum),
                                 slots_of(pass, across.kind) * width_of(pass.prepared, across.kind));
}

/// Each lane's columns go behind place `first` of the memory, in the order of columns.
void store_columns(RowPass& pass, const RowPass::Across& across, ir::Space space, std::uint16_t memory,
                   ir::ExprId first) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const Segment& body = pass.rows.segments.front();
  open_trips(builder, body, true);
  if (body.guard_count > 0) builder.open_guard(prefix(body.guards, body.guard_count));
  ir::ExprId column = body.column;
  if (body.vector > 1) column = build.subtract(column, build.var(body.element));
  const ir::ExprId base = build.expand(build.add(column, first));
  const int width = std::min(body.vector, 8 * ir::access_bytes / row(type_of(pass.prepared, across.sum)).bits);
  builder.store_pieces(builder.depth(), false, register_of(pass, across), space, memory, base, width, body.vector);
  if (body.guard_count > 0) builder.close();
  close_trips(builder, body, true);
}

/// One lane's number goes to the slot, under the condition that names the lane; `always` where there is no other.
void store_number(RowPass& pass, const RowPass::Across& across, ir::ArrayId slots, ir::ExprId slot,
                  const ir::Condition& lane, bool always) {
  ProgramBuilder& builder = pass.builder;
  if (!always) builder.open_guard({&lane, 1});
  ir::Stmt store;
  store.kind = ir::StmtKind::store;
  store.space = ir::Space::shared;
  store.memory = slots;
  store.expr = slot;
  store.value = builder.element(type_of(pass.prepared, across.sum), register_of(pass, across), builder.depth()).id;
  builder.put(builder.depth(), store);
  if (!always) builder.close();
}

void store_slots(RowPass& pass, const RowPass::Across& across, ir::ArrayId slots) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  if (across.kind == RowReduction::columns)
    return store_columns(pass, across, ir::Space::shared, slots,
                         build.scale(pass.rows.row_in_block, pass.prepared.columns));
  if (across.kind == RowReduction::numbers)
    return store_number(pass, across, slots, pass.rows.row_in_block, {pass.rows.row_lane, build.constant(0), true},
                        pass.plan.threads_per_row == 1);
  const int lanes = pass.limits.warp_size;
  ir::Stmt shuffle;
  shuffle.kind = ir::StmtKind::shuffle;
  shuffle.op = op_of(reducer(builder.graph()[across.sum]));
  shuffle.target = register_of(pass, across);
  shuffle.lanes = static_cast<std::uint8_t>(lanes);
  if (lanes > 1) builder.put(builder.depth(), shuffle);
  const auto [warp, lane] = build.divide(thread_of(pass), lanes);
  store_number(pass, across, slots, warp, {lane, build.constant(0), true}, lanes == 1);
}

// ---- parts of several

/// Where parts of a sum lie: `count` of them, one behind the other, from number `first` on.
struct Parts {
  ir::Space space = ir::Space::global;
  std::uint16_t memory = 0;
  std::int64_t count = 1;
  ir::ExprId first = 0;
};

/// Loads that a thread has on their way for the parts of several sums. What it kept of rows is gone by then.
constexpr std::int64_t loads_together = 4 * parts_together;

/// One sum whose parts are added up: where the thread holds what it has, and what it just loaded.
struct Addition {
  ir::NodeId sum = ir::no_node;
  ir::DType dtype = ir::DType::f32;
  ir::ArrayId whole = ir::no_id;
  ir::Ref loaded;
  ir::ExprId place = 0;
};

void put_issue(ProgramBuilder& builder) {
  ir::Stmt issue;
  issue.kind = ir::StmtKind::issue;
  builder.put(builder.depth(), issue);
}

/// Adds up the parts of result `result` of sums that have equally many, and returns where the thread holds each. Their
/// loads travel together, for a block that waits for the sums one by one waits as often.
std::vector<ir::ArrayId> add_parts(RowPass& pass, std::span<const std::size_t> sums, const std::vector<Parts>& all,
                                   ir::ExprId result) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const Parts& parts = all[sums.front()];
  const std::int64_t most = std::max<std::int64_t>(1, loads_together / std::ssize(sums));
  const std::int64_t outer = (parts.count + most - 1) / most, together = (parts.count + outer - 1) / outer;
  const ir::VarId round = builder.loop_var("s", outer), turn = builder.loop_var("y", together);
  const ir::ExprId zero = build.constant(0), own = together > 1 ? build.var(turn) : zero;
  ir::ExprId part = own;
  if (outer > 1) part = build.add_scaled(part, build.var(round), together);
  const bool ragged = outer * together != parts.count;
  const ir::Condition exists{part, build.constant(parts.count), false};
  if (ragged) part = build.narrow(part, {0, parts.count - 1});
  std::vector<Addition> additions;
  for (const std::size_t i : sums) {
    const RowPass::Across& across = pass.across[i];
    Addition& one = additions.emplace_back();
    one.sum = across.sum, one.dtype = type_of(pass.prepared, across.sum);
    one.whole =
        builder.add_array({pass.prepared.names[across.sum] + "_all", ir::Space::registers, one.dtype, {0, 0}, 1});
    builder.declare(builder.depth(), one.whole, builder.start_of_sum(builder.graph()[across.sum]));
    one.place =
        build.expand(build.add_scaled(result, build.add(all[i].first, part), width_of(pass.prepared, across.kind)));
  }
  if (outer > 1) builder.open_loop(round, false);
  for (Addition& one : additions) {
    one.loaded.array =
        builder.add_array({pass.prepared.names[one.sum] + "_part", ir::Space::registers, one.dtype, {together, 0}, 1});
    one.loaded.subs[0] = own;
    builder.declare(builder.depth(), one.loaded.array);
  }
  const auto for_parts = [&](auto emit) {
    if (together > 1) builder.open_loop(turn, true);
    if (ragged) builder.open_guard({&exists, 1});
    for (std::size_t k = 0; k < additions.size(); ++k) emit(additions[k], all[sums[k]]);
    if (ragged) builder.close();
    if (together > 1) builder.close();
  };
  for_parts([&](const Addition& one, const Parts& from) {
    builder.load_pieces(builder.depth(), one.loaded, from.space, from.memory, one.place, 1, 1,
                        from.space == ir::Space::shared ? ir::Policy::once : ir::Policy::reload);
  });
  if (parts.space == ir::Space::global && together * std::ssize(sums) > 1) {
    put_issue(builder);
  }
  for_parts([&](const Addition& one, const Parts&) {
    ir::Stmt add;
    add.kind = ir::StmtKind::assign;
    add.op = op_of(reducer(builder.graph()[one.sum]));
    add.target.array = one.whole;
    add.value = builder.element(one.dtype, one.loaded, builder.depth()).id;
    builder.put(builder.depth(), add);
  });
  if (outer > 1) builder.close();
  std::vector<ir::ArrayId> wholes;
  for (const Addition& one : additions) wholes.push_back(one.whole);
  return wholes;
}

/// How many of the sums, from the first on, are added up together.
std::size_t beside(std::span<const std::size_t> sums, const std::vector<Parts>& parts) {
  constexpr std::int64_t most = loads_together / parts_together;
  std::size_t count = 1;
  while (std::cmp_less(count, std::min(most, std::ssize(sums))) &&
         parts[sums[count]].count == parts[sums.front()].count && parts[sums[count]].space == parts[sums.front()].space)
    ++count;
  return count;
}

/// Where the results of a late output lie: by a sum that leads there, else in the order of its own dimensions.
Coordinates late_coordinates(RowPass& pass, std::int32_t output, ir::ExprId result) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  for (const RowPass::Across& across : pass.across)
    for (const auto& [sum, routes] : pass.prepared.result_routes)
      if (sum == across.sum && routes[output].found)
        return follow(build, graph, routes[output], result_at(build, graph, graph[sum], result));
  return delinearize_memory(build, graph[pass.prepared.stored[output]].shape, result);
}

/// Sums with equally many results, by their places in RowPass::across, and what is late of the same number.
struct Results {
  std::int64_t width = 1;
  std::vector<std::size_t> sums;
  std::vector<std::int32_t> outputs;
};

std::vector<Results> results_of(const RowPass& pass) {
  std::vector<Results> all;
  const auto of_width = [&](std::int64_t width) -> Results& {
    for (Results& results : all)
      if (results.width == width) return results;
    return all.emplace_back(Results{width, {}, {}});
  };
  for (std::size_t i = 0; i < pass.across.size(); ++i)
    of_width(width_of(pass.prepared, pass.across[i].kind)).sums.push_back(i);
  for (const std::int32_t output : pass.prepared.late_outputs)
    of_width(elements((*pass.prepared.graph)[pass.prepared.stored[output]].shape)).outputs.push_back(output);
  return all;
}

/// Threads add up parts of their results. What comes of it goes to workspaces, from number `to` on, or is stored.
void put_together(RowPass& pass, const Results& results, const std::vector<Parts>& parts,
                  const std::vector<ir::BufferId>& workspaces, ir::ExprId to) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t threads = pass.plan.threads, turns = (results.width + threads - 1) / threads;
  const ir::VarId turn = builder.loop_var("j", turns);
  ir::ExprId result = thread_of(pass);
  if (turns > 1) result = build.add_scaled(result, build.var(turn), threads);
  const bool ragged = turns * threads != results.width;
  const ir::Condition exists{result, build.constant(results.width), false};
  if (ragged) result = build.narrow(result, {0, results.width - 1});
  if (turns > 1) builder.open_loop(turn, false);
  if (ragged) builder.open_guard({&exists, 1});
  const auto leave = [&](std::size_t i, ir::ArrayId whole) {
    const RowPass::Across& across = pass.across[i];
    if (workspaces.empty()) {
      builder.state().accumulators.push_back(
          {across.sum, result_at(build, builder.graph(), builder.graph()[across.sum], result), whole, builder.depth()});
      return;
    }
    ir::Ref ref;
    ref.array = whole;
    ir::Stmt store;
    store.kind = ir::StmtKind::store;
    store.memory = workspaces[i];
    store.expr = build.expand(build.add_scaled(result, to, results.width));
    store.value = builder.element(type_of(pass.prepared, across.sum), ref, builder.depth()).id;
    builder.put(builder.depth(), store);
  };
  for (std::span<const std::size_t> left = results.sums; !left.empty();) {
    const std::span<const std::size_t> some = left.first(beside(left, parts));
    const std::vector<ir::ArrayId> wholes = add_parts(pass, some, parts, result);
    for (std::size_t k = 0; k < some.size(); ++k) leave(some[k], wholes[k]);
    left = left.subspan(some.size());
  }
  if (workspaces.empty())
    for (const std::int32_t output : results.outputs) {
      if (builder.refusal()) break;
      if (!pass.plan.value_cache) builder.forget_values();
      builder.store_output(output, late_coordinates(pass, output, result));
    }
  if (ragged) builder.close();
  if (turns > 1) builder.close();
}

/// Workspaces for `count` parts of each sum.
std::vector<ir::BufferId> add_workspaces(RowPass& pass, std::string_view of, std::int64_t count) {
  std::vector<ir::BufferId> workspaces;
  for (const RowPass::Across& across : pass.across)
    workspaces.push_back(pass.builder.add_buffer(
        {fmt::format("{}_{}", pass.prepared.names[across.sum], of), type_of(pass.prepared, across.sum),
         count * width_of(pass.prepared, across.kind), ir::BufferRole::workspace, ir::no_id}));
  return workspaces;
}

std::vector<Parts> parts_in(const std::vector<ir::BufferId>& workspaces, std::int64_t count, ir::ExprId first) {
  std::vector<Parts> parts;
  for (const ir::BufferId id : workspaces) parts.push_back({ir::Space::global, id, count, first});
  return parts;
}

/// Writes the block's part of each sum to its workspace: straight from the lanes, or once the parts of its rows or
/// warps were added up through shared memory.
void store_block(RowPass& pass, const std::vector<ir::BufferId>& workspaces) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  std::vector<Parts> parts(pass.across.size());
  bool shared = false;
  for (std::size_t i = 0; i < pass.across.size(); ++i) {
    const RowPass::Across& across = pass.across[i];
    if (is_dealt_out(pass, across)) {
      store_columns(pass, across, ir::Space::global, workspaces[i],
                    build.scale(pass.rows.block, pass.prepared.columns));
      continue;
    }
    const ir::ArrayId slots = add_slots(pass, across);
    store_slots(pass, across, slots);
    parts[i] = {ir::Space::shared, slots, slots_of(pass, across.kind), build.constant(0)};
    shared = true;
  }
  if (shared) builder.put_barrier();
  for (Results results : results_of(pass)) {
    std::erase_if(results.sums, [&](std::size_t i) { return is_dealt_out(pass, pass.across[i]); });
    if (!results.sums.empty()) put_together(pass, results, parts, workspaces, pass.rows.block);
  }
}

void open_meeting(RowPass& pass, ir::ExprId tile, ir::ExprId part, std::int64_t tiles, std::int64_t split) {
  SharedTile shared{tile, part, tiles, split};
  if (pass.plan.threads > 1)
    shared.first_thread[shared.conditions++] = {thread_of(pass), pass.builder.build().constant(0), true};
  open_last_block(pass.builder, shared);
}

}  // namespace

std::int64_t across_bytes(const Prepared& prepared, const ir::Plan& plan, ir::NodeId sum) {
  const bool of_columns = kind_of(prepared, sum) == RowReduction::columns;
  return (of_columns ? trips_per_row(prepared, plan) * plan.vector : 1) * row(type_of(prepared, sum)).bits / 8;
}

std::optional<ir::Rejection> refuse_across(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                                           const Tiling& tiling) {
  if (plan.split > 1) return ir::Rejection{"split", "rows that are added up across are not shared by blocks", true};
  const bool keeps_columns = std::any_of(prepared.phases.begin(), prepared.phases.end(), [&](const Phase& phase) {
    return std::any_of(phase.across.begin(), phase.across.end(),
                       [&](ir::NodeId sum) { return kind_of(prepared, sum) == RowReduction::columns; });
  });
  if (keeps_columns && tiling.rest != 0)
    return ir::Rejection{"vector",
                         fmt::format("rows of {} are no whole number of vectors of {}: lanes would have other columns "
                                     "of each row",
                                     prepared.columns, plan.vector),
                         true};
  const std::int64_t tiles = (tiling.items + tiling.items_per_block - 1) / tiling.items_per_block,
                     resident = std::int64_t{plan.blocks_per_sm} * limits.sms;
  if (plan.grid == ir::GridShape::persistent && tiles <= resident)
    return ir::Rejection{"persistent",
                         fmt::format("{} tiles for {} resident blocks: nothing to loop over", tiles, resident), true};
  return std::nullopt;
}

void begin_across(RowPass& pass) {
  ProgramBuilder& builder = pass.builder;
  const Segment& body = pass.rows.segments.front();
  for (const Phase& phase : pass.prepared.phases)
    for (const ir::NodeId sum : phase.across) {
      RowPass::Across& across = pass.across.emplace_back();
      across.sum = sum;
      across.kind = kind_of(pass.prepared, sum);
      ir::Array array{pass.prepared.names[sum] + "_own", ir::Space::registers, type_of(pass.prepared, sum), {0, 0}, 1};
      if (across.kind == RowReduction::columns) {
        if (body.section_trips > 1) array.dims[0] = body.section_trips;
        array.vector = body.vector;
      }
      across.array = builder.add_array(std::move(array));
      builder.declare(0, across.array, builder.start_of_sum(builder.graph()[sum]));
      builder.kept_bytes += across_bytes(pass.prepared, pass.plan, sum);
    }
  builder.most_kept = std::max(builder.most_kept, builder.kept_bytes);
  if (pass.rows.rounds == 1) return;
  builder.open_loop(pass.rows.round, false);
  builder.row_depth = builder.depth();
}

void add_across(RowPass& pass, ir::NodeId sum, const Entry& value) {
  ProgramBuilder& builder = pass.builder;
  if (builder.refusal()) return;
  const auto across =
      std::find_if(pass.across.begin(), pass.across.end(), [&](const auto& one) { return one.sum == sum; });
  const Segment& body = pass.rows.segments.front();
  ir::Stmt add;
  add.kind = ir::StmtKind::assign;
  add.op = op_of(reducer(builder.graph()[sum]));
  add.target = register_of(pass, *across);
  if (across->kind == RowReduction::columns && body.vector > 1) add.target.lane = builder.build().var(body.element);
  add.value = value.compute.id;
  builder.put(builder.depth(), add);
}

void end_across(RowPass& pass) {
  ProgramBuilder& builder = pass.builder;
  const RowLoops& rows = pass.rows;
  if (rows.rounds > 1) builder.close();
  builder.row_depth = 0;
  builder.in_flight_rows = 1;
  const std::vector<ir::BufferId> of_blocks = add_workspaces(pass, "blocks", rows.blocks);
  store_block(pass, of_blocks);
  const std::vector<Results> all = results_of(pass);
  const auto put_all_together = [&](const std::vector<Parts>& parts, const std::vector<ir::BufferId>& workspaces,
                                    ir::ExprId to) {
    for (const Results& results : all) put_together(pass, results, parts, workspaces, to);
  };
  const ir::ExprId zero = builder.build().constant(0);
  if (rows.blocks == 1) {
    builder.put_barrier();
    return put_all_together(parts_in(of_blocks, 1, zero), {}, zero);
  }
  open_meeting(pass, rows.family_of_block, rows.member, rows.families, rows.family);
  const ir::ExprId first = builder.build().scale(rows.family_of_block, rows.family);
  std::vector<Parts> parts = parts_in(of_blocks, rows.family, first);
  if (rows.families == 1) {
    put_all_together(parts, {}, zero);
    return builder.close();
  }
  const std::vector<ir::BufferId> of_families = add_workspaces(pass, "families", rows.families);
  put_all_together(parts, of_families, rows.family_of_block);
  open_meeting(pass, zero, rows.family_of_block, 1, rows.families);
  put_all_together(parts_in(of_families, rows.families, zero), {}, zero);
  builder.close();
  builder.close();
}

}  // namespace tailor::codegen
