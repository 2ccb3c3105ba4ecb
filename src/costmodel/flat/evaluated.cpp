// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Warps of a flat loop counted lane by lane. In: the loop lowered for blocks of one warp; runs of its warps. Out: per
// statement how often it is executed and what its requests move; per scope which warps run it, and some places there.
//
// Fast counting (fast.cpp) cuts what a grid goes through into parts in which addresses move evenly. Where extents share
// no factor with a warp's elements there are as many parts as warps, or more, and each has to be settled for each
// access. Then nothing is gained by parts, and this is the plain way, made quick: 32 warps at once, one column of 1,024
// lanes for each expression, in 32 bits where all numbers fit. Taps of a window and elements of a vector differ by a
// constant, so expressions with the same terms share a column and each adds its constant when it is compared or divided
// into sectors. A condition is computed once, as a bit for each lane, for all guards that ask it. What is left for an
// access is to tell how many sectors 32 numbers lie in: where they ascend, as nearly always, a sum of steps without a
// branch.
//
// This file is compiled for speed: its loops over lanes are to become vector instructions.
#include "costmodel/flat/evaluated.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ir/kernel/index_columns.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

constexpr int chunk_warps = 32, chunk_lanes = chunk_warps * warp_lanes;
using Masks = std::array<std::uint32_t, chunk_warps>;

/// Whether every number that is computed fits into 32 bits, addresses in bytes too.
bool fits_32_bits(const ir::Kernel& kernel) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const ir::IndexPool& pool = kernel.indices;
  const auto fits = [&](ir::ExprId expr, std::int64_t bytes) {
    const ir::Interval range = pool[expr].range;
    return range.low > -most / bytes && range.high < most / bytes;
  };
  for (const ir::Term& term : pool.terms)
    for (const ir::ExprId inner : {term.a, term.b, term.c, term.d})
      if (inner != ir::no_expr && (!fits(inner, 1) || term.divisor >= most)) return false;
  for (const ir::Stmt& stmt : kernel.body) {
    if (ir::is_memory(stmt) && !fits(stmt.expr, element_bytes(kernel, stmt))) return false;
    if (stmt.kind != StmtKind::guard) continue;
    for (const ir::Condition& one : stmt.conditions)
      if (has_condition(one) && (!fits(one.a, 1) || !fits(one.b, 1))) return false;
  }
  return kernel.virtual_blocks < most;
}

/// Sectors of a request whose lanes begin at so many bytes plus `shift`: the lanes of `mask`.
template <class Cell>
std::int64_t sectors_of(const Cell* elements, Cell bytes, Cell shift, std::uint32_t mask, Cell access) {
  constexpr int sector_bits = std::countr_zero(static_cast<unsigned>(sector_bytes));
  std::array<Cell, warp_lanes> from, low, high;
  if (mask == ~0u) {
    for (int lane = 0; lane < warp_lanes; ++lane) from[lane] = elements[lane] * bytes + shift;
  } else {  // the last one again and again: no sector more
    int lanes = 0;
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
      from[lanes++] = elements[std::countr_zero(rest)] * bytes + shift;
    std::fill(from.begin() + lanes, from.end(), from[lanes - 1]);
  }
  for (int lane = 0; lane < warp_lanes; ++lane) {
    low[lane] = from[lane] >> sector_bits;
    high[lane] = (from[lane] + access - 1) >> sector_bits;
  }
  Cell sectors = high[0] - low[0] + 1, falls = 0;
  for (int lane = 1; lane < warp_lanes; ++lane) {
    const Cell known = low[lane] - 1 > high[lane - 1] ? low[lane] - 1 : high[lane - 1];
    sectors += high[lane] - known;
    falls |= low[lane] < low[lane - 1] ? 1 : 0;
  }
  if (falls == 0) return sectors;
  std::array<std::int64_t, warp_lanes> offsets;
  std::copy(from.begin(), from.end(), offsets.begin());
  return count_sectors(offsets, 0, ~0u, static_cast<int>(access));
}

