// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder of all kernels. In: a prepared group, a plan. Out: the kernel's statements. Called by lower(). What the
// skeletons differ in stands in their mappings (mapping.cpp); what threads put together, in lower_join.cpp.
//
// Phases. A reduction must be complete before anything that needs it, so the group is cut into phases by the number of
// reductions on the way to a value (prepare.cpp). A phase goes over its elements once: it adds up its own reductions
// and stores the outputs that are due. Then its reductions are finished, and the next phase starts over the same
// elements. What it needs again is found where the plan's homes kept it (registers, shared memory), or is computed or
// read once more. A map is one phase without reductions.
//
// The walk. Over what a thread has at once, under the guard of what exists, over each segment of what is reduced: the
// loop over trips, and in it a section of unrolled trips. Where not all of a row stays in registers, and in columns, it
// is gone through in parts: each section is loaded on its own.
//
// Loads. What is used together is loaded before, in loops of its own, so that it travels together. Else a phase loads
// all that it reads, of all rows in flight and all trips. The first phase loads what later phases need too, weights and
// further inputs, as long as half the registers hold it: they arrive while the first reduction is still waiting for its
// row. The places that gathers read at come first.
//
// Numbers of rows. A warp has neighbouring rows at once, and its rows in flight follow them. After a reduction every
// lane of a row has the same numbers; where a row has as many lanes as rows in flight, each lane picks one of these and
// all store together, so one access writes neighbouring numbers.
//
// Blocks that share rows or columns (plan.split). What a block has reduced is its part and goes to a workspace. The
// block that arrives last adds the parts in their order and goes on as the only block would. A later walk needs all
// blocks to wait for one another: so it is refused there. They do wait in a cluster (plan.cluster), and in a grid whose
// blocks are all resident (plan.meet): each has its part in every walk and gets every sum, and the first of them stores
// what is one number a row or column. Blocks of a cluster part when the last sum was read, unless the last walk reads
// values of others; who is done waits for the others, because its parts may still be read. Those of a grid leave their
// parts in a workspace, one for each sum.
//
// Launches. Blocks may also meet by ending: a launch goes up to the phase that reduces, the next one begins with
// putting together what those before it have left (Handover), and goes on. Nothing else lives from one to the next. A
// launch that goes over no elements has a block for each tile.
//
// Tiles that are turned have two walks with positions of their own each: they are lower_turn.cpp's.
//
// A persistent block needs one more barrier at its end, before the next tile writes partial results again.
#include "codegen/lower/lower_phases.h"

#include <algorithm>
#include <iterator>

#include "codegen/lower/lower_across.h"
#include "codegen/lower/lower_turn.h"
#include "codegen/lower/skeletons.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

namespace {

// ---- where elements and results stand

/// Rows are numbered in the order of the array that is read. Columns are numbered by the dominant's, for all that
/// differ from it in layout only.
const ir::Shape& order_of(const Pass& pass, ir::NodeId reduce) {
  const ir::Graph& graph = pass.builder.graph();
  const ir::Shape& own = graph[graph[reduce].operands[0]].shape;
  if (pass.mapping.fast == Side::along) return own;
  const ir::Shape& leading = graph[graph[pass.plan.dominant].operands[0]].shape;
  const bool same = own.dims == leading.dims && walked_axes(graph[reduce]) == walked_axes(graph[pass.plan.dominant]);
  return same ? leading : own;
}

}  // namespace

Coordinates read_coordinates(Pass& pass, ir::NodeId reduction, ir::ExprId along) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const ir::Node& reduce = graph[reduction];
  const ir::ExprId kept = pass.loops.kept;
  if (const std::int64_t chunk = chunk_read_by(pass, reduction); chunk > 0)
    return delinearize_memory(build, graph[reduce.operands[0]].shape,
                              build.add_scaled(build.div(along, chunk), kept, pass.prepared.columns / chunk));
  const Domain own = pass.prepared.domain, domain = walked_domain(graph, reduce);
  if (pass.mapping.fast == Side::kept || domain == own)
    return coordinates_at(build, order_of(pass, reduction), reduced_along(pass, reduction), kept, along);
  const ir::Shape& shape = graph[reduce.operands[0]].shape;
  if (domain == own.turned()) return coordinates_at(build, shape, walked_axes(reduce), along, kept);
  return delinearize_memory(build, shape, position_in(build, own, kept, along));
}

