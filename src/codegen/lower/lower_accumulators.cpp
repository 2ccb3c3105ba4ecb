// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Accumulators of the phase at hand: an array of registers for each array that its reductions reduce. In: a pass and a
// phase. Out: their declarations, references to their elements, where finished results are found, which way the phase
// goes, and whether places rise; of columns in bundles the results of bundles in place of those of columns. Called by
// lower_phases.cpp and lower_join.cpp.
//
// Bundles. The first group of lanes has the sums of its block's columns, of all blocks that meet. These go to shared
// memory, a thread for each bundle puts its columns together, and every thread takes what its columns' bundles have:
// two barriers for all reductions of a phase. To add up a bundle in each thread that needs it would take as many loads
// as a bundle has columns for each element of a vector.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/lower/lower_phases.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

namespace {

/// Whether it is no known whole number, or one above the first place.
bool starts_behind(const ir::Node& start) {
  const ir::Literal* known = ir::known_literal(start);
  if (known == nullptr || known->bytes.empty()) return true;
  const bool is_negative = (known->bytes.back() & std::byte{0x80}) != std::byte{0};
  return !is_negative &&
         std::any_of(known->bytes.begin(), known->bytes.end(), [](std::byte b) { return b != std::byte{0}; });
}

/// Whether an array of whole numbers says of each element where it stands along a dimension.
bool are_places(const ir::Graph& graph, ir::NodeId id, std::int64_t dim) {
  const ir::Node& node = graph[id];
  if (!ir::is_signed(node.shape.dtype) || row(node.shape.dtype).bits < 32) return false;
  if (node.op == ir::Op::iota) return axis(node) == dim;
  if (node.op != ir::Op::broadcast) return false;
  for (int from = 0; from < graph[node.operands[0]].shape.rank(); ++from)
    if (axes(node)[from] == dim) return are_places(graph, node.operands[0], from);
  return false;
}

/// Whether the index grows with each step of the loops around a section's elements, the outer ones first.
bool rises(const Pass& pass, const Segment& segment, ir::ExprId index) {
  const ir::IndexPool& pool = pass.builder.build().pool();
  std::vector<ir::VarId> loops;
  for (int i = 0; i < segment.trip_loops; ++i) loops.push_back(segment.trips[static_cast<std::size_t>(i)]);
  if (segment.vector > 1) loops.push_back(segment.element);
  std::int64_t inner = 0;  // how far the loops within take it
  for (std::size_t i = loops.size(); i-- > 0;) {
    std::int64_t step = 0;
    for (const ir::Linear& linear : pool.linear(pass.builder.build().expand(index))) {
      const ir::Term& term = pool.terms[linear.term];
      if (!term.vars.has(loops[i])) continue;
      if (term.kind != ir::TermKind::var) return false;
      step += linear.coefficient;
    }
    if (step <= inner) return false;
    inner += step * (pool.vars[loops[i]].extent - 1);
  }
  return true;
}

}  // namespace

int rising_array(Pass& pass, ir::NodeId reduction, const Segment& segment) {
  const ir::Graph& graph = pass.builder.graph();
  const ir::Node& reduce = graph[reduction];
  if (&segment != pass.loops.segments().data() || axes(reduce).size() != 1 || !pass.walked.empty()) return -1;
  for (std::size_t k = 0; k < ir::reduced_count(reduce); ++k) {
    const ir::Node& start = graph[reduce.operands[ir::reduced_count(reduce) + k]];
    if (!are_places(graph, reduce.operands[k], axes(reduce)[0]) || starts_behind(start)) continue;
    const Coordinates at = read_coordinates(pass, reduction, segment.along);
    if (rises(pass, segment, at[static_cast<int>(axes(reduce)[0])])) return static_cast<int>(k);
  }
  return -1;
}

