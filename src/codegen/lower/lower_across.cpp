// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums across the rows of a row kernel. In: a row pass with its loops. Out: statements that add up while rows go by,
// and the kernel's end. Called by lower_phases.cpp.
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
// Blocks meet twice (lower_join.cpp). One block that adds up the parts of all would read as many times the results as
// there are blocks, alone, while the others are done. So blocks are families, as many as each has members: the last of
// a family adds up its members' parts, and the last of these the families' parts. Each adds in the order of numbers, so
// results are the same in each run. What stands behind a meeting stands in its guard. Few blocks are one family.
//
// Sets. Where sums are of several sets of rows (RowSets), a block has rows of one, and the blocks of a set meet apart
// from others. A set that one block has needs no meeting: the lanes' columns go through shared memory alone. Sums of
// all rows beside such sums are put together of all blocks, after them.
#include "codegen/lower/lower_across.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/counted.h"
#include "codegen/lower/lower_slots.h"
#include "ir/graph/reducer.h"

namespace tailor::codegen {

namespace {

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

/// Adds up the parts of results of sums that have equally many, and returns where the thread holds each. Their loads
/// travel together, for a block that waits for the sums one by one waits as often.
std::vector<ir::ArrayId> add_parts(Pass& pass, std::span<const std::size_t> sums, const std::vector<Parts>& all,
                                   const AtOnce& at_once) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  Turns turns = make_turns(builder, all[sums.front()].count, build.constant(0), 1,
                           std::max<std::int64_t>(1, loads_together / std::ssize(sums) / at_once.count));
  turns.results = at_once;
  std::vector<Addition> additions;
  std::vector<ir::ArrayId> wholes;
  for (const std::size_t i : sums) {
    const Pass::Across& across = pass.across[i];
    wholes.push_back(builder.add_array({pass.prepared.names[across.sum] + "_all",
                                        ir::Space::registers,
                                        type_of(pass.prepared, across.sum),
                                        {0, 0},
                                        static_cast<int>(at_once.count)}));
    builder.declare(builder.depth(), wholes.back(), builder.start_of_sum(builder.graph()[across.sum]));
    Addition& one = additions.emplace_back(Addition{across.sum, {}, all[i].space, all[i].memory});
    one.sum.array = wholes.back();
    if (at_once.count > 1) one.sum.lane = build.var(at_once.own);
    one.place =
        build.expand(build.add_scaled(at_once.result, build.add(all[i].first, turns.part), across.columns.width()));
  }
  add_up(builder, pass.loops, turns, additions);
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
Coordinates late_coordinates(Pass& pass, std::int32_t output, ir::ExprId result) {
  IndexBuilder& build = pass.builder.build();
  const ir::Graph& graph = pass.builder.graph();
  for (const Pass::Across& across : pass.across)
    for (const auto& [sum, routes] : pass.prepared.result_routes)
      if (sum == across.sum && routes[output].found)
        return follow(build, graph, routes[output], result_at(build, graph, graph[sum], result));
  return delinearize_memory(build, graph[pass.prepared.stored[output]].shape, result);
}

/// Sums with equally many results, by their places in Pass::across, and what is late of the same number.
struct Results {
  bool of_set = false;
  std::int64_t width = 1;  ///< results of each sum, of each set
  std::vector<std::size_t> sums;
  std::vector<std::int32_t> outputs;
};

/// The number of a result among those of all sets.
ir::ExprId among_sets(Pass& pass, const Results& results, ir::ExprId own) {
  return results.of_set ? pass.builder.build().add_scaled(own, pass.loops.set, results.width) : own;
}

/// One of the sums that a late value is made of; all of them are of sets, or none.
const Pass::Across& sum_behind(const Pass& pass, ir::NodeId late) {
  std::vector<ir::NodeId> left = {late};
  for (std::size_t i = 0; i < left.size(); ++i) {
    const auto sum = std::ranges::find(pass.across, left[i], &Pass::Across::sum);
    if (sum != pass.across.end()) return *sum;
    for (const ir::NodeId operand : (*pass.prepared.graph)[left[i]].operands)
      if (std::ranges::find(left, operand) == left.end()) left.push_back(operand);
  }
  return pass.across.front();
}

/// Of one set each, or of all rows.
std::vector<Results> results_of(const Pass& pass, bool of_set) {
  std::vector<Results> all;
  const std::int64_t sets = of_set ? pass.mapping.sets.count() : 1;
  const auto of_width = [&](std::int64_t width) -> Results& {
    for (Results& results : all)
      if (results.width == width) return results;
    return all.emplace_back(Results{of_set, width, {}, {}});
  };
  for (std::size_t i = 0; i < pass.across.size(); ++i)
    if (pass.across[i].of_set == of_set) of_width(pass.across[i].columns.width()).sums.push_back(i);
  for (const std::int32_t output : pass.prepared.late_outputs) {
    const ir::NodeId stored = pass.prepared.stored[output];
    if (sum_behind(pass, stored).of_set == of_set)
      of_width(elements((*pass.prepared.graph)[stored].shape) / sets).outputs.push_back(output);
  }
  return all;
}

/// Results that a thread adds up at once: as many as it takes to have loads_together on their way, so that a block with
/// more results than threads waits as seldom as it can.
std::int64_t results_at_once(const Results& results, const std::vector<Parts>& parts, std::int64_t turns) {
  std::int64_t loads = 0;
  for (const std::size_t i : results.sums) loads += parts[i].count;
  std::int64_t count = 1;
  while (loads > 0 && 2 * count * loads <= loads_together && 2 * count <= turns) count *= 2;
  return count;
}

/// A sum's results become known to what is made of them, or go to its workspace, from number `to` on.
void leave_result(Pass& pass, const Results& results, std::size_t i, ir::ArrayId whole, const AtOnce& at_once,
                  const std::vector<ir::BufferId>& workspaces, ir::ExprId to) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const Pass::Across& across = pass.across[i];
  ir::Ref ref;
  ref.array = whole;
  if (at_once.count > 1) ref.lane = build.var(at_once.own);
  if (workspaces.empty()) {
    const ir::Node& sum = builder.graph()[across.sum];
    builder.state().accumulators.push_back(
        {across.sum, result_at(build, builder.graph(), sum, among_sets(pass, results, at_once.result)), whole,
         builder.depth(), ref.lane});
    return;
  }
  put_store(builder, ir::Space::global, workspaces[i],
            build.expand(build.add_scaled(at_once.result, to, across.columns.width())),
            builder.element(type_of(pass.prepared, across.sum), ref, builder.depth()).id);
}

/// Threads add up parts of their results. What comes of it goes to workspaces, from number `to` on, or is stored.
void put_together(Pass& pass, const Results& results, const std::vector<Parts>& parts,
                  const std::vector<ir::BufferId>& workspaces, ir::ExprId to) {
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t threads = pass.plan.threads, all = (results.width + threads - 1) / threads;
  AtOnce at_once;
  at_once.count = results_at_once(results, parts, all);
  const std::int64_t turns = (all + at_once.count - 1) / at_once.count;
  const ir::VarId turn = builder.loop_var("j", turns);
  at_once.result = build.expand(pass.loops.thread);
  if (turns > 1) at_once.result = build.add_scaled(at_once.result, build.var(turn), at_once.count * threads);
  if (at_once.count > 1) {
    at_once.own = builder.loop_var("k", at_once.count);
    at_once.result = build.add_scaled(at_once.result, build.var(at_once.own), threads);
  }
  at_once.ragged = turns * at_once.count * threads != results.width;
  at_once.exists = {at_once.result, build.constant(results.width), false};
  if (at_once.ragged) at_once.result = build.narrow(at_once.result, {0, results.width - 1});
  const auto open_results = [&](bool several) {
    if (several && at_once.count > 1) builder.open_loop(at_once.own, true);
    if (several == (at_once.count > 1) && at_once.ragged) builder.open_guard({&at_once.exists, 1});
  };
  const auto close_results = [&](bool several) {
    if (several == (at_once.count > 1) && at_once.ragged) builder.close();
    if (several && at_once.count > 1) builder.close();
  };
  if (turns > 1) builder.open_loop(turn, false);
  open_results(false);
  std::vector<std::pair<std::size_t, ir::ArrayId>> wholes;
  for (std::span<const std::size_t> left = results.sums; !left.empty();) {
    const std::span<const std::size_t> some = left.first(beside(left, parts));
    const std::vector<ir::ArrayId> added = add_parts(pass, some, parts, at_once);
    for (std::size_t k = 0; k < some.size(); ++k) wholes.emplace_back(some[k], added[k]);
    left = left.subspan(some.size());
  }
  open_results(true);
  for (const auto& [sum, whole] : wholes) leave_result(pass, results, sum, whole, at_once, workspaces, to);
  if (workspaces.empty())
    for (const std::int32_t output : results.outputs) {
      if (builder.refusal()) break;
      if (!pass.plan.value_cache) builder.forget_values();
      builder.store_output(output, late_coordinates(pass, output, among_sets(pass, results, at_once.result)));
    }
  close_results(true);
  close_results(false);
  if (turns > 1) builder.close();
}

/// Blocks whose parts are put together: those of each set for itself, or all for the sums of all rows.
struct Gathering {
  std::vector<Results> results;
  std::int64_t sets = 1;
  std::int64_t blocks = 1;  ///< of each set
  std::int64_t family = 1;  ///< of these, which meet first; divides them
};

/// Calls f with the place of each of its sums in Pass::across.
void for_sums(const Gathering& of, const auto& f) {
  for (const Results& results : of.results)
    for (const std::size_t i : results.sums) f(i);
}

/// Workspaces for `count` parts of each of its sums, by their places in Pass::across.
std::vector<ir::BufferId> add_workspaces(Pass& pass, const Gathering& of, std::string_view who, std::int64_t count) {
  std::vector<ir::BufferId> workspaces(pass.across.size(), ir::no_id);
  for_sums(of, [&](std::size_t i) {
    const Pass::Across& across = pass.across[i];
    workspaces[i] = pass.builder.add_buffer({fmt::format("{}_{}", pass.prepared.names[across.sum], who),
                                             type_of(pass.prepared, across.sum), count * across.columns.width(),
                                             ir::BufferRole::workspace, ir::no_id});
  });
  return workspaces;
}

std::vector<Parts> parts_in(const std::vector<ir::BufferId>& workspaces, std::int64_t count, ir::ExprId first) {
  std::vector<Parts> parts;
  for (const ir::BufferId id : workspaces) parts.push_back({ir::Space::global, id, count, first});
  return parts;
}

/// The lanes' parts of a sum go to shared memory.
Parts leave_slots(Pass& pass, std::size_t i) {
  const ir::ArrayId slots = store_slots(pass, pass.across[i]);
  return {ir::Space::shared, slots, slots_of(pass, pass.across[i]), pass.builder.build().constant(0)};
}

/// Writes the block's part of each sum to its workspace: straight from the lanes, or once the parts of its rows or
/// warps were added up through shared memory.
void store_block(Pass& pass, const Gathering& of, const std::vector<ir::BufferId>& workspaces) {
  ProgramBuilder& builder = pass.builder;
  std::vector<Parts> parts(pass.across.size());
  bool shared = false;
  for_sums(of, [&](std::size_t i) {
    if (is_dealt_out(pass, pass.across[i]))
      return store_columns(pass, pass.across[i], ir::Space::global, workspaces[i],
                           builder.build().scale(pass.loops.block, pass.prepared.columns));
    parts[i] = leave_slots(pass, i);
    shared = true;
  });
  if (shared) builder.put_barrier();
  for (Results results : of.results) {
    std::erase_if(results.sums, [&](std::size_t i) { return is_dealt_out(pass, pass.across[i]); });
    if (!results.sums.empty()) put_together(pass, results, parts, workspaces, pass.loops.block);
  }
}

void put_all_together(Pass& pass, const Gathering& of, const std::vector<Parts>& parts,
                      const std::vector<ir::BufferId>& workspaces, ir::ExprId to) {
  for (const Results& results : of.results) put_together(pass, results, parts, workspaces, to);
}

/// One block has all parts.
void end_alone(Pass& pass, const Gathering& of) {
  std::vector<Parts> parts(pass.across.size());
  for_sums(of, [&](std::size_t i) { parts[i] = leave_slots(pass, i); });
  pass.builder.put_barrier();
  put_all_together(pass, of, parts, {}, 0);
}

void end_together(Pass& pass, const Gathering& of) {
  if (of.blocks == 1) return end_alone(pass, of);
  ProgramBuilder& builder = pass.builder;
  IndexBuilder& build = builder.build();
  const std::int64_t families = of.blocks / of.family;
  const auto [family, member] = build.divide(pass.loops.block, of.family);
  const std::vector<ir::BufferId> of_blocks = add_workspaces(pass, of, "blocks", of.sets * of.blocks);
  store_block(pass, of, of_blocks);
  open_meeting(pass, family, member, of.sets * families, of.family);
  const std::vector<Parts> parts = parts_in(of_blocks, of.family, build.scale(family, of.family));
  if (families == 1) {
    put_all_together(pass, of, parts, {}, 0);
    return builder.close();
  }
  const std::vector<ir::BufferId> of_families = add_workspaces(pass, of, "families", of.sets * families);
  put_all_together(pass, of, parts, of_families, family);
  const auto [set, number] = build.divide(family, families);
  open_meeting(pass, set, number, of.sets, families);
  put_all_together(pass, of, parts_in(of_families, families, build.scale(set, families)), {}, 0);
  builder.close();
  builder.close();
}

/// Of so many blocks: as many as there are families then, or more; all, where they are few.
std::int64_t family_of(std::int64_t blocks) {
  constexpr std::int64_t most_alone = 16;
  if (blocks <= most_alone) return blocks;
  return static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(blocks))));
}

