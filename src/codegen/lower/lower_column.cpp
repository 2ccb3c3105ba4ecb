// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The column skeleton. In: a group whose reductions leave the fastest dimension in memory, and a plan. Out: the
// kernel's statements. Called by lower() through the table of skeletons.
//
// Domain. The dimensions that stay, in the order of memory, make one position `column`; those that are reduced make
// `k`. So batches, middle dimensions and turned layouts are all the same two numbers, and neighbouring columns are
// neighbours in memory as far as the fastest run of dimensions that stay goes. A vector must divide this run: else rows
// would start at addresses that are no multiple of it.
//
// Who does what. A block has a tile of columns, threads_per_row lanes wide and `vector` columns per lane. Its threads
// form groups of so many lanes; group g takes rows g, g + groups, g + 2 groups and so on, `in_flight` of them at a
// time: what they read is loaded in a loop of its own before it is used (lower_access.cpp). Every thread adds up its
// columns in registers. Rows and columns that do not exist are cut off by guards.
//
// Finishing. The groups put their partial results into shared memory. As long as there are more than sixteen, the first
// half of the groups adds to its own what the second half has; the rest is added in the order of the groups. So the
// order is the same in each run. All reductions of a phase share the barriers. Only the first group needs the results,
// to compute what follows from them and to store it; where a later phase walks the columns again every group adds up
// the partial results for itself.
//
// Phases are those of the row skeleton (prepare.cpp). Nothing of a column is kept between them: a later phase reads
// again.
//
// Sharing columns. With `split` above 1 so many blocks have the same tile of columns and each of them a part of the
// rows, dealt out in turns like those of groups. What the first group has then is the block's part; it goes to a
// workspace. The block that arrives last (kernel.h tells how it knows) adds the parts in their order, its groups in
// turns and then together as above, and goes on as the only block would. The order does not depend on who was last, so
// results are the same in each run. A later walk would need all blocks to wait for one another: it is refused.
#include "codegen/lower/lower_column.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/lower/lower_row_loops.h"
#include "codegen/lower/skeletons.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

/// The shape in whose order of memory columns are numbered: the dominant's, for all that differ in layout only.
const ir::Shape& order_of(const ColumnPass& pass, ir::NodeId reduce) {
  const ir::Graph& graph = pass.builder.graph();
  const ir::Shape& own = graph[graph[reduce].operands[0]].shape;
  const ir::Shape& leading = graph[graph[pass.dominant].operands[0]].shape;
  const bool same = own.dims == leading.dims && axes(graph[reduce]) == axes(graph[pass.dominant]);
  return same ? leading : own;
}

/// What the reduction reads of (column, k).
Coordinates read_coordinates(ColumnPass& pass, ir::NodeId reduce) {
  return coordinates_at(pass.builder.build(), order_of(pass, reduce), axes(pass.builder.graph()[reduce]), pass.column,
                        pass.k);
}

/// Where the reduction holds the result of the column.
Coordinates result_coordinates(ColumnPass& pass, ir::NodeId reduce) {
  return kept_coordinates(read_coordinates(pass, reduce), axes(pass.builder.graph()[reduce]));
}

/// One element per element of the columns, and not one per column.
bool is_of_elements(const Prepared& prepared, std::int32_t output) {
  return elements((*prepared.graph)[prepared.stored[output]].shape) != prepared.rows;
}

Coordinates element_coordinates(ColumnPass& pass, std::int32_t output) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const auto dominant = static_cast<std::size_t>(
      std::find(pass.prepared.dominants.begin(), pass.prepared.dominants.end(), pass.dominant) -
      pass.prepared.dominants.begin());
  const Route& route = pass.prepared.routes[dominant][output];
  if (route.found) return follow(build, graph, route, read_coordinates(pass, pass.dominant));
  return delinearize_memory(build, graph[pass.prepared.stored[output]].shape,
                            position_in(build, pass.prepared.domain, pass.column, pass.k));
}

/// By the first reduction from which elements lead there one to one, the dominant before others.
Coordinates column_coordinates(ColumnPass& pass, std::int32_t output) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const std::pair<ir::NodeId, IndexedVector<Route>>* way = nullptr;
  for (const auto& candidate : pass.prepared.result_routes)
    if (candidate.second[output].found && (way == nullptr || candidate.first == pass.dominant)) way = &candidate;
  if (way != nullptr) return follow(build, graph, way->second[output], result_coordinates(pass, way->first));
  return delinearize_memory(build, graph[pass.prepared.stored[output]].shape, pass.column);
}

