// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A launch cut into boxes. In: code, extents. Out: parts that are alike. Called through cover.h.
//
// The first warp of a box is run. It says for which blocks, groups and warps behind it its way holds (reach.h), which
// is a smaller box at the same corner. What is left of the first are three more: other warps, other groups, other
// blocks. So persistent blocks that take a turn less, warps behind the end of a row and the first warp of each row cost
// a run each, wherever they begin. Groups are one until a run meets lower bits of a thread's index in which warps
// repeat; then it is begun again with groups of so many.
#include "profiler/compile/cover.h"

#include <algorithm>
#include <utility>

namespace tailor::profiler {

std::int64_t blocks_of(const ir::LaunchShape& shape) {
  return std::int64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
}

std::int64_t warps_of(const ir::LaunchShape& shape) {
  return (std::int64_t{shape.block[0]} * shape.block[1] * shape.block[2] + 31) / 32;
}

WarpPlace place_of(const ir::LaunchShape& shape, std::int64_t block, std::int64_t warp) {
  const std::int64_t x = shape.grid[0], y = shape.grid[1];
  return {shape.grid,
          shape.block,
          {static_cast<std::uint32_t>(block % x), static_cast<std::uint32_t>(block / x % y),
           static_cast<std::uint32_t>(block / (x * y))},
          static_cast<std::uint32_t>(warp)};
}

namespace {

/// All warps in groups; those that are left in a group of their own, and a last one of fewer lanes.
std::vector<Box> whole_launch(const ir::LaunchShape& shape, std::int64_t period) {
  const std::int64_t blocks = blocks_of(shape), warps = warps_of(shape);
  const std::int64_t full = std::int64_t{shape.block[0]} * shape.block[1] * shape.block[2] / 32;
  const std::int64_t groups = full / period, rest = full - groups * period;
  return {{0, blocks, 0, 1, full, warps - full}, {0, blocks, groups, 1, 0, rest}, {0, blocks, 0, groups, 0, period}};
}

}  // namespace

Cover cover(const ControlCode& code, const ir::LaunchShape& shape, Following how, std::int64_t most,
            WarpScratch& scratch) {
  Cover made;
  made.period = std::max<std::int64_t>(warps_of(shape), 1);
  std::vector<Box> open = whole_launch(shape, made.period);
  // After some runs it shows how many warps each of them stands for, and so how many all would take.
  constexpr std::int64_t few_runs = 32;
  const std::int64_t all = blocks_of(shape) * warps_of(shape);
  std::int64_t covered = 0;
  bool grouped = false;
  while (!open.empty()) {
    const Box one = open.back();
    open.pop_back();
    if (one.blocks <= 0 || one.groups <= 0 || one.warps <= 0) continue;
    if (made.warps_run >= few_runs && made.warps_run * all > most * covered) return made;
    ++made.warps_run;
    how.asked = Reach{one.blocks, one.groups, one.warps, made.period};
    how.only_to_period = !grouped;
    WarpCounts counts = run_warp(code, place_of(shape, one.block, one.group * made.period + one.warp), how, scratch);
    how.most_runs -= counts.followed;
    if (!counts.refused.empty()) return made;
    const Reach reach = counts.reach;
    if (!grouped && reach.period > 0) {
      grouped = true;
      made.period = reach.period;
      open = whole_launch(shape, made.period);
      made.parts.clear();
      covered = 0;
      continue;
    }
    open.push_back({one.block + reach.blocks, one.blocks - reach.blocks, one.group, one.groups, one.warp, one.warps});
    open.push_back({one.block, reach.blocks, one.group + reach.groups, one.groups - reach.groups, one.warp, one.warps});
    open.push_back({one.block, reach.blocks, one.group, reach.groups, one.warp + reach.warps, one.warps - reach.warps});
    covered += reach.blocks * reach.groups * reach.warps;
    made.parts.push_back(
        {{one.block, reach.blocks, one.group, reach.groups, one.warp, reach.warps}, std::move(counts)});
  }
  made.whole = true;
  return made;
}

}  // namespace tailor::profiler