/// The same, which divides them.
std::int64_t whole_family_of(std::int64_t blocks) {
  std::int64_t family = family_of(blocks);
  while (blocks % family != 0) ++family;
  return family;
}

}  // namespace

std::int64_t across_bytes(const Prepared& prepared, const Mapping& mapping, ir::NodeId sum) {
  const AcrossSum* of = across_of(prepared, sum);
  const Held held = held_of(of == nullptr ? Folding{} : of->columns, mapping);
  return held.trips * (held.by_element ? extent(mapping, Side::along, Level::vector) : 1) *
         row(type_of(prepared, sum)).bits / 8;
}

std::optional<ir::Rejection> refuse_across(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                                           const Mapping& mapping) {
  if (plan.split > 1) return ir::Rejection{"split", "rows that are added up across are not shared by blocks", true};
  const bool keeps_places =
      std::ranges::any_of(prepared.across, [](const auto& sum) { return !sum.second.columns.is_one(); });
  if (keeps_places && rest(mapping) != 0)
    return ir::Rejection{"vector",
                         fmt::format("rows of {} are no whole number of vectors of {}: lanes would have other columns "
                                     "of each row",
                                     prepared.columns, plan.vector),
                         true};
  if (!can_fold(prepared, taken_together(mapping), plan.vector))
    return ir::Rejection{"fold",
                         fmt::format("{} lanes with vectors of {} have no equal parts of what is added up together",
                                     plan.threads_per_row, plan.vector),
                         true};
  const std::int64_t resident = blocks_of_set(mapping.sets, std::int64_t{plan.blocks_per_sm} * limits.sms);
  if (plan.grid == ir::GridShape::persistent && tiles(mapping) <= resident)
    return ir::Rejection{
        "persistent",
        fmt::format("{} for {}{}: nothing to loop over", counted(tiles(mapping), "tile"),
                    counted(resident, "resident block"), mapping.sets.count() > 1 ? " of a set of rows" : ""),
        true};
  return std::nullopt;
}

