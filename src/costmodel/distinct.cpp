// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Distinct bytes and sectors per buffer without walking addresses. In: a kernel with its counts. Out: what memory must
// move at least, and what one block reads. Called by count(). The elements one index reaches lie on a lattice: from its
// least value on, at multiples of the common factor of its coefficients; they are at most the product of the extents of
// its variables. Several indices of a buffer reach at most the sum, and at most the lattice that holds them all. Exact
// for whole tensors, broadcasts and slices, which is what lowering makes; an upper bound where two different indices of
// a buffer overlap in part. Under a guard an index reaches no more elements than there are active lanes.
//
// Memory moves sectors of 32 bytes. An index is a sum of progressions, one for each term of it. Taken by rising step,
// those whose step is no longer than the run of elements so far, or than a sector, make the run longer; each other one
// repeats it. How often a run begins at each of the 32 places in a sector follows from its repetitions, and from that
// how many sectors the runs touch. Never more than the sectors between the first and the last element, nor than all
// requests together move. One block is the same with the block's variables held: a quotient or a remainder that a block
// variable moves takes as many values as the rest of its dividend gives it, and where both stand in one index, as rows
// and places in them do, as many as the dividend has together: a block seldom has whole rows. Loads of one buffer whose
// indices differ by a constant are taken by rising constant: as long as what the first one's index reaches and the
// distance to the next one are fewer sectors more than that one's own, they are taken together (the taps of a row of a
// stencil), else the next one begins anew (those of the next row, where a block has less than a row); and never more
// than all that lies from the first to the last.
//
// Bounds of a form (lane_affine.h) over a domain, for fast counting before it cuts the domain for a guard: most parts
// of an array lie inside of all its edges, and what is known to hold everywhere need not be cut where quotients break.
// Plain interval arithmetic: a sum adds the bounds of its parts, a quotient divides them, a remainder has those of its
// dividend as long as that crosses no multiple of the divisor, else all from 0 up to it. All lanes of a warp count,
// whether a guard lets them in or not, which widens the bounds and harms nothing else: dividends of active lanes are
// never negative, and for the others rounding down is as good as any.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "costmodel/lane_affine.h"
#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

/// Values first, first + step, ..., of which an index is a sum.
struct Steps {  // no initialisers: there is room for many, of which few are filled
  std::int64_t step, count;
  bool scattered;  ///< those that data picks: anywhere in their range
};

/// Values that neighbours in one warp have of a thread variable, at most.
std::int64_t values_in_warp(const ir::Var& var) {
  const std::int64_t round = var.divisor * var.extent;
  if (var.divisor % warp_lanes == 0) return 1;
  return warp_lanes % var.divisor == 0 && round % warp_lanes == 0 ? warp_lanes / var.divisor : var.extent;
}

/// How many values a term takes while variables of `held` do not move; at most.
std::int64_t values_of(const ir::IndexPool& pool, const ir::Term& term, ir::VarSet held, bool in_warp = false) {
  if (term.vars.without(held).empty()) return 1;
  std::int64_t all = term.range.high - term.range.low + 1;
  if (term.kind == ir::TermKind::var && in_warp && pool.vars[term.var].kind == ir::VarKind::thread)
    return std::min(all, values_in_warp(pool.vars[term.var]));
  if (term.kind == ir::TermKind::picked) {
    all = std::min(term.divisor, pool[term.b].constant);
    std::int64_t places = 1;  // that are read while those variables do not move
    for (ir::VarSet rest = pool[term.a].vars.without(held); !rest.empty() && places < all; rest.drop_first())
      places *= pool.vars[rest.first()].extent;
    return std::min(all, places);
  }
  if (!term.vars.overlaps(held) && !in_warp) return all;
  if (term.kind == ir::TermKind::div)
    return std::min(all, (span_of(pool, term.a, held, in_warp) + term.divisor - 1) / term.divisor + 1);
  if (term.kind != ir::TermKind::mod) return all;
  const std::int64_t span = span_of(pool, term.a, held, in_warp);
  return in_warp && span > 0 ? all : std::min(all, span + 1);  // neighbours may lie on either side of a multiple
}

}  // namespace

