// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Lines of a region, and how an access falls into lines. In: 32 offsets and which lanes are active. Out: pieces, each
// within one line. Lanes in a row become a few whole pieces, with gaps where lanes are not active; so do the lanes of a
// step of a sorting network; anything else becomes one piece per lane. Lines are zero pages from the system until they
// are touched.
#include "profiler/simulator/shadow/shadow_cells.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "base/error.h"
#include "profiler/simulator/shadow/shadow_crowd.h"

namespace tailor::simulator {
namespace {

std::uint32_t low_bits(std::uint32_t count) { return count >= 32 ? ~0u : (1u << count) - 1; }

/// Bit i becomes `1 << shift` bits from i << shift on; of `bits` those that find room are looked at.
std::uint32_t widened(std::uint32_t bits, std::uint32_t shift) {
  for (std::uint32_t done = 0; done < shift; ++done) {  // each bit twice
    bits &= 0xffff;
    bits = (bits | bits << 8) & 0x00ff00ff;
    bits = (bits | bits << 4) & 0x0f0f0f0f;
    bits = (bits | bits << 2) & 0x33333333;
    bits = (bits | bits << 1) & 0x55555555;
    bits |= bits << 1;
  }
  return bits;
}

/// Every active lane is where its number leads from one place: its granules, counted from lane 0's, are
/// lane << shift and on. Pieces have gaps where lanes are not active.
int row_pieces(std::int64_t cell_of_lane0, std::uint32_t lanes, std::uint32_t shift, ShadowPiece* pieces) {
  const auto first_lane = static_cast<std::int64_t>(std::countr_zero(lanes));
  const auto last_lane = static_cast<std::int64_t>(31 - std::countl_zero(lanes));
  const std::int64_t end = (cell_of_lane0 + ((last_lane + 1) << shift) - 1) / 32;
  int count = 0;
  for (std::int64_t line = (cell_of_lane0 + (first_lane << shift)) / 32; line <= end; ++line) {
    const std::int64_t lane0 = (line * 32 - cell_of_lane0) >> shift;  // of the line's first cell; may be beyond 0 to 31
    const std::uint32_t here = lane0 >= 0 ? lanes >> lane0 : lanes << -lane0;
    const std::uint32_t cells = widened(here, shift);
    if (cells != 0)
      pieces[count++] = {static_cast<std::uint32_t>(line), cells, 0, static_cast<std::uint32_t>(lane0) & 31, shift};
  }
  return count;
}

/// Tables for loops over all lanes, which the compiler makes vectors of.
struct LaneTables {
  std::uint32_t bit[32];
  std::uint32_t deposited[6][32];  ///< the lane's granule in a step of a sorting network: a 0 at bit m of its number
};
constexpr LaneTables lane_tables = [] {
  LaneTables made{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    made.bit[lane] = 1u << lane;
    for (std::uint32_t m = 0; m <= 5; ++m) made.deposited[m][lane] = (lane & ((1u << m) - 1)) | lane >> m << (m + 1);
  }
  return made;
}();

std::uint32_t lane_mask(std::uint32_t lanes, std::uint32_t lane) {
  return (lanes & lane_tables.bit[lane]) != 0 ? ~0u : 0;
}

/// Offsets, less those of the lane's number, that do not differ among the active lanes.
bool in_a_row(const ShadowAccess& a, std::uint32_t first, std::uint32_t last) {
  const auto bytes = static_cast<std::uint32_t>(a.bytes);
  const std::uint32_t from = a.offset[first] - first * bytes;
  if (a.offset[last] != from + last * bytes) return false;
  std::uint32_t differ = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    differ |= (a.offset[lane] ^ (from + lane * bytes)) & lane_mask(a.lanes, lane);
  return differ == 0;
}

/// Lanes of a step of a sorting network: each one's granule is `base`, with the lane's bits laid around bit m.
struct PairedLanes {
  std::uint32_t m = 0, base = 0;
  bool turned() const { return (base & ((1u << m) - 1)) != 0; }
};

bool find_paired(const ShadowAccess& a, int granule_shift, std::uint32_t first, std::uint32_t last,
                 PairedLanes& found) {
  const std::uint32_t at = a.offset[first] >> granule_shift, end = a.offset[last] >> granule_shift;
  for (std::uint32_t m = 0; m <= 5; ++m) {
    const std::uint32_t* deposited = lane_tables.deposited[m];
    const std::uint32_t base = at ^ deposited[first], below = (1u << m) - 1;
    if (end != (base ^ deposited[last])) continue;
    if (m < 5 && (base & 63 & ~(below | 1u << m)) != 0) continue;  // does not begin where a line does
    if ((base & below) != 0 && (base & below) != below) continue;
    std::uint32_t differ = 0;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      differ |= (a.offset[lane] >> granule_shift ^ base ^ deposited[lane]) & lane_mask(a.lanes, lane);
    if (differ != 0) continue;
    found = {m, base};
    return true;
  }
  return false;
}

/// Each bit of `bits` that changes places with the one that differs in bit `at` of its number.
std::uint32_t swapped(std::uint32_t bits, std::uint32_t at) {
  constexpr std::uint32_t lower[5] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff, 0x0000ffff};
  return (bits & lower[at]) << (1u << at) | (bits >> (1u << at) & lower[at]);
}

/// Of 16 lanes, where they are in a line of 32 granules.
std::uint32_t deposited_bits(std::uint32_t lanes, std::uint32_t m) {
  constexpr std::uint32_t kept[4] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff};
  std::uint32_t bits = lanes & 0xffff;
  if (m == 4) return bits;
  for (int at = 3; at >= static_cast<int>(m); --at) bits = (bits | bits << (1u << at)) & kept[at];
  return bits;
}