void begin_across(Pass& pass) {
  ProgramBuilder& builder = pass.builder;
  const Segment& body = pass.loops.segments().front();
  for (const Phase& phase : pass.prepared.phases)
    for (const ir::NodeId sum : phase.across) {
      Pass::Across& across = pass.across.emplace_back();
      across.sum = sum;
      if (const AcrossSum* of = across_of(pass.prepared, sum)) {
        across.columns = of->columns;
        across.of_set = of->sets.count() > 1;
      } else {
        across.of_elements = false;
      }
      ir::Array array{pass.prepared.names[sum] + "_own", ir::Space::registers, type_of(pass.prepared, sum), {0, 0}, 1};
      const Held held = held_of(across.columns, pass.mapping);
      if (held.trips > 1) array.dims[0] = static_cast<int>(held.trips);
      if (held.by_element) array.vector = body.vector;
      across.array = builder.add_array(std::move(array));
      builder.declare(0, across.array, builder.start_of_sum(builder.graph()[sum]));
      builder.kept_bytes += across_bytes(pass.prepared, pass.mapping, sum);
    }
  builder.most_kept = std::max(builder.most_kept, builder.kept_bytes);
  if (pass.loops.round == 0) return;
  builder.open_loop(pass.loops.round, false);
  builder.row_depth = builder.depth();
}

