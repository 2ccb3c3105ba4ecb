// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Handlers for loads and stores, for one instruction set. In: a warp and a micro-operation with its access. Out: memory
// or slots changed, and the site's counts. Three paths: 32 lanes side by side in the buffer this site used last (almost
// all accesses) are checked and counted by a few comparisons and moved as a block; lanes anywhere in that buffer are
// moved one by one; the rest goes through Services::translate, which knows all buffers and reports.
#include "profiler/simulator/lanes/micro.h"

namespace tailor::simulator::LANES_TIER {
namespace {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class D>
[[gnu::always_inline]] inline D* slot_words(Warp& w, Slot slot) {
  std::byte* p = w.bank[slot >> slot_bank_shift] + (slot & slot_offset_mask);
  return static_cast<D*>(__builtin_assume_aligned(static_cast<void*>(p), 128));
}

/// Fills the lanes' addresses. Shared addresses of 32 bits and local ones are offsets.
[[gnu::always_inline]] inline void addresses(Warp& w, const Micro& m, u64* out) {
  const u64 offset = static_cast<u64>(m.immediate);
  if (m.extra & access_wide) {
    const u64* a = slot_words<u64>(w, m.a);
    for (int l = 0; l < lanes_per_warp; ++l) out[l] = a[l] + offset;
  } else {
    const u32* a = slot_words<u32>(w, m.a);
    for (int l = 0; l < lanes_per_warp; ++l) out[l] = static_cast<u32>(a[l] + static_cast<u32>(offset));
  }
}

/// Whether every lane's address is the first one's plus its number times `step`.
[[gnu::always_inline]] inline bool in_a_row(const u64* a, u64 step) {
  u64 wrong = 0;
  for (int l = 0; l < lanes_per_warp; ++l) wrong |= a[l] ^ (a[0] + static_cast<u64>(l) * step);
  return wrong == 0;
}

[[gnu::always_inline]] inline bool all_equal(const u64* a) {
  u64 wrong = 0;
  for (int l = 1; l < lanes_per_warp; ++l) wrong |= a[l] ^ a[0];
  return wrong == 0;
}

/// Somebody wants to know of this access: the sanitizers do not track what a kernel may not store to.
[[gnu::always_inline]] inline bool is_watched(const Warp& w, const Micro& m) {
  if (w.observe == 0) return false;
  const auto space = static_cast<AccessSpace>(m.extra & access_space_mask);
  return space != AccessSpace::global || (w.observe & observe_cache) != 0 ||
         w.sites[m.extra >> access_site_shift].may_store != 0;
}

/// The host address that all 32 lanes load from, counted; nullptr: take another path.
template <u32 size>
[[gnu::always_inline]] inline std::byte* point_at(Warp& w, const Micro& m, u64 address) {
  SiteState& site = w.sites[m.extra >> access_site_shift];
  const auto space = static_cast<AccessSpace>(m.extra & access_space_mask);
  if ((address & (size - 1)) != 0) return nullptr;
  std::byte* host = nullptr;
  if (space == AccessSpace::global) {
    const u64 offset = address - site.base;
    if (site.size < size || offset > site.size - size) return nullptr;
    host = site.host + offset;
    ++site.sectors;
  } else if (space == AccessSpace::shared) {
    const u64 offset = address - site.base;
    if ((m.extra & access_cluster) != 0 || site.size < size || offset > site.size - size) return nullptr;
    host = w.shared.host + address;
    site.sectors += size <= 8 ? 1 : size == 16 ? 2 : size / 4;  // lanes of 8 and 16 bytes that share go in twos
  } else {
    return nullptr;
  }
  ++site.requests;
  site.bytes += static_cast<std::int64_t>(size) * lanes_per_warp;
  return host;
}

/// The host address of 32 lanes side by side, counted; nullptr: take another path.
template <u32 size>
[[gnu::always_inline]] inline std::byte* run_at(Warp& w, const Micro& m, u64 first, bool store) {
  constexpr u64 all = u64{size} * lanes_per_warp;
  if ((first & (size - 1)) != 0) return nullptr;
  SiteState& site = w.sites[m.extra >> access_site_shift];
  const auto space = static_cast<AccessSpace>(m.extra & access_space_mask);
  std::byte* host = nullptr;
  if (space == AccessSpace::global) {
    const u64 offset = first - site.base;
    if (site.size < all || offset > site.size - all || (store && !site.may_store)) return nullptr;
    host = site.host + offset;
    site.sectors += static_cast<std::int64_t>(((first + all - 1) >> 5) - (first >> 5) + 1);
  } else if (space == AccessSpace::shared) {
    const u64 offset = first - site.base;
    if ((m.extra & access_cluster) || site.size < all || offset > site.size - all) return nullptr;
    host = w.shared.host + first;
    site.sectors += size > 4 ? size / 4 : 1;
  } else {
    return nullptr;
  }
  ++site.requests;
  site.bytes += static_cast<std::int64_t>(all);
  return host;
}

/// Ordered and volatile accesses go the long way, where polling is noticed.
[[gnu::always_inline]] inline bool is_ordered(const Micro& m) { return (m.extra >> access_order_shift & 7) != 0; }

/// Fills the host addresses of lanes that are anywhere in the buffer or array that this site used last. false: they are
/// not, or may not do what they ask.
template <u32 size>
[[gnu::always_inline]] inline bool near_last(Warp& w, const Micro& m, Request& r, bool store) {
  const SiteState& site = w.sites[m.extra >> access_site_shift];
  const auto space = static_cast<AccessSpace>(m.extra & access_space_mask);
  const bool global = space == AccessSpace::global;
  if (is_ordered(m) || (m.extra & (access_cluster | access_uncounted)) != 0 || site.size < size) return false;
  if (!global && space != AccessSpace::shared) return false;
  if (global && store && site.may_store == 0) return false;
  const u64 base = site.base, most = site.size - size;
  std::byte* const host = global ? site.host - base : w.shared.host;
  u64 wrong = 0;
  for (int l = 0; l < lanes_per_warp; ++l) {
    const u64 active = static_cast<u64>(static_cast<std::int64_t>(static_cast<std::int32_t>(w.lanes[l])));
    const u64 a = r.address[l];
    wrong |= ((a - base > most ? ~u64{0} : u64{0}) | (a & (size - 1))) & active;
    r.host[l] = host + a;
  }
  return wrong == 0;
}

/// Host addresses of lanes that may be anywhere. true: they are all in the buffer or array of near_last.
template <u32 size>
[[gnu::always_inline]] inline bool translate(Warp& w, const Micro& m, Request& r, bool store) {
  r.mask = w.active;
  if (near_last<size>(w, m, r, store)) {
    w.services->count(w, m, r, store);
    return true;
  }
  w.services->translate(w, m, r, store);
  return false;
}

/// Lanes that may not load get poison, so that what they do next depends on nothing that ran here before.
template <class D>
void poison(Warp& w, Slot slot, u32 mask) {
  for (; mask != 0; mask &= mask - 1) slot_words<D>(w, slot)[__builtin_ctz(mask)] = static_cast<D>(0xcdcdcdcdcdcdcdcdu);
}

/// Loads from the lanes' own host addresses.
template <class T, class D, int V, bool full>
[[gnu::always_inline]] inline void load_each(Warp& w, const Micro& m, const Request& r) {
  for (int k = 0; k < V; ++k) {
    const Slot slot = V == 1 ? m.d : w.lists[m.list + static_cast<u32>(k)];
    if (slot == no_slot) continue;
    D* d = slot_words<D>(w, slot);
    if (r.mask != w.active) [[unlikely]]
      poison<D>(w, slot, w.active & ~r.mask);
    if (full && r.mask == all_lanes) {
      for (int l = 0; l < lanes_per_warp; ++l) {
        T value;
        __builtin_memcpy(&value, r.host[l] + static_cast<unsigned>(k) * sizeof(T), sizeof(T));
        d[l] = static_cast<D>(value);
      }
      continue;
    }
    for (u32 left = r.mask; left != 0; left &= left - 1) {
      const int l = __builtin_ctz(left);
      T value;
      __builtin_memcpy(&value, r.host[l] + static_cast<unsigned>(k) * sizeof(T), sizeof(T));
      d[l] = static_cast<D>(value);
    }
  }
}

template <class T, class D, int V, bool full>
void load(Warp& w, const Micro& m) {
  constexpr u32 size = sizeof(T) * V;
  alignas(64) Request r;
  addresses(w, m, r.address);
  if (full && !is_ordered(m)) {
    if (in_a_row(r.address, size)) {
      if (const std::byte* host = run_at<size>(w, m, r.address[0], false)) {
        if (is_watched(w, m)) w.services->observe(w, m, r.address[0], size, false);
        alignas(64) T run[lanes_per_warp * V];
        __builtin_memcpy(run, host, sizeof run);
        for (int k = 0; k < V; ++k) {
          const Slot slot = V == 1 ? m.d : w.lists[m.list + static_cast<u32>(k)];
          if (slot == no_slot) continue;
          D* d = slot_words<D>(w, slot);
          for (int l = 0; l < lanes_per_warp; ++l) d[l] = static_cast<D>(run[l * V + k]);
        }
        return;
      }
    } else if (all_equal(r.address)) {
      if (const std::byte* host = point_at<size>(w, m, r.address[0])) {
        if (is_watched(w, m)) w.services->observe(w, m, r.address[0], 0, false);
        for (int k = 0; k < V; ++k) {
          const Slot slot = V == 1 ? m.d : w.lists[m.list + static_cast<u32>(k)];
          if (slot == no_slot) continue;
          T value;
          __builtin_memcpy(&value, host + static_cast<unsigned>(k) * sizeof(T), sizeof(T));
          D* d = slot_words<D>(w, slot);
          for (int l = 0; l < lanes_per_warp; ++l) d[l] = static_cast<D>(value);
        }
        return;
      }
    }
  }
  const bool in_one = translate<size>(w, m, r, false);
  if constexpr (full && V == 1 && size >= 4) {
    if (in_one && m.d != no_slot) {  // naturally aligned, so a gather
      const T* const first = reinterpret_cast<const T*>(r.host[0]);
      D* d = slot_words<D>(w, m.d);
      for (int l = 0; l < lanes_per_warp; ++l)
        d[l] = static_cast<D>(first[static_cast<std::int64_t>(r.address[l] - r.address[0]) / std::int64_t{size}]);
      return;
    }
  }
  load_each<T, D, V, full>(w, m, r);
}

template <class T, class D, int V, bool full>
void store(Warp& w, const Micro& m) {
  constexpr u32 size = sizeof(T) * V;
  alignas(64) Request r;
  addresses(w, m, r.address);
  if constexpr (full) {
    if (in_a_row(r.address, size)) {
      if (std::byte* host = run_at<size>(w, m, r.address[0], true)) {
        alignas(64) T run[lanes_per_warp * V];
        for (int k = 0; k < V; ++k) {
          const D* d = slot_words<D>(w, V == 1 ? m.b : w.lists[m.list + static_cast<u32>(k)]);
          for (int l = 0; l < lanes_per_warp; ++l) run[l * V + k] = static_cast<T>(d[l]);
        }
        if (is_watched(w, m)) w.services->observe(w, m, r.address[0], size, true);
        __builtin_memcpy(host, run, sizeof run);
        return;
      }
    }
  }
  translate<size>(w, m, r, true);
  for (int k = 0; k < V; ++k) {
    const D* d = slot_words<D>(w, V == 1 ? m.b : w.lists[m.list + static_cast<u32>(k)]);
    for (u32 left = r.mask; left != 0; left &= left - 1) {
      const int l = __builtin_ctz(left);
      const T value = static_cast<T>(d[l]);
      __builtin_memcpy(r.host[l] + static_cast<unsigned>(k) * sizeof(T), &value, sizeof(T));
    }
  }
}

template <class T, class D, int V>
constexpr void put(AccessTable& table, ElementKind kind, int power) {
  const auto row = static_cast<unsigned>(kind);
  table.load[row][power][0] = &load<T, D, V, true>;
  table.load[row][power][1] = &load<T, D, V, false>;
  table.store[row][power][0] = &store<T, D, V, true>;
  table.store[row][power][1] = &store<T, D, V, false>;
}

/// A signed element is sign-extended by its conversion to the slot's type.
template <class T, class D>
constexpr void put(AccessTable& table, ElementKind kind) {
  put<T, D, 1>(table, kind, 0);
  put<T, D, 2>(table, kind, 1);
  put<T, D, 4>(table, kind, 2);
  put<T, D, 8>(table, kind, 3);
}

constexpr AccessTable filled() {
  AccessTable table{};
  put<u8, u32>(table, ElementKind::u8);
  put<std::int8_t, u32>(table, ElementKind::s8);
  put<u16, u32>(table, ElementKind::u16);
  put<std::int16_t, u32>(table, ElementKind::s16);
  put<u32, u32>(table, ElementKind::b32);
  put<u8, u64>(table, ElementKind::u8_wide);
  put<std::int8_t, u64>(table, ElementKind::s8_wide);
  put<u16, u64>(table, ElementKind::u16_wide);
  put<std::int16_t, u64>(table, ElementKind::s16_wide);
  put<u32, u64>(table, ElementKind::u32_wide);
  put<std::int32_t, u64>(table, ElementKind::s32_wide);
  put<u64, u64>(table, ElementKind::b64);
  return table;
}

}  // namespace

extern const AccessTable access_table;
constinit const AccessTable access_table = filled();

}  // namespace tailor::simulator::LANES_TIER
