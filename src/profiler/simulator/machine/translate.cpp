// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory accesses off the fast path. The handlers of lanes/ check lanes in the buffer or the array that the site used
// last; everything else, and what is to be counted or watched, comes here through Services. In: 32 simulated addresses
// and which lanes are active. Out: the host's addresses and the lanes that may go on. On the way each access is checked
// (which buffer, inside it or not, aligned or not, an input stored to), counted (sectors or bank passes) and told to
// the sanitizers and the cache model. A lane that may not do what it asks is reported and left out, so that the
// simulation can go on.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "profiler/simulator/machine/machine.h"
#include "profiler/simulator/machine/requests.h"

namespace tailor::simulator {

namespace {

std::string element_text(std::int64_t offset, int element_bytes) {
  return offset % element_bytes == 0 && element_bytes > 1 ? fmt::format("element {}", offset / element_bytes)
                                                          : fmt::format("byte {}", offset);
}

/// Below this nothing is ever placed: a null pointer and what lies a little behind it.
constexpr std::uint64_t least_address = 1 << 20;

void report_access(Warp& warp, const Micro& micro, AccessSpace space, FindingKind kind, int lane,
                   std::uint64_t address) {
  WarpState& state = state_of(warp);
  Machine& machine = *state.machine;
  if (machine.findings.seen(kind, micro.site)) return machine.findings.again(kind, micro.site);
  const Memory::Body& memory = machine.state.memory;
  const int bytes = static_cast<int>(micro.extra >> access_bytes_shift & access_bytes_mask);
  std::string where;
  int nearest = -1;
  if (address >= global_base && (nearest = memory.nearest(address)) >= 0) {
    const MemoryBuffer& buffer = memory.buffers[nearest];
    const auto offset = static_cast<std::int64_t>(address - global_base) - buffer.offset;
    where = fmt::format("{} of buffer {}, which has {}", element_text(offset, buffer.element_bytes), buffer.name,
                        buffer.bytes / buffer.element_bytes);
  } else if (space == AccessSpace::local) {
    where = fmt::format("offset {} of {} bytes of local memory", address, machine.state.program.local_bytes);
  } else if (space == AccessSpace::shared) {
    // Addresses of 32 bits wrap: a small negative offset is a large one.
    const auto offset = static_cast<std::int64_t>(static_cast<std::int32_t>(address));
    where = shared_place(machine.state, offset >> shared_rank_shift > 0 ? offset & shared_offset_mask : offset);
  } else if (address < least_address) {
    where = fmt::format("address 0x{:x}, a null pointer", address);
  } else {
    where = fmt::format("address 0x{:x}, far from every buffer", address);
  }
  machine.report(kind, state, micro.site, lane,
                 fmt::format("thread {} of block {} accesses {} bytes at {}", state.index * lanes_per_warp + lane,
                             state.home->linear, bytes, where),
                 nearest);
}

int bytes_of(const Micro& micro) { return static_cast<int>(micro.extra >> access_bytes_shift & access_bytes_mask); }
AccessSpace space_of(const Micro& micro) { return static_cast<AccessSpace>(micro.extra & access_space_mask); }
bool is_strong(const Micro& micro) { return (micro.extra >> access_order_shift & 7) != 0; }

/// The site's totals so far go to the buffer they were counted in.
void attribute(Machine& machine, const Micro& micro, std::int32_t buffer) {
  const std::size_t index = micro.extra >> access_site_shift;
  SiteState& site = machine.sites[index];
  if (site.buffer == buffer) return;
  machine.flush_site(index);
  site.buffer = buffer;
  site.size = 0;  // what it was checked against is in other memory
}

void count(Machine& machine, const Micro& micro, int sectors, std::uint32_t mask) {
  SiteState& site = machine.sites[micro.extra >> access_site_shift];
  ++site.requests;
  site.sectors += sectors;
  site.bytes += std::int64_t{bytes_of(micro)} * std::popcount(mask);
}

/// An access for the sanitizers, with room for its lanes' offsets.
struct ShadowRequest {
  ShadowRequest() { access.offset = offset; }
  ShadowRequest(const ShadowRequest&) = delete;
  ShadowRequest& operator=(const ShadowRequest&) = delete;

