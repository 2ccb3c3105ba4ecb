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

#include <algorithm>
#include <bit>

#include "profiler/simulator/decode/order.h"
#include "profiler/simulator/machine/machine.h"

namespace tailor::simulator {
namespace {

std::string lanes_text(std::uint32_t mask) { return fmt::format("0x{:08x}", mask); }

}  // namespace

/// The current fragment waits for other lanes of its warp. true: another fragment may run.
bool Machine::park(WarpState& warp) {
  warp.now.parked = warp.now.at_end = warp.has_parked = true;
  return false;
}

/// Fragments that stand at the same ending join the current one. Each has run the body, and all run the ending as one.
void Machine::join_parked(WarpState& warp) {
  std::uint32_t mask = warp.active;
  std::erase_if(warp.others, [&](const Fragment& one) {
    const bool joins = one.at_end && one.block == warp.now.block;
    if (joins) mask |= one.mask, warp.now.passed_by |= one.passed_by, ++block_joins[one.block];
    return joins;
  });
  if (mask != warp.active) set_active(warp, mask);
}

/// The current lanes run block `at`: who is parked before it may wait for them in vain.
void Machine::note_passed_by(WarpState& warp, std::uint32_t at) {
  warp.has_parked = std::any_of(warp.others.begin(), warp.others.end(), [](const Fragment& one) { return one.parked; });
  const auto& code = state.program.code;
  const CodeBlock& block = code[at];
  // A return, or the way to it, is all that lanes run which leave early.
  const bool leaves = block.ending == Ending::exit || block.ending == Ending::jump || block.ending == Ending::next;
  if (leaves && block.first == block.last) return;
  for (Fragment& one : warp.others) {
    if (!one.parked || code[one.block].priority >= block.priority) continue;
    const auto [found, fresh] = behind.try_emplace(one.block);
    std::vector<bool>& reached = found->second;
    if (fresh) {
      const BlockLists next = find_successors(code, state.program.targets);
      reached.resize(code.size());
      for (std::vector<std::uint32_t> open{one.block}; !open.empty();) {
        const std::uint32_t from = open.back();
        open.pop_back();
        for (const std::uint32_t to : next[from])
          if (code[to].priority > code[from].priority && !reached[to]) {
            reached[to] = true;
            open.push_back(to);
          }
      }
    }
    if (reached[at]) one.passed_by |= warp.active;
  }
}

/// The current lanes exit: a finding where parked lanes waited for them and they had gone past.
void Machine::report_passed_by(WarpState& warp) {
  for (const Fragment& one : warp.others) {
    std::uint32_t lanes = one.parked ? one.passed_by & warp.active : 0;
    if (lanes == 0) continue;
    const CodeBlock& block = state.program.code[one.block];
    const int first = std::countr_zero(one.mask);
    if (block.ending == Ending::barrier) {
      report(FindingKind::divergent_barrier, warp, block.site, first,
             fmt::format("lanes {} of warp {} of block {} are at this barrier, lanes {} went past it and exited",
                         lanes_text(one.mask), warp.index, warp.home->linear, lanes_text(lanes)));
    } else if (block.ending == Ending::warp) {
      const std::string_view opcode = state.program.sites[block.site].opcode;
      lanes &= words(warp, state.program.lists[state.program.ops[block.op].list])[first];
      if (lanes == 0 || opcode.starts_with("shfl") || opcode.starts_with("bar")) continue;
      report(FindingKind::bad_mask, warp, block.site, first,
             fmt::format("lanes {} wait for lanes {} of their mask, which went past and exited", lanes_text(one.mask),
                         lanes_text(lanes)));
    }
  }
}

/// Lanes run with the lanes of their mask; those whose mask is not complete wait.
bool Machine::warp_operation(WarpState& warp, const CodeBlock& block) {
  const Micro& op = state.program.ops[block.op];
  const Slot mask_slot = state.program.lists[op.list];
  const std::uint32_t* masks = words(warp, mask_slot);
  if (mask_slot >> slot_bank_shift == static_cast<std::uint32_t>(Bank::launch) && warp.active == warp.live &&
      (masks[0] & warp.active) == warp.active) {  // nearly always: a constant mask that names all there are
    op.full(warp, op);
    if (op.extra == 1 && shadow) shadow->warp_sync(warp.resident_index, warp.active);
    warp.now.block = block.next;
    return true;
  }
  join_parked(warp);
  const std::uint32_t all = warp.active;
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
    warp.has_parked = true;
    --block_joins[warp.now.block];  // those that stay run the ending later
    warp.others.push_back({.mask = all & ~ready,
                           .block = warp.now.block,
                           .parked = true,
                           .at_end = true,
                           .passed_by = warp.now.passed_by});
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
  warp.now.passed_by = 0;
  warp.now.block = block.next;
  return true;
}

/// bar.warp.sync at different places releases the lanes of one mask as if it were one place: PTX asks for the same
/// mask, not for the same instruction. true: some were released.
bool Machine::release_joint(WarpState& warp) {
  const DecodedProgram& program = state.program;
  std::array<std::uint32_t, lanes_per_warp> asked{};  // by lane that is parked at a warp barrier: its mask
  const auto look = [&](const Fragment& one) {
    const CodeBlock& block = program.code[one.block];
    if (!one.parked || block.ending != Ending::warp || program.ops[block.op].extra != 1) return;
    const std::uint32_t* masks = words(warp, program.lists[program.ops[block.op].list]);
    for (std::uint32_t left = one.mask; left != 0; left &= left - 1)
      asked[std::countr_zero(left)] = masks[std::countr_zero(left)];
  };
  look(warp.now);
  for (const Fragment& one : warp.others) look(one);
  for (const std::uint32_t mask : asked) {
    const std::uint32_t needed = mask & warp.live;
    bool complete = needed != 0;
    for (std::uint32_t left = needed; left != 0; left &= left - 1)
      complete = complete && asked[std::countr_zero(left)] == mask;
    if (!complete) continue;
    if (shadow) shadow->warp_sync(warp.resident_index, needed);
    if (warp.now.mask != 0) warp.others.push_back(warp.now);
    set_active(warp, 0);
    warp.now.parked = warp.now.at_end = false;
    const std::size_t many = warp.others.size();
    for (std::size_t i = 0; i < many; ++i) {
      const Fragment one = warp.others[i];
      if ((one.mask & needed) == 0) continue;
      warp.others[i].mask &= ~needed;
      warp.others.push_back({.mask = one.mask & needed, .block = program.code[one.block].next});
    }
    std::erase_if(warp.others, [](const Fragment& one) { return one.mask == 0; });
    return true;
  }
  return false;
}

/// Every fragment of the warp waits for something. Parked lanes that wait for lanes that cannot come are reported and
/// let go; true: the warp can go on.
bool Machine::unstick(WarpState& warp) {
  if (!warp.has_parked) return false;  // nearly always: all of it waits for other warps
  if (release_joint(warp)) return next_fragment(warp);
  Fragment* chosen = nullptr;
  std::uint32_t waiting = 0;
  const auto look = [&](Fragment& one) {
    if (one.mask == 0) return;
    if (one.parked && chosen == nullptr) chosen = &one;
    if (!one.parked && one.waiting) waiting |= one.mask;
  };
  look(warp.now);
  for (Fragment& one : warp.others) look(one);
  if (chosen == nullptr) return false;
  const CodeBlock& block = state.program.code[chosen->block];
  if (block.ending == Ending::warp) {
    const Micro& op = state.program.ops[block.op];
    const std::uint32_t mask = words(warp, state.program.lists[op.list])[std::countr_zero(chosen->mask)];
    if ((mask & waiting) != 0) return false;  // they may come when the barrier they wait at is complete
    report(FindingKind::bad_mask, warp, block.site, std::countr_zero(chosen->mask),
           fmt::format("lanes {} wait for lanes {}, which wait elsewhere", lanes_text(chosen->mask),
                       lanes_text(mask & warp.live & ~chosen->mask)));
  } else {
    report(FindingKind::divergent_barrier, warp, block.site, std::countr_zero(chosen->mask),
           fmt::format("lanes {} of warp {} of block {} are at this barrier, lanes {} are not",
                       lanes_text(chosen->mask), warp.index, warp.home->linear, lanes_text(warp.live & ~chosen->mask)));
  }
  warp.forced = true;
  chosen->parked = false;
  // Only this fragment may run: the others stay parked until it has gone on.
  return next_fragment(warp);
}

/// An aligned barrier is for all live lanes of a warp at once. false: the current ones wait for the others.
bool Machine::all_here(WarpState& warp, bool aligned) {
  if (aligned && warp.active != warp.live) join_parked(warp);
  if (aligned && warp.active != warp.live && !warp.forced) return park(warp);
  warp.forced = false;
  warp.now.passed_by = 0;
  return true;
}

/// bar.sync, bar.arrive, bar.red.
bool Machine::block_barrier(WarpState& warp, const CodeBlock& block) {
  const Micro& op = state.program.ops[block.op];
  const bool aligned = !(op.extra & barrier_unaligned);
  const std::uint32_t kind = op.extra & barrier_kind_mask;
  if (!all_here(warp, aligned)) return false;
  const int first = std::countr_zero(warp.active);
  if (const std::uint32_t left = warp.initial & ~warp.live; aligned && left != 0 && warp.active == warp.live)
    report(FindingKind::divergent_barrier, warp, block.site, first,
           fmt::format("lanes {} of warp {} of block {} exited before this barrier: since compute capability 7.0 they "
                       "no longer count, before that the barrier was undefined",
                       lanes_text(left), warp.index, warp.home->linear),
           -1, Severity::advice);
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
  const bool aligned = !(op.extra & barrier_unaligned);
  if (!all_here(warp, aligned)) return false;
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
    if (shadow && (op.extra & barrier_relaxed))  // only what a fence before it made visible
      for (std::uint32_t left = warp.active; left != 0; left &= left - 1)
        shadow->strong_write(warp.resident_index, static_cast<std::uint32_t>(std::countr_zero(left)), location,
                             ShadowScope::cluster);
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
