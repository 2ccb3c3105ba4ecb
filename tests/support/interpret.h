// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An interpreter of kernels, the oracle for lowering, printing and counting; it shares no code with any of them. All
// threads of a block, or of a cluster of blocks, step through the statements together under a mask. Every floating
// operation is computed in double and rounded to its type. It counts what a warp would request and reports what must
// not happen. It leaves out time.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel/kernel.h"

namespace tailor::ir {

/// Warp requests, 32-byte sectors they touch (buffers start on a sector), bytes lanes moved.
struct Traffic {
  std::int64_t requests = 0, sectors = 0, bytes = 0;
  bool operator==(const Traffic&) const = default;
};

struct RunCounts {
  std::vector<std::array<Traffic, 3>>
      buffers;                          ///< by BufferId; loads, stores, atomics; of a barrier of the grid one each
  Traffic shared_loads, shared_stores;  ///< sectors stay 0
  std::int64_t shuffles = 0;            ///< warp instructions; two per step for 64-bit values
  std::int64_t barriers = 0;            ///< block barriers, once per warp
  std::int64_t cluster_barriers = 0;    ///< twice per warp
};

struct KernelRun {
  std::vector<std::vector<std::byte>> buffers;  ///< contents afterwards, by BufferId
  RunCounts counts;
  /// The first 20: out-of-bounds or misaligned accesses, uninitialised reads, races on shared memory within a barrier
  /// interval, divergent barriers and shuffles, reads of a block of the cluster that may not have begun or may have
  /// ended, meetings of the grid that blocks miss.
  std::vector<std::string> violations;
};

/// Runs every virtual block, in order, and the followers of the kernel behind it, on `buffers` (one per kernel buffer,
/// elements x element size bytes). `backwards`: the block with the highest number comes first, of clusters the last
/// one.
KernelRun interpret(const Kernel& kernel, std::vector<std::vector<std::byte>> buffers, bool backwards = false);

}  // namespace tailor::ir
