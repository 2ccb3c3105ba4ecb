// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for approximate functions, division and roots; and for f64 arithmetic in a direction, for which the host's
// rounding mode is changed while the loop runs. In: slots of 32 lanes. Out: slots of 32 lanes. Loads and stores of the
// loop cannot move across the calls that change the mode.
#include <cfenv>

#include "profiler/simulator/lanes/lanes_functions.h"

namespace tailor::simulator::LANES_TIER {
namespace {

constexpr int host_direction(Toward toward) {
  return toward == rz ? FE_TOWARDZERO : toward == rm ? FE_DOWNWARD : toward == rp ? FE_UPWARD : FE_TONEAREST;
}

template <class Row, bool masked>
INLINE void each_lane_toward(Warp& warp, const Micro& micro, Toward toward) {
  const int before = std::fegetround();
  std::fesetround(host_direction(toward));
  each_lane<Row, masked>(warp, micro);
  std::fesetround(before);
}

}  // namespace

#define SPECIAL LANE_HANDLERS
#define DIRECTED DIRECTED_HANDLERS
#define DIRECTED_HANDLERS(id, keys, pipe, d, sources, toward, ...)                                                    \
  namespace {                                                                                                         \
  struct id##_row {                                                                                                   \
    using Types = Signature<d sources>;                                                                               \
    INLINE static double of([[maybe_unused]] typename Types::A::Value a, [[maybe_unused]] typename Types::B::Value b, \
                            [[maybe_unused]] typename Types::C::Value c, int, Word) {                                 \
      return __VA_ARGS__;                                                                                             \
    }                                                                                                                 \
  };                                                                                                                  \
  }                                                                                                                   \
  void id##_full(Warp& warp, const Micro& micro) { each_lane_toward<id##_row, false>(warp, micro, toward); }          \
  void id##_some(Warp& warp, const Micro& micro) { each_lane_toward<id##_row, true>(warp, micro, toward); }
#include "profiler/simulator/lanes/opcodes.def"

}  // namespace tailor::simulator::LANES_TIER