std::int64_t span_of(const ir::IndexPool& pool, ir::ExprId id, ir::VarSet held, bool in_warp) {
  std::int64_t span = 0;
  for (const ir::Linear& part : pool.linear(id))
    span += std::abs(part.coefficient) * (values_of(pool, pool.terms[part.term], held, in_warp) - 1);
  return span;
}

namespace {

std::int64_t sectors_between(std::int64_t low, std::int64_t high) {
  return floor_div(high, sector_bytes) - floor_div(low, sector_bytes) + 1;
}

/// Where in a sector runs begin when each is repeated `values` times, `step` bytes apart.
void spread_out(std::array<std::int64_t, sector_bytes>& starts, std::int64_t step, std::int64_t values) {
  const std::int64_t period = sector_bytes / std::gcd(step, sector_bytes);
  std::array<std::int64_t, sector_bytes> spread{};
  for (std::int64_t at = 0; at < sector_bytes; ++at) {
    const std::int64_t times = starts[static_cast<std::size_t>(at)];
    if (times == 0) continue;
    for (std::int64_t turn = 0; turn < std::min(period, values); ++turn)
      spread[static_cast<std::size_t>((at + turn * step) % sector_bytes)] +=
          times * (values / period + (turn < values % period ? 1 : 0));
  }
  starts = spread;
}

/// Sectors of `runs` runs of `run` bytes that data scatters by `steps`, at most. Where those keep the place in a sector
/// it is `offset`, else a run may begin at any place where elements of `bytes` lie.
std::int64_t scattered_sectors(std::span<const Steps> steps, std::int64_t runs, std::int64_t run, std::int64_t offset,
                               std::int64_t bytes) {
  bool stays = true;
  for (const Steps& one : steps) {
    runs *= one.count;
    stays = stays && one.step * bytes % sector_bytes == 0;
  }
  return runs * sectors_between(0, (stays ? offset : sector_bytes - std::min(bytes, sector_bytes)) + run - 1);
}

/// Whether few of all blocks go from one value of a quotient to the next.
bool rarely_moves(const ir::IndexPool& pool, const ir::Term& term, ir::VarSet held) {
  constexpr std::int64_t few = 8;  // one in so many
  return term.kind == ir::TermKind::div && term.vars.overlaps(held) && span_of(pool, term.a, held) < term.divisor / few;
}

/// The quotient that moves a term while variables of `held` do not: itself, or the one part of its dividend that moves;
/// nullptr: none, or others do.
const ir::Term* moving_quotient(const ir::IndexPool& pool, const ir::Term& term, ir::VarSet held) {
  if (term.kind == ir::TermKind::div) return &term;
  if (term.kind != ir::TermKind::mod) return nullptr;
  const ir::Term* found = nullptr;
  for (const ir::Linear& part : pool.linear(term.a)) {
    const ir::Term& one = pool.terms[part.term];
    if (one.vars.without(held).empty()) continue;
    if (found != nullptr || part.coefficient != 1 || one.kind != ir::TermKind::div) return nullptr;
    found = &one;
  }
  return found;
}

/// A quotient and the remainder beside it, x / d rows of `row` elements and x % d of them: with nearly all of each row
/// asked for, as far as x goes. How many elements lie from the first to the last; 0: no such pair.
std::int64_t along_rows(const ir::IndexPool& pool, const ir::Linear& row, const ir::Linear& rest, ir::VarSet held) {
  const ir::Term& remainder = pool.terms[rest.term];
  if (row.term == rest.term || remainder.kind != ir::TermKind::mod || rest.coefficient <= 0) return 0;
  const ir::Term* found = moving_quotient(pool, pool.terms[row.term], held);
  if (found == nullptr || found->a != remainder.a || found->divisor != remainder.divisor) return 0;
  if (!remainder.vars.overlaps(held)) return 0;  // all rows, each as a whole: the product of both
  const ir::Term& quotient = *found;
  constexpr std::int64_t most_left_out = 8;  // one in so many
  const std::int64_t used = rest.coefficient * quotient.divisor, left_out = row.coefficient - used;
  if (left_out < 0 || left_out > used / most_left_out) return 0;
  const std::int64_t span = span_of(pool, quotient.a, held);
  return span + (span / quotient.divisor + 1) * left_out / rest.coefficient + 1;
}

/// How many values a part of an index takes, at most. Of rows and the places in them the places have those of both.
std::int64_t values_of_part(const ir::IndexPool& pool, ir::ExprId index, const ir::Linear& part, ir::VarSet held) {
  const ir::Term& term = pool.terms[part.term];
  std::int64_t of_rows = 0;
  if (term.kind == ir::TermKind::div || term.kind == ir::TermKind::mod)
    for (const ir::Linear& other : pool.linear(index)) {
      if (along_rows(pool, part, other, held) > 0) return 1;
      of_rows = std::max(of_rows, along_rows(pool, other, part, held));
    }
  if (of_rows > 0) return of_rows;
  return rarely_moves(pool, term, held) ? 1 : values_of(pool, term, held);
}

/// How an index moves while variables of `held` do not: the steps of its parts in elements, the shortest first and
/// those that data picks last. Indices that differ by a constant move alike.
struct Moves {
  std::array<Steps, 2 * ir::max_vars> steps;
  std::size_t count = 0;
  std::int64_t span = 0;  ///< from the least to the greatest, where there is no room for more steps; else 0
};

void find_moves(const ir::IndexPool& pool, ir::ExprId id, ir::VarSet held, Moves& moves) {
  moves.count = 0;
  moves.span = 0;
  for (const ir::Linear& part : pool.linear(id)) {
    const std::int64_t values = values_of_part(pool, id, part, held);
    if (values <= 1 || part.coefficient == 0) continue;
    if (moves.count == moves.steps.size()) {
      moves.span = span_of(pool, id, held);
      return;
    }
    const bool picked = pool.terms[part.term].kind == ir::TermKind::picked;
    moves.steps[moves.count++] = {std::abs(part.coefficient), values, picked};
  }
  std::sort(moves.steps.begin(), moves.steps.begin() + moves.count, [](const Steps& a, const Steps& b) {
    return std::pair(a.scattered, a.step) < std::pair(b.scattered, b.step);
  });
}

/// Sectors that an access of `width` elements of `bytes` each reaches, at most; its least index is `low`.
std::int64_t sectors_reached(const Moves& moves, std::int64_t low, std::int64_t width, std::int64_t bytes) {
  if (moves.span > 0) return moves.span * bytes / sector_bytes + 2;
  const std::int64_t offset = (low * bytes % sector_bytes + sector_bytes) % sector_bytes;
  std::int64_t run = width * bytes, runs = 1, span = run;
  std::array<std::int64_t, sector_bytes> starts{};  // of the runs, by their place in a sector
  starts[static_cast<std::size_t>(offset)] = 1;
  bool spread = false;
  for (std::size_t i = 0; i < moves.count; ++i) {
    const auto [elements, values, scattered] = moves.steps[i];
    const std::int64_t step = elements * bytes;
    if (scattered)
      return scattered_sectors({moves.steps.data() + i, moves.count - i}, runs, run,
                               spread ? sector_bytes - bytes : offset, bytes);
    if (runs == 1 && step <= std::max(run, sector_bytes)) {
      run += step * (values - 1);
    } else {
      runs *= values;
      if (step % sector_bytes == 0) {
        for (std::int64_t& start : starts) start *= values;
      } else {
        spread_out(starts, step, values);
        spread = true;
      }
    }
    span += step * (values - 1);
  }
  const std::int64_t all = sectors_between(offset, offset + span - 1);
  if (runs == 1 || runs > all) return all;
  if (!spread) return std::min(all, runs * sectors_between(offset, offset + run - 1));
  std::int64_t sum = 0;
  for (std::int64_t at = 0; at < sector_bytes; ++at)
    if (const std::int64_t times = starts[static_cast<std::size_t>(at)]; times != 0)
      sum += times * sectors_between(at, at + run - 1);
  return std::min(all, sum);
}

ir::VarSet variables_of(const ir::Kernel& kernel, ir::VarKind kind) {
  ir::VarSet found;
  for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v)
    if (kernel.indices.vars[v].kind == kind) found |= ir::VarSet::only(v);
  return found;
}

