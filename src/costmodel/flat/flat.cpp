// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counts that plans of one flat loop share. In: a loop lowered for one warp a block, and kernels of the same loop. Out:
// their counts. Called by the counter of a plan space.
//
// Why it is right. In a flat loop everything depends on a vector's number alone. Block, trip and thread only make up
// that number, as ((block * trips + trip) * threads + thread), and threads are whole warps. So whatever the plan, warp
// number i of the array has vectors 32 i .. 32 i + 31, and meets the same guards and the same addresses. Which block
// it belongs to matters for the busiest block only, and for statements outside of the loop's own guard, which each warp
// of the grid executes.
//
// How it is made sure. A program is read as scopes: guards and loops over a vector, and the accesses in them. Loops
// over trips, and the guard that asks whether a vector exists, are passed through. A kernel's scope is the known one in
// the same surroundings whose condition says the same at all places where it, or one of those near it, was seen to be
// run, first and last ones among them; an access is the known one whose address is the same there. What a thread does
// once in front of its trips, because it is the same for all of them and all blocks, is counted thread by thread. Plans
// may put loads in other sections, or ask one condition less; whatever has no known scope or access is counted the long
// way.
//
// The busiest block is the greatest sum over a run of warps: for each warp, what each scope issues times how often it
// runs it.
#include "costmodel/flat/flat.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "costmodel/flat/walk.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

/// Scopes on either side whose places a condition is held against. A window asks for the edges on all sides and for
/// each two that meet in a corner, so what is told apart from a corner by one edge stands as far from it as that.
constexpr std::size_t near_scopes = 4;

/// The only block that the guard lets in, where it says so; -1: it does not.
std::int64_t only_block(const ir::Kernel& kernel, const ir::Stmt& guard, int block) {
  for (const ir::Condition& one : guard.conditions) {
    if (!has_condition(one) || !one.equal || kernel.indices[one.b].count != 0) continue;
    const std::span<const ir::Linear> parts = kernel.indices.linear(one.a);
    if (parts.size() != 1 || parts[0].coefficient != 1 || kernel.indices[one.a].constant != 0) continue;
    const ir::Term& term = kernel.indices.terms[parts[0].term];
    if (term.kind == ir::TermKind::var && static_cast<int>(term.var) == block) return kernel.indices[one.b].constant;
  }
  return -1;
}

/// Finds each scope and access of a kernel among the known ones.
struct Matcher {
  FlatCounts& flat;
  const ir::Kernel& kernel;
  const Position& position;
  std::vector<Standing>& standings;  ///< by statement
  std::vector<std::int64_t>& units;  ///< by statement
  Position own = {};                 ///< of the known kernel
  std::vector<std::int64_t> values = std::vector<std::int64_t>(kernel.indices.vars.size(), 0);
  std::vector<std::pair<ir::VarId, ir::VarId>> loops = {};  ///< open ones: the known variable and the kernel's
  std::vector<std::size_t> next_scope = std::vector<std::size_t>(flat.scopes.size(), 0);
  std::vector<std::size_t> next_access = std::vector<std::size_t>(flat.scopes.size(), 0);
  std::size_t next_fixed = 0;
  std::vector<std::pair<std::int32_t, StmtCount>> counted_apart = {};
  ir::VarSet may_vary = {};  ///< variables that what stands apart may depend on
  std::int64_t blocks = 1;   ///< that run it
  /// The kernel's variables at the places of known scopes, place after place, with those loops open.
  struct Rows {
    std::uint64_t loops = 0;  ///< 0: there are none yet
    std::size_t first = 0;    ///< in `row_values`
  };
  std::vector<Rows> rows = std::vector<Rows>(flat.scopes.size());
  std::vector<std::int64_t> row_values = {};
  std::uint64_t open_loops = 1;  ///< a mark of `loops`

  const FlatCounts::Scope& scope_at(std::int32_t i) const { return flat.scopes[static_cast<std::size_t>(i)]; }
  const ir::Stmt& known(std::int32_t at) const { return flat.kernel.body[static_cast<std::size_t>(at)]; }

  void plain(std::int32_t at, const Standing& standing) { standings[static_cast<std::size_t>(at)] = standing; }

  /// What a few threads do for the elements that fill no vector: of one block, or of each alike. Counted thread by
  /// thread.
  bool apart(std::int32_t at, bool) {
    if (!flat.sampled) return false;
    const ir::Stmt& guard = kernel.body[static_cast<std::size_t>(at)];
    const std::int64_t block = only_block(kernel, guard, position.block);
    std::fill(values.begin(), values.end(), 0);
    values[static_cast<std::size_t>(position.block)] = std::max<std::int64_t>(block, 0);
    may_vary = ir::VarSet::only(static_cast<std::size_t>(position.thread));
    if (block >= 0) may_vary |= ir::VarSet::only(static_cast<std::size_t>(position.block));
    blocks = block >= 0 ? 1 : kernel.virtual_blocks;
    return count_apart(at, guard.end, all_lanes());
  }

