// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of skeletons as the lowering sees them: what each recognises, how a plan of it deals out the work, what it
// refuses, how it is lowered. Each row of ir/skeletons.def gets its functions by name; the analysis, prepare, lower,
// the rules and the shrinking of shapes ask the table and never which skeleton it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "codegen/lower/prepare.h"
#include "codegen/lower/structure.h"
#include "ir/device.h"
#include "ir/fusion.h"
#include "ir/plan.h"

namespace tailor::codegen {

class ProgramBuilder;

/// How a plan deals the work of a group to threads; known without lowering. An item is what is dealt to blocks: a row,
/// a column, or a vector of a flat loop.
struct Tiling {
  std::int64_t vectors = 0;          ///< whole vectors of a row, of all columns side by side, or of the whole array
  std::int64_t rest = 0;             ///< elements of a row around its vectors, each of which takes a lane
  std::int64_t run = 0;              ///< neighbours in memory that lanes can read together; 0: all there are
  std::int64_t trips = 1;            ///< vectors per thread of one row or of its columns; a flat loop has one
  bool streamed = false;             ///< not all that waits of a row is in registers: it is gone through in parts
  int lanes = 1;                     ///< threads side by side along a row
  int groups = 0;                    ///< of such lanes that walk down the same columns; 0: items lie along the lanes
  int at_once = 1;                   ///< items per thread at once; streamed: vectors of one row
  std::int64_t items = 0;            ///< of the group
  std::int64_t items_per_block = 1;  ///< of one virtual block
  int split = 1;                     ///< blocks that share their items: each has a part of every one of them
  int walks = 1;                     ///< times that an item's elements are gone through
};

struct SkeletonLowering {
  /// Nothing: another skeleton's. A rejection: of this kind, but not one that it can do; another may still take it.
  std::optional<Classified> (*recognise)(const Region& region);
  /// find_doubt() for what it recognised.
  std::optional<ir::Rejection> (*doubt)(const Region& region, const Layout& layout);
  /// Fills Prepared::dominants, the usual choice first; phases are known.
  void (*dominants)(const ir::Graph& graph, Prepared& prepared);
  Tiling (*tiling)(const Prepared& prepared, const ir::Plan& plan);
  /// Why the fields of the plan that are this skeleton's own do not fit together.
  std::optional<ir::Rejection> (*refuse)(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
  /// Writes the loops and statements; everything about the launch but virtual_blocks is the caller's.
  std::optional<ir::Rejection> (*lower)(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan,
                                        const ir::Limits& limits);
};

/// Registers that a thread of a block of so many threads can have.
inline int registers_for(const ir::Limits& limits, int threads) {
  return std::min(limits.registers_per_thread, limits.registers_per_block / threads);
}

/// Whether so many blocks share items that some of them would find nothing to add up.
inline bool leaves_blocks_idle(const Prepared& prepared, const Tiling& tiling) {
  const std::int64_t at_once = tiling.groups > 0 ? tiling.groups : tiling.lanes;
  return (tiling.split - 1) * at_once >= (tiling.groups > 0 ? prepared.columns : tiling.vectors);
}

const SkeletonLowering& lowering(ir::Skeleton skeleton);

inline Tiling tiling(const Prepared& prepared, const ir::Plan& plan) {
  return lowering(plan.skeleton).tiling(prepared, plan);
}

#define SKELETON(name, unit, what, ...)                                                                              \
  std::optional<Classified> recognise_##name(const Region& region);                                                  \
  std::optional<ir::Rejection> doubt_##name(const Region& region, const Layout& layout);                             \
  void dominants_##name(const ir::Graph& graph, Prepared& prepared);                                                 \
  Tiling tiling_##name(const Prepared& prepared, const ir::Plan& plan);                                              \
  std::optional<ir::Rejection> refuse_##name(const Prepared& prepared, const ir::Plan& plan,                         \
                                             const ir::Limits& limits);                                              \
  std::optional<ir::Rejection> lower_##name(ProgramBuilder& builder, const Prepared& prepared, const ir::Plan& plan, \
                                            const ir::Limits& limits);
#include "ir/skeletons.def"
#undef SKELETON

}  // namespace tailor::codegen
