// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The slow way to judge order: a full vector clock for every thread of the launch and a list of every access to every
// granule, compared pair by pair. Shares nothing with the code it judges but the structs of the calls. Used by the
// random tests of the shadow memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "profiler/simulator/shadow/shadow.h"

namespace tailor::simulator {

class RaceOracle {
 public:
  using Clock = std::vector<std::uint32_t>;

  struct Touch {
    int thread = 0;
    std::uint32_t time = 0, site = 0;
    bool write = false, strong = false;
    bool behind = false;  ///< a plain store that is ordered after it took its place
  };
  /// Lanes that race, that read what nobody wrote, and that read what is being copied.
  struct Verdict {
    std::uint32_t racing = 0, unwritten = 0, pending = 0;
  };

  RaceOracle(int blocks, int warps, int cluster)
      : warps_(warps),
        cluster_(cluster),
        clocks_(static_cast<std::size_t>(blocks * warps * 32)),
        fenced_(clocks_.size(), Clock(clocks_.size())),
        heard_(fenced_),
        block_fenced_(static_cast<std::size_t>(blocks), Clock(clocks_.size())) {
    for (std::size_t t = 0; t < clocks_.size(); ++t) {
      clocks_[t].resize(clocks_.size());
      clocks_[t][t] = 1;
    }
  }

  int thread(int block, int warp, int lane) const { return (block * warps_ + warp) * 32 + lane; }

  void block_barrier(int block) {
    Clock all(clocks_.size());
    for (int t = thread(block, 0, 0); t < thread(block + 1, 0, 0); ++t) {
      join(all, at(t));
      join(block_fenced_[static_cast<std::size_t>(block)], fenced_[static_cast<std::size_t>(t)]);
    }
    for (int t = thread(block, 0, 0); t < thread(block + 1, 0, 0); ++t) {
      at(t) = all;
      ++own(t);
    }
  }
  void warp_sync(int block, int warp, std::uint32_t lanes) {
    Clock all(clocks_.size());
    each(block, warp, lanes, [&](int t) { join(all, at(t)); });
    each(block, warp, lanes, [&](int t) {
      at(t) = all;
      ++own(t);
    });
  }
  void release(int block, int warp, std::uint32_t lanes, SyncLocation location, ShadowScope scope) {
    each(block, warp, lanes, [&](int t) { publish(block, location, scope, at(t)); });
    each(block, warp, lanes, [&](int t) { ++own(t); });
  }
  void acquire(int block, int warp, std::uint32_t lanes, SyncLocation location, ShadowScope scope) {
    each(block, warp, lanes, [&](int t) { hear(block, location, scope, at(t)); });
  }
  void forget(SyncLocation location) {
    std::erase_if(places_, [&](const auto& known) {
      return std::get<0>(known.first) == location.space && std::get<1>(known.first) == location.address;
    });
  }
  void fence(int block, int warp, std::uint32_t lanes) {
    each(block, warp, lanes, [&](int t) {
      join(at(t), heard_[static_cast<std::size_t>(t)]);
      std::ranges::fill(heard_[static_cast<std::size_t>(t)], 0u);
      fenced_[static_cast<std::size_t>(t)] = at(t);
      ++own(t);
    });
  }
  void strong_write(int block, int warp, int lane, SyncLocation location) {
    publish(block, location, ShadowScope::device, block_fenced_[static_cast<std::size_t>(block)]);
    publish(block, location, ShadowScope::device, fenced_[static_cast<std::size_t>(thread(block, warp, lane))]);
  }
  void strong_read(int block, int warp, int lane, SyncLocation location) {
    hear(block, location, ShadowScope::device, heard_[static_cast<std::size_t>(thread(block, warp, lane))]);
  }

  /// `region` tells memories apart; `memory` and `values` (32 values of `bytes` bytes) are for stores.
  Verdict judge(int block, int warp, std::int64_t region, int granule, const ShadowAccess& a, bool read, bool write,
                const std::byte* memory, const std::byte* values) const {
    Verdict verdict;
    for (int lane = 0; lane < 32; ++lane) {
      if ((a.lanes >> lane & 1) == 0) continue;
      const int t = thread(block, warp, lane);
      const bool equal = memory != nullptr && std::memcmp(memory + a.offset[lane], values + lane * a.bytes,
                                                          static_cast<std::size_t>(a.bytes)) == 0;
      for (std::int64_t g = a.offset[lane] / granule; g * granule < a.offset[lane] + a.bytes; ++g) {
        const auto found = touches_.find({region, g});
        if (found == touches_.end()) continue;
        for (const Touch& other : found->second)
          if (conflict(t, write, a.strong || (read && write), equal, other)) verdict.racing |= 1u << lane;
      }
      if (!write || read || a.strong) continue;
      for (int other = lane - 1; other >= 0; --other) {
        if ((a.lanes >> other & 1) == 0 || a.offset[other] != a.offset[lane]) continue;
        if (std::memcmp(values + other * a.bytes, values + lane * a.bytes, static_cast<std::size_t>(a.bytes)) != 0)
          verdict.racing |= 1u << lane;
        break;
      }
    }
    return verdict;
  }

