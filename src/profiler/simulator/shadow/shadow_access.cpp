// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging one access. In: a warp instruction that touches one region. Out: the line records brought up to date, and
// findings. Called by ResidentShadow::load, store and atomic.
//
// An access is split into pieces, one per line of 32 granules (shadow_cells.h). First every piece is checked against
// what was there before the instruction, then all are recorded, so that lanes of one instruction are compared only with
// one another's values. Checking asks: do the bytes hold a value; is everyone who touched them ordered before me. A
// piece is done at a glance when the line's word is my own, or of my block and known to all of it. Otherwise the words
// of the line are taken one by one, and where lanes differ, lane by lane.
//
// Recording keeps as little as possible: an old access is dropped when every later access that is ordered after the new
// one is ordered after the old one too. Strong accesses take the place of strong ones only. Regions that several
// resident sets touch are locked in stripes of lines, always in one order.
#include <algorithm>
#include <bit>
#include <cstring>

#include "profiler/simulator/shadow/shadow_crowd.h"
#include "profiler/simulator/shadow/shadow_resident.h"

namespace tailor::simulator {
namespace {

/// Regions that different resident sets touch are locked in stripes of lines, in one order.
class StripeLock {
 public:
  StripeLock(GlobalShadow::Body& launch, const Judged& judged) : launch_(launch) {
    if (!launch.concurrent || judged.access.space != ShadowSpace::global) return;
    for (int i = 0; i < judged.count; ++i) {
      const std::uint32_t line = judged.pieces[i].line / 64;
      const std::uint32_t at = (line + static_cast<std::uint32_t>(judged.access.region) * 37) %
                               static_cast<std::uint32_t>(GlobalShadow::Body::stripes);
      taken_[at / 64] |= std::uint64_t{1} << (at % 64);
    }
    each([](std::atomic<bool>& taken) {
      while (taken.exchange(true, std::memory_order_acquire))
        while (taken.load(std::memory_order_relaxed)) continue;
    });
  }
  ~StripeLock() {
    each([](std::atomic<bool>& taken) { taken.store(false, std::memory_order_release); });
  }
  StripeLock(const StripeLock&) = delete;
  StripeLock& operator=(const StripeLock&) = delete;

