// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Destroy and repair: a partition that no single merge makes cheaper is taken apart in one place and put together
// again. In: a partition, what a search may do, a number of rounds. Out: a partition that is no dearer. Called by
// strategy "tailor" behind its searches, and by gap_bench for as long as it is told, to see how much is left.
#pragma once

#include <cstdint>

#include "explore/merge_search.h"

namespace tailor::explore {

/// How long mending goes on: whichever comes first.
struct MendingLength {
  std::int64_t rounds = 0;
  std::int64_t prices = 0;  ///< evaluations of the price; the round in which they are spent is ended
};

/// `groups` share no node and can run. Ends with `length`, or when `spending` is over; equal seeds and lengths give
/// equal answers. Returns the groups by their first node and their price in seconds.
struct Repaired {
  NodeSets groups;
  double cost = 0;
};
Repaired repair(const FusionTask& task, const costmodel::GroupFacts& facts, const MergeLimits& limits, NodeSets groups,
                const MendingLength& length, Spending& spending);

}  // namespace tailor::explore
