// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Waiting: for the other lanes of a warp operation, for the other warps of a block barrier, for the other blocks of a
// cluster barrier. In: a warp at an ending that may have to wait. Out: whether it goes on; and when the last one comes,
// all that waited go on. Called by run.cpp.
//
// Since sm_70 a warp operation waits for every lane that its mask names, wherever they are; lanes that have exited are
// not waited for. A fragment whose mask is not complete is parked. When every fragment of a warp is parked, no lane can
// come any more: two warp barriers with one mask release one another, anything else is reported as a finding and one
// fragment is let go, so that the rest of the kernel is still looked at.
#include <fmt/format.h>

#include <bit>

#include "profiler/simulator/machine/machine.h"

namespace tailor::simulator {
namespace {

std::string lanes_text(std::uint32_t mask) { return fmt::format("0x{:08x}", mask); }

}  // namespace

/// The current fragment waits for other lanes of its warp. true: another fragment may run.
bool Machine::park(WarpState& warp) {
  warp.now.parked = true;
  return false;
}

/// Lanes run with the lanes of their mask; those whose mask is not complete wait.
bool Machine::warp_operation(WarpState& warp, const CodeBlock& block) {
  const Micro& op = state.program.ops[block.op];
  const Slot mask_slot = state.program.lists[op.list];
  const std::uint32_t* masks = words(warp, mask_slot);
  const std::uint32_t all = warp.active;
  if (mask_slot >> slot_bank_shift == static_cast<std::uint32_t>(Bank::launch) && all == warp.live &&
      (masks[0] & all) == all) {  // nearly always: a constant mask that names all there are
    op.full(warp, op);
    if (op.extra == 1 && shadow) shadow->warp_sync(warp.resident_index, all);
    warp.now.block = block.next;
    return true;
  }
  std::uint32_t ready = 0;
  for (std::uint32_t left = all; left != 0;) {
    const int first = std::countr_zero(left);
    const std::uint32_t mask = masks[first];
    std::uint32_t group = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (masks[lane] == mask) group |= 1u << lane;
    }
    left &= ~group;
    if ((mask & group) != group) {
      report(FindingKind::bad_mask, warp, block.site, std::countr_zero(group & ~mask),
             fmt::format("lanes {} execute it with mask {}, which does not name them", lanes_text(group & ~mask),
                         lanes_text(mask)));
      ready |= group & ~mask;
    }
    if (((mask & warp.live) & ~group) == 0 || warp.forced) ready |= group;
  }
  warp.forced = false;
  if (ready != all) {
    if (ready == 0) return park(warp);
    warp.others.push_back({all & ~ready, warp.now.block, true, false});
    set_active(warp, ready);
  }
  op.full(warp, op);
  if (op.extra == 1 && shadow) {  // bar.warp.sync
    for (std::uint32_t left = warp.active; left != 0;) {
      const std::uint32_t first = left & (~left + 1), mask = masks[std::countr_zero(left)] & warp.active;
      if ((mask & first) != 0) shadow->warp_sync(warp.resident_index, mask);  // else it was reported
      left &= ~(mask | first);
    }
  }
  warp.now.block = block.next;
  return true;
}

