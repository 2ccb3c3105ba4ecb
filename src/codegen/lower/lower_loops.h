// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A mapping as a kernel sees it: variables of its digits, the two positions they name, guards where they name more than
// there is, segments. In: a mapping. Out: index expressions and loops that can be opened. Called by lower_phases.cpp
// and by those who put its sums together, for every skeleton alike.
#pragma once

#include <array>
#include <span>

#include "codegen/lower/lower_build.h"
#include "codegen/lower/mapping.h"

namespace tailor::codegen {

struct Loops {
  /// The digits, loops aside. One with the extent 1 is the constant 0.
  IndexedArray<IndexedArray<ir::ExprId, levels>, 2> digits{};
  ir::ExprId block = 0;
  ir::ExprId set = 0;     ///< of rows that are added up together
  ir::ExprId rank = 0;    ///< number of the block among those that share its items and meet
  ir::ExprId thread = 0;  ///< in its block
  ir::VarId round = 0;    ///< over the tiles of a block, where it has several
  ir::VarId flight = 0;   ///< over what a thread has of them at once
  ir::ExprId number = 0;  ///< position among what stays, in vectors, as if all that the digits name existed
  ir::ExprId kept = 0;    ///< position among what stays, narrowed to what exists, the vector's element included
  bool ragged = false;    ///< some threads of the last tile have nothing
  ir::Condition exists;   ///< then it asks whether this one has
  Segment results;        ///< where results of a vector are at hand: no trips

  /// The ways through what is reduced: whole vectors, and behind them the elements around these, where there are some.
  std::span<const Segment> segments() const { return prefix(ways_, way_count_); }
  void add(const Segment& segment) { ways_[static_cast<std::size_t>(way_count_++)] = segment; }

 private:
  std::array<Segment, 2> ways_{};
  int way_count_ = 0;
};

/// Adds the variables and fills all of it. `spans`: arrays of registers can span what is reduced, though it is gone
/// through in parts.
Loops make_loops(ProgramBuilder& builder, const Mapping& mapping, bool spans);
/// Elements behind the last whole vector of a flat loop: one for each thread of the last block.
Loops make_tail(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops);

/// The row that is number `member` of the block's set; the same number where there are no sets.
ir::ExprId row_of_set(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops, ir::ExprId member);

/// The number of the thread among those of its block that share out the side, and that of what they have of it.
ir::ExprId thread_on(ProgramBuilder& builder, const Mapping& mapping, const Loops& loops, Side side);

/// The loop over what a thread has at once, and the guard of what exists.
void open_items(ProgramBuilder& builder, const Loops& loops);
void close_items(ProgramBuilder& builder, const Loops& loops);
/// The same loop alone.
void open_flight(ProgramBuilder& builder, const Loops& loops);
void close_flight(ProgramBuilder& builder);
/// The same guard alone.
void open_existing(ProgramBuilder& builder, const Loops& loops);
void close_existing(ProgramBuilder& builder, const Loops& loops);
/// The loop over the elements of a vector of results, where it has several.
void open_elements(ProgramBuilder& builder, const Loops& loops);
void close_elements(ProgramBuilder& builder, const Loops& loops);
/// Opens the loops of a segment whose `unrolled` is as asked, and closes them again.
void open_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled, bool backward = false);
void close_trips(ProgramBuilder& builder, const Segment& segment, bool unrolled);
/// The unrolled trips and the guard.
void open_vectors(ProgramBuilder& builder, const Segment& segment);
void close_vectors(ProgramBuilder& builder, const Segment& segment);
/// And the loop over a vector's elements.
void open_section(ProgramBuilder& builder, const Segment& segment);
void close_section(ProgramBuilder& builder, const Segment& segment);

}  // namespace tailor::codegen
