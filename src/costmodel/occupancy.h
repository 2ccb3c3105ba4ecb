// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How many blocks of a kernel live on one SM at once, and what stops more. The rules are the machine's allocation rules
// and hold exactly: registers are given per warp in units and per sub-partition, a launch check rounds warps up to
// whole rounds of sub-partitions, shared memory is given in units with what the system reserves. Shared memory
// carve-out is left at its default, which offers all of it. Named barriers are left out: one per block never binds.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/device.h"

namespace tailor::costmodel {

enum class Limiter : std::uint8_t { threads, blocks, registers, shared };

struct Occupancy {
  int blocks_per_sm = 0;               ///< 0: a block does not fit at all, for the reason in `limiter`
  Limiter limiter = Limiter::threads;  ///< the first that allows no more blocks, in the order of the enumeration
  double fraction = 0;                 ///< resident warps over the most possible
  bool operator==(const Occupancy&) const = default;
};

/// `registers` per thread, `shared_bytes` per block without what the system reserves.
Occupancy occupancy(const ir::Limits& limits, int threads, int registers, std::int64_t shared_bytes);

/// The most registers per thread with which registers let so many blocks be resident; 0 where no number does.
int most_registers(const ir::Limits& limits, int threads, int blocks);

std::string_view name(Limiter limiter);

}  // namespace tailor::costmodel
