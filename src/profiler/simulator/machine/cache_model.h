// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A simple model of the caches, for counters that say how much traffic is left after them. In: the requests of each
// block, in any order of host threads. Out: bytes read and written at L2 and at DRAM. Filled by translate.cpp, summed
// by simulate.cpp.
//
// L1: each block has a direct-mapped table of sectors of its own. A load that finds its sector there asks nothing of
// L2; stores go through and drop the sector from the table; atomics always go to L2, as one read and one write. L2:
// blocks are taken in order of their number, one after another. A sector that was used is still in L2 while all
// distinct sectors of the launch so far fit its capacity, or when no more sectors than fit went to L2 since its last
// use. So with a footprint below the capacity DRAM reads are exactly the distinct sectors that were read before they
// were written. Stores allocate without reading; a dirty sector is written to DRAM when its eviction is noticed at its
// next use, or when the launch ends.
//
// Valid for streams and for reuse between neighbouring blocks. Left out: that resident blocks interleave (reuse among
// them is seen as at most one block's traffic apart, too near or too far by a wave), replacement that is not LRU, sets,
// cache hints, compression, partly written sectors that L2 must fill, and what was in L2 before the launch. Beyond the
// capacity repeated traffic counts as distinct in reuse distances, which errs towards more DRAM traffic.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tailor::simulator {

struct CacheShape {
  std::int64_t l1_bytes = 0;  ///< per block; 0: none
  std::int64_t l2_bytes = 0;  ///< 0: everything goes to DRAM
};

struct CacheTraffic {
  std::int64_t l2_read_bytes = 0, l2_write_bytes = 0, dram_read_bytes = 0, dram_write_bytes = 0;
  bool operator==(const CacheTraffic&) const = default;
};

enum class CacheAccess : std::uint8_t { load, store, atomic };

/// What one block asks of L2. One per host thread, reused from block to block.
class BlockTraffic {
 public:
  explicit BlockTraffic(const CacheShape& shape);
  /// A request to global memory: addresses as in requests.h.
  void request(CacheAccess access, const std::uint64_t* address, std::uint32_t lanes, int bytes);

 private:
  friend class CacheModel;
  void touch(std::uint64_t sector, bool read, bool write);

  struct Run {
    std::uint64_t first = 0;  ///< sector
    std::uint32_t count = 0;
    bool read = false, write = false;
  };
  std::vector<Run> runs_;
  std::vector<std::uint64_t> loaded_;  ///< L1: sector + 1 by sector modulo size
};

class CacheModel {
 public:
  /// `base`, `bytes`: the range of addresses there are; `base` a multiple of 32.
  CacheModel(std::uint64_t base, std::int64_t bytes, const CacheShape& shape);
  ~CacheModel();

  /// The block at place `position` (0, 1, ... without gaps among all that run) has ended. Takes and empties `traffic`.
  /// May be called from any host thread in any order: traffic that came early waits, so results do not depend on it.
  void commit(std::int64_t position, BlockTraffic& traffic);

  /// After all commits.
  CacheTraffic total() const;

  struct Body;

 private:
  std::unique_ptr<Body> body_;
};

}  // namespace tailor::simulator
