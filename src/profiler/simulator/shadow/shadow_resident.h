// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The bodies of GlobalShadow and ResidentShadow: the records behind shadow.h, shared by the files of this room and by
// nobody else. A warp has its clock and what its lanes know; what single lanes know beyond, or have fenced, or have
// heard without a fence, is kept apart, for the few warps in which lanes differ.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/indexed.h"
#include "profiler/simulator/shadow/shadow.h"
#include "profiler/simulator/shadow/shadow_cells.h"
#include "profiler/simulator/shadow/shadow_clock.h"

namespace tailor::simulator {

/// A place at one scope: whose releases it holds.
struct SyncKey {
  ShadowSpace space = ShadowSpace::shared;
  std::uint64_t address = 0;
  std::uint32_t domain = 0;  ///< 0: device; else 1 + twice the resident block, plus 1 for the cluster it begins
  bool operator==(const SyncKey&) const = default;
};
struct SyncKeyHash {
  std::size_t operator()(const SyncKey& key) const {
    const std::uint64_t mixed = (key.address ^ (std::uint64_t{key.domain} << 40)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(mixed ^ (mixed >> 29) ^ static_cast<std::uint64_t>(key.space));
  }
};
using SyncTable = std::unordered_map<SyncKey, Knowledge, SyncKeyHash>;

struct GlobalShadow::Body {
  static constexpr int stripes = 256;
  struct alignas(64) Stripe {
    std::atomic<bool> taken = false;
  };
  std::deque<ShadowRegion> buffers;
  bool concurrent = false;
  std::atomic<bool> raced = false;
  std::mutex sync_mutex;
  SyncTable releases;
  std::atomic<bool> any_release = false;
  std::vector<Stripe> stripe = std::vector<Stripe>(stripes);
};

/// What a lane knew at its last fence: `base`, and itself up to `clock`.
struct LaneFence {
  Knowledge base;
  std::uint32_t clock = 0;  ///< 0: none
};

/// Numbers of ShadowScope.
inline constexpr int scope_count = 3;
template <class T>
using ByScope = IndexedArray<T, scope_count>;

struct LaneKnowledge {
  std::array<Knowledge, 32> more;            ///< beyond the warp's
  std::array<ByScope<LaneFence>, 32> fence;  ///< of each scope, since the last barrier of the block
  std::array<ByScope<Knowledge>, 32> heard;  ///< read by strong loads of each scope or less, not yet fenced
};

struct WarpShadow {
  std::uint32_t clock = 1;       ///< of its accesses now
  std::uint32_t self_floor = 0;  ///< up to here its lanes know of one another
  Knowledge more;                ///< what all lanes know beyond the floors
  std::unique_ptr<LaneKnowledge> lanes;
};

struct BlockShadow {
  std::int64_t linear = 0;
  std::uint32_t id = 0;       ///< in words of global memory and in clocks
  std::uint32_t floor = 0;    ///< its threads know of one another up to here
  ByScope<Knowledge> fenced;  ///< what its threads had fenced before its last barrier
};

/// One access while it is judged.
struct Judged {
  Judged(const ShadowAccess& its_access, const ShadowValues* its_values, bool writes, ShadowRegion& its_region)
      : access(its_access), values(its_values), write(writes), region(its_region) {}

  const ShadowAccess& access;
  const ShadowValues* values = nullptr;
  bool write = false, strong = false;
  ShadowRegion& region;
  std::size_t most_listed = 0;      ///< ResidentShape::most_listed
  int block = 0;                    ///< resident block of the warp
  ShadowWord me = 0;                ///< without lane and shift
  ShadowWord before = 0, span = 0;  ///< words in [before, before + span) are of the block and known to all of it
  ShadowWord dead_span = 0;         ///< the same, and nobody who does not know can come: 0 or span
  std::uint32_t faulty = 0;         ///< lanes with a race
  IndexedArray<ShadowPiece, most_pieces> pieces;
  int count = 0;
};

struct ResidentShadow::Body {
  Body(GlobalShadow::Body& launch, const ResidentShape& its_shape);

  // Knowledge.
  bool knows(int warp, std::uint32_t lane, ShadowSpace space, ShadowWord word, std::uint32_t other_lane) const;
  /// All lanes know all that the word's warp did up to its clock. false: not that simple.
  bool knows_warp(int warp, ShadowSpace space, ShadowWord word) const;
  Knowledge view(int warp, std::uint32_t lanes) const;  ///< a clock of their own
  void publish(int warp, SyncLocation location, ShadowScope scope, const Knowledge& what);
  void hear(int warp, SyncLocation location, ShadowScope scope, Knowledge& into);
  void join_block(int block);
  void tick(int warp);
  LaneKnowledge& lane_knowledge(int warp);
  SyncKey key(int warp, SyncLocation location, ShadowScope scope) const;

  // Accesses.
  bool run(const ShadowAccess& access, bool read, bool write, const ShadowValues* values);
  bool run_local(const ShadowAccess& access, bool write);
  void check_contents(Judged& judged);
  void check_order(Judged& judged, const ShadowPiece& piece);
  void check_word(Judged& judged, const ShadowPiece& piece, ShadowWord word, std::uint32_t cells, std::uint32_t lanes,
                  bool word_writes);
  void check_crowd(Judged& judged, const ShadowPiece& piece, ShadowCrowd& crowd, bool writes);
  bool comes_after_atomics(const Judged& judged, const ShadowPiece& piece, ShadowWord word, int cell,
                           std::uint32_t lane) const;
  void check_overlaps(Judged& judged);
  std::uint32_t put_where_it_stands(Judged& judged, const ShadowPiece& piece, bool write);
  void record_read(Judged& judged, const ShadowPiece& piece);
  void record_write(Judged& judged, const ShadowPiece& piece);
  void report_race(Judged& judged, const ShadowPiece& piece, int cell, std::uint32_t lane, ShadowWord word,
                   std::uint32_t other_lane, bool word_writes, ShadowFault fault = ShadowFault::race);
  void check_constant(Judged& judged);
  void add(const ShadowFinding& finding);
  /// Adds what was reported of one access, the lowest lane first, however the access was split.
  void add_reported();

  GlobalShadow::Body& global;
  ResidentShape shape;
  IndexedVector<WarpShadow> warps;
  IndexedVector<BlockShadow> blocks;
  IndexedVector<ShadowRegion> shared;                 ///< by resident block
  IndexedVector<IndexedVector<std::uint32_t>> local;  ///< by warp: a bit per byte
  std::uint32_t start_clock = 0;                      ///< accesses up to here are of earlier resident sets
  SyncTable releases;
  std::vector<std::pair<std::uint32_t, ShadowFinding>> reported;  ///< of the access that is judged, by lane
  std::vector<ShadowFinding> findings;
  std::unordered_map<std::uint64_t, std::size_t> found;  ///< site and fault -> index into findings
};

}  // namespace tailor::simulator
