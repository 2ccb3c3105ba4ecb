// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The row skeleton. In: a group of R rows by N columns with reductions along the rows, and a plan. Out: the kernel's
// statements. Called by lower() through the table of skeletons.
//
// Who does what. `threads_per_row` lanes own a row, so a block has threads / threads_per_row rows at once. Where
// values of a row stay in registers, `in_flight` is the number of rows that each group of lanes has side by side, in
// an unrolled loop; where the row is gone through in parts, it is the number of trips at a time. Rows beyond the last
// one are cut off by one guard around each phase.
//
// Phases. A reduction must be complete before anything that needs it, so the group is cut into phases by the number of
// reductions on the way to a value (prepare.cpp). A phase walks the row once: it accumulates its own reductions and
// stores the outputs that are due. Then its reductions are finished, and the next phase starts over the same row. What
// it needs again is found where the plan's homes kept it (registers, shared memory), or is computed or read once more.
//
// The walk. A lane takes vectors of `vector` neighbouring elements, threads_per_row vectors apart. The loop over these
// trips is unrolled whole when values stay in registers, since registers cannot be indexed by a variable; else
// `in_flight` trips are unrolled. Where only some of what waits is in registers it is both: unrolled whole, and gone
// through in parts of `in_flight` trips.
//
// Loads. What a phase reads is loaded in loops of its own, of all rows in flight and all unrolled trips, before it is
// used. The first phase loads what later phases need too, weights and further inputs, as long as half the registers
// hold it: they arrive while the first reduction is still waiting for its row.
//
// Numbers of rows. A warp has neighbouring rows at once, and its rows in flight follow them. After a reduction every
// lane of a row has the same numbers; where a row has as many lanes as rows in flight, each lane picks one of these and
// all store together, so one access writes neighbouring numbers.
//
// Finishing a reduction. Within a warp the lanes exchange by shuffles, so a row has a power of two of them, or whole
// warps. Where a row spans several warps, the first lane
// of each warp stores its partial result in shared memory, one barrier serves all reductions of the phase, and every
// lane adds the partial results of its row in the same order, so that all get the same number (lower_row_join.cpp). A
// persistent block needs one more barrier at its end, before the next tile writes the partial results again.
//
// Sums across rows are added up while the rows go by, and put together at the kernel's end (lower_across.cpp).
//
// Sharing rows. With `split` above 1 so many blocks have the same rows and each of them a part of every row: they are
// further lanes of it (lower_row_loops.cpp). What the lanes of a block have summed up is the block's part and goes to a
// workspace. The block that arrives last adds the parts in their order and goes on as the only block would, so results
// are the same in each run. A later walk over the row would need all blocks to wait for one another: it is refused.
#include "codegen/lower/lower_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/lower/lower_across.h"
#include "codegen/lower/skeletons.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

/// Whether a sum goes over elements and not over numbers of rows.
bool is_of_elements(const Prepared& prepared, ir::NodeId sum) {
  const ir::Graph& graph = *prepared.graph;
  return elements(graph[graph[sum].operands[0]].shape) == prepared.rows * prepared.columns;
}

bool is_of_rows(const Prepared& prepared, std::int32_t output) {
  return elements((*prepared.graph)[prepared.stored[output]].shape) == prepared.rows * prepared.columns;
}
bool is_full_output(const RowPass& pass, std::int32_t output) { return is_of_rows(pass.prepared, output); }

/// Whether a phase goes over the elements of its rows.
bool walks_rows(const Prepared& prepared, const Phase& phase) {
  return !phase.reductions.empty() || std::any_of(phase.across.begin(), phase.across.end(), [&](ir::NodeId sum) {
    return is_of_elements(prepared, sum);
  }) || std::any_of(phase.outputs.begin(), phase.outputs.end(), [&](std::int32_t output) {
    return is_of_rows(prepared, output);
  });
}

