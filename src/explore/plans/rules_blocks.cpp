// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Heuristics on how rows and columns are dealt out: what lanes read together, how many blocks there are, and which of
// them share a row or a column, one behind the other, through meetings or in clusters. In and out: as rules.cpp, which
// asks them after the sound ones.
#include "explore/plans/rule_tables.h"

#include <array>
#include <bit>

#include "explore/plans/rule_terms.h"

namespace tailor::explore {

namespace {

using ir::Meeting;
using ir::StitchLevel;

using T = TilingPart;

constexpr std::array block_table =
    [] {
      using enum ir::PlanField;
      return std::to_array<Rule>({
      {"long-code",
       false,
       "over 16384 instructions of copies of what an element takes come from far and take the compiler long; rows that "
       "wait in registers, which are read once for it, may have twice that, and several vectors at once half, which "
       "128 KB hold",
       {asks({vector, unroll}, {T::streamed, T::trips, T::at_once},
             [](const Candidate& c) {
               const bool waits = !c.tiling.streamed && c.tiling.trips > 1;
               const std::int64_t most = waits ? 32768 : c.plan.unroll > 1 ? 8192 : 16384;
               return unrolled_code(c) > most && c.plan.vector * c.tiling.at_once > 1;
             })}},
      {"long-columns",
       false,
       "nor are columns unrolled to wait in registers where that makes over 32768",
       {asks({vector, homes}, {T::groups, T::trips},
             [](const Candidate& c) {
               constexpr std::int64_t most = 32768;
               return is_across(c) && has(c, StitchLevel::registers) &&
                      elements_per_thread(c) * c.prepared.element_code > most;
             })}},
      {"padding",
       false,
       "over a third of the lanes would have no element, or over half of a warp's that have an odd row of up to 256 "
       "bytes",
       {asks({threads_per_row}, {T::groups, T::vectors, T::trips, T::lanes, T::split},
             [](const Candidate& c) {
               const std::int64_t room = c.tiling.trips * c.tiling.lanes * c.tiling.split;
               return !is_across(c) && c.tiling.lanes > 1 &&
                      (is_short_odd_row(c) ? 2 * c.tiling.vectors < room : 3 * c.tiling.vectors < 2 * room);
             }),
        asks({threads_per_row}, {T::groups, T::vectors, T::trips, T::lanes, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               if (!is_across(c)) return false;
               const std::int64_t room = blocks(c) * c.tiling.lanes * c.tiling.trips * c.tiling.groups;
               return 3 * c.tiling.vectors * c.prepared.columns < 2 * room;
             })}},
      {"uneven-groups",
       false,
       "lanes across columns are as many as the block by a power of two, which their sums halve",
       {asks({threads_per_row}, {T::groups},
             [](const Candidate& c) {
               return is_across(c) && !std::has_single_bit(static_cast<unsigned>(c.tiling.groups));
             })}},
      {"coalescing",
       false,
       "lanes must read 128 neighbouring bytes of a row or all of it; a thread may have rows of up to 64 bytes, lanes "
       "of a warp odd ones of up to 256; of columns of up to 64 bytes in all half will do, of those too tall to wait "
       "so wide 64 or 32",
       {asks({threads_per_row, vector}, {T::groups, T::lanes, T::run, T::together},
             [](const Candidate& c) { return reads_apart(c); })}},
      {"wide-columns",
       false,
       "over 512 neighbouring bytes of columns per block only make fewer blocks, unless the columns are short before "
       "they are shared, or scanned, which a thread does alone",
       {asks({vector, threads_per_row, split}, {T::groups, T::together, T::trips, T::split},
             [](const Candidate& c) {
               return is_across(c) && c.tiling.together * element_bytes(c) > 512 &&
                      c.tiling.trips * c.tiling.split > 16 && c.prepared.scans.empty();
             })}},
      {"narrow-columns",
       false,
       "columns take the widest vector, half of it where they are shared or there are few blocks, or what is 64 bytes "
       "of all inputs together; or single elements of what is read with a stride",
       {asks({vector, threads_per_row}, {T::groups, T::run, T::together, T::split},
             [](const Candidate& c) {
               return is_across(c) && narrows(c) && widest_vector(c) / c.plan.vector > 2 && !stays_near(c) &&
                      !takes_apart(c);
             }),
        asks({vector, threads_per_row, split}, {T::groups, T::run, T::together, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               return is_across(c) && narrows(c) && widest_vector(c) / c.plan.vector == 2 && c.plan.split == 1 &&
                      blocks(c) >= 2 * c.limits.sms && !stays_near(c) && !takes_apart(c);
             })}},
      {"few-blocks",
       false,
       "where there are fewer blocks of long columns than SMs, small blocks have fewer loads on their way",
       {asks({threads, threads_per_row}, {T::groups, T::run, T::trips, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               constexpr std::int64_t large = 256, rows = 4;
               return is_across(c) && !is_narrow(c) && blocks(c) < c.limits.sms && c.plan.threads < large &&
                      c.tiling.trips * c.plan.threads >= rows * large;
             })}},
      {"shallow-columns",
       false,
       "under 32 bytes and four rows in flight per thread, and 128 of all inputs together, though there are more",
       {asks({in_flight, vector, threads_per_row}, {T::groups, T::trips},
             [](const Candidate& c) {
               return is_across(c) && c.plan.in_flight < 4 && 4 * c.plan.in_flight <= c.tiling.trips &&
                      c.plan.in_flight * c.plan.vector * element_bytes(c) < 32 &&
                      c.plan.in_flight * c.plan.vector * input_bytes(c) < 128;
             })}},
      {"deep-columns",
       false,
       "over eight rows in flight only where columns break vectors, and 64 bytes of the widest input",
       {asks({in_flight, vector, threads_per_row}, {T::groups},
             [](const Candidate& c) {
               return is_across(c) && c.plan.in_flight > 8 && c.plan.in_flight * c.plan.vector * element_bytes(c) > 64;
             })}},
      {"split-columns",
       false,
       "columns are shared only to fill half of the SMs to all of them four times, by 1,024 threads each (by no power "
       "of two: all of them), or, where all together are a line of 128 bytes for every 16 SMs, by blocks with 4 (1 "
       "where they meet) to 32 KiB; with half the widest vectors or more and 64 bytes in flight, or 64 and 256 of all "
       "inputs together, and 256 threads, 128 where there are more blocks than SMs (of few bytes one for 64)",
       {asks({split, meet, threads, vector}, {T::groups, T::run, T::items, T::items_per_block, T::split},
             [](const Candidate& c) { return c.plan.split > 1 && is_across(c) && shares_columns_badly(c); }),
        asks({split, vector, in_flight}, {T::groups},
             [](const Candidate& c) { return c.plan.split > 1 && is_across(c) && flies_little(c); })}},
      {"split-rows",
       false,
       "rows are shared by blocks that have one row each and 4 KiB of it, with 256 threads or one for each 64 bytes, "
       "to fill a third of the SMs (less where 32 KiB suffice) to all of them four times, with 32 bytes in flight, or "
       "128 of all inputs together",
       {asks({split, meet, threads, threads_per_row}, {T::groups, T::items},
             [](const Candidate& c) {
               return c.plan.split > 1 && c.plan.meet == Meeting::last && !is_across(c) && shares_rows_badly(c);
             }),
        asks({split, meet, vector, in_flight}, {T::groups, T::trips},
             [](const Candidate& c) {
               return c.plan.split > 1 && c.plan.meet == Meeting::last && !is_across(c) && reads_little(c, 32);
             })}},
      {"meet-rows",
       false,
       "blocks that meet have one row at a time, 1 KiB of it or more, with 256 threads or one for each 64 bytes, "
       "accesses of 16 bytes, the widest that divide a shorter run, or of one element where rows or what they come "
       "from break them, and 32 bytes in flight of rows in parts",
       {asks({split, meet, threads, threads_per_row, vector}, {T::groups, T::run},
             [](const Candidate& c) {
               constexpr std::int64_t least = 1 << 10, large = 256;
               return c.plan.meet != Meeting::last && !is_across(c) && parts_badly(c, c.plan.split, least, large);
             }),
        asks({split, meet, vector, in_flight, homes, threads}, {T::groups, T::streamed, T::trips},
             [](const Candidate& c) { return c.plan.meet != Meeting::last && !is_across(c) && flies_badly(c); })}},
      {"meet-size",
       false,
       "blocks of the grid that share rows and meet fill a third of the SMs (less where 32 KiB suffice) to all of them "
       "once, or three times where registers of fewer do not hold what waits; nobody need wait for one walk",
       {asks({split, meet}, {T::groups, T::items},
             [](const Candidate& c) {
               if (c.plan.meet != Meeting::grid) return false;
               return c.prepared.walks < 2 || (!is_across(c) && meets_badly(c));
             })}},
      {"meet-reload",
       false,
       "what half of the registers of the blocks that meet holds is not read again: that is what they meet for",
       {asks({split, meet, homes}, {T::groups, T::together},
             [](const Candidate& c) { return c.plan.meet == Meeting::grid && rereads_what_fits(c, c.plan.split); })}},
      {"alone-rows",
       false,
       "rows over 256 KiB that blocks, or clusters of several walks, can share are not left to a quarter of the SMs",
       {asks({split, cluster, threads, threads_per_row}, {T::groups},
             [](const Candidate& c) {
               constexpr std::int64_t long_row = 256 << 10;
               if (c.prepared.walks > 1 && (c.prepared.sums_across || c.limits.blocks_per_cluster < 2)) return false;
               return c.plan.split == 1 && c.plan.cluster == 0 && !is_across(c) &&
                      4 * c.prepared.rows <= c.limits.sms && c.prepared.columns * element_bytes(c) > long_row;
             })}},
      {"cluster-rows",
       false,
       "a cluster has one row at a time, each block 4 KiB of it or more, with 128 threads or one for each 64 bytes, "
       "accesses of 16 bytes, the widest that divide a shorter run, or of one element where rows or what they come "
       "from break them, and 32 bytes in flight of rows in parts",
       {asks({cluster, threads, threads_per_row, vector}, {T::groups, T::run},
             [](const Candidate& c) {
               constexpr std::int64_t least = 4 << 10, large = 128;
               return c.plan.cluster != 0 && !is_across(c) && parts_badly(c, c.plan.cluster, least, large);
             }),
        asks({cluster, vector, in_flight, homes, threads}, {T::groups, T::streamed, T::trips},
             [](const Candidate& c) { return c.plan.cluster != 0 && !is_across(c) && flies_badly(c); })}},
      {"cluster-columns",
       false,
       "a cluster has a line or two of columns, each block 4 KiB or more, with 128 threads or one for each 64 bytes",
       {asks({cluster, threads, threads_per_row, vector}, {T::groups, T::together},
             [](const Candidate& c) { return c.plan.cluster != 0 && is_across(c) && parts_columns_badly(c); })}},
      {"cluster-size",
       false,
       "of two sizes of a cluster the smaller is enough where it fills the SMs and a quarter of its registers holds "
       "what waits, so that one loads while another waits; the larger is better with 4 KiB for each of few blocks",
       {asks({cluster}, {T::groups, T::together, T::items, T::items_per_block, T::split},
             [](const Candidate& c) { return c.plan.cluster != 0 && clusters_badly(c); })}},
      {"cluster-reload",
       false,
       "what half of the registers of a cluster's blocks hold is not read again: that is what it is for",
       {asks({cluster, homes}, {T::groups, T::together},
             [](const Candidate& c) {
               return c.plan.cluster > 0 && c.prepared.walks > 1 && rereads_what_fits(c, c.plan.cluster);
             })}},
      {"column-reload",
       false,
       "columns side by side that half of the registers of a block or cluster hold, or under 128 bytes of them, are "
       "not read again",
       {asks({split, cluster, homes}, {T::groups, T::together},
             [](const Candidate& c) {
               const bool is_alone = is_across(c) && c.plan.split == 1 && c.plan.cluster == 0;
               return is_alone && rereads_what_fits(c, std::max(c.limits.blocks_per_cluster, 1));
             }),
        asks({threads_per_row, vector, homes}, {T::groups, T::run, T::together},
             [](const Candidate& c) { return is_across(c) && c.plan.homes.empty() && is_thin(c); })}},
      {"bundle-rows",
       false,
       "rows in runs of less than 32 bytes, what memory gives at a time, are gone through as columns in bundles where "
       "they can",
       {asks({}, {}, [](const Candidate& c) { return leaves_rows_to_bundles(c); })}},
      {"bundle-vectors",
       false,
       "columns in bundles take the widest vectors or half of that",
       {asks({vector}, {T::run},
             [](const Candidate& c) { return c.prepared.bundle > 1 && 2 * c.plan.vector < widest_vector(c); })}},
      {"bundle-idle",
       false,
       "columns in bundles, side by side over 256 KiB, are not left to a quarter of the SMs",
       {asks({split, cluster, threads_per_row, vector},
             {T::groups, T::together, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               constexpr std::int64_t large = 256 << 10;
               return c.prepared.bundle > 1 && c.plan.split == 1 &&
                      4 * blocks(c) * std::max(c.plan.cluster, 1) <= c.limits.sms &&
                      c.tiling.together * c.prepared.columns * element_bytes(c) > large;
             })}},
      {"column-waits",
       false,
       "columns that wait have 64 bytes or eight rows in flight, and blocks of them loop over no others",
       {asks({homes, in_flight, vector, grid}, {T::groups, T::trips},
             [](const Candidate& c) { return is_across(c) && !c.plan.homes.empty() && waits_badly(c); })}},
      {"cluster-moves",
       false,
       "what is read at other places of a row waits for all blocks of a cluster, not for its own alone",
       {asks({cluster, homes}, {},
             [](const Candidate& c) { return c.plan.cluster > 0 && moves_from(c, StitchLevel::block); })}},
  });
    }();

}  // namespace

std::span<const Rule> block_rule_table() { return block_table; }

}  // namespace tailor::explore
