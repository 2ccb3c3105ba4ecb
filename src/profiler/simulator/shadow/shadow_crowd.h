// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The accesses of one kind (loads, or strong stores) to a line of 32 granules that many warps came to and nothing
// orders: a sum that every block reads after a grid barrier, a counter that every warp adds to. In: entries as in the
// list of a side record. Out: those that a later access has to be compared with. Used by shadow_access.cpp alone, which
// keeps few accesses as a list and makes a crowd of it when there are more (ResidentShape::most_listed).
//
// Nothing is lost: the crowd knows of each lane which granules it touched last, when and where. What it saves is time.
// A table leads from a warp to that warp's entries, so taking one in costs the same whoever else is here. An access
// that finds all ordered leaves a note of what it knew, so that others who know the same need not look.
//
// Memory: 24 bytes an entry and up to 8 in the table for each warp. A warp has at most `most_ways` entries in which a
// lane tells all; beyond that they are folded to one bit matrix (lanes by granules, 128 bytes) for each clock and site
// whose touch is still the last of some lane, and a matrix whose granules were all touched by the same lanes is an
// entry again. So a warp takes 32 bytes of a line that it comes to in one way, and about 280 however often and in
// whatever alignment it comes; in the worst case 152 for each lane and granule, where each was touched at another clock
// or site and for good. Arrays that grow have up to as much again to spare. All is given back when a plain store has
// taken the line over, or a barrier of the block has ordered what was shared memory's.
#pragma once

#include <cstdint>
#include <vector>

#include "base/indexed.h"
#include "profiler/simulator/shadow/shadow_cells.h"
#include "profiler/simulator/shadow/shadow_clock.h"

namespace tailor::simulator {

class ShadowCrowd {
 public:
  /// The latest access of its threads. It takes the place of earlier ones of theirs that it may stand for.
  void add(const ShadowEntry& entry);
  /// Forgets who touched `cells`.
  void clear(std::uint32_t cells);
  /// Forgets words of which `dead` is true.
  template <class Dead>
  void forget(const Dead& dead) {
    cells_ = 0;
    for (Member& one : members_) {
      if (one.cells != 0 && dead(one.word)) drop(one);
      cells_ |= one.cells;
    }
  }
  std::uint32_t cells() const { return cells_; }  ///< nobody touched any other
  std::size_t size() const { return members_.size(); }
  std::size_t bytes() const;  ///< of memory
  /// All are strong, and not within their block alone: they race with no strong access of that kind.
  bool all_strong() const { return all_strong_; }

  /// Calls act(word, cells, lanes) for whoever touched `cells` and of whose word `settled` is not true: all of `lanes`
  /// touched all of these cells, or with lanes 0 as the word maps cells to lanes.
  template <class Settled, class Act>
  void visit(std::uint32_t cells, const Settled& settled, const Act& act) const {
    for (const Member& one : members_)
      if ((one.cells & cells) != 0 && !settled(one.word)) tell(one, cells, act);
  }
  /// The same, of one warp: that of `word`.
  template <class Act>
  void visit_warp(ShadowWord word, std::uint32_t cells, const Act& act) const {
    for (std::uint32_t at = first_of(word); at != none; at = members_[at].next)
      if ((members_[at].cells & cells) != 0) tell(members_[at], cells, act);
  }

  /// Who knows `knowledge` knows all that was done to `cells`. The note holds until somebody is added.
  void note_known(const Knowledge& knowledge, std::uint32_t cells) {
    known_to_ = knowledge;
    known_cells_ = cells;
  }
  bool is_known(const Knowledge& knowledge, std::uint32_t cells) const {
    return knowledge != nullptr && knowledge == known_to_ && (cells & ~known_cells_) == 0;
  }

 private:
  static constexpr std::uint32_t none = ~0u;
  static constexpr std::size_t most_ways = 6;  ///< as many entries take the place of a matrix
  using Matrix = IndexedArray<std::uint32_t, 32>;
  /// As ShadowEntry. Of a matrix `lanes` is its number; its rows are the lanes of each cell.
  struct Member {
    ShadowWord word = 0;
    std::uint32_t cells = 0, lanes = 0;
    std::uint32_t next = none;  ///< of the same warp
    bool is_matrix = false;
  };
  /// A member with the lanes of each of its cells, while those of a warp are folded.
  struct Spread {
    ShadowWord word = 0;
    std::uint32_t cells = 0;
    Matrix rows{};
  };

  template <class Act>
  void tell(const Member& one, std::uint32_t cells, const Act& act) const {
    if (!one.is_matrix) return act(one.word, one.cells & cells, one.lanes);
    for_cells(one.cells & cells,
              [&](int cell) { act(one.word, std::uint32_t{1} << cell, matrices_[one.lanes][cell]); });
  }
  std::size_t place_of(ShadowWord word) const;  ///< in the table: of the word's warp, or free
  std::uint32_t first_of(ShadowWord word) const { return table_.empty() ? none : table_[place_of(word)]; }
  void drop(Member& one);
  void append(std::uint32_t last, std::uint32_t unused, const Member& one);
  void grow();
  bool merge(Member& one, const ShadowEntry& entry);
  void fold(std::uint32_t first, const ShadowEntry& entry);
  static Spread spread_out(ShadowWord word, std::uint32_t cells, std::uint32_t lanes);
  Member folded(const Spread& from);

  IndexedVector<Member> members_;
  IndexedVector<Matrix> matrices_;
  std::vector<std::uint32_t> unused_matrices_;
  IndexedVector<std::uint32_t> table_;  ///< the first member of a warp; at most half full
  std::size_t warps_ = 0;
  std::uint32_t cells_ = 0, known_cells_ = 0;
  bool all_strong_ = true;
  Knowledge known_to_;
};

}  // namespace tailor::simulator