/// Every fragment of the warp waits for something. Parked lanes that wait for lanes that cannot come are reported and
/// let go; true: the warp can go on.
bool Machine::unstick(WarpState& warp) {
  // Warp barriers at different places with one mask release one another.
  Fragment* chosen = nullptr;
  std::uint32_t parked = 0, waiting = 0;
  const auto look = [&](Fragment& one) {
    if (one.mask == 0) return;
    if (one.parked) {
      parked |= one.mask;
      if (chosen == nullptr) chosen = &one;
    } else if (one.waiting) {
      waiting |= one.mask;
    }
  };
  look(warp.now);
  for (Fragment& one : warp.others) look(one);
  if (chosen == nullptr) return false;
  const CodeBlock& block = state.program.code[chosen->block];
  if (block.ending == Ending::warp) {
    const Micro& op = state.program.ops[block.op];
    const std::uint32_t mask = words(warp, state.program.lists[op.list])[std::countr_zero(chosen->mask)];
    bool joint = op.extra == 1 && ((mask & warp.live) & ~parked) == 0;
    const auto same = [&](const Fragment& one) {
      if (one.mask == 0 || !one.parked || (one.mask & mask) == 0) return true;
      const CodeBlock& its = state.program.code[one.block];
      return its.ending == Ending::warp && state.program.ops[its.op].extra == 1;
    };
    joint = joint && same(warp.now);
    for (const Fragment& one : warp.others) joint = joint && same(one);
    if (joint) {
      if (shadow) shadow->warp_sync(warp.resident_index, mask & warp.live);
      const auto release = [&](Fragment& one) {
        if (one.mask == 0 || !one.parked || (one.mask & mask) == 0) return;
        one.parked = false;
        one.block = state.program.code[one.block].next;
      };
      release(warp.now);
      for (Fragment& one : warp.others) release(one);
      return next_fragment(warp);
    }
    if ((mask & waiting) != 0) return false;  // they may come when the barrier they wait at is complete
    report(FindingKind::bad_mask, warp, block.site, std::countr_zero(chosen->mask),
           fmt::format("lanes {} wait for lanes {}, which wait elsewhere", lanes_text(chosen->mask),
                       lanes_text(mask & warp.live & ~chosen->mask)));
    warp.forced = true;
  } else {
    report(FindingKind::divergent_barrier, warp, block.site, std::countr_zero(chosen->mask),
           fmt::format("lanes {} of warp {} of block {} are at this barrier, lanes {} are not",
                       lanes_text(chosen->mask), warp.index, warp.home->linear, lanes_text(warp.live & ~chosen->mask)));
    warp.forced = true;
  }
  chosen->parked = false;
  // Only this fragment may run: the others stay parked until it has gone on.
  return next_fragment(warp);
}

/// bar.sync, bar.arrive, bar.red.
bool Machine::block_barrier(WarpState& warp, const CodeBlock& block) {
  const Micro& op = state.program.ops[block.op];
  const bool aligned = !(op.extra & barrier_unaligned);
  const std::uint32_t kind = op.extra & barrier_kind_mask;
  if (aligned && warp.active != warp.live && !warp.forced) return park(warp);
  warp.forced = false;
  const int first = std::countr_zero(warp.active);
  const std::uint32_t initial = warp.initial;
  if (aligned && (initial & ~warp.live) != 0 && warp.active == warp.live)
    report(FindingKind::divergent_barrier, warp, block.site, first,
           fmt::format("lanes {} of warp {} of block {} exited before this barrier", lanes_text(initial & ~warp.live),
                       warp.index, warp.home->linear));
  const std::uint32_t number = words(warp, op.a)[first];
  if (number >= 16) {
    report(FindingKind::mismatched_barrier, warp, block.site, first,
           fmt::format("barrier {}: there are 16, from 0", number));
    warp.now.block = block.next;
    return true;
  }
  ResidentBlock& home = *warp.home;
  NamedBarrier& barrier = home.barriers[number];
  std::uint32_t expected = op.b == no_slot ? 0 : words(warp, op.b)[first];
  const auto whole = static_cast<std::uint32_t>(state.warps_per_block * lanes_per_warp);
  if (expected != 0 && (expected % lanes_per_warp != 0 || expected > whole))
    report(
        FindingKind::mismatched_barrier, warp, block.site, first,
        fmt::format("barrier {} is given {} threads; a multiple of 32 up to {} was expected", number, expected, whole));
  const auto threads = [&](std::uint32_t count) { return count == 0 ? whole : count; };
  if (barrier.arrived != 0 && threads(barrier.expected) != threads(expected))
    report(FindingKind::mismatched_barrier, warp, block.site, first,
           fmt::format("barrier {} is given {} threads here and {} at line {}", number, threads(expected),
                       threads(barrier.expected), state.program.sites[barrier.site].line));
  if (barrier.arrived == 0) {
    barrier.expected = expected;
    barrier.site = block.site;
    barrier.votes = barrier.voters = 0;
  }
  if (kind >= barrier_popc) {
    const std::uint32_t set = state.program.lanes->mask_of(words(warp, op.c)) & warp.active;
    barrier.votes += static_cast<std::uint32_t>(std::popcount(set));
    barrier.voters += static_cast<std::uint32_t>(std::popcount(warp.active));
  }
  // Whole warps count 32 whatever lanes they have left.
  barrier.arrived +=
      aligned || warp.active == warp.live ? lanes_per_warp : static_cast<std::uint32_t>(std::popcount(warp.active));
  barrier.lanes[warp.index] |= aligned ? all_lanes : warp.active;
  if (shadow && expected != 0)
    shadow->release(warp.resident_index, warp.active, barrier_location(home, static_cast<int>(number)),
                    ShadowScope::block);
  if (kind == barrier_arrive) {
    warp.now.block = block.next;
  } else {
    warp.now.waiting = true;
  }
  ++progress;
  check_barriers(home);
  return kind == barrier_arrive || !warp.now.waiting;
}