// ---- the walk down the columns

void load_rows(ColumnPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  ProgramBuilder::Flight flight;
  flight.stay = Stay::section;
  flight.depth = builder.depth();
  flight.places = !pass.prepared.gathers.empty();
  for (;; flight.places = false) {  // the places that gathers read at come first
    open_section(builder, pass.walk);
    for (const ir::NodeId id : phase.reductions)
      builder.load_ahead(graph[id].operands[0], read_coordinates(pass, id), flight);
    for (const std::int32_t output : phase.outputs)
      if (is_of_elements(pass.prepared, output))
        builder.load_ahead(pass.prepared.stored[output], element_coordinates(pass, output), flight);
    close_section(builder, pass.walk);
    if (!flight.places) break;
  }
  builder.issue(builder.depth());
}

void add_rows(ColumnPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  open_section(builder, pass.walk);
  for (std::size_t i = 0; i < phase.reductions.size() && !builder.refusal(); ++i) {
    if (!pass.plan.value_cache) builder.forget_values();
    const ir::NodeId id = phase.reductions[i];
    const Entry entry = builder.emit_value(graph[id].operands[0], read_coordinates(pass, id));
    ir::Stmt add;
    add.kind = ir::StmtKind::assign;
    add.op = op_of(reducer(graph[id]));
    add.target = accumulator_element(pass, i);
    add.value = entry.compute.id;
    builder.put(builder.depth(), add);
  }
  for (const std::int32_t output : phase.outputs) {
    if (builder.refusal() || !is_of_elements(pass.prepared, output)) continue;
    if (!pass.plan.value_cache) builder.forget_values();
    builder.store_output(output, element_coordinates(pass, output));
  }
  close_section(builder, pass.walk);
}

bool walks(const Prepared& prepared, const Phase& phase) {
  return !phase.reductions.empty() || std::any_of(phase.outputs.begin(), phase.outputs.end(), [&](std::int32_t output) {
    return is_of_elements(prepared, output);
  });
}

/// The last phase that goes down the columns.
std::size_t last_walk(const Prepared& prepared) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < prepared.phases.size(); ++i)
    if (walks(prepared, prepared.phases[i])) last = i;
  return last;
}

void walk_columns(ColumnPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  builder.enter_segment(&pass.walk);
  if (pass.ragged) builder.open_guard({&pass.column_exists, 1});
  open_trips(builder, pass.walk, false);
  load_rows(pass, phase);
  add_rows(pass, phase);
  builder.land(Stay::section);
  close_trips(builder, pass.walk, false);
  if (pass.ragged) builder.close();
  builder.enter_segment(nullptr);
}

void finish_columns(ColumnPass& pass, const Phase& phase, bool for_all) {
  ProgramBuilder& builder = pass.builder;
  if (pass.groups > 1) combine_groups(pass, phase, for_all);
  if (pass.split > 1) join_blocks(pass, phase);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i)
    builder.state().accumulators.push_back({phase.reductions[i], result_coordinates(pass, phase.reductions[i]),
                                            pass.accumulators[i], builder.depth(), accumulator_element(pass, i).lane});
}

/// Outputs of one element per column: the first group has them.
void store_results(ColumnPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  std::array<ir::Condition, 2> conditions{};
  const int count = first_group(pass, conditions);
  builder.enter_segment(&pass.results);
  if (count > 0) builder.open_guard(std::span(conditions).first(count));
  open_elements(pass);
  for (const std::int32_t output : phase.outputs) {
    if (is_of_elements(pass.prepared, output) || builder.refusal()) continue;
    if (!pass.plan.value_cache) builder.forget_values();
    builder.store_output(output, column_coordinates(pass, output));
  }
  close_elements(pass);
  if (count > 0) builder.close();
  builder.enter_segment(nullptr);
}

void declare_column_sums(ColumnPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  pass.accumulators.clear();
  pass.partials.clear();
  for (const ir::NodeId id : phase.reductions) {
    const ir::Node& reduce = builder.graph()[id];
    const ir::DType dtype = row(reduce.shape.dtype).compute;
    pass.accumulators.push_back(
        builder.add_array({pass.prepared.names[id], ir::Space::registers, dtype, {0, 0}, pass.plan.vector}));
    builder.declare(0, pass.accumulators.back(), builder.start_of_sum(reduce));
  }
}

