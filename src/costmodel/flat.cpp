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
//
// Where a loop is too large to look at every warp, runs of a few neighbours from all over it stand for the others. That
// sample too is taken once for all plans of a vector, so it may be large, and plans are told apart by what they do and
// not by which warps happened to be looked at. Work::sampled says so. A block longer than a run is taken to go on like
// the run.
#include "costmodel/flat.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "costmodel/scratch.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

/// Beyond this the long way is not longer.
constexpr std::int64_t most_flat_warps = std::int64_t{1} << 18;
/// Scopes on either side whose places a condition is held against. A window asks for the edges on all sides and for
/// each two that meet in a corner, so what is told apart from a corner by one edge stands as far from it as that.
constexpr std::size_t near_scopes = 4;
/// Of a sample: runs, and warps of each.
constexpr std::int64_t sampled_runs = 160, run_warps = 32;

/// Whether a known loop has a variable of this name; others are trips.
bool is_known(const ir::Kernel& like, const ir::Var& var) {
  return std::any_of(like.indices.vars.begin(), like.indices.vars.end(),
                     [&](const ir::Var& other) { return other.name == var.name; });
}

/// The variables of a guard's conditions.
ir::VarSet variables_of(const ir::Kernel& kernel, const ir::Stmt& guard) {
  ir::VarSet vars;
  for (const ir::Condition& one : guard.conditions)
    if (has_condition(one)) vars |= kernel.indices[one.a].vars | kernel.indices[one.b].vars;
  return vars;
}

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

/// Whether the expression is one number for all vectors.
bool is_fixed(const ir::Kernel& kernel, ir::ExprId expr) {
  for (std::size_t v = 0; v < kernel.indices.vars.size(); ++v) {
    const ir::VarKind kind = kernel.indices.vars[v].kind;
    if (kernel.indices[expr].vars.has(v) && kind != ir::VarKind::data && kind != ir::VarKind::picked) return false;
  }
  return true;
}

bool holds(const ir::Kernel& kernel, const ir::Stmt& guard, std::span<const std::int64_t> values) {
  for (const ir::Condition& one : guard.conditions) {
    if (!has_condition(one)) continue;
    const std::int64_t a = evaluate(kernel.indices, one.a, values), b = evaluate(kernel.indices, one.b, values);
    if (one.equal ? a != b : a >= b) return false;
  }
  return true;
}

/// Where a statement stands.
struct Standing {
  static constexpr std::int32_t apart = -1;
  std::int32_t scope = 0;
  bool exists = false;     ///< in the guard that asks whether the vector exists
  std::int64_t trips = 1;  ///< around it
};

/// Goes through a program, its trips and the guard of existence passed through. `Visitor` has enter(at, standing),
/// which says the scope that a guard or loop opens, or none to give up; leave(at); access(at, standing), false to give
/// up; ahead(at), the same for what is done once for all trips; plain(at, standing) for every statement; and apart(at,
/// in_loop) for guards outside of all trips: true where what is in it is not part of the loop and is not to be visited.
template <class Visitor>
class Walk {
 public:
  Walk(const ir::Kernel& kernel, const ir::Kernel& like, std::int64_t vectors, Visitor& visitor)
      : kernel_(kernel), like_(like), vectors_(vectors), visitor_(visitor) {}

  /// `position` is filled before anything is visited.
  bool run(Position& position) {
    position_ = &position;
    if (!find_position(kernel_, position)) return false;
    for (const ir::Stmt& stmt : kernel_.body) {
      if (stmt.kind != StmtKind::loop || is_known(like_, kernel_.indices.vars[stmt.var])) continue;
      if (position.trip != Position::no_var && position.trip != static_cast<int>(stmt.var)) return false;
      position.trip = static_cast<int>(stmt.var);
      position.trips = kernel_.indices.vars[stmt.var].extent;
    }
    return scope(0, static_cast<std::int32_t>(kernel_.body.size()), {});
  }

 private:
  /// Whether all vectors come by there.
  bool is_in_loop(const Standing& standing) const {
    const std::int64_t all = std::int64_t{kernel_.threads} * kernel_.virtual_blocks * position_->trips;
    return standing.exists || standing.scope != 0 || (all == vectors_ && standing.trips == position_->trips);
  }

