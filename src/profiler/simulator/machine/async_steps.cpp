// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What asynchronous copies and mbarriers do. In: micro-operations as decode_async.cpp makes them. Out: copies that are
// noted, performed when somebody waits for them, and told to the sanitizers; phases of mbarriers that end when nothing
// is awaited any more. Called through the table of steps at the end, and by Machine at the end of a resident set.
//
// A copy that is issued poisons its destination and waits in a list. Waiting for a group performs the copies of that
// thread and group, in order of issue; looking at an mbarrier performs those that complete on it. Bytes that cannot be
// copied (out of bounds, misaligned, an input written to) are reported, and the copy is left out.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "profiler/simulator/machine/async.h"
#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/requests.h"
#include "profiler/simulator/machine/steps.h"

namespace tailor::simulator {

void AsyncState::start(std::size_t blocks, std::size_t threads, std::size_t shared_bytes, bool track_writers) {
  copies.clear();
  mbarriers.clear();
  groups.assign(threads, 0);
  bulk_groups.assign(threads, 0);
  fences.assign(threads, 0);
  writers.resize(track_writers ? blocks : 0);
  for (auto& one : writers) one.assign(shared_bytes, {});
}

namespace {

constexpr std::uint32_t mbarrier_bytes = 8;  // PTX ISA: an opaque object of 64 bits

constexpr std::uint64_t rank_offset_mask = (std::uint64_t{1} << shared_rank_shift) - 1;

template <class Work>
void each_active(Warp& warp, const Work& work) {
  for (std::uint32_t left = warp.active; left != 0; left &= left - 1) work(std::countr_zero(left));
}

std::size_t thread_of(const WarpState& warp, int lane) {
  return static_cast<std::size_t>(warp.resident_index) * lanes_per_warp + static_cast<std::size_t>(lane);
}

/// A shared place: the block that owns it and where; block -1: there is none, which was reported.
struct SharedSpan {
  int block = -1;
  std::uint64_t offset = 0;
  std::byte* host = nullptr;
};

SharedSpan find_shared(WarpState& warp, std::uint32_t site, int lane, std::uint64_t address, std::uint64_t bytes,
                       std::uint64_t align) {
  Machine& machine = *warp.machine;
  if (address >= shared_window && address < shared_window + window_bytes) address -= shared_window;
  SharedSpan span;
  const std::uint64_t rank = address >> shared_rank_shift;
  const std::uint64_t cluster =
      std::uint64_t{machine.state.cluster[0]} * machine.state.cluster[1] * machine.state.cluster[2];
  const auto fail = [&](FindingKind kind, std::string text) {
    machine.report(kind, warp, site, lane, std::move(text));
    return SharedSpan{};
  };
  if (rank > cluster)
    return fail(FindingKind::out_of_bounds,
                fmt::format("shared address 0x{:x} names no block of the cluster", address));
  span.block = warp.home->slot + (rank == 0 ? 0 : static_cast<int>(rank) - 1 - static_cast<int>(warp.home->rank));
  span.offset = address & rank_offset_mask;
  if (!array_holding(machine.state, span.offset, bytes))
    return fail(
        FindingKind::out_of_bounds,
        fmt::format("{} bytes at {}", bytes, shared_place(machine.state, static_cast<std::int64_t>(span.offset))));
  if (span.block != warp.home->slot) check_started(warp, site, lane, span.block);
  if (span.offset % align != 0)
    return fail(FindingKind::misaligned, fmt::format("shared offset {} is no multiple of {}", span.offset, align));
  span.host = machine.resident[span.block].shared + span.offset;
  return span;
}

struct GlobalSpan {
  int buffer = -1;
  std::uint64_t offset = 0;
  std::byte* host = nullptr;
};

GlobalSpan find_global(WarpState& warp, std::uint32_t site, int lane, std::uint64_t address, std::uint64_t bytes,
                       std::uint64_t align, bool write) {
  Machine& machine = *warp.machine;
  const int buffer = machine.state.memory.holding(address);
  const auto fail = [&](FindingKind kind, std::string text) {
    machine.report(kind, warp, site, lane, std::move(text), buffer);
    return GlobalSpan{};
  };
  if (buffer < 0) return fail(FindingKind::out_of_bounds, fmt::format("address 0x{:x} is in no buffer", address));
  const MemoryBuffer& at = machine.state.memory.buffers[buffer];
  GlobalSpan span{buffer, address - global_base - static_cast<std::uint64_t>(at.offset), nullptr};
  if (span.offset + bytes > static_cast<std::uint64_t>(at.bytes))
    return fail(FindingKind::out_of_bounds,
                fmt::format("{} bytes at byte {} of buffer {}, which has {}", bytes, span.offset, at.name, at.bytes));
  if (address % align != 0)
    return fail(FindingKind::misaligned,
                fmt::format("byte {} of buffer {} is no multiple of {}", span.offset, at.name, align));
  if (write && at.use == BufferUse::input)
    return fail(FindingKind::store_to_input, fmt::format("a copy to byte {} of input {}", span.offset, at.name));
  machine.state.memory.window(buffer, static_cast<std::int64_t>(span.offset), static_cast<std::int64_t>(bytes));
  machine.limit_memory();
  span.host = machine.state.memory.pages[buffer].data() + span.offset;
  return span;
}

/// Calls the shadow in aligned pieces of at most 16 bytes, as if one lane touched them.
template <class Tell>
void in_pieces(const WarpState& warp, int lane, ShadowSpace space, int region, std::uint64_t offset,
               std::uint32_t bytes, std::uint32_t site, const Tell& tell) {
  std::uint32_t offsets[lanes_per_warp] = {};
  ShadowAccess access;
  access.space = space;
  access.warp = warp.resident_index;
  access.region = region;
  access.lanes = 1u << lane;
  access.offset = offsets;
  access.site = site;
  while (bytes != 0) {
    std::uint32_t piece = 16;
    while (piece > bytes || offset % piece != 0) piece /= 2;
    offsets[lane] = static_cast<std::uint32_t>(offset);
    access.bytes = static_cast<int>(piece);
    tell(access);
    offset += piece;
    bytes -= piece;
  }
}

enum class Use : std::uint8_t { makes, arrives, looks };

/// The sanitizers see the 8 bytes of an mbarrier as memory: what makes or ends it is a plain store, what is done with
/// it is strong. So all of it must be ordered after the initialisation, and nothing may follow on it in another order.
void tell_use(WarpState& warp, std::uint32_t site, int lane, const SharedSpan& at, Use use) {
  Machine& machine = *warp.machine;
  if (!machine.shadow) return;
  in_pieces(warp, lane, ShadowSpace::shared, at.block, at.offset, mbarrier_bytes, site, [&](ShadowAccess access) {
    access.strong = use != Use::makes;
    if (use == Use::makes) machine.shadow->store(access);
    if (use == Use::arrives) machine.shadow->atomic(access);
    if (use == Use::looks) machine.shadow->load(access);
  });
}

SyncLocation sync_location(const Mbarrier& barrier, std::uint64_t phase) {
  return {ShadowSpace::shared, (std::uint64_t{5} << 60) + (static_cast<std::uint64_t>(barrier.block) << 32) +
                                   (std::uint64_t{barrier.offset} << 1) + (phase & 1)};
}

/// Ends the phase when nothing is awaited any more.
void settle(Machine& machine, Mbarrier& barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (machine.shadow) machine.shadow->forget(sync_location(barrier, barrier.phase));
  ++machine.progress;
}

/// The copy happens now.
void perform(Machine& machine, const AsyncCopy& copy) {
  std::memcpy(copy.to, copy.from, copy.copied);
  std::memset(copy.to + copy.copied, 0, copy.bytes - copy.copied);
  ++machine.progress;
  if (machine.shadow) {
    ResidentShadow& shadow = *machine.shadow;
    in_pieces(*copy.warp, copy.lane, copy.from_shared ? ShadowSpace::shared : ShadowSpace::global, copy.from_region,
              copy.from_offset, copy.copied, copy.site, [&](const ShadowAccess& access) { shadow.load(access); });
    in_pieces(*copy.warp, copy.lane, copy.to_shared ? ShadowSpace::shared : ShadowSpace::global, copy.to_region,
              copy.to_offset, copy.bytes, copy.site, [&](const ShadowAccess& access) { shadow.store(access); });
    // What a later copy still writes is no more to be read than before.
    for (const AsyncCopy& other : machine.async.copies)
      if (copy.to_shared && other.to_shared && other.to_region == copy.to_region &&
          other.to_offset < copy.to_offset + copy.bytes && copy.to_offset < other.to_offset + other.bytes)
        in_pieces(*other.warp, other.lane, ShadowSpace::shared, other.to_region, other.to_offset, other.bytes,
                  other.site, [&](const ShadowAccess& access) { shadow.pending(access); });
  }
  if (copy.mbarrier == nullptr) return;
  const auto found = machine.async.mbarriers.find(copy.mbarrier);
  if (found == machine.async.mbarriers.end()) return;
  Mbarrier& barrier = found->second;
  if (machine.shadow)
    machine.shadow->release(copy.warp->resident_index, 1u << copy.lane, sync_location(barrier, barrier.phase),
                            ShadowScope::cluster);
  barrier.bytes -= copy.bytes;
  settle(machine, barrier);
}

/// Performs, in order of issue, the copies that `chosen` picks.
template <class Choose>
void perform_if(Machine& machine, const Choose& chosen) {
  std::vector<AsyncCopy>& copies = machine.async.copies;
  for (std::size_t i = 0; i < copies.size();) {
    if (!chosen(copies[i])) {
      ++i;
      continue;
    }
    const AsyncCopy copy = copies[i];
    copies.erase(copies.begin() + static_cast<std::ptrdiff_t>(i));
    perform(machine, copy);
  }
}

void issue(WarpState& warp, AsyncCopy copy) {
  Machine& machine = *warp.machine;
  machine.memory_counters.async_bytes += copy.bytes;
  if (copy.to_shared) {
    std::memset(copy.to, static_cast<int>(poison_byte), copy.bytes);
    if (machine.shadow)
      in_pieces(warp, copy.lane, ShadowSpace::shared, copy.to_region, copy.to_offset, copy.bytes, copy.site,
                [&](const ShadowAccess& access) { machine.shadow->pending(access); });
  }
  machine.async.copies.push_back(copy);
}

/// The generic proxy's stores to these bytes must have been fenced by who made them.
void check_proxy(WarpState& warp, std::uint32_t site, int lane, const SharedSpan& from, std::uint64_t bytes) {
  Machine& machine = *warp.machine;
  if (machine.async.writers.empty()) return;
  const auto& writers = machine.async.writers[from.block];
  for (std::uint64_t i = from.offset; i < from.offset + bytes; ++i) {
    const AsyncState::Writer& writer = writers[i];
    if (writer.thread == 0 || machine.async.fences[writer.thread - 1] > writer.fences) continue;
    machine.report(FindingKind::async_misuse, warp, site, lane,
                   fmt::format("the copy reads shared byte {}, which a thread stored without fence.proxy.async", i));
    return;
  }
}

/// What a site has counted goes to the buffer it was counted in; from now on it counts in `buffer`.
SiteState& site_in(Machine& machine, const Micro& micro, int buffer) {
  const std::size_t index = micro.extra >> access_site_shift;
  SiteState& site = machine.sites[index];
  if (site.buffer != buffer) {
    machine.flush_site(index);
    site.buffer = buffer;
  }
  return site;
}

/// cp.async, a request of the lanes that copy anything.
void copy(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  Machine& machine = *warp.machine;
  const auto bytes = static_cast<std::uint32_t>(micro.immediate);
  std::uint64_t addresses[lanes_per_warp];
  std::uint32_t reading = 0;
  std::int64_t read = 0;
  int buffer = -1;
  each_active(warp, [&](int lane) {
    const SharedSpan to = find_shared(warp, micro.site, lane, double_words(warp, micro.a)[lane], bytes, bytes);
    const std::uint64_t address = double_words(warp, micro.b)[lane];
    std::uint32_t copied = bytes;
    if (micro.c != no_slot) copied = std::min(words(warp, micro.c)[lane], bytes);
    if (to.host == nullptr) return;
    AsyncCopy made;
    if (copied != 0) {
      const GlobalSpan from = find_global(warp, micro.site, lane, address, copied, bytes, false);
      if (from.host == nullptr) return;
      made.from = from.host;
      made.from_region = buffer = from.buffer;
      made.from_offset = from.offset;
      addresses[lane] = address;
      reading |= 1u << lane;
      read += copied;
    }
    made.warp = &warp;
    made.lane = lane;
    made.group = machine.async.groups[thread_of(warp, lane)];
    made.to = to.host;
    made.to_region = to.block;
    made.to_offset = to.offset;
    made.bytes = bytes;
    made.copied = copied;
    made.site = micro.site;
    issue(warp, made);
  });
  if (buffer < 0) return;
  SiteState& site = site_in(machine, micro, buffer);
  ++site.requests;
  site.sectors += distinct_sectors(addresses, reading, static_cast<int>(bytes));
  site.bytes += read;
  if (machine.traffic) machine.traffic->request(CacheAccess::load, addresses, reading, static_cast<int>(bytes));
}

/// A bulk copy is one request for the sectors of its range; `bytes` is a multiple of 16, as the address is.
void count_bulk(Machine& machine, const Micro& micro, int buffer, std::uint64_t address, std::uint32_t bytes,
                CacheAccess access) {
  SiteState& site = site_in(machine, micro, buffer);
  ++site.requests;
  site.sectors += static_cast<std::int64_t>((address + bytes - 1) / sector_bytes - address / sector_bytes) + 1;
  site.bytes += bytes;
  if (!machine.traffic) return;
  constexpr std::uint32_t piece = 16;
  for (std::uint32_t done = 0; done < bytes; done += lanes_per_warp * piece) {
    std::uint64_t addresses[lanes_per_warp];
    const std::uint32_t lanes = std::min<std::uint32_t>((bytes - done) / piece, lanes_per_warp);
    for (std::uint32_t lane = 0; lane < lanes; ++lane) addresses[lane] = address + done + lane * piece;
    machine.traffic->request(access, addresses, lanes == lanes_per_warp ? all_lanes : (1u << lanes) - 1, piece);
  }
}

/// Fills where a bulk copy reads; false: nowhere, which was reported.
bool bulk_source(WarpState& warp, const Micro& micro, AsyncCopy& made) {
  Machine& machine = *warp.machine;
  const std::uint64_t address = double_words(warp, micro.b)[made.lane];
  if (made.from_shared) {
    const SharedSpan from = find_shared(warp, micro.site, made.lane, address, made.bytes, 16);
    if (from.host == nullptr) return false;
    check_proxy(warp, micro.site, made.lane, from, made.bytes);
    made.from = from.host;
    made.from_region = from.block;
    made.from_offset = from.offset;
    return true;
  }
  const GlobalSpan from = find_global(warp, micro.site, made.lane, address, made.bytes, 16, false);
  if (from.host == nullptr) return false;
  made.from = from.host;
  made.from_region = from.buffer;
  made.from_offset = from.offset;
  count_bulk(machine, micro, from.buffer, address, made.bytes, CacheAccess::load);
  return true;
}

void bulk_to_global(WarpState& warp, const Micro& micro, AsyncCopy made) {
  const std::uint64_t address = double_words(warp, micro.a)[made.lane];
  const GlobalSpan to = find_global(warp, micro.site, made.lane, address, made.bytes, 16, true);
  if (to.host == nullptr) return;
  made.to = to.host;
  made.to_region = to.buffer;
  made.to_offset = to.offset;
  count_bulk(*warp.machine, micro, to.buffer, address, made.bytes, CacheAccess::store);
  issue(warp, made);
}

/// To the issuing block's shared memory, or to the same offsets in every block of a multicast's mask.
void bulk_to_shared(WarpState& warp, const Micro& micro, AsyncCopy made, bool multicast) {
  Machine& machine = *warp.machine;
  const std::uint64_t address = double_words(warp, micro.a)[made.lane];
  const std::uint64_t bar = double_words(warp, warp.lists[micro.list])[made.lane];
  const std::uint32_t blocks = multicast ? words(warp, warp.lists[micro.list + 1])[made.lane] & 0xffff : 1;
  for (std::uint32_t left = blocks; left != 0; left &= left - 1) {
    const std::uint64_t rank = static_cast<std::uint64_t>(std::countr_zero(left)) + 1;
    const auto there = [&](std::uint64_t a) {
      return multicast ? (a & rank_offset_mask) | rank << shared_rank_shift : a;
    };
    const SharedSpan to = find_shared(warp, micro.site, made.lane, there(address), made.bytes, 16);
    const SharedSpan barrier = find_shared(warp, micro.site, made.lane, there(bar), mbarrier_bytes, mbarrier_bytes);
    if (to.host == nullptr || barrier.host == nullptr) continue;
    if (!machine.async.mbarriers.contains(barrier.host)) {
      machine.report(FindingKind::async_misuse, warp, micro.site, made.lane, "its mbarrier was not initialised");
      continue;
    }
    tell_use(warp, micro.site, made.lane, barrier, Use::arrives);
    made.to = to.host;
    made.to_region = to.block;
    made.to_offset = to.offset;
    made.mbarrier = barrier.host;
    issue(warp, made);
  }
}

void bulk_copy(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  Machine& machine = *warp.machine;
  each_active(warp, [&](int lane) {
    const std::uint32_t bytes = words(warp, micro.c)[lane];
    if (bytes == 0 || bytes % 16 != 0) {
      machine.report(FindingKind::async_misuse, warp, micro.site, lane,
                     fmt::format("a bulk copy of {} bytes; a multiple of 16 was expected", bytes));
      return;
    }
    AsyncCopy made;
    made.warp = &warp;
    made.lane = lane;
    made.bulk = true;
    made.bytes = made.copied = bytes;
    made.site = micro.site;
    made.to_shared = micro.extra & bulk_to_shared_bit;
    made.from_shared = micro.extra & bulk_from_shared_bit;
    made.group = machine.async.bulk_groups[thread_of(warp, lane)];
    if (!bulk_source(warp, micro, made)) return;
    if (made.to_shared) {
      bulk_to_shared(warp, micro, made, micro.extra & bulk_multicast_bit);
    } else {
      bulk_to_global(warp, micro, made);
    }
  });
}

void commit_group(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  auto& groups = micro.extra ? warp.machine->async.bulk_groups : warp.machine->async.groups;
  each_active(warp, [&](int lane) { ++groups[thread_of(warp, lane)]; });
}

void wait_group(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  Machine& machine = *warp.machine;
  const bool bulk = micro.extra;
  const auto& groups = bulk ? machine.async.bulk_groups : machine.async.groups;
  perform_if(machine, [&](const AsyncCopy& one) {
    if (one.warp != &warp || one.bulk != bulk || one.mbarrier != nullptr || !(warp.active >> one.lane & 1))
      return false;
    if (micro.immediate < 0) return true;
    return one.group + static_cast<std::uint64_t>(micro.immediate) < groups[thread_of(warp, one.lane)];
  });
}

void proxy_fence(Warp& base, const Micro&) {
  WarpState& warp = state_of(base);
  each_active(warp, [&](int lane) { ++warp.machine->async.fences[thread_of(warp, lane)]; });
}

/// The mbarrier at a lane's address, or nullptr with a finding.
Mbarrier* mbarrier_at(WarpState& warp, const Micro& micro, int lane, Use use) {
  const SharedSpan span =
      find_shared(warp, micro.site, lane, double_words(warp, micro.a)[lane], mbarrier_bytes, mbarrier_bytes);
  if (span.host == nullptr) return nullptr;
  tell_use(warp, micro.site, lane, span, use);
  const auto found = warp.machine->async.mbarriers.find(span.host);
  if (found != warp.machine->async.mbarriers.end()) return &found->second;
  warp.machine->report(FindingKind::async_misuse, warp, micro.site, lane,
                       fmt::format("no mbarrier was initialised at shared offset {}", span.offset));
  return nullptr;
}

void mbarrier_init(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  Machine& machine = *warp.machine;
  each_active(warp, [&](int lane) {
    const SharedSpan span =
        find_shared(warp, micro.site, lane, double_words(warp, micro.a)[lane], mbarrier_bytes, mbarrier_bytes);
    if (span.host == nullptr) return;
    const std::int64_t count = words(warp, micro.b)[lane];
    machine.async.mbarriers[span.host] = {count, count, 0, 0, span.block, static_cast<std::uint32_t>(span.offset)};
    tell_use(warp, micro.site, lane, span, Use::makes);
  });
}

void mbarrier_invalidate(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  each_active(warp, [&](int lane) {
    const SharedSpan span =
        find_shared(warp, micro.site, lane, double_words(warp, micro.a)[lane], mbarrier_bytes, mbarrier_bytes);
    if (span.host == nullptr) return;
    tell_use(warp, micro.site, lane, span, Use::makes);
    warp.machine->async.mbarriers.erase(span.host);
  });
}

void mbarrier_arrive(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  Machine& machine = *warp.machine;
  each_active(warp, [&](int lane) {
    if (micro.extra & arrive_copies)
      perform_if(machine, [&](const AsyncCopy& one) { return one.warp == &warp && one.lane == lane && !one.bulk; });
    Mbarrier* barrier = mbarrier_at(warp, micro, lane, Use::arrives);
    if (barrier == nullptr) return;
    // The state: the phase in bit 0, what was pending above it.
    if (micro.d != no_slot)
      double_words(warp, micro.d)[lane] = (barrier->phase & 1) | static_cast<std::uint64_t>(barrier->pending) << 1;
    if (machine.shadow) {
      const ShadowScope scope = micro.extra & arrive_of_block ? ShadowScope::block : ShadowScope::cluster;
      const SyncLocation location = sync_location(*barrier, barrier->phase);
      if (micro.extra & arrive_releases) {
        machine.shadow->release(warp.resident_index, 1u << lane, location, scope);
      } else {
        machine.shadow->strong_write(warp.resident_index, static_cast<std::uint32_t>(lane), location, scope);
      }
    }
    const std::int64_t operand = micro.b == no_slot ? 1 : std::int64_t{words(warp, micro.b)[lane]};
    std::int64_t arrivals = micro.extra & arrive_counts ? 1 : 0;
    if (micro.extra & arrive_expects) barrier->bytes += operand;
    if (micro.extra & arrive_completes) barrier->bytes -= operand;
    if ((micro.extra & arrive_counts) && !(micro.extra & (arrive_expects | arrive_copies))) arrivals = operand;
    if ((micro.extra & arrive_copies) && !(micro.extra & arrive_no_increment)) arrivals = 0;
    if (micro.extra & arrive_drops) barrier->expected -= arrivals;
    if (arrivals > barrier->pending) {
      machine.report(FindingKind::async_misuse, warp, micro.site, lane,
                     fmt::format("{} arrivals at an mbarrier that awaits {}", arrivals, barrier->pending));
      arrivals = barrier->pending;
    }
    barrier->pending -= arrivals;
    ++machine.progress;
    if (arrivals != 0 || (micro.extra & arrive_completes)) settle(machine, *barrier);
  });
}

void mbarrier_wait(Warp& base, const Micro& micro) {
  WarpState& warp = state_of(base);
  Machine& machine = *warp.machine;
  if (warp.active != 0) warp.poll(micro.site, double_words(warp, micro.a)[std::countr_zero(warp.active)]);
  each_active(warp, [&](int lane) {
    words(warp, micro.d)[lane] = all_lanes;
    Mbarrier* barrier = mbarrier_at(warp, micro, lane, Use::looks);
    if (barrier == nullptr) return;
    const std::byte* host = machine.resident[barrier->block].shared + barrier->offset;
    perform_if(machine, [&](const AsyncCopy& one) { return one.mbarrier == host; });
    const std::uint64_t asked =
        micro.extra & wait_parity ? words(warp, micro.b)[lane] & 1 : double_words(warp, micro.b)[lane] & 1;
    const bool done = (barrier->phase & 1) != asked;
    words(warp, micro.d)[lane] = done ? all_lanes : 0;
    if (!done || !machine.shadow) return;
    const ShadowScope scope = micro.extra & wait_of_block ? ShadowScope::block : ShadowScope::cluster;
    if (micro.extra & wait_acquires) {
      machine.shadow->acquire(warp.resident_index, 1u << lane, sync_location(*barrier, asked), scope);
    } else {
      machine.shadow->strong_read(warp.resident_index, static_cast<std::uint32_t>(lane), sync_location(*barrier, asked),
                                  scope);
    }
  });
}

void mbarrier_pending(Warp& base, const Micro& micro) {
  each_active(base, [&](int lane) {
    words(base, micro.d)[lane] = static_cast<std::uint32_t>(double_words(base, micro.a)[lane] >> 1);
  });
}

}  // namespace

void note_generic_store(Machine& machine, WarpState& warp, std::uint32_t site, int lane, int region,
                        std::uint64_t offset, std::uint32_t bytes) {
  AsyncState& async = machine.async;
  const auto thread = static_cast<std::uint32_t>(thread_of(warp, lane));
  if (!async.writers.empty()) {
    auto& writers = async.writers[region];
    for (std::uint64_t i = offset; i < offset + bytes; ++i) writers[i] = {thread + 1, async.fences[thread]};
  }
  for (const auto& [host, barrier] : async.mbarriers)
    if (barrier.block == region && offset < barrier.offset + mbarrier_bytes && barrier.offset < offset + bytes)
      machine.report(FindingKind::async_misuse, warp, site, lane,
                     fmt::format("thread {} of block {} stores to shared byte {}, where an mbarrier is; mbarrier.inval "
                                 "ends it",
                                 warp.index * lanes_per_warp + lane, warp.home->linear, offset));
  for (const AsyncCopy& one : async.copies)
    if (one.from_shared && one.from_region == region && offset < one.from_offset + one.copied &&
        one.from_offset < offset + bytes)
      machine.report(FindingKind::async_misuse, warp, site, lane,
                     fmt::format("thread {} of block {} stores to shared byte {}, which a bulk copy still reads",
                                 warp.index * lanes_per_warp + lane, warp.home->linear, offset));
}

void finish_copies(Machine& machine) {
  for (const AsyncCopy& one : machine.async.copies)
    if (one.from_shared && !one.to_shared)
      machine.report(FindingKind::async_misuse, *one.warp, one.site, one.lane,
                     "the block ended while this copy still read its shared memory");
  perform_if(machine, [](const AsyncCopy& one) { return !one.to_shared; });
  machine.async.copies.clear();
}

const AsyncSteps async_steps{.copy = &copy,
                             .bulk_copy = &bulk_copy,
                             .commit_group = &commit_group,
                             .wait_group = &wait_group,
                             .proxy_fence = &proxy_fence,
                             .mbarrier_init = &mbarrier_init,
                             .mbarrier_invalidate = &mbarrier_invalidate,
                             .mbarrier_arrive = &mbarrier_arrive,
                             .mbarrier_wait = &mbarrier_wait,
                             .mbarrier_pending = &mbarrier_pending};

}  // namespace tailor::simulator
