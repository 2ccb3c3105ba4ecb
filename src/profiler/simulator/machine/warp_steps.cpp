// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Warp operations: what lanes learn from one another (shuffle, vote, match, reduce). In: a warp whose needed lanes have
// all arrived (wait.cpp). Out: values in slots of the active lanes. Called through the table of steps at the end. A
// lane that asks one that does not take part gets poison, and its result is undefined on a GPU: a finding as soon as it
// is used (undefined.cpp). In a block that ends within a warp the lanes beyond were never launched; to ask those is
// common and gives poison, which shows if it is used.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {
namespace {

Slot mask_slot(const Warp& warp, const Micro& micro) { return warp.lists[micro.list]; }
Slot predicate_slot(const Warp& warp, const Micro& micro) { return warp.lists[micro.list + 1]; }

constexpr std::uint32_t poison_word = 0xcdcdcdcd;

enum class Shuffle : std::uint8_t { idx, up, down, bfly };

bool is_constant(Slot slot) { return slot >> slot_bank_shift == static_cast<std::uint32_t>(Bank::launch); }

/// Nearly every shuffle: all lanes take part, under a constant mask. true: done.
template <Shuffle mode>
bool whole_shuffle(Warp& warp, const Micro& micro) {
  const Slot mask = mask_slot(warp, micro), p = predicate_slot(warp, micro);
  const WarpState& state = state_of(warp);
  if (warp.active != all_lanes || !is_constant(mask) || state.undefined != nullptr) return false;
  if (words(warp, mask)[0] != all_lanes) return false;
  state.machine->state.program.lanes->shuffle[static_cast<int>(mode)](words(warp, micro.a), words(warp, micro.b),
                                                                      words(warp, micro.c), words(warp, micro.d),
                                                                      p == no_slot ? nullptr : words(warp, p));
  return true;
}

/// PTX ISA, shfl.sync: c holds the clamp in bits 0-4 and the segment mask in bits 8-12.
template <Shuffle mode>
void shuffle(Warp& warp, const Micro& micro) {
  if (whole_shuffle<mode>(warp, micro)) return;
  std::uint32_t in[lanes_per_warp];
  std::memcpy(in, words(warp, micro.a), sizeof in);
  const std::uint32_t* b = words(warp, micro.b);
  const std::uint32_t* c = words(warp, micro.c);
  const std::uint32_t* masks = words(warp, mask_slot(warp, micro));
  std::uint32_t out[lanes_per_warp], valid[lanes_per_warp];
  std::uint32_t absent = 0, moved = 0;
  WarpState& state = state_of(warp);
  const std::uint32_t launched = state.initial;
  const UndefinedLanes given = state.undefined != nullptr ? state.undefined->of(micro.a) : UndefinedLanes{};
  for (int lane = 0; lane < lanes_per_warp; ++lane) {
    const int value = static_cast<int>(b[lane] & 31), clamp = static_cast<int>(c[lane] & 31);
    const int segment = static_cast<int>(c[lane] >> 8 & 31);
    const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    int from = 0;
    bool inside = false;
    if constexpr (mode == Shuffle::up) from = lane - value, inside = from >= most;
    if constexpr (mode == Shuffle::down) from = lane + value, inside = from <= most;
    if constexpr (mode == Shuffle::bfly) from = lane ^ value, inside = from <= most;
    if constexpr (mode == Shuffle::idx) from = least | (value & ~segment), inside = from <= most;
    if (!inside) from = lane;
    from &= 31;
    valid[lane] = inside ? all_lanes : 0;
    const std::uint32_t there = warp.active & masks[lane];
    const std::uint32_t missing = (~there & launched) >> from & 1;
    out[lane] = (launched >> from & 1) != 0 && missing == 0 ? in[from] : poison_word;
    absent |= missing << lane;
    moved |= (given.lanes >> from & 1) << lane;
  }
  absent &= warp.active;
  if (absent != 0) {
    const int lane = std::countr_zero(absent);
    state.machine->report(
        FindingKind::bad_mask, state, micro.site, lane,
        fmt::format("lanes 0x{:08x} read lanes that do not take part (mask 0x{:08x}); what they get is "
                    "undefined, and nothing used it. Shuffle before the branch, under a mask of all",
                    absent, masks[lane]),
        -1, Severity::advice);
  }
  if (absent != 0 && state.undefined == nullptr)
    state.undefined = std::make_unique<UndefinedRegisters>(state.machine->state.program.frame_bytes);
  if (state.undefined != nullptr)
    state.undefined->set(micro.d, warp.active, joined({absent, micro.site}, {moved & ~absent, given.site}));
  const Slot p = predicate_slot(warp, micro);
  std::uint32_t* d = words(warp, micro.d);
  std::uint32_t* q = p == no_slot ? nullptr : words(warp, p);
  for (int lane = 0; lane < lanes_per_warp; ++lane) {
    if (warp.lanes[lane] == 0) continue;
    d[lane] = out[lane];
    if (q != nullptr) q[lane] = valid[lane];
  }
}

/// For each group of active lanes with the same mask: lanes of the group, and what to do with it.
template <class Work>
void each_group(Warp& warp, const Micro& micro, const Work& work) {
  const std::uint32_t* masks = words(warp, mask_slot(warp, micro));
  for (std::uint32_t left = warp.active; left != 0;) {
    const std::uint32_t mask = masks[std::countr_zero(left)];
    std::uint32_t group = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1)
      if (masks[std::countr_zero(rest)] == mask) group |= rest & (~rest + 1);
    left &= ~group;
    work(group);
  }
}

