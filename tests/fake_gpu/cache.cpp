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

void Cache::touch(const Segment& segment, std::int64_t bytes) {
  if (bytes <= 0) return;
  const std::int64_t now = std::min(capacity_, std::max(held(segment), bytes));
  std::erase_if(lines_, [&](const Line& line) { return line.begin == segment.begin; });
  lines_.insert(lines_.begin(), {segment.begin, now});
  std::int64_t room = capacity_;
  for (Line& line : lines_) {
    line.bytes = std::min(line.bytes, room);
    room -= line.bytes;
  }
  std::erase_if(lines_, [](const Line& line) { return line.bytes == 0; });
}

void Cache::forget(std::uint64_t begin, std::uint64_t end) {
  std::erase_if(lines_, [&](const Line& line) { return line.begin >= begin && line.begin < end; });
  marks_.erase(marks_.lower_bound(begin), marks_.lower_bound(end));
}

}  // namespace tailor::fake
