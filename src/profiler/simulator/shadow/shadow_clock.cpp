// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Vector clocks: joining two, and asking whether one covers the other. In: clocks sorted by block. Out: their union,
// or an answer. Called by shadow_sync.cpp.
//
// A clock says of each block up to which of its own clock everything is known (the floor), and of single warps or
// lanes what is known beyond. Raising the floor swallows entries that it covers; an entry swallows older ones of fewer
// lanes. So a clock stays as small as what it says.
//
// Because blocks are sorted, joining the clocks of a whole grid is one pass. Clocks are shared by reference: learning
// from one that covers mine takes it over, learning from one that I cover does nothing, and only what is left is
// copied and merged.
#include "profiler/simulator/shadow/shadow_clock.h"

#include <algorithm>
#include <atomic>

namespace tailor::simulator {
namespace {

void raise_floor(KnownBlock& block, std::uint32_t floor) {
  if (floor <= block.floor) return;
  block.floor = floor;
  std::erase_if(block.lanes, [&](const KnownLanes& known) { return known.clock <= floor; });
}

void add_lanes(KnownBlock& block, const KnownLanes& lanes) {
  if (lanes.clock <= block.floor) return;
  for (KnownLanes& known : block.lanes) {
    if (known.warp != lanes.warp) continue;
    if (known.clock == lanes.clock) {
      known.lanes |= lanes.lanes;
      return;
    }
    if (known.clock > lanes.clock && (lanes.lanes & ~known.lanes) == 0) return;
  }
  std::erase_if(block.lanes, [&](const KnownLanes& known) {
    return known.warp == lanes.warp && known.clock < lanes.clock && (known.lanes & ~lanes.lanes) == 0;
  });
  block.lanes.push_back(lanes);
}

void add_block(KnownBlock& block, const KnownBlock& other) {
  raise_floor(block, other.floor);
  for (const KnownLanes& lanes : other.lanes) add_lanes(block, lanes);
}

bool has(const KnownBlock& block, const KnownLanes& lanes) {
  if (lanes.clock <= block.floor) return true;
  std::uint32_t left = lanes.lanes;
  for (const KnownLanes& known : block.lanes)
    if (known.warp == lanes.warp && known.clock >= lanes.clock) left &= ~known.lanes;
  return left == 0;
}

}  // namespace

KnownBlock& VectorClock::block_of(std::uint32_t block) {
  const auto at = std::ranges::lower_bound(blocks_, block, {}, &KnownBlock::block);
  if (at != blocks_.end() && at->block == block) return *at;
  return *blocks_.insert(at, KnownBlock{block, 0, {}});
}

const KnownBlock* VectorClock::find(std::uint32_t block) const {
  const auto at = std::ranges::lower_bound(blocks_, block, {}, &KnownBlock::block);
  return at != blocks_.end() && at->block == block ? &*at : nullptr;
}

void VectorClock::learn_block(std::uint32_t block, std::uint32_t floor) { raise_floor(block_of(block), floor); }

void VectorClock::learn_lanes(std::uint32_t block, const KnownLanes& lanes) { add_lanes(block_of(block), lanes); }

void VectorClock::learn(const VectorClock& other) {
  if (other.blocks_.size() < 4 || blocks_.empty()) {
    for (const KnownBlock& block : other.blocks_) add_block(block_of(block.block), block);
    return;
  }
  std::vector<KnownBlock> merged;
  merged.reserve(std::max(blocks_.size(), other.blocks_.size()));
  auto mine = blocks_.begin();
  for (const KnownBlock& block : other.blocks_) {
    while (mine != blocks_.end() && mine->block < block.block) merged.push_back(std::move(*mine++));
    if (mine != blocks_.end() && mine->block == block.block) {
      merged.push_back(std::move(*mine++));
      add_block(merged.back(), block);
    } else {
      merged.push_back(block);
    }
  }
  merged.insert(merged.end(), std::make_move_iterator(mine), std::make_move_iterator(blocks_.end()));
  blocks_ = std::move(merged);
}

bool VectorClock::knows_others(std::uint32_t block) const {
  return std::ranges::any_of(blocks_, [&](const KnownBlock& known) { return known.block != block; });
}

bool VectorClock::covers(const VectorClock& other) const {
  if (blocks_.size() < other.blocks_.size()) return false;
  auto mine = blocks_.begin();
  for (const KnownBlock& block : other.blocks_) {
    while (mine != blocks_.end() && mine->block < block.block) ++mine;
    if (mine == blocks_.end() || mine->block != block.block || mine->floor < block.floor) return false;
    if (!std::ranges::all_of(block.lanes, [&](const KnownLanes& lanes) { return has(*mine, lanes); })) return false;
  }
  return true;
}

bool VectorClock::knows(std::uint32_t block, const KnownLanes& lanes) const {
  const KnownBlock* known = find(block);
  return known != nullptr && has(*known, lanes);
}

bool VectorClock::knows_of(std::uint32_t block, std::uint32_t floor) const {
  const KnownBlock* known = find(block);
  return known != nullptr && (known->floor > floor || !known->lanes.empty());
}

VectorClock& own_clock(Knowledge& knowledge) {
  if (knowledge == nullptr) {
    knowledge = std::make_shared<VectorClock>();
  } else if (knowledge.use_count() != 1) {
    knowledge = std::make_shared<VectorClock>(*knowledge);
  } else {
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever gave the last other reference back has read
  }
  return *knowledge;
}

void learn(Knowledge& knowledge, const Knowledge& other) {
  if (other == nullptr || knowledge == other) return;
  if (knowledge == nullptr || other->covers(*knowledge)) {
    knowledge = other;
  } else if (!knowledge->covers(*other)) {
    own_clock(knowledge).learn(*other);
  }
}

}  // namespace tailor::simulator
