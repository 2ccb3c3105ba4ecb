// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Estimate: what a model says about one kernel: total, named parts, the part that binds, an interval, and the level
// that made it. Filled by the cost models; read by the search, the store and the report. Parts overlap in time, so they
// need not sum to the total.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace tailor::ir {

enum class Level : std::uint8_t { sol, projected, compiled, counted, profiled };

enum class Part : std::uint8_t {
  launch,   ///< before the kernel starts, and its ramp
  code,     ///< instructions that SMs fetch: those they have not seen, and those that they have no room to keep
  dram,     ///< bytes over the bandwidth that the bytes in flight reach
  l2,       ///< sectors through L2
  shared,   ///< shared-memory wavefronts and shuffles
  issue,    ///< all instructions over the issue rate
  fma,      ///< the FMA pipe
  alu,      ///< the ALU pipe
  xu,       ///< transcendental pipe and conversions
  latency,  ///< waves x the latency of one warp's dependent chain
  barrier,  ///< block barriers
  atomic,   ///< atomics at L2
  spill,    ///< local memory traffic of spilled registers
};
inline constexpr std::size_t part_count = 13;

struct Estimate {
  Level level = Level::sol;
  Seconds total;
  Seconds low, high;                        ///< interval the model claims
  std::array<Seconds, part_count> parts{};  ///< indexed by Part
  Part bottleneck = Part::dram;             ///< the part that decides
  double occupancy = 0;  ///< resident warps over the most possible; 0 where the level does not see it
  double waves = 0;      ///< ceil: whole waves of blocks
  int registers = 0;     ///< per thread, estimated or real
  bool operator==(const Estimate&) const = default;
};

/// What a model can tell apart, as a share of a time: the figures that it computes with have three digits at most. Two
/// plans whose times are closer have no order.
inline constexpr double model_resolution = 1e-3;

/// A plan's place among all by predicted time. Tied plans have one place, that of the fastest of them.
struct Placed {
  std::int64_t place = 1;
  bool tied = false;  ///< with another plan
};
/// Of each of `times`, which ascend. A place ends where a time is further than model_resolution from its fastest.
std::vector<Placed> placed(std::span<const Seconds> times);
/// "3", or "3=" for one of several.
std::string text(const Placed& placed);
/// How many of `times`, in any order, cannot be told from the least; 0 without times.
std::int64_t tied_with_least(std::span<const Seconds> times);

std::string_view name(Level level);
std::string_view name(Part part);

}  // namespace tailor::ir
