// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Taking an access into a crowd (shadow_crowd.h). In: an entry of a warp. Out: that warp's entries brought up to date;
// those of other warps are not looked at. Called by shadow_access.cpp under the lock of the line.
//
// Entries of a warp are a chain of a few. A new one first takes the place of what the same lanes did before, then joins
// an entry of the same clock and site if there is one it fits. When the chain gets long it is folded: every entry is
// spread out to the lanes of each granule, a later one takes from the earlier ones what it may stand for, and what is
// left of one clock and site becomes one entry.
#include "profiler/simulator/shadow/shadow_crowd.h"

#include <algorithm>
#include <bit>

namespace tailor::simulator {
namespace {

constexpr ShadowWord lane_and_shift = ShadowWord{255} << word_shift_at;

bool same_time(ShadowWord a, ShadowWord b) { return ((a ^ b) & ~lane_and_shift) == 0; }

/// Of the same thread: whoever races with the earlier access races with the later one.
bool replaces(ShadowWord later, ShadowWord earlier) {
  if ((later & word_strong) == 0) return true;
  return (earlier & word_strong) != 0 && (earlier & word_block_scope) <= (later & word_block_scope);
}

std::size_t hashed(ShadowWord word) {
  const std::uint64_t warp = std::uint64_t{word_block(word)} << 5 | word_warp(word);
  return static_cast<std::size_t>((warp * 0x9e3779b97f4a7c15ull) >> 32);
}

bool same_warp(ShadowWord a, ShadowWord b) { return word_block(a) == word_block(b) && word_warp(a) == word_warp(b); }

}  // namespace

std::size_t ShadowCrowd::place_of(ShadowWord word) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hashed(word) & mask;
  while (table_[at] != none && !same_warp(members_[table_[at]].word, word)) at = (at + 1) & mask;
  return at;
}

/// The table is kept half empty, so that a search ends soon.
void ShadowCrowd::grow() {
  std::vector<std::uint32_t> firsts;
  for (const std::uint32_t first : table_)
    if (first != none) firsts.push_back(first);
  table_.assign(std::max<std::size_t>(table_.size() * 2, 64), none);
  for (const std::uint32_t first : firsts) table_[place_of(members_[first].word)] = first;
}

/// The member stays in its chain, for the next one of its warp.
void ShadowCrowd::drop(Member& one) {
  if (one.is_matrix) unused_matrices_.push_back(one.lanes);
  one.is_matrix = false;
  one.cells = 0;
}

std::size_t ShadowCrowd::bytes() const {
  return sizeof(*this) + members_.capacity() * sizeof(Member) + matrices_.capacity() * sizeof(Matrix) +
         (unused_matrices_.capacity() + table_.capacity()) * sizeof(std::uint32_t);
}

void ShadowCrowd::clear(std::uint32_t cells) {
  cells_ &= ~cells;
  for (Member& one : members_) {
    one.cells &= ~cells;
    if (one.cells == 0) drop(one);
  }
}

ShadowCrowd::Spread ShadowCrowd::spread_out(ShadowWord word, std::uint32_t cells, std::uint32_t lanes) {
  Spread made{word & ~lane_and_shift, cells, {}};
  for_cells(cells, [&](int cell) { made.rows[cell] = lanes != 0 ? lanes : 1u << word_lane(word, cell); });
  return made;
}

/// A matrix, unless all cells are of the same lanes.
ShadowCrowd::Member ShadowCrowd::folded(const Spread& from) {
  const std::uint32_t lanes = from.rows[std::countr_zero(from.cells)];
  bool alike = true;
  for_cells(from.cells, [&](int cell) { alike &= from.rows[cell] == lanes; });
  if (alike) return {from.word, from.cells, lanes, none, false};
  if (unused_matrices_.empty()) {
    unused_matrices_.push_back(static_cast<std::uint32_t>(matrices_.size()));
    matrices_.emplace_back();
  }
  const std::uint32_t number = unused_matrices_.back();
  unused_matrices_.pop_back();
  matrices_[number] = from.rows;
  return {from.word, from.cells, number, none, true};
}

/// Puts a member into a chain: where an `unused` one is, else behind the `last`.
void ShadowCrowd::append(std::uint32_t last, std::uint32_t unused, const Member& one) {
  if (unused != none) {
    const std::uint32_t next = members_[unused].next;
    members_[unused] = one;
    members_[unused].next = next;
    return;
  }
  const auto made = static_cast<std::uint32_t>(members_.size());
  members_.push_back(one);
  if (last != none) {
    members_[last].next = made;
    return;
  }
  if (++warps_ * 2 > table_.size()) grow();
  table_[place_of(one.word)] = made;
}

