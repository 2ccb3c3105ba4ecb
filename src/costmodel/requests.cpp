// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one warp's request moves: sectors of global memory, passes through the banks of shared memory. In: an offset
// for each of 32 lanes, the lanes that are active, the bytes of an access. Out: a number. Both ways of counting use
// these, so they are plain and are tested against drawings of the rule.
//
// Sectors are 32 bytes; a request moves each that an active lane touches once. Neighbouring active lanes at a constant
// stride of at most a sector, which is nearly every request, are counted by arithmetic; others by listing the sectors.
//
// Shared memory has 32 banks of 4 bytes. A request runs in phases of as many lanes as fill 128 bytes: 32 lanes of up
// to 4 bytes, 16 of 8, 8 of 16; two such phases of 8 or 16 bytes are one where lanes share their addresses in pairs
// (each with the lane 1 from it, or each with the one 2 from it). A phase takes as many passes as the most distinct
// words that one bank must deliver; lanes that read the same word share it.
//
// Rows that data picks, in order. A picked number is counted as a remainder that leaps about (ir/kernel/index.h), so
// for fast counting each row of a warp would be a part of its own. Where an access stays within its row it does not
// matter which row it is: only which lanes share one, and where in a sector it begins. Places of a warp that differ by
// less than the numbers there can be have numbers that differ. Where rows begin at multiples of a sector the place
// itself stands for the number: neighbouring places take neighbouring rows, which share no sector either. Where they do
// not, what the remainder is taken of stands for it: as many rows as there can be numbers fill whole sectors, so a row
// begins where it did in a sector. No two rows of a warp may be neighbours that share a sector, before or then. Other
// addresses stay as they are.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

/// Distance between neighbouring lanes when it is the same for all 32, else -1.
std::int64_t constant_stride(const std::array<std::int64_t, warp_lanes>& offsets) {
  const std::int64_t stride = offsets[1] - offsets[0];
  for (int lane = 2; lane < warp_lanes; ++lane)
    if (offsets[lane] - offsets[lane - 1] != stride) return -1;
  return stride;
}

}  // namespace

std::int64_t count_sectors(const std::array<std::int64_t, warp_lanes>& offsets, std::int64_t shift, std::uint32_t mask,
                           int bytes) {
  if (mask == 0) return 0;
  const int first = std::countr_zero(mask), lanes = std::popcount(mask);
  const bool is_run = mask >> first == (lanes == warp_lanes ? ~0u : (1u << lanes) - 1);
  if (is_run) {
    // Neighbours at most a sector apart leave no sector between them untouched.
    const std::int64_t stride = constant_stride(offsets);
    if (stride >= 0 && stride <= sector_bytes) {
      const std::int64_t low = offsets[first] + shift, high = low + stride * (lanes - 1) + bytes - 1;
      return floor_div(high, sector_bytes) - floor_div(low, sector_bytes) + 1;
    }
  }
  std::array<std::int64_t, 2 * warp_lanes> touched;
  std::size_t count = 0;
  bool ascending = true;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::int64_t low = offsets[std::countr_zero(rest)] + shift;
    const std::int64_t last = floor_div(low + bytes - 1, sector_bytes);
    for (std::int64_t sector = floor_div(low, sector_bytes); sector <= last; ++sector) {
      if (count > 0 && sector == touched[count - 1]) continue;
      if (count > 0 && sector < touched[count - 1]) ascending = false;
      touched[count++] = sector;
    }
  }
  if (ascending) return static_cast<std::int64_t>(count);
  std::sort(touched.begin(), touched.begin() + count);
  return std::unique(touched.begin(), touched.begin() + count) - touched.begin();
}

namespace {

/// Lanes that share their addresses in pairs (each with the one `apart` from it, if that is active).
bool lanes_share(const std::array<std::int64_t, warp_lanes>& offsets, std::uint32_t mask, int apart) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    if ((mask >> (lane ^ apart) & 1) != 0 && offsets[lane] != offsets[lane ^ apart]) return false;
  }
  return true;
}

}  // namespace