namespace {

/// Where an output of elements stands, of several windows in this one: by a route from the dominant, else by its own
/// order in memory, or that of a piece. Of a strip nothing where it has no such element.
std::optional<Demand> element_coordinates(Pass& pass, std::int32_t output, ir::ExprId along, std::int32_t window) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const Route& route = pass.prepared.routes[dominant_number(pass.prepared, pass.plan)][output];
  const ir::Shape& shape = graph[pass.prepared.stored[output]].shape;
  const bool flat = pass.mapping.is_flat();
  const Windows& windows = pass.prepared.windows[output];
  if (const Strip& strip = pass.prepared.strip; strip.rows > 0) {
    std::optional<Demand> result = pass.builder.in_strip(strip, pass.loops.kept, window);
    if (result) result->coordinates = follow(build, graph, route, result->coordinates);
    return result;
  }
  if (!route.found && windows.count > 1)
    return Demand{follow(build, graph, windows.route,
                         delinearize_memory(build, graph[windows.piece].shape, pass.loops.kept), window)};
  if (!route.found)
    return Demand{delinearize_memory(
        build, shape, flat ? pass.loops.kept : position_in(build, pass.prepared.domain, pass.loops.kept, along))};
  if (!flat) return Demand{follow(build, graph, route, read_coordinates(pass, pass.plan.dominant, along))};
  return Demand{
      follow(build, graph, route, delinearize_memory(build, graph[pass.plan.dominant].shape, pass.loops.kept), window)};
}

// ---- loads ahead of their use

/// What the walk of a phase through one section of a segment reads.
void load_section_ahead(Pass& pass, const Phase& phase, const Segment& segment, const ProgramBuilder::Flight& flight) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  open_section(builder, segment);
  builder.begin_loads_ahead();
  for (const ir::NodeId reduction : phase.reductions)
    for (const ir::NodeId array : ir::reduced_arrays(graph[reduction]))
      builder.load_ahead(array, read_coordinates(pass, reduction, segment.along), flight);
  for (const ir::NodeId scan : phase.left)
    builder.load_ahead(scan, read_coordinates(pass, scan, segment.along), flight);
  for (const ir::NodeId sum : phase.across)
    if (reads_elements(pass.prepared, sum))
      builder.load_ahead(graph[sum].operands[0], read_coordinates(pass, sum, segment.along), flight);
  for (const ir::NodeId reduction : chunks_of(pass, phase))
    builder.load_ahead(graph[reduction].operands[0], read_coordinates(pass, reduction, segment.along), flight);
  for (const std::int32_t output : phase.outputs)
    if (chunk_of_output(pass.prepared, output) > 0)
      builder.load_ahead(pass.prepared.stored[output], chunk_coordinates(pass, output, segment.along), flight);
    else if (is_of_elements(pass.prepared, output))
      for (std::int32_t window = 0; window < pass.prepared.windows[output].count; ++window) {
        const std::optional<Demand> element = element_coordinates(pass, output, segment.along, window);
        if (!element) continue;
        builder.load_landing_ahead(output, element->coordinates, flight);
        builder.load_ahead(pass.prepared.stored[output], element->coordinates, flight, element->predicate);
      }
  close_section(builder, segment);
}

/// The same, behind the places that gathers read at.
void load_section_in_turn(Pass& pass, const Phase& phase, const Segment& segment, ProgramBuilder::Flight flight) {
  if (!pass.prepared.gathers.empty()) {
    flight.places = true;
    load_section_ahead(pass, phase, segment, flight);
    flight.places = false;
  }
  load_section_ahead(pass, phase, segment, flight);
}

/// Whether the guard around a segment's elements asks for these variables: where rows begin decides which elements
/// stand in whole vectors.
bool is_guarded_by(const Pass& pass, const Segment& segment, ir::VarSet vars) {
  const ir::IndexPool& pool = pass.builder.build().pool();
  for (int i = 0; i < segment.guard_count; ++i)
    if ((pool[segment.guards[i].a].vars | pool[segment.guards[i].b].vars).overlaps(vars)) return true;
  return false;
}

