// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The busiest block of a flat loop. In: the loop, with how often each warp runs each of its scopes; what each scope
// issues; warps of a block. Out: the most that one block issues. Called for every plan that takes its counts from the
// loop.
//
// It is the greatest sum over a run of warps. A scope that all of its warps run as often, as an arm of a stack, is a
// step up and a step down. Between two steps all warps are alike, so only the blocks at a step are added up, however
// many warps there are. Otherwise the blocks of one length that run different things are found once for all plans with
// such blocks: there are few, for what they meet repeats itself.
#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "costmodel/flat/flat.h"

namespace tailor::costmodel {

namespace {

bool is_even(const FlatCounts::Scope& scope) { return scope.steps.steps.empty(); }

}  // namespace

std::int64_t runs_before(const FlatCounts::Scope& scope, std::int64_t warp) {
  const std::int64_t at = std::clamp<std::int64_t>(warp - scope.first, 0, scope.warps);
  return is_even(scope) ? at * scope.most : runs_before(scope.steps, at);
}

namespace {

/// Of a scope: odd, and unlike that of any other. That of the first is of warps.
std::uint64_t mark_of(std::size_t scope) {
  std::uint64_t mark = (scope + 1) * 0x9e3779b97f4a7c15ULL;
  mark = (mark ^ mark >> 31) * 0xff51afd7ed558ccdULL;
  return (mark ^ mark >> 29) | 1;
}

/// Only where a scope's number changes is anything written, and then all are summed up together.
std::vector<std::uint64_t> marks_of(const FlatCounts& flat) {
  std::vector<std::uint64_t> marks(static_cast<std::size_t>(flat.runs.front().count) + 1, 0);
  for (std::size_t i = 1; i < flat.scopes.size(); ++i) {
    const FlatCounts::Scope& scope = flat.scopes[i];
    std::uint64_t* const changes = marks.data() + scope.first;
    std::uint32_t times = is_even(scope) ? static_cast<std::uint32_t>(scope.most) : 0;
    changes[0] += mark_of(i) * times;
    const std::int64_t period = scope.steps.period == 0 ? scope.warps : scope.steps.period;
    for (std::int64_t from = 0; from < scope.warps && !is_even(scope); from += period)
      for (const WarpStep& step : scope.steps.steps) {
        if (from + step.from >= scope.warps) break;
        const auto next = static_cast<std::uint32_t>(step.times);
        changes[from + step.from] += mark_of(i) * (std::uint64_t{next} - times);
        times = next;
      }
    changes[scope.warps] -= mark_of(i) * times;
  }
  std::uint64_t each = mark_of(0), sum = 0;
  for (std::uint64_t& mark : marks) {
    each += mark;
    mark = sum;
    sum += each;
  }
  return marks;
}

/// All that blocks of so many warps run. Arrays have many blocks and few different ones. What a block runs is the
/// difference of two marks: equal for equal blocks, and by their hash of 64 bits for no others.
FlatCounts::Blocks different_blocks(FlatCounts& flat, std::int64_t block) {
  if (flat.marks.empty()) flat.marks = marks_of(flat);
  FlatCounts::Blocks made{block, {}};
  const std::int64_t warps = flat.runs.front().count;
  std::uint64_t last = 0;
  std::unordered_set<std::uint64_t> known;
  for (std::int64_t first = 0; first < warps; first += block) {
    const std::int64_t beyond = std::min(first + block, warps);
    const std::uint64_t mark =
        flat.marks[static_cast<std::size_t>(beyond)] - flat.marks[static_cast<std::size_t>(first)];
    if (first > 0 && mark == last) continue;
    last = mark;
    if (!known.insert(mark).second) continue;
    made.sums.push_back(beyond - first);
    for (std::size_t i = 1; i < flat.scopes.size(); ++i)
      made.sums.push_back(runs_before(flat.scopes[i], beyond) - runs_before(flat.scopes[i], first));
  }
  return made;
}

/// Of a loop all of whose warps were looked at.
std::int64_t busiest_of_all(FlatCounts& flat, const std::vector<std::int64_t>& issue, std::int64_t block) {
  auto known = std::find_if(flat.blocks.begin(), flat.blocks.end(),
                            [&](const FlatCounts::Blocks& one) { return one.warps == block; });
  if (known == flat.blocks.end()) known = flat.blocks.insert(known, different_blocks(flat, block));
  std::int64_t most = 0;
  for (auto sums = known->sums.begin(); sums != known->sums.end(); sums += std::ssize(issue))
    most = std::max(most, std::inner_product(issue.begin(), issue.end(), sums, std::int64_t{0}));
  return most;
}

}  // namespace

std::int64_t busiest_run(FlatCounts& flat, const std::vector<std::int64_t>& issue, std::int64_t block) {
  const bool even = std::all_of(flat.scopes.begin(), flat.scopes.end(), is_even);
  if (flat.runs.size() == 1 && !even) return busiest_of_all(flat, issue, block);
  std::int64_t warps = 0;
  for (const FlatCounts::Run& run : flat.runs) warps += run.count;
  // What scopes issue that each of their warps runs as often.
  WarpChanges changes = {{0, issue[0]}, {warps, -issue[0]}};
  std::vector<std::size_t> uneven;
  for (std::size_t i = 1; i < flat.scopes.size(); ++i) {
    const FlatCounts::Scope& scope = flat.scopes[i];
    if (issue[i] == 0 || scope.warps == 0) continue;
    if (is_even(scope))
      changes.insert(changes.end(),
                     {{scope.first, issue[i] * scope.most}, {scope.first + scope.warps, -issue[i] * scope.most}});
    else
      uneven.push_back(i);
  }
  const std::vector<WarpStep> steps = steps_of(changes);
  const auto before_warp = [&](std::int64_t warp) {
    std::int64_t sum = runs_before(steps, warp);
    for (const std::size_t i : uneven) sum += issue[i] * runs_before(flat.scopes[i], warp);
    return sum;
  };
  std::int64_t most = 0, before = 0;
  for (const FlatCounts::Run& run : flat.runs) {
    const std::int64_t end = before + run.count;
    const bool goes_on = run.count < block && run.count == flat.runs.front().count && flat.runs.size() > 1;
    const auto look_at = [&](std::int64_t first) {
      const std::int64_t sum = before_warp(std::min(first + block, end)) - before_warp(first);
      most = std::max(most, goes_on ? sum * block / run.count : sum);
    };
    if (flat.runs.size() > 1) {
      for (std::int64_t first = before; first < end; first += block) look_at(first);
    } else {  // between two changes all blocks are alike: those at a change, and the one behind it
      look_at(0);
      for (const WarpStep& step : steps)
        for (const std::int64_t first :
             {step.from / block * block - block, step.from / block * block, step.from / block * block + block})
          if (first >= 0 && first < end) look_at(first);
    }
    before = end;
  }
  return most;
}

}  // namespace tailor::costmodel