/// What a reduction along or across rows reads at (row, column).
Coordinates reduced_coordinates(RowPass& pass, ir::NodeId reduction, ir::ExprId column) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const ir::Node& reduce = graph[reduction];
  const ir::Shape& shape = graph[reduce.operands[0]].shape;
  const Domain domain = domain_of(graph, reduce);
  if (domain == pass.prepared.domain) return coordinates_at(build, shape, axes(reduce), pass.rows.row, column);
  if (domain == pass.prepared.domain.turned()) return coordinates_at(build, shape, axes(reduce), column, pass.rows.row);
  return delinearize_memory(build, shape, position_in(build, pass.prepared.domain, pass.rows.row, column));
}

Coordinates full_output_coordinates(RowPass& pass, std::int32_t output, ir::ExprId column) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const auto dominant = static_cast<std::size_t>(
      std::find(pass.prepared.dominants.begin(), pass.prepared.dominants.end(), pass.plan.dominant) -
      pass.prepared.dominants.begin());
  const Route& route = pass.prepared.routes[dominant][output];
  if (route.found) return follow(build, graph, route, reduced_coordinates(pass, pass.plan.dominant, column));
  return delinearize_memory(build, graph[pass.prepared.stored[output]].shape,
                            position_in(build, pass.prepared.domain, pass.rows.row, column));
}

/// Where an output with a number for each row holds that of this row: by a reduction from which the numbers lead there
/// one to one, the dominant before others.
Coordinates row_output_coordinates(RowPass& pass, std::int32_t output, ir::ExprId row) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const std::pair<ir::NodeId, IndexedVector<Route>>* way = nullptr;
  for (const auto& candidate : pass.prepared.result_routes) {
    const bool leads =
        candidate.second[output].found && domain_of(graph, graph[candidate.first]) == pass.prepared.domain;
    if (leads && (way == nullptr || candidate.first == pass.plan.dominant)) way = &candidate;
  }
  const ir::Shape& shape = graph[pass.prepared.stored[output]].shape;
  if (way == nullptr) return delinearize_memory(build, shape, row);
  return follow(build, graph, way->second[output], result_at(build, graph, graph[way->first], row));
}

/// What the walk of a phase through one section of a segment reads; the places that gathers read at come first.
void load_section_ahead(RowPass& pass, const Phase& phase, const Segment& segment,
                        const ProgramBuilder::Flight& flight) {
  if (!pass.prepared.gathers.empty() && !flight.places) {
    ProgramBuilder::Flight places = flight;
    places.places = true;
    load_section_ahead(pass, phase, segment, places);
  }
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  open_section(builder, segment);
  for (const ir::NodeId reduction : phase.reductions)
    builder.load_ahead(graph[reduction].operands[0], reduced_coordinates(pass, reduction, segment.column), flight);
  for (const ir::NodeId sum : phase.across)
    if (is_of_elements(pass.prepared, sum))
      builder.load_ahead(graph[sum].operands[0], reduced_coordinates(pass, sum, segment.column), flight);
  for (const std::int32_t output : phase.outputs)
    if (is_full_output(pass, output))
      builder.load_ahead(pass.prepared.stored[output], full_output_coordinates(pass, output, segment.column), flight);
  close_section(builder, segment);
}

void load_segments_ahead(RowPass& pass, const Phase& phase, const ProgramBuilder::Flight& flight) {
  for (const Segment& segment : pass.rows.segments) {
    pass.builder.enter_segment(&segment);
    load_section_ahead(pass, phase, segment, flight);
  }
  pass.builder.enter_segment(nullptr);
}

/// Variables that tell rows apart: of rows in flight, of rounds, of the guard around rows.
ir::VarSet row_variables(const RowPass& pass) {
  const ir::IndexPool& pool = pass.builder.build().pool();
  ir::VarSet vars = pool[pass.builder.row_in_flight].vars;
  if (pass.rows.rounds > 1) vars |= ir::VarSet::only(pass.rows.round);
  if (pass.rows.ragged) vars |= pool[pass.rows.row_exists.a].vars;
  return vars;
}