void load_segments_ahead(Pass& pass, const Phase& phase, const ProgramBuilder::Flight& flight, bool in_turn) {
  for (const Segment& segment : pass.loops.segments()) {
    if (is_guarded_by(pass, segment, flight.without)) continue;  // read where each row has its guard
    pass.builder.enter_segment(&segment);
    in_turn ? load_section_in_turn(pass, phase, segment, flight) : load_section_ahead(pass, phase, segment, flight);
  }
  pass.builder.enter_segment(nullptr);
}

/// Variables that tell rows apart: of rows in flight, of rounds, of the guard around rows.
ir::VarSet row_variables(const Pass& pass) {
  const ir::IndexPool& pool = pass.builder.build().pool();
  ir::VarSet vars = pool[pass.builder.row_in_flight].vars;
  if (pass.loops.round != 0) vars |= ir::VarSet::only(pass.loops.round);
  if (pass.loops.ragged) vars |= pool[pass.loops.exists.a].vars;
  return vars;
}

/// In front of the loop over rounds: what all rows read alike, of all phases, to stay for the kernel.
void load_for_all_rounds(Pass& pass) {
  ProgramBuilder::Flight flight;
  flight.without = row_variables(pass);
  flight.all = true;
  flight.stay = Stay::kernel;
  for (const Phase& phase : pass.prepared.phases) load_segments_ahead(pass, phase, flight, true);
  pass.builder.issue(0);
}

/// Everything a phase reads, of all rows in flight and all trips; in the first phase that of the later ones too where
/// the registers suffice. What does not depend on the row is loaded once for all rows in flight, and for all rounds.
void load_rows_ahead(Pass& pass, std::size_t number) {
  ProgramBuilder& builder = pass.builder;
  const ir::IndexPool& pool = builder.build().pool();
  const std::span<const Phase> phases(pass.prepared.phases.begin(), pass.prepared.phases.end());
  const std::span<const Phase> later = number == 0 && pass.loads_all ? phases.subspan(1) : phases.first(0);
  const bool flat = pass.mapping.is_flat(), several = builder.in_flight_rows > 1, in_rounds = pass.loops.round != 0;
  ProgramBuilder::Flight own, ahead;
  if (flat) {  // a thread reads all that it needs once
    own.all = true;
    own.stay = Stay::kernel;
  } else {
    own.with = pool[builder.row_in_flight].vars;
    if (in_rounds) own.with |= ir::VarSet::only(pass.loops.round);
  }
  own.depth = builder.row_depth;
  ahead.with = own.with;
  ahead.stay = Stay::kernel;
  ahead.all = true;
  const auto load = [&](bool in_turn) {
    load_segments_ahead(pass, phases[number], own, in_turn);
    for (std::size_t i = 0; i < later.size(); ++i) {
      ahead.ahead_of = static_cast<std::int32_t>(i + 1);
      load_segments_ahead(pass, later[i], ahead, in_turn);
    }
  };
  const auto load_rows = [&](bool in_turn) {
    open_items(builder, pass.loops);
    load(in_turn);
    close_items(builder, pass.loops);
  };
  const bool places_of_all = (several || flat) && !pass.prepared.gathers.empty();
  if (places_of_all) {
    own.places = ahead.places = true;
    load_rows(false);
    own.places = ahead.places = false;
  }
  load_rows(!places_of_all);
  if (!flat && (several || in_rounds)) {
    own.without = ahead.without = row_variables(pass);
    own.with = ahead.with = {};
    if (pass.loads_all || in_rounds) own.stay = Stay::kernel;
    load(true);
  }
  builder.issue(builder.row_depth);
}

// ---- the walk

/// Outputs of a map that have fewer elements than the others: the first threads store them, the others are idle.
void store_smaller_outputs(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::ExprId element = pass.loops.kept;
  for (const std::int32_t output : phase.outputs) {
    const ir::Shape& shape = builder.graph()[pass.prepared.stored[output]].shape;
    const std::int64_t count = elements(shape);
    if (builder.refusal() || is_of_elements(pass.prepared, output)) continue;
    if (build.pool()[element].range.low >= count) continue;  // none of it lies here
    if (!pass.plan.value_cache) builder.forget_values();
    const ir::Condition inside{build.expand(element), build.constant(count), false};
    builder.open_guard({&inside, 1});
    builder.parts_of_vectors = count % std::max(pass.loops.results.vector, pass.plan.vector) != 0;
    builder.store_output(output, delinearize_memory(build, shape, build.narrow(element, {0, count - 1})));
    builder.parts_of_vectors = false;
    builder.close();
  }
}

