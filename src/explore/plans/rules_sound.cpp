// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules that are sound. Each repeats a condition under which lower() refuses, in terms of the tiling; that they never
// drop a legal plan is tested over whole plan spaces (tests/explore). They only save time. In and out: as rules.cpp,
// which asks them first.
#include "explore/plans/rule_tables.h"

#include <array>

#include "codegen/lower/lower_turn.h"
#include "codegen/lower/prepare.h"
#include "explore/plans/rule_terms.h"

namespace tailor::explore {

namespace {

using ir::GridShape;
using ir::Meeting;
using ir::StitchLevel;

using T = TilingPart;

constexpr std::array sound_table = [] {
  using enum ir::PlanField;
  return std::to_array<Rule>({
      {"vector-fits",
       true,
       "a vector must fit into the row (row) or the output (map), and divide neighbouring columns (column)",
       {asks({vector}, {T::vectors}, [](const Candidate& c) { return c.tiling.vectors == 0; })}},
      {"bundles-whole",
       true,
       "columns side by side in a block are whole bundles, of which each makes one result",
       {asks({vector, threads_per_row}, {T::together},
             [](const Candidate& c) { return c.prepared.bundle > 1 && c.tiling.together % c.prepared.bundle != 0; })}},
      {"lanes-divide",
       true,
       "the lanes of a row, or side by side across columns, divide the block's threads",
       {asks({threads, threads_per_row}, {},
             [](const Candidate& c) { return c.plan.threads % c.plan.threads_per_row != 0; })}},
      {"peel-lanes",
       true,
       "rows that are no multiple of the vector need two lanes per element around the vectors",
       {asks({vector, threads_per_row}, {T::rest},
             [](const Candidate& c) { return c.tiling.rest != 0 && c.plan.threads_per_row < 2 * c.plan.vector; })}},
      {"rows-in-flight",
       true,
       "more rows in flight than the block has rows for",
       {asks({in_flight, threads, threads_per_row}, {T::streamed, T::items, T::lanes},
             [](const Candidate& c) {
               return !c.tiling.streamed && c.plan.in_flight > 1 &&
                      c.tiling.items <= std::int64_t{c.plan.threads / c.tiling.lanes} * (c.plan.in_flight - 1);
             })}},
      {"vectors-in-flight",
       true,
       "more vectors in flight than a thread has",
       {asks({in_flight}, {T::streamed, T::trips},
             [](const Candidate& c) { return c.tiling.streamed && c.plan.in_flight > c.tiling.trips; })}},
      {"vectors-unrolled",
       true,
       "more vectors at once than a thread has",
       {asks({unroll, threads}, {T::vectors},
             [](const Candidate& c) {
               return c.plan.unroll > 1 && c.tiling.vectors <= std::int64_t{c.plan.threads} * (c.plan.unroll - 1);
             })}},
      {"tile-fits",
       true,
       "tiles are at least a vector deep, and less than twice as long as the runs that they are cut out of",
       {asks({vector, unroll, threads_per_row}, {T::tile_written, T::tile_read},
             [](const Candidate& c) {
               if (!c.prepared.turn) return false;
               return c.tiling.tile_read < c.plan.vector ||
                      codegen::is_mostly_behind(c.tiling.tile_written, c.prepared.turn->written) ||
                      codegen::is_mostly_behind(c.tiling.tile_read, c.prepared.turn->read);
             })}},
      {"persistent-resident",
       true,
       "persistent blocks must be resident at once",
       {asks({grid, blocks_per_sm, threads}, {},
             [](const Candidate& c) {
               return c.plan.grid == GridShape::persistent &&
                      (c.plan.blocks_per_sm * c.plan.threads > c.limits.threads_per_sm ||
                       c.plan.blocks_per_sm > c.limits.blocks_per_sm);
             })}},
      {"persistent-loops",
       true,
       "a persistent grid needs more tiles than resident blocks, of sets of rows each of those that have it",
       {asks({grid, blocks_per_sm}, {T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               const std::int64_t resident = std::int64_t{c.plan.blocks_per_sm} * c.limits.sms;
               return c.plan.grid == GridShape::persistent &&
                      tiles_of_set(c) * c.tiling.split <= codegen::blocks_of_set(c.prepared.sets, resident);
             })}},
      {"fold-lanes",
       true,
       "lanes have equal parts of what is added up together of each row",
       {asks({threads_per_row, vector}, {},
             [](const Candidate& c) {
               const std::int64_t together = std::int64_t{c.plan.threads_per_row} * c.plan.vector;
               return c.prepared.sums_across && !codegen::can_fold(c.prepared, together, c.plan.vector);
             })}},
      {"split-persistent",
       true,
       "blocks that share rows or columns do not loop over others",
       {asks({split, grid}, {},
             [](const Candidate& c) { return c.plan.split > 1 && c.plan.grid == GridShape::persistent; })}},
      {"split-phases",
       true,
       "rows or columns that are walked again are not shared by blocks that do not meet",
       {asks({split, meet}, {},
             [](const Candidate& c) {
               return c.plan.split > 1 && c.plan.meet == Meeting::last && c.prepared.walks > 1;
             })}},
      {"meet-homes",
       true,
       "nothing waits from one launch to the next",
       {asks({split, meet, homes}, {},
             [](const Candidate& c) {
               return c.plan.split > 1 && c.plan.meet == Meeting::kernel && !c.plan.homes.empty();
             })}},
      {"cluster-homes",
       true,
       "what waits for other blocks of a cluster needs one, and rows of whole vectors",
       {asks({cluster, homes}, {},
             [](const Candidate& c) { return c.plan.cluster == 0 && has(c, StitchLevel::cluster); }),
        asks({homes}, {T::rest},
             [](const Candidate& c) { return c.tiling.rest != 0 && has(c, StitchLevel::cluster); })}},
      {"meet-resident",
       true,
       "blocks of a grid that meet must all be resident at once",
       {asks({split, meet, threads}, {T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               if (c.plan.meet != Meeting::grid) return false;
               const std::int64_t each = (blocks(c) + c.limits.sms - 1) / c.limits.sms;
               return each > c.limits.blocks_per_sm || each * c.plan.threads > c.limits.threads_per_sm;
             })}},
      {"split-idle",
       true,
       "so many blocks share rows or columns that some would have nothing of them",
       {asks({split}, {T::leaves_blocks_idle},
             [](const Candidate& c) { return c.plan.split > 1 && c.tiling.leaves_blocks_idle; })}},
      {"cluster-alone",
       true,
       "blocks of a cluster, where a GPU has some, share rows with no others, loop over none and add up across none",
       {asks({cluster, split}, {},
             [](const Candidate& c) {
               return c.plan.cluster != 0 &&
                      (c.plan.split > 1 || c.prepared.sums_across || c.plan.cluster > c.limits.blocks_per_cluster);
             }),
        asks({cluster, grid}, {},
             [](const Candidate& c) { return c.plan.cluster != 0 && c.plan.grid == GridShape::persistent; })}},
      {"cluster-idle",
       true,
       "a cluster of so many blocks leaves some without a part of the row",
       {asks({cluster}, {T::leaves_blocks_idle},
             [](const Candidate& c) { return c.plan.cluster > 1 && c.tiling.leaves_blocks_idle; })}},

  });
}();

}  // namespace

std::span<const Rule> sound_rule_table() { return sound_table; }

}  // namespace tailor::explore