bool goes_backward(const Pass& pass, const Phase& phase) {
  const auto is_scan = [](const Pass::Walked& walked) { return walked.chunk == 0; };
  if (std::ranges::any_of(pass.walked, is_scan)) return pass.prepared.scans_backward;
  const Phase* const first = pass.prepared.phases.data();
  return pass.mapping.in_parts && phase.reductions.empty() && phase.across.empty() &&
         std::any_of(first, &phase, [](const Phase& before) { return before.walks; });
}

void declare_accumulators(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  pass.accumulators.clear();
  pass.partials.clear();
  for (const ir::NodeId id : phase.reductions) {
    const ir::Node& reduce = builder.graph()[id];
    const std::size_t count = ir::reduced_count(reduce);
    for (std::size_t k = 0; k < count; ++k) {
      const ir::DType dtype = count == 1 ? reduce.shape.dtype : reduce.results[k].dtype;
      ir::Array array{pass.prepared.names[id] + (count == 1 ? "" : fmt::format("_{}", k)),
                      ir::Space::registers,
                      row(dtype).compute,
                      {0, 0},
                      pass.loops.results.vector};
      if (builder.in_flight_rows > 1) array.dims[0] = builder.in_flight_rows;
      pass.accumulators.push_back(builder.add_array(array));
      builder.declare(builder.row_depth, pass.accumulators.back(), builder.start_of_sum(reduce, k));
    }
  }
}

void name_results(Pass& pass, const Phase& phase) {
  for (const Slots& slots : slots_of(pass, phase))
    for (std::size_t i = slots.first; i < slots.end; ++i)
      pass.builder.state().accumulators.push_back(
          {slots.reduce, result_coordinates(pass, slots.reduce, pass.loops.kept), pass.accumulators[i],
           pass.builder.depth(), accumulator_ref(pass, i).lane, i - slots.first});
}

ir::Ref accumulator_ref(const Pass& pass, std::size_t i) {
  ir::Ref ref;
  ref.array = pass.accumulators[i];
  if (pass.builder.in_flight_rows > 1) ref.subs[0] = pass.builder.row_in_flight;
  if (pass.loops.results.vector > 1) ref.lane = pass.builder.build().var(pass.loops.results.element);
  return ref;
}

std::vector<ir::Ref> accumulator_refs(const Pass& pass, const Slots& slots) {
  std::vector<ir::Ref> refs;
  for (std::size_t i = slots.first; i < slots.end; ++i) refs.push_back(accumulator_ref(pass, i));
  return refs;
}

std::vector<Slots> slots_of(const Pass& pass, const Phase& phase) {
  std::vector<Slots> all;
  std::size_t first = 0;
  for (const ir::NodeId id : phase.reductions) {
    const std::size_t end = first + ir::reduced_count(pass.builder.graph()[id]);
    all.push_back({id, first, end});
    first = end;
  }
  return all;
}

ir::Dims reduced_along(const Pass& pass, ir::NodeId reduction) {
  const ir::Graph& graph = pass.builder.graph();
  const ir::Node& reduce = graph[reduction];
  if (pass.prepared.bundle == 1) return walked_axes(reduce);
  return reduced_of_bundles(graph[reduce.operands[0]].shape, walked_axes(reduce));
}

ir::DType accumulator_type(const Pass& pass, std::size_t i) {
  return pass.builder.kernel().arrays[pass.accumulators[i]].dtype;
}

void set(ProgramBuilder& builder, const ir::Ref& sum, ir::ValueId value) {
  ir::Stmt assign;
  assign.kind = ir::StmtKind::assign;
  assign.target = sum;
  assign.value = value;
  builder.put(builder.depth(), assign);
}

void put_store(ProgramBuilder& builder, ir::Space space, std::uint16_t memory, ir::ExprId at, ir::ValueId value) {
  ir::Stmt store;
  store.kind = ir::StmtKind::store;
  store.space = space;
  store.memory = memory;
  store.expr = at;
  store.value = value;
  builder.put(builder.depth(), store);
}