/// That the thread has the first vector of a chunk.
ir::Condition has_first_of(Pass& pass, std::int64_t chunk, const Segment& segment) {
  IndexBuilder& build = pass.builder.build();
  return {build.mod(pass.loops.digits[Side::along][Level::lane], chunk / segment.vector), build.constant(0), true};
}

/// The first lane of a chunk stores what is one number of it.
void store_of_chunk(Pass& pass, std::int32_t output, const Segment& segment) {
  ProgramBuilder& builder = pass.builder;
  const std::int64_t chunk = chunk_of_output(pass.prepared, output);
  const ir::Condition first = has_first_of(pass, chunk, segment);
  if (!pass.plan.value_cache) builder.forget_values();
  builder.store_output(output, chunk_coordinates(pass, output, segment.along), 0,
                       {&first, chunk > segment.vector ? 1U : 0U});
}

/// Values of elements go to a reduction's accumulators; those of a chunk by its first element alone.
void add_to_sums(Pass& pass, const Slots& slots, const Segment& segment, std::span<const ir::ValueId> values) {
  ProgramBuilder& builder = pass.builder;
  std::vector<ir::Condition> first;
  if (const std::int64_t chunk = chunk_read_by(pass, slots.reduce); chunk > 0) {
    if (segment.vector > 1) first.push_back({builder.build().var(segment.element), builder.build().constant(0), true});
    if (chunk > segment.vector) first.push_back(has_first_of(pass, chunk, segment));
  }
  if (!first.empty()) builder.open_guard(first);
  builder.combine(slots.reduce, accumulator_refs(pass, slots), values, rising_array(pass, slots.reduce, segment));
  if (!first.empty()) builder.close();
}

void walk_section(Pass& pass, const Phase& phase, const Segment& segment) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  const auto emit = [&](ir::NodeId reduction, std::size_t array) {
    if (!pass.plan.value_cache) builder.forget_values();
    return builder.emit_value(graph[reduction].operands[array], read_coordinates(pass, reduction, segment.along));
  };
  open_section(builder, segment);
  std::vector<ir::ValueId> values;
  for (const Slots& slots : slots_of(pass, phase)) {
    values.clear();
    for (std::size_t k = 0; k < slots.end - slots.first && !builder.refusal(); ++k)
      values.push_back(emit(slots.reduce, k).compute.id);
    if (builder.refusal()) continue;
    add_to_sums(pass, slots, segment, values);
  }
  for (const ir::NodeId scan : phase.left)
    if (!builder.refusal()) builder.emit_value(scan, read_coordinates(pass, scan, segment.along));
  for (const ir::NodeId sum : phase.across)
    if (!builder.refusal() && reads_elements(pass.prepared, sum)) add_across(pass, sum, emit(sum, 0));
  for (const std::int32_t output : phase.outputs) {
    if (builder.refusal() || !goes_over(pass.prepared, output)) continue;
    if (chunk_of_output(pass.prepared, output) > 0) {
      store_of_chunk(pass, output, segment);
      continue;
    }
    for (std::int32_t window = 0; window < pass.prepared.windows[output].count && !builder.refusal(); ++window) {
      if (!pass.plan.value_cache) builder.forget_values();
      const std::optional<Demand> element = element_coordinates(pass, output, segment.along, window);
      if (element) builder.store_output(output, element->coordinates, element->predicate);
    }
  }
  if (pass.mapping.is_flat()) store_smaller_outputs(pass, phase);
  close_section(builder, segment);
}

/// Threads of rows that do not exist exchange lanes and meet like all others where something is put together in the
/// walk: then what else they do is under a guard of its own, and not all.
void open_beside_walked(Pass& pass) {
  if (!pass.walked.empty()) open_existing(pass.builder, pass.loops);
}
void close_beside_walked(Pass& pass) {
  if (!pass.walked.empty()) close_existing(pass.builder, pass.loops);
}

