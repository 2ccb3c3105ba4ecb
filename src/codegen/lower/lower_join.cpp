// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Putting together what threads of a block, and blocks that share items, have reduced. In: a pass whose accumulators
// hold each thread's sums. Out: statements after which the threads that need them hold the results. Called by
// lower_phases.cpp and lower_across.cpp.
//
// How follows from the levels that what is reduced is dealt to. Lanes exchange by shuffles; where a region puts values
// together, by exchanges of each of its arrays, and in the end those who go on take what the first lane has: a region
// may give others when its arguments change places. Groups (warps of a row,
// groups of lanes of a column) exchange through shared memory, behind one barrier for all reductions of a phase. Blocks
// of a cluster that shares rows do the same: the barrier is the cluster's, and the lanes of each group read the parts
// of all groups of all blocks, so a block needs no barrier of its own. Where they share columns, lanes have columns of
// their own: each block puts its groups together first, and then every thread reads what the blocks have for its
// columns. Other blocks exchange through a workspace: the one that comes last goes on, or all of them
// meet at a barrier of the grid, where each adds up all parts.
//
// Where parts lie follows from the side whose neighbours are neighbours in memory. Of a row the parts of all groups lie
// side by side, so that a thread reads several with one access; of a column those of neighbouring lanes do, vector by
// vector. As long as there are more accesses than sixteen, the first half of the groups adds to its own what the second
// half has; the rest is added in the order of the groups. In the last block the groups, or lanes, of each item add
// parts in turns, and then together as before. So the order of additions is the same in each run, and all threads of a
// row get the same number.
//
// Blocks that do not meet find out which of them is last by a ticket (kernel.h has the contract). A barrier ends the
// block's writing. One thread fences, takes a number from the tile's ticket, fences again and tells the number to the
// others through shared memory. Behind another barrier everyone hears it, and the guard asks whether it is the last
// number there is. The block that passes gives the ticket back at once: nobody else will ask for it in this run. Which
// block that is differs from run to run; what it reads and in which order does not.
#include <algorithm>
#include <numeric>

#include "codegen/lower/lower_phases.h"
#include "ir/graph/region_reduction.h"