/// What statements with one index reach whose active lanes were counted; clipped to the buffer, which guards see to.
Reach reach_of(const ir::Kernel& kernel, const ir::Stmt& stmt, std::int64_t lanes, std::int64_t moved) {
  const ir::Expr& expr = kernel.indices[stmt.expr];
  const std::int64_t last = kernel.buffers[stmt.memory].elements - 1;
  Reach reach;
  for (const ir::Linear& part : kernel.indices.linear(stmt.expr)) reach.step = std::gcd(reach.step, part.coefficient);
  if (stmt.width > 1) reach.step = 1;
  const std::int64_t step = std::max<std::int64_t>(reach.step, 1);
  reach.low = expr.range.low;
  if (reach.low < 0) reach.low += (-reach.low + step - 1) / step * step;
  reach.high = std::min(expr.range.high + stmt.width - 1, last);
  if (reach.high < reach.low) return {};
  reach.high -= (reach.high - reach.low) % step;
  const std::int64_t range = (reach.high - reach.low) / step + 1;
  reach.count = stmt.width;
  ir::VarSet moving;  // those that move the index by themselves, not through what they pick
  for (const ir::Linear& part : kernel.indices.linear(stmt.expr)) {
    const ir::Term& term = kernel.indices.terms[part.term];
    if (term.kind != ir::TermKind::picked) {
      moving |= term.vars;
      continue;
    }
    if (reach.picked == ir::max_vars) reach.picked = term.var;
    if (reach.count < range) reach.count *= values_of(kernel.indices, term, {});
    const std::int64_t slices = kernel.indices[term.b].constant * kernel.indices[term.c].constant;
    reach.most = reach.most == 0 ? slices : std::min(reach.most, slices);
  }
  const std::int64_t most = reach.most == 0 ? range : std::min(range, reach.most);
  for (ir::VarSet rest = moving; !rest.empty() && reach.count < most; rest.drop_first()) {
    const ir::Var& var = kernel.indices.vars[rest.first()];
    if (var.kind != ir::VarKind::data) reach.count *= var.extent;  // one number while the kernel runs
  }
  reach.count = std::min({reach.count, most, lanes * stmt.width});
  const std::int64_t bytes = element_bytes(kernel, stmt);
  Moves moves;
  find_moves(kernel.indices, stmt.expr, variables_of(kernel, ir::VarKind::data), moves);
  const std::int64_t sectors = sectors_reached(moves, expr.range.low, stmt.width, bytes);
  reach.sectors =
      std::min({sectors, moved, sectors_between(reach.low * bytes, (reach.high + 1) * bytes - 1), reach.count});
  return reach;
}

