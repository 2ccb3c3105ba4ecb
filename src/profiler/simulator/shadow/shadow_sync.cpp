// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// How knowledge spreads: barriers, releases, acquires and fences. In: who synchronises with whom. Out: what each warp,
// or lane, knows from now on. Called by the machine at every ending that synchronises, and by ordered accesses.
//
// A thread's accesses carry its warp's clock; whatever publishes what a thread knows moves that clock on, so that what
// the thread does later is told apart from what it published. A block barrier is one number: the block's floor rises
// to the latest clock of its warps, and everything up to it is known to all of them. A warp barrier does the same for
// the lanes it names.
//
// A release leaves what the lane knows at an address, under the scope it names; an acquire at that address and scope
// takes it up. A fence keeps what was known until a later relaxed store publishes it, and gives effect to what earlier
// relaxed loads have heard. Lanes of a warp usually know the same and share a record; the first release or acquire by
// a part of them gives them records of their own.
#include <algorithm>
#include <bit>

#include "profiler/simulator/shadow/shadow_resident.h"

namespace tailor::simulator {
namespace {

constexpr std::uint32_t every_lane = ~0u;

template <class Act>
void for_lanes(std::uint32_t lanes, Act&& act) {
  for (; lanes != 0; lanes &= lanes - 1) act(static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

}  // namespace

void ResidentShadow::Body::tick(int warp) {
  std::uint32_t& clock = warps[warp].clock;
  clock = std::min(clock + 1, most_clock);
}

LaneKnowledge& ResidentShadow::Body::lane_knowledge(int warp) {
  auto& lanes = warps[warp].lanes;
  if (lanes == nullptr) lanes = std::make_unique<LaneKnowledge>();
  return *lanes;
}

bool ResidentShadow::Body::knows(int warp, std::uint32_t lane, ShadowSpace space, ShadowWord word,
                                 std::uint32_t other_lane) const {
  const int mine = warp / shape.warps_per_block;
  const BlockShadow& my_block = blocks[mine];
  const std::uint32_t clock = word_clock(word);
  std::uint32_t id = word_block(word);
  if (space == ShadowSpace::shared) {
    if (clock <= start_clock || id > blocks.size()) return true;
    id = blocks[id - 1].id;
  }
  const WarpShadow& my_warp = warps[warp];
  if (id == my_block.id) {
    if (clock <= my_block.floor) return true;
    if (word_warp(word) == static_cast<std::uint32_t>(warp % shape.warps_per_block) &&
        (other_lane == lane || clock <= my_warp.self_floor))
      return true;
  }
  const KnownLanes did{word_warp(word), 1u << other_lane, clock};
  if (my_warp.more != nullptr && my_warp.more->knows(id, did)) return true;
  return my_warp.lanes != nullptr && my_warp.lanes->more[lane] != nullptr && my_warp.lanes->more[lane]->knows(id, did);
}

bool ResidentShadow::Body::knows_warp(int warp, ShadowSpace space, ShadowWord word) const {
  const BlockShadow& my_block = blocks[warp / shape.warps_per_block];
  const WarpShadow& my_warp = warps[warp];
  const std::uint32_t clock = word_clock(word), self = static_cast<std::uint32_t>(warp % shape.warps_per_block);
  std::uint32_t id = word_block(word);
  if (space == ShadowSpace::shared) {
    if (clock <= start_clock || id > blocks.size()) return true;
    id = blocks[id - 1].id;
  }
  if (id == my_block.id && word_warp(word) == self && clock <= my_warp.self_floor) return true;
  return my_warp.more != nullptr && my_warp.more->knows(id, {word_warp(word), every_lane, clock});
}

Knowledge ResidentShadow::Body::view(int warp, std::uint32_t lanes) const {
  const BlockShadow& block = blocks[warp / shape.warps_per_block];
  const WarpShadow& w = warps[warp];
  const auto self = static_cast<std::uint32_t>(warp % shape.warps_per_block);
  Knowledge seen = w.more != nullptr ? std::make_shared<VectorClock>(*w.more) : std::make_shared<VectorClock>();
  if (w.lanes != nullptr) for_lanes(lanes, [&](std::uint32_t lane) { learn(seen, w.lanes->more[lane]); });
  VectorClock& clock = own_clock(seen);
  if (block.floor > start_clock) clock.learn_block(block.id, block.floor);
  if (w.self_floor > block.floor) clock.learn_lanes(block.id, {self, every_lane, w.self_floor});
  if (lanes != 0) clock.learn_lanes(block.id, {self, lanes, w.clock});
  return seen;
}

SyncKey ResidentShadow::Body::key(int warp, SyncLocation location, ShadowScope scope) const {
  const int block = warp / shape.warps_per_block;
  const int cluster = block / shape.cluster_blocks * shape.cluster_blocks;
  const std::uint32_t domain = scope == ShadowScope::block     ? 1 + 2 * static_cast<std::uint32_t>(block)
                               : scope == ShadowScope::cluster ? 2 + 2 * static_cast<std::uint32_t>(cluster)
                                                               : 0;
  return {location.space, location.address, domain};
}

void ResidentShadow::Body::publish(int warp, SyncLocation location, ShadowScope scope, const Knowledge& what) {
  learn_for_all(releases[key(warp, location, ShadowScope::block)], what);
  if (scope == ShadowScope::block) return;
  if (shape.cluster_blocks > 1) learn_for_all(releases[key(warp, location, ShadowScope::cluster)], what);
  if (scope == ShadowScope::cluster || location.space != ShadowSpace::global) return;
  const std::lock_guard lock(global.sync_mutex);
  learn_for_all(global.releases[key(warp, location, ShadowScope::device)], what);
  global.any_release.store(true, std::memory_order_release);
}

void ResidentShadow::Body::hear(int warp, SyncLocation location, ShadowScope scope, Knowledge& into) {
  const auto from = [&](const SyncTable& known, ShadowScope at) {
    const auto found_location = known.find(key(warp, location, at));
    if (found_location != known.end()) learn(into, found_location->second);
  };
  if (!releases.empty()) from(releases, ShadowScope::block);
  if (scope == ShadowScope::block) return;
  if (shape.cluster_blocks > 1) from(releases, ShadowScope::cluster);
  if (scope == ShadowScope::cluster || location.space != ShadowSpace::global) return;
  if (!global.any_release.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(global.sync_mutex);
  from(global.releases, ShadowScope::device);
}

void ResidentShadow::release(int warp, std::uint32_t lanes, SyncLocation location, ShadowScope scope) {
  body_->publish(warp, location, scope, body_->view(warp, lanes));
  body_->tick(warp);
}

void ResidentShadow::acquire(int warp, std::uint32_t lanes, SyncLocation location, ShadowScope scope) {
  Knowledge heard;
  body_->hear(warp, location, scope, heard);
  if (heard == nullptr) return;
  if (lanes == every_lane) {
    learn(body_->warps[warp].more, heard);
    return;
  }
  LaneKnowledge& mine = body_->lane_knowledge(warp);
  for_lanes(lanes, [&](std::uint32_t lane) { learn(mine.more[lane], heard); });
}

void ResidentShadow::forget(SyncLocation location) {
  std::erase_if(body_->releases, [&](const auto& known) {
    return known.first.space == location.space && known.first.address == location.address;
  });
  if (location.space != ShadowSpace::global) return;
  const std::lock_guard lock(body_->global.sync_mutex);
  body_->global.releases.erase({location.space, location.address, 0});
}

void ResidentShadow::fence(int warp, std::uint32_t lanes, ShadowScope scope) {
  LaneKnowledge& mine = body_->lane_knowledge(warp);
  WarpShadow& w = body_->warps[warp];
  const Knowledge common = body_->view(warp, 0);
  const int widest = static_cast<int>(scope);
  for_lanes(lanes, [&](std::uint32_t lane) {
    for (int narrow = 0; narrow <= widest; ++narrow) {
      learn(mine.more[lane], mine.heard[lane][narrow]);
      mine.heard[lane][narrow] = nullptr;
    }
    Knowledge base = common;
    learn(base, mine.more[lane]);
    mine.fence[lane][widest] = {base, w.clock};
  });
  body_->tick(warp);
}

/// What was fenced at a scope is published at the narrower of it and the write's own.
void ResidentShadow::strong_write(int warp, std::uint32_t lane, SyncLocation location, ShadowScope scope) {
  const BlockShadow& block = body_->blocks[warp / body_->shape.warps_per_block];
  const WarpShadow& w = body_->warps[warp];
  for (int fenced = 0; fenced < scope_count; ++fenced) {
    const ShadowScope reach = std::min(static_cast<ShadowScope>(fenced), scope);
    if (block.fenced[fenced] != nullptr) body_->publish(warp, location, reach, block.fenced[fenced]);
    if (w.lanes == nullptr || w.lanes->fence[lane][fenced].clock == 0) continue;
    const LaneFence& fence = w.lanes->fence[lane][fenced];
    Knowledge what = std::make_shared<VectorClock>(*fence.base);
    what->learn_lanes(block.id,
                      {static_cast<std::uint32_t>(warp % body_->shape.warps_per_block), 1u << lane, fence.clock});
    body_->publish(warp, location, reach, what);
  }
}

void ResidentShadow::strong_read(int warp, std::uint32_t lane, SyncLocation location, ShadowScope scope) {
  for (int at = 0; at <= static_cast<int>(scope); ++at) {
    Knowledge heard;
    body_->hear(warp, location, static_cast<ShadowScope>(at), heard);
    if (heard != nullptr) learn(body_->lane_knowledge(warp).heard[lane][at], heard);
  }
}

bool ResidentShadow::has_heard_of(int warp, std::uint32_t lane, int block) const {
  const Body& set = *body_;
  const WarpShadow& w = set.warps[warp];
  const std::uint32_t id = set.blocks[block].id;
  if (w.more != nullptr && w.more->knows_of(id, set.start_clock)) return true;
  return w.lanes != nullptr && w.lanes->more[lane] != nullptr && w.lanes->more[lane]->knows_of(id, set.start_clock);
}

void ResidentShadow::warp_sync(int warp, std::uint32_t lanes) {
  WarpShadow& w = body_->warps[warp];
  if (lanes == every_lane) {
    if (w.lanes != nullptr)
      for (Knowledge& more : w.lanes->more) {
        learn(w.more, more);
        more = nullptr;
      }
    w.self_floor = w.clock;
  } else {
    const Knowledge joined = body_->view(warp, lanes);
    LaneKnowledge& mine = body_->lane_knowledge(warp);
    for_lanes(lanes, [&](std::uint32_t lane) { learn(mine.more[lane], joined); });
  }
  body_->tick(warp);
}

/// What threads knew beyond the block, and what they had fenced, becomes common to all of it.
void ResidentShadow::Body::join_block(int block) {
  const int first = block * shape.warps_per_block;
  const int end = first + shape.warps_per_block;
  BlockShadow& b = blocks[block];
  Knowledge joined;
  for (int i = first; i < end; ++i) {
    learn(joined, warps[i].more);
    if (warps[i].lanes == nullptr) continue;
    for (Knowledge& more : warps[i].lanes->more) {
      learn(joined, more);
      more = nullptr;
    }
    bool heard = false;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      for (int scope = 0; scope < scope_count; ++scope) {
        heard = heard || warps[i].lanes->heard[lane][scope] != nullptr;
        LaneFence& fence = warps[i].lanes->fence[lane][scope];
        if (fence.clock == 0) continue;
        Knowledge& fenced = b.fenced[scope];
        learn(fenced, fence.base);
        own_clock(fenced).learn_lanes(b.id, {static_cast<std::uint32_t>(i - first), 1u << lane, fence.clock});
        fence = {};
      }
    if (!heard) warps[i].lanes = nullptr;
  }
  // Of itself the block knows all. What is known of others stays the record that all share who met at a barrier of the
  // grid: it need not be copied, and a crowd's note (shadow_crowd.h) says that it is the same.
  if (joined != nullptr && !joined->knows_others(b.id)) joined = nullptr;
  for (int i = first; i < end; ++i) warps[i].more = joined;
}

void ResidentShadow::block_barrier(int block) {
  Body& set = *body_;
  const int first = block * set.shape.warps_per_block;
  const int end = first + set.shape.warps_per_block;
  std::uint32_t latest = 0;
  bool plain = true;
  for (int i = first; i < end; ++i) {
    latest = std::max(latest, set.warps[i].clock);
    plain = plain && set.warps[i].more == nullptr && set.warps[i].lanes == nullptr;
  }
  if (!plain) set.join_block(block);
  set.blocks[block].floor = latest;
  for (int i = first; i < end; ++i) set.warps[i].clock = std::min(latest + 1, most_clock);
}

}  // namespace tailor::simulator