/// A bit for each lane whose byte is 1.
void pack(const std::array<std::uint8_t, chunk_lanes>& holds, Masks& masks) {
  for (int w = 0; w < chunk_warps; ++w) {
    std::uint32_t mask = 0;
    for (int eighth = 0; eighth < 4; ++eighth) {
      std::uint64_t bytes = 0;
      for (int lane = 0; lane < 8; ++lane)
        bytes |= std::uint64_t{holds[static_cast<std::size_t>(w * warp_lanes + eighth * 8 + lane)]} << (8 * lane);
      mask |= static_cast<std::uint32_t>(bytes * 0x0102040810204080ULL >> 56) << (8 * eighth);
    }
    masks[w] = mask;
  }
}

template <class Cell>
class EvaluatedWalk {
 public:
  EvaluatedWalk(const ir::Kernel& kernel, Scratch::Body& scratch)
      : kernel_(kernel),
        scratch_(scratch),
        matter_(variables_that_matter(kernel)),
        columns_(kernel.indices, chunk_lanes),
        asked_(kernel.body.size()),
        seen_(kernel.body.size()) {
    find_twins();
    for (std::size_t at = 0; at < kernel.body.size(); ++at)
      if (kernel.body[at].kind == StmtKind::guard) find_questions(at);
    for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v)
      if (kernel.indices.vars[v].kind == ir::VarKind::thread)
        bind(v, [&](int, int lane) { return thread_value(kernel.indices.vars[v], 0, lane); });
  }

  void run(std::span<const WarpRun> runs) {
    std::int64_t warps = 0;
    for (const WarpRun& run : runs) warps += run.count;
    for (std::size_t at = 0; at < seen_.size(); ++at)
      if (kernel_.body[at].kind == StmtKind::guard || kernel_.body[at].kind == StmtKind::loop)
        seen_[at].times.assign(static_cast<std::size_t>(warps), 0);
    for (const WarpRun& run : runs)
      for (std::int64_t from = 0; from < run.count; from += chunk_warps) {
        const std::int64_t here = std::min<std::int64_t>(chunk_warps, run.count - from);
        chunk(run.first + from, static_cast<int>(here), run.stands_for);
        place_ += static_cast<std::size_t>(here);
      }
    for (std::size_t at = 0; at < seen_.size(); ++at)
      if (seen_[at].executions > 0) hand_on(static_cast<std::int32_t>(at), seen_[at]);
  }

 private:
  /// A place where a scope is run.
  struct Spot {
    std::int64_t block = 0;
    int lane = 0;
    std::vector<std::pair<ir::VarId, std::int64_t>> loops;  ///< open ones and their values
  };
  /// Of some lanes of a chunk: warps that have one of them, and lanes.
  struct Executed {
    std::int64_t warps = 0, lanes = 0;
  };
  /// Of the scope that a statement opens. The places are the first and the last lane of the first and of the last warp.
  struct Seen {
    std::int64_t executions = 0, lanes = 0;
    std::vector<std::uint16_t> times;  ///< by warp that is looked at
    std::array<Spot, 4> spots;
  };
  /// A condition, and the lanes of the chunk at hand where it holds.
  struct Question {
    ir::Condition condition;
    ir::VarSet vars;
    std::int64_t computed_at = -1;
    Masks holds{};
  };
  /// Lanes of the expression with these terms that comes first, and what this one adds.
  struct Column {
    std::optional<Cell> one;  ///< in all lanes, with what it adds
    const Cell* cells = nullptr;
    Cell more = 0;
  };

  void find_twins() {
    const ir::IndexPool& pool = kernel_.indices;
    std::map<std::vector<std::int64_t>, ir::ExprId> known;
    for (std::size_t e = 0; e < pool.exprs.size(); ++e) {
      std::vector<std::int64_t> parts;
      for (const ir::Linear& part : pool.linear(static_cast<ir::ExprId>(e))) {
        parts.push_back(part.term);
        parts.push_back(part.coefficient);
      }
      twins_.push_back(known.emplace(std::move(parts), static_cast<ir::ExprId>(e)).first->second);
    }
  }

  void find_questions(std::size_t at) {
    for (const ir::Condition& one : kernel_.body[at].conditions) {
      if (!has_condition(one)) continue;
      const auto known = std::find_if(questions_.begin(), questions_.end(), [&](const Question& other) {
        return other.condition.a == one.a && other.condition.b == one.b && other.condition.equal == one.equal;
      });
      asked_[at].push_back(static_cast<std::size_t>(known - questions_.begin()));
      if (known == questions_.end())
        questions_.push_back({one, kernel_.indices[one.a].vars | kernel_.indices[one.b].vars});
    }
  }

  template <class Of>
  void bind(std::size_t var, const Of& of) {
    for (int w = 0; w < chunk_warps; ++w)
      for (int lane = 0; lane < warp_lanes; ++lane)
        lanes_[static_cast<std::size_t>(w * warp_lanes + lane)] = static_cast<Cell>(of(w, lane));
    columns_.set(static_cast<ir::VarId>(var), lanes_);
  }

  Column column(ir::ExprId expr) {
    const ir::ExprId twin = twins_[expr];
    const auto more = static_cast<Cell>(kernel_.indices[expr].constant - kernel_.indices[twin].constant);
    if (const std::optional<Cell> one = columns_.one(twin)) return {*one + more, nullptr, 0};
    return {std::nullopt, columns_.column(twin).data(), more};
  }

  void chunk(std::int64_t block, int warps, std::int64_t stands_for) {
    block_ = block;
    stands_for_ = stands_for;
    began_at_ = ++clock_;
    for (std::size_t v = 0; v < kernel_.indices.vars.size(); ++v)
      if (const ir::Var& var = kernel_.indices.vars[v]; var.kind == ir::VarKind::block)
        bind(v, [&](int w, int) { return (block + w) / var.divisor % var.extent; });
    Masks all{};
    std::fill_n(all.begin(), warps, full_mask(kernel_, 0));
    walk(0, static_cast<std::int32_t>(kernel_.body.size()), all, executed(all), 1);
  }

  /// Statements from .. to, `times` over, in these lanes: there are some.
  void walk(std::int32_t from, std::int32_t to, const Masks& masks, const Executed& executed, std::int64_t times) {
    const std::int64_t each = times * stands_for_;
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
      StmtCount& count = scratch_.counts[static_cast<std::size_t>(at)];
      count.executions += executed.warps * each;
      count.lanes += executed.lanes * each;
      if (ir::is_memory(stmt)) count.units += units(stmt, masks) * each;
      if (stmt.kind == StmtKind::guard) guard(at, masks, times);
      if (stmt.kind == StmtKind::loop) loop(at, masks, executed, times);
      if (stmt.kind == StmtKind::guard || stmt.kind == StmtKind::loop) at = stmt.end - 1;
    }
  }

  static Executed executed(const Masks& masks) {
    Executed all;
    for (const std::uint32_t mask : masks) {
      all.warps += mask != 0;
      all.lanes += std::popcount(mask);
    }
    return all;
  }

  void guard(std::int32_t at, const Masks& masks, std::int64_t times) {
    Masks inside = masks;
    for (const std::size_t asked : asked_[static_cast<std::size_t>(at)]) {
      const Masks& holds = answer(questions_[asked]);
      for (int w = 0; w < chunk_warps; ++w) inside[w] &= holds[w];
    }
    const Executed here = executed(inside);
    if (here.warps == 0) return;
    see(at, inside, here, times);
    walk(at + 1, kernel_.body[static_cast<std::size_t>(at)].end, inside, here, times);
  }

  void loop(std::int32_t at, const Masks& masks, const Executed& executed, std::int64_t times) {
    const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
    const std::int64_t extent = kernel_.indices.vars[stmt.var].extent;
    const bool matters = matter_.has(stmt.var);
    loops_.emplace_back(stmt.var, 0);
    for (std::int64_t trip = 0; trip < (matters ? extent : 1); ++trip) {
      loops_.back().second = trip;
      if (matters) {
        columns_.set(stmt.var, static_cast<Cell>(trip));
        set_at_[stmt.var] = ++clock_;
      }
      see(at, masks, executed, matters ? times : times * extent);
      walk(at + 1, stmt.end, masks, executed, matters ? times : times * extent);
    }
    loops_.pop_back();
  }

  const Masks& answer(Question& question) {
    bool stale = question.computed_at < began_at_;
    for (ir::VarSet vars = question.vars; !vars.empty() && !stale; vars.drop_first())
      stale = set_at_[vars.first()] > question.computed_at;
    if (!stale) return question.holds;
    question.computed_at = clock_;
    const bool equal = question.condition.equal;
    const Column a = column(question.condition.a), b = column(question.condition.b);
    if (a.one && b.one)
      question.holds.fill((equal ? *a.one == *b.one : *a.one < *b.one) ? ~0u : 0u);
    else if (equal)
      compare(question, a, b, [](Cell x, Cell y) { return x == y; });
    else
      compare(question, a, b, [](Cell x, Cell y) { return x < y; });
    return question.holds;
  }

  template <class Holds>
  void compare(Question& question, const Column& a, const Column& b, const Holds& holds) {
    std::uint8_t* const out = holds_.data();
    const auto each = [&](const auto& of_lane) {
      for (int lane = 0; lane < chunk_lanes; ++lane) out[lane] = of_lane(lane) ? 1 : 0;
    };
    const Cell more = b.more - a.more;  // of the difference
    if (b.one)
      each([&holds, cells = a.cells, limit = static_cast<Cell>(*b.one - a.more)](int lane) {
        return holds(cells[lane], limit);
      });
    else if (a.one)
      each([&holds, cells = b.cells, limit = static_cast<Cell>(*a.one - b.more)](int lane) {
        return holds(limit, cells[lane]);
      });
    else
      each([&holds, x = a.cells, y = b.cells, more](int lane) { return holds(x[lane], y[lane] + more); });
    pack(holds_, question.holds);
  }

  /// Sectors or wavefronts of a chunk.
  std::int64_t units(const ir::Stmt& stmt, const Masks& masks) {
    const int bytes = element_bytes(kernel_, stmt), access = bytes * stmt.width;
    const Column found = column(stmt.expr);
    std::array<Cell, warp_lanes> same;
    if (found.one) same.fill(*found.one);
    std::int64_t sum = 0;
    for (int w = 0; w < chunk_warps; ++w) {
      if (masks[w] == 0) continue;
      const Cell* const cells = found.one ? same.data() : found.cells + w * warp_lanes;
      if (stmt.space == ir::Space::global) {
        sum += sectors_of<Cell>(cells, bytes, found.more * bytes, masks[w], access);
        continue;
      }
      std::array<std::int64_t, warp_lanes> offsets;
      for (int lane = 0; lane < warp_lanes; ++lane)
        offsets[static_cast<std::size_t>(lane)] = std::int64_t{cells[lane]} * bytes;
      sum += count_wavefronts(offsets, std::int64_t{found.more} * bytes, masks[w], access);
    }
    return sum;
  }

  /// The scope that the statement opens is run by these lanes.
  void see(std::int32_t at, const Masks& masks, const Executed& executed, std::int64_t times) {
    Seen& seen = seen_[static_cast<std::size_t>(at)];
    int first = chunk_warps, last = 0;
    for (int w = 0; w < chunk_warps; ++w) {
      if (masks[w] == 0) continue;
      first = std::min(first, w);
      last = w;
      std::uint16_t& sum = seen.times[place_ + static_cast<std::size_t>(w)];
      sum = static_cast<std::uint16_t>(sum + times);
    }
    if (seen.executions == 0) {
      seen.spots[0] = {block_ + first, std::countr_zero(masks[first]), loops_};
      seen.spots[1] = {block_ + first, warp_lanes - 1 - std::countl_zero(masks[first]), loops_};
    }
    seen.spots[2] = {block_ + last, std::countr_zero(masks[last]), loops_};
    seen.spots[3] = {block_ + last, warp_lanes - 1 - std::countl_zero(masks[last]), loops_};
    seen.executions += executed.warps * times * stands_for_;
    seen.lanes += executed.lanes * times * stands_for_;
  }

  void hand_on(std::int32_t at, Seen& seen) {
    const auto runs = [](std::uint16_t times) { return times != 0; };
    const auto first = std::find_if(seen.times.begin(), seen.times.end(), runs);
    const auto end = std::find_if(seen.times.rbegin(), seen.times.rend(), runs).base();
    SeenScope scope{at + 1, seen.executions, seen.lanes, first - seen.times.begin(), end - first, {}, {}};
    scope.steps.steps = steps_of({first, end});
    for (const Spot& spot : seen.spots) {
      std::vector<std::int64_t> place(kernel_.indices.vars.size(), 0);
      for (std::size_t v = 0; v < place.size(); ++v) {
        const ir::Var& var = kernel_.indices.vars[v];
        if (var.kind == ir::VarKind::block) place[v] = spot.block / var.divisor % var.extent;
        if (var.kind == ir::VarKind::thread) place[v] = thread_value(var, 0, spot.lane);
      }
      for (const auto& [var, value] : spot.loops) place[var] = value;
      scope.places.insert(scope.places.end(), place.begin(), place.end());
    }
    scratch_.seen_scopes.push_back(std::move(scope));
  }

  const ir::Kernel& kernel_;
  Scratch::Body& scratch_;
  ir::VarSet matter_;
  ir::IndexColumnsOf<Cell> columns_;
  std::vector<ir::ExprId> twins_;  ///< by expression: the first with the same terms
  std::vector<Question> questions_;
  std::vector<std::vector<std::size_t>> asked_;  ///< by statement: its questions
  std::vector<Seen> seen_;                       ///< by statement
  std::vector<std::pair<ir::VarId, std::int64_t>> loops_;
  std::array<Cell, chunk_lanes> lanes_;
  std::array<std::uint8_t, chunk_lanes> holds_;
  std::array<std::int64_t, ir::max_vars> set_at_{};  ///< by loop variable
  std::int64_t clock_ = 0, began_at_ = 0;            ///< ticks with each trip; when the chunk at hand began
  std::int64_t block_ = 0, stands_for_ = 1;          ///< of the chunk at hand
  std::size_t place_ = 0;                            ///< warps looked at before it
};

}  // namespace

