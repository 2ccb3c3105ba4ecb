// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Resident sets: blocks that are resident together are started, and their warps take turns until all are done or
// nothing can go on. In: the first block of the set. Out: memory changed, counts and findings of the machine. Called
// by simulate.cpp.
//
// Starting a block clears what it may not rely on: shared memory and the registers that the program reads before it
// writes hold poison, barriers are empty, special registers hold the block's place in the grid and its cluster.
//
// Turns are random but seeded by the launch's seed and the set's first block, so a set runs alike on any host thread.
// In each round every warp that can run gets one slice of instructions of random length, in an order drawn anew, so a
// kernel that works only in one order is found out. A warp that is alone gets long slices.
//
// A warp that polls one place without any change of memory is idle. When every warp that can run has been idle for
// many slices, or none can run, the set is deadlocked: the first few warps are reported with what they wait for. A
// stop and the time limit are looked at while warps run (look_up): a round of a large grid takes seconds.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/text.h"
#include "profiler/simulator/decode/special.h"
#include "profiler/simulator/machine/machine.h"

namespace tailor::simulator {
namespace {

void splat(std::byte* bank, std::uint32_t slot, std::uint32_t value) {
  auto* to = reinterpret_cast<std::uint32_t*>(bank + slot * slot_bytes);
  std::fill(to, to + lanes_per_warp, value);
}

void fill_block_bank(std::byte* bank, const LaunchState& state, const ResidentBlock& block) {
  const auto put = [&](SpecialId id, std::uint32_t value) { splat(bank, special_row(id).index, value); };
  put(SpecialId::ctaid_x, block.id[0]);
  put(SpecialId::ctaid_y, block.id[1]);
  put(SpecialId::ctaid_z, block.id[2]);
  const int sms = std::max(state.options.machine.sms, 1);
  put(SpecialId::smid, static_cast<std::uint32_t>(block.linear % sms));
  put(SpecialId::clusterid_x, block.id[0] / state.cluster[0]);
  put(SpecialId::clusterid_y, block.id[1] / state.cluster[1]);
  put(SpecialId::clusterid_z, block.id[2] / state.cluster[2]);
  put(SpecialId::cluster_ctaid_x, block.id[0] % state.cluster[0]);
  put(SpecialId::cluster_ctaid_y, block.id[1] % state.cluster[1]);
  put(SpecialId::cluster_ctaid_z, block.id[2] % state.cluster[2]);
  put(SpecialId::cluster_ctarank, block.rank);
}

}  // namespace

Machine::Machine(const LaunchState& launch_state) : state(launch_state) {
  const DecodedProgram& program = state.program;
  may_spin = program.orders_memory || program.may_spin;
  block_runs.assign(program.code.size(), 0);
  block_lanes.assign(program.code.size(), 0);
  block_joins.assign(program.code.size(), 0);
  sites.assign(program.memory_sites.size(), {});
  site_totals.assign(program.memory_sites.size(), {});
  bank_patterns.resize(program.memory_sites.size());
  buffers.assign(state.memory.buffers.size(), {});
  resident.resize(static_cast<std::size_t>(state.blocks_per_set));
  const std::size_t per_cluster = std::size_t{state.cluster[0]} * state.cluster[1] * state.cluster[2];
  cluster_barriers.resize(resident.size() / per_cluster);
  const std::int64_t lane_bytes = (program.local_bytes + 15) / 16 * 16;
  int slot = 0;
  for (ResidentBlock& block : resident) {
    block.slot = slot++;
    block.shared_storage = AlignedBytes(static_cast<std::size_t>(state.shared_bytes));
    block.shared = block.shared_storage.data;
    block.bank_storage = AlignedBytes(block_bank_slots * slot_bytes);
    block.bank = block.bank_storage.data;
    for (int index = 0; index < state.warps_per_block; ++index) {
      auto warp = std::make_unique<WarpState>();
      warp->frame_storage = AlignedBytes(program.frame_bytes);
      warp->bank[static_cast<int>(Bank::frame)] = warp->frame_storage.data;
      warp->bank[static_cast<int>(Bank::launch)] = const_cast<std::byte*>(state.launch_bank);
      warp->bank[static_cast<int>(Bank::block)] = block.bank;
      warp->bank[static_cast<int>(Bank::thread)] =
          const_cast<std::byte*>(state.thread_bank) + static_cast<std::size_t>(index) * thread_bank_slots * slot_bytes;
      warp->lists = program.lists.data();
      warp->sites = sites.data();
      warp->services = &services;
      warp->machine = this;
      warp->home = &block;
      warp->index = index;
      warp->resident_index = block.slot * state.warps_per_block + index;
      warp->shared = {static_cast<std::uint64_t>(state.shared_bytes), block.shared, 0};
      warp->local.size = static_cast<std::uint64_t>(lane_bytes) * lanes_per_warp;
      warp->local_storage = AlignedBytes(warp->local.size);
      warp->local.host = warp->local_storage.data;
      warp->local.lane_stride = static_cast<std::uint64_t>(lane_bytes);
      const int lanes = std::min(state.threads_per_block - index * lanes_per_warp, lanes_per_warp);
      warp->initial = lanes == lanes_per_warp ? all_lanes : (1u << lanes) - 1;
      warp->observe = (state.shadow ? observe_shadow : 0) | (state.cache ? observe_cache : 0);
      block.warps.push_back(std::move(warp));
    }
  }
  if (state.shadow) {
    ResidentShape shape;
    shape.blocks = state.blocks_per_set;
    shape.warps_per_block = state.warps_per_block;
    shape.cluster_blocks = static_cast<int>(per_cluster);
    shape.shared_bytes = state.shared_bytes;
    shape.shared_granule = program.shared_grain;
    shape.local_bytes_per_warp = lane_bytes * lanes_per_warp;
    shape.patience = &until_look;
    shadow = std::make_unique<ResidentShadow>(*state.shadow, shape);
  }
  if (state.cache) traffic = std::make_unique<BlockTraffic>(CacheShape{0, state.options.machine.l2_bytes});
}

Machine::~Machine() = default;

std::uint64_t Machine::next_random() {  // splitmix64 (Steele, Lea, Flood 2014)
  std::uint64_t z = random += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

void Machine::start_block(ResidentBlock& block, std::int64_t linear) {
  const Extent3& grid = state.launch.grid;
  const Extent3& cluster = state.cluster;
  block.linear = linear;
  // Consecutive linear ids within a cluster: clusters are tiles of the grid, blocks in order inside each.
  const std::int64_t per_cluster = std::int64_t{cluster[0]} * cluster[1] * cluster[2];
  const std::int64_t tile = linear / per_cluster, inside = linear % per_cluster;
  const std::int64_t tiles_x = grid[0] / cluster[0], tiles_y = grid[1] / cluster[1];
  block.rank = static_cast<std::uint32_t>(inside);
  block.id = {static_cast<std::uint32_t>(tile % tiles_x * cluster[0] + inside % cluster[0]),
              static_cast<std::uint32_t>(tile / tiles_x % tiles_y * cluster[1] + inside / cluster[0] % cluster[1]),
              static_cast<std::uint32_t>(tile / tiles_x / tiles_y * cluster[2] + inside / cluster[0] / cluster[1])};
  std::memset(block.shared, static_cast<int>(poison_byte), static_cast<std::size_t>(state.shared_bytes));
  fill_block_bank(block.bank, state, block);
  block.barriers.fill({});
  block.live_warps = state.warps_per_block;
  for (const auto& warp : block.warps) {
    warp->live = warp->initial;
    warp->others.clear();
    warp->now = {warp->initial, 0};
    warp->executed = 0;
    warp->forced = warp->cluster_arrived = false;
    warp->met_cluster = 0;
    warp->cluster_phase = 0;
    warp->idle_slices = 0;
    warp->polled = 0;
    warp->polls_again = false;
    warp->undefined.reset();
    for (const EntrySlot& slot : state.program.entry_slots)
      std::memset(warp->bank[static_cast<int>(Bank::frame)] + slot.offset, static_cast<int>(poison_byte), slot.bytes);
    if (shadow && !state.program.entry_slots.empty()) mark_unwritten(*warp);
    set_active(*warp, warp->initial);
  }
}

void Machine::run_resident_set(std::int64_t first, std::int64_t position) {
  random = state.options.seed;  // seeds and resident sets far apart, so that no two share a stream
  random = next_random() + static_cast<std::uint64_t>(first);
  random = next_random();
  clock = 0;
  std::vector<std::int64_t> ids;
  for (std::size_t slot = 0; slot < resident.size(); ++slot) {
    ids.push_back(first + static_cast<std::int64_t>(slot));
    start_block(resident[slot], ids.back());
  }
  for (ClusterBarrier& barrier : cluster_barriers) barrier = {};
  if (shadow) shadow->start(ids);
  if (state.program.uses_async)
    async.start(resident.size(), resident.size() * static_cast<std::size_t>(state.warps_per_block) * lanes_per_warp,
                static_cast<std::size_t>(state.shared_bytes), shadow != nullptr);
  schedule();
  if (!stopped) finish_copies(*this);
  if (traffic) state.cache->commit(position, *traffic);
  blocks_done += static_cast<std::int64_t>(resident.size());
}

void Machine::schedule() {
  constexpr int patience = 64;  // slices without a change of memory before a spinning warp counts as stuck
  std::vector<WarpState*> ready;
  while (!stopped) {
    ready.clear();
    bool any = false;
    for (const ResidentBlock& block : resident)
      for (const auto& warp : block.warps) {
        any = any || warp->live != 0;
        if (warp->can_run()) ready.push_back(warp.get());
      }
    if (!any) return;
    if (ready.empty()) return explain_deadlock();
    bool all_idle = true;
    // One round: every ready warp once, in an order of its own.
    for (std::size_t left = ready.size(); left > 0; --left) {
      const std::size_t pick = state.options.random_schedule ? next_random() % left : 0;
      WarpState& warp = *ready[pick];
      if (state.options.random_schedule) {
        ready[pick] = ready[left - 1];
      } else {
        ready.erase(ready.begin());
      }
      if (!warp.can_run()) continue;
      const std::uint64_t before = progress;
      const std::int64_t slice = ready.size() == 1               ? 1 << 16
                                 : state.options.random_schedule ? 64 + static_cast<std::int64_t>(next_random() % 1024)
                                                                 : 1 << 14;
      run_warp(warp, slice);
      // Idle is who looks at one place again and again while nobody changes memory.
      const bool idle = progress == before && warp.live != 0 && warp.can_run() && warp.polls_again;
      warp.idle_slices = idle ? warp.idle_slices + 1 : 0;
      all_idle = all_idle && warp.idle_slices > patience;
      if (stopped) return;
    }
    if (all_idle && may_spin) return explain_deadlock();
  }
}

void Machine::look_up() {
  until_look = between_looks;
  if (stopped) return;
  if (state.options.stop.stop_requested()) {
    stopped = true;
    stop_reason = "stopped";
  } else if (state.out_of_time()) {
    stopped = true;
    stop_reason = fmt::format("it took longer than {:.3g} s", state.options.time_limit.value);
  }
}

void Machine::limit_memory() {
  if (state.options.most_lazy_bytes == 0 || stopped) return;
  // Of 4 bytes that may be written the shadow keeps up to 20 (shadow.h).
  const std::int64_t records = shadow ? 5 : 0;
  const std::int64_t held = state.memory.lazily_read.load(std::memory_order_relaxed) +
                            (1 + records) * state.memory.lazily_written.load(std::memory_order_relaxed);
  if (held <= state.options.most_lazy_bytes) return;
  stopped = out_of_memory = true;
  stop_reason = fmt::format("its blocks touch more than {} of memory",
                            humane_bytes(static_cast<double>(state.options.most_lazy_bytes)));
}

void Machine::explain_deadlock() {
  int told = 0;
  for (const ResidentBlock& block : resident)
    for (const auto& warp : block.warps) {
      if (warp->live == 0 || told >= 4) continue;
      ++told;
      const CodeBlock& code = state.program.code[warp->now.block];
      std::string what = "waits for other lanes";
      if (warp->now.waiting && code.ending == Ending::barrier) {
        const Micro& op = state.program.ops[code.op];
        const std::uint32_t number = words(*warp, op.a)[std::countr_zero(std::max(warp->now.mask, 1u))];
        const NamedBarrier& barrier = block.barriers[number & 15];
        what = fmt::format("waits at barrier {}, where {} of {} threads have arrived", number, barrier.arrived,
                           barrier.expected ? barrier.expected : static_cast<std::uint32_t>(state.threads_per_block));
      } else if (warp->now.waiting) {
        what = "waits at the cluster barrier";
      } else if (warp->can_run()) {
        what = "goes round in a loop and nobody changes memory";
      }
      report(FindingKind::deadlock, *warp, code.site, -1,
             fmt::format("warp {} of block {} {}", warp->index, block.linear, what));
    }
  stopped = true;
  stop_reason = "deadlock";
}

void Machine::report(FindingKind kind, const WarpState& warp, std::uint32_t site, int lane, std::string text,
                     int buffer, Severity severity) {
  // Advice at a place where an error is known says nothing more; more of what is known is counted.
  if (findings.seen(kind, site, severity)) return findings.again(kind, site, severity);
  const SiteText& at = state.program.sites[site];
  Finding made;
  made.kind = kind;
  made.severity = severity;
  made.text = std::move(text);
  made.ptx_line = at.line;
  made.source_line = at.source.line;
  made.source_file = source_name(state.program, at.source);
  made.block = warp.home->linear;
  made.warp = warp.index;
  made.lane = lane;
  made.buffer = buffer;
  findings.add(site, std::move(made));
}

void Machine::flush_site(std::size_t index) {
  SiteState& site = sites[index];
  if (site.requests == 0) return;
  const RequestCounts counts{site.requests, site.sectors, site.bytes};
  Counters& all = memory_counters;
  const SiteKind kind = state.program.memory_sites[index].kind;
  add(site_totals[index].counts, counts);
  // Sites that only ever took the fast path to shared memory have no key.
  if (site.buffer >= 0) {
    BufferCounters& buffer = buffers[site.buffer];
    add(kind == SiteKind::load ? buffer.load : kind == SiteKind::store ? buffer.store : buffer.atomic, counts);
    const auto sum = [&](std::int64_t Counters::*requests, std::int64_t Counters::*sectors,
                         std::int64_t Counters::*bytes) {
      all.*requests += counts.requests;
      all.*sectors += counts.sectors;
      all.*bytes += counts.bytes;
    };
    if (kind == SiteKind::load)
      sum(&Counters::global_load_requests, &Counters::global_load_sectors, &Counters::global_load_bytes);
    if (kind == SiteKind::store)
      sum(&Counters::global_store_requests, &Counters::global_store_sectors, &Counters::global_store_bytes);
    if (kind == SiteKind::atomic)
      sum(&Counters::global_atomic_requests, &Counters::global_atomic_sectors, &Counters::global_atomic_bytes);
  } else if (site.buffer == local_site) {
    (kind == SiteKind::load ? all.local_load_requests : all.local_store_requests) += counts.requests;
  } else if (kind == SiteKind::load) {
    all.shared_load_requests += counts.requests;
    all.shared_load_wavefronts += counts.sectors;
    all.shared_load_bytes += counts.bytes;
  } else if (kind == SiteKind::store) {
    all.shared_store_requests += counts.requests;
    all.shared_store_wavefronts += counts.sectors;
    all.shared_store_bytes += counts.bytes;
  } else {
    all.shared_atomic_requests += counts.requests;
  }
  site.requests = site.sectors = site.bytes = 0;
}

void Machine::flush_sites() {
  for (std::size_t index = 0; index < sites.size(); ++index) flush_site(index);
}

}  // namespace tailor::simulator
