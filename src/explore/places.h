// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// At how many places a loop reads its values for one element of its results.
// In: what a group would compute. Out: a value that is read at too many of them, if one is.
// Called by strategies that merge by rule, which know no price of computing again.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/structure/structure.h"

namespace tailor::explore {

/// The last value of the group that one element needs at over `most` places; nothing where there is none. Places that
/// slices and windows move by whole elements are told apart exactly, others, and those that may lie outside, by the way
/// that led to them, so that two ways to one place may count as two. O(nodes * most).
std::optional<ir::NodeId> read_all_over(const codegen::Region& region, std::int64_t most);

}  // namespace tailor::explore