void join(Reach& all, const Reach& one, std::int64_t bytes) {
  if (one.count == 0) return;
  if (all.count == 0) {
    all = one;
    return;
  }
  all.step = std::gcd(std::gcd(all.step, one.step), all.low - one.low);
  all.low = std::min(all.low, one.low);
  all.high = std::max(all.high, one.high);
  const std::int64_t lattice = all.step == 0 ? 1 : (all.high - all.low) / all.step + 1;
  all.count = std::min(all.count + one.count, lattice);
  if (all.picked != one.picked)
    all.picked = ir::max_vars;
  else if (all.picked != ir::max_vars)
    all.count = std::min(all.count, all.most);
  const std::int64_t between = sectors_between(all.low * bytes, (all.high + 1) * bytes - 1);
  const std::int64_t apart = all.step * bytes >= sector_bytes ? lattice : between;  // a sector each
  all.sectors = std::min({all.sectors + one.sectors, between, apart});
}

}  // namespace

void count_distinct(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  if (scratch.reached.size() < 2 * kernel.buffers.size()) scratch.reached.resize(2 * kernel.buffers.size());
  std::vector<SameAccess>& accesses = scratch.accesses;
  accesses.clear();
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    if (!ir::is_memory(stmt) || stmt.space != ir::Space::global) continue;
    const std::uint64_t which = 2u * stmt.memory + (stmt.kind == ir::StmtKind::load ? 0 : 1);
    accesses.push_back({which << 32 | stmt.expr, at, scratch.counts[at].lanes, scratch.counts[at].units});
  }
  // Each index once, where it first stands, with the active lanes of all statements that have it: it reaches no more.
  std::sort(accesses.begin(), accesses.end(),
            [](const SameAccess& a, const SameAccess& b) { return std::pair(a.key, a.at) < std::pair(b.key, b.at); });
  std::size_t kept = 0;
  for (const SameAccess& one : accesses) {
    if (kept > 0 && accesses[kept - 1].key == one.key) {
      accesses[kept - 1].lanes += one.lanes;
      accesses[kept - 1].moved += one.moved;
    } else {
      accesses[kept++] = one;
    }
  }
  accesses.resize(kept);
  std::sort(accesses.begin(), accesses.end(), [](const SameAccess& a, const SameAccess& b) { return a.at < b.at; });
  for (const SameAccess& one : accesses) {
    const ir::Stmt& stmt = kernel.body[one.at];
    join(scratch.reached[one.key >> 32], reach_of(kernel, stmt, one.lanes, one.moved), element_bytes(kernel, stmt));
  }
  for (const SameAccess& one : accesses) {
    Reach& reached = scratch.reached[one.key >> 32];
    if (reached.count == 0) continue;  // nothing was, or an access before has told
    const std::uint64_t b = one.key >> 33;
    const std::int64_t bytes = std::max(1, ir::row(kernel.buffers[b].dtype).bits / 8);
    const bool is_load = (one.key >> 32 & 1) == 0;
    (is_load ? work.buffers[b].read_bytes : work.buffers[b].written_bytes) = reached.count * bytes;
    (is_load ? work.buffers[b].read_sectors : work.buffers[b].written_sectors) = reached.sectors;
    reached = {};  // as the next kernel expects it
  }
}