 private:
  template <class Act>
  void each(Act&& act) {
    for (std::size_t word = 0; word < taken_.size(); ++word)
      for (std::uint64_t left = taken_[word]; left != 0; left &= left - 1)
        act(launch_.stripe[word * 64 + static_cast<std::size_t>(std::countr_zero(left))].taken);
  }
  GlobalShadow::Body& launch_;
  std::array<std::uint64_t, 4> taken_{};
};

bool ordered_at_once(const Judged& j, ShadowWord word) { return word == 0 || word - j.before < j.span; }
bool dead(const Judged& j, ShadowWord word) { return word == 0 || word - j.before < j.dead_span; }
bool same_threads(ShadowWord word, ShadowWord piece_word) { return ((word ^ piece_word) & word_who) == 0; }
ShadowWord word_of(const Judged& j, const ShadowPiece& piece) {
  return j.me | ShadowWord{piece.lane0} << word_lane_at | ShadowWord{piece.shift} << word_shift_at;
}

/// A new access may stand for `word`: whoever is not ordered after the old one is not ordered after the new one.
bool stands_for(const Judged& j, ShadowWord word, ShadowWord mine) {
  if (dead(j, word)) return true;
  if (j.strong && (word & word_strong) == 0) return false;
  if (j.strong && (word & word_block_scope) > (j.me & word_block_scope)) return false;  // others race with it alone
  return ordered_at_once(j, word) || same_threads(word, mine);
}

void spread(ShadowTrack& track, IndexedArray<ShadowWord, 32>& cells) {
  if (track.low == expanded) return;
  for (std::size_t cell = 0; cell < cells.size(); ++cell)
    cells[cell] = (track.high_cells >> cell & 1) != 0 ? track.high : (track.low_cells >> cell & 1) != 0 ? track.low : 0;
  track = {expanded, 0, 0, 0};
}

/// Calls act(word, cells) for each run of granules with one word.
template <class Act>
void for_words(const ShadowTrack& track, const IndexedArray<ShadowWord, 32>* each, std::uint32_t cells, Act&& act) {
  if (track.low != expanded) {
    const std::uint32_t low = cells & track.low_cells, high = cells & track.high_cells;
    if (low != 0) act(track.low, low);
    if (high != 0) act(track.high, high);
    return;
  }
  while (cells != 0) {
    const ShadowWord word = (*each)[std::countr_zero(cells)];
    std::uint32_t same = 0;
    for (std::uint32_t left = cells; left != 0; left &= left - 1) {
      const int cell = std::countr_zero(left);
      if ((*each)[cell] != word) break;
      same |= 1u << cell;
    }
    if (word != 0) act(word, same);
    cells &= ~same;
  }
}

bool equals_memory(const Judged& j, std::uint32_t lane) {
  if (j.values == nullptr || j.values->memory == nullptr) return false;
  const ShadowValues& v = *j.values;
  const std::byte* there = v.memory + offset_of(j.access, lane);
  for (int at = 0; at < j.access.bytes; at += v.element_bytes)
    if (std::memcmp(there + at, v.elements[at / v.element_bytes] + lane * static_cast<std::uint32_t>(v.stride),
                    static_cast<std::size_t>(v.element_bytes)) != 0)
      return false;
  return true;
}

bool equal_values(const Judged& j, std::uint32_t a, std::uint32_t b) {
  if (j.values == nullptr) return false;
  const ShadowValues& v = *j.values;
  for (int e = 0; e * v.element_bytes < j.access.bytes; ++e)
    if (std::memcmp(v.elements[e] + a * static_cast<std::uint32_t>(v.stride),
                    v.elements[e] + b * static_cast<std::uint32_t>(v.stride),
                    static_cast<std::size_t>(v.element_bytes)) != 0)
      return false;
  return true;
}

/// A list that is full becomes crowds, so that its length costs nobody.
void make_crowds(ShadowSideRecord& side) {
  for (const ShadowEntry& entry : side.list) {
    std::unique_ptr<ShadowCrowd>& crowd = entry.write ? side.writers : side.readers;
    if (crowd == nullptr) crowd = std::make_unique<ShadowCrowd>();
    crowd->add(entry);
  }
  side.list.clear();
}

/// Keeps an access that no word of the line has room for; in the list in the entry of the same threads if there is one.
void add_entry(const Judged& j, ShadowSideRecord& side, ShadowWord mine, std::uint32_t cells, std::uint32_t lanes,
               bool write) {
  if (ShadowCrowd* crowd = (write ? side.writers : side.readers).get(); crowd != nullptr)
    return crowd->add({mine, cells, lanes, write});
  if (lanes == 0 && word_shift(mine) == one_lane) lanes = 1u << word_lane(mine, 0);
  const ShadowWord lane_bits = ShadowWord{31} << word_lane_at;
  for (std::size_t i = 0; i < side.list.size();) {
    ShadowEntry& entry = side.list[i];
    const bool replaced = entry.write == write && entry.lanes == lanes && ((entry.word ^ mine) & word_who) == 0 &&
                          stands_for(j, entry.word, mine);
    if (replaced) entry.cells &= ~cells;
    if (dead(j, entry.word)) entry.cells = 0;
    if (entry.cells == 0) {
      entry = side.list.back();
      side.list.pop_back();
      continue;
    }
    ++i;
  }
  for (ShadowEntry& entry : side.list) {
    if (entry.write != write) continue;
    if (entry.lanes == lanes && entry.word == mine) {
      entry.cells |= cells;
      return;
    }
    const bool same_but_lanes = lanes != 0 && entry.lanes != 0 && entry.cells == cells;
    if (same_but_lanes && ((entry.word ^ mine) & ~lane_bits) == 0) {
      entry.lanes |= lanes;
      return;
    }
  }
  side.list.push_back({mine, cells, lanes, write});
  if (side.list.size() > j.most_listed) make_crowds(side);
}

void mark_written(ShadowLine& line, const ShadowPiece& piece) {
  line.initialised |= piece.cells;
  line.pending &= ~piece.cells;
}

/// Lanes of one instruction may touch the same bytes: not when their pieces ascend.
bool may_overlap(const Judged& j) {
  for (int i = 1; i < j.count; ++i) {
    const ShadowPiece &before = j.pieces[i - 1], &piece = j.pieces[i];
    if (piece.line < before.line || (piece.line == before.line && piece.cells <= before.cells)) return true;
  }
  return false;
}

/// Block, warp and lane of a granule's word are those of `mine`.
bool same_thread(ShadowWord word, ShadowWord mine, int cell, std::uint32_t lane) {
  if (word_shift(word) == all_of_warp || word_shift(mine) == all_of_warp) return same_threads(word, mine);
  constexpr ShadowWord warp = word_who & ~(ShadowWord{255} << word_shift_at);
  return ((word ^ mine) & warp) == 0 && word_lane(word, cell) == lane;
}

/// Every word of `cells` is nobody's, ordered at once, or of the same threads as `mine`.
bool plainly_fine(const Judged& j, const ShadowTrack& track, const IndexedArray<ShadowWord, 32>* each,
                  const ShadowPiece& piece, ShadowWord mine) {
  const auto fine = [&](ShadowWord word) { return ordered_at_once(j, word) || same_threads(word, mine); };
  if (track.low != expanded) {
    const bool any_low = (piece.cells & track.low_cells) != 0, any_high = (piece.cells & track.high_cells) != 0;
    return (!any_low || fine(track.low)) && (!any_high || fine(track.high));
  }
  bool all = true;
  for (std::uint32_t left = piece.cells; left != 0; left &= left - 1) {
    const int cell = std::countr_zero(left);
    const ShadowWord word = (*each)[cell];
    all &= ordered_at_once(j, word) || same_thread(word, mine, cell, piece_lane(piece, cell));
  }
  return all;
}

/// Puts `word` on all granules of a piece.
void put(const Judged& j, ShadowLine& line, bool write, std::uint32_t cells, ShadowWord word) {
  ShadowTrack& track = write ? line.write : line.read;
  if (assign(track, cells, word, [&](ShadowWord old) { return dead(j, old); })) return;
  ShadowSideRecord& side = j.region.side(line);
  IndexedArray<ShadowWord, 32>& words = write ? side.write : side.read;
  spread(track, words);
  for_cells(cells, [&](int cell) { words[cell] = word; });
}

/// Words per granule that are all of the past are none, and others of the past are forgotten. Asked once between two
/// barriers.
void fold(const Judged& j, ShadowLine& line) {
  if (j.dead_span == line.side->looked) return;
  line.side->looked = j.dead_span;
  std::erase_if(line.side->list, [&](const ShadowEntry& entry) { return dead(j, entry.word); });
  for (std::unique_ptr<ShadowCrowd>* crowd : {&line.side->readers, &line.side->writers}) {
    if (*crowd == nullptr) continue;
    (*crowd)->forget([&](ShadowWord word) { return dead(j, word); });
    if ((*crowd)->cells() == 0) crowd->reset();
  }
  const auto fold_track = [&](ShadowTrack& track, const IndexedArray<ShadowWord, 32>& each) {
    if (track.low != expanded) return;
    bool live = false;
    for (const ShadowWord word : each) live |= !dead(j, word);
    if (!live) track = {0, 0, 0, 0};
  };
  fold_track(line.write, line.side->write);
  fold_track(line.read, line.side->read);
}

/// Judges and records a plain access to one line if that is as simple as it mostly is. false: nothing was done.
bool done_at_a_glance(const Judged& j, ShadowLine& line, const ShadowPiece& piece) {
  ShadowSideRecord* const side = line.side;
  if (j.strong || !fits_word(piece)) return false;
  if (side != nullptr) {
    fold(j, line);
    if (side->has_others()) return false;
  }
  const ShadowWord mine = word_of(j, piece);
  if (!plainly_fine(j, line.write, side == nullptr ? nullptr : &side->write, piece, mine)) return false;
  if (!plainly_fine(j, line.read, side == nullptr ? nullptr : &side->read, piece, mine)) return false;
  put(j, line, j.write, piece.cells, mine);
  if (j.write && !line.read.empty()) put(j, line, false, piece.cells, 0);
  return true;
}

/// Two accesses that may come in any order. Volatile ones of several lanes order no lanes of one warp. What is strong
/// within its block is not so towards others.
bool both_strong(const Judged& j, ShadowWord word) {
  if (!j.strong || (word & word_strong) == 0) return false;
  const bool same_block = word_block(word) == word_block(j.before);
  if (((word | j.me) & word_block_scope) != 0 && !same_block) return false;
  const bool same_warp = same_block && ((word ^ j.me) >> word_warp_at & 31) == 0;
  return !(j.access.in_lanes && same_warp);
}

}  // namespace

void ResidentShadow::Body::check_contents(Judged& j) {
  for (int i = 0; i < j.count; ++i) {
    const ShadowPiece& piece = j.pieces[i];
    ShadowLine& line = j.region.line(piece.line);
    const std::uint32_t wrong = piece.cells & (~line.initialised | line.pending);
    if (wrong == 0) continue;
    std::uint32_t told = 0;
    for_cells(wrong, [&](int cell) {
      for (std::uint32_t left = piece_lanes(piece, cell) & ~told; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
        told |= 1u << lane;
        ShadowFinding finding;
        finding.fault = (line.pending >> cell & 1) != 0 ? ShadowFault::pending : ShadowFault::uninitialised;
        finding.space = j.access.space;
        finding.region = j.access.space == ShadowSpace::global ? j.access.region : -1;
        finding.offset = (std::int64_t{piece.line} * 32 + cell) << j.region.granule_shift();
        finding.bytes = 1 << j.region.granule_shift();
        finding.here = {blocks[j.block].linear, j.access.warp % shape.warps_per_block, static_cast<int>(lane),
                        j.access.site, false};
        reported.emplace_back(lane, finding);
      }
    });
    j.faulty |= told;
  }
  add_reported();
}

/// A plain access whose thread knows of the latest atomic at the place, which has seen the strong write `word`.
bool ResidentShadow::Body::comes_after_atomics(const Judged& j, const ShadowPiece& piece, ShadowWord word, int cell,
                                               std::uint32_t lane) const {
  const ShadowSideRecord* side = j.region.line(piece.line).side;
  if (j.strong || (word & word_strong) == 0 || side == nullptr || side->latest[cell] == 0) return false;
  const ShadowWord latest = side->latest[cell];
  return knows(j.access.warp, lane, j.access.space, latest, word_lane(latest, cell));
}

void ResidentShadow::Body::check_word(Judged& j, const ShadowPiece& piece, ShadowWord word, std::uint32_t cells,
                                      std::uint32_t lanes, bool word_writes) {
  if (ordered_at_once(j, word) || both_strong(j, word)) return;
  if (piece.lanes == 0 && lanes == 0 && same_threads(word, word_of(j, piece))) return;
  if (knows_warp(j.access.warp, j.access.space, word)) return;
  for_cells(cells, [&](int cell) {
    const std::uint32_t of_word = word_shift(word) == all_of_warp ? ~0u : 1u << word_lane(word, cell);
    const std::uint32_t others = lanes != 0 ? lanes : of_word;
    for (std::uint32_t mine = piece_lanes(piece, cell); mine != 0; mine &= mine - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(mine));
      for (std::uint32_t left = others; left != 0; left &= left - 1) {
        const auto other = static_cast<std::uint32_t>(std::countr_zero(left));
        if (knows(j.access.warp, lane, j.access.space, word, other)) continue;
        const bool harmless = j.write && !j.strong && word_writes && (word & word_strong) == 0;
        if (word_writes && comes_after_atomics(j, piece, word, cell, lane)) break;
        if (!harmless || !equals_memory(j, lane)) report_race(j, piece, cell, lane, word, other, word_writes);
        break;
      }
    }
  });
}