namespace tailor::codegen {

namespace {

/// Accesses to partial results that one thread makes in a row: few enough to be on their way together.
constexpr std::int64_t most_accesses = 16;

void start_again(Pass& pass, const Slots& slots) {
  open_elements(pass.builder, pass.loops);
  const ir::Node& reduce = pass.builder.graph()[slots.reduce];
  for (std::size_t i = slots.first; i < slots.end; ++i)
    set(pass.builder, accumulator_ref(pass, i), pass.builder.start_of_sum(reduce, i - slots.first));
  close_elements(pass.builder, pass.loops);
}

// ---- groups of one block

/// Where shared memory has a group's part of what this thread has, of the row in flight.
ir::ExprId slot_of(Pass& pass, ir::ExprId group) {
  IndexBuilder& build = pass.builder.build();
  const std::int64_t items = pass.threads_on(Side::kept), groups = pass.extent(Side::along, Level::group);
  ir::ExprId item = thread_on(pass, Side::kept);
  if (pass.has_results_side_by_side())
    return build.scale(build.add_scaled(item, group, items), pass.loops.results.vector);
  if (pass.builder.in_flight_rows > 1) item = build.add_scaled(item, pass.builder.row_in_flight, items);
  return build.add_scaled(group, item, groups);
}

ir::ArrayId add_partials_array(Pass& pass, std::size_t i) {
  ProgramBuilder& builder = pass.builder;
  const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
  return builder.add_shared(accumulator.name + (pass.has_results_side_by_side() ? "_groups" : "_warps"),
                            accumulator.dtype,
                            pass.threads_on(Side::kept) * builder.in_flight_rows * accumulator.vector *
                                pass.extent(Side::along, Level::group));
}

/// The accumulator goes to its group's slot, by the first of the lanes that have the same.
void store_partial(Pass& pass, std::size_t i, ir::ArrayId partials) {
  ProgramBuilder& builder = pass.builder;
  const bool shares = pass.extent(Side::along, Level::lane) > 1;
  const ir::Condition first_lane{pass.loops.digits[Side::along][Level::lane], builder.build().constant(0), true};
  if (shares) builder.open_guard({&first_lane, 1});
  const ir::ExprId at = slot_of(pass, pass.loops.digits[Side::along][Level::group]);
  store_accumulator(pass, i, ir::Space::shared, partials, at,
                    std::min(pass.loops.results.vector, widest_access(accumulator_type(pass, i))));
  if (shares) builder.close();
}

/// Elements that a thread loads at once from the parts of one item: of the parts of a row as many as an access takes.
int piece_of(const Pass& pass, const Slots& slots, std::int64_t groups) {
  if (pass.has_results_side_by_side()) return pass.loops.results.vector;
  std::int64_t piece = groups;
  for (std::size_t i = slots.first; i < slots.end; ++i)
    piece = std::gcd(piece, widest_access(accumulator_type(pass, i)));
  return static_cast<int>(piece);
}

/// The parts from `group` on, as many as a piece has, are added to the accumulators.
void add_piece(Pass& pass, const Slots& slots, ir::ExprId group, int piece) {
  const ir::VarId element = pass.has_results_side_by_side() ? pass.loops.results.element : 0;
  add_from_shared(pass, slots, accumulator_refs(pass, slots), pass.partials, slot_of(pass, group), piece, element,
                  "part");
}

/// The accumulators become the sums of the first `groups` parts.
void add_partials(Pass& pass, const Slots& slots, std::int64_t groups) {
  ProgramBuilder& builder = pass.builder;
  const int piece = piece_of(pass, slots, groups), parts = pass.has_results_side_by_side() ? 1 : piece;
  start_again(pass, slots);
  if (groups == parts) return add_piece(pass, slots, builder.build().constant(0), piece);
  const ir::VarId part = builder.loop_var("p", groups / parts);
  builder.open_loop(part, true);
  add_piece(pass, slots, builder.build().scale(builder.build().var(part), parts), piece);
  builder.close();
}

/// The first half of the groups adds what the second half has, and so on while there are many. Returns how many groups
/// have parts then.
std::int64_t halve_groups(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const ir::ExprId own = pass.loops.digits[Side::along][Level::group];
  std::int64_t left = pass.extent(Side::along, Level::group);
  if (!pass.has_results_side_by_side()) return left;
  for (; left > most_accesses && left % 2 == 0; left /= 2) {
    const ir::Condition first_half{own, build.constant(left / 2), false};
    builder.open_guard({&first_half, 1});
    const ir::ExprId other = build.add_constant(build.narrow(own, {0, left / 2 - 1}), left / 2);
    for (const Slots& slots : slots_of(pass, phase)) {
      add_piece(pass, slots, build.expand(other), pass.loops.results.vector);
      for (std::size_t i = slots.first; i < slots.end; ++i) store_partial(pass, i, pass.partials[i]);
    }
    builder.close();
    builder.put_barrier();
  }
  return left;
}

/// Of all accumulators, of all rows in flight.
void store_partials(Pass& pass) {
  open_flight(pass.builder, pass.loops);
  for (std::size_t i = 0; i < pass.accumulators.size(); ++i) {
    if (pass.partials.size() == i) pass.partials.push_back(add_partials_array(pass, i));
    store_partial(pass, i, pass.partials[i]);
  }
  close_flight(pass.builder);
}

void combine_groups(Pass& pass, const Phase& phase, bool for_all) {
  ProgramBuilder& builder = pass.builder;
  store_partials(pass);
  builder.put_barrier();
  const std::int64_t left = halve_groups(pass, phase);
  const ir::Condition first{pass.loops.digits[Side::along][Level::group], builder.build().constant(0), true};
  open_flight(builder, pass.loops);
  if (!for_all) builder.open_guard({&first, 1});
  for (const Slots& slots : slots_of(pass, phase)) add_partials(pass, slots, left);
  if (!for_all) builder.close();
  close_flight(builder);
  pass.combined = true;
}

/// The values that the accumulators of other lanes hold.
std::vector<ir::ValueId> exchanged(Pass& pass, const Slots& slots, std::int64_t stride) {
  ProgramBuilder& builder = pass.builder;
  std::vector<ir::ValueId> own, other;
  for (std::size_t i = slots.first; i < slots.end; ++i)
    own.push_back(builder.element(accumulator_type(pass, i), accumulator_ref(pass, i), builder.depth()).id);
  for (const ir::ValueId value : own)
    other.push_back(
        builder.exchange(builder.name_of(slots.reduce) + "_other", value, stride, pass.extent(Side::along, Level::lane))
            .id);
  return other;
}

/// Neighbours first: the first lane puts together what all lanes have in their order.
void exchange_lanes(Pass& pass, const Slots& slots, bool for_all) {
  const std::vector<ir::Ref> sums = accumulator_refs(pass, slots);
  for (std::int64_t stride = 1; stride < pass.extent(Side::along, Level::lane); stride *= 2)
    pass.builder.combine(slots.reduce, sums, exchanged(pass, slots, stride));
  if (!for_all) return;
  const std::vector<ir::ValueId> first = exchanged(pass, slots, 0);
  for (std::size_t k = 0; k < sums.size(); ++k) set(pass.builder, sums[k], first[k]);
}

/// `for_all`: each lane has the results then, else the first one.
void combine_lanes(Pass& pass, const Phase& phase, bool for_all) {
  const std::int64_t lanes = pass.extent(Side::along, Level::lane);
  if (lanes == 1) return;
  open_flight(pass.builder, pass.loops);
  for (const Slots& slots : slots_of(pass, phase)) {
    const ir::Graph& graph = pass.builder.graph();
    const std::vector<ir::Reducer> known = ir::known_reducers(graph, graph[slots.reduce]);
    if (known.empty()) exchange_lanes(pass, slots, for_all);
    for (std::size_t k = 0; k < known.size(); ++k) {
      ir::Stmt shuffle;
      shuffle.kind = ir::StmtKind::shuffle;
      shuffle.op = op_of(known[k]);
      shuffle.target = accumulator_ref(pass, slots.first + k);
      shuffle.lanes = static_cast<std::uint8_t>(lanes);
      pass.builder.put(pass.builder.depth(), shuffle);
    }
  }
  close_flight(pass.builder);
}

// ---- blocks of a cluster

/// Adds up what blocks have at a place of these arrays, one for each accumulator. `place` and `rank` go by the turns.
void add_up_in_cluster(Pass& pass, const Phase& phase, const Turns& turns, const std::vector<ir::ArrayId>& arrays,
                       ir::ExprId place, ir::ExprId rank) {
  IndexBuilder& build = pass.builder.build();
  std::vector<Addition> additions;
  for (const Slots& slots : slots_of(pass, phase)) {
    for (std::size_t i = slots.first; i < slots.end; ++i)
      additions.push_back({slots.reduce,
                           accumulator_ref(pass, i),
                           ir::Space::distributed,
                           arrays[i],
                           build.expand(place),
                           std::min(pass.loops.results.vector, widest_access(accumulator_type(pass, i))),
                           {},
                           build.expand(rank)});
    start_again(pass, slots);
  }
  add_up(pass.builder, pass.loops, turns, additions);
}

/// Every group's part waits in its block. The lanes of each group read those of all groups of all blocks, in turns.
void combine_cluster(Pass& pass, const Phase& phase) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t groups = pass.extent(Side::along, Level::group);
  store_partials(pass);
  builder.put_barrier(ir::StitchLevel::cluster);
  const Turns turns =
      make_turns(builder, pass.extent(Side::along, Level::cluster) * groups,
                 pass.loops.digits[Side::along][Level::lane], pass.extent(Side::along, Level::lane), most_accesses);
  const auto [rank, group] = build.divide(turns.part, groups);
  open_flight(builder, pass.loops);
  add_up_in_cluster(pass, phase, turns, pass.partials, slot_of(pass, group), rank);
  close_flight(builder);
  combine_lanes(pass, phase, true);
}

/// Columns: the first group of each block has its sums, and leaves them for all blocks of the cluster.
void combine_columns_of_cluster(Pass& pass, const Phase& phase, bool for_all) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const bool several = pass.extent(Side::along, Level::group) > 1;
  if (several) combine_groups(pass, phase, false);
  const ir::Condition first{pass.loops.digits[Side::along][Level::group], build.constant(0), true};
  const ir::ExprId place = build.expand(build.scale(thread_on(pass, Side::kept), pass.loops.results.vector));
  const std::vector<ir::ArrayId> sums = leave_sums(pass, "block");
  builder.put_barrier(ir::StitchLevel::cluster);
  const Turns turns =
      make_turns(builder, pass.extent(Side::along, Level::cluster), build.constant(0), 1, most_accesses);
  if (several && !for_all) builder.open_guard({&first, 1});
  add_up_in_cluster(pass, phase, turns, sums, place, turns.part);
  if (several && !for_all) builder.close();
}

}  // namespace