void store_accumulator(Pass& pass, std::size_t i, ir::Space space, std::uint16_t memory, ir::ExprId at, int width) {
  ProgramBuilder& builder = pass.builder;
  const int vector = pass.loops.results.vector;
  const ir::Ref sum = accumulator_ref(pass, i);
  if (vector > 1) return builder.store_pieces(builder.depth(), false, sum, space, memory, at, width, vector);
  put_store(builder, space, memory, at, builder.element(accumulator_type(pass, i), sum, builder.depth()).id);
}

void add_from_shared(Pass& pass, const Slots& slots, std::vector<ir::Ref> sums, std::span<const ir::ArrayId> memory,
                     ir::ExprId at, int piece, ir::VarId element, std::string_view what) {
  ProgramBuilder& builder = pass.builder;
  std::vector<ir::Ref> parts;
  for (std::size_t i = slots.first; i < slots.end; ++i) {
    const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
    ir::Ref& part = parts.emplace_back();
    part.array = builder.add_array(
        {fmt::format("{}_{}", accumulator.name, what), ir::Space::registers, accumulator.dtype, {0, 0}, piece});
    builder.declare(builder.depth(), part.array);
    builder.load_pieces(builder.depth(), part, ir::Space::shared, memory[i], builder.build().expand(at),
                        std::min(piece, widest_access(accumulator.dtype)), piece, ir::Policy::once);
  }
  if (piece > 1 && element == 0) element = builder.loop_var("w", piece);
  if (piece > 1) builder.open_loop(element, true);
  std::vector<ir::ValueId> values;
  for (ir::Ref& part : parts) {
    if (piece > 1) part.lane = builder.build().var(element);
    values.push_back(builder.element(builder.kernel().arrays[part.array].dtype, part, builder.depth()).id);
  }
  builder.combine(slots.reduce, sums, values);
  if (piece > 1) builder.close();
}

std::vector<ir::ArrayId> leave_sums(Pass& pass, std::string_view what) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::Condition first{pass.loops.digits[Side::along][Level::group], build.constant(0), true};
  const bool several = pass.extent(Side::along, Level::group) > 1;
  const ir::ExprId place = build.expand(build.scale(thread_on(pass, Side::kept), pass.loops.results.vector));
  std::vector<ir::ArrayId> arrays;
  if (several) builder.open_guard({&first, 1});
  for (std::size_t i = 0; i < pass.accumulators.size(); ++i) {
    const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
    arrays.push_back(builder.add_shared(fmt::format("{}_{}", accumulator.name, what), accumulator.dtype,
                                        pass.threads_on(Side::kept) * accumulator.vector));
    store_accumulator(pass, i, ir::Space::shared, arrays.back(), place,
                      std::min(pass.loops.results.vector, widest_access(accumulator.dtype)));
  }
  if (several) builder.close();
  return arrays;
}

// ---- columns in bundles

void open_first_of_bundle(Pass& pass) {
  if (pass.prepared.bundle == 1) return;
  IndexBuilder& build = pass.builder.build();
  // The compiler would solve an equation for the vector's element, and pick that by a number of the thread from local
  // memory.
  const ir::Condition first{build.divide(pass.loops.kept, pass.prepared.bundle).second, build.constant(1), false};
  pass.builder.open_guard({&first, 1});
}
void close_first_of_bundle(Pass& pass) {
  if (pass.prepared.bundle > 1) pass.builder.close();
}