/// In front of the loop over rounds: what all rows read alike, of all phases, to stay for the kernel.
void load_for_all_rounds(RowPass& pass) {
  ProgramBuilder::Flight flight;
  flight.without = row_variables(pass);
  flight.all = true;
  flight.stay = Stay::kernel;
  for (const Phase& phase : pass.prepared.phases) load_segments_ahead(pass, phase, flight);
  pass.builder.issue(0);
}

/// Everything a phase reads, of all rows in flight and all trips; in the first phase that of the later ones too where
/// the registers suffice. What does not depend on the row is loaded once for all rows in flight, and for all rounds.
void load_rows_ahead(RowPass& pass, std::size_t number) {
  ProgramBuilder& builder = pass.builder;
  const ir::IndexPool& pool = builder.build().pool();
  const std::span<const Phase> phases(pass.prepared.phases.begin(), pass.prepared.phases.end());
  const std::span<const Phase> later = number == 0 && pass.loads_all ? phases.subspan(1) : phases.first(0);
  const bool several = builder.in_flight_rows > 1, in_rounds = pass.rows.rounds > 1;
  ProgramBuilder::Flight own, ahead;
  own.with = ahead.with = pool[builder.row_in_flight].vars;
  if (in_rounds) own.with = ahead.with |= ir::VarSet::only(pass.rows.round);
  own.depth = builder.row_depth;
  ahead.stay = Stay::kernel;
  ahead.all = true;
  const auto load = [&] {
    load_segments_ahead(pass, phases[number], own);
    for (const Phase& phase : later) load_segments_ahead(pass, phase, ahead);
  };
  const auto load_rows = [&] {
    if (several) builder.open_loop(pass.rows.flight, true);
    if (pass.rows.ragged) builder.open_guard({&pass.rows.row_exists, 1});
    load();
    if (pass.rows.ragged) builder.close();
    if (several) builder.close();
  };
  if (several && !pass.prepared.gathers.empty()) {
    own.places = ahead.places = true;
    load_rows();
    own.places = ahead.places = false;
  }
  load_rows();
  if (several || in_rounds) {
    own.without = ahead.without = row_variables(pass);
    own.with = ahead.with = {};
    if (pass.loads_all || in_rounds) own.stay = Stay::kernel;
    load();
  }
  builder.issue(builder.row_depth);
}

void walk_section(RowPass& pass, const Phase& phase, const Segment& segment) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  open_section(builder, segment);
  for (std::size_t i = 0; i < phase.reductions.size() && !builder.refusal(); ++i) {
    if (!pass.plan.value_cache) builder.forget_values();
    const ir::Node& reduce = graph[phase.reductions[i]];
    const Entry entry =
        builder.emit_value(reduce.operands[0], reduced_coordinates(pass, phase.reductions[i], segment.column));
    ir::Stmt add;
    add.kind = ir::StmtKind::assign;
    add.op = op_of(reducer(reduce));
    add.target.array = pass.accumulators[i];
    if (builder.in_flight_rows > 1) add.target.subs[0] = builder.row_in_flight;
    add.value = entry.compute.id;
    builder.put(builder.depth(), add);
  }
  for (const ir::NodeId sum : phase.across) {
    if (builder.refusal() || !is_of_elements(pass.prepared, sum)) continue;
    if (!pass.plan.value_cache) builder.forget_values();
    add_across(pass, sum, builder.emit_value(graph[sum].operands[0], reduced_coordinates(pass, sum, segment.column)));
  }
  for (const std::int32_t output : phase.outputs) {
    if (builder.refusal() || !is_full_output(pass, output)) continue;
    if (!pass.plan.value_cache) builder.forget_values();
    builder.store_output(output, full_output_coordinates(pass, output, segment.column));
  }
  close_section(builder, segment);
}

