// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Picking the best of each group, and calling whoever looks closer. In: standings, the plans of a batch with their
// estimates so far, and rungs, each a level with an evaluator and a number of plans. Out: nothing but the calls; an
// evaluator adds its estimates to the standings. Called by the sweep for each batch of a stage.
//
// On every rung the plans of each group on each device are ordered by the level that the rung names, ties by their
// place in the list, and the first few are handed to the evaluator in one call, so that it may compile or execute them
// together. A plan that is refuted, or that the level did not estimate, is left out.
#include "explore/plans/climb.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tailor::explore {

const ir::Estimate* Standing::at(ir::Level level) const {
  for (const ir::Estimate& estimate : estimates)
    if (estimate.level == level) return &estimate;
  return nullptr;
}

std::vector<std::size_t> best_by(std::span<const Standing* const> plans, ir::Level by, std::int64_t top) {
  std::map<std::pair<Id, Id>, std::size_t> numbers;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i]->refuted || plans[i]->at(by) == nullptr) continue;
    const auto [found, fresh] = numbers.try_emplace({plans[i]->device, plans[i]->group}, groups.size());
    if (fresh) groups.emplace_back();
    groups[found->second].push_back(i);
  }
  std::vector<std::size_t> best;
  for (std::vector<std::size_t>& group : groups) {
    std::stable_sort(group.begin(), group.end(),
                     [&](std::size_t a, std::size_t b) { return plans[a]->at(by)->total < plans[b]->at(by)->total; });
    const std::size_t count = std::min(group.size(), static_cast<std::size_t>(std::max<std::int64_t>(top, 0)));
    best.insert(best.end(), group.begin(), group.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return best;
}

void climb(std::span<const Standing* const> plans, std::span<const Rung> rungs) {
  for (const Rung& rung : rungs) {
    const std::vector<std::size_t> chosen = best_by(plans, rung.by, rung.top);
    rung.evaluate(chosen);
  }
}

}  // namespace tailor::explore
