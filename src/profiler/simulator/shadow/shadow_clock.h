// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a thread knows of others: a vector clock over the threads of a launch, kept as few numbers. Used by
// shadow_sync.cpp, which joins clocks at barriers, releases and acquires. Most of what is known is known of whole
// blocks (everything up to their last barrier), some of single warps or lanes, and of most blocks nothing. Clocks are
// shared between the threads that know the same, and their parts between clocks that differ elsewhere; what is shared
// is never changed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tailor::simulator {

/// Lanes of a warp whose accesses up to `clock` are known.
struct KnownLanes {
  std::uint32_t warp = 0, lanes = 0, clock = 0;
};

/// Of a block: all its threads up to `floor`, and `lanes` beyond.
struct KnownBlock {
  std::uint32_t block = 0, floor = 0;
  std::vector<KnownLanes> lanes;
};

/// What is known of blocks with neighbouring numbers.
struct ClockPart {
  std::uint32_t number = 0;        ///< of its blocks, without their last bits
  std::vector<KnownBlock> blocks;  ///< by block; never empty
};

class VectorClock {
 public:
  void learn_block(std::uint32_t block, std::uint32_t floor);
  void learn_lanes(std::uint32_t block, const KnownLanes& lanes);
  void learn(const VectorClock& other);
  bool covers(const VectorClock& other) const;
  /// Everything those lanes did up to their clock.
  bool knows(std::uint32_t block, const KnownLanes& lanes) const;
  bool knows_of(std::uint32_t block, std::uint32_t floor) const;  ///< anything beyond `floor`
  bool knows_others(std::uint32_t block) const;                   ///< anything of another block
  /// As it stands it is the next version of a record that only learns. Holds until it learns more.
  void stamp(std::uint64_t record, std::uint64_t version) {
    record_ = record;
    version_ = version;
  }
  std::uint64_t record() const { return record_; }
  std::uint64_t version() const { return version_; }

 private:
  using Part = std::shared_ptr<ClockPart>;
  KnownBlock& block_of(std::uint32_t block);
  const KnownBlock* find(std::uint32_t block) const;

  std::vector<Part> parts_;                 ///< by number
  std::uint64_t record_ = 0, version_ = 0;  ///< 0: no version of any
};

/// Null: nothing.
using Knowledge = std::shared_ptr<VectorClock>;

/// A clock that nobody else sees, with what `knowledge` holds: itself when it is not shared.
VectorClock& own_clock(Knowledge& knowledge);
/// Afterwards `knowledge` covers `other` too. Shares rather than copies where it can.
void learn(Knowledge& knowledge, const Knowledge& other);
/// The same for a record that many learn from and that never forgets: its versions are told apart.
void learn_for_all(Knowledge& record, const Knowledge& other);

}  // namespace tailor::simulator
