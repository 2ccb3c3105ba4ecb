// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of mappings: a row for each skeleton. In: a prepared group, a plan, limits. Out: its mapping. Called by
// lowering, refusals and rules, for plans too that are refused later: numbers may not fit one another.
//
// row. L lanes own a row: within a warp, or whole warps of them. A block has threads / L rows at once. Those in flight
// follow one another with a warp's rows in between, so that a warp has neighbouring rows at once. A lane takes vectors
// L vectors apart; the blocks that share a row, in a cluster or not, are so many more lanes. All trips are one section
// where the row stays in registers, for these cannot be indexed by a variable.
//
// column. L lanes stand side by side, `vector` columns each. Groups of them, and the blocks that share columns (in a
// cluster or not), take the rows in turns, `in_flight` turns at a time.
//
// map. What stays is everything: threads take vectors side by side, those in flight a block apart.
//
// transpose. What stays is all that tiles cover, tile after tile: where in it a vector lies is lower_turn.cpp's.
#include "codegen/lower/mapping.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "codegen/lower/lower_pack.h"
#include "codegen/lower/lower_turn.h"
#include "codegen/lower/skeletons.h"

namespace tailor::codegen {

namespace {

std::int64_t rounded_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

/// A row that takes several trips, or that blocks share, is gone through in parts, because nothing of it stays in
/// registers, or only some of what waits.
bool is_in_parts(const Prepared& prepared, const ir::Plan& plan, std::int64_t row_trips) {
  if (plan.split > 1 && plan.meet == ir::Meeting::last) return true;
  if (row_trips <= 1) return false;
  if (prepared.sums_across) return false;  // registers add up across rows
  return !has_level(plan.homes, ir::StitchLevel::registers) || waits_partly(prepared, plan.homes);
}

/// The level of blocks that share by `split`.
Level level_of(ir::Meeting meet) { return meet == ir::Meeting::last ? Level::block : Level::grid; }

/// So many elements, in vectors.
Digits in_vectors(std::int64_t size, std::int64_t vector) {
  Digits digits{size, size / vector};
  digits.extents[Level::vector] = vector;
  return digits;
}

/// Deals so many turns to a loop over sections of `section` turns.
void deal_turns(Digits& along, std::int64_t turns, std::int64_t section) {
  along.extents[Level::section] = std::max<std::int64_t>(section, 1);
  along.extents[Level::loop] = rounded_up(turns, along.extents[Level::section]);
}

}  // namespace

Mapping mapping_row(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  using enum Level;
  Mapping made{ir::Skeleton::row};
  made.fast = Side::along;
  made.run = prepared.domain.fastest();
  made.peels = prepared.domain.is_contiguous();
  Digits& along = made[Side::along] = in_vectors(prepared.columns, plan.vector);
  const bool whole_warps = plan.threads_per_row % limits.warp_size == 0;
  along.extents[lane] = whole_warps ? limits.warp_size : plan.threads_per_row;
  along.extents[group] = whole_warps ? plan.threads_per_row / limits.warp_size : 1;
  along.extents[cluster] = std::max(plan.cluster, 1);
  along.extents[level_of(plan.meet)] = plan.split;
  const std::int64_t turns = trips(made);
  made.in_parts = is_in_parts(prepared, plan, turns);
  deal_turns(along, turns, made.in_parts ? plan.in_flight : turns);

  if (prepared.sums_across) made.sets = prepared.sets;
  Digits& kept = made[Side::kept] = in_vectors(prepared.rows / made.sets.count(), 1);
  const std::int64_t rows = std::max(plan.threads / plan.threads_per_row, 1);
  kept.extents[flight] = made.in_parts ? 1 : plan.in_flight;
  kept.extents[lane] =
      kept.extents[flight] == 1 ? rows : std::clamp<std::int64_t>(limits.warp_size / plan.threads_per_row, 1, rows);
  kept.extents[group] = rows / kept.extents[lane];
  kept.extents[block] = tiles(made);
  if (prepared.sums_across && plan.grid == ir::GridShape::persistent) {
    kept.extents[block] = blocks_of_set(made.sets, std::int64_t{plan.blocks_per_sm} * limits.sms);
    kept.extents[loop] = rounded_up(tiles(made), kept.extents[block]);
  }
  return made;
}

Mapping mapping_column(const Prepared& prepared, const ir::Plan& plan, const ir::Limits&) {
  using enum Level;
  Mapping made{ir::Skeleton::column};
  made.fast = Side::kept;
  made.run = prepared.dominant_domains[dominant_number(prepared, plan)].fastest();
  made.in_parts = true;
  Digits& kept = made[Side::kept] = in_vectors(prepared.rows, plan.vector);
  kept.extents[lane] = plan.threads_per_row;
  kept.extents[block] = tiles(made);
  Digits& along = made[Side::along] = in_vectors(prepared.columns, 1);
  along.extents[group] = std::max(plan.threads / plan.threads_per_row, 1);
  along.extents[cluster] = std::max(plan.cluster, 1);
  along.extents[level_of(plan.meet)] = plan.split;
  deal_turns(along, trips(made), plan.in_flight);
  return made;
}

Mapping mapping_map(const Prepared& prepared, const ir::Plan& plan, const ir::Limits&) {
  using enum Level;
  Mapping made{ir::Skeleton::map};
  made.peels = true;
  Digits& kept = made[Side::kept] = in_vectors(prepared.columns, plan.vector);
  kept.extents[lane] = std::max(plan.threads, 1);
  kept.extents[flight] = std::max(plan.unroll, 1);
  kept.extents[block] = tiles(made);
  return made;
}

Mapping mapping_transpose(const Prepared& prepared, const ir::Plan& plan, const ir::Limits&) {
  using enum Level;
  Mapping made{ir::Skeleton::transpose};
  if (!prepared.turn) return made;
  made.run = std::gcd(prepared.turn->written.size, prepared.turn->read.size);
  const std::int64_t lanes = std::max(plan.threads_per_row, 1), turns = std::max(plan.unroll, 1);
  Digits& kept = made[Side::kept];
  kept.extents[vector] = plan.vector;
  kept.extents[lane] = lanes;
  kept.extents[group] = std::max<std::int64_t>(plan.threads / lanes, 1);
  kept.extents[flight] = turns;
  kept.extents[block] = tile_of(*prepared.turn, plan).all;
  kept.units = kept.extents[lane] * kept.extents[group] * turns * kept.extents[block];
  kept.size = kept.units * plan.vector;
  return made;
}

Mapping mapping(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  return lowering(plan.skeleton).mapping(prepared_for(prepared, plan), plan, limits);
}

std::vector<SubRoot> sub_roots(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  std::vector<SubRoot> roots;
  for (std::size_t number = 0; number < prepared.bodies.size() && number < plan.bodies.size(); ++number) {
    const Body& body = prepared.bodies[number];
    const std::variant<ir::Plan, ir::Rejection> own = plan_of_body(prepared, plan, number);
    if (!std::holds_alternative<ir::Plan>(own)) continue;
    for (const SubRoot& root : sub_roots(*body.prepared, std::get<ir::Plan>(own), limits))
      roots.push_back({body.nodes[ir::index(root.node)], root.stitch});
  }
  const Mapping made = mapping(prepared, plan, limits);
  const ir::StitchLevel level = stitch_level(made);
  const bool has_sets_alone = made.sets.count() > 1 && extent(made, Side::kept, Level::block) == 1;
  for (const Phase& phase : prepared.phases) {
    for (const ir::NodeId id : phase.reductions) roots.push_back({id, level});
    for (const ir::NodeId id : phase.across) {
      const AcrossSum* sum = across_of(prepared, id);
      const bool of_set = has_sets_alone && sum != nullptr && sum->sets == made.sets;
      roots.push_back({id, of_set ? ir::StitchLevel::block : ir::StitchLevel::grid});
    }
  }
  std::sort(roots.begin(), roots.end(), [](const SubRoot& a, const SubRoot& b) { return a.node < b.node; });
  return roots;
}

}  // namespace tailor::codegen
