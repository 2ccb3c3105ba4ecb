// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The meeting of blocks that share a tile. In: which tile a block has a part of, and which part. Out: statements after
// which only the block that came last goes on. Called by the skeletons whose plans have the axis `split`, once each
// block has written its part to a workspace.
#pragma once

#include <array>
#include <cstdint>

#include "codegen/lower/lower_build.h"

namespace tailor::codegen {

/// What a block shares with others: `split` blocks have a part each of one of `tiles` tiles.
struct SharedTile {
  ir::ExprId tile = 0, part = 0;  ///< of the block
  std::int64_t tiles = 1, split = 1;
  std::array<ir::Condition, 2> first_thread{};  ///< conditions that one thread of the block meets
  int conditions = 0;
};

/// Numbers of blocks and partial results that a thread loads before it adds them up: so many are on their way together.
inline constexpr std::int64_t parts_together = 8;

/// Opens the guard of the block that comes last and leaves it open: in it, all parts are in memory and can be read by
/// every thread, and the ticket is back at zero. Ends with a barrier behind the open guard's question, so that shared
/// memory may be written again.
void open_last_block(ProgramBuilder& builder, const SharedTile& shared);

}  // namespace tailor::codegen
