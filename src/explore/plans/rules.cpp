// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of rules. In: a prepared group, a plan or the first fields of one, limits. Out: the rule that drops it, or
// none. Asked by walk.cpp before a plan is lowered, which costs a hundred times as much.
//
// A rule asks fields of the plan and parts of its tiling (explore/plans/tiling.def), never the skeleton; so it holds
// for every skeleton that has those fields, and a plan whose skeleton lacks one of them is not asked. It names all that
// it looks at, in whatever branch: the walk asks it as soon as the fields behind that are fixed, while later ones hold
// what the plan before had. Tests put odd values there and see no verdict change. So a rule is parted in two where one
// reason needs fewer fields than the other, or one is for lanes across columns, whose blocks are known earlier.
//
// Sound rules come first. Each repeats a condition under which lower() refuses, in terms of the tiling; that they
// never drop a legal plan is tested over whole plan spaces (tests/explore). They only save time.
//
// Heuristics drop legal plans that are not expected to win, and change what a search finds. Sources of their figures:
// the padding and coalescing limits are those that public row-kernel libraries converge on (QuACK, nvFuser, CUB); the
// limits on registers and bytes in flight say when more of them cannot hide more latency. Each is a proportion or a
// count, not a property of one GPU.
#include "explore/plans/rules.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/indexed.h"
#include "codegen/lower/lower_turn.h"
#include "codegen/lower/prepare.h"
#include "explore/plans/rule_terms.h"
#include "ir/kernel/kernel.h"