// ---- loops

/// Adds the variables of blocks, lanes and groups.
void make_columns(ColumnPass& pass) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t vectors = pass.prepared.rows / pass.plan.vector;
  pass.tiles = (vectors + pass.lanes - 1) / pass.lanes;
  const std::int64_t blocks = pass.tiles * pass.split;
  builder.kernel().virtual_blocks = blocks;
  const ir::ExprId vb = build.var(build.add_var({"vb", ir::VarKind::block, blocks, 1}));
  std::tie(pass.part, pass.tile) = build.divide(vb, pass.tiles);
  pass.lane = pass.group = build.constant(0);
  if (pass.lanes > 1) pass.lane = build.var(build.add_var({"lane", ir::VarKind::thread, pass.lanes, 1}));
  if (pass.groups > 1) pass.group = build.var(build.add_var({"group", ir::VarKind::thread, pass.groups, pass.lanes}));
  ir::ExprId number = build.add_scaled(pass.lane, pass.tile, pass.lanes);
  pass.ragged = vectors % pass.lanes != 0;
  pass.column_exists = {number, build.constant(vectors), false};
  if (pass.ragged) number = build.narrow(number, {0, vectors - 1});
  pass.column = build.scale(number, pass.plan.vector);
  pass.walk.vector = pass.plan.vector;
  if (pass.plan.vector > 1) {
    pass.walk.element = build.add_var({"e", ir::VarKind::loop, pass.plan.vector, 1});
    pass.column = build.add(pass.column, build.var(pass.walk.element));
  }
  pass.walk.trip = pass.walk.section_trip = build.constant(0);
  pass.results = pass.walk;
  pass.results.number = 1;
}

/// Adds the loops down the columns.
void make_rows_of_columns(ColumnPass& pass, std::int64_t trips) {
  IndexBuilder& build = pass.builder.build();
  Segment& walk = pass.walk;
  const std::int64_t unrolled = pass.plan.in_flight;
  const std::int64_t outer = (trips + unrolled - 1) / unrolled;
  walk.trip_count = outer * unrolled;
  const auto add_loop = [&](std::string_view name, std::int64_t extent, bool is_unrolled) {
    const int i = walk.trip_loops++;
    walk.trips[i] = build.add_var({std::string(name), ir::VarKind::loop, extent, 1});
    walk.unrolled[i] = is_unrolled;
    return build.var(walk.trips[i]);
  };
  if (outer > 1) walk.trip = build.scale(add_loop("t", outer, false), unrolled);
  if (unrolled > 1) {
    walk.section_trip = add_loop("u", unrolled, true);
    walk.section_trips = unrolled;
    walk.trip = build.add(walk.trip, walk.section_trip);
  }
  pass.k = build.add_scaled(pass.group, build.add_scaled(pass.part, walk.trip, pass.split), pass.groups);
  if (walk.trip_count * pass.split * pass.groups == pass.prepared.columns) return;
  walk.guards[walk.guard_count++] = {pass.k, build.constant(pass.prepared.columns), false};
  pass.k = build.narrow(pass.k, {0, pass.prepared.columns - 1});
}

/// A plan that names no candidate is refused before it is lowered, but rules ask earlier.
ir::NodeId dominant_of(const Prepared& prepared, const ir::Plan& plan) {
  const auto found = std::find(prepared.dominants.begin(), prepared.dominants.end(), plan.dominant);
  return found == prepared.dominants.end() ? prepared.dominants.front() : *found;
}

}  // namespace

/// The first reduction, and others that read an array of other dimensions or of another order in memory.
void dominants_column(const ir::Graph& graph, Prepared& prepared) {
  const auto source = [&](ir::NodeId id) -> const ir::Shape& { return graph[graph[id].operands[0]].shape; };
  for (const Phase& phase : prepared.phases)
    for (const ir::NodeId id : phase.reductions) {
      const bool known = std::any_of(prepared.dominants.begin(), prepared.dominants.end(), [&](ir::NodeId other) {
        return source(other).dims == source(id).dims && source(other).same_layout(source(id)) &&
               axes(graph[other]) == axes(graph[id]);
      });
      if (!known) prepared.dominants.push_back(id);
    }
}

