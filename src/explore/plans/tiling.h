// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What rules ask of a mapping, as plain numbers, and the fields of a plan behind each. In: a prepared group, a plan,
// limits. Out: its tiling. Called by the walk over a plan space, which works it out where a field behind it has
// changed, by rules about whole plans, and by whoever needs one of these numbers.
#pragma once

#include <cstdint>

#include "codegen/lower/mapping.h"
#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

/// tiling.def says what each member is. Worked out once for the plans that agree in the fields behind it, because rules
/// are asked about thousands of plans a millisecond.
struct Tiling {
#define TILING(name, type, start, map, transpose, column, row) type name = start;
#include "explore/plans/tiling.def"
#undef TILING
  bool operator==(const Tiling&) const = default;
};
Tiling tiling_of(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);

enum class TilingPart : std::uint8_t {
#define TILING(name, type, start, map, transpose, column, row) name,
#include "explore/plans/tiling.def"
#undef TILING
};
inline constexpr int tiling_parts = 0
#define TILING(name, type, start, map, transpose, column, row) +1
#include "explore/plans/tiling.def"
#undef TILING
    ;

/// The fields of a plan that the part depends on, one bit each: plans that agree in them agree in the part.
std::uint32_t fields_behind(TilingPart part, ir::Skeleton skeleton);

}  // namespace tailor::explore
