// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The words in which rules speak: bytes of a group's inputs, blocks, what waits, what is on its way. In: a candidate,
// of which each function reads what its name says and no more. Out: numbers and answers. Called by the table of rules
// (rules.cpp), whose rows must name all that these look at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "explore/plans/rules.h"
#include "ir/kernel/stitch_level.h"

namespace tailor::explore {

/// Bytes of an element of the widest full input.
std::int64_t element_bytes(const Candidate& c);

/// The same of the widest full input or output: a vector of over 16 of them is stored in pieces, which lie apart.
std::int64_t array_bytes(const Candidate& c);

/// Bytes of the narrowest.
std::int64_t access_bytes_of(const Candidate& c);

/// Bytes of one element of every full input.
std::int64_t input_bytes(const Candidate& c);

/// Bytes that the windows of one element read.
std::int64_t window_bytes(const Candidate& c);

/// Whether half of a thread's registers hold all that would wait if nothing of it were elsewhere or read again, one
/// register for each value of an element: a narrow one is widened once for all phases that read it.
bool all_fits_half(const Candidate& c);
/// The same of inputs alone or of what is computed of them, whichever are fewer.
bool some_list_fits_half(const Candidate& c);

/// Bytes of one element of all that waits, if all of it does that the plan's homes are a part of.
std::int64_t waiting_bytes(const Candidate& c);

/// Half of the registers that a block can have, in bytes.
std::int64_t half_of_registers(const Candidate& c);

bool has(const Candidate& c, ir::StitchLevel level);

/// Whether some values wait in shared memory, of the block or the cluster.
bool waits_in_shared(const Candidate& c);
/// Whether one that waits at that level is read at other places of its row.
bool moves_from(const Candidate& c, ir::StitchLevel level);
/// The same of either level in shared memory.
bool moves_in_shared(const Candidate& c);

/// Whether lanes have items of their own, side by side, and groups of lanes share them.
bool is_across(const Candidate& c);

std::int64_t blocks(const Candidate& c);
/// Tiles of what stays; where rows are added up in sets, of each of these.
std::int64_t tiles_of_set(const Candidate& c);

/// Columns so few that a block can have all or half of them: other axes have to tell plans apart.
bool is_narrow(const Candidate& c);

/// The most elements of the widest input that an access of a column plan can take.
std::int64_t widest_vector(const Candidate& c);

/// Whether parts of a row have less on the way than so many bytes of the widest input, though more of it is there.
bool reads_little(const Candidate& c, std::int64_t enough);

/// Whether so many blocks that meet share a row otherwise than one block at a time would have it at its best, or have
/// less than so many bytes of it each, or fewer threads than so many or one for each 64 bytes.
bool parts_badly(const Candidate& c, std::int64_t blocks, std::int64_t least, std::int64_t large);

/// Whether they have too little on its way, for what registers leave free, or rows that a thread has at once.
bool flies_badly(const Candidate& c);

/// Whether a block goes through its columns again and has few of them side by side, a line of 128 bytes or what an SM's
/// first cache holds, which is where shared memory is: the fewer of them and the more threads to each, the sooner they
/// are read again, and out of the nearer cache.
bool stays_near(const Candidate& c);

/// Single elements of arrays that are read with a stride: no vector of them lies side by side.
bool takes_apart(const Candidate& c);
/// Whether columns have room for wider accesses: all inputs together have little in one.
bool narrows(const Candidate& c);

/// Whether a power of two of blocks for each of so many bands, of columns that a block goes over side by side, fills
/// seven eighths of the SMs with one block each.
bool fill_by_doubling(std::int64_t bands, std::int64_t sms);

/// Whether columns that are gone through again are shared by a number of blocks, no power of two, that is not the one
/// which has a block for each SM, or although a power of two has nearly as many.
bool fills_badly(const Candidate& c);

/// Whether blocks that share columns are too many or too few, or have too little of them, or go over them narrowly: the
/// reasons of the rule `split-columns`.
bool shares_columns_badly(const Candidate& c);

/// The same of blocks that share rows and do not meet, and `split-rows`.
bool shares_rows_badly(const Candidate& c);

/// The same of blocks of the grid that share rows and meet, and `meet-size`.
bool meets_badly(const Candidate& c);

/// Elements of a row that a thread handles.
std::int64_t elements_per_thread(const Candidate& c);

/// Bytes of a row that a thread keeps in registers, if all of it waits at once.
std::int64_t kept_bytes(const Candidate& c);

/// Registers of a thread that adds up across rows: what waits of its rows, a sum for each of its columns, and others.
std::int64_t registers_across(const Candidate& c);

/// Bytes of the widest input that a thread should have in flight beside so many that it keeps.
std::int64_t room_in_flight(const Candidate& c, std::int64_t kept);

/// Whether rows that a block has alone are gone through again, and are more, with a full SM, than twice what its first
/// cache holds: they come from afar then, the farther the more there are.
bool leaves_caches(const Candidate& c);

/// Columns that a block has side by side; of rows, which it may have alone, 1.
std::int64_t beside_in_block(const Candidate& c);

/// Neighbouring bytes that lanes ask for together at least: a line. Of columns that are gone through again, of which a
/// block or the largest cluster can hold no line, half or a quarter of it, if it holds that.
std::int64_t least_together(const Candidate& c);

/// Whether the widest vectors that two accesses of 16 bytes to the widest array take do not go over rows as they are:
/// they do not divide them, or, of loops with elements for all threads of the device, the runs that operations leave
/// whole. With fewer elements, and of rows, whatever turns, cuts or joins arrays counts as breaking them.
bool breaks_vectors(const Candidate& c);
/// Whether vectors, of no columns, are less than half of those; single elements only where these go over rows. Of tiles
/// that are turned, less than half of those that divide both of a tile's runs. Of loops over shorter runs, which some
/// operation leaves whole or goes over one after the other, what divides them is not narrow, nor half of it.
bool has_narrow_vectors(const Candidate& c);

/// Whether a loop that reduces nothing has so few elements that vectors twice as wide, in blocks of two warps, would
/// leave SMs without a block; or, of elements that take many instructions, SMs half full.
bool has_few_elements(const Candidate& c);

/// Whether a long loop follows what a transpose has moved apart, and there are no tiles for it: a block finds
/// neighbours of what one of its threads asks for only where others are at them, the sooner the more there are.
bool turns_without_tiles(const Candidate& c);

/// Whether rows lie in runs of less than a sector and can be gone through as columns in bundles.
bool leaves_rows_to_bundles(const Candidate& c);

/// Whether lanes of a warp have rows of up to 256 bytes whose elements are no power of two. A warp has neighbouring
/// rows, so what its lanes do not ask for together they find near, and no number of lanes fits such a row.
bool is_short_odd_row(const Candidate& c);

/// Whether lanes ask for less together than that, or, of columns of up to 64 bytes, than half of them.
bool reads_apart(const Candidate& c);

/// Whether lanes across columns ask for less than a line, where there is more.
bool is_thin(const Candidate& c);

/// Whether a block that shares columns has under eight rows and 64 bytes in flight, and 256 of all inputs.
bool flies_little(const Candidate& c);

/// Whether nothing waits though half of the registers of so many blocks hold what could, of a row or of the columns
/// that they have side by side.
bool rereads_what_fits(const Candidate& c, std::int64_t blocks);

/// Whether columns that wait have too much or too little in flight, or a block has several bands of them.
bool waits_badly(const Candidate& c);

/// Whether a block of a cluster has other columns than a line or two, under 4 KiB of them, or too few threads for them.
bool parts_columns_badly(const Candidate& c);

/// Whether a cluster half as large would do, or one twice as large be better, as the rule `cluster-size` says.
bool clusters_badly(const Candidate& c);

/// Whether all that waits of a row or column, or what waits of a part, is in registers at once.
bool are_in_registers(const Candidate& c);

/// Whether a row or column of under 64 bytes a thread waits in shared memory, and is not read at other places.
bool waits_shortly(const Candidate& c);
/// Whether one that 32 registers of a thread hold for each value waits there, though half of its registers hold all
/// that could: of rows in flight, and beside sums across them, where there are such.
bool shares_what_fits(const Candidate& c);
/// Whether one is read again that they hold.
bool reloads_what_fits(const Candidate& c);
/// Whether some of what could wait does, or in several homes, and none of it is read at other places.
bool waits_in_two_ways(const Candidate& c);

/// Instructions in the code of a thread for the elements that it has at once, as estimated: all that one of them takes
/// is there for each, because loops over them are unrolled.
std::int64_t unrolled_code(const Candidate& c);

/// The same of what waits between two phases at most.
std::int64_t kept_at_once(const Candidate& c);

/// Registers of a thread that values of a row take between two phases, as the lowering packs them; a row that is there
/// at once without waiting takes those of its widest input.
std::int64_t kept_registers(const Candidate& c);

}  // namespace tailor::explore
