// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who touched which granule last, packed. In: accesses split into pieces. Out: lines of 32 granules with a word per
// kind of access. Used by shadow_access.cpp alone. One word says which thread, when and where. Most lines are read or
// written by one warp instruction as a whole or by two that share it, so a line has room for two words as long as that
// is enough, and a side record with words per granule when it is not. What does not fit a word (several readers that
// are not ordered, atomics of several threads) is in the side record's list, or where there are many in its crowds
// (shadow_crowd.h).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/indexed.h"
#include "profiler/simulator/shadow/shadow.h"

namespace tailor::simulator {

/// block + 1 (18 bits) | clock (18) | warp (5) | lane of granule 0 (5) | shift (3) | strong (1) | of its block only (1)
/// | site (13). Granule i of the line is lane (lane0 + (i >> shift)) mod 32; shift 5 is one lane for all granules, 6
/// all lanes for each, 7 the lanes of a sorting network (paired_lane). 0: nobody.
using ShadowWord = std::uint64_t;
inline constexpr std::uint32_t one_lane = 5, all_of_warp = 6, paired = 7;

/// Lanes that each take one of a pair of granules whose numbers differ in bit m alone, or in bits 0 to m. The lane is
/// the granule's number without bit m. `form`: m in bits 0-2 (5: the granules are the line's 32), bit 3: the line is
/// the upper half of the warp's, bit 4: the bits below m are turned around.
inline constexpr std::uint32_t paired_upper = 8, paired_turned = 16;
inline std::uint32_t paired_lane(std::uint32_t form, std::uint32_t granule) {
  const std::uint32_t m = form & 7, below = (1u << m) - 1;
  const std::uint32_t cell = (form & paired_turned) != 0 ? granule ^ below : granule;
  return (form & paired_upper) << 1 | (cell & below) | cell >> (m + 1) << m;
}
inline std::uint32_t lane_at(std::uint32_t lane0, std::uint32_t shift, std::uint32_t granule) {
  return shift == paired ? paired_lane(lane0 & 31, granule) : (lane0 + (granule >> shift)) & 31;
}

inline constexpr int word_site_bits = 13, word_shift_at = 15, word_lane_at = 18, word_warp_at = 23;
inline constexpr int word_clock_at = 28, word_block_at = 46;
inline constexpr ShadowWord word_block_scope = ShadowWord{1} << word_site_bits;  ///< of a strong access
inline constexpr ShadowWord word_strong = word_block_scope << 1;
inline constexpr std::uint32_t most_clock = (1u << (word_block_at - word_clock_at)) - 1;
inline constexpr std::uint32_t most_blocks = (1u << (64 - word_block_at)) - 2;
inline constexpr ShadowWord expanded = ~ShadowWord{0};  ///< of a track: words are per granule
/// Bits that say who, apart from when and where.
inline constexpr ShadowWord word_who = ~(((ShadowWord{1} << (word_block_at - word_clock_at)) - 1) << word_clock_at) &
                                       ~((ShadowWord{1} << word_shift_at) - 1);

inline std::uint32_t word_block(ShadowWord w) { return static_cast<std::uint32_t>(w >> word_block_at); }
inline std::uint32_t word_clock(ShadowWord w) { return static_cast<std::uint32_t>(w >> word_clock_at) & most_clock; }
inline std::uint32_t word_warp(ShadowWord w) { return static_cast<std::uint32_t>(w >> word_warp_at) & 31; }
inline std::uint32_t word_site(ShadowWord w) { return static_cast<std::uint32_t>(w) & ((1u << word_site_bits) - 1); }
inline std::uint32_t word_shift(ShadowWord w) { return static_cast<std::uint32_t>(w >> word_shift_at) & 7; }
inline std::uint32_t word_lane(ShadowWord w, int granule) {
  return lane_at(static_cast<std::uint32_t>(w >> word_lane_at), word_shift(w), static_cast<std::uint32_t>(granule));
}

/// Calls act(cell) for each granule of `cells`.
template <class Act>
void for_cells(std::uint32_t cells, Act&& act) {
  for (; cells != 0; cells &= cells - 1) act(std::countr_zero(cells));
}

/// One further access of some granules of a line. `lanes` 0: as the word maps granules to lanes; else all of `lanes`
/// touched all of `cells`.
struct ShadowEntry {
  ShadowWord word = 0;
  std::uint32_t cells = 0, lanes = 0;
  bool write = false;
};

class ShadowCrowd;

struct ShadowSideRecord {
  ShadowSideRecord();
  ~ShadowSideRecord();
  bool has_others() const { return !list.empty() || readers != nullptr || writers != nullptr; }