/// Whatever orders the store before this load: the path it takes does not look for stores.
void ResidentShadow::Body::check_constant(Judged& j) {
  for (int i = 0; i < j.count; ++i) {
    const ShadowPiece& piece = j.pieces[i];
    const ShadowLine& line = j.region.line(piece.line);
    const auto stale = [&](ShadowWord word, std::uint32_t cells, std::uint32_t lanes) {
      for_cells(cells, [&](int cell) {
        const auto other = lanes != 0 ? static_cast<std::uint32_t>(std::countr_zero(lanes)) : word_lane(word, cell);
        for (std::uint32_t left = piece_lanes(piece, cell); left != 0; left &= left - 1)
          report_race(j, piece, cell, static_cast<std::uint32_t>(std::countr_zero(left)), word, other, true,
                      ShadowFault::stale);
      });
    };
    for_words(line.write, line.side == nullptr ? nullptr : &line.side->write, piece.cells,
              [&](ShadowWord word, std::uint32_t cells) { stale(word, cells, 0); });
    if (line.side == nullptr) continue;
    for (const ShadowEntry& entry : line.side->list)
      if (entry.write) stale(entry.word, entry.cells & piece.cells, entry.lanes);
    if (line.side->writers == nullptr) continue;
    line.side->writers->visit(
        piece.cells, [](ShadowWord) { return false; }, stale);
  }
  add_reported();
}