namespace tailor::explore {

namespace {

using ir::GridShape;
using ir::HomesWord;
using ir::Meeting;
using ir::StitchLevel;

using T = TilingPart;

constexpr RulePart asks(std::initializer_list<ir::PlanField> fields, std::initializer_list<T> parts,
                        bool (*drops)(const Candidate&)) {
  Reads reads{ir::field_bits(fields), 0};
  for (const T part : parts) reads.tiling |= std::uint32_t{1} << static_cast<int>(part);
  return {reads, drops};
}

constexpr std::array rule_table = [] {
  using enum ir::PlanField;
  return std::to_array<Rule>({
      {"vector-fits",
       true,
       "a vector must fit into the row (row) or the output (map), and divide neighbouring columns (column)",
       {asks({vector}, {T::vectors}, [](const Candidate& c) { return c.tiling.vectors == 0; })}},
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
       "a persistent grid needs more tiles than resident blocks",
       {asks({grid, blocks_per_sm}, {T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               return c.plan.grid == GridShape::persistent &&
                      blocks(c) <= std::int64_t{c.plan.blocks_per_sm} * c.limits.sms;
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

      {"long-code",
       false,
       "over 16384 instructions of copies of what an element takes come from far and take the compiler long; rows that "
       "wait in registers, which are read once for it, may have twice that",
       {asks({vector}, {T::streamed, T::trips, T::at_once},
             [](const Candidate& c) {
               const bool waits = !c.tiling.streamed && c.tiling.trips > 1;
               const std::int64_t most = waits ? 32768 : 16384;
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
       "over a third of the lanes would have no element",
       {asks({threads_per_row}, {T::groups, T::vectors, T::trips, T::lanes, T::split},
             [](const Candidate& c) {
               return !is_across(c) && 3 * c.tiling.vectors < 2 * c.tiling.trips * c.tiling.lanes * c.tiling.split &&
                      c.tiling.lanes > 1;
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
       "lanes must read 128 neighbouring bytes of a row or all of it; of columns of up to 64 bytes in all half will "
       "do, of those too tall to wait so wide 64 or 32",
       {asks({threads_per_row, vector}, {T::groups, T::run, T::together},
             [](const Candidate& c) { return reads_apart(c); })}},
      {"wide-columns",
       false,
       "over 512 neighbouring bytes of columns per block only make fewer blocks, unless the columns are short",
       {asks({vector, threads_per_row}, {T::groups, T::together, T::trips},
             [](const Candidate& c) {
               return is_across(c) && c.tiling.together * element_bytes(c) > 512 && c.tiling.trips > 16;
             })}},
      {"narrow-columns",
       false,
       "columns take the widest vector, half of it where there are fewer blocks than SMs, or what is 64 bytes of all "
       "inputs together",
       {asks({vector, threads_per_row}, {T::groups, T::run, T::together, T::split},
             [](const Candidate& c) {
               return is_across(c) && narrows(c) && widest_vector(c) / c.plan.vector > 2 && !stays_near(c);
             }),
        asks({vector, threads_per_row}, {T::groups, T::run, T::together, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               return is_across(c) && narrows(c) && widest_vector(c) / c.plan.vector == 2 &&
                      blocks(c) >= 2 * c.limits.sms && !stays_near(c);
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
       "columns are shared only to fill half of the SMs to all of them twice (by no power of two: all of them), or, "
       "where all together are a line of 128 bytes for every 16 SMs, by blocks with 4 (1 where they meet) to 32 KiB; "
       "with the widest vectors and 64 bytes in flight, or 64 and 256 of all inputs together, and 256 threads (of few "
       "bytes one for 64)",
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
      {"long-trips",
       false,
       "over 64 vectors per thread while the block has idle lanes to spread them on",
       {asks({threads, threads_per_row}, {T::groups, T::trips},
             [](const Candidate& c) {
               return !is_across(c) && c.tiling.trips > 64 && c.plan.threads_per_row < c.plan.threads;
             })}},
      {"register-payload",
       false,
       "kept values over 128 registers per thread leave too few warps to cover latency",
       {asks({homes, vector}, {T::streamed, T::trips},
             [](const Candidate& c) { return are_in_registers(c) && kept_registers(c) > 128; }),
        asks({homes, vector, in_flight}, {T::streamed, T::trips},
             [](const Candidate& c) {
               const std::int64_t rows = c.tiling.streamed ? 1 : c.plan.in_flight;
               return are_in_registers(c) && kept_registers(c) * rows > 128;
             })}},
      {"wide-vector",
       false,
       "vectors beyond two accesses of 16 bytes to the widest array only add registers",
       {asks({vector}, {}, [](const Candidate& c) { return c.plan.vector * array_bytes(c) > 2 * ir::access_bytes; })}},
      {"flight-bytes",
       false,
       "over 128 bytes in flight per thread and input, or half its registers, hide nothing more",
       {asks({threads, vector}, {T::streamed, T::trips, T::at_once},
             [](const Candidate& c) {
               constexpr std::int64_t register_bytes = 4;
               const std::int64_t held = (c.tiling.streamed ? 1 : c.tiling.trips) * c.plan.vector * c.tiling.at_once;
               const int registers = codegen::registers_for(c.limits, c.plan.threads);
               return c.tiling.at_once > 1 &&
                      (held * element_bytes(c) > 128 || held * input_bytes(c) > register_bytes * registers / 2);
             })}},
      {"large-block",
       false,
       "1024 threads make every barrier and the tail dearer; only rows that fill them, or columns of fewer blocks than "
       "SMs, need so many",
       {asks({threads}, {T::groups, T::lanes},
             [](const Candidate& c) {
               return !is_across(c) && c.plan.threads == c.limits.threads_per_block &&
                      c.tiling.lanes < c.plan.threads / 2;
             }),
        asks({threads}, {T::groups, T::lanes, T::together, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               return is_across(c) && c.plan.threads == c.limits.threads_per_block &&
                      c.tiling.lanes < c.plan.threads / 2 && blocks(c) >= c.limits.sms && !stays_near(c);
             })}},
      {"shared-short",
       false,
       "rows and columns under 64 bytes per thread stay in registers, not in shared memory, unless they are read at "
       "other places",
       {asks({homes, vector}, {T::trips},
             [](const Candidate& c) {
               return waits_in_shared(c) && elements_per_thread(c) * element_bytes(c) < 64 && !moves_in_shared(c);
             })}},
      {"reload-short",
       false,
       "reading a row or column again pays only when 32 registers of a thread for each value, or half of all, do not",
       {asks({homes, threads, vector}, {T::trips},
             [](const Candidate& c) {
               return c.plan.homes.empty() && !codegen::homes_of(c.prepared, HomesWord::registers).empty() &&
                      elements_per_thread(c) <= 32 && some_list_fits_half(c);
             })}},
      {"reload-narrow",
       false,
       "rows that leave an SM's caches before they are read again have half of the most threads of a block or more: "
       "fewer rows at a time are nearer",
       {asks({homes, threads_per_row, split, cluster}, {T::groups, T::lanes},
             [](const Candidate& c) {
               return !is_across(c) && c.plan.homes.empty() && 2 * c.tiling.lanes < c.limits.threads_per_block &&
                      leaves_caches(c);
             })}},
      {"mixed-short",
       false,
       "a row waits in two ways only where all that waits is over 32 KiB, and would take half of a thread's registers, "
       "or some of it is read at other places",
       {asks({homes, threads, vector}, {T::trips},
             [](const Candidate& c) {
               if (!codegen::waits_partly(c.prepared, c.plan.homes) || moves_in_shared(c)) return false;
               return waiting_bytes(c) * c.prepared.columns <= (32 << 10) || all_fits_half(c);
             })}},
      {"mixed-flight",
       false,
       "parts of a row that waits in two ways have 64 bytes of the widest input in flight, 32 to 8 where these and "
       "what is kept fill two thirds of the registers, or all of it",
       {asks({homes, in_flight, threads, vector}, {T::streamed, T::trips},
             [](const Candidate& c) {
               if (!c.tiling.streamed || !codegen::waits_partly(c.prepared, c.plan.homes)) return false;
               constexpr std::int64_t enough = 32;
               const std::int64_t bytes = c.plan.in_flight * c.plan.vector * element_bytes(c);
               return bytes > std::max(room_in_flight(c, kept_at_once(c)), enough) ||
                      (bytes < room_in_flight(c, kept_bytes(c)) && c.plan.in_flight < c.tiling.trips);
             })}},
      {"mixed-reload",
       false,
       "an input is read again beside others that wait only where a block's shared memory has no room for it",
       {asks({homes}, {},
             [](const Candidate& c) {
               return codegen::waits_partly(c.prepared, c.plan.homes) && !waits_in_shared(c) &&
                      c.prepared.columns * element_bytes(c) <= c.limits.shared_per_block_optin;
             })}},
      {"narrow-vector",
       false,
       "under half the widest vector leaves the memory path narrow; single elements are for what breaks vectors",
       {asks({vector}, {T::groups},
             [](const Candidate& c) {
               int widest = c.prepared.widest_vector;
               while (widest > 1 && widest * array_bytes(c) > 2 * ir::access_bytes) widest /= 2;
               const bool unbroken = c.prepared.straight && c.prepared.columns % widest == 0;
               return !is_across(c) && c.plan.vector < widest / 2 && (unbroken || c.plan.vector > 1);
             })}},
      {"rows-at-once",
       false,
       "over four rows at once of lanes in several warps hold registers that more blocks would use better",
       {asks({in_flight, threads_per_row}, {T::groups, T::streamed, T::lanes},
             [](const Candidate& c) {
               return !is_across(c) && !c.tiling.streamed && c.tiling.lanes > c.limits.warp_size &&
                      c.plan.in_flight > 4;
             })}},
      {"block-extremes",
       false,
       "rows that a warp or less owns gain nothing from blocks of two warps or of sixteen in a grid of many",
       {asks({threads, threads_per_row}, {T::groups, T::lanes, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               const bool alone = !is_across(c) && c.tiling.lanes <= c.limits.warp_size;
               return alone && blocks(c) >= std::int64_t{4} * c.limits.sms &&
                      (c.plan.threads == 2 * c.limits.warp_size || c.plan.threads == 16 * c.limits.warp_size);
             })}},
      {"persistent-short",
       false,
       "a loop over rows pays where each resident block has two or more of its own",
       {asks({grid, blocks_per_sm, threads_per_row}, {T::groups, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               return !is_across(c) && !c.prepared.sums_across && c.plan.grid == GridShape::persistent &&
                      blocks(c) < std::int64_t{2} * c.plan.blocks_per_sm * c.limits.sms;
             })}},
      {"across-parts",
       false,
       "sums across rows take a part of each block: where blocks can loop over tiles, they are no more than the device "
       "holds at once",
       {asks({grid, threads}, {T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               const int resident = std::clamp(c.limits.threads_per_sm / 4 / c.plan.threads, 1, c.limits.blocks_per_sm);
               return c.prepared.sums_across && c.plan.grid == GridShape::tile &&
                      blocks(c) > std::int64_t{resident} * c.limits.sms;
             })}},
      {"across-resident",
       false,
       "blocks that add up across rows fill a quarter of an SM or more, and leave a thread the registers that it needs",
       {asks({grid, blocks_per_sm, threads, homes, vector, in_flight}, {T::trips},
             [](const Candidate& c) {
               if (!c.prepared.sums_across || c.plan.grid == GridShape::tile) return false;
               const std::int64_t threads = std::int64_t{c.plan.threads} * c.plan.blocks_per_sm;
               return 4 * threads < c.limits.threads_per_sm ||
                      threads * registers_across(c) > c.limits.registers_per_sm;
             })}},
      {"broken-block",
       false,
       "where arrays are turned, cut or joined a block of sixteen warps touches too many lines at once",
       {asks({threads, unroll}, {},
             [](const Candidate& c) { return !c.prepared.straight && c.plan.threads >= 16 * c.limits.warp_size; })}},
      {"shared-long",
       false,
       "rows and columns that fit 32 registers a thread for each kept value, and half of them for all, stay in "
       "registers, not in shared memory, unless they are read at other places",
       {asks({homes, threads, vector}, {T::trips},
             [](const Candidate& c) {
               return waits_in_shared(c) && elements_per_thread(c) <= 32 && all_fits_half(c) && !moves_in_shared(c);
             })}},
      {"tile-edges",
       false,
       "tiles that are turned have 64 to 256 bytes of the narrowest array along each edge, or all there is",
       {asks({threads_per_row, vector, unroll}, {T::tile_written, T::tile_read},
             [](const Candidate& c) {
               if (!c.prepared.turn) return false;
               constexpr std::int64_t least = 64, most = 256;
               const std::int64_t bytes = access_bytes_of(c);
               const auto is_odd = [&](std::int64_t edge, std::int64_t run) {
                 return edge * bytes > most || (edge * bytes < least && edge < run);
               };
               return is_odd(c.tiling.tile_written, c.prepared.turn->written.size) ||
                      is_odd(c.tiling.tile_read, c.prepared.turn->read.size);
             })}},
      {"barrier-rows",
       false,
       "rows that are summed across warps share a block in pairs at most: more wait for the slowest",
       {asks({threads, threads_per_row}, {T::groups, T::lanes},
             [](const Candidate& c) {
               return !is_across(c) && c.tiling.lanes > c.limits.warp_size && c.plan.threads > 2 * c.tiling.lanes;
             })}},
  });
}();

}  // namespace

std::span<const Rule> rules() { return rule_table; }

std::size_t sound_rules() {
  return static_cast<std::size_t>(
      std::count_if(rule_table.begin(), rule_table.end(), [](const Rule& rule) { return rule.sound; }));
}

std::uint32_t fields_behind(const Reads& reads, ir::Skeleton skeleton) {
  std::uint32_t fields = reads.fields;
  for (int part = 0; part < tiling_parts; ++part)
    if ((reads.tiling >> part & 1) != 0) fields |= fields_behind(static_cast<T>(part), skeleton);
  return fields;
}

bool drops(const Rule& rule, const Candidate& candidate) {
  const std::span<const RulePart> parts = rule.parts();
  return std::any_of(parts.begin(), parts.end(), [&](const RulePart& part) { return part.drops(candidate); });
}

bool drops(const Rule& rule, const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  return rule.is_asked_of(plan.skeleton) &&
         drops(rule, Candidate{prepared, plan, limits, tiling_of(prepared, plan, limits)});
}

const Rule* dropped_by(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                       std::size_t in_force) {
  const Candidate candidate{prepared, plan, limits, tiling_of(prepared, plan, limits)};
  for (const Rule& rule : std::span(rule_table).first(in_force))
    if (rule.is_asked_of(plan.skeleton) && drops(rule, candidate)) return &rule;
  return nullptr;
}

}  // namespace tailor::explore
