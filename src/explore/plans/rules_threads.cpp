// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Heuristics on what a thread and its block hold: vectors, bytes in flight, values that wait and where, and how large a
// block is. In: a candidate, a plan or its first fields. Out: rows that say what is dropped and why. Asked by rules.cpp
// after all others.
//
// What half the registers hold are rows in flight only beside sums across rows. So such rules ask twice: of other
// groups before rows in flight are chosen, where more plans go at once.
#include "explore/plans/rule_tables.h"

#include <array>

#include "codegen/lower/prepare.h"
#include "explore/plans/rule_terms.h"
#include "ir/kernel/kernel.h"

namespace tailor::explore {

namespace {

using ir::GridShape;
using ir::HomesWord;

using T = TilingPart;

constexpr std::array thread_table = [] {
  using enum ir::PlanField;
  return std::to_array<Rule>({
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
       "over 128 bytes in flight per thread and input, or half its registers, windows included, hide nothing more",
       {asks({threads, vector}, {T::streamed, T::trips, T::at_once},
             [](const Candidate& c) {
               constexpr std::int64_t register_bytes = 4;
               const std::int64_t held = (c.tiling.streamed ? 1 : c.tiling.trips) * c.plan.vector * c.tiling.at_once;
               const int registers = codegen::registers_for(c.limits, c.plan.threads);
               return c.tiling.at_once > 1 &&
                      (held * element_bytes(c) > 128 ||
                       held * std::max(input_bytes(c), window_bytes(c)) > register_bytes * registers / 2);
             })}},
      {"large-block",
       false,
       "1024 threads make every barrier and the tail dearer; only rows that fill them, columns of fewer blocks than "
       "SMs, or loops over what is turned without tiles, need so many",
       {asks({threads}, {T::groups, T::lanes},
             [](const Candidate& c) {
               return !is_across(c) && c.plan.threads == c.limits.threads_per_block &&
                      c.tiling.lanes < c.plan.threads / 2 && !turns_without_tiles(c);
             }),
        asks({threads}, {T::groups, T::lanes, T::together, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               return is_across(c) && c.plan.threads == c.limits.threads_per_block &&
                      c.tiling.lanes < c.plan.threads / 2 && blocks(c) >= c.limits.sms && !stays_near(c);
             })}},
      {"shared-short",
       false,
       "rows and columns under 64 bytes per thread stay in registers, not in shared memory, unless they are read at "
       "other places, or half the registers do not hold them beside sums across rows",
       {asks({homes, vector}, {T::trips},
             [](const Candidate& c) { return !c.prepared.sums_across && waits_shortly(c); }),
        asks({homes, threads, vector, in_flight}, {T::trips},
             [](const Candidate& c) { return c.prepared.sums_across && waits_shortly(c) && all_fits_half(c); })}},
      {"reload-short",
       false,
       "reading a row or column again pays only when 32 registers of a thread for each value, or half of all, do not",
       {asks({homes, threads, vector}, {T::trips},
             [](const Candidate& c) { return !c.prepared.sums_across && reloads_what_fits(c); }),
        asks({homes, threads, vector, in_flight}, {T::trips},
             [](const Candidate& c) { return c.prepared.sums_across && reloads_what_fits(c); })}},
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
       "a row waits in two ways only where all that waits is over 32 KiB, or beside sums across rows, and would take "
       "half of a thread's registers, or some of it is read at other places",
       {asks({homes, threads, vector}, {T::trips},
             [](const Candidate& c) {
               if (c.prepared.sums_across || !waits_in_two_ways(c)) return false;
               return waiting_bytes(c) * c.prepared.columns <= (32 << 10) || all_fits_half(c);
             }),
        asks({homes, threads, vector, in_flight}, {T::trips},
             [](const Candidate& c) { return c.prepared.sums_across && waits_in_two_ways(c) && all_fits_half(c); })}},
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
       "under half the widest vector leaves the memory path narrow, unless wider ones leave lanes idle that hold sums "
       "across rows; single elements are for what breaks vectors, and any for rows of up to 256 bytes that do, or "
       "loops whose wider vectors leave SMs without a block (of long elements half full); loops over runs also have "
       "what divides these, and half of it",
       {asks({vector}, {T::groups, T::lanes},
             [](const Candidate& c) {
               return has_narrow_vectors(c) && !(is_short_odd_row(c) && breaks_vectors(c)) && !has_few_elements(c);
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
      {"short-rows",
       false,
       "odd rows of up to 256 bytes that lanes of a warp own have four or more of each thread in flight where blocks "
       "are eight times the SMs or more, and blocks of them loop over no others",
       {asks({threads, threads_per_row, in_flight, grid},
             {T::groups, T::lanes, T::streamed, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               constexpr int least = 4;
               if (c.prepared.sums_across || c.tiling.streamed || !is_short_odd_row(c)) return false;
               return (c.plan.in_flight < least && blocks(c) >= std::int64_t{8} * c.limits.sms) ||
                      c.plan.grid == GridShape::persistent;
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
               return c.prepared.sums_across && c.plan.grid == GridShape::tile && tiles_of_set(c) > 1 &&
                      blocks(c) > std::int64_t{resident} * c.limits.sms;
             })}},
      {"across-resident",
       false,
       "blocks that add up across rows fill a quarter of an SM or more, an eighth where that has not the registers, "
       "and leave a thread those that it needs",
       {asks({grid, blocks_per_sm, threads, homes, vector, in_flight}, {T::trips},
             [](const Candidate& c) {
               if (!c.prepared.sums_across || c.plan.grid == GridShape::tile) return false;
               const std::int64_t threads = std::int64_t{c.plan.threads} * c.plan.blocks_per_sm;
               const bool queue = c.prepared.sets.count() > std::int64_t{c.plan.blocks_per_sm} * c.limits.sms;
               const std::int64_t quarter = c.limits.threads_per_sm / 4, eighth = quarter / 2;
               const bool has_room = quarter * registers_across(c) <= c.limits.registers_per_sm;
               return (!queue && threads < (has_room ? quarter : eighth)) ||
                      threads * registers_across(c) > c.limits.registers_per_sm;
             })}},
      {"broken-block",
       false,
       "where arrays are cut or joined, or turned in tiles, a block of sixteen warps touches too many lines at once",
       {asks({threads, unroll}, {},
             [](const Candidate& c) {
               return !c.prepared.straight && c.prepared.strip.rows == 0 && c.plan.threads >= 16 * c.limits.warp_size &&
                      !turns_without_tiles(c);
             })}},
      {"unrolled-idle",
       false,
       "several vectors at once, or strips, of over 768 instructions leave half of the SMs without a block, which "
       "would share the work",
       {asks({unroll, vector}, {T::streamed, T::trips, T::at_once, T::items, T::items_per_block, T::split},
             [](const Candidate& c) {
               constexpr std::int64_t much = 768;
               return (c.plan.unroll > 1 || c.prepared.strip.rows > 0) && 2 * blocks(c) < c.limits.sms &&
                      unrolled_code(c) > much;
             })}},
      {"strip-alone",
       false,
       "a strip of results is what a thread has at once: no further vectors beside it, and a tile for each block",
       {asks({unroll, grid}, {},
             [](const Candidate& c) {
               return c.prepared.strip.rows > 0 && (c.plan.unroll > 1 || c.plan.grid != GridShape::tile);
             })}},
      {"strip-registers",
       false,
       "what a vector of strips reads waits in half of the registers, as its elements are made one after the other",
       {asks({vector}, {},
             [](const Candidate& c) {
               constexpr std::int64_t register_bytes = 4;
               return c.plan.vector > 1 &&
                      2 * c.prepared.strip.loaded * c.plan.vector > register_bytes * c.limits.registers_per_thread;
             })}},
      {"shared-long",
       false,
       "rows and columns that fit 32 registers a thread for each kept value, and half of them for all, stay in "
       "registers, not in shared memory, unless they are read at other places",
       {asks({homes, threads, vector}, {T::trips},
             [](const Candidate& c) { return !c.prepared.sums_across && shares_what_fits(c); }),
        asks({homes, threads, vector, in_flight}, {T::trips},
             [](const Candidate& c) { return c.prepared.sums_across && shares_what_fits(c); })}},
      {"tile-edges",
       false,
       "tiles that are turned have 64 to 256 bytes of the narrowest array along each edge, of single bytes 32, or all "
       "there is",
       {asks({threads_per_row, vector, unroll}, {T::tile_written, T::tile_read},
             [](const Candidate& c) {
               if (!c.prepared.turn) return false;
               constexpr std::int64_t most = 256;
               const std::int64_t bytes = access_bytes_of(c);
               // Lanes that take a byte each reach a sector: blocks for more of them have sixteen warps.
               const std::int64_t least = c.plan.vector == 1 ? std::min<std::int64_t>(64, sector * bytes) : 64;
               const auto is_odd = [&](std::int64_t edge, std::int64_t run) {
                 return edge * bytes > most || (edge * bytes < least && edge < run);
               };
               return is_odd(c.tiling.tile_written, c.prepared.turn->written.size) ||
                      is_odd(c.tiling.tile_read, c.prepared.turn->read.size);
             })}},
      {"unturned-loop",
       false,
       "what tiles would turn has elements far apart, and blocks that loop over it bring them no nearer",
       {asks({grid}, {},
             [](const Candidate& c) { return c.prepared.turned != nullptr && c.plan.grid != GridShape::tile; })}},
      {"thin-lanes",
       false,
       "lanes of several warps that have under 16 bytes of a row each only wait for one another, where there are four "
       "rows or more for each SM, unless they hold sums across rows",
       {asks({threads_per_row, vector, split, meet, cluster}, {T::groups, T::lanes, T::trips, T::items, T::split},
             [](const Candidate& c) {
               return !is_across(c) && !c.prepared.sums_across && c.tiling.lanes > c.limits.warp_size &&
                      c.tiling.split == 1 && elements_per_thread(c) * array_bytes(c) < ir::access_bytes &&
                      c.tiling.items >= std::int64_t{4} * c.limits.sms;
             })}},
      {"barrier-rows",
       false,
       "rows that are summed across warps share a block in pairs at most: more wait for the slowest; where rows are "
       "added up too there are few blocks, and one has as many rows as it can",
       {asks({threads, threads_per_row}, {T::groups, T::lanes},
             [](const Candidate& c) {
               return !is_across(c) && !c.prepared.sums_across && c.tiling.lanes > c.limits.warp_size &&
                      c.plan.threads > 2 * c.tiling.lanes;
             })}},
  });
}();

}  // namespace

std::span<const Rule> thread_rule_table() { return thread_table; }

}  // namespace tailor::explore
