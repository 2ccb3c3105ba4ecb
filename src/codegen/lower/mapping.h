// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Mapping: who goes over which positions of a domain. In: a prepared group, a plan, limits. Out: for each side of the
// domain a mixed radix whose digits are dealt to vectors, threads, blocks and loops; what follows from it alone.
// Called by the skeletons' refusals, by the lowering, which makes variables of it (lower_loops.h), and by rules.
//
// Rows that are added up in sets (RowSets) have a further digit, the number of the set, which is a block's: all other
// digits then name a member of it.
//
// Every skeleton is a row of one table (mapping.cpp), and a level is a column. With R rows in a block at once, F of
// them in flight, and L lanes to a row:
//
//           side   vector  lane     flight  group  cluster  grid   block  section  loop
//   row     kept           R or R/W F       W                      tiles           rounds
//           along  V       L                warps  blocks   split  split  trips, in sections
//   column  kept   V       L                                       tiles
//           along                           G      blocks   split  split  rows at a time   turns
//   map     kept   V       threads  U                              blocks
//   transpose kept V       L        U       threads/L              tiles
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/indexed.h"
#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::codegen {

/// Positions of a domain (domain.h): among all that stays, and among all that is reduced for one result.
enum class Side : std::uint8_t { kept, along };

/// Who counts a digit, inner ones first. Threads next to each other are lanes: of one warp where a row is shared by
/// several, else as many as the side has. `cluster` and `grid` are blocks that meet, by distributed shared memory or by
/// global memory, at a barrier or where a launch ends; `block` those that do not. `flight` and `section` are unrolled
/// loops, `loop` is one of the program.
enum class Level : std::uint8_t { vector, lane, flight, group, cluster, grid, block, section, loop };
inline constexpr int levels = 9;

/// One side: a position is the sum of each level's digit times the extents of the levels inside it. A level that the
/// side is not dealt to has the extent 1.
struct Digits {
  std::int64_t size = 1;   ///< elements of the domain on this side
  std::int64_t units = 1;  ///< whole vectors of it; elements where its vectors have one
  IndexedArray<std::int64_t, levels> extents{1, 1, 1, 1, 1, 1, 1, 1, 1};
  bool operator==(const Digits&) const = default;
};

struct Mapping {
  ir::Skeleton skeleton = ir::Skeleton::map;
  IndexedArray<Digits, 2> sides{};
  Side fast = Side::kept;  ///< on which neighbours in memory lie: it has the vectors and the neighbouring threads
  RowSets sets = {};       ///< of what stays; where there are several, that side is one of them
  std::int64_t run = 0;    ///< neighbours in memory on that side that lanes can read together; 0: all there are
  bool peels = false;      ///< elements that fill no vector are handled one by one; else vectors must divide the run
  bool in_parts = false;   ///< what a section reads is loaded before it, not all that a phase reads before the phase
  bool operator==(const Mapping&) const = default;

  Digits& operator[](Side side) { return sides[side]; }
  const Digits& operator[](Side side) const { return sides[side]; }
  /// Nothing is reduced: one flat loop.
  bool is_flat() const { return skeleton == ir::Skeleton::map; }
  /// Nor here, but tiles go through shared memory.
  bool turns() const { return skeleton == ir::Skeleton::transpose; }
};

Mapping mapping(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);

inline std::int64_t extent(const Mapping& mapping, Side side, Level level) { return mapping[side].extents[level]; }

/// How far apart on the side, in elements, two neighbours of the level are.
inline std::int64_t stride_of(const Mapping& mapping, Side side, Level level) {
  std::int64_t stride = 1;
  for (int inner = 0; inner < static_cast<int>(level); ++inner) stride *= mapping[side].extents[inner];
  return stride;
}

/// Positions that the digits name: those that exist and those behind the end.
inline std::int64_t covered(const Mapping& mapping, Side side) {
  return stride_of(mapping, side, Level::loop) * extent(mapping, side, Level::loop);
}

inline std::int64_t units(const Mapping& mapping, Side side) { return mapping[side].units; }

/// Whether some digits name positions behind the end, which a guard cuts off.
inline bool is_ragged(const Mapping& mapping, Side side) {
  return covered(mapping, side) != units(mapping, side) * extent(mapping, side, Level::vector);
}

/// Threads of a block that share out the side.
inline std::int64_t threads_on(const Mapping& mapping, Side side) {
  return extent(mapping, side, Level::lane) * extent(mapping, side, Level::group);
}

/// How far apart two threads are that are neighbours of the level, lane or group.
inline std::int64_t thread_stride(const Mapping& mapping, Side side, Level level) {
  return (side == mapping.fast ? 1 : threads_on(mapping, mapping.fast)) *
         (level == Level::group ? extent(mapping, side, Level::lane) : 1);
}

