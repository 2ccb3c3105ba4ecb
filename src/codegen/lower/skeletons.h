// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of skeletons as the lowering sees them: which nodes its loops can follow, how a plan of it deals out the
// work, what it refuses. Each row of ir/skeletons.def gets its functions by name; prepare, lower, the rules and the
// shrinking of shapes ask the table, and what is lowered follows from the mapping. What a skeleton recognises is
// another table (codegen/structure/recognise.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "codegen/lower/mapping.h"
#include "codegen/lower/prepare.h"
#include "codegen/structure/structure.h"
#include "ir/device.h"
#include "ir/fusion.h"
#include "ir/plan.h"

namespace tailor::codegen {

constexpr bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

struct SkeletonLowering {
  /// Fills Prepared::dominants, the usual choice first; phases are known.
  void (*dominants)(const ir::Graph& graph, Prepared& prepared);
  /// Who goes over which positions.
  Mapping (*mapping)(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
  /// Why the fields of the plan that are this skeleton's own do not fit together.
  std::optional<ir::Rejection> (*refuse)(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
};

const SkeletonLowering& lowering(ir::Skeleton skeleton);

#define SKELETON(name, unit, what, ...)                                                             \
  void dominants_##name(const ir::Graph& graph, Prepared& prepared);                                \
  Mapping mapping_##name(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits); \
  std::optional<ir::Rejection> refuse_##name(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
#include "ir/skeletons.def"
#undef SKELETON

}  // namespace tailor::codegen