void ResidentShadow::Body::check_order(Judged& j, const ShadowPiece& piece) {
  const ShadowLine& line = j.region.line(piece.line);
  const ShadowSideRecord* side = line.side;
  const auto each = [&](const ShadowTrack& track, const IndexedArray<ShadowWord, 32>* cells, bool writes) {
    for_words(track, cells, piece.cells,
              [&](ShadowWord word, std::uint32_t at) { check_word(j, piece, word, at, 0, writes); });
  };
  each(line.write, side == nullptr ? nullptr : &side->write, true);
  if (j.write) each(line.read, side == nullptr ? nullptr : &side->read, false);
  if (side == nullptr) return;
  for (const ShadowEntry& entry : side->list)
    if ((entry.write || j.write) && (entry.cells & piece.cells) != 0)
      check_word(j, piece, entry.word, entry.cells & piece.cells, entry.lanes, entry.write);
  if (side->writers != nullptr) check_crowd(j, piece, *side->writers, true);
  if (j.write && side->readers != nullptr) check_crowd(j, piece, *side->readers, false);
}

/// Who comes later knows mostly all that a crowd did, by one barrier of the grid; then all who know the same need not
/// look again.
void ResidentShadow::Body::check_crowd(Judged& j, const ShadowPiece& piece, ShadowCrowd& crowd, bool writes) {
  if ((crowd.cells() & piece.cells) == 0) return;
  const auto check = [&](ShadowWord word, std::uint32_t cells, std::uint32_t lanes) {
    check_word(j, piece, word, cells, lanes, writes);
  };
  if (j.strong && crowd.all_strong() && (j.me & word_block_scope) == 0) {
    if (j.access.in_lanes) crowd.visit_warp(j.me, piece.cells, check);  // not strong towards its own warp
    return;
  }
  const Knowledge& knowledge = warps[j.access.warp].more;
  if (crowd.is_known(knowledge, piece.cells)) return;
  if (shape.patience != nullptr) *shape.patience -= static_cast<std::int64_t>(crowd.size());
  if (j.access.space == ShadowSpace::shared || knowledge == nullptr)
    return crowd.visit(
        piece.cells, [&](ShadowWord word) { return ordered_at_once(j, word); }, check);
  bool all = true;
  crowd.visit(
      piece.cells,
      [&](ShadowWord word) {
        const bool known = knowledge->knows(word_block(word), {word_warp(word), ~0u, word_clock(word)});
        all &= known;
        return known;
      },
      check);
  if (all) crowd.note_known(knowledge, piece.cells);
}