  /// Whether each thread of the grid does it once, in front of all its trips, and alike in all blocks.
  bool is_ahead(const ir::Stmt& stmt, const Standing& standing) const {
    const ir::VarSet thread = ir::VarSet::only(static_cast<std::size_t>(position_->thread));
    return position_->trips > 1 && standing.scope == 0 && !standing.exists && standing.trips == 1 &&
           stmt.space == ir::Space::global && kernel_.indices[stmt.expr].vars.without(thread).empty();
  }

  bool scope(std::int32_t from, std::int32_t to, const Standing& standing) {
    for (std::int32_t at = from; at < to; ++at) {
      const ir::Stmt& stmt = kernel_.body[static_cast<std::size_t>(at)];
      visitor_.plain(at, standing);
      if (ir::is_memory(stmt)) {
        const bool fixed = standing.scope == 0 && stmt.space == ir::Space::global && is_fixed(kernel_, stmt.expr);
        if (!fixed && !is_in_loop(standing) ? !is_ahead(stmt, standing) || !visitor_.ahead(at)
                                            : !visitor_.access(at, standing, fixed))
          return false;
      }
      if (stmt.kind == StmtKind::barrier || exchanges_lanes(stmt) || stmt.kind == StmtKind::fence) return false;
      if (stmt.kind != StmtKind::guard && stmt.kind != StmtKind::loop) continue;
      Standing inside = standing;
      bool opens = false;
      if (stmt.kind == StmtKind::guard && standing.scope == 0 && !standing.exists && standing.trips == 1 &&
          !asks_existence(kernel_, stmt, vectors_, *position_) && visitor_.apart(at, is_in_loop(standing))) {
        at = stmt.end - 1;
        continue;
      }
      if (stmt.kind == StmtKind::loop && static_cast<int>(stmt.var) == position_->trip) {
        if (standing.scope != 0 || standing.exists) return false;
        inside.trips *= position_->trips;
      } else if (stmt.kind == StmtKind::guard && standing.scope == 0 && !standing.exists &&
                 asks_existence(kernel_, stmt, vectors_, *position_)) {
        inside.exists = true;
      } else {
        const std::optional<std::int32_t> entered =
            is_in_loop(standing) && stmt.value == ir::no_value ? visitor_.enter(at, standing) : std::nullopt;
        if (!entered) return false;
        inside.scope = *entered;
        opens = true;
      }
      if (!scope(at + 1, stmt.end, inside)) return false;
      if (opens) visitor_.leave(at);
      at = stmt.end - 1;
    }
    return true;
  }

  const ir::Kernel& kernel_;
  const ir::Kernel& like_;
  std::int64_t vectors_;
  Visitor& visitor_;
  const Position* position_ = nullptr;
};

/// Makes the scopes of a loop that is counted for the first time.
struct Learner {
  FlatCounts& flat;
  const Scratch::Body& body;

  void plain(std::int32_t, const Standing&) {}
  void leave(std::int32_t) {}

  bool apart(std::int32_t, bool in_loop) const { return flat.sampled && !in_loop; }
  bool ahead(std::int32_t) const { return false; }

  bool access(std::int32_t at, const Standing& standing, bool fixed) {
    const StmtCount& count = body.counts[static_cast<std::size_t>(at)];
    FlatCounts::Scope& scope = flat.scopes[static_cast<std::size_t>(standing.scope)];
    FlatCounts::Access access{at, count.units, {}};
    const std::size_t each = flat.kernel.indices.vars.size();
    const ir::ExprId index = flat.kernel.body[static_cast<std::size_t>(at)].expr;
    for (std::size_t place = 0; place + each <= scope.places.size(); place += each)
      access.indices.push_back(evaluate(flat.kernel.indices, index, std::span(scope.places).subspan(place, each)));
    if (fixed) access.units = count.executions == 0 ? 0 : count.units / count.executions;
    (fixed ? flat.fixed : scope.accesses).push_back(std::move(access));
    return true;
  }