  ShadowAccess access;
  alignas(64) std::uint32_t offset[lanes_per_warp];
};

ShadowScope scope_of(const WarpState& state, const Micro& micro) {
  return static_cast<ShadowScope>(state.machine->state.program.memory_sites[micro.extra >> access_site_shift].scope);
}

/// What ordered and relaxed accesses make visible, lane by lane. Shared places are told apart by the block that owns
/// the memory.
void tell_order(WarpState& state, const Micro& micro, const ShadowRequest& shadowed, std::uint32_t mask,
                SiteKind kind) {
  ResidentShadow& shadow = *state.machine->shadow;
  const auto order = static_cast<MemoryOrder>(micro.extra >> access_order_shift & 7);
  const bool reads = kind != SiteKind::store, writes = kind != SiteKind::load;
  const bool acquires = reads && (order == MemoryOrder::acquire || order == MemoryOrder::acquire_release);
  const bool releases = writes && (order == MemoryOrder::release || order == MemoryOrder::acquire_release);
  const ShadowScope scope = scope_of(state, micro);
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
    const std::uint32_t offset = shadowed.offset[lane];
    const SyncLocation location{shadowed.access.space,
                                (static_cast<std::uint64_t>(shadowed.access.region) << 32) + offset};
    if (acquires) {
      shadow.acquire(state.resident_index, 1u << lane, location, scope);
    } else if (reads) {
      shadow.strong_read(state.resident_index, lane, location, scope);
    }
    if (releases) {
      shadow.release(state.resident_index, 1u << lane, location, scope);
    } else if (writes) {
      shadow.strong_write(state.resident_index, lane, location, scope);
    }
  }
}

/// Lanes that look at one place may poll it; at places of their own they take part in something.
bool differ(const std::uint32_t* offset, std::uint32_t mask) {
  const std::uint32_t first = mask == 0 ? 0 : offset[std::countr_zero(mask)];
  for (; mask != 0; mask &= mask - 1)
    if (offset[std::countr_zero(mask)] != first) return true;
  return false;
}

void tell_shadow(Warp& warp, const Micro& micro, ShadowRequest& shadowed, std::uint32_t mask, SiteKind kind) {
  WarpState& state = state_of(warp);
  if (state.machine->state.program.uses_async && kind != SiteKind::load && shadowed.access.space == ShadowSpace::shared)
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      note_generic_store(*state.machine, state, micro.site, lane, shadowed.access.region, shadowed.offset[lane],
                         static_cast<std::uint32_t>(bytes_of(micro)));
    }
  shadowed.access.warp = state.resident_index;
  shadowed.access.lanes = mask;
  shadowed.access.bytes = bytes_of(micro);
  shadowed.access.strong = is_strong(micro);
  if (shadowed.access.strong) {
    const auto order = static_cast<MemoryOrder>(micro.extra >> access_order_shift & 7);
    shadowed.access.in_lanes = order == MemoryOrder::watched && differ(shadowed.offset, mask);
    shadowed.access.block_scope = scope_of(state, micro) == ShadowScope::block;
  }
  shadowed.access.site = micro.site;
  ResidentShadow& shadow = *state.machine->shadow;
  if (kind == SiteKind::load) {
    shadowed.access.constant = (micro.extra & access_constant) != 0 && shadowed.access.space == ShadowSpace::global;
    shadow.load(shadowed.access);
  } else if (kind == SiteKind::atomic) {
    shadowed.access.observed = micro.d != no_slot || micro.writes != 0;
    shadow.atomic(shadowed.access);
  } else {
    // The values that are about to be stored are in slots (rows of tiles: gathered): told so that equal ones are not
    // taken for races.
    const std::byte* elements[8];
    const int many = micro.count == 0 || state.stored_rows != nullptr ? 1 : micro.count;
    for (int k = 0; k < many; ++k) {
      const Slot slot = micro.count == 0 ? micro.b : warp.lists[micro.list + static_cast<std::uint32_t>(k)];
      elements[k] = warp.bank[slot >> slot_bank_shift] + (slot & slot_offset_mask);
    }
    ShadowValues values;
    values.elements = elements;
    values.element_bytes = bytes_of(micro) / many;
    values.stride = micro.extra & access_wide_values ? 8 : 4;
    if (state.stored_rows != nullptr) {
      elements[0] = state.stored_rows;
      values.element_bytes = values.stride = 16;
    }
    const Machine& machine = *state.machine;
    if (shadowed.access.space == ShadowSpace::global) {
      values.memory = machine.state.memory.pages[shadowed.access.region].data();
    } else if (shadowed.access.space == ShadowSpace::shared) {
      values.memory = machine.resident[shadowed.access.region].shared;
    } else {
      values.memory = warp.local.host;
    }
    shadow.store(shadowed.access, &values);
  }
  if (is_strong(micro)) tell_order(state, micro, shadowed, mask, kind);
}

