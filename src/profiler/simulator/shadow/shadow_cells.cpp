// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines of a region, and how an access falls into lines. In: 32 offsets and which lanes are active. Out: pieces, each
// within one line. A run of neighbouring lanes becomes a few whole pieces, anything else one piece per lane. Lines are
// zero pages from the system until they are touched.
#include "profiler/simulator/shadow/shadow_cells.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/error.h"

namespace tailor::simulator {
namespace {

std::uint32_t low_bits(std::uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

bool neighbours(const ShadowAccess& a, int first, int count) {
  const std::uint32_t from = a.offset[first] - static_cast<std::uint32_t>(first * a.bytes);
  const auto bytes = static_cast<std::uint32_t>(a.bytes);
  std::uint32_t differ = 0;
  if (count == 32) {  // a fixed count, for the vectoriser
    for (std::uint32_t lane = 0; lane < 32; ++lane) differ |= a.offset[lane] ^ (from + lane * bytes);
    return differ == 0;
  }
  for (int lane = first; lane < first + count; ++lane)
    differ |= a.offset[lane] ^ (from + static_cast<std::uint32_t>(lane) * bytes);
  return differ == 0;
}

int run_pieces(std::uint32_t first_cell, std::uint32_t cells, std::uint32_t first_lane, std::uint32_t shift,
               ShadowPiece* pieces) {
  int count = 0;
  const std::uint32_t end = first_cell + cells;
  for (std::uint32_t line = first_cell / 32; line * 32 < end; ++line) {
    const std::uint32_t from = std::max(first_cell, line * 32) - line * 32;
    const std::uint32_t to = std::min(end - line * 32, 32u);
    // The first cell belongs to first_lane; both it and the line begin where a lane begins.
    const std::uint32_t lane0 =
        static_cast<std::uint32_t>(static_cast<std::int32_t>(line * 32 - first_cell) >> shift) + first_lane;
    pieces[count++] = {line, low_bits(to) & ~low_bits(from), 0, lane0 & 31, shift};
  }
  return count;
}

}  // namespace

ShadowRegion::ShadowRegion(std::int64_t bytes, int granule, bool tracked, bool check_initialised)
    : bytes_(bytes),
      count_((bytes + granule * 32 - 1) / (granule * 32)),
      granule_shift_(std::countr_zero(static_cast<unsigned>(granule))),
      tracked_(tracked),
      check_initialised_(check_initialised) {
  assert(std::has_single_bit(static_cast<unsigned>(granule)));
  if (!tracked || bytes >= (std::int64_t{1} << 32)) {
    tracked_ = false;
    return;
  }
  static_assert(sizeof(ShadowLine) == 64);
  void* memory = std::calloc(static_cast<std::size_t>(count_ + 1), sizeof(ShadowLine));
  if (memory == nullptr)
    throw Error(Fault::failed, "no memory to watch " + std::to_string(bytes) + " bytes of simulated memory");
  memory_.reset(memory);
  std::size_t space = static_cast<std::size_t>(count_ + 1) * sizeof(ShadowLine);
  lines_ = static_cast<ShadowLine*>(
      std::align(sizeof(ShadowLine), static_cast<std::size_t>(count_) * sizeof(ShadowLine), memory, space));
}

ShadowSideRecord& ShadowRegion::side(ShadowLine& line) {
  if (line.side == nullptr) {
    const std::lock_guard lock(*sides_mutex_);
    line.side = &sides_.emplace_back();
  }
  return *line.side;
}

void ShadowRegion::mark_written(std::span<const std::uint32_t> bytes) {
  if (!tracked_) return;
  const std::uint32_t each = 1u << granule_shift_;
  for (std::size_t word = 0; word < bytes.size(); ++word) {
    if (bytes[word] == 0) continue;
    for (std::uint32_t at = 0; at < 32; at += each) {
      const std::uint32_t granule = low_bits(each) << at;
      if ((bytes[word] & granule) != granule) continue;
      const std::size_t cell = (word * 32 + at) >> granule_shift_;
      lines_[cell / 32].initialised |= 1u << cell % 32;
    }
  }
}

std::vector<std::uint32_t> ShadowRegion::written() const {
  std::vector<std::uint32_t> bytes(static_cast<std::size_t>((bytes_ + 31) / 32), tracked_ ? 0 : ~0u);
  if (!tracked_) return bytes;
  for (std::size_t word = 0; word < bytes.size(); ++word) {
    const std::size_t first = (word * 32) >> granule_shift_;  // its granules are in one line
    const std::uint32_t cells = lines_[first / 32].initialised >> first % 32;
    for (std::uint32_t at = 0; at < 32; ++at) bytes[word] |= (cells >> (at >> granule_shift_) & 1) << at;
  }
  return bytes;
}

void ShadowRegion::forget_contents() {
  for (std::int64_t i = 0; i < count_; ++i) lines_[i].initialised = lines_[i].pending = 0;
}

void ShadowRegion::forget_all() {
  std::memset(static_cast<void*>(lines_), 0, static_cast<std::size_t>(count_) * sizeof(ShadowLine));
  sides_.clear();
}

int split_access(const ShadowAccess& a, int granule_shift, bool merge, ShadowPiece* pieces) {
  if (a.lanes == 0) return 0;
  const auto shift =
      static_cast<std::uint32_t>(std::max(std::countr_zero(static_cast<unsigned>(a.bytes)) - granule_shift, 0));
  const std::uint32_t cells = 1u << shift;
  const int first = std::countr_zero(a.lanes);
  const int lanes = std::popcount(a.lanes);
  if (a.lanes >> first == low_bits(static_cast<std::uint32_t>(lanes)) && neighbours(a, first, lanes)) {
    // Neighbours in one granule would count as neighbouring granules, past the region's end. One lane may: ends of
    // copies are told in pieces of their size.
    assert(lanes == 1 || a.bytes >= 1 << granule_shift);
    return run_pieces(a.offset[first] >> granule_shift, cells * static_cast<std::uint32_t>(lanes),
                      static_cast<std::uint32_t>(first), shift, pieces);
  }
  int count = 0;
  std::uint32_t last = 0;
  for (std::uint32_t left = a.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint32_t offset = a.offset[lane];
    if (merge && count > 0 && offset == last) {
      ShadowPiece& piece = pieces[count - 1];
      piece.lanes |= (1u << piece.lane0) | (1u << lane);
      if (piece.lanes == ~0u) piece.shift = all_of_warp;
      continue;
    }
    last = offset;
    const std::uint32_t cell = offset >> granule_shift;
    pieces[count++] = {cell / 32, low_bits(cells) << (cell % 32), 0, lane, one_lane};
  }
  return count;
}

}  // namespace tailor::simulator