  std::optional<std::int32_t> enter(std::int32_t at, const Standing& standing) {
    const ir::Stmt& stmt = flat.kernel.body[static_cast<std::size_t>(at)];
    const bool is_loop = stmt.kind == StmtKind::loop;
    const std::int64_t extent = is_loop ? flat.kernel.indices.vars[stmt.var].extent : 0;
    for (const std::int32_t known : flat.scopes[static_cast<std::size_t>(standing.scope)].inner) {
      const FlatCounts::Scope& scope = flat.scopes[static_cast<std::size_t>(known)];
      const ir::Stmt& other = flat.kernel.body[static_cast<std::size_t>(scope.at)];
      if (other.kind != stmt.kind || scope.extent != extent) continue;
      if (is_loop ? other.var == stmt.var : same_question(other, stmt)) return known;
    }
    const auto made = static_cast<std::int32_t>(flat.scopes.size());
    FlatCounts::Scope scope;
    scope.at = at;
    scope.around = standing.scope;
    scope.extent = extent;
    for (const SeenScope& seen : body.seen_scopes) {
      if (seen.first != at + 1) continue;
      scope.executions = seen.executions;
      scope.lanes = seen.lanes;
      scope.first = seen.from;
      scope.warps = std::ssize(seen.times);
      if (!seen.times.empty()) {
        const auto [least, most] = std::minmax_element(seen.times.begin(), seen.times.end());
        scope.most = *most;
        if (*least != *most) scope.before.resize(seen.times.size() + 1);
        for (std::size_t w = 0; w + 1 < scope.before.size(); ++w) scope.before[w + 1] = scope.before[w] + seen.times[w];
      }
      scope.places = seen.places;
    }
    flat.scopes.push_back(std::move(scope));
    flat.scopes[static_cast<std::size_t>(standing.scope)].inner.push_back(made);
    return made;
  }
};

/// Finds each scope and access of a kernel among the known ones.
struct Matcher {
  const FlatCounts& flat;
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
  void go_to(std::span<const std::int64_t> place) {
    std::fill(values.begin(), values.end(), 0);
    const std::int64_t number =
        place[static_cast<std::size_t>(own.block)] * warp_lanes + place[static_cast<std::size_t>(own.thread)];
    values[static_cast<std::size_t>(position.thread)] = number % kernel.threads;
    if (position.trip != Position::no_var)
      values[static_cast<std::size_t>(position.trip)] = number / kernel.threads % position.trips;
    values[static_cast<std::size_t>(position.block)] = number / (kernel.threads * position.trips);
    for (const auto& [of_known, of_kernel] : loops) values[of_kernel] = place[of_known];
  }

  template <class Agrees>
  bool at_all_places(const std::vector<std::int64_t>& places, const Agrees& agrees) {
    const std::size_t each = flat.kernel.indices.vars.size();
    for (std::size_t at = 0; at + each <= places.size(); at += each) {
      const std::span<const std::int64_t> place(places.data() + at, each);
      go_to(place);
      if (!agrees(place)) return false;
    }
    return true;
  }

  bool same_guard(const ir::Stmt& guard, const std::vector<std::int32_t>& siblings, std::size_t i) {
    const ir::Stmt& other = known(scope_at(siblings[i]).at);
    const auto agrees = [&](std::span<const std::int64_t> place) {
      return holds(kernel, guard, values) == holds(flat.kernel, other, place);
    };
    if (!at_all_places(scope_at(siblings[i]).places, agrees)) return false;
    for (std::size_t near = i - std::min(i, near_scopes); near < std::min(i + near_scopes + 1, siblings.size()); ++near)
      if (near != i && !at_all_places(scope_at(siblings[near]).places, agrees)) return false;
    return at_all_places(scope_at(scope_at(siblings[i]).around).places, agrees);
  }

  std::optional<std::int32_t> enter(std::int32_t at, const Standing& standing) {
    const ir::Stmt& stmt = kernel.body[static_cast<std::size_t>(at)];
    const bool is_loop = stmt.kind == StmtKind::loop;
    const std::int64_t extent = is_loop ? kernel.indices.vars[stmt.var].extent : 0;
    const std::vector<std::int32_t>& siblings = scope_at(standing.scope).inner;
    std::size_t& next = next_scope[static_cast<std::size_t>(standing.scope)];
    // The opposite of what was just found is the next one there, as a rule.
    if (stmt.otherwise && next > 0 && next < siblings.size() && known(scope_at(siblings[next]).at).otherwise &&
        at_all_places(scope_at(siblings[next]).places,
                      [&](std::span<const std::int64_t>) { return holds(kernel, stmt, values); }))
      return siblings[next++];
    for (std::size_t tried = 0; tried < siblings.size(); ++tried) {
      const std::size_t i = (next + tried) % siblings.size();
      const FlatCounts::Scope& candidate = scope_at(siblings[i]);
      if (candidate.extent != extent || (!is_loop && !same_guard(stmt, siblings, i))) continue;
      next = i + 1;
      if (is_loop) loops.emplace_back(known(candidate.at).var, stmt.var);
      return siblings[i];
    }
    return std::nullopt;
  }
  void leave(std::int32_t at) {
    if (kernel.body[static_cast<std::size_t>(at)].kind == StmtKind::loop) loops.pop_back();
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
      const bool agreed = at_all_places(scope.places, [&](std::span<const std::int64_t>) {
        return evaluate(kernel.indices, stmt.expr, values) == *expected++;
      });
      if (!agreed) continue;
      next = i + 1;
      units[static_cast<std::size_t>(at)] = candidates[i].units;
      return true;
    }
    return false;
  }
};