  /// What trips have in common, such as the bias of a thread's column.
  bool ahead(std::int32_t at) {
    std::fill(values.begin(), values.end(), 0);
    may_vary = ir::VarSet::only(static_cast<std::size_t>(position.thread));
    blocks = kernel.virtual_blocks;
    std::int64_t& sum = units[static_cast<std::size_t>(at)];
    sum = 0;
    return sectors_apart(kernel.body[static_cast<std::size_t>(at)], all_lanes(), sum);
  }

  std::vector<std::uint32_t> all_lanes() const {
    std::vector<std::uint32_t> masks;
    for (int w = 0; w * warp_lanes < kernel.threads; ++w) masks.push_back(full_mask(kernel, w));
    return masks;
  }

  void go_to(int w, int lane) { values[static_cast<std::size_t>(position.thread)] = w * warp_lanes + lane; }

  /// The guard at `at` and what is in it; the guard itself is executed by all lanes of `masks`.
  bool count_apart(std::int32_t at, std::int32_t end, const std::vector<std::uint32_t>& masks) {
    const ir::Stmt& guard = kernel.body[static_cast<std::size_t>(at)];
    if (guard.value != ir::no_value || !variables_of(kernel, guard).without(may_vary).empty()) return false;
    std::vector<std::uint32_t> inside(masks.size(), 0);
    StmtCount each;
    for (std::size_t w = 0; w < masks.size(); ++w) {
      for (std::uint32_t rest = masks[w]; rest != 0; rest &= rest - 1) {
        go_to(static_cast<int>(w), std::countr_zero(rest));
        if (holds(kernel, guard, values)) inside[w] |= rest & -rest;
      }
      each.executions += inside[w] != 0 ? blocks : 0;
      each.lanes += std::popcount(inside[w]) * blocks;
    }
    for (std::int32_t in = at + 1; in < end; ++in) {
      const ir::Stmt& stmt = kernel.body[static_cast<std::size_t>(in)];
      if (stmt.kind == StmtKind::barrier || exchanges_lanes(stmt) || stmt.kind == StmtKind::fence ||
          stmt.kind == StmtKind::loop || stmt.kind == StmtKind::atomic)
        return false;
      standings[static_cast<std::size_t>(in)].scope = Standing::apart;
      StmtCount count = each;
      if (ir::is_memory(stmt) && !sectors_apart(stmt, inside, count.units)) return false;
      counted_apart.emplace_back(in, count);
      if (stmt.kind != StmtKind::guard) continue;
      if (!count_apart(in, stmt.end, inside)) return false;
      in = stmt.end - 1;
    }
    return true;
  }

  bool sectors_apart(const ir::Stmt& stmt, const std::vector<std::uint32_t>& masks, std::int64_t& apart) {
    if (stmt.space != ir::Space::global || !kernel.indices[stmt.expr].vars.without(may_vary).empty()) return false;
    const int bytes = element_bytes(kernel, stmt);
    for (std::size_t w = 0; w < masks.size(); ++w) {
      std::array<std::int64_t, warp_lanes> offsets{};
      for (std::uint32_t rest = masks[w]; rest != 0; rest &= rest - 1) {
        const int lane = std::countr_zero(rest);
        go_to(static_cast<int>(w), lane);
        offsets[static_cast<std::size_t>(lane)] = evaluate(kernel.indices, stmt.expr, values) * bytes;
      }
      apart += count_sectors(offsets, 0, masks[w], bytes * stmt.width) * blocks;
    }
    return true;
  }

  /// The kernel's variables at a place of the known one.
  void fill_row(std::span<const std::int64_t> place, std::span<std::int64_t> row) const {
    std::fill(row.begin(), row.end(), 0);
    const std::int64_t number =
        place[static_cast<std::size_t>(own.block)] * warp_lanes + place[static_cast<std::size_t>(own.thread)];
    row[static_cast<std::size_t>(position.thread)] = number % kernel.threads;
    if (position.trip != Position::no_var)
      row[static_cast<std::size_t>(position.trip)] = number / kernel.threads % position.trips;
    row[static_cast<std::size_t>(position.block)] = number / (kernel.threads * position.trips);
    for (const auto& [of_known, of_kernel] : loops) row[of_kernel] = place[of_known];
  }