void ResidentShadow::Body::check_overlaps(Judged& j) {
  for (int b = 1; b < j.count; ++b) {
    const ShadowPiece& piece = j.pieces[b];
    for (int a = b - 1; a >= 0; --a) {
      const std::uint32_t other = j.pieces[a].lane0;
      if (offset_of(j.access, other) != offset_of(j.access, piece.lane0)) continue;
      if (!equal_values(j, other, piece.lane0))
        report_race(j, piece, std::countr_zero(piece.cells), piece.lane0, 0, other, true);
      break;
    }
  }
}

/// Puts the access on the granules whose words it may stand for; returns the others.
std::uint32_t ResidentShadow::Body::put_where_it_stands(Judged& j, const ShadowPiece& piece, bool write) {
  ShadowLine& line = j.region.line(piece.line);
  const ShadowWord mine = word_of(j, piece);
  ShadowTrack& track = write ? line.write : line.read;
  if (track.low != expanded) {
    std::uint32_t kept = 0;
    for_words(track, nullptr, piece.cells, [&](ShadowWord word, std::uint32_t cells) {
      if (!stands_for(j, word, mine)) kept |= cells;
    });
    if (kept == 0 && assign(track, piece.cells, mine, [&](ShadowWord old) { return dead(j, old); })) return 0;
    const bool whole = ((track.low ^ mine) & word_who) >> word_warp_at != 0 && (piece.cells & ~track.low_cells) == 0;
    if (kept == piece.cells && whole) return kept;  // another warp's: nothing here is of the same threads
  }
  ShadowSideRecord& side = j.region.side(line);
  IndexedArray<ShadowWord, 32>& words = write ? side.write : side.read;
  spread(track, words);
  std::uint32_t rest = 0;
  for_cells(piece.cells, [&](int cell) {
    ShadowWord& word = words[cell];
    const bool same = same_thread(word, mine, cell, piece_lane(piece, cell));
    if (stands_for(j, word, same ? word : mine))
      word = mine;
    else
      rest |= 1u << cell;
  });
  return rest;
}