void walk_segment(Pass& pass, const Phase& phase, const Segment& segment) {
  ProgramBuilder& builder = pass.builder;
  builder.enter_segment(&segment);
  open_trips(builder, segment, false, goes_backward(pass, phase));
  if (pass.mapping.in_parts) {
    ProgramBuilder::Flight flight;
    flight.stay = Stay::section;
    flight.depth = builder.depth();
    open_beside_walked(pass);
    load_section_in_turn(pass, phase, segment, flight);
    builder.issue(builder.depth());
    close_beside_walked(pass);
  }
  put_section_together(pass, segment);
  open_beside_walked(pass);
  walk_section(pass, phase, segment);
  close_beside_walked(pass);
  leave_section(pass);
  builder.land(Stay::section);
  close_trips(builder, segment, false);
  builder.enter_segment(nullptr);
}

/// Sums of numbers of rows get this row's, in every lane of it.
void add_row_numbers(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  const ir::Graph& graph = builder.graph();
  for (const ir::NodeId sum : phase.across) {
    if (builder.refusal() || reads_elements(pass.prepared, sum)) continue;
    const ir::NodeId number = graph[sum].operands[0];
    const Coordinates coordinates = delinearize(builder.build(), graph[number].shape, pass.loops.kept);
    add_across(pass, sum, builder.emit_value(number, coordinates));
  }
}

// ---- phases

/// From here on the threads that need them have the results: all of them, or the first group where results lie side by
/// side and no phase walks again; where blocks that do not meet share items, in the last of them alone.
void finish_reductions(Pass& pass, const Phase& phase, bool walks_again) {
  const bool for_all = walks_again || !pass.has_results_side_by_side();
  const bool meets = pass.extent(Side::along, Level::grid) > 1, bundles = pass.prepared.bundle > 1;
  combine_threads(pass, phase, for_all && !meets && !bundles);
  if (pass.ends_to_meet()) return void(pass.handover->parts.push_back(store_parts(pass)));
  if (meets) meet_blocks(pass, phase, for_all && !bundles);
  if (pass.shares_apart()) join_blocks(pass, phase);
  put_bundles_together(pass, phase, for_all);
  name_results(pass, phase);
}

/// What a thread does of its items: the numbers that are due, then the walk.
void go_over(Pass& pass, const Phase& phase, bool stores_numbers) {
  const auto walk = [&] {
    for (const Segment& segment : pass.loops.segments()) walk_segment(pass, phase, segment);
  };
  open_items(pass.builder, pass.loops);
  if (stores_numbers) store_numbers(pass, phase);
  add_row_numbers(pass, phase);
  if (phase.walks && pass.walked.empty()) walk();
  close_items(pass.builder, pass.loops);
  if (!phase.walks || pass.walked.empty()) return;
  open_flight(pass.builder, pass.loops);
  begin_scans(pass);
  walk();
  close_flight(pass.builder);
}

bool stands_before(const ir::Home& a, const ir::Home& b) { return a.node < b.node; }

void run_phase(Pass& pass, std::size_t number, std::vector<ir::Home>& kept_before) {
  ProgramBuilder& builder = pass.builder;
  const Phase& phase = pass.prepared.phases[number];
  const std::vector<ir::Home> wanted = pass.kept.phases.empty() ? std::vector<ir::Home>() : pass.kept.phases[number];
  std::vector<ir::Home> keeping;
  std::set_difference(wanted.begin(), wanted.end(), kept_before.begin(), kept_before.end(), std::back_inserter(keeping),
                      stands_before);
  declare_accumulators(pass, phase);
  const bool flat = pass.mapping.is_flat(), side_by_side = !flat && pass.has_results_side_by_side();
  const bool is_joined = !pass.shares_apart() || number > 0;  // else all blocks that share items would store
  const std::vector<ir::Home> shared = read_elsewhere_in(pass, number, kept_before);
  builder.share(shared);
  if (is_joined && side_by_side) store_numbers_side_by_side(pass, phase);
  builder.keep(keeping);
  find_walked(pass, phase, kept_before);
  if (phase.walks && !pass.mapping.in_parts) load_rows_ahead(pass, number);
  std::vector<ir::Home> computed;  // inputs kept in registers are there by now
  std::copy_if(keeping.begin(), keeping.end(), std::back_inserter(computed),
               [&](const ir::Home& home) { return is_in_shared(home.level) || !builder.is_loaded(home.node); });
  builder.keep(computed);
  go_over(pass, phase, is_joined && !side_by_side && !flat);
  if (!builder.refusal()) store_row_numbers(pass);
  builder.keep({});
  builder.share({});
  builder.land(Stay::phase);
  const auto walks = [](const Phase& later) { return later.walks; };
  const bool walks_again = std::any_of(pass.prepared.phases.begin() + static_cast<std::ptrdiff_t>(number) + 1,
                                       pass.prepared.phases.end(), walks);
  if (!phase.reductions.empty()) finish_reductions(pass, phase, walks_again);
  meet_readers(pass, number, keeping);
  if (!is_joined && side_by_side) store_numbers_side_by_side(pass, phase);
  if (!is_joined && !side_by_side) {
    open_existing(builder, pass.loops);
    store_numbers(pass, phase);
    close_existing(builder, pass.loops);
  }
  kept_before.insert(kept_before.end(), keeping.begin(), keeping.end());
  std::sort(kept_before.begin(), kept_before.end(), stands_before);
}