/// Makes the buffer at an address the site's, or what is there of it; false: the access is in none.
bool enter_buffer(Machine& machine, const Micro& micro, std::uint64_t address, std::uint64_t size) {
  const int found = machine.state.memory.holding(address);
  if (found < 0) return false;
  const MemoryBuffer& buffer = machine.state.memory.buffers[found];
  const std::uint64_t base = global_base + static_cast<std::uint64_t>(buffer.offset);
  const auto bytes = static_cast<std::uint64_t>(buffer.bytes);
  if (bytes < size || address - base > bytes - size) return false;
  if (!(micro.extra & access_uncounted)) attribute(machine, micro, found);
  SiteState& site = machine.sites[micro.extra >> access_site_shift];
  const ByteRange window =
      machine.state.memory.window(found, static_cast<std::int64_t>(address - base), static_cast<std::int64_t>(size));
  machine.limit_memory();
  site.base = base + static_cast<std::uint64_t>(window.first);
  site.size = static_cast<std::uint64_t>(window.bytes);
  site.host = machine.state.memory.pages[found].data() + window.first;
  site.may_store = buffer.use != BufferUse::input;
  return true;
}

/// Tells the sanitizers of lanes in global memory, buffer by buffer.
void tell_global(Warp& warp, const Micro& micro, const Request& request, SiteKind kind) {
  const Memory::Body& memory = state_of(warp).machine->state.memory;
  ShadowRequest shadowed;
  shadowed.access.space = ShadowSpace::global;
  for (std::uint32_t rest = request.mask; rest != 0;) {
    const int region = memory.holding(request.address[std::countr_zero(rest)]);
    const MemoryBuffer& buffer = memory.buffers[region];
    const std::uint64_t base = global_base + static_cast<std::uint64_t>(buffer.offset);
    std::uint32_t group = 0;
    for (std::uint32_t more = rest; more != 0; more &= more - 1) {
      const int lane = std::countr_zero(more);
      const std::uint64_t offset = request.address[lane] - base;
      if (offset >= static_cast<std::uint64_t>(buffer.bytes)) continue;
      shadowed.offset[lane] = static_cast<std::uint32_t>(offset);
      group |= 1u << lane;
    }
    rest &= ~group;
    shadowed.access.region = region;
    tell_shadow(warp, micro, shadowed, group, kind);
  }
}

/// Lanes of a request to global memory, nearly always in one buffer.
void global_lanes(Warp& warp, const Micro& micro, Request& request, SiteKind kind) {
  Machine& machine = *state_of(warp).machine;
  const int bytes = bytes_of(micro);
  const auto size = static_cast<std::uint64_t>(bytes);
  SiteState& site = machine.sites[micro.extra >> access_site_shift];
  std::uint32_t allowed = 0;
  for (std::uint32_t left = request.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t address = request.address[lane];
    if ((site.size < size || address - site.base > site.size - size) && !enter_buffer(machine, micro, address, size)) {
      report_access(warp, micro, AccessSpace::global, FindingKind::out_of_bounds, lane, address);
    } else if ((address & (size - 1)) != 0) {  // sizes are powers of two
      report_access(warp, micro, AccessSpace::global, FindingKind::misaligned, lane, address);
    } else if (kind != SiteKind::load && !site.may_store) {
      report_access(warp, micro, AccessSpace::global, FindingKind::store_to_input, lane, address);
    } else {
      request.host[lane] = site.host + (address - site.base);
      allowed |= 1u << lane;
    }
  }
  request.mask = allowed;
  if (allowed == 0 || (micro.extra & access_uncounted)) return;
  count(machine, micro, distinct_sectors(request.address, allowed, bytes), allowed);
  if (warp.observe & observe_cache)
    machine.traffic->request(kind == SiteKind::load    ? CacheAccess::load
                             : kind == SiteKind::store ? CacheAccess::store
                                                       : CacheAccess::atomic,
                             request.address, allowed, bytes);
  if (machine.shadow) tell_global(warp, micro, request, kind);
}