void open_first_rank(Pass& pass) {
  const ir::Condition first{pass.loops.rank, pass.builder.build().constant(0), true};
  if (meeting_blocks(pass.mapping) > 1) pass.builder.open_guard({&first, 1});
}
void close_first_rank(Pass& pass) {
  if (meeting_blocks(pass.mapping) > 1) pass.builder.close();
}

void combine_threads(Pass& pass, const Phase& phase, bool for_all) {
  const bool clusters = pass.extent(Side::along, Level::cluster) > 1,
             groups = pass.extent(Side::along, Level::group) > 1;
  combine_lanes(pass, phase, !clusters && !groups);
  if (clusters && pass.has_results_side_by_side()) return combine_columns_of_cluster(pass, phase, for_all);
  if (clusters) return combine_cluster(pass, phase);
  if (groups) combine_groups(pass, phase, for_all);
}

// ---- blocks

Turns make_turns(ProgramBuilder& builder, std::int64_t count, ir::ExprId thread, std::int64_t threads,
                 std::int64_t most) {
  IndexBuilder& build = builder.build();
  const std::int64_t all = (count + threads - 1) / threads;
  Turns turns;
  turns.outer = (all + most - 1) / most;
  turns.together = (all + turns.outer - 1) / turns.outer;
  if (turns.together > 1) turns.turn = builder.loop_var("y", turns.together);
  if (turns.together > 1) turns.part = turns.own = build.var(turns.turn);
  if (turns.outer > 1) turns.round = builder.loop_var("s", turns.outer);
  if (turns.outer > 1) turns.part = build.add_scaled(turns.own, build.var(turns.round), turns.together);
  turns.part = build.add_scaled(thread, turns.part, threads);
  turns.ragged = turns.outer * turns.together * threads != count;
  turns.exists = {turns.part, build.constant(count), false};
  if (turns.ragged) turns.part = build.narrow(turns.part, {0, count - 1});
  return turns;
}