/// Tiles that blocks have of what stays, or of each set: a tile is what a block does of it at once.
inline std::int64_t tiles(const Mapping& mapping) {
  const std::int64_t tile = stride_of(mapping, Side::kept, Level::block) / extent(mapping, Side::kept, Level::vector);
  return (units(mapping, Side::kept) + tile - 1) / tile;
}

/// Blocks that loop over the tiles of each set, where so many are resident.
inline std::int64_t blocks_of_set(const RowSets& sets, std::int64_t resident) {
  return std::max<std::int64_t>(resident / sets.count(), 1);
}

/// Vectors, or elements, that a thread handles of what is reduced for one result; a section may go on behind them.
inline std::int64_t trips(const Mapping& mapping) {
  const std::int64_t at_once =
      stride_of(mapping, Side::along, Level::section) / extent(mapping, Side::along, Level::vector);
  return (units(mapping, Side::along) + at_once - 1) / at_once;
}

/// Elements of the fast side that lie around its whole vectors.
inline std::int64_t rest(const Mapping& mapping) {
  return mapping[mapping.fast].size - units(mapping, mapping.fast) * extent(mapping, mapping.fast, Level::vector);
}
/// Whole vectors of the fast side; 0 where they would go over the end of a run.
inline std::int64_t vectors(const Mapping& mapping) {
  const bool breaks = !mapping.peels && mapping.run % extent(mapping, mapping.fast, Level::vector) != 0;
  return breaks ? 0 : units(mapping, mapping.fast);
}

/// Neighbours in memory that threads side by side take at once, one vector each; a run may end before.
inline std::int64_t taken_together(const Mapping& mapping) {
  return threads_on(mapping, mapping.fast) * extent(mapping, mapping.fast, Level::vector);
}

/// Whether one block would have all with less in flight.
inline bool leaves_flight_idle(const Mapping& mapping) {
  const std::int64_t flight = extent(mapping, Side::kept, Level::flight);
  return flight > 1 && units(mapping, Side::kept) <= threads_on(mapping, Side::kept) * (flight - 1);
}

/// Blocks that share what is reduced and wait for one another, in a cluster or over the whole grid: each can go on.
inline std::int64_t meeting_blocks(const Mapping& mapping) {
  return extent(mapping, Side::along, Level::cluster) * extent(mapping, Side::along, Level::grid);
}

/// Blocks that share what is reduced, whether they meet or not.
inline std::int64_t sharing_blocks(const Mapping& mapping) {
  return meeting_blocks(mapping) * extent(mapping, Side::along, Level::block);
}

/// Whether so many blocks share what is reduced that some of them would find nothing to add up.
inline bool leaves_blocks_idle(const Mapping& mapping) {
  return (sharing_blocks(mapping) - 1) * threads_on(mapping, Side::along) >= units(mapping, Side::along);
}

/// The level at which threads that go on together put together what they have reduced.
inline ir::StitchLevel stitch_level(const Mapping& mapping) {
  return extent(mapping, Side::along, Level::grid) > 1      ? ir::StitchLevel::grid
         : extent(mapping, Side::along, Level::cluster) > 1 ? ir::StitchLevel::cluster
         : extent(mapping, Side::along, Level::group) > 1   ? ir::StitchLevel::block
         : extent(mapping, Side::along, Level::lane) > 1    ? ir::StitchLevel::warp
                                                            : ir::StitchLevel::registers;
}

/// Bytes of an SM's shared memory that a block with so many takes: the system keeps some, and it comes in units.
inline std::int64_t shared_for(const ir::Limits& limits, std::int64_t bytes) {
  const std::int64_t unit = std::max(limits.shared_unit, 1);
  return (bytes + limits.shared_reserved_per_block + unit - 1) / unit * unit;
}

/// Registers that a thread of a block of so many threads can have, if so many blocks are to be resident on an SM.
inline int registers_for(const ir::Limits& limits, int threads, int min_blocks = 0) {
  const int most = std::min(limits.registers_per_thread, limits.registers_per_block / threads);
  return min_blocks == 0 ? most : std::min(most, limits.registers_per_sm / threads / min_blocks);
}

/// A reduction, and the level at which its result gets to those who read it.
struct SubRoot {
  ir::NodeId node = ir::no_node;
  ir::StitchLevel stitch = ir::StitchLevel::registers;
  bool operator==(const SubRoot&) const = default;
};

/// The reductions, ascending, as the plan deals them out.
std::vector<SubRoot> sub_roots(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);

}  // namespace tailor::codegen