/// Makes the shared array at an offset the site's; false: the access is in none. Offsets are the same in all blocks.
bool enter_array(Machine& machine, const Micro& micro, std::uint64_t offset, std::uint64_t size) {
  SiteState& site = machine.sites[micro.extra >> access_site_shift];
  const std::optional<SharedArray> array = array_holding(machine.state, offset, size);
  if (!array) return false;
  site.base = static_cast<std::uint64_t>(array->offset);
  site.size = static_cast<std::uint64_t>(array->bytes);
  return true;
}

void shared_lanes(Warp& warp, const Micro& micro, Request& request, SiteKind kind) {
  WarpState& state = state_of(warp);
  Machine& machine = *state.machine;
  attribute(machine, micro, shared_site);  // a generic access may have been to global memory before
  const SiteState& site = machine.sites[micro.extra >> access_site_shift];
  const int bytes = bytes_of(micro);
  const auto size = static_cast<std::uint64_t>(bytes);
  ShadowRequest shadowed;
  std::uint32_t region[lanes_per_warp], allowed = 0;
  const std::uint32_t per_cluster = machine.state.cluster[0] * machine.state.cluster[1] * machine.state.cluster[2];
  for (std::uint32_t left = request.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::uint64_t offset = request.address[lane];
    int block = state.home->slot;
    if (const std::uint64_t rank = offset >> shared_rank_shift; rank != 0) {
      if (rank > per_cluster) {
        report_access(warp, micro, AccessSpace::shared,
                      per_cluster > 1 ? FindingKind::bad_cluster_rank : FindingKind::out_of_bounds, lane, offset);
        continue;
      }
      block += static_cast<int>(rank) - 1 - static_cast<int>(state.home->rank);
      offset &= (std::uint64_t{1} << shared_rank_shift) - 1;
    }
    if ((site.size < size || offset - site.base > site.size - size) && !enter_array(machine, micro, offset, size)) {
      report_access(warp, micro, AccessSpace::shared, FindingKind::out_of_bounds, lane, request.address[lane]);
      continue;
    }
    if ((offset & (size - 1)) != 0) {
      report_access(warp, micro, AccessSpace::shared, FindingKind::misaligned, lane, request.address[lane]);
      continue;
    }
    const ResidentBlock& owner = machine.resident[block];
    if (block != state.home->slot) check_started(state, micro.site, lane, block);
    if (owner.live_warps == 0) {
      report_access(warp, micro, AccessSpace::shared, FindingKind::bad_cluster_rank, lane, request.address[lane]);
      continue;
    }
    request.host[lane] = owner.shared + offset;
    shadowed.offset[lane] = static_cast<std::uint32_t>(offset);
    region[lane] = static_cast<std::uint32_t>(block);
    allowed |= 1u << lane;
  }
  request.mask = allowed;
  if (allowed == 0) return;
  const BankPasses passes = kind == SiteKind::atomic ? atomic_passes(shadowed.offset, allowed, bytes)
                                                     : bank_passes(shadowed.offset, allowed, bytes);
  count(machine, micro, passes.wavefronts, allowed);
  machine.memory_counters.bank_conflicts += passes.conflicts;
  if (!machine.shadow) return;
  shadowed.access.space = ShadowSpace::shared;
  for (std::uint32_t rest = allowed; rest != 0;) {
    const std::uint32_t owner = region[std::countr_zero(rest)];
    std::uint32_t group = 0;
    for (std::uint32_t more = rest; more != 0; more &= more - 1)
      if (region[std::countr_zero(more)] == owner) group |= more & (~more + 1);
    rest &= ~group;
    shadowed.access.region = static_cast<int>(owner);
    tell_shadow(warp, micro, shadowed, group, kind);
  }
}

