// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kept values at other places of their row: a softmax that is reversed, the halves of a rotary embedding. In: a value
// that waits in shared memory, wanted at coordinates that are not those of the thread. Out: where it waits there, and
// how it is read. Called by emission and by loads ahead, in phases behind a barrier of all who have filled it.
//
// A place of a row tells who has it, since mappings are mixed radices (mapping.h): place p is element p % v of vector
// p / v; vectors go to the row's threads in turns, turns to the blocks of the cluster. So slot and rank are quotients
// and remainders of the place, which fold where sizes divide each other. The place itself is how far the coordinates'
// position in memory lies behind the beginning of the row at hand; that its range is within a row is the proof that
// the value is of this row. Where that is not plain to see (rows that do not lie
// together, vectors with single elements around them, blocks that share a row otherwise) the value is computed again,
// as it is without a home.
//
// Vectors stay whole where the place steps by one with the vector's element, forward or backward, and begins at a whole
// vector: backward the elements are taken from the array in reverse. Else each element is read by itself.
//
// A block reads its own part by the same way as those of others: which one it is differs from thread to thread.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "codegen/lower/lower_build.h"
#include "codegen/lower/lower_phases.h"

namespace tailor::codegen {

namespace {

struct Slot {
  ir::ExprId slot = 0, rank = 0;
};

/// {a / divisor, a % divisor}. Of a place that is counted from the end, c - b, by b: with all that b is made of going
/// upward, quotients fold.
std::pair<ir::ExprId, ir::ExprId> divide(IndexBuilder& build, ir::ExprId a, std::int64_t divisor) {
  const auto terms = build.pool().linear(a);
  const bool is_backward =
      std::all_of(terms.begin(), terms.end(), [](const ir::Linear& term) { return term.coefficient < 0; });
  if (terms.empty() || !is_backward || divisor == 1) return build.divide(a, divisor);
  const ir::Interval range = build.pool()[a].range;
  const std::int64_t wholes = build.pool()[a].constant / divisor + 1, last = wholes * divisor - 1;  // a = last - behind
  const ir::ExprId behind =
      build.assume(build.subtract(build.constant(last), a), {last - range.high, last - range.low});
  if (build.pool()[behind].range.low < 0) return build.divide(a, divisor);
  const auto [quotient, remainder] = build.divide(behind, divisor);
  return {
      build.assume(build.subtract(build.constant(wholes - 1), quotient), {range.low / divisor, range.high / divisor}),
      build.assume(build.subtract(build.constant(divisor - 1), remainder), {0, divisor - 1})};
}

/// Where the element at a place waits: the slot's element in its block, and the block's number in the cluster.
Slot slot_at(IndexBuilder& build, const RowPlaces& places, const Segment& segment, ir::ExprId row_in_flight,
             ir::ExprId place) {
  const auto [vector, element] = divide(build, place, segment.vector);
  const auto [turn, thread] = divide(build, vector, places.threads);
  const auto [trip, rank] = divide(build, turn, places.blocks);
  const ir::ExprId trips = build.add_scaled(trip, row_in_flight, segment.trip_count);
  const ir::ExprId of_thread = build.add(places.first_slot, thread);
  const ir::ExprId slot = build.add_scaled(of_thread, trips, segment.slots);
  return {build.expand(build.add(build.scale(slot, segment.vector), element)), build.expand(rank)};
}

}  // namespace

ProgramBuilder::Elsewhere ProgramBuilder::find_elsewhere(ir::NodeId id, const Demand& wanted) {
  if (segment_ == nullptr || !row_places.known) return {};
  const ir::Home* home = find_home(shared_, id);
  if (home == nullptr || (row_places.blocks > 1 && home->level != ir::StitchLevel::cluster)) return {};
  const auto in_row = [&](const Coordinates& coordinates) {
    return s_.build.subtract(memory_index(s_.build, node_at(id).shape, coordinates),
                             s_.build.scale(row_places.kept, row_places.columns));
  };
  const ir::ExprId place = in_row(wanted.coordinates);
  const ir::Interval range = s_.build.pool()[place].range;
  if (range.low < 0 || range.high >= row_places.columns) return {};
  for (const Kept& kept : s_.kept[id])
    if (kept.in_shared && kept.predicate == 0 && kept.segment == segment_->number &&
        in_row(kept.coordinates) == segment_->along)
      return {&kept, place};
  return {};
}

bool ProgramBuilder::waits_by_then(ir::NodeId id, const Flight& flight) const {
  if (prepared_.first_phase[id] >= flight.ahead_of) return false;
  const ir::Home* home = find_home(plan_.homes, id);
  return home != nullptr && is_in_shared(home->level);
}

ProgramBuilder::Access ProgramBuilder::access_elsewhere(ir::NodeId id, const Elsewhere& found, ir::VarSet guard_vars) {
  const ir::IndexPool& pool = s_.build.pool();
  const int vector = segment_->vector;
  // Where no guard holds the place may be none of the row, and nobody reads there.
  const ir::ExprId place = s_.build.assume(s_.build.expand(found.place), {0, row_places.columns - 1});
  bind_picked(pool[place].vars | guard_vars);
  Access access;
  access.space = row_places.blocks > 1 ? ir::Space::distributed : ir::Space::shared;
  access.memory = found.kept->array;
  access.vars = pool[place].vars | pool[row_places.kept].vars;
  access.has_element = vector > 1 && pool[place].vars.has(segment_->element);
  const auto read_at = [&](ir::ExprId at) {
    const auto [slot, rank] = slot_at(s_.build, row_places, *segment_, row_in_flight, at);
    access.address = access.base = slot;
    if (row_places.blocks > 1) access.rank = rank;
    // Other rows of the block wait elsewhere, or wait at other times.
    return pool[slot].vars | pool[rank].vars | pool[row_places.kept].vars | guard_vars;
  };
  const std::int64_t step = access.has_element && !is_nested(pool, place, segment_->element)
                                ? coefficient(pool, place, segment_->element)
                                : 0;
  if ((step == 1 || step == -1) && !guard_vars.has(segment_->element)) {
    const ir::ExprId last = s_.build.add_constant(s_.build.var(segment_->element), 1 - vector);
    const ir::ExprId first =
        step == 1 ? s_.build.subtract(place, s_.build.var(segment_->element)) : s_.build.add(place, last);
    if (s_.build.is_multiple(first, vector)) {
      const ir::VarSet vars = read_at(s_.build.assume(first, {0, row_places.columns - vector}));
      access.width = widest_access(node_at(id).shape.dtype);
      if (step == -1) access.lane = s_.build.subtract(s_.build.constant(vector - 1), s_.build.var(segment_->element));
      access.depth = depth_for(vars);
      if (access.width > 1 && outside_elements(vars)) return access;
    }
  }
  access.width = 1;
  access.lane = ir::no_expr;
  access.depth = depth_for(read_at(place));
  return access;
}

// ---- phases that read so

namespace {

/// The last phase that has reductions.
std::size_t last_reducing(const Prepared& prepared) {
  std::size_t last = 0;
  for (std::size_t number = 0; number < prepared.phases.size(); ++number)
    if (!prepared.phases[number].reductions.empty()) last = number;
  return last;
}

/// Whether a phase reads values of other blocks of the cluster.
bool reads_others(const Pass& pass, std::size_t number) {
  return !pass.kept.elsewhere.empty() &&
         std::any_of(pass.kept.elsewhere[number].begin(), pass.kept.elsewhere[number].end(),
                     [&](ir::NodeId id) { return find_home(pass.kept.homes, id)->level == ir::StitchLevel::cluster; });
}

}  // namespace

RowPlaces places_of(Pass& pass) {
  RowPlaces places;
  const auto alone = [&](Level level) { return pass.extent(Side::along, level) == 1; };
  places.known = pass.mapping.skeleton == ir::Skeleton::row && pass.prepared.domain.is_contiguous() &&
                 rest(pass.mapping) == 0 && alone(Level::grid) && alone(Level::block);
  places.kept = pass.loops.kept;
  places.columns = pass.prepared.columns;
  places.threads = pass.threads_on(Side::along);
  places.blocks = pass.extent(Side::along, Level::cluster);
  places.first_slot = pass.builder.build().subtract(pass.loops.thread, thread_on(pass, Side::along));
  return places;
}

std::vector<ir::Home> read_elsewhere_in(const Pass& pass, std::size_t number, std::span<const ir::Home> kept_before) {
  std::vector<ir::Home> found;
  if (pass.kept.elsewhere.empty()) return found;
  const std::vector<ir::NodeId>& read = pass.kept.elsewhere[number];
  std::copy_if(kept_before.begin(), kept_before.end(), std::back_inserter(found), [&](const ir::Home& home) {
    return is_in_shared(home.level) && std::binary_search(read.begin(), read.end(), home.node);
  });
  return found;
}

void meet_readers(Pass& pass, std::size_t number, std::span<const ir::Home> keeping) {
  ProgramBuilder& builder = pass.builder;
  const bool in_cluster = pass.extent(Side::along, Level::cluster) > 1;
  const std::size_t last = last_reducing(pass.prepared), end = pass.prepared.phases.size();
  if (in_cluster && number == last) {
    pass.parted = true;  // unless what is still to do reads others
    for (std::size_t later = last + 1; later < end; ++later) pass.parted = pass.parted && !reads_others(pass, later);
    if (pass.parted) builder.put_barrier(ir::StitchLevel::cluster, ir::Half::arrive);
  }
  const bool met =
      !pass.prepared.phases[number].reductions.empty() && (in_cluster || pass.extent(Side::along, Level::group) > 1);
  const bool is_awaited =
      pass.builder.row_places.known && std::any_of(keeping.begin(), keeping.end(), [&](const ir::Home& home) {
        return is_in_shared(home.level) && is_read_elsewhere(pass.kept, home.node);
      });
  if (is_awaited && !met) builder.put_barrier();
}

std::optional<ir::Rejection> refuse_unread(const Pass& pass) {
  if (pass.builder.refusal()) return pass.builder.refusal();
  const std::vector<ir::NodeId>& found = pass.builder.found_elsewhere;
  for (const ir::Home& home : pass.plan.homes)
    if (home.level == ir::StitchLevel::cluster && std::find(found.begin(), found.end(), home.node) == found.end())
      return ir::Rejection{
          "homes",
          fmt::format("%{}@cluster: where a later phase reads %{}, its place does not tell which block "
                      "of the cluster has it",
                      home.node, home.node),
          true};
  return std::nullopt;
}

}  // namespace tailor::codegen