void ResidentShadow::Body::record_read(Judged& j, const ShadowPiece& piece) {
  const std::uint32_t rest = !fits_word(piece) ? piece.cells : put_where_it_stands(j, piece, false);
  if (rest == 0) return;
  ShadowSideRecord& side = j.region.side(j.region.line(piece.line));
  add_entry(j, side, word_of(j, piece), rest, piece.lanes, false);
}

void ResidentShadow::Body::record_write(Judged& j, const ShadowPiece& piece) {
  ShadowLine& line = j.region.line(piece.line);
  mark_written(line, piece);
  if (j.strong) {  // what was read stays: a strong store does not stand for plain loads
    const std::uint32_t rest = put_where_it_stands(j, piece, true);
    if (rest != 0) add_entry(j, j.region.side(line), word_of(j, piece), rest, 0, true);
    if (line.side != nullptr)
      for_cells(piece.cells, [&](int cell) { line.side->latest[cell] = j.access.observed ? word_of(j, piece) : 0; });
    return;
  }
  put(j, line, true, piece.cells, word_of(j, piece));
  if (!line.read.empty()) put(j, line, false, piece.cells, 0);
  if (line.side == nullptr) return;
  for (ShadowEntry& entry : line.side->list) entry.cells &= ~piece.cells;
  std::erase_if(line.side->list, [](const ShadowEntry& entry) { return entry.cells == 0; });
  for (std::unique_ptr<ShadowCrowd>* crowd : {&line.side->readers, &line.side->writers}) {
    if (*crowd == nullptr || ((*crowd)->cells() & piece.cells) == 0) continue;
    (*crowd)->clear(piece.cells);
    if ((*crowd)->cells() == 0) crowd->reset();
  }
}

void ResidentShadow::Body::add(const ShadowFinding& finding) {
  const auto [at, fresh] = found.try_emplace(finding_key(finding), findings.size());
  if (fresh)
    findings.push_back(finding);
  else
    findings[at->second].times += finding.times;
}

void ResidentShadow::Body::add_reported() {
  if (reported.empty()) return;
  std::ranges::stable_sort(reported, {}, [](const auto& one) { return one.first; });
  for (const auto& [lane, finding] : reported) add(finding);
  reported.clear();
}

void ResidentShadow::Body::report_race(Judged& j, const ShadowPiece& piece, int cell, std::uint32_t lane,
                                       ShadowWord word, std::uint32_t other_lane, bool word_writes, ShadowFault fault) {
  if ((j.faulty >> lane & 1) != 0) return;
  j.faulty |= 1u << lane;
  ShadowFinding finding;
  finding.fault = fault;
  finding.space = j.access.space;
  finding.region = j.access.space == ShadowSpace::global ? j.access.region : -1;
  finding.offset = (std::int64_t{piece.line} * 32 + cell) << j.region.granule_shift();
  finding.bytes = 1 << j.region.granule_shift();
  finding.here = {blocks[j.block].linear, j.access.warp % shape.warps_per_block, static_cast<int>(lane), j.access.site,
                  j.write};
  finding.same_instruction = word == 0;
  if (word == 0) {
    finding.other = finding.here;
    finding.other.lane = static_cast<int>(other_lane);
    reported.emplace_back(lane, finding);
    return;
  }
  const std::uint32_t site = word_site(word);
  finding.other = {-1, static_cast<int>(word_warp(word)), static_cast<int>(other_lane),
                   site > last_remembered_site ? no_site : site, word_writes};
  const std::uint32_t id = word_block(word);
  const auto resident = std::ranges::find(blocks, id, &BlockShadow::id);
  if (j.access.space == ShadowSpace::shared) {
    finding.other.block = blocks[id - 1].linear;
  } else if (resident != blocks.end()) {
    finding.other.block = resident->linear;
  } else {
    finding.other.block = std::int64_t{id} - 1;
    global.raced.store(true, std::memory_order_relaxed);
    if (finding.other.block > finding.here.block && fault == ShadowFault::race) std::swap(finding.here, finding.other);
  }
  reported.emplace_back(lane, finding);
}

