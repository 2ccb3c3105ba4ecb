// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Shuffles of whole warps, for one instruction set: all 32 lanes are there and every mask names them all, so that each
// lane's source is plain arithmetic. In: slots of the value, the distance and the clamp. Out: slots of the result and,
// where asked for, of the predicate. Called by machine/warp_steps.cpp, which does the other shuffles itself.
#include "profiler/simulator/lanes/lanes_table.h"

namespace tailor::simulator::LANES_TIER {
namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;

/// PTX ISA, shfl.sync: `c` holds the clamp in bits 0-4 and the segment mask in bits 8-12.
template <int mode>
void shuffle(const u32* a, const u32* b, const u32* c, u32* d, u32* valid) {
  alignas(64) u32 in[lanes_per_warp], from[lanes_per_warp];
  for (int l = 0; l < lanes_per_warp; ++l) in[l] = a[l];
  for (s32 lane = 0; lane < lanes_per_warp; ++lane) {
    const s32 value = static_cast<s32>(b[lane] & 31), clamp = static_cast<s32>(c[lane] & 31);
    const s32 segment = static_cast<s32>(c[lane] >> 8 & 31);
    const s32 least = lane & segment, most = least | (clamp & ~segment);
    const s32 there = mode == 0   ? least | (value & ~segment)
                      : mode == 1 ? lane - value
                      : mode == 2 ? lane + value
                                  : lane ^ value;
    const bool inside = mode == 1 ? there >= most : there <= most;
    from[lane] = static_cast<u32>(inside ? there : lane) & 31;
    if (valid != nullptr) valid[lane] = inside ? all_lanes : 0;
  }
  for (int l = 0; l < lanes_per_warp; ++l) d[l] = in[from[l]];
}

}  // namespace

extern const ShuffleStep shuffles[4];
constinit const ShuffleStep shuffles[4] = {&shuffle<0>, &shuffle<1>, &shuffle<2>, &shuffle<3>};

}  // namespace tailor::simulator::LANES_TIER