void local_lanes(Warp& warp, const Micro& micro, Request& request, SiteKind kind) {
  WarpState& state = state_of(warp);
  Machine& machine = *state.machine;
  const int bytes = bytes_of(micro);
  const auto size = static_cast<std::uint64_t>(bytes);
  ShadowRequest shadowed;
  std::uint32_t allowed = 0;
  const std::uint64_t each = static_cast<std::uint64_t>(machine.state.program.local_bytes);
  for (std::uint32_t left = request.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t offset = request.address[lane];
    if (each < size || offset > each - size) {
      report_access(warp, micro, AccessSpace::local, FindingKind::out_of_bounds, lane, offset);
      continue;
    }
    if ((offset & (size - 1)) != 0) {
      report_access(warp, micro, AccessSpace::local, FindingKind::misaligned, lane, offset);
      continue;
    }
    const std::uint64_t at = static_cast<std::uint64_t>(lane) * warp.local.lane_stride + offset;
    request.host[lane] = warp.local.host + at;
    shadowed.offset[lane] = static_cast<std::uint32_t>(at);
    allowed |= 1u << lane;
  }
  request.mask = allowed;
  if (allowed == 0) return;
  if (!(micro.extra & access_uncounted)) {
    attribute(machine, micro, local_site);
    count(machine, micro, 0, allowed);
  }
  if (!machine.shadow) return;
  shadowed.access.space = ShadowSpace::local;
  shadowed.access.region = state.resident_index;
  tell_shadow(warp, micro, shadowed, allowed, kind);
}

AccessSpace space_at(std::uint64_t address) {
  if (address >= global_base) return AccessSpace::global;
  if (address >= local_window && address < local_window + window_bytes) return AccessSpace::local;
  if (address >= shared_window && address < shared_window + window_bytes) return AccessSpace::shared;
  return AccessSpace::global;
}

void translate_as(Warp& warp, const Micro& micro, Request& request, SiteKind kind) {
  switch (space_of(micro)) {
    case AccessSpace::global:
      return global_lanes(warp, micro, request, kind);
    case AccessSpace::shared:
      return shared_lanes(warp, micro, request, kind);
    case AccessSpace::local:
      return local_lanes(warp, micro, request, kind);
    case AccessSpace::generic:
      break;
  }
  // A generic address belongs to the window it lies in; lanes may differ.
  std::uint32_t allowed = 0;
  for (std::uint32_t left = request.mask; left != 0;) {
    const AccessSpace space = space_at(request.address[std::countr_zero(left)]);
    Request part = request;
    part.mask = 0;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (space_at(request.address[lane]) != space) continue;
      part.mask |= 1u << lane;
      if (space == AccessSpace::shared) part.address[lane] -= shared_window;
      if (space == AccessSpace::local) part.address[lane] -= local_window;
    }
    left &= ~part.mask;
    const std::uint32_t asked = part.mask;
    if (space == AccessSpace::global) global_lanes(warp, micro, part, kind);
    if (space == AccessSpace::shared) shared_lanes(warp, micro, part, kind);
    if (space == AccessSpace::local) local_lanes(warp, micro, part, kind);
    for (std::uint32_t rest = asked & part.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      request.host[lane] = part.host[lane];
    }
    allowed |= part.mask;
  }
  request.mask = allowed;
}

void translate(Warp& warp, const Micro& micro, Request& request, bool store) {
  const std::uint64_t address = request.mask == 0 ? 0 : request.address[std::countr_zero(request.mask)];
  translate_as(warp, micro, request, store ? SiteKind::store : SiteKind::load);
  if (store) {
    ++state_of(warp).machine->progress;
  } else if (is_strong(micro)) {
    state_of(warp).poll(micro.site, address);
  }
}

/// 32 lanes side by side or at one place, already checked and counted.
void observe(Warp& warp, const Micro& micro, std::uint64_t first, std::uint32_t step, bool store) {
  WarpState& state = state_of(warp);
  Machine& machine = *state.machine;
  if (store) ++machine.progress;
  const bool global = space_of(micro) == AccessSpace::global;
  const std::int32_t buffer = machine.sites[micro.extra >> access_site_shift].buffer;
  if (global && (warp.observe & observe_cache) != 0) {
    std::uint64_t address[lanes_per_warp];
    for (std::uint64_t lane = 0; lane < lanes_per_warp; ++lane) address[lane] = first + lane * step;
    machine.traffic->request(store ? CacheAccess::store : CacheAccess::load, address, all_lanes, bytes_of(micro));
  }
  if (!machine.shadow) return;
  if (global) first -= global_base + static_cast<std::uint64_t>(machine.state.memory.buffers[buffer].offset);
  ShadowRequest shadowed;
  shadowed.access.space = global ? ShadowSpace::global : ShadowSpace::shared;
  shadowed.access.region = global ? buffer : state.home->slot;
  if (is_strong(micro) || machine.state.program.uses_async) {
    for (std::uint32_t lane = 0; lane < lanes_per_warp; ++lane)
      shadowed.offset[lane] = static_cast<std::uint32_t>(first) + lane * step;
  } else {
    shadowed.access.offset = nullptr;
    shadowed.access.first = static_cast<std::uint32_t>(first);
    shadowed.access.step = step;
  }
  tell_shadow(warp, micro, shadowed, all_lanes, store ? SiteKind::store : SiteKind::load);
}