std::int64_t evaluations_a_warp(const ir::Kernel& one_warp) {
  const ir::VarSet matter = variables_that_matter(one_warp);
  std::int64_t sum = 0, times = 1;
  std::vector<std::pair<std::int32_t, std::int64_t>> open;  // loops: their ends, and the times outside of them
  for (std::size_t at = 0; at < one_warp.body.size(); ++at) {
    while (!open.empty() && std::cmp_less_equal(open.back().first, at)) {
      times = open.back().second;
      open.pop_back();
    }
    const ir::Stmt& stmt = one_warp.body[at];
    if (ir::is_memory(stmt) || stmt.kind == StmtKind::guard) sum += times;
    if (stmt.kind != StmtKind::loop || !matter.has(stmt.var)) continue;
    open.emplace_back(stmt.end, times);
    times *= one_warp.indices.vars[stmt.var].extent;
  }
  return sum;
}

void count_evaluated(const ir::Kernel& one_warp, std::span<const WarpRun> runs, Scratch::Body& scratch) {
  scratch.counts.assign(one_warp.body.size(), {});
  scratch.seen_scopes.clear();
  scratch.gave_up = false;
  scratch.sampled = std::any_of(runs.begin(), runs.end(), [](const WarpRun& run) { return run.stands_for != 1; });
  std::int64_t warps = 0;
  for (const WarpRun& run : runs) warps += run.count;
  scratch.looks += warps * evaluations_a_warp(one_warp) / evaluations_a_look;
  if (fits_32_bits(one_warp))
    EvaluatedWalk<std::int32_t>(one_warp, scratch).run(runs);
  else
    EvaluatedWalk<std::int64_t>(one_warp, scratch).run(runs);
}

}  // namespace tailor::costmodel