std::int64_t count_wavefronts(const std::array<std::int64_t, warp_lanes>& offsets, std::int64_t shift,
                              std::uint32_t mask, int bytes) {
  constexpr int banks = 32, word_bytes = 4;
  const int words = std::max(1, bytes / word_bytes);
  const int plain = warp_lanes / words, widest = bytes == 8 || bytes == 16 ? 2 * plain : plain;
  std::int64_t passes = 0;
  for (int from = 0; from < warp_lanes;) {
    std::uint32_t pair_mask = 0;
    for (int lane = from / widest * widest; lane < (from / widest + 1) * widest; ++lane)
      pair_mask |= mask & (1u << lane);
    const bool pairs = widest > plain && (lanes_share(offsets, pair_mask, 1) || lanes_share(offsets, pair_mask, 2));
    const int together = pairs ? widest : plain;
    std::array<std::array<std::int64_t, warp_lanes>, banks> held;
    std::array<std::int64_t, banks> counts{};
    std::int64_t most = 0;
    for (int lane = from; lane < from + together; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      for (int k = 0; k < words; ++k) {
        const std::int64_t word = floor_div(offsets[lane] + shift, word_bytes) + k;
        const auto bank = static_cast<std::size_t>(word & (banks - 1));
        const auto end = held[bank].begin() + counts[bank];
        if (std::find(held[bank].begin(), end, word) == end) held[bank][counts[bank]++] = word;
        most = std::max(most, counts[bank]);
      }
    }
    passes += most;
    from += together;
  }
  return passes;
}

int element_bytes(const ir::Kernel& kernel, const ir::Stmt& stmt) {
  const ir::DType dtype = is_array(stmt.space) ? kernel.arrays[stmt.memory].dtype : kernel.buffers[stmt.memory].dtype;
  return std::max(1, ir::row(dtype).bits / 8);
}

namespace {

bool has_picked(const ir::IndexPool& pool, ir::ExprId expr) {
  for (ir::VarSet rest = pool[expr].vars; !rest.empty(); rest.drop_first())
    if (pool.vars[rest.first()].kind == ir::VarKind::picked) return true;
  return false;
}

/// The one part of the expression that is picked; nothing where there are more, or others hold such a number.
std::optional<ir::Linear> only_picked(const ir::IndexPool& pool, ir::ExprId expr) {
  std::optional<ir::Linear> found;
  for (const ir::Linear& part : pool.linear(expr)) {
    const ir::Term& term = pool.terms[part.term];
    if (term.kind == ir::TermKind::picked) {
      if (found || has_picked(pool, term.a)) return std::nullopt;
      found = part;
      continue;
    }
    for (ir::VarSet rest = term.vars; !rest.empty(); rest.drop_first())
      if (pool.vars[rest.first()].kind == ir::VarKind::picked) return std::nullopt;
  }
  return found;
}

/// How far places of lanes of a warp lie apart, in units of `unit`.
std::int64_t apart_in_warp(const ir::Kernel& kernel, ir::ExprId place, std::int64_t unit) {
  ir::VarSet held;
  for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v)
    if (kernel.indices.vars[v].kind != ir::VarKind::thread) held |= ir::VarSet::only(v);
  return span_of(kernel.indices, place, held, true) / unit;
}

ir::Interval range_of(const ir::IndexPool& pool, std::span<const ir::Linear> parts) {
  ir::Interval range;
  for (const ir::Linear& part : parts) {
    const ir::Interval one = pool.terms[part.term].range;
    range.low += std::min(part.coefficient * one.low, part.coefficient * one.high);
    range.high += std::max(part.coefficient * one.low, part.coefficient * one.high);
  }
  return range;
}

/// The range of a sum of these parts where a < b, which may say it of some of the parts, or of what they are multiples
/// of.
void narrow(const ir::IndexPool& pool, const std::vector<ir::Linear>& parts, const ir::Condition& less,
            ir::Interval& range) {
  if (less.a == ir::no_expr || less.equal) return;
  const bool above = pool[less.a].count == 0;
  if (above == (pool[less.b].count == 0)) return;
  const ir::Expr& moving = pool[above ? less.b : less.a];
  std::vector<ir::Linear> others = parts;
  std::int64_t factor = 0, step = 0;
  for (const ir::Linear& part : pool.linear(above ? less.b : less.a)) {
    step = std::gcd(step, part.coefficient);
    const auto same =
        std::find_if(others.begin(), others.end(), [&](const ir::Linear& one) { return one.term == part.term; });
    if (same == others.end()) return;
    if (factor == 0) factor = same->coefficient / part.coefficient;
    if (factor <= 0 || same->coefficient != factor * part.coefficient) return;
    others.erase(same);
  }
  if (factor == 0) return;
  const ir::Interval rest = range_of(pool, others);
  if (above)
    range.low =
        std::max(range.low, rest.low - factor * step * floor_div(moving.constant - 1 - pool[less.a].constant, step));
  else
    range.high =
        std::min(range.high, rest.high + factor * step * floor_div(pool[less.b].constant - 1 - moving.constant, step));
}

