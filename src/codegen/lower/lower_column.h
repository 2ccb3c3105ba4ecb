// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of the column skeleton share. In: a prepared group and a plan. lower_column.cpp opens the loops
// down the columns and stores results; lower_column_join.cpp puts together what groups of lanes and blocks have added
// up. Called by these two alone.
#pragma once

#include <array>
#include <vector>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

struct ColumnPass {
  ProgramBuilder& builder;
  const Prepared& prepared;
  const ir::Plan& plan;
  ir::NodeId dominant = ir::no_node;
  std::int64_t lanes = 1, groups = 1, split = 1;
  ir::ExprId lane = 0, group = 0;
  ir::ExprId tile = 0, part = 0;  ///< of the block: its columns, and which of the blocks that share them it is
  std::int64_t tiles = 1;
  ir::ExprId column = 0;  ///< narrowed to the columns that exist, the vector's element included
  ir::ExprId k = 0;       ///< narrowed to the rows that exist
  bool ragged = false;    ///< the last block has columns that do not exist
  ir::Condition column_exists = {};
  Segment walk = {};     ///< down the columns
  Segment results = {};  ///< where the results are at hand: no trips
  bool combined = false;
  std::vector<ir::ArrayId> accumulators = {};  ///< parallel to the phase's reductions
  std::vector<ir::ArrayId> partials = {};      ///< of groups, in shared memory; the same
};

/// The accumulator of reduction `i` of the phase, at the element that the open loop over the vector has.
ir::Ref accumulator_element(const ColumnPass& pass, std::size_t i);
/// The loop over the elements of a vector, where it has several.
void open_elements(ColumnPass& pass);
void close_elements(ColumnPass& pass);
/// Conditions of the first group where columns exist. Returns how many there are.
int first_group(ColumnPass& pass, std::array<ir::Condition, 2>& conditions);

/// The accumulators of the first group, or of all, become the results of the block's columns.
void combine_groups(ColumnPass& pass, const Phase& phase, bool for_all);
/// From here on only the block that came last of those that share columns goes on, and its first group has the results.
/// Leaves a guard open.
void join_blocks(ColumnPass& pass, const Phase& phase);

}  // namespace tailor::codegen