bool ResidentShadow::Body::run(const ShadowAccess& access, bool read, bool write, const ShadowValues* values) {
  if (access.space == ShadowSpace::local) return run_local(access, write);
  ShadowRegion& region = access.space == ShadowSpace::shared ? shared[access.region]
                                                             : global.buffers[static_cast<std::size_t>(access.region)];
  if (!region.tracked()) return true;
  Judged j(access, values, write, region);
  j.strong = access.strong || (read && write);
  j.block = access.warp / shape.warps_per_block;
  j.most_listed = static_cast<std::size_t>(shape.most_listed);
  const BlockShadow& block = blocks[j.block];
  const bool is_shared = access.space == ShadowSpace::shared;
  const ShadowWord id = is_shared ? static_cast<ShadowWord>(j.block) + 1 : block.id;
  const WarpShadow& warp = warps[access.warp];
  j.before = id << word_block_at;
  j.span = (ShadowWord{block.floor} + 1) << word_clock_at;
  j.dead_span = is_shared && shape.cluster_blocks == 1 ? j.span : 0;
  j.me = j.before | ShadowWord{warp.clock} << word_clock_at |
         static_cast<ShadowWord>(access.warp % shape.warps_per_block) << word_warp_at |
         (j.strong ? word_strong : ShadowWord{0}) |
         (j.strong && access.block_scope && !is_shared ? word_block_scope : ShadowWord{0}) |
         std::min(access.site, last_remembered_site + 1);
  j.count = split_access(access, region.granule_shift(), !write, j.pieces.data());

  const StripeLock lock(global, j);
  if (read && region.checks_initialised()) check_contents(j);
  if (access.constant) check_constant(j);
  if (write && may_overlap(j)) {
    for (int i = 0; i < j.count; ++i) check_order(j, j.pieces[i]);
    if (!j.strong) check_overlaps(j);
    for (int i = 0; i < j.count; ++i) record_write(j, j.pieces[i]);
    add_reported();
    return j.faulty == 0;
  }
  for (int i = 0; i < j.count; ++i) {
    const ShadowPiece& piece = j.pieces[i];
    ShadowLine& line = region.line(piece.line);
    if (done_at_a_glance(j, line, piece)) {
      if (write) mark_written(line, piece);
      continue;
    }
    check_order(j, piece);
    write ? record_write(j, piece) : record_read(j, piece);
  }
  add_reported();
  return j.faulty == 0;
}

bool ResidentShadow::Body::run_local(const ShadowAccess& access, bool write) {
  IndexedVector<std::uint32_t>& bits = local[access.region];
  std::uint32_t faulty = 0;
  const std::uint32_t mask = access.bytes >= 32 ? ~0u : (1u << access.bytes) - 1;
  for (std::uint32_t left = access.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::uint32_t offset = offset_of(access, lane), at = offset % 32;
    std::uint32_t& word = bits[offset / 32];
    if (write) word |= mask << at;
    const std::uint32_t missing = (mask << at) & ~word;
    if (missing == 0) continue;
    faulty |= 1u << lane;
    ShadowFinding finding;
    finding.fault = ShadowFault::uninitialised;
    finding.space = ShadowSpace::local;
    finding.offset = offset - at + static_cast<std::uint32_t>(std::countr_zero(missing));
    finding.bytes = 1;
    finding.here = {blocks[access.warp / shape.warps_per_block].linear, access.warp % shape.warps_per_block,
                    static_cast<int>(lane), access.site, false};
    add(finding);
  }
  return faulty == 0;
}

}  // namespace tailor::simulator
