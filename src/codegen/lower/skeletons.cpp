// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table itself, made of the rows of ir/skeletons.def. A row whose functions are missing does not link, so a new
// skeleton is a row there and functions here. In: a skeleton. Out: its row of functions. Called by prepare, lower,
// rules and shrinking.
#include "codegen/lower/skeletons.h"

#include <array>

#include "base/indexed.h"

namespace tailor::codegen {

namespace {

constexpr std::array table = std::to_array<SkeletonLowering>({
#define SKELETON(name, unit, what, ...) {dominants_##name, mapping_##name, refuse_##name},
#include "ir/skeletons.def"
#undef SKELETON
});

}  // namespace

const SkeletonLowering& lowering(ir::Skeleton skeleton) { return row_for(table, skeleton); }

}  // namespace tailor::codegen