void walk_segment(RowPass& pass, const Phase& phase, const Segment& segment) {
  ProgramBuilder& builder = pass.builder;
  builder.enter_segment(&segment);
  open_trips(builder, segment, false);
  if (pass.rolled) {
    ProgramBuilder::Flight flight;
    flight.stay = Stay::section;
    flight.depth = builder.depth();
    load_section_ahead(pass, phase, segment, flight);
    builder.issue(builder.depth());
  }
  walk_section(pass, phase, segment);
  builder.land(Stay::section);
  close_trips(builder, segment, false);
  builder.enter_segment(nullptr);
}

/// Whether lanes of a row can store the numbers of its rows in flight, one each.
bool stores_together(const RowPass& pass, std::int32_t output) {
  const ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  return builder.in_flight_rows > 1 &&
         std::min(pass.plan.threads_per_row, pass.limits.warp_size) >= builder.in_flight_rows &&
         is_floating(graph[pass.prepared.stored[output]].shape.dtype);
}

void store_row_outputs(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  for (const std::int32_t output : phase.outputs) {
    if (is_full_output(pass, output) || builder.refusal()) continue;
    const Coordinates coordinates = row_output_coordinates(pass, output, pass.rows.row);
    if (stores_together(pass, output))
      pass.row_numbers.push_back({output, builder.keep_row_number(output, coordinates)});
    else
      builder.store_output(output, coordinates);
  }
}

/// Sums of numbers of rows get this row's, in every lane of it.
void add_row_numbers(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  for (const ir::NodeId sum : phase.across) {
    if (builder.refusal() || is_of_elements(pass.prepared, sum)) continue;
    const ir::NodeId number = graph[sum].operands[0];
    const Coordinates coordinates = delinearize(builder.build(), graph[number].shape, pass.rows.row);
    add_across(pass, sum, builder.emit_value(number, coordinates));
  }
}

/// The numbers of all rows in flight, one by each lane: neighbouring rows by neighbouring lanes in one access.
void store_row_numbers(RowPass& pass) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const int flight = builder.in_flight_rows;
  std::vector<ir::Condition> conditions;
  if (pass.rows.warps_per_row > 1) conditions.push_back({pass.rows.warp, build.constant(0), true});
  ir::ExprId lane = pass.rows.lane;
  if (build.pool()[lane].range.high >= flight) {
    conditions.push_back({lane, build.constant(flight), false});
    lane = build.narrow(lane, {0, flight - 1});
  }
  ir::ExprId row = build.add_scaled(pass.rows.first_row, lane, pass.rows.rows_per_warp);
  if (pass.rows.ragged) {
    conditions.push_back({row, build.constant(pass.prepared.rows), false});
    row = build.narrow(row, {0, pass.prepared.rows - 1});
  }
  for (const RowPass::RowNumber& number : pass.row_numbers) {
    builder.store_picked(number.output, number.array, pass.rows.lane, row_output_coordinates(pass, number.output, row),
                         conditions);
  }
  pass.row_numbers.clear();
}

/// From here on every lane of a row has the results; where blocks share it, in the last of them alone.
void finish_reductions(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  combine_lanes(pass, phase);
  if (pass.plan.split > 1) join_blocks(pass, phase);
  for (std::size_t i = 0; i < phase.reductions.size(); ++i)
    builder.state().accumulators.push_back(
        {phase.reductions[i],
         result_at(builder.build(), builder.graph(), builder.graph()[phase.reductions[i]], pass.rows.row),
         pass.accumulators[i], builder.depth()});
}

void declare_accumulators(RowPass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  pass.accumulators.clear();
  pass.partials.clear();
  for (const ir::NodeId id : phase.reductions) {
    const ir::Node& reduce = builder.graph()[id];
    const ir::DType dtype = row(reduce.shape.dtype).compute;
    ir::Array array{pass.prepared.names[id], ir::Space::registers, dtype, {0, 0}, 1};
    if (builder.in_flight_rows > 1) array.dims[0] = builder.in_flight_rows;
    pass.accumulators.push_back(builder.add_array(array));
    builder.declare(builder.row_depth, pass.accumulators.back(), builder.start_of_sum(reduce));
  }
}