/// Whether all inputs of the rows in flight, and what is kept of them, fit half of the registers that a thread of such
/// a block can have; the other half is for what is computed.
bool fit_registers(const Pass& pass) {
  const ir::Graph& graph = pass.builder.graph();
  const std::int64_t per_thread = trips(pass.mapping) * pass.plan.vector, flight = pass.plan.in_flight;
  std::int64_t bytes = 0;
  for (const Phase& phase : pass.prepared.phases)
    for (const ir::NodeId sum : phase.across) bytes += across_bytes(pass.prepared, pass.mapping, sum);
  const auto add = [&](ir::NodeId id) {
    const ir::Shape& shape = graph[id].shape;
    if (elements(shape) < pass.prepared.columns) return;  // a number a row
    bytes += per_thread * (pass.prepared.full[id] ? flight : 1) * std::max(row(shape.dtype).bits / 8, 1);
  };
  for (const ir::NodeId id : parameters(graph)) add(id);
  for (const std::vector<ir::Home>& phase : pass.kept.phases)
    for (const ir::Home& home : phase)
      if (home.level == ir::StitchLevel::registers && graph[home.node].op != ir::Op::parameter) add(home.node);
  constexpr std::int64_t register_bytes = 4;
  return bytes <= register_bytes * registers_for(pass.limits, pass.plan.threads, pass.plan.min_blocks) / 2;
}

/// Outputs of another size than the domain's. Those of one row are stored by its lanes, behind its last reduction.
void store_reduced_aside(Pass& pass) {
  if (pass.prepared.reduced_aside.empty()) return;
  open_existing(pass.builder, pass.loops);
  const std::int64_t threads = pass.threads_on(Side::along), blocks = meeting_blocks(pass.mapping);
  const ir::ExprId thread = pass.builder.build().add_scaled(thread_on(pass, Side::along), pass.loops.rank, threads);
  store_aside(pass.builder, pass.prepared, pass.prepared.reduced_aside, thread, threads * blocks);
  close_existing(pass.builder, pass.loops);
}

/// Whether any of these phases goes over its elements.
bool walks_in(std::span<const Phase> phases) {
  return std::any_of(phases.begin(), phases.end(), [](const Phase& phase) { return phase.walks; });
}

/// The phases of the launch at hand: all that are not done, or up to the first whose reductions blocks put together by
/// ending it.
std::span<const Phase> phases_of_launch(const Pass& pass) {
  const std::span<const Phase> left = std::span<const Phase>(pass.prepared.phases).subspan(pass.handover->done);
  if (!pass.ends_to_meet()) return left;
  const auto ends =
      std::find_if(left.begin(), left.end(), [](const Phase& phase) { return !phase.reductions.empty(); });
  return ends == left.end() ? left : left.first(static_cast<std::size_t>(ends - left.begin()) + 1);
}