int paired_pieces(const PairedLanes& lanes, std::uint32_t active, ShadowPiece* pieces) {
  const std::uint32_t m = lanes.m, line = lanes.base / 32;
  const std::uint32_t form = m | (lanes.turned() ? paired_turned : 0);
  const auto turn = [&](std::uint32_t cells) {
    for (std::uint32_t at = 0; at < m && lanes.turned(); ++at) cells = swapped(cells, at);
    return cells;
  };
  if (m == 5) {
    pieces[0] = {line, turn(active), 0, form, paired};
    return 1;
  }
  int count = 0;
  for (std::uint32_t half = 0; half < 2; ++half) {
    const std::uint32_t cells = turn(deposited_bits(active >> 16 * half, m)) << (lanes.base & 1u << m);
    if (cells != 0) pieces[count++] = {line + half, cells, 0, form | (half != 0 ? paired_upper : 0), paired};
  }
  return count;
}

}  // namespace

ShadowSideRecord::ShadowSideRecord() = default;
ShadowSideRecord::~ShadowSideRecord() = default;

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
    const std::size_t first = (word * 32) >> granule_shift_;
    if (bytes[word] == ~0u) {
      lines_[first / 32].initialised |= low_bits(32 >> granule_shift_) << first % 32;
      continue;
    }
    for (std::uint32_t at = 0; at < 32; at += each) {
      const std::uint32_t granule = low_bits(each) << at;
      if ((bytes[word] & granule) != granule) continue;
      const std::size_t cell = first + (at >> granule_shift_);
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
    bytes[word] = widened(cells & low_bits(32 >> granule_shift_), static_cast<std::uint32_t>(granule_shift_));
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
  if (a.offset == nullptr && a.step == 0) {
    const std::uint32_t cell = a.first >> granule_shift;
    pieces[0] = {cell / 32, low_bits(cells) << (cell % 32), ~0u, 0, all_of_warp};
    return 1;
  }
  if (a.offset == nullptr) return row_pieces(a.first >> granule_shift, ~0u, shift, pieces);
  const auto first = static_cast<std::uint32_t>(std::countr_zero(a.lanes));
  const auto last = static_cast<std::uint32_t>(31 - std::countl_zero(a.lanes));
  if (in_a_row(a, first, last)) {
    // Neighbours in one granule would count as neighbouring granules, past the region's end. One lane may: ends of
    // copies are told in pieces of their size.
    assert(std::has_single_bit(a.lanes) || a.bytes >= 1 << granule_shift);
    const std::int64_t cell = a.offset[first] >> granule_shift;
    return row_pieces(cell - (std::int64_t{first} << shift), a.lanes, shift, pieces);
  }
  if (PairedLanes lanes; shift == 0 && find_paired(a, granule_shift, first, last, lanes))
    return paired_pieces(lanes, a.lanes, pieces);
  int count = 0;
  std::uint32_t before = 0;
  for (std::uint32_t left = a.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint32_t offset = a.offset[lane];
    if (merge && count > 0 && offset == before) {
      ShadowPiece& piece = pieces[count - 1];
      piece.lanes |= (1u << piece.lane0) | (1u << lane);
      if (piece.lanes == ~0u) piece.shift = all_of_warp;
      continue;
    }
    before = offset;
    const std::uint32_t cell = offset >> granule_shift;
    pieces[count++] = {cell / 32, low_bits(cells) << (cell % 32), 0, lane, one_lane};
  }
  return count;
}

}  // namespace tailor::simulator