/// Joins an access of the same clock and site; false: it does not fit.
bool ShadowCrowd::merge(Member& one, const ShadowEntry& entry) {
  if (one.is_matrix) {
    const Spread more = spread_out(entry.word, entry.cells, entry.lanes);
    Matrix& rows = matrices_[one.lanes];
    for_cells(entry.cells, [&](int cell) {
      const std::uint32_t before = (one.cells >> cell & 1) != 0 ? rows[cell] : 0;
      rows[cell] = before | more.rows[cell];
    });
    one.cells |= entry.cells;
    const std::uint32_t lanes = rows[std::countr_zero(one.cells)];
    bool alike = true;
    for_cells(one.cells, [&](int cell) { alike &= rows[cell] == lanes; });
    if (alike) {
      const std::uint32_t cells = one.cells;
      drop(one);
      one.cells = cells;
      one.lanes = lanes;
    }
    return true;
  }
  if (one.word == entry.word && one.lanes == entry.lanes) {
    one.cells |= entry.cells;
    return true;
  }
  if (one.lanes == 0) return false;
  if (entry.lanes != 0 && one.cells == entry.cells) {
    one.lanes |= entry.lanes;
    return true;
  }
  return one.lanes == ~0u && (entry.cells & ~one.cells) == 0;  // all lanes have been there
}

void ShadowCrowd::add(const ShadowEntry& given) {
  ShadowEntry entry = given;
  if (entry.lanes == 0 && word_shift(entry.word) == one_lane) entry.lanes = 1u << word_lane(entry.word, 0);
  if (entry.lanes == 0 && word_shift(entry.word) == all_of_warp) entry.lanes = ~0u;
  if (entry.lanes != 0) entry.word &= ~lane_and_shift;
  cells_ |= entry.cells;
  all_strong_ = all_strong_ && (entry.word & (word_strong | word_block_scope)) == word_strong;
  known_to_ = nullptr;

  const std::uint32_t first = first_of(entry.word);
  std::uint32_t last = none, unused = none;
  std::size_t ways = 0;
  Spread rows;  // made when needed
  for (std::uint32_t at = first; at != none; at = members_[at].next) {
    Member& one = members_[at];
    last = at;
    if (!same_time(one.word, entry.word) && replaces(entry.word, one.word)) {
      if (one.is_matrix) {
        if (rows.cells == 0) rows = spread_out(entry.word, entry.cells, entry.lanes);
        for_cells(one.cells & entry.cells, [&](int cell) {
          if ((matrices_[one.lanes][cell] &= ~rows.rows[cell]) == 0) one.cells &= ~(1u << cell);
        });
      } else if (one.lanes != 0 ? (one.lanes & ~entry.lanes) == 0
                                : entry.lanes == 0 && ((one.word ^ entry.word) & lane_and_shift) == 0) {
        one.cells &= ~entry.cells;
      }
      if (one.cells == 0) drop(one);
    }
    if (one.cells == 0)
      unused = at;
    else
      ++ways;
  }
  for (std::uint32_t at = first; at != none; at = members_[at].next)
    if (members_[at].cells != 0 && same_time(members_[at].word, entry.word) && merge(members_[at], entry)) return;
  if (ways < most_ways) return append(last, unused, {entry.word, entry.cells, entry.lanes, none, false});
  fold(first, entry);
}

void ShadowCrowd::fold(std::uint32_t first, const ShadowEntry& entry) {
  std::vector<Spread> all;
  for (std::uint32_t at = first; at != none; at = members_[at].next) {
    Member& one = members_[at];
    if (one.cells == 0) continue;
    if (one.is_matrix)
      all.push_back({one.word, one.cells, matrices_[one.lanes]});
    else
      all.push_back(spread_out(one.word, one.cells, one.lanes));
    drop(one);
  }
  all.push_back(spread_out(entry.word, entry.cells, entry.lanes));
  std::ranges::stable_sort(all, {}, [](const Spread& one) { return word_clock(one.word); });
  for (std::size_t later = 1; later < all.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      Spread &one = all[earlier], &by = all[later];
      if (one.cells == 0 || by.cells == 0) continue;
      if (same_time(one.word, by.word)) {
        for_cells(one.cells & ~by.cells, [&](int cell) { by.rows[cell] = 0; });  // of a matrix: what was cleared
        for_cells(one.cells, [&](int cell) { by.rows[cell] |= one.rows[cell]; });
        by.cells |= one.cells;
        one.cells = 0;
      } else if (replaces(by.word, one.word)) {
        for_cells(one.cells & by.cells, [&](int cell) {
          if ((one.rows[cell] &= ~by.rows[cell]) == 0) one.cells &= ~(1u << cell);
        });
      }
    }
  std::uint32_t at = first, last = first;
  for (const Spread& one : all) {
    if (one.cells == 0) continue;
    for (; at != none && members_[at].cells != 0; at = members_[at].next) last = at;
    append(last, at, folded(one));
    if (at == none) last = static_cast<std::uint32_t>(members_.size()) - 1;
  }
}

}  // namespace tailor::simulator