/// The loop as the blocks say that the scratch names; `position` is the kernel's.
std::optional<FlatCounts> learned(const ir::Kernel& one_warp, std::int64_t vectors, std::int64_t looks,
                                  Scratch& scratch) {
  const std::int64_t warps = (vectors + warp_lanes - 1) / warp_lanes;
  Position position;
  if (one_warp.threads != warp_lanes || one_warp.virtual_blocks != warps || !find_position(one_warp, position))
    return std::nullopt;
  Scratch::Body& body = scratch.body();
  const bool samples = !body.looked_at.empty();
  body.sees_scopes = true;
  body.most_looks = looks;
  Work work;
  begin_count(one_warp, body, work);
  count_fast(one_warp, body, work);
  body.sees_scopes = false;
  body.most_looks = 0;
  if (body.gave_up || (body.sampled && !samples)) return std::nullopt;
  FlatCounts flat;
  flat.kernel = one_warp;
  flat.kernel.followers.clear();
  flat.vectors = vectors;
  flat.sampled = samples;
  for (const BlockRun& run : body.looked_at) flat.runs.push_back({run.first, run.count});
  if (!samples) flat.runs.push_back({0, warps});
  FlatCounts::Scope all;
  all.executions = warps;
  all.lanes = vectors;
  for (const std::int64_t number : {std::int64_t{0}, vectors / 3, vectors - 1}) {
    std::vector<std::int64_t> place(one_warp.indices.vars.size(), 0);
    place[static_cast<std::size_t>(position.block)] = number / warp_lanes;
    place[static_cast<std::size_t>(position.thread)] = number % warp_lanes;
    all.places.insert(all.places.end(), place.begin(), place.end());
  }
  flat.scopes.push_back(std::move(all));
  position = {};
  Learner learner{flat, body};
  if (!Walk<Learner>(flat.kernel, flat.kernel, vectors, learner).run(position)) return std::nullopt;
  return flat;
}

}  // namespace

std::optional<FlatCounts> count_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch,
                                     std::int64_t looks) {
  if (vectors == 0) vectors = vectors_of(one_warp);
  if ((vectors + warp_lanes - 1) / warp_lanes > most_flat_warps) return std::nullopt;
  return learned(one_warp, vectors, looks, scratch);
}

int widest_access(const ir::Kernel& kernel) {
  int widest = 1;
  for (const ir::Stmt& stmt : kernel.body)
    if (ir::is_memory(stmt) && stmt.space == ir::Space::global) widest = std::max<int>(widest, stmt.width);
  return widest;
}

std::optional<FlatCounts> sample_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch) {
  const std::int64_t warps = (vectors + warp_lanes - 1) / warp_lanes;
  const std::int64_t whole = (warps - 1) / run_warps;  // the last warps are looked at in any case
  if (whole <= sampled_runs || !one_warp.followers.empty()) return std::nullopt;
  std::vector<BlockRun>& runs = scratch.body().looked_at;
  for (std::int64_t i = 0; i < sampled_runs; ++i) {
    std::int64_t stands_for = 1;
    const std::int64_t at = scattered(i, sampled_runs, whole, stands_for);
    runs.push_back({at * run_warps, run_warps, stands_for});
  }
  runs.push_back({whole * run_warps, warps - whole * run_warps, 1});
  std::optional<FlatCounts> flat = learned(one_warp, vectors, most_flat_looks, scratch);
  scratch.body().looked_at.clear();
  return flat;
}

namespace {

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
