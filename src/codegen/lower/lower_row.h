// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the two halves of the row skeleton share. In: a prepared group and a plan. lower_row.cpp opens the loops over
// rows and stores results; lower_row_join.cpp puts together what lanes, warps and blocks have summed up. Called by
// these two alone.
#pragma once

#include <vector>

#include "codegen/lower/lower_row_loops.h"

namespace tailor::codegen {

struct RowPass {
  ProgramBuilder& builder;
  const Prepared& prepared;
  const ir::Plan& plan;
  const ir::Limits& limits;
  bool rolled = false;     ///< a row is gone through in parts; else what a phase reads is loaded before it
  bool loads_all = false;  ///< the first phase loads what later ones need as well
  const KeptHomes& kept;   ///< what the plan's homes keep of each phase
  RowLoops rows = {};
  std::vector<ir::ArrayId> accumulators = {};  ///< parallel to the phase's reductions
  std::vector<ir::ArrayId> partials = {};      ///< of warps, in shared memory; the same
  /// Numbers of the rows in flight that are stored together once all of them are known.
  struct RowNumber {
    std::int32_t output = 0;
    ir::ArrayId array = ir::no_id;
  };
  std::vector<RowNumber> row_numbers = {};
  /// A sum across rows, of all phases, and what each thread has added up of it.
  struct Across {
    ir::NodeId sum = ir::no_node;
    RowReduction kind = RowReduction::none;
    ir::ArrayId array = ir::no_id;
  };
  std::vector<Across> across = {};
};

/// The thread's number in its block.
inline ir::ExprId thread_of(RowPass& pass) {
  IndexBuilder& build = pass.builder.build();
  return build.expand(build.add_scaled(pass.rows.row_lane, pass.rows.row_in_block, pass.plan.threads_per_row));
}

/// The accumulators of every lane become what all lanes of its row in this block have summed up.
void combine_lanes(RowPass& pass, const Phase& phase);
/// From here on only the block that came last of those that share rows goes on, and every lane of a row has the
/// results. Leaves a guard open.
void join_blocks(RowPass& pass, const Phase& phase);

}  // namespace tailor::codegen
