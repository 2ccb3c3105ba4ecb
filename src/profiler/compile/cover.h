// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The warps of a launch as boxes of blocks, groups of warps and warps that go the same way through machine code.
// In: prepared code, extents of a launch.
// Out: boxes that cover it, each with what one of its warps does. Called by machine_work.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel/launch.h"
#include "profiler/compile/warp_run.h"

namespace tailor::profiler {

std::int64_t blocks_of(const ir::LaunchShape& shape);
std::int64_t warps_of(const ir::LaunchShape& shape);  ///< of a block
/// A warp of a block; blocks are numbered along the first axis first.
WarpPlace place_of(const ir::LaunchShape& shape, std::int64_t block, std::int64_t warp);

/// Blocks from one on, in each of them groups of warps from one on, in each of those warps from one on.
struct Box {
  std::int64_t block = 0, blocks = 0, group = 0, groups = 0, warp = 0, warps = 0;
};

/// Warps that all do the same.
struct Alike {
  Box of;
  WarpCounts counts;  ///< of one
};

/// Every warp of the launch is in one of `parts`.
struct Cover {
  std::vector<Alike> parts;
  std::int64_t period = 1;  ///< warps of a group
  std::int64_t warps_run = 0;
  bool whole = false;  ///< else too many had to be run, or one was refused, and some are missing
};
/// At most `most` warps are run. What is left of `how.most_runs` is not said.
Cover cover(const ControlCode& code, const ir::LaunchShape& shape, Following how, std::int64_t most,
            WarpScratch& scratch);

}  // namespace tailor::profiler