namespace {

/// Times the lanes of a load at the edge of an array, where places wrap around, fit into those of the other loads.
constexpr std::int64_t within_edge = 32;

/// Loads of one buffer whose indices differ by constants, which rise. `most_lanes` is what any load of the buffer has.
/// Loads at edges are left out: few blocks have them, and how far they reach says nothing of the others.
void add_shifted(const ir::Kernel& kernel, std::span<const SameAccess> loads, std::int64_t most_lanes, Work& work) {
  const ir::VarSet data = variables_of(kernel, ir::VarKind::data);
  const ir::VarSet held = variables_of(kernel, ir::VarKind::block) | data;
  BufferWork& buffer = work.buffers[kernel.body[loads.front().at].memory];
  Moves of_block, of_kernel;
  find_moves(kernel.indices, kernel.body[loads.front().at].expr, held, of_block);
  if (loads.size() > 1) find_moves(kernel.indices, kernel.body[loads.front().at].expr, data, of_kernel);
  const auto reached = [&](const SameAccess& one, std::int64_t wider, const Moves& moves) {
    const ir::Stmt& stmt = kernel.body[one.at];
    return sectors_reached(moves, kernel.indices[stmt.expr].range.low, stmt.width + wider, element_bytes(kernel, stmt));
  };
  const auto shift = [&](const SameAccess& from, const SameAccess& to) {
    return kernel.indices[kernel.body[to.at].expr].constant - kernel.indices[kernel.body[from.at].expr].constant;
  };
  // How many elements more than one access of `from` lie from its first to the last of `to`.
  const auto wider = [&](const SameAccess& from, const SameAccess& to) {
    return shift(from, to) + kernel.body[to.at].width - kernel.body[from.at].width;
  };
  std::int64_t all = 0, together = 0;  // of those taken together before, and now
  const SameAccess *first = nullptr, *begin = nullptr, *last = nullptr;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const SameAccess& one = loads[i];
    if (i > 0 && one.key == loads[i - 1].key) continue;
    if (within_edge * one.lanes < most_lanes) continue;
    const std::int64_t own = reached(one, 0, of_block);
    last = &one;
    if (first == nullptr) {
      first = begin = &one;
      together = own;
      continue;
    }
    buffer.shifted_sectors += reached(one, 0, of_kernel);
    if (const std::int64_t longer = reached(*begin, wider(*begin, one), of_block); longer < together + own) {
      together = longer;
      continue;
    }
    all += std::exchange(together, own);
    begin = &one;
  }
  if (first == nullptr) return;
  buffer.block_sectors += std::min(all + together, reached(*first, wider(*first, *last), of_block));
  buffer.shift_bytes =
      std::max(buffer.shift_bytes, shift(*first, *last) * element_bytes(kernel, kernel.body[first->at]));
}

}  // namespace