/// What launches before this one have reduced.
void take_over(Pass& pass, bool for_all) {
  auto parts = pass.handover->parts.begin();
  for (const Phase& phase : std::span(pass.prepared.phases).first(pass.handover->done)) {
    if (phase.reductions.empty()) continue;
    declare_accumulators(pass, phase);
    put_together(pass, phase, *parts++, for_all && pass.prepared.bundle == 1);
    put_bundles_together(pass, phase, for_all);
    name_results(pass, phase);
  }
}

void run_phases(Pass& pass) {
  const std::size_t first = pass.handover->done, end = first + phases_of_launch(pass).size();
  std::vector<ir::Home> kept_before;
  for (std::size_t i = first; i < end && !pass.builder.refusal(); ++i) {
    pass.builder.later_loads = i > first;
    run_phase(pass, i, kept_before);
  }
  pass.handover->done = end;
  if (end < pass.prepared.phases.size()) return;
  store_reduced_aside(pass);
  if (pass.mapping.is_flat() && rest(pass.mapping) != 0 && !pass.builder.refusal()) {
    pass.loops = make_tail(pass.builder, pass.mapping, pass.loops);
    go_over(pass, pass.prepared.phases[0], false);
  }
}

}  // namespace

Coordinates result_coordinates(Pass& pass, ir::NodeId reduce, ir::ExprId kept) {
  IndexBuilder& build = pass.builder.build();
  const ir::Dims& gone = axes(pass.builder.graph()[reduce]);
  return kept_coordinates(
      coordinates_at(build, order_of(pass, reduce), reduced_along(pass, reduce), kept, build.constant(0)), gone);
}

std::optional<ir::Rejection> lower_phases(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                          const ir::Limits& limits, Handover& handover) {
  if (prepared.turn) {
    handover.done = prepared.phases.size();
    return lower_turn(builder, prepared, plan, limits);
  }
  KeptHomes own;
  Pass pass{builder, prepared, plan, limits, mapping(prepared, plan, limits), kept_by(prepared, plan.homes, own)};
  pass.handover = &handover;
  const bool is_first = handover.done == 0, walks = walks_in(phases_of_launch(pass));
  if (!is_first && !walks) pass.mapping[Side::along].extents[Level::grid] = 1;  // a block each puts parts together
  if (prepared.sums_across) deal_families(pass);
  const bool spans = pass.mapping.in_parts && !pass.shares_apart() && has_level(plan.homes, ir::StitchLevel::registers);
  pass.loops = make_loops(builder, pass.mapping, spans);
  builder.row_places = places_of(pass);
  pass.loads_all = !pass.mapping.in_parts && !pass.mapping.is_flat() && fit_registers(pass);
  if (prepared.fill != nullptr) builder.put_wait();
  if (!is_first) {
    for (const ir::Buffer& workspace : handover.workspaces) builder.add_buffer(workspace);
    builder.put_wait();
    take_over(pass, walks || !pass.has_results_side_by_side());
  }
  if (is_first && !prepared.free_aside.empty())
    store_aside(builder, prepared, prepared.free_aside,
                builder.build().add_scaled(pass.loops.thread, pass.loops.block, plan.threads),
                builder.kernel().virtual_blocks * plan.threads);
  const bool in_rounds = pass.loops.round != 0;
  if (in_rounds && pass.loads_all) load_for_all_rounds(pass);
  if (prepared.sums_across) begin_across(pass);
  run_phases(pass);
  if (auto refused = refuse_unread(pass)) return refused;
  if (pass.shares_apart()) builder.close();
  if (pass.extent(Side::along, Level::cluster) > 1)
    builder.put_barrier(ir::StitchLevel::cluster, pass.parted ? ir::Half::wait : ir::Half::both);
  // The next tile writes partial results again, and what others have read.
  if ((pass.combined || !builder.found_elsewhere.empty()) && (plan.grid == ir::GridShape::persistent || in_rounds))
    builder.put_barrier();
  if (prepared.sums_across && !builder.refusal()) end_across(pass);
  if (handover.done == prepared.phases.size()) return builder.refusal();
  const std::vector<ir::Buffer>& buffers = builder.kernel().buffers;
  handover.workspaces.assign(
      std::find_if(buffers.begin(), buffers.end(),
                   [](const ir::Buffer& buffer) { return buffer.role == ir::BufferRole::workspace; }),
      buffers.end());
  return builder.refusal();
}

}  // namespace tailor::codegen
