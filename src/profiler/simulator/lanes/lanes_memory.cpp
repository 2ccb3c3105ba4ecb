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

/// The host address that all 32 lanes load from, counted; nullptr: take another path. Only where nobody watches: the
/// sanitizers do not track what a kernel may not store to.
template <u32 size>
[[gnu::always_inline]] inline std::byte* point_at(Warp& w, const Micro& m, u64 address) {
  SiteState& site = w.sites[m.extra >> access_site_shift];
  const auto space = static_cast<AccessSpace>(m.extra & access_space_mask);
  if ((address & (size - 1)) != 0) return nullptr;
  std::byte* host = nullptr;
  if (space == AccessSpace::global) {
    const u64 offset = address - site.base;
    if (site.size < size || offset > site.size - size) return nullptr;
    if ((w.observe & observe_cache) != 0 || (w.observe != 0 && site.may_store != 0)) return nullptr;
    host = site.host + offset;
    ++site.sectors;
  } else if (space == AccessSpace::shared) {
    const u64 offset = address - site.base;
    if (w.observe != 0 || (m.extra & access_cluster) != 0 || site.size < size || offset > site.size - size)
      return nullptr;
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

/// Host addresses of lanes that may be anywhere.
[[gnu::always_inline]] inline void translate(Warp& w, const Micro& m, Request& r, bool store) {
  r.mask = w.active;
  w.services->translate(w, m, r, store);
}

/// Ordered and volatile accesses go the long way, where polling is noticed.
[[gnu::always_inline]] inline bool is_ordered(const Micro& m) { return (m.extra >> access_order_shift & 7) != 0; }

/// Lanes that may not load get poison, so that what they do next depends on nothing that ran here before.
template <class D>
void poison(Warp& w, Slot slot, u32 mask) {
  for (; mask != 0; mask &= mask - 1) slot_words<D>(w, slot)[__builtin_ctz(mask)] = static_cast<D>(0xcdcdcdcdcdcdcdcdu);
}

template <class T, class D, int V, bool full>
void load(Warp& w, const Micro& m) {
  constexpr u32 size = sizeof(T) * V;
  alignas(64) Request r;
  addresses(w, m, r.address);
  if (full && !is_ordered(m)) {
    if (in_a_row(r.address, size)) {
      if (const std::byte* host = run_at<size>(w, m, r.address[0], false)) {
        if (w.observe) w.services->observe(w, m, r.address[0], false);
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
  translate(w, m, r, false);
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
        if (w.observe) w.services->observe(w, m, r.address[0], true);
        __builtin_memcpy(host, run, sizeof run);
        return;
      }
    }
  }
  translate(w, m, r, true);
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
