// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Work that is done again where that is cheaper than to write its result and to read it. In: groups that share no node,
// or a cover. Out: a cover that is no dearer. Called by strategy "tailor" behind each of its searches, which know no
// work that is done twice.
#pragma once

#include "explore/merge_search.h"

namespace tailor::explore {

/// `on_top`: of a budget that is spent already; it ends when it is stopped.
NodeSets recompute(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits,
                   NodeSets groups, Spending& spending, bool on_top = false);

}  // namespace tailor::explore