  /// `agrees` gets the kernel's variables at a place of the scope. Conditions ask at the same places again and again.
  template <class Agrees>
  bool at_all_places(std::int32_t scope, const Agrees& agrees) {
    const std::vector<std::int64_t>& places = scope_at(scope).places;
    const std::size_t each = flat.kernel.indices.vars.size(), count = places.size() / each;
    Rows& known = rows[static_cast<std::size_t>(scope)];
    if (known.loops == 0) {
      known.first = row_values.size();
      row_values.resize(row_values.size() + count * values.size());
    }
    const auto row = [&](std::size_t i) {
      return std::span(row_values).subspan(known.first + i * values.size(), values.size());
    };
    if (known.loops != open_loops)
      for (std::size_t i = 0; i < count; ++i) fill_row(std::span(places).subspan(i * each, each), row(i));
    known.loops = open_loops;
    for (std::size_t i = 0; i < count; ++i)
      if (!agrees(std::span<const std::int64_t>(row(i)))) return false;
    return true;
  }

  /// The scopes at whose places a guard is held against a known one: its own, those near it, and the one around.
  template <class Visit>
  bool at_scopes_near(std::int32_t candidate, const Visit& visit) {
    if (!visit(candidate)) return false;
    const std::int32_t around = scope_at(candidate).around;
    const std::vector<std::int32_t>& siblings = scope_at(around).inner;
    const auto i = static_cast<std::size_t>(std::find(siblings.begin(), siblings.end(), candidate) - siblings.begin());
    for (std::size_t near = i - std::min(i, near_scopes); near < std::min(i + near_scopes + 1, siblings.size()); ++near)
      if (near != i && !visit(siblings[near])) return false;
    return visit(around);
  }

  const std::vector<std::uint8_t>& held_near(std::int32_t candidate) {
    std::vector<std::uint8_t>& held = flat.scopes[static_cast<std::size_t>(candidate)].held;
    if (!held.empty()) return held;
    const ir::Stmt& guard = known(scope_at(candidate).at);
    const std::size_t each = flat.kernel.indices.vars.size();
    at_scopes_near(candidate, [&](std::int32_t scope) {
      const std::span<const std::int64_t> places = scope_at(scope).places;
      for (std::size_t at = 0; at + each <= places.size(); at += each)
        held.push_back(holds(flat.kernel, guard, places.subspan(at, each)) ? 1 : 0);
      return true;
    });
    return held;
  }

  bool same_guard(const ir::Stmt& guard, std::int32_t candidate) {
    auto expected = held_near(candidate).begin();
    return at_scopes_near(candidate, [&](std::int32_t scope) {
      return at_all_places(
          scope, [&](std::span<const std::int64_t> row) { return holds(kernel, guard, row) == (*expected++ != 0); });
    });
  }

  /// What the kernel asks next is mostly what the known one does, so that is tried first.
  std::optional<std::int32_t> enter(std::int32_t at, const Standing& standing) {
    const ir::Stmt& stmt = kernel.body[static_cast<std::size_t>(at)];
    const bool is_loop = stmt.kind == StmtKind::loop;
    const std::int64_t extent = is_loop ? kernel.indices.vars[stmt.var].extent : 0;
    const std::vector<std::int32_t>& order = scope_at(standing.scope).order;
    std::size_t& next = next_scope[static_cast<std::size_t>(standing.scope)];
    // The opposite of what was just found is the next one there, as a rule.
    if (stmt.otherwise && next > 0 && next < order.size() && known(scope_at(order[next]).at).otherwise &&
        at_all_places(order[next], [&](std::span<const std::int64_t> row) { return holds(kernel, stmt, row); }))
      return order[next++];
    for (std::size_t tried = 0; tried < order.size(); ++tried) {
      const std::size_t i = (next + tried) % order.size();
      const FlatCounts::Scope& candidate = scope_at(order[i]);
      if (candidate.extent != extent || (!is_loop && !same_guard(stmt, order[i]))) continue;
      next = i + 1;
      if (is_loop) open(known(candidate.at).var, stmt.var);
      return order[i];
    }
    return std::nullopt;
  }
  void leave(std::int32_t at) {
    if (kernel.body[static_cast<std::size_t>(at)].kind != StmtKind::loop) return;
    loops.pop_back();
    mark_loops();
  }
  void open(ir::VarId of_known, ir::VarId of_kernel) {
    loops.emplace_back(of_known, of_kernel);
    mark_loops();
  }
  void mark_loops() {
    open_loops = 1;
    for (const auto& [of_known, of_kernel] : loops)
      open_loops = (open_loops * ir::max_vars + of_known) * ir::max_vars + of_kernel + 1;
  }