/// Lanes anywhere in the buffer or the array that the site used last, already checked.
void count_lanes(Warp& warp, const Micro& micro, const Request& request, bool store) {
  WarpState& state = state_of(warp);
  Machine& machine = *state.machine;
  const SiteKind kind = store ? SiteKind::store : SiteKind::load;
  const int bytes = bytes_of(micro);
  if (store) ++machine.progress;
  ShadowRequest shadowed;
  if (space_of(micro) == AccessSpace::global) {
    const SiteState& site = machine.sites[micro.extra >> access_site_shift];
    count(machine, micro, distinct_sectors(request.address, request.mask, bytes), request.mask);
    if (warp.observe & observe_cache)
      machine.traffic->request(store ? CacheAccess::store : CacheAccess::load, request.address, request.mask, bytes);
    if (!machine.shadow || site.may_store == 0) return;
    const MemoryBuffer& buffer = machine.state.memory.buffers[site.buffer];
    const std::uint64_t base = global_base + static_cast<std::uint64_t>(buffer.offset);
    for (int lane = 0; lane < lanes_per_warp; ++lane)
      shadowed.offset[lane] = static_cast<std::uint32_t>(request.address[lane] - base);
    shadowed.access.space = ShadowSpace::global;
    shadowed.access.region = site.buffer;
  } else {
    for (int lane = 0; lane < lanes_per_warp; ++lane)
      shadowed.offset[lane] = static_cast<std::uint32_t>(request.address[lane]);
    const BankPasses passes =
        bank_passes(shadowed.offset, request.mask, bytes, machine.bank_patterns[micro.extra >> access_site_shift]);
    count(machine, micro, passes.wavefronts, request.mask);
    machine.memory_counters.bank_conflicts += passes.conflicts;
    if (!machine.shadow) return;
    shadowed.access.space = ShadowSpace::shared;
    shadowed.access.region = state.home->slot;
  }
  tell_shadow(warp, micro, shadowed, request.mask, kind);
}

}  // namespace

std::string shared_place(const LaunchState& state, std::int64_t offset) {
  const auto& arrays = state.program.shared_arrays;
  const std::int64_t dynamic = state.program.dynamic_offset;
  if (offset < 0) return fmt::format("{} bytes before the first byte of shared memory", -offset);
  const bool any_dynamic =
      arrays.empty() || dynamic != arrays.back().offset + arrays.back().bytes || state.shared_bytes != dynamic;
  if (any_dynamic && offset >= dynamic)
    return fmt::format("offset {} of {} bytes of {}shared memory", offset - dynamic, state.shared_bytes - dynamic,
                       arrays.empty() ? "" : "dynamic ");
  const auto next =
      std::find_if(arrays.begin(), arrays.end(), [&](const SharedArray& each) { return each.offset > offset; });
  if (next == arrays.begin()) return fmt::format("byte {} of the shared array {}", offset - next->offset, next->name);
  const SharedArray& before = *(next - 1);
  const bool nearer = next != arrays.end() && next->offset - offset < offset - before.offset - before.bytes;
  const SharedArray& array = nearer ? *next : before;
  return fmt::format("byte {} of the shared array {}, which has {}", offset - array.offset, source_symbol(array.name),
                     array.bytes);
}

void translate_atomic(Warp& warp, const Micro& micro, Request& request) {
  translate_as(warp, micro, request, SiteKind::atomic);
}

const Services services{&translate, &observe, &count_lanes};

}  // namespace tailor::simulator