/// Whether accesses of the statement lie in the row that is picked, where these guards around it let them in.
bool stays_in_its_row(const ir::Kernel& kernel, const ir::Stmt& stmt, const ir::Linear& picked,
                      const std::vector<std::int32_t>& guards) {
  const ir::IndexPool& pool = kernel.indices;
  if (picked.coefficient <= 0) return false;
  std::vector<ir::Linear> parts;
  for (const ir::Linear& part : pool.linear(stmt.expr))
    if (part.term != picked.term) parts.push_back(part);
  ir::Interval range = range_of(pool, parts);
  for (const std::int32_t guard : guards)
    for (const ir::Condition& one : kernel.body[static_cast<std::size_t>(guard)].conditions)
      narrow(pool, parts, one, range);
  const std::int64_t constant = pool[stmt.expr].constant;
  return range.low + constant >= 0 && range.high + constant + stmt.width <= picked.coefficient;
}

/// By what the dividend of a picked term is divided so that it may stand for the number in this statement's address;
/// 0: it may not.
std::int64_t stands_for_number(const ir::Kernel& kernel, const ir::Stmt& stmt, const ir::Linear& picked) {
  const ir::Term& term = kernel.indices.terms[picked.term];
  std::int64_t step = 0;
  for (const ir::Linear& part : kernel.indices.linear(term.a)) step = std::gcd(step, std::abs(part.coefficient));
  if (step == 0) return 0;
  const std::int64_t apart = apart_in_warp(kernel, term.a, step);
  if (apart >= term.divisor / std::gcd(step, term.divisor)) return 0;
  const std::int64_t row_bytes = picked.coefficient * element_bytes(kernel, stmt);
  if (row_bytes % sector_bytes == 0) return step;
  if (row_bytes % sector_bytes * (term.divisor % sector_bytes) % sector_bytes != 0) return 0;
  const std::int64_t least =
      1 + (sector_bytes - 1 + row_bytes - 1) / row_bytes;  // rows from one to one without its sectors
  if (step < least) return 0;
  for (std::int64_t places = 1; places <= apart; ++places)
    if (const std::int64_t rows = places * step % term.divisor; rows < least || term.divisor - rows < least) return 0;
  return 1;
}

}  // namespace

std::optional<ir::Kernel> with_rows_in_order(const ir::Kernel& kernel) {
  std::optional<ir::Kernel> made;
  std::vector<std::int32_t> guards;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const ir::Stmt& stmt = kernel.body[at];
    while (!guards.empty() && std::cmp_greater_equal(at, kernel.body[static_cast<std::size_t>(guards.back())].end))
      guards.pop_back();
    if (stmt.kind == ir::StmtKind::guard) guards.push_back(static_cast<std::int32_t>(at));
    if (!ir::is_memory(stmt) || stmt.space != ir::Space::global) continue;
    const std::optional<ir::Linear> picked = only_picked(kernel.indices, stmt.expr);
    if (!picked || !stays_in_its_row(kernel, stmt, *picked, guards)) continue;
    const std::int64_t step = stands_for_number(kernel, stmt, *picked);
    if (step == 0) continue;
    const ir::Term& term = kernel.indices.terms[picked->term];
    if (!made) made = kernel;
    std::vector<ir::Linear> sum;
    for (const ir::Linear& part : kernel.indices.linear(stmt.expr))
      if (part.term != picked->term) sum.push_back(part);
    for (const ir::Linear& part : kernel.indices.linear(term.a)) {
      const auto same =
          std::find_if(sum.begin(), sum.end(), [&](const ir::Linear& one) { return one.term == part.term; });
      const std::int64_t by = part.coefficient / step * picked->coefficient;
      same != sum.end() ? void(same->coefficient += by) : sum.push_back({part.term, by});
    }
    std::erase_if(sum, [](const ir::Linear& one) { return one.coefficient == 0; });
    std::sort(sum.begin(), sum.end(), [](const ir::Linear& a, const ir::Linear& b) { return a.term < b.term; });
    ir::IndexPool& pool = made->indices;
    ir::Expr expr{pool[stmt.expr].constant + pool[term.a].constant / step * picked->coefficient,
                  static_cast<std::uint32_t>(pool.linears.size()),
                  static_cast<std::uint32_t>(sum.size()),
                  {},
                  {}};
    const ir::Interval moved = range_of(pool, sum);
    expr.range = {expr.constant + moved.low, expr.constant + moved.high};
    for (const ir::Linear& part : sum) expr.vars |= pool.terms[part.term].vars;
    pool.linears.insert(pool.linears.end(), sum.begin(), sum.end());
    pool.exprs.push_back(expr);
    made->body[at].expr = static_cast<ir::ExprId>(pool.exprs.size() - 1);
  }
  return made;
}

}  // namespace tailor::costmodel