void put(std::uint32_t* to, std::uint32_t group, std::uint32_t value) {
  for (; group != 0; group &= group - 1) to[std::countr_zero(group)] = value;
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

template <Vote mode>
void vote(Warp& warp, const Micro& micro) {
  const std::uint32_t set = state_of(warp).machine->state.program.lanes->mask_of(words(warp, micro.a));
  each_group(warp, micro, [&](std::uint32_t group) {
    const std::uint32_t yes = set & group;
    std::uint32_t value = yes;
    if constexpr (mode == Vote::all) value = yes == group ? all_lanes : 0;
    if constexpr (mode == Vote::any) value = yes != 0 ? all_lanes : 0;
    if constexpr (mode == Vote::uni) value = yes == 0 || yes == group ? all_lanes : 0;
    put(words(warp, micro.d), group, value);
  });
}

template <bool wide, bool all>
void match(Warp& warp, const Micro& micro) {
  std::uint64_t in[lanes_per_warp];
  for (int lane = 0; lane < lanes_per_warp; ++lane)
    in[lane] = wide ? double_words(warp, micro.a)[lane] : words(warp, micro.a)[lane];
  const Slot p = predicate_slot(warp, micro);
  std::uint32_t* d = words(warp, micro.d);
  each_group(warp, micro, [&](std::uint32_t group) {
    for (std::uint32_t left = group; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::uint32_t same = 0;
      for (std::uint32_t rest = group; rest != 0; rest &= rest - 1)
        if (in[std::countr_zero(rest)] == in[lane]) same |= rest & (~rest + 1);
      const bool unanimous = same == group;
      d[lane] = all ? (unanimous ? group : 0) : same;
      if (p != no_slot) words(warp, p)[lane] = unanimous ? all_lanes : 0;
    }
  });
}

template <class T, class Combine>
void redux(Warp& warp, const Micro& micro, const Combine& combine) {
  std::uint32_t in[lanes_per_warp];
  std::memcpy(in, words(warp, micro.a), sizeof in);
  each_group(warp, micro, [&](std::uint32_t group) {
    T value = std::bit_cast<T>(in[std::countr_zero(group)]);
    for (std::uint32_t left = group & (group - 1); left != 0; left &= left - 1)
      value = combine(value, std::bit_cast<T>(in[std::countr_zero(left)]));
    put(words(warp, micro.d), group, std::bit_cast<std::uint32_t>(value));
  });
}

using U = std::uint32_t;
using S = std::int32_t;
void redux_add(Warp& w, const Micro& m) {
  redux<U>(w, m, [](U a, U b) { return a + b; });
}
void redux_and(Warp& w, const Micro& m) {
  redux<U>(w, m, [](U a, U b) { return a & b; });
}
void redux_or(Warp& w, const Micro& m) {
  redux<U>(w, m, [](U a, U b) { return a | b; });
}
void redux_xor(Warp& w, const Micro& m) {
  redux<U>(w, m, [](U a, U b) { return a ^ b; });
}
void redux_min_u(Warp& w, const Micro& m) {
  redux<U>(w, m, [](U a, U b) { return a < b ? a : b; });
}
void redux_max_u(Warp& w, const Micro& m) {
  redux<U>(w, m, [](U a, U b) { return a > b ? a : b; });
}
void redux_min_s(Warp& w, const Micro& m) {
  redux<S>(w, m, [](S a, S b) { return a < b ? a : b; });
}
void redux_max_s(Warp& w, const Micro& m) {
  redux<S>(w, m, [](S a, S b) { return a > b ? a : b; });
}

void active_mask(Warp& warp, const Micro& micro) { put(words(warp, micro.d), warp.active, warp.active); }

void elect(Warp& warp, const Micro& micro) {
  const Slot p = predicate_slot(warp, micro);
  each_group(warp, micro, [&](std::uint32_t group) {
    const std::uint32_t leader = group & (~group + 1);
    put(words(warp, micro.d), group, static_cast<std::uint32_t>(std::countr_zero(group)));
    if (p == no_slot) return;
    put(words(warp, p), group, 0);
    put(words(warp, p), leader, all_lanes);
  });
}

void nothing(Warp&, const Micro&) {}

Step find_shuffle(std::string_view mode) {
  if (mode == "idx") return &shuffle<Shuffle::idx>;
  if (mode == "up") return &shuffle<Shuffle::up>;
  if (mode == "down") return &shuffle<Shuffle::down>;
  if (mode == "bfly") return &shuffle<Shuffle::bfly>;
  return nullptr;
}

Step find_vote(std::string_view mode) {
  if (mode == "all") return &vote<Vote::all>;
  if (mode == "any") return &vote<Vote::any>;
  if (mode == "uni") return &vote<Vote::uni>;
  if (mode == "ballot") return &vote<Vote::ballot>;
  return nullptr;
}

Step find_match(std::string_view mode, int bits) {
  if (mode == "any") return bits == 64 ? &match<true, false> : &match<false, false>;
  if (mode == "all") return bits == 64 ? &match<true, true> : &match<false, true>;
  return nullptr;
}

Step find_redux(std::string_view operation, std::string_view type) {
  if (type != "u32" && type != "s32" && type != "b32") return nullptr;
  const bool sign = type == "s32";
  if (operation == "add") return &redux_add;
  if (operation == "and") return &redux_and;
  if (operation == "or") return &redux_or;
  if (operation == "xor") return &redux_xor;
  if (operation == "min") return sign ? &redux_min_s : &redux_min_u;
  if (operation == "max") return sign ? &redux_max_s : &redux_max_u;
  return nullptr;
}

}  // namespace

const WarpSteps warp_steps{.shuffle = &find_shuffle,
                           .vote = &find_vote,
                           .match = &find_match,
                           .redux = &find_redux,
                           .active_mask = &active_mask,
                           .elect = &elect,
                           .nothing = &nothing};

}  // namespace tailor::simulator
