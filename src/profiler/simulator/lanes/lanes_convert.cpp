// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for conversions, made from opcodes_convert.def. In: slots of one type. Out: slots of another. Narrow
// integers are written extended to the whole word, as a wider register expects them. Compiled once per instruction
// set.
#include "profiler/simulator/lanes/lanes_convert.h"

namespace tailor::simulator::LANES_TIER {

namespace {

/// Two floats to a pair of halves: the second operand in the lower one.
template <class Row, bool masked>
INLINE void each_narrowed(Warp& warp, const Micro& micro) {
  const Source<f32> a(warp, micro.a), b(warp, micro.b);
  Target<f16x2, masked> d(warp, micro.d);
#pragma GCC ivdep
  for (int i = 0; i < lanes_per_warp; ++i) {
    d.put(2 * i, Row::of(b[i]));
    d.put(2 * i + 1, Row::of(a[i]));
  }
  d.finish();
}

}  // namespace

#define CONVERT LANE_HANDLERS
#define NARROW(id, keys, pipe, d, sources, ...)                                                   \
  namespace {                                                                                     \
  struct id##_row {                                                                               \
    INLINE static float of(float v) { return __VA_ARGS__; }                                       \
  };                                                                                              \
  }                                                                                               \
  void id##_full(Warp& warp, const Micro& micro) { each_narrowed<id##_row, false>(warp, micro); } \
  void id##_some(Warp& warp, const Micro& micro) { each_narrowed<id##_row, true>(warp, micro); }
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