  /// After judge found nothing.
  void record(int block, int warp, std::int64_t region, int granule, const ShadowAccess& a, bool read, bool write) {
    for (int lane = 0; lane < 32; ++lane) {
      if ((a.lanes >> lane & 1) == 0) continue;
      const int t = thread(block, warp, lane);
      const bool strong = a.strong || (read && write);
      bool superseded = false;  // by a later lane that stored the same
      for (int other = lane + 1; other < 32 && write && !read && !a.strong; ++other)
        superseded = superseded || ((a.lanes >> other & 1) != 0 && a.offset[other] == a.offset[lane]);
      for (std::int64_t g = a.offset[lane] / granule; g * granule < a.offset[lane] + a.bytes; ++g) {
        std::vector<Touch>& touches = touches_[{region, g}];
        if (write && !strong)  // harmless, as judge found no race: it takes the place of all these
          std::erase_if(touches,
                        [&](const Touch& other) { return (other.write || other.behind) && !ordered(t, other); });
        for (Touch& touch : touches) touch.behind = touch.behind || (write && !strong);
        if (!superseded) touches.push_back({t, own(t), a.site, write, strong});
      }
    }
  }

  /// There is an access by `other` that races with one by `thread` on this granule.
  bool has_conflict(std::int64_t region, std::int64_t granule, int by, bool write, bool strong, int other,
                    bool other_write, std::uint32_t site) const {
    const auto found = touches_.find({region, granule});
    return found != touches_.end() && std::ranges::any_of(found->second, [&](const Touch& touch) {
             return touch.thread == other && touch.write == other_write && touch.site == site &&
                    conflict(by, write, strong, false, touch);
           });
  }

 private:
  static void join(Clock& into, const Clock& from) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  Clock& at(int t) { return clocks_[static_cast<std::size_t>(t)]; }
  std::uint32_t& own(int t) { return clocks_[static_cast<std::size_t>(t)][static_cast<std::size_t>(t)]; }
  template <class Act>
  void each(int block, int warp, std::uint32_t lanes, Act&& act) {
    for (int lane = 0; lane < 32; ++lane)
      if ((lanes >> lane & 1) != 0) act(thread(block, warp, lane));
  }
  bool ordered(int t, const Touch& other) const {
    return other.thread == t ||
           other.time <= clocks_[static_cast<std::size_t>(t)][static_cast<std::size_t>(other.thread)];
  }
  bool conflict(int t, bool write, bool strong, bool equal, const Touch& other) const {
    if (!write && !other.write) return false;
    if (strong && other.strong) return false;
    if (write && !strong && equal && (other.behind || (other.write && !other.strong))) return false;
    return !ordered(t, other);
  }
  int domain(int block, ShadowScope scope) const {
    return scope == ShadowScope::block ? block : scope == ShadowScope::cluster ? 1000 + block / cluster_ : -1;
  }
  void publish(int block, SyncLocation location, ShadowScope scope, const Clock& what) {
    for (const ShadowScope s : {ShadowScope::block, ShadowScope::cluster, ShadowScope::device}) {
      if (s > scope) break;
      Clock& known = places_[{location.space, location.address, domain(block, s)}];
      known.resize(clocks_.size());
      join(known, what);
    }
  }
  void hear(int block, SyncLocation location, ShadowScope scope, Clock& into) const {
    for (const ShadowScope s : {ShadowScope::block, ShadowScope::cluster, ShadowScope::device}) {
      if (s > scope || (s == ShadowScope::device && location.space == ShadowSpace::shared)) break;
      const auto found = places_.find({location.space, location.address, domain(block, s)});
      if (found != places_.end()) join(into, found->second);
    }
  }

  int warps_, cluster_;
  std::vector<Clock> clocks_, fenced_, heard_, block_fenced_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Touch>> touches_;
  std::map<std::tuple<ShadowSpace, std::uint64_t, int>, Clock> places_;
};

}  // namespace tailor::simulator