  static bool same_access(const ir::Stmt& a, const ir::Stmt& b) {
    return a.kind == b.kind && a.space == b.space && a.memory == b.memory && a.width == b.width;
  }

  bool access(std::int32_t at, const Standing& standing, bool fixed) {
    const ir::Stmt& stmt = kernel.body[static_cast<std::size_t>(at)];
    const FlatCounts::Scope& scope = scope_at(standing.scope);
    const std::vector<FlatCounts::Access>& candidates = fixed ? flat.fixed : scope.accesses;
    std::size_t& next = fixed ? next_fixed : next_access[static_cast<std::size_t>(standing.scope)];
    for (std::size_t tried = 0; tried < candidates.size(); ++tried) {
      const std::size_t i = (next + tried) % candidates.size();
      const ir::Stmt& other = known(candidates[i].at);
      if (!same_access(stmt, other)) continue;
      auto expected = candidates[i].indices.begin();
      const bool agreed = at_all_places(standing.scope, [&](std::span<const std::int64_t> row) {
        return evaluate(kernel.indices, stmt.expr, row) == *expected++;
      });
      if (!agreed) continue;
      next = i + 1;
      units[static_cast<std::size_t>(at)] = candidates[i].units;
      return true;
    }
    return false;
  }
};

/// Of one kernel of a program.
bool count_one_like(FlatCounts& flat, const ir::Kernel& kernel, Scratch& scratch, Work& work) {
  std::vector<Standing> standings(kernel.body.size());
  std::vector<std::int64_t> units(kernel.body.size(), -1);
  Position position;
  Matcher matcher{flat, kernel, position, standings, units};
  if (!find_position(flat.kernel, matcher.own)) return false;
  Walk<Matcher> walk(kernel, flat.kernel, flat.vectors, matcher);
  if (!walk.run(position)) return false;

  Scratch::Body& body = scratch.body();
  begin_count(kernel, body, work);
  work.begins = kernel.begins;
  const std::int64_t warps = kernel.threads / warp_lanes;
  const bool full = std::int64_t{kernel.threads} * kernel.virtual_blocks * position.trips == flat.vectors;
  std::vector<std::int64_t> issue(flat.scopes.size(), 0);
  std::int64_t of_all = 0;
  for (std::size_t at = 0; at < kernel.body.size(); ++at) {
    const Standing& standing = standings[at];
    StmtCount& count = body.counts[at];
    if (standing.scope == Standing::apart) continue;
    if (standing.scope != 0 || standing.exists || (full && standing.trips == position.trips)) {
      const FlatCounts::Scope& scope = flat.scopes[static_cast<std::size_t>(standing.scope)];
      count.executions = scope.executions;
      count.lanes = scope.lanes;
      issue[static_cast<std::size_t>(standing.scope)] += body.costs[at].issue;
    } else {
      count.executions = kernel.virtual_blocks * warps * standing.trips;
      count.lanes = count.executions * warp_lanes;
      of_all += body.costs[at].issue * standing.trips;
    }
    if (units[at] < 0) continue;
    const ir::Stmt& stmt = kernel.body[at];
    const bool fixed = standing.scope == 0 && stmt.space == ir::Space::global && is_fixed(kernel, stmt.expr);
    count.units = fixed ? units[at] * count.executions : units[at];
  }
  for (const auto& [at, count] : matcher.counted_apart) body.counts[static_cast<std::size_t>(at)] = count;
  work.busiest_block = of_all * warps + busiest_run(flat, issue, warps * position.trips);
  body.sampled = flat.sampled;
  count_distinct(kernel, body, work);
  end_count(kernel, body, work);
  return true;
}

}  // namespace

bool count_like(std::span<FlatCounts* const> loops, const ir::Kernel& program, Scratch& scratch, Work& work) {
  if (program.followers.size() + 1 != loops.size()) return false;
  std::vector<Work> followers = std::move(work.followers);
  followers.resize(program.followers.size());
  if (!count_one_like(*loops[0], program, scratch, work)) return false;
  for (std::size_t i = 0; i < followers.size(); ++i)
    if (!count_one_like(*loops[i + 1], program.followers[i], scratch, followers[i])) return false;
  work.followers = std::move(followers);
  return true;
}

bool count_like(FlatCounts& loop, const ir::Kernel& kernel, Scratch& scratch, Work& work) {
  FlatCounts* const loops[] = {&loop};
  return count_like(loops, kernel, scratch, work);
}

bool count_within(const ir::Kernel& kernel, std::int64_t looks, Scratch& scratch, Work& work) {
  scratch.body().most_looks = looks;
  count(kernel, Mode::fast, scratch, work);
  scratch.body().most_looks = 0;
  return !scratch.body().gave_up;
}

}  // namespace tailor::costmodel