SyncLocation Machine::barrier_location(const ResidentBlock& block, int barrier) const {
  return {ShadowSpace::shared,
          (std::uint64_t{1} << 62) + static_cast<std::uint64_t>(block.slot) * 16 + static_cast<std::uint64_t>(barrier)};
}

/// Completes barriers whose last warp has arrived or exited.
void Machine::check_barriers(ResidentBlock& block) {
  for (int number = 0; number < 16; ++number) {
    const NamedBarrier& barrier = block.barriers[number];
    if (barrier.arrived == 0) continue;
    bool full = false;
    if (barrier.expected != 0) {
      full = barrier.arrived >= barrier.expected;
    } else {
      full = true;
      for (const auto& warp : block.warps)
        if ((warp->live & ~barrier.lanes[warp->index]) != 0) full = false;
    }
    if (full) complete(block, number);
  }
}

void Machine::complete(ResidentBlock& block, int number) {
  NamedBarrier& barrier = block.barriers[number];
  const auto release = [&](WarpState& warp, Fragment& one) {
    if (one.mask == 0 || !one.waiting) return;
    const CodeBlock& code = state.program.code[one.block];
    if (code.ending != Ending::barrier) return;
    const Micro& op = state.program.ops[code.op];
    const int lane = std::countr_zero(one.mask);
    if (words(warp, op.a)[lane] != static_cast<std::uint32_t>(number)) return;
    const std::uint32_t kind = op.extra & barrier_kind_mask;
    if (kind >= barrier_popc) {
      const std::uint32_t value = kind == barrier_popc  ? barrier.votes
                                  : kind == barrier_and ? (barrier.votes == barrier.voters ? all_lanes : 0)
                                                        : (barrier.votes != 0 ? all_lanes : 0);
      std::uint32_t* d = words(warp, op.d);
      for (std::uint32_t left = one.mask; left != 0; left &= left - 1) d[std::countr_zero(left)] = value;
    }
    if (shadow && barrier.expected != 0)
      shadow->acquire(warp.resident_index, one.mask, barrier_location(block, number), ShadowScope::block);
    one.waiting = false;
    one.block = code.next;
  };
  if (shadow && barrier.expected == 0) shadow->block_barrier(block.slot);
  for (const auto& warp : block.warps) {
    release(*warp, warp->now);
    for (Fragment& one : warp->others) release(*warp, one);
  }
  if (shadow && barrier.expected != 0) shadow->forget(barrier_location(block, number));
  barrier = {};
  ++progress;
}

