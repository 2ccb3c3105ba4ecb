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
//
// The same holds for their parts, of 32 blocks each. Where blocks of a grid meet, each changes what is known of itself
// in a record of all of them, while others poll and keep what they found: these records differ in one part, so a copy,
// a comparison and a union cost that part and a glance at the others, whether they are the same. Who has
// an earlier version of such a record takes a later one over unseen.
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

bool covers(const ClockPart& part, const ClockPart& other) {
  if (part.blocks.size() < other.blocks.size()) return false;
  auto mine = part.blocks.begin();
  for (const KnownBlock& block : other.blocks) {
    while (mine != part.blocks.end() && mine->block < block.block) ++mine;
    if (mine == part.blocks.end() || mine->block != block.block || mine->floor < block.floor) return false;
    if (!std::ranges::all_of(block.lanes, [&](const KnownLanes& lanes) { return has(*mine, lanes); })) return false;
  }
  return true;
}

constexpr std::uint32_t part_bits = 5;  // of a block's number: its place within the part

/// Nobody else sees it afterwards.
template <class Of>
Of& own(std::shared_ptr<Of>& shared) {
  if (shared.use_count() != 1)
    shared = std::make_shared<Of>(*shared);
  else
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever gave the last other reference back has read
  return *shared;
}

KnownBlock& block_of(ClockPart& part, std::uint32_t block) {
  const auto at = std::ranges::lower_bound(part.blocks, block, {}, &KnownBlock::block);
  if (at != part.blocks.end() && at->block == block) return *at;
  return *part.blocks.insert(at, KnownBlock{block, 0, {}});
}

/// Afterwards `part` covers `other` too, which has the same number.
void learn_part(std::shared_ptr<ClockPart>& part, const std::shared_ptr<ClockPart>& other) {
  if (part == other || covers(*part, *other)) return;
  if (covers(*other, *part)) {
    part = other;
    return;
  }
  ClockPart& mine = own(part);
  for (const KnownBlock& block : other->blocks) add_block(block_of(mine, block.block), block);
}

}  // namespace

KnownBlock& VectorClock::block_of(std::uint32_t block) {
  record_ = 0;
  const std::uint32_t number = block >> part_bits;
  auto at = std::ranges::lower_bound(parts_, number, {}, [](const Part& part) { return part->number; });
  if (at == parts_.end() || (*at)->number != number)
    at = parts_.insert(at, std::make_shared<ClockPart>(ClockPart{number, {}}));
  return simulator::block_of(own(*at), block);
}

const KnownBlock* VectorClock::find(std::uint32_t block) const {
  const std::uint32_t number = block >> part_bits;
  const auto part = std::ranges::lower_bound(parts_, number, {}, [](const Part& one) { return one->number; });
  if (part == parts_.end() || (*part)->number != number) return nullptr;
  const std::vector<KnownBlock>& blocks = (*part)->blocks;
  const auto at = std::ranges::lower_bound(blocks, block, {}, &KnownBlock::block);
  return at != blocks.end() && at->block == block ? &*at : nullptr;
}

void VectorClock::learn_block(std::uint32_t block, std::uint32_t floor) { raise_floor(block_of(block), floor); }

void VectorClock::learn_lanes(std::uint32_t block, const KnownLanes& lanes) { add_lanes(block_of(block), lanes); }

void VectorClock::learn(const VectorClock& other) {
  record_ = 0;
  std::vector<Part> merged;
  merged.reserve(std::max(parts_.size(), other.parts_.size()));
  auto mine = parts_.begin();
  for (const Part& part : other.parts_) {
    while (mine != parts_.end() && (*mine)->number < part->number) merged.push_back(std::move(*mine++));
    if (mine != parts_.end() && (*mine)->number == part->number) {
      merged.push_back(std::move(*mine++));
      learn_part(merged.back(), part);
    } else {
      merged.push_back(part);
    }
  }
  merged.insert(merged.end(), std::make_move_iterator(mine), std::make_move_iterator(parts_.end()));
  parts_ = std::move(merged);
}

bool VectorClock::knows_others(std::uint32_t block) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    return std::ranges::any_of(part->blocks, [&](const KnownBlock& known) { return known.block != block; });
  });
}

bool VectorClock::covers(const VectorClock& other) const {
  if (record_ != 0 && record_ == other.record_ && version_ >= other.version_) return true;
  if (parts_.size() < other.parts_.size()) return false;
  auto mine = parts_.begin();
  for (const Part& part : other.parts_) {
    while (mine != parts_.end() && (*mine)->number < part->number) ++mine;
    if (mine == parts_.end() || (*mine)->number != part->number) return false;
    if (*mine != part && !simulator::covers(**mine, *part)) return false;
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
  if (knowledge == nullptr) knowledge = std::make_shared<VectorClock>();
  return own(knowledge);
}

void learn(Knowledge& knowledge, const Knowledge& other) {
  if (other == nullptr || knowledge == other) return;
  if (knowledge == nullptr || other->covers(*knowledge)) {
    knowledge = other;
  } else if (!knowledge->covers(*other)) {
    own_clock(knowledge).learn(*other);
  }
}

void learn_for_all(Knowledge& record, const Knowledge& other) {
  static std::atomic<std::uint64_t> records = 0;
  const std::uint64_t number = record != nullptr ? record->record() : 0, version = number != 0 ? record->version() : 0;
  learn(record, other);
  if (record == nullptr || (number != 0 && record->record() == number)) return;  // it knew all of that
  own(record).stamp(number != 0 ? number : ++records, version + 1);
}

}  // namespace tailor::simulator
