// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The handlers of one instruction set as one table, in the order of opcodes.def. In: the handlers that the
// files beside this one define. Out: a TierHandlers, which decode/opcode.cpp chooses when the machine can run
// it.
#include "profiler/simulator/lanes/lanes_table.h"

namespace tailor::simulator::LANES_TIER {

extern const AccessTable access_table;
extern const ShuffleStep shuffles[4];

#define LANE_NAMES(id, ...)            \
  void id##_full(Warp&, const Micro&); \
  void id##_some(Warp&, const Micro&);
#define LANE_ROW LANE_NAMES
#include "profiler/simulator/lanes/opcodes.def"
#undef LANE_NAMES

namespace {

const Step handlers[][2] = {
#define LANE_PAIR(id, ...) {id##_full, id##_some},
#define LANE_ROW LANE_PAIR
#include "profiler/simulator/lanes/opcodes.def"
#undef LANE_PAIR
};

std::uint32_t mask_of(const std::uint32_t* predicate) {
  std::uint32_t mask = 0;
  for (int i = 0; i < lanes_per_warp; ++i) mask |= predicate[i] & (1u << i);
  return mask;
}

}  // namespace

const TierHandlers tier = {handlers, sizeof handlers / sizeof handlers[0], mask_of, &access_table, shuffles};

}  // namespace tailor::simulator::LANES_TIER