namespace {

/// The thread puts together the columns of bundle number `bundle` of the tile, where it had a column's: it reads what
/// it needs of these behind.
void add_bundle(Pass& pass, const Slots& slots, ir::ExprId bundle, std::span<const ir::ArrayId> columns,
                std::span<const ir::ArrayId> bundles) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  constexpr int most_unrolled = 16;
  const std::int64_t size = pass.prepared.bundle;
  std::int64_t width = size;
  std::vector<ir::Ref> sums = accumulator_refs(pass, slots);
  for (std::size_t i = slots.first; i < slots.end; ++i) {
    ir::Ref& sum = sums[i - slots.first];
    if (pass.loops.results.vector > 1) sum.lane = build.constant(0);
    set(builder, sum, builder.start_of_sum(builder.graph()[slots.reduce], i - slots.first));
    width = std::gcd(width, std::int64_t{widest_access(accumulator_type(pass, i))});
  }
  const int piece = static_cast<int>(width);
  const ir::VarId turn = size > piece ? builder.loop_var("b", size / piece) : 0;
  if (size > piece) builder.open_loop(turn, size / piece <= most_unrolled);
  ir::ExprId at = build.scale(bundle, size);
  if (size > piece) at = build.add_scaled(at, build.var(turn), piece);
  add_from_shared(pass, slots, sums, columns, at, piece, 0, "column");
  if (size > piece) builder.close();
  for (std::size_t k = 0; k < sums.size(); ++k)
    put_store(builder, ir::Space::shared, bundles[slots.first + k], build.expand(bundle),
              builder.element(accumulator_type(pass, slots.first + k), sums[k], builder.depth()).id);
}

/// The block's threads put together `count` bundles, in turns where these are more.
void add_bundles(Pass& pass, const Phase& phase, std::span<const ir::ArrayId> columns,
                 std::span<const ir::ArrayId> bundles, std::int64_t count) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t threads = std::min<std::int64_t>(pass.plan.threads, count);
  const Turns turns = make_turns(builder, count, pass.loops.thread, threads, 1);
  const ir::Condition has_one{build.expand(pass.loops.thread), build.constant(threads), false};
  if (threads < pass.plan.threads) builder.open_guard({&has_one, 1});
  if (turns.outer > 1) builder.open_loop(turns.round, false);
  if (turns.ragged) builder.open_guard({&turns.exists, 1});
  for (const Slots& slots : slots_of(pass, phase)) add_bundle(pass, slots, turns.part, columns, bundles);
  if (turns.ragged) builder.close();
  if (turns.outer > 1) builder.close();
  if (threads < pass.plan.threads) builder.close();
  builder.put_barrier();
}

/// Each thread, or each of the first group, takes the results of the bundles that its columns are of.
void take_bundles(Pass& pass, std::span<const ir::ArrayId> bundles, bool for_all) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::Condition first_group{pass.loops.digits[Side::along][Level::group], build.constant(0), true};
  const bool guarded = !for_all && pass.extent(Side::along, Level::group) > 1;
  if (guarded) builder.open_guard({&first_group, 1});
  open_elements(builder, pass.loops);
  ir::ExprId column = build.scale(thread_on(pass, Side::kept), pass.loops.results.vector);
  if (pass.loops.results.vector > 1) column = build.add(column, build.var(pass.loops.results.element));
  for (std::size_t i = 0; i < pass.accumulators.size(); ++i) {
    ir::Stmt load;
    load.kind = ir::StmtKind::load;
    load.target = accumulator_ref(pass, i);
    load.space = ir::Space::shared;
    load.memory = bundles[i];
    load.expr = build.expand(build.divide(column, pass.prepared.bundle).first);
    builder.put(builder.depth(), load);
  }
  close_elements(builder, pass.loops);
  if (guarded) builder.close();
}

}  // namespace

void put_bundles_together(Pass& pass, const Phase& phase, bool for_all) {
  if (pass.prepared.bundle == 1) return;
  ProgramBuilder& builder = pass.builder;
  const std::int64_t count = taken_together(pass.mapping) / pass.prepared.bundle;
  const std::vector<ir::ArrayId> columns = leave_sums(pass, "columns");
  std::vector<ir::ArrayId> bundles;
  for (const ir::ArrayId id : pass.accumulators) {
    const ir::Array accumulator = builder.kernel().arrays[id];
    bundles.push_back(builder.add_shared(accumulator.name + "_bundles", accumulator.dtype, count));
  }
  builder.put_barrier();
  add_bundles(pass, phase, columns, bundles, count);
  take_bundles(pass, bundles, for_all);
}

// ---- numbers of rows and columns

