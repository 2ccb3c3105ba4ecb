// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A list of segments, least recently used first out, by bytes. In: a segment
// that is touched. Out: whether it was there, and the list brought up to
// date.
#include "fake_gpu/cache.h"

#include <algorithm>

namespace tailor::fake {

Segment Cache::segment(std::uint64_t address, std::uint64_t end) const {
  const auto next = marks_.upper_bound(address);
  const std::uint64_t last = next == marks_.end() ? end : std::min(end, *next);
  return {address, static_cast<std::int64_t>(last - address), false};
}

std::int64_t Cache::held(const Segment& segment) const {
  for (const Line& line : lines_)
    if (line.begin == segment.begin) return std::min(line.bytes, segment.bytes);
  return 0;
}

std::int64_t Cache::touch(const Segment& segment, std::int64_t bytes) {
  if (bytes <= 0) return 0;
  const std::int64_t now = std::min(capacity_, std::max(held(segment), bytes));
  std::int64_t dirty = segment.written ? std::min(now, bytes) : 0, back = segment.written ? bytes - dirty : 0;
  for (const Line& line : lines_) {
    if (line.begin != segment.begin) continue;
    if (bytes > capacity_)  // what passes through pushes out what was there of the same memory
      back += line.dirty;
    else
      dirty = std::max(dirty, std::min(line.dirty, now));
  }
  std::erase_if(lines_, [&](const Line& line) { return line.begin == segment.begin; });
  lines_.insert(lines_.begin(), {segment.begin, now, dirty});
  std::int64_t room = capacity_;
  for (Line& line : lines_) {
    const std::int64_t kept = std::min(line.bytes, room), gone = std::min(line.dirty, line.bytes - kept);
    line.bytes = kept;
    line.dirty -= gone;
    back += gone;
    room -= kept;
  }
  std::erase_if(lines_, [](const Line& line) { return line.bytes == 0; });
  return back;
}

void Cache::forget(std::uint64_t begin, std::uint64_t end) {
  std::erase_if(lines_, [&](const Line& line) { return line.begin >= begin && line.begin < end; });
  marks_.erase(marks_.lower_bound(begin), marks_.lower_bound(end));
}

}  // namespace tailor::fake
