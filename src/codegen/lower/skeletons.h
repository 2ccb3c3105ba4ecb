// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of skeletons as the lowering sees them: what each recognises, how a plan of it deals out the work, what it
// refuses. Each row of ir/skeletons.def gets its functions by name; the analysis, prepare, lower, the rules and the
// shrinking of shapes ask the table, and what is lowered follows from the mapping.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "codegen/lower/mapping.h"
#include "codegen/lower/prepare.h"
#include "codegen/lower/structure.h"
#include "ir/device.h"
#include "ir/fusion.h"
#include "ir/plan.h"

namespace tailor::codegen {

struct SkeletonLowering {
  /// Nothing: another skeleton's. A rejection: of this kind, but not one that it can do; another may still take it.
  std::optional<Classified> (*recognise)(const Region& region);
  /// find_doubt() for what it recognised.
  std::optional<ir::Rejection> (*doubt)(const Region& region, const Layout& layout);
  /// Fills Prepared::dominants, the usual choice first; phases are known.
  void (*dominants)(const ir::Graph& graph, Prepared& prepared);
  /// Who goes over which positions.
  Mapping (*mapping)(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
  /// Why the fields of the plan that are this skeleton's own do not fit together.
  std::optional<ir::Rejection> (*refuse)(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
};

const SkeletonLowering& lowering(ir::Skeleton skeleton);

/// Whether an array is so large, 4 MiB, that how it is read counts beside a launch.
constexpr bool takes_time(std::int64_t elements, int bits) {
  constexpr std::int64_t many = std::int64_t{4} << 23;  // bits
  return elements * bits >= many;
}

#define SKELETON(name, unit, what, ...)                                                             \
  std::optional<Classified> recognise_##name(const Region& region);                                 \
  std::optional<ir::Rejection> doubt_##name(const Region& region, const Layout& layout);            \
  void dominants_##name(const ir::Graph& graph, Prepared& prepared);                                \
  Mapping mapping_##name(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits); \
  std::optional<ir::Rejection> refuse_##name(const Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);
#include "ir/skeletons.def"
#undef SKELETON

}  // namespace tailor::codegen