bool stands_before(const ir::Home& a, const ir::Home& b) { return a.node < b.node; }

void run_phase(RowPass& pass, std::size_t number, std::vector<ir::Home>& kept_before) {
  ProgramBuilder& builder = pass.builder;
  const Phase& phase = pass.prepared.phases[number];
  const std::vector<ir::Home>& wanted = pass.kept.phases[number];
  std::vector<ir::Home> keeping;
  std::set_difference(wanted.begin(), wanted.end(), kept_before.begin(), kept_before.end(), std::back_inserter(keeping),
                      stands_before);
  declare_accumulators(pass, phase);
  const bool is_joined = pass.plan.split == 1 || number > 0;  // else all blocks that share rows would store
  builder.keep(keeping);
  const bool walked = walks_rows(pass.prepared, phase);
  if (walked && !pass.rolled) load_rows_ahead(pass, number);
  std::vector<ir::Home> computed;  // inputs kept in registers are there by now
  std::copy_if(keeping.begin(), keeping.end(), std::back_inserter(computed), [&](const ir::Home& home) {
    return home.level == ir::StitchLevel::block || !builder.is_loaded(home.node);
  });
  builder.keep(computed);
  if (builder.in_flight_rows > 1) builder.open_loop(pass.rows.flight, true);
  if (pass.rows.ragged) builder.open_guard({&pass.rows.row_exists, 1});
  if (is_joined) store_row_outputs(pass, phase);
  add_row_numbers(pass, phase);
  if (walked)
    for (const Segment& segment : pass.rows.segments) walk_segment(pass, phase, segment);
  if (pass.rows.ragged) builder.close();
  if (builder.in_flight_rows > 1) builder.close();
  if (!builder.refusal()) store_row_numbers(pass);
  builder.keep({});
  builder.land(Stay::phase);
  if (!phase.reductions.empty()) finish_reductions(pass, phase);
  if (!is_joined) {
    if (pass.rows.ragged) builder.open_guard({&pass.rows.row_exists, 1});
    store_row_outputs(pass, phase);
    if (pass.rows.ragged) builder.close();
  }
  kept_before.insert(kept_before.end(), keeping.begin(), keeping.end());
  std::sort(kept_before.begin(), kept_before.end(), stands_before);
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
  tiling.vectors = breaks_vectors(prepared, plan) ? 0 : prepared.columns / plan.vector;
  tiling.rest = prepared.columns % plan.vector;
  tiling.run = prepared.domain.fastest();
  tiling.trips = trips_per_row(prepared, plan);
  tiling.split = plan.split;
  tiling.walks = static_cast<int>(std::count_if(prepared.phases.begin(), prepared.phases.end(),
                                                [&](const Phase& phase) { return walks_rows(prepared, phase); }));
  tiling.streamed = is_streamed(prepared, plan);
  tiling.lanes = plan.threads_per_row;
  tiling.at_once = plan.in_flight;
  tiling.items = prepared.rows;
  tiling.items_per_block = std::int64_t{plan.threads / plan.threads_per_row} * (tiling.streamed ? 1 : plan.in_flight);
  return tiling;
}

