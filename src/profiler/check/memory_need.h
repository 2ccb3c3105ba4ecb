// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How much memory a check takes, before it starts. In: a group, a kernel, what is asked of the check. Out: bytes, from
// shapes alone: inputs, the reference with its bounds, the simulator's memory and shadow. Called by check.cpp, and by
// check_pool.cpp, which lets no more checks run at once than fit.
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph/graph.h"
#include "ir/kernel/kernel.h"

namespace tailor::profiler {

/// What a process may hold for checks unless somebody says otherwise.
inline constexpr std::int64_t default_check_memory = 4'000'000'000;
/// Of what the machine has free, which may shrink while we work.
inline constexpr double share_of_free = 0.9;

std::int64_t bytes_of_inputs(const ir::Graph& graph);

/// Bytes that one execution holds beside its inputs and reference: each buffer in the simulator, outputs before and
/// after, as they are compared, and the shadow of what may be written. Of a run of so many blocks (0: all) what these
/// touch, when each touches its share of the large buffers and all of the small ones.
std::int64_t bytes_to_execute(const ir::Kernel& kernel, bool sanitize, std::int64_t blocks);

/// What may be done where memory is too small.
struct Remedies {
  bool raised = true;      ///< the limit is ours and may be raised: --memory
  bool sampled = true;     ///< not all of the launch need be held: --blocks
  bool elsewhere = false;  ///< the command at hand has no --memory: tailor check has
  bool smaller = true;     ///< its outermost dimension can shrink: --shape small
};
/// Whether --shape small may take less.
bool can_shrink(const ir::Graph& graph);
/// The same of a kernel of the group: not where it has no more blocks than the small shape would have.
bool can_shrink(const ir::Graph& graph, const ir::Kernel& kernel);
/// Whether --blocks may leave out some of its blocks.
bool can_sample(const ir::Kernel& kernel);
/// "--blocks or --shape small takes less"; empty where neither does.
std::string takes_less(const Remedies& remedies);
/// "needs 23.4 GB of memory, 4.0 GB are free for it; --memory 24 allows it, --blocks or --shape small takes less". What
/// the machine itself has not is not offered.
std::string out_of_memory(std::int64_t needed, std::int64_t available, const Remedies& remedies);

}  // namespace tailor::profiler
