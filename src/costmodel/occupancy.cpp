// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocation rules, one function per resource. In: a device's limits, threads per block, registers per thread,
// shared bytes per block. Out: blocks per SM, what stops more, and the share of the SM's threads. Called by the models
// and by reports.
//
// Four resources limit the blocks of an SM, and the answer is the least of the four; the first of equals is named.
//   threads          warps that an SM holds, over the warps of a block
//   blocks           a number of the device
//   registers        given per warp in units, from the registers of one sub-partition; a launch check counts as if
//                    every sub-partition had equally many warps of the block
//   shared memory    what a block asks for and what the system reserves for it, in units
#include "costmodel/occupancy.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/division.h"
#include "base/indexed.h"

namespace tailor::costmodel {

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<int>::max();

constexpr std::int64_t round_up(std::int64_t a, std::int64_t unit) { return ceil_div(a, unit) * unit; }

std::int64_t blocks_by_threads(const ir::Limits& limits, std::int64_t warps, int threads) {
  if (threads > limits.threads_per_block) return 0;
  return limits.threads_per_sm / limits.warp_size / warps;
}

std::int64_t blocks_by_registers(const ir::Limits& limits, std::int64_t warps, int registers) {
  if (registers > limits.registers_per_thread) return 0;
  const std::int64_t per_warp = round_up(std::int64_t{registers} * limits.warp_size, limits.register_unit);
  if (per_warp == 0) return unlimited;
  // The launch check counts as if every sub-partition had equally many warps of the block.
  if (per_warp * round_up(warps, limits.launch_partitions) > limits.registers_per_block) return 0;
  const std::int64_t warps_per_sub_partition = limits.registers_per_sm / limits.sub_partitions / per_warp;
  return warps_per_sub_partition * limits.sub_partitions / warps;
}

std::int64_t blocks_by_shared(const ir::Limits& limits, std::int64_t shared_bytes) {
  const std::int64_t allocated = round_up(shared_bytes + limits.shared_reserved_per_block, limits.shared_unit);
  if (allocated > limits.shared_per_block_optin + limits.shared_reserved_per_block) return 0;
  return allocated == 0 ? unlimited : limits.shared_per_sm / allocated;
}

constexpr std::array names = std::to_array<std::string_view>({"threads", "blocks", "registers", "shared memory"});

}  // namespace

Occupancy occupancy(const ir::Limits& limits, int threads, int registers, std::int64_t shared_bytes) {
  const std::int64_t warps = ceil_div(threads, limits.warp_size);
  const std::array<std::int64_t, 4> most{blocks_by_threads(limits, warps, threads), limits.blocks_per_sm,
                                         blocks_by_registers(limits, warps, registers),
                                         blocks_by_shared(limits, shared_bytes)};
  std::size_t least = 0;
  for (std::size_t i = 1; i < most.size(); ++i)
    if (most[i] < most[least]) least = i;
  Occupancy result;
  result.blocks_per_sm = static_cast<int>(most[least]);
  result.limiter = static_cast<Limiter>(least);
  result.fraction = static_cast<double>(most[least] * warps * limits.warp_size) / limits.threads_per_sm;
  return result;
}

// What blocks_by_registers() says, turned around: each of its two conditions is a limit on the registers of a warp,
// which are given in units.
int most_registers(const ir::Limits& limits, int threads, int blocks) {
  if (blocks <= 0) return limits.registers_per_thread;
  const std::int64_t warps = ceil_div(threads, limits.warp_size);
  const std::int64_t per_block = limits.registers_per_block / round_up(warps, limits.launch_partitions);
  const std::int64_t warps_per_sub_partition = ceil_div(blocks * warps, limits.sub_partitions);
  const std::int64_t together = limits.registers_per_sm / limits.sub_partitions / warps_per_sub_partition;
  const std::int64_t per_warp = std::min(per_block, together) / limits.register_unit * limits.register_unit;
  return static_cast<int>(std::min<std::int64_t>(per_warp / limits.warp_size, limits.registers_per_thread));
}

std::string_view name(Limiter limiter) { return row_for(names, limiter); }

}  // namespace tailor::costmodel
