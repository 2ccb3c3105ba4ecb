// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps on addresses and on the machine: generic addresses, addresses in other blocks of a cluster, fences, clocks,
// guards. In: a warp and a micro-operation. Out: values in the warp's slots, for active lanes only. Called through the
// table of steps at the end.
#include <bit>

#include "profiler/simulator/decode/special.h"
#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/print.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {
namespace {

std::uint64_t base_of(std::uint32_t space) {
  switch (static_cast<AccessSpace>(space)) {
    case AccessSpace::shared:
      return shared_window;
    case AccessSpace::local:
      return local_window;
    default:
      return 0;
  }
}

/// Reads and writes an operand of 32 or 64 bits in the active lanes.
template <class Work>
void each_address(Warp& warp, const Micro& micro, const Work& work) {
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (micro.immediate == 64) {
      double_words(warp, micro.d)[lane] = work(double_words(warp, micro.a)[lane], lane);
    } else {
      words(warp, micro.d)[lane] = static_cast<std::uint32_t>(work(words(warp, micro.a)[lane], lane));
    }
  }
}

void to_generic(Warp& warp, const Micro& micro) {
  const std::uint64_t base = base_of(micro.extra);
  each_address(warp, micro, [&](std::uint64_t a, int) { return a + base; });
}

void from_generic(Warp& warp, const Micro& micro) {
  const std::uint64_t base = base_of(micro.extra);
  each_address(warp, micro, [&](std::uint64_t a, int) { return a - base; });
}

void is_space(Warp& warp, const Micro& micro) {
  const auto space = static_cast<AccessSpace>(micro.extra);
  const std::uint64_t base = base_of(micro.extra);
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t a = double_words(warp, micro.a)[lane];
    const bool is = space == AccessSpace::global ? a >= global_base : a >= base && a - base < window_bytes;
    words(warp, micro.d)[lane] = is ? all_lanes : 0;
  }
}

constexpr std::uint64_t offset_mask = (std::uint64_t{1} << shared_rank_shift) - 1;

void map_rank(Warp& warp, const Micro& micro) {
  const LaunchState& state = state_of(warp).machine->state;
  const std::uint32_t blocks = state.cluster[0] * state.cluster[1] * state.cluster[2];
  const std::uint64_t base = micro.extra ? shared_window : 0;
  each_address(warp, micro, [&](std::uint64_t a, int lane) {
    const std::uint64_t rank = words(warp, micro.b)[lane];
    if (rank >= blocks) {
      WarpState& warp_state = state_of(warp);
      warp_state.machine->report(
          FindingKind::bad_cluster_rank, warp_state, micro.site, lane,
          "rank " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks) + " blocks");
    }
    return base + ((a - base) & offset_mask) + ((rank + 1) << shared_rank_shift);
  });
}

void rank_of(Warp& warp, const Micro& micro) {
  const std::uint64_t base = micro.extra ? shared_window : 0;
  const std::uint32_t own = state_of(warp).home->rank;
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t a = micro.immediate == 64 ? double_words(warp, micro.a)[lane] : words(warp, micro.a)[lane];
    const std::uint64_t rank = (a - base) >> shared_rank_shift;
    words(warp, micro.d)[lane] = rank == 0 ? own : static_cast<std::uint32_t>(rank - 1);
  }
}

void fence(Warp& warp, const Micro& micro) {
  WarpState& state = state_of(warp);
  if (state.machine->shadow)
    state.machine->shadow->fence(state.resident_index, warp.active, static_cast<ShadowScope>(micro.extra));
}

void guard(Warp& warp, const Micro& micro) {
  WarpState& state = state_of(warp);
  Machine& machine = *state.machine;
  const DecodedProgram& program = machine.state.program;
  const std::uint32_t before = warp.active;
  const std::uint32_t set = program.lanes->mask_of(words(warp, micro.a));
  const std::uint32_t mask = (micro.immediate ? ~set : set) & before;
  if (mask == 0) return;
  const Micro* first = program.guarded.data() + micro.list;
  if (mask == all_lanes) {
    for (std::uint32_t k = 0; k < micro.extra; ++k) first[k].full(warp, first[k]);
    return;
  }
  const bool narrower = mask != before;
  if (narrower) machine.set_active(state, mask);
  for (std::uint32_t k = 0; k < micro.extra; ++k) first[k].some(warp, first[k]);
  if (narrower) machine.set_active(state, before);
}

/// Clocks count the resident set's instructions; the timer too, as nanoseconds.
void live_special(Warp& warp, const Micro& micro) {
  WarpState& state = state_of(warp);
  const auto now = static_cast<std::uint64_t>(state.machine->clock + state.executed);
  const auto id = static_cast<SpecialId>(micro.extra);
  const bool high = id == SpecialId::clock_hi || id == SpecialId::globaltimer_hi;
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (micro.immediate == 64) {
      double_words(warp, micro.d)[lane] = now;
    } else {
      words(warp, micro.d)[lane] = static_cast<std::uint32_t>(high ? now >> 32 : now);
    }
  }
}

}  // namespace

const AddressSteps address_steps{.guard = &guard,
                                 .live_special = &live_special,
                                 .to_generic = &to_generic,
                                 .from_generic = &from_generic,
                                 .is_space = &is_space,
                                 .map_rank = &map_rank,
                                 .rank_of = &rank_of,
                                 .fence = &fence,
                                 .print = &print};

}  // namespace tailor::simulator
