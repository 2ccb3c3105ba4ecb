// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What an execution of a kernel was counted to do, as data: whoever executed it (the simulator, a GPU's counters) fills
// this, and the cost model's level `simulated` and the reports read it. Warp instructions unless the name says
// otherwise; totals over the whole grid, scaled up when only some blocks ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tailor::ir {

/// Requests are warp instructions with an active lane, sectors the distinct 32-byte ones each touches (shared memory:
/// wavefronts), bytes those of the active lanes.
struct AccessCounts {
  double requests = 0, sectors = 0, bytes = 0;
  bool operator==(const AccessCounts&) const = default;
};

struct BufferCounts {
  AccessCounts load, store, atomic;
  bool operator==(const BufferCounts&) const = default;
};

struct LaunchCounts {
  double instructions = 0, lane_instructions = 0;
  double fma = 0, alu = 0, xu = 0, f64 = 0, convert = 0, move = 0, control = 0;
  double shuffles = 0, votes = 0, barriers = 0, fences = 0, divergent_branches = 0;
  AccessCounts shared_load, shared_store;
  double bank_conflicts = 0;                 ///< wavefronts beyond the fewest
  double local_loads = 0, local_stores = 0;  ///< requests: spills and stack
  double dram_read = 0, dram_written = 0;    ///< bytes, where a model of the cache said so; else 0
  std::vector<BufferCounts> buffers;         ///< parallel to Kernel::buffers
  std::int64_t blocks_run = 0, blocks_total = 0;
  /// Of the instructions, when not all blocks ran: standard error as a fraction.
  double standard_error = 0;
  bool operator==(const LaunchCounts&) const = default;
};

}  // namespace tailor::ir