Tiling tiling_column(const Prepared& prepared, const ir::Plan& plan) {
  Tiling tiling;
  tiling.run = domain_of(*prepared.graph, (*prepared.graph)[dominant_of(prepared, plan)]).fastest();
  tiling.vectors = tiling.run % plan.vector == 0 ? prepared.rows / plan.vector : 0;
  tiling.lanes = plan.threads_per_row;
  tiling.groups = std::max(plan.threads / plan.threads_per_row, 1);
  tiling.split = plan.split;
  const std::int64_t at_once = std::int64_t{tiling.groups} * plan.split;
  tiling.trips = (prepared.columns + at_once - 1) / at_once;
  tiling.walks = 1 + static_cast<int>(last_walk(prepared));
  tiling.streamed = true;
  tiling.at_once = plan.in_flight;
  tiling.items = prepared.rows;
  tiling.items_per_block = std::int64_t{plan.threads_per_row} * plan.vector;
  return tiling;
}

std::optional<ir::Rejection> refuse_column(const Prepared& prepared, const ir::Plan& plan, const ir::Limits&) {
  if (!is_power_of_two(plan.threads_per_row) || plan.threads % plan.threads_per_row != 0)
    return ir::Rejection{"threads-per-row",
                         fmt::format("{} threads per row do not divide {} threads", plan.threads_per_row, plan.threads),
                         true};
  const Tiling tiling = tiling_column(prepared, plan);
  if (tiling.vectors == 0)
    return ir::Rejection{
        "vector", fmt::format("{} neighbouring columns are no whole number of vectors of {}", tiling.run, plan.vector),
        true};
  if (plan.in_flight > tiling.trips)
    return ir::Rejection{
        "in-flight",
        fmt::format("columns take {} rows per thread, fewer than {} in flight", tiling.trips, plan.in_flight), true};
  if (plan.split > 1 && tiling.walks > 1)
    return ir::Rejection{
        "split", fmt::format("columns are walked {} times, so {} blocks cannot share them", tiling.walks, plan.split),
        true};
  if (plan.split > 1 && leaves_blocks_idle(prepared, tiling))
    return ir::Rejection{"split",
                         fmt::format("columns of {} rows, {} for a block at once, leave some of {} blocks that share "
                                     "them without any",
                                     prepared.columns, tiling.groups, plan.split),
                         true};
  if (plan.split > 1 && plan.grid == ir::GridShape::persistent)
    return ir::Rejection{"split", "blocks that share columns do not loop over others", true};
  return std::nullopt;
}

std::optional<ir::Rejection> lower_column(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                          const ir::Limits&) {
  ColumnPass pass{builder, prepared, plan, plan.dominant};
  pass.lanes = plan.threads_per_row;
  pass.groups = plan.threads / plan.threads_per_row;
  pass.split = plan.split;
  make_columns(pass);
  make_rows_of_columns(pass, tiling_column(prepared, plan).trips);
  if (!prepared.free_aside.empty()) {
    IndexBuilder& build = builder.build();
    const std::int64_t threads = plan.threads;
    const ir::ExprId thread = build.add_scaled(pass.lane, pass.group, pass.lanes);
    const ir::ExprId block = build.add_scaled(pass.tile, pass.part, pass.tiles);
    store_aside(builder, prepared, prepared.free_aside, build.add_scaled(thread, block, threads),
                builder.kernel().virtual_blocks * threads);
  }
  const std::size_t last = last_walk(prepared);
  for (std::size_t i = 0; i < prepared.phases.size() && !builder.refusal(); ++i) {
    const Phase& phase = prepared.phases[i];
    builder.later_loads = i > 0;
    declare_column_sums(pass, phase);
    const bool is_joined = pass.split == 1 || i > 0;  // else all blocks that share columns would store
    if (is_joined) store_results(pass, phase);
    if (walks(prepared, phase)) walk_columns(pass, phase);
    if (!phase.reductions.empty()) finish_columns(pass, phase, i < last);
    if (!is_joined) store_results(pass, phase);
  }
  if (pass.split > 1) builder.close();
  // The next tile writes the partial results again.
  if (plan.grid == ir::GridShape::persistent && pass.combined) builder.put_barrier();
  return builder.refusal();
}

}  // namespace tailor::codegen
