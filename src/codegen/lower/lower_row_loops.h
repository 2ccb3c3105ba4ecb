// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The loops of the row skeleton: which thread has which rows and which of their elements. In: a prepared group, a plan,
// limits. Out: index expressions of row and column, the segments of a row, or a rejection.
// Called by lower_row.cpp, which opens these loops and writes what stands in them.
#pragma once

#include <optional>
#include <vector>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

/// The loops that deal the rows of a group to blocks, warps and lanes.
struct RowLoops {
  ir::ExprId row = 0;   ///< narrowed to the rows that exist
  bool ragged = false;  ///< the last block has rows that do not exist
  ir::Condition row_exists;
  ir::ExprId lane = 0;  ///< lane of the row within its warp
  ir::ExprId warp = 0;  ///< warp of the row
  ir::ExprId row_in_block = 0;
  ir::ExprId row_in_warp = 0;     ///< of the rows that a warp has at once
  ir::ExprId first_row = 0;       ///< of those that a lane has in flight; the others follow by rows_per_warp
  ir::ExprId row_lane = 0;        ///< lane of the row, over all its warps
  ir::ExprId wide_lane = 0;       ///< the same over all blocks that share the row
  ir::ExprId tile = 0, part = 0;  ///< of the block: its rows, and which of the blocks that share them it is
  std::int64_t tiles = 1;
  /// Sums across rows: so many blocks deal out the tiles in rounds. They are `families` of neighbours each.
  std::int64_t blocks = 0, family = 1, families = 1, rounds = 1;
  ir::VarId round = 0;
  ir::ExprId member = 0, family_of_block = 0;
  ir::ExprId block = 0;
  ir::VarId flight = 0;  ///< q
  std::int64_t rows_per_block = 1;
  std::int64_t rows_per_warp = 1;  ///< with rows in flight: those that a warp has at once, else all of the block's
  std::int64_t warps_per_row = 1;
  std::int64_t lanes = 1;  ///< of a row, over all blocks that share it
  std::vector<Segment> segments;
};

/// Whether a vector would go over the end of a run of neighbours, where a row has several.
inline bool breaks_vectors(const Prepared& prepared, const ir::Plan& plan) {
  return !prepared.domain.is_contiguous() && prepared.domain.fastest() % plan.vector != 0;
}

/// Adds the variables of blocks, lanes, warps and rows in flight, and fills all but the segments.
std::optional<ir::Rejection> make_rows(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                       const ir::Limits& limits, RowLoops& rows);
/// Adds the segments: whole vectors, and an edge where the row has elements around them. `rolled`: the row is gone
/// through in parts; the loop over these is unrolled too where some of the row stays in registers.
std::optional<ir::Rejection> make_segments(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                           bool rolled, RowLoops& rows);

/// Opens the loops of a segment whose `unrolled` is as asked, and closes them again.
void open_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled);
void close_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled);
/// The unrolled trips, the guard and the loop over a vector's elements.
void open_section(ProgramBuilder& builder, const Segment& segment);
void close_section(ProgramBuilder& builder, const Segment& segment);

}  // namespace tailor::codegen