void count_per_block(const ir::Kernel& kernel, Scratch::Body& scratch, Work& work) {
  std::vector<SameAccess>& loads = scratch.accesses;
  loads.clear();
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    if (stmt.kind == ir::StmtKind::load && stmt.space == ir::Space::global)
      loads.push_back({std::uint64_t{stmt.memory} << 32 | stmt.expr, at, scratch.counts[at].lanes, 0});
  }
  // Each index once; of a buffer those one behind the other that differ in their constants alone, by rising constant.
  const auto parts_of = [&](const SameAccess& one) { return kernel.indices.linear(kernel.body[one.at].expr); };
  const auto order = [&](const SameAccess& a, const SameAccess& b) {
    const std::span<const ir::Linear> of_a = parts_of(a), of_b = parts_of(b);
    const auto same = std::mismatch(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
    if (same.first == of_a.end() || same.second == of_b.end())
      return int(of_a.size() > of_b.size()) - int(of_a.size() < of_b.size());
    const auto number = [](const ir::Linear& part) { return std::pair(part.term, part.coefficient); };
    return number(*same.first) < number(*same.second) ? -1 : 1;
  };
  const auto constant = [&](const SameAccess& one) { return kernel.indices[kernel.body[one.at].expr].constant; };
  std::sort(loads.begin(), loads.end(), [&](const SameAccess& a, const SameAccess& b) {
    if (a.key >> 32 != b.key >> 32) return a.key < b.key;
    const int parts = order(a, b);
    return parts != 0 ? parts < 0 : std::tuple(constant(a), a.key, a.at) < std::tuple(constant(b), b.key, b.at);
  });
  std::int64_t most_lanes = 0;
  for (std::size_t first = 0, end = 0; first < loads.size(); first = end) {
    if (first == 0 || loads[first].key >> 32 != loads[first - 1].key >> 32) {
      most_lanes = 0;
      for (std::size_t i = first; i < loads.size() && loads[i].key >> 32 == loads[first].key >> 32; ++i)
        most_lanes = std::max(most_lanes, loads[i].lanes);
    }
    while (end < loads.size() && loads[end].key >> 32 == loads[first].key >> 32 && order(loads[first], loads[end]) == 0)
      ++end;
    add_shifted(kernel, {loads.data() + first, end - first}, most_lanes, work);
  }
}

ir::Interval LaneAffine::bounds_of(const Sum& sum, const IterationDomain& domain,
                                   const std::array<ir::Interval, most_quotients>& quotients) const {
  ir::Interval bounds{sum.constant, sum.constant};
  const auto add = [&](std::int64_t coefficient, const ir::Interval& of) {
    bounds.low += std::min(coefficient * of.low, coefficient * of.high);
    bounds.high += std::max(coefficient * of.low, coefficient * of.high);
  };
  for (int i = 0; i < sum.outer_count; ++i)
    for (int k = 0; k < domain.depth; ++k)
      if (const Progression& range = domain.ranges[k]; domain.vars[k] == sum.outer[i].var)
        add(sum.outer[i].coefficient, {range.low, range.low + range.step * (range.count - 1)});
  if (sum.thread_count > 0) {
    const auto [least, greatest] = std::minmax_element(sum.lanes.begin(), sum.lanes.end());
    ir::Interval warps{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (int w = 0; w < warps_of(kernel_); ++w) {
      if (domain.masks[w] == 0) continue;
      const std::int64_t offset = sum.warp_offset(scratch_.threads, w);
      warps = {std::min(warps.low, offset), std::max(warps.high, offset)};
    }
    add(1, {warps.low + *least, warps.high + *greatest});
  }
  for (int p = 0; p < sum.part_count; ++p) add(sum.parts[p].coefficient, quotients[sum.parts[p].quotient]);
  return bounds;
}

std::optional<ir::Interval> LaneAffine::bounds(const IterationDomain& domain) const {
  if (!split_ || opaque_count_ > 0) return std::nullopt;
  std::array<ir::Interval, most_quotients> quotients;
  for (int i = 0; i < quotient_count_; ++i) {
    const Quotient& quotient = quotients_[i];
    const ir::Interval inner = bounds_of(quotient.inner, domain, quotients);
    const std::int64_t low = floor_div(inner.low, quotient.divisor), high = floor_div(inner.high, quotient.divisor);
    if (!quotient.remainder)
      quotients[i] = {low, high};
    else if (low == high)
      quotients[i] = {inner.low - low * quotient.divisor, inner.high - low * quotient.divisor};
    else
      quotients[i] = {0, quotient.divisor - 1};
  }
  return bounds_of(sum_, domain, quotients);
}

}  // namespace tailor::costmodel
