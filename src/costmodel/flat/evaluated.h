// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Warps of a flat loop counted lane by lane.
// In: the loop lowered for blocks of one warp, and which of its warps.
// Out: what count_fast() leaves in the scratch when it sees scopes.
// Called by flat.cpp where walking domains takes longer.
#pragma once

#include <cstdint>
#include <span>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

/// Warps first, first + 1, ..., `count` of them, each of which stands for so many like it.
struct WarpRun {
  std::int64_t first = 0, count = 0, stands_for = 1;
};

/// Conditions and addresses that a warp is asked for, each time it comes by.
std::int64_t evaluations_a_warp(const ir::Kernel& one_warp);
/// About as many evaluations take the time of one look of fast counting.
inline constexpr std::int64_t evaluations_a_look = 12;

/// Fills counts and seen_scopes; each warp counts for as many as its run stands for. Runs are ascending.
void count_evaluated(const ir::Kernel& one_warp, std::span<const WarpRun> runs, Scratch::Body& scratch);

}  // namespace tailor::costmodel