namespace {

/// Where an output with a number for each row or column holds number `kept`: by a reduction from which the numbers
/// lead there one to one, the dominant before others.
Coordinates number_coordinates(Pass& pass, std::int32_t output, ir::ExprId kept) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  const std::pair<ir::NodeId, IndexedVector<Route>>* way = nullptr;
  for (const auto& candidate : pass.prepared.result_routes) {
    const bool leads =
        candidate.second[output].found &&
        (pass.mapping.fast == Side::kept || domain_of(graph, graph[candidate.first]) == pass.prepared.domain);
    if (leads && (way == nullptr || candidate.first == pass.plan.dominant)) way = &candidate;
  }
  if (way == nullptr) {  // a number that no reduction leads to: of the row that the column is a part of
    const ir::ExprId row_at = build.divide(kept, pass.prepared.bundle).first;
    return delinearize_memory(build, graph[pass.prepared.stored[output]].shape, row_at);
  }
  return follow(build, graph, way->second[output], result_coordinates(pass, way->first, kept));
}

/// Whether lanes of a row can store the numbers of its rows in flight, one each.
bool stores_together(const Pass& pass, std::int32_t output) {
  const int flight = pass.builder.in_flight_rows;
  return flight > 1 && pass.extent(Side::along, Level::lane) >= flight &&
         is_floating(pass.builder.graph()[pass.prepared.stored[output]].shape.dtype);
}

}  // namespace

void store_numbers(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  for (const std::int32_t output : phase.outputs) {
    if (goes_over(pass.prepared, output) || builder.refusal()) continue;
    if (!pass.plan.value_cache) builder.forget_values();
    const Coordinates coordinates = number_coordinates(pass, output, pass.loops.kept);
    if (stores_together(pass, output))
      pass.row_numbers.push_back({output, builder.keep_row_number(output, coordinates)});
    else if (pass.has_results_side_by_side())
      builder.store_output(output, coordinates);
    else {
      open_first_rank(pass);
      builder.store_output(output, coordinates);
      close_first_rank(pass);
    }
  }
}

void store_numbers_side_by_side(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  std::array<ir::Condition, 2> conditions{};
  const int count = first_group(pass, conditions);
  builder.enter_segment(&pass.loops.results);
  open_first_rank(pass);
  if (count > 0) builder.open_guard(std::span(conditions).first(count));
  open_elements(builder, pass.loops);
  open_first_of_bundle(pass);
  store_numbers(pass, phase);
  close_first_of_bundle(pass);
  close_elements(builder, pass.loops);
  if (count > 0) builder.close();
  close_first_rank(pass);
  builder.enter_segment(nullptr);
}

void store_row_numbers(Pass& pass) {
  if (pass.row_numbers.empty()) return;
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const int flight = builder.in_flight_rows;
  std::vector<ir::Condition> conditions;
  const ir::ExprId own = pass.loops.digits[Side::along][Level::lane];
  if (pass.extent(Side::along, Level::group) > 1)
    conditions.push_back({pass.loops.digits[Side::along][Level::group], build.constant(0), true});
  if (meeting_blocks(pass.mapping) > 1) conditions.push_back({pass.loops.rank, build.constant(0), true});
  ir::ExprId lane = own;
  if (build.pool()[lane].range.high >= flight) {
    conditions.push_back({lane, build.constant(flight), false});
    lane = build.narrow(lane, {0, flight - 1});
  }
  const std::int64_t stride = stride_of(pass.mapping, Side::kept, Level::flight);
  const ir::ExprId first = build.subtract(pass.loops.number, build.scale(builder.row_in_flight, stride));
  ir::ExprId row = build.add_scaled(first, lane, stride);
  if (pass.loops.ragged) {
    conditions.push_back({row, build.constant(units(pass.mapping, Side::kept)), false});
    row = build.narrow(row, {0, units(pass.mapping, Side::kept) - 1});
  }
  row = row_of_set(builder, pass.mapping, pass.loops, row);
  for (const Pass::RowNumber& number : pass.row_numbers)
    builder.store_picked(number.output, number.array, own, number_coordinates(pass, number.output, row), conditions);
  pass.row_numbers.clear();
}

}  // namespace tailor::codegen