  IndexedArray<ShadowWord, 32> write{}, read{};
  std::vector<ShadowEntry> list;
  std::unique_ptr<ShadowCrowd> readers, writers;  ///< instead of the list, where it would be long; null: nobody
  /// The latest strong write if it was an atomic that gave back what was there; 0: it was not, or nobody asked.
  IndexedArray<ShadowWord, 32> latest{};
  ShadowWord looked = 0;  ///< Judged::dead_span when it was last asked whether all words are of the past
};

/// The last accesses of one kind to a line: `low` for the granules of `low_cells`, `high` for those of `high_cells`,
/// nobody for the others; or, when low is `expanded`, the side record's words.
struct ShadowTrack {
  ShadowWord low, high;
  std::uint32_t low_cells, high_cells;
  bool empty() const { return low != expanded && (low_cells | high_cells) == 0; }
};
/// Makes `word` stand for `cells`; words of which `dead` is true may be forgotten. false: the track has no room and is
/// as it was.
template <class Dead>
inline bool assign(ShadowTrack& track, std::uint32_t cells, ShadowWord word, const Dead& dead) {
  if (cells == ~0u) {
    track = {word, 0, word == 0 ? 0 : ~0u, 0};
    return true;
  }
  if (track.low == expanded) return false;
  std::uint32_t low = track.low_cells & ~cells, high = track.high_cells & ~cells;
  if (word == 0) {
    // only taken away
  } else if (track.low == word) {
    low |= cells;
  } else if (track.high == word) {
    high |= cells;
  } else if (low == 0 || dead(track.low)) {
    track.low = word;
    low = cells;
  } else if (high == 0 || dead(track.high)) {
    track.high = word;
    high = cells;
  } else {
    return false;
  }
  track.low_cells = low;
  track.high_cells = high;
  return true;
}

struct ShadowLine {
  ShadowTrack write, read;
  std::uint32_t initialised, pending;  ///< a bit per granule
  ShadowSideRecord* side;
};

/// The lines of one region of memory: a buffer, or the shared memory of a resident block. Zero pages until touched.
class ShadowRegion {
 public:
  ShadowRegion(std::int64_t bytes, int granule, bool tracked, bool check_initialised);
  ShadowLine& line(std::uint32_t index) { return lines_[index]; }
  ShadowSideRecord& side(ShadowLine& line);
  bool tracked() const { return tracked_; }
  bool checks_initialised() const { return check_initialised_; }
  int granule_shift() const { return granule_shift_; }
  std::int64_t bytes() const { return bytes_; }
  void mark_written(std::span<const std::uint32_t> bytes);  ///< granules whose bytes are all set, a bit per byte
  std::vector<std::uint32_t> written() const;               ///< the same back; all if not tracked
  void forget_contents();                                   ///< nothing is initialised or pending
  void forget_all();

 private:
  std::int64_t bytes_ = 0, count_ = 0;
  int granule_shift_ = 0;
  bool tracked_ = true, check_initialised_ = true;
  std::unique_ptr<void, decltype(&std::free)> memory_{nullptr, &std::free};
  ShadowLine* lines_ = nullptr;  ///< into memory_, on a host cache line's begin
  std::deque<ShadowSideRecord> sides_;
  std::unique_ptr<std::mutex> sides_mutex_ = std::make_unique<std::mutex>();
};

/// The part of an access in one line: granules of `cells`, touched by the lanes that shift and lane0 map them to, or
/// all of them by all of `lanes`.
struct ShadowPiece {
  std::uint32_t line, cells, lanes, lane0, shift;  // not initialised: arrays of them are made for every access
};
inline constexpr int most_pieces = 40;

/// Splits an access; `granule_shift` as the region's. `merge`: lanes at one offset become one piece.
int split_access(const ShadowAccess& access, int granule_shift, bool merge, ShadowPiece* pieces);

inline std::uint32_t offset_of(const ShadowAccess& access, std::uint32_t lane) {
  return access.offset != nullptr ? access.offset[lane] : access.first + lane * access.step;
}

/// A word says all about the piece.
inline bool fits_word(const ShadowPiece& piece) { return piece.lanes == 0 || piece.shift == all_of_warp; }
inline std::uint32_t piece_lane(const ShadowPiece& piece, int granule) {
  return lane_at(piece.lane0, piece.shift, static_cast<std::uint32_t>(granule));
}
/// The lanes that touch `granule`.
inline std::uint32_t piece_lanes(const ShadowPiece& piece, int granule) {
  return piece.lanes != 0 ? piece.lanes : 1u << piece_lane(piece, granule);
}

}  // namespace tailor::simulator