void add_up(ProgramBuilder& builder, const Loops& loops, const Turns& turns, std::vector<Addition>& additions) {
  if (turns.outer > 1) builder.open_loop(turns.round, false);
  for (Addition& one : additions) {
    const ir::Array sum = builder.kernel().arrays[one.sum.array];
    const std::string name = builder.name_of(one.reduce) + "_part";
    one.loaded.array = builder.add_array({name, ir::Space::registers, sum.dtype, {turns.together, 0}, sum.vector});
    one.loaded.subs[0] = turns.own;
    if (turns.results.count > 1) one.loaded.lane = one.sum.lane;
    builder.declare(builder.depth(), one.loaded.array);
  }
  const AtOnce& results = turns.results;
  const bool several = results.count > 1;
  const auto for_parts = [&](auto emit) {
    if (several) builder.open_loop(results.own, true);
    if (several && results.ragged) builder.open_guard({&results.exists, 1});
    if (turns.together > 1) builder.open_loop(turns.turn, true);
    if (turns.ragged) builder.open_guard({&turns.exists, 1});
    for (Addition& one : additions) emit(one);
    if (turns.ragged) builder.close();
    if (turns.together > 1) builder.close();
    if (several && results.ragged) builder.close();
    if (several) builder.close();
  };
  for_parts([&](const Addition& one) {
    const ir::Policy policy = one.space == ir::Space::global ? ir::Policy::reload : ir::Policy::once;
    if (!several)
      return builder.load_pieces(builder.depth(), one.loaded, one.space, one.memory, one.place, one.width,
                                 builder.kernel().arrays[one.sum.array].vector, policy, one.rank);
    ir::Stmt load;
    load.kind = ir::StmtKind::load;
    load.target = one.loaded;
    load.space = one.space;
    load.memory = one.memory;
    load.expr = one.place;
    load.policy = policy;
    builder.put(builder.depth(), load);
  });
  if (additions.front().space == ir::Space::global && results.count * turns.together * std::ssize(additions) > 1) {
    ir::Stmt issue;
    issue.kind = ir::StmtKind::issue;
    builder.put(builder.depth(), issue);
  }
  std::vector<ir::Ref> sums;
  std::vector<ir::ValueId> values;
  for_parts([&](Addition& one) {
    const ir::Array sum = builder.kernel().arrays[one.sum.array];
    const bool elements = sum.vector > 1 && !several;
    if (sums.empty() && elements) open_elements(builder, loops);
    one.loaded.lane = one.sum.lane;
    sums.push_back(one.sum);
    values.push_back(builder.element(sum.dtype, one.loaded, builder.depth()).id);
    if (sums.size() < ir::reduced_count(builder.graph()[one.reduce])) return;  // the others follow
    builder.combine(one.reduce, sums, values);
    if (elements) close_elements(builder, loops);
    sums.clear();
    values.clear();
  });
  if (turns.outer > 1) builder.close();
}

