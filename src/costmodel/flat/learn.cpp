// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Counting a flat loop for all plans that share it. In: the loop lowered for blocks of one warp, and its vectors. Out:
// its scopes and accesses with their counts. Called when the first plan of a vector is counted.
//
// A loop is counted by walking its domains (fast.cpp) where they are few. Where that takes more looks than evaluating
// every warp would, every warp is evaluated (evaluated.cpp). Where that is too much as well, runs of a few neighbours
// from all over the loop stand for the others. That sample too is taken once for all plans of a vector, so it may be
// large, and plans are told apart by what they do and not by which warps happened to be looked at. Work::sampled says
// so. A block longer than a run is taken to go on like the run.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/division.h"
#include "costmodel/flat/evaluated.h"
#include "costmodel/flat/flat.h"
#include "costmodel/flat/walk.h"

namespace tailor::costmodel {

namespace {

using ir::StmtKind;

/// Beyond this the long way is not longer.
constexpr std::int64_t most_flat_warps = std::int64_t{1} << 18;
/// Of a sample: runs, which are as many as so many evaluations allow, and warps of each.
constexpr std::int64_t most_evaluations = 120'000, least_runs = 32, most_runs = 160, run_warps = 32;
/// A warp that goes through thousands of trips is counted plan by plan: walking takes trips together.
constexpr std::int64_t too_many_evaluations = 2'000'000;
/// In any case domains are walked in so many looks: most loops take fewer.
constexpr std::int64_t few_looks = 1000;

/// Makes the scopes of a loop that is counted for the first time.
struct Learner {
  FlatCounts& flat;
  Scratch::Body& body;

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
    const std::int32_t opened = scope_of(at, standing);
    flat.scopes[static_cast<std::size_t>(standing.scope)].order.push_back(opened);
    return opened;
  }

  /// The scope that the statement opens, made if no statement there opened it before.
  std::int32_t scope_of(std::int32_t at, const Standing& standing) {
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
    for (SeenScope& seen : body.seen_scopes) {
      if (seen.first != at + 1) continue;
      scope.executions = seen.executions;
      scope.lanes = seen.lanes;
      scope.first = seen.from;
      scope.warps = seen.warps;
      for (const WarpStep& step : seen.steps.steps) scope.most = std::max<std::int64_t>(scope.most, step.times);
      if (seen.steps.steps.size() > 1) scope.steps = std::move(seen.steps);
      scope.places = seen.places;
    }
    flat.scopes.push_back(std::move(scope));
    flat.scopes[static_cast<std::size_t>(standing.scope)].inner.push_back(made);
    return made;
  }
};

/// How a loop is counted: by walking its domains in no more than so many looks, or by evaluating these runs of its
/// warps.
struct Learning {
  std::int64_t looks = 0;
  std::vector<WarpRun> runs;
  bool is_sample = false;
};

/// Nothing where the kernel is no such loop, or where walking it takes more looks, or samples.
std::optional<FlatCounts> learned(const ir::Kernel& one_warp, std::int64_t vectors, const Learning& how,
                                  Scratch& scratch) {
  const std::int64_t warps = ceil_div(vectors, warp_lanes);
  Position position;
  if (one_warp.threads != warp_lanes || one_warp.virtual_blocks != warps || !find_position(one_warp, position))
    return std::nullopt;
  Scratch::Body& body = scratch.body();
  Work work;
  begin_count(one_warp, body, work);
  if (how.runs.empty()) {
    body.sees_scopes = true;
    body.most_looks = how.looks;
    count_fast(one_warp, body, work);
    body.sees_scopes = false;
    body.most_looks = 0;
    if (body.gave_up || body.sampled) return std::nullopt;
  } else {
    count_evaluated(one_warp, how.runs, body);
  }
  FlatCounts flat;
  flat.kernel = one_warp;
  flat.kernel.followers.clear();
  flat.vectors = vectors;
  flat.sampled = how.is_sample;
  for (const WarpRun& run : how.runs) flat.runs.push_back({run.first, run.count});
  if (how.runs.empty()) flat.runs.push_back({0, warps});
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
  const std::int64_t warps = ceil_div(vectors, warp_lanes);
  if (warps > most_flat_warps) return std::nullopt;
  const std::int64_t evaluating = ceil_div(warps * evaluations_a_warp(one_warp), evaluations_a_look);
  if (auto walked = learned(one_warp, vectors, {std::min(looks, std::max(evaluating, few_looks)), {}}, scratch))
    return walked;
  if (evaluating > looks) return std::nullopt;
  return evaluate_flat(one_warp, vectors, scratch);
}

std::optional<FlatCounts> evaluate_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch) {
  if (vectors == 0) vectors = vectors_of(one_warp);
  return learned(one_warp, vectors, {0, {{0, ceil_div(vectors, warp_lanes), 1}}}, scratch);
}

int widest_access(const ir::Kernel& kernel) {
  int widest = 1;
  for (const ir::Stmt& stmt : kernel.body)
    if (ir::is_memory(stmt) && stmt.space == ir::Space::global) widest = std::max<int>(widest, stmt.width);
  return widest;
}

std::optional<FlatCounts> sample_flat(const ir::Kernel& one_warp, std::int64_t vectors, Scratch& scratch) {
  const std::int64_t warps = ceil_div(vectors, warp_lanes);
  const std::int64_t whole = (warps - 1) / run_warps;  // the last warps are looked at in any case
  const std::int64_t each = std::max<std::int64_t>(1, evaluations_a_warp(one_warp));
  const std::int64_t sampled = std::clamp(most_evaluations / (run_warps * each), least_runs, most_runs);
  if (!one_warp.followers.empty() || std::min(whole, sampled) * run_warps * each > too_many_evaluations)
    return std::nullopt;
  Learning how;
  how.is_sample = true;
  if (whole <= sampled) {
    how.runs.push_back({0, warps, 1});
    return learned(one_warp, vectors, how, scratch);
  }
  for (std::int64_t i = 0; i < sampled; ++i) {
    std::int64_t stands_for = 1;
    const std::int64_t at = scattered(i, sampled, whole, stands_for);
    how.runs.push_back({at * run_warps, run_warps, stands_for});
  }
  how.runs.push_back({whole * run_warps, warps - whole * run_warps, 1});
  return learned(one_warp, vectors, how, scratch);
}

}  // namespace tailor::costmodel
