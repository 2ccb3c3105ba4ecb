// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What the fake's L2 holds: segments of memory with the bytes of each, the last used first, and how many of them were
// written and are not in DRAM yet. In: the segments that calls and kernels touch. Out: how many bytes of each were
// there, and how many had to be written back to make room: whoever wants the room pays. Used by timing.h. Where a
// segment begins and ends follows from the addresses that calls and kernels are given, so the buffers inside one
// allocation are told apart without looking at single accesses.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

namespace tailor::fake {

/// Memory that a kernel was given by a pointer.
struct Segment {
  std::uint64_t begin = 0;
  std::int64_t bytes = 0;
  bool written = false;  ///< the kernel writes there
};

class Cache {
 public:
  explicit Cache(std::int64_t capacity) : capacity_(capacity) {}

  /// A segment begins, or ends, here.
  void mark(std::uint64_t address) { marks_.insert(address); }
  /// From here to the next mark, at most to `end`.
  Segment segment(std::uint64_t address, std::uint64_t end) const;
  std::int64_t held(const Segment& segment) const;
  /// `bytes` of the segment were read, or written as it says; what was not used for longest makes room. Bytes that were
  /// written back for that, of this segment or others.
  std::int64_t touch(const Segment& segment, std::int64_t bytes);
  void forget(std::uint64_t begin, std::uint64_t end);

 private:
  struct Line {
    std::uint64_t begin = 0;
    std::int64_t bytes = 0, dirty = 0;
  };
  std::int64_t capacity_;
  std::vector<Line> lines_;
  std::set<std::uint64_t> marks_;
};

}  // namespace tailor::fake