int first_group(Pass& pass, std::array<ir::Condition, 2>& conditions) {
  int count = 0;
  if (pass.threads_on(Side::along) > 1)
    conditions[count++] = {thread_on(pass, Side::along), pass.builder.build().constant(0), true};
  if (pass.loops.ragged) conditions[count++] = pass.loops.exists;
  return count;
}

namespace {

/// Which of the blocks that exchange through a workspace this one is.
ir::ExprId own_part(Pass& pass) {
  return pass.shares_apart() ? pass.loops.digits[Side::along][Level::block] : pass.loops.rank;
}

/// Where the workspace has a part of what this thread has.
ir::ExprId place_of(Pass& pass, ir::ExprId part) {
  IndexBuilder& build = pass.builder.build();
  if (!pass.has_results_side_by_side()) return build.expand(build.add_scaled(part, pass.loops.kept, pass.plan.split));
  ir::ExprId kept = pass.loops.kept;
  if (pass.loops.results.vector > 1) kept = build.subtract(kept, build.var(pass.loops.results.element));
  return build.expand(build.add_scaled(kept, part, pass.mapping[Side::kept].size));
}

/// Elements of one access to a workspace.
int workspace_width(const Pass& pass, std::size_t i) {
  int width = std::min(pass.loops.results.vector, widest_access(accumulator_type(pass, i)));
  while (pass.mapping[Side::kept].size % width != 0) width /= 2;
  return width;
}

}  // namespace

std::vector<ir::BufferId> store_parts(Pass& pass) {
  ProgramBuilder& builder = pass.builder;
  std::vector<ir::BufferId> parts;
  std::array<ir::Condition, 2> conditions{};
  const int count = first_group(pass, conditions);
  open_flight(builder, pass.loops);
  if (count > 0) builder.open_guard(std::span(conditions).first(count));
  for (std::size_t i = 0; i < pass.accumulators.size(); ++i) {
    const ir::Array accumulator = builder.kernel().arrays[pass.accumulators[i]];
    parts.push_back(
        builder.add_buffer({accumulator.name + "_parts", accumulator.dtype,
                            pass.plan.split * pass.mapping[Side::kept].size, ir::BufferRole::workspace, ir::no_id}));
    store_accumulator(pass, i, ir::Space::global, parts.back(), place_of(pass, own_part(pass)),
                      workspace_width(pass, i));
  }
  if (count > 0) builder.close();
  close_flight(builder);
  return parts;
}

namespace {

/// The accumulators of each thread become the sums of the parts that are its turn: it is number `thread` of so many.
void add_parts(Pass& pass, const Phase& phase, const std::vector<ir::BufferId>& parts, ir::ExprId thread,
               std::int64_t threads) {
  ProgramBuilder& builder = pass.builder;
  const Turns turns = make_turns(builder, pass.plan.split, thread, threads, parts_together);
  open_flight(builder, pass.loops);
  std::vector<Addition> additions;
  for (const Slots& slots : slots_of(pass, phase)) {
    for (std::size_t i = slots.first; i < slots.end; ++i)
      additions.push_back({slots.reduce, accumulator_ref(pass, i), ir::Space::global, parts[i],
                           place_of(pass, turns.part), workspace_width(pass, i)});
    start_again(pass, slots);
  }
  open_existing(builder, pass.loops);
  add_up(builder, pass.loops, turns, additions);
  close_existing(builder, pass.loops);
  close_flight(builder);
}

}  // namespace

void join_blocks(Pass& pass, const Phase& phase) {
  const std::vector<ir::BufferId> parts = store_parts(pass);
  const auto& blocks = [&](Side side) { return pass.loops.digits[side][Level::block]; };
  open_meeting(pass, blocks(Side::kept), blocks(Side::along), pass.extent(Side::kept, Level::block),
               pass.extent(Side::along, Level::block));
  add_parts(pass, phase, parts, thread_on(pass, Side::along), pass.threads_on(Side::along));
  combine_threads(pass, phase, pass.mapping.fast == Side::along);
}