std::optional<ir::Rejection> refuse_row(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  const bool shuffles = is_power_of_two(plan.threads_per_row) ||
                        (plan.threads_per_row > 0 && plan.threads_per_row % limits.warp_size == 0);
  if (!shuffles || plan.threads % plan.threads_per_row != 0)
    return ir::Rejection{"threads-per-row",
                         fmt::format("{} threads per row do not divide {} threads", plan.threads_per_row, plan.threads),
                         true};
  const Tiling tiling = tiling_row(prepared, plan);
  if (prepared.sums_across)
    if (std::optional<ir::Rejection> refused = refuse_across(prepared, plan, limits, tiling)) return refused;
  if (plan.split == 1) return std::nullopt;
  if (tiling.walks > 1)
    return ir::Rejection{
        "split", fmt::format("rows are walked {} times, so {} blocks cannot share them", tiling.walks, plan.split),
        true};
  if (leaves_blocks_idle(prepared, tiling))
    return ir::Rejection{"split",
                         fmt::format("rows of {} vectors, {} for a block at once, leave some of {} blocks that share "
                                     "them without any",
                                     tiling.vectors, tiling.lanes, plan.split),
                         true};
  if (plan.grid == ir::GridShape::persistent)
    return ir::Rejection{"split", "blocks that share rows do not loop over others", true};
  return std::nullopt;
}

/// Whether all inputs of the rows in flight, and what is kept of them, fit half of the registers that a thread of such
/// a block can have; the other half is for what is computed.
bool fit_registers(const ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, const KeptHomes& kept,
                   const ir::Limits& limits) {
  const ir::Graph& graph = builder.graph();
  const std::int64_t per_thread = trips_per_row(prepared, plan) * plan.vector;
  std::int64_t bytes = 0;
  for (const Phase& phase : prepared.phases)
    for (const ir::NodeId sum : phase.across) bytes += across_bytes(prepared, plan, sum);
  const auto add = [&](ir::NodeId id) {
    const ir::Shape& shape = graph[id].shape;
    if (elements(shape) < prepared.columns) return;  // a number a row
    bytes += per_thread * (prepared.full[id] ? builder.in_flight_rows : 1) * std::max(row(shape.dtype).bits / 8, 1);
  };
  for (const ir::NodeId id : parameters(graph)) add(id);
  for (const std::vector<ir::Home>& phase : kept.phases)
    for (const ir::Home& home : phase)
      if (home.level == ir::StitchLevel::registers && graph[home.node].op != ir::Op::parameter) add(home.node);
  constexpr std::int64_t register_bytes = 4;
  return bytes <= register_bytes * registers_for(limits, plan.threads) / 2;
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
  KeptHomes own;
  const KeptHomes& kept = kept_by(prepared, plan.homes, own);
  RowPass pass{builder, prepared, plan, limits, rolled, !rolled && fit_registers(builder, prepared, plan, kept, limits),
               kept};
  if (auto no = make_rows(builder, prepared, plan, limits, pass.rows)) return no;
  if (auto no = make_segments(builder, prepared, plan, rolled, pass.rows)) return no;
  if (!prepared.free_aside.empty())
    store_aside(builder, prepared, prepared.free_aside,
                builder.build().add_scaled(thread_of(pass), pass.rows.block, plan.threads),
                builder.kernel().virtual_blocks * plan.threads);
  if (pass.rows.rounds > 1 && pass.loads_all) load_for_all_rounds(pass);
  if (prepared.sums_across) begin_across(pass);
  std::vector<ir::Home> kept_before;
  for (std::size_t i = 0; i < prepared.phases.size() && !builder.refusal(); ++i) {
    builder.later_loads = i > 0;
    run_phase(pass, i, kept_before);
  }
  if (!prepared.reduced_aside.empty()) {
    if (pass.rows.ragged) builder.open_guard({&pass.rows.row_exists, 1});
    store_aside(builder, prepared, prepared.reduced_aside, pass.rows.row_lane, plan.threads_per_row);
    if (pass.rows.ragged) builder.close();
  }
  if (plan.split > 1) builder.close();
  if (pass.rows.warps_per_row > 1 && (plan.grid == ir::GridShape::persistent || pass.rows.rounds > 1)) {
    builder.put_barrier();  // the next tile writes the partial results again
  }
  if (prepared.sums_across && !builder.refusal()) end_across(pass);
  return builder.refusal();
}

}  // namespace tailor::codegen