void add_across(Pass& pass, ir::NodeId sum, const Entry& value) {
  ProgramBuilder& builder = pass.builder;
  if (builder.refusal()) return;
  const auto across =
      std::find_if(pass.across.begin(), pass.across.end(), [&](const auto& one) { return one.sum == sum; });
  const Segment& body = pass.loops.segments().front();
  ir::Stmt add;
  add.kind = ir::StmtKind::assign;
  add.op = op_of(reducer(builder.graph()[sum]));
  add.target = register_of(pass, *across);
  if (held_of(across->columns, pass.mapping).by_element && body.vector > 1)
    add.target.lane = builder.build().var(body.element);
  add.value = value.compute.id;
  builder.put(builder.depth(), add);
}

void deal_families(Pass& pass) {
  Digits& kept = pass.mapping[Side::kept];
  std::int64_t& blocks = kept.extents[Level::block];
  const std::int64_t root = family_of(blocks), whole = whole_family_of(blocks);
  pass.family = whole <= 2 * root ? whole : root;
  if (root == blocks) return;
  const bool persistent = pass.plan.grid == ir::GridShape::persistent;
  const std::int64_t families = (blocks + (persistent ? 0 : pass.family - 1)) / pass.family;
  blocks = pass.family * families;
  kept.extents[Level::loop] = (tiles(pass.mapping) + blocks - 1) / blocks;
}

void end_across(Pass& pass) {
  if (pass.loops.round != 0) pass.builder.close();
  pass.builder.row_depth = 0;
  pass.builder.in_flight_rows = 1;
  const std::int64_t sets = pass.mapping.sets.count(), blocks = pass.extent(Side::kept, Level::block);
  const Gathering of_sets{results_of(pass, true), sets, blocks, pass.family};
  if (!of_sets.results.empty()) end_together(pass, of_sets);
  const Gathering of_all{results_of(pass, false), 1, sets * blocks,
                         sets == 1 ? pass.family : whole_family_of(sets * blocks)};
  if (!of_all.results.empty()) end_together(pass, of_all);
}

}  // namespace tailor::codegen