void meet_blocks(Pass& pass, const Phase& phase, bool for_all) {
  ProgramBuilder& builder = pass.builder;
  const std::vector<ir::BufferId> parts = store_parts(pass);
  if (pass.ticket == ir::no_id)
    pass.ticket = builder.add_buffer(
        {"ticket", ir::DType::u32, pass.extent(Side::kept, Level::block), ir::BufferRole::ticket, ir::no_id});
  builder.put_meeting(pass.ticket, pass.loops.digits[Side::kept][Level::block], pass.loops.rank);
  put_together(pass, phase, parts, for_all);
}

/// Lanes of a row add up the parts in turns, each group of them for itself, so that no barrier of the block follows.
/// Groups of a column have each their turns.
void put_together(Pass& pass, const Phase& phase, const std::vector<ir::BufferId>& parts, bool for_all) {
  if (pass.has_results_side_by_side()) {
    add_parts(pass, phase, parts, thread_on(pass, Side::along), pass.threads_on(Side::along));
    return combine_threads(pass, phase, for_all);
  }
  add_parts(pass, phase, parts, pass.loops.digits[Side::along][Level::lane], pass.extent(Side::along, Level::lane));
  combine_lanes(pass, phase, true);
}

namespace {

// ---- the last of several blocks

/// What a block shares with others: `split` blocks have a part each of one of `tiles` tiles.
struct SharedTile {
  ir::ExprId tile = 0, part = 0;  ///< of the block
  std::int64_t tiles = 1, split = 1;
  std::array<ir::Condition, 2> first_thread{};  ///< conditions that one thread of the block meets
  int conditions = 0;
};

void open_first_thread(ProgramBuilder& builder, const SharedTile& shared) {
  if (shared.conditions > 0) builder.open_guard(std::span(shared.first_thread).first(shared.conditions));
}
void close_first_thread(ProgramBuilder& builder, const SharedTile& shared) {
  if (shared.conditions > 0) builder.close();
}

/// Opens the guard of the block that comes last and leaves it open: in it, all parts are in memory and can be read by
/// every thread, and the ticket is back at zero. Ends with a barrier behind the open guard's question, so that shared
/// memory may be written again.
void open_last_block(ProgramBuilder& builder, const SharedTile& shared) {
  IndexBuilder& build = builder.build();
  const ir::BufferId ticket =
      builder.add_buffer({"ticket", ir::DType::u32, shared.tiles, ir::BufferRole::ticket, ir::no_id});
  const ir::ArrayId number = builder.add_shared("number", ir::DType::u32, 1);
  builder.put_barrier();
  open_first_thread(builder, shared);
  const auto change = [&](ir::Op op, int by) {
    ir::Stmt atomic;
    atomic.kind = ir::StmtKind::atomic;
    atomic.op = op;
    atomic.memory = ticket;
    atomic.expr = shared.tile;
    atomic.value = builder.number(ir::DType::u32, 0, by).id;
    return atomic;
  };
  ir::Stmt fence;
  fence.kind = ir::StmtKind::fence;
  builder.put(builder.depth(), fence);
  ir::Stmt take = change(ir::Op::add, 1);
  const ir::ValueId taken = builder.define(take, "taken", ir::DType::u32);
  builder.put(builder.depth(), take);
  builder.put(builder.depth(), fence);
  put_store(builder, ir::Space::shared, number, build.constant(0), taken);
  close_first_thread(builder, shared);
  builder.put_barrier();
  ir::Stmt hear;
  hear.kind = ir::StmtKind::load;
  hear.space = ir::Space::shared;
  hear.memory = number;
  hear.expr = build.constant(0);
  ir::Value last;
  last.kind = ir::ValueKind::op;
  last.op = ir::Op::compare;
  last.comparison = ir::Comparison::eq;
  last.dtype = ir::DType::pred;
  last.operands[0] = builder.define(hear, "arrived", ir::DType::u32);
  builder.put(builder.depth(), hear);
  last.operands[1] = builder.number(ir::DType::u32, 0, shared.split - 1).id;
  builder.open_agreed(builder.add_value(last), {shared.part, build.constant(shared.split - 1), true});
  open_first_thread(builder, shared);
  builder.put(builder.depth(), change(ir::Op::minimum, 0));
  close_first_thread(builder, shared);
}

}  // namespace

void open_meeting(Pass& pass, ir::ExprId tile, ir::ExprId part, std::int64_t tiles, std::int64_t split) {
  SharedTile shared{tile, part, tiles, split};
  if (pass.plan.threads > 1)
    shared.first_thread[shared.conditions++] = {pass.builder.build().expand(pass.loops.thread),
                                                pass.builder.build().constant(0), true};
  open_last_block(pass.builder, shared);
}

}  // namespace tailor::codegen