/// barrier.cluster.arrive and .wait: a warp waits for the phase it arrived at.
bool Machine::cluster_barrier(WarpState& warp, const CodeBlock& block) {
  const Micro& op = state.program.ops[block.op];
  if (!(op.extra & barrier_unaligned) && warp.active != warp.live && !warp.forced) return park(warp);
  warp.forced = false;
  const std::uint32_t per_cluster = state.cluster[0] * state.cluster[1] * state.cluster[2];
  const std::size_t cluster = static_cast<std::size_t>(warp.home->slot) / per_cluster;
  ClusterBarrier& barrier = cluster_barriers[cluster];
  const SyncLocation location{ShadowSpace::shared, (std::uint64_t{3} << 61) + cluster * 2 + (barrier.phase & 1)};
  if ((op.extra & barrier_kind_mask) == cluster_arrive) {
    if (warp.cluster_arrived)
      report(FindingKind::mismatched_barrier, warp, block.site, std::countr_zero(warp.active),
             "the warp arrives at the cluster barrier a second time without waiting");
    warp.cluster_arrived = true;
    warp.cluster_phase = barrier.phase;
    if (shadow && !(op.extra & barrier_relaxed))
      shadow->release(warp.resident_index, warp.active, location, ShadowScope::cluster);
    ++barrier.arrived;
    warp.now.block = block.next;
    ++progress;
    check_cluster(cluster);
    return true;
  }
  if (!warp.cluster_arrived) {
    report(FindingKind::mismatched_barrier, warp, block.site, std::countr_zero(warp.active),
           "the warp waits at the cluster barrier without having arrived");
    warp.now.block = block.next;
    return true;
  }
  if (barrier.phase == warp.cluster_phase) {
    warp.now.waiting = true;
    return false;
  }
  leave_cluster_barrier(warp, warp.now);
  return true;
}

void check_started(WarpState& warp, std::uint32_t site, int lane, int block) {
  const Machine& machine = *warp.machine;
  if (!machine.shadow || (warp.met_cluster >> lane & 1) != 0) return;
  if (machine.shadow->has_heard_of(warp.resident_index, static_cast<std::uint32_t>(lane), block)) return;
  const std::int64_t other = machine.resident[block].linear;
  warp.machine->report(
      FindingKind::race, warp, site, lane,
      fmt::format("thread {} of block {} touches the shared memory of block {}, which need not have started: no "
                  "cluster barrier lies before it",
                  warp.index * lanes_per_warp + lane, warp.home->linear, other));
}

void Machine::leave_cluster_barrier(WarpState& warp, Fragment& one) {
  const std::uint32_t per_cluster = state.cluster[0] * state.cluster[1] * state.cluster[2];
  const std::size_t cluster = static_cast<std::size_t>(warp.home->slot) / per_cluster;
  const SyncLocation location{ShadowSpace::shared, (std::uint64_t{3} << 61) + cluster * 2 + (warp.cluster_phase & 1)};
  if (shadow) shadow->acquire(warp.resident_index, one.mask, location, ShadowScope::cluster);
  warp.cluster_arrived = false;
  warp.met_cluster |= one.mask;
  one.waiting = false;
  one.block = state.program.code[one.block].next;
}

/// Ends the phase when every warp of the cluster that has not exited arrived.
void Machine::check_cluster(std::size_t cluster) {
  ClusterBarrier& barrier = cluster_barriers[cluster];
  if (barrier.arrived == 0) return;
  const std::size_t per_cluster = std::size_t{state.cluster[0]} * state.cluster[1] * state.cluster[2];
  const std::size_t first = cluster * per_cluster;
  for (std::size_t b = first; b < first + per_cluster; ++b)
    for (const auto& warp : resident[b].warps)
      if (warp->live != 0 && !(warp->cluster_arrived && warp->cluster_phase == barrier.phase)) return;
  barrier.arrived = 0;
  ++barrier.phase;
  ++progress;
  if (shadow) shadow->forget({ShadowSpace::shared, (std::uint64_t{3} << 61) + cluster * 2 + (barrier.phase & 1)});
  for (std::size_t b = first; b < first + per_cluster; ++b)
    for (const auto& warp : resident[b].warps) {
      const auto release = [&](Fragment& one) {
        if (one.mask != 0 && one.waiting && state.program.code[one.block].ending == Ending::cluster)
          leave_cluster_barrier(*warp, one);
      };
      release(warp->now);
      for (Fragment& one : warp->others) release(one);
    }
}

}  // namespace tailor::simulator
