// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk over a plan space. In: a prepared group, axes, limits, rules in force. Out: plans that no rule drops, and
// counts of those that were dropped. Called by tune.cpp and by tests.
//
// The axes are levels of a tree in the order of enumeration (axes_of): a node is a prefix, values of the first axes,
// and its children fix the next one. The walk goes depth first, so plans come in the order in which a product of all
// values would have them, the last axis fastest. One plan is kept and changed in place, so the memory is that of one
// path: what stands in it below the node is left over from plans before, and nobody who is asked may look there.
//
// Children that mean nothing beside the prefix are never made: more threads per row than threads. Which values mean
// what beside which others is a table, dependences(). What the values of the other axes are does not matter to it.
//
// Rules. Each part of a rule says what it reads; fields_behind() says on which fields of the skeleton that rests. It is
// asked at the level of the last of these, about each prefix once, in the order of the table, and what it drops are all
// plans below. So the plans that remain are those that no rule drops when each is asked about whole plans, whatever the
// order; tests hold both against one another.
//
// The mapping is worked out at the levels where a part that asks for it stands, if one of the fields behind any part of
// a tiling was fixed since the level above that had it worked out. Parts of the tiling that rest on later fields hold
// numbers of plans before, as the plan does.
//
// Counts. A dropped branch has as many plans as there are meaningful values below, axis by axis: a product, but for
// axes that later ones depend on, whose values are gone through.
#include "explore/plans/walk.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/indexed.h"

namespace tailor::explore {

namespace {

using ir::Plan;

constexpr std::array dependence_table = [] {
  using enum ir::PlanField;
  return std::to_array<Dependence>({
      {threads_per_row, ir::field_bits({threads}),
       "a row has no more threads than the block (threads, threads_per_row)", true,
       [](const Plan& prefix, const ir::Limits&, int value, bool) {
         return value <= prefix.threads ? std::optional(value) : std::nullopt;
       }},
      {meet, ir::field_bits({split}), "one block has nobody to meet (split, meet)", true,
       [](const Plan& prefix, const ir::Limits&, int value, bool) {
         const bool meets = static_cast<ir::Meeting>(value) != ir::Meeting::last;
         return prefix.split > 1 || !meets ? std::optional(value) : std::nullopt;
       }},
      {blocks_per_sm, ir::field_bits({threads, grid}),
       "a plan of tiles has no number of resident blocks; of a persistent grid 0 stands for half the threads of an SM, "
       "enough to cover latency, with room for the registers that the kernel will really need",
       false,
       [](const Plan& prefix, const ir::Limits& limits, int value, bool first) -> std::optional<int> {
         if (prefix.grid == ir::GridShape::tile) return first ? std::optional(0) : std::nullopt;
         if (value != 0) return value;
         return std::clamp(limits.threads_per_sm / 2 / prefix.threads, 1, limits.blocks_per_sm);
       }},
  });
}();

std::uint32_t bit(ir::PlanField field) { return ir::field_bits({field}); }

}  // namespace

std::span<const Dependence> dependences() { return dependence_table; }

Plans::Plans(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
             std::span<const Rule> in_force, std::stop_token stop)
    : prepared_(&prepared), axes_(axes), limits_(&limits), stop_(std::move(stop)) {
  plan_.skeleton = prepared.skeleton;
  std::vector<int>& homes = axes_[ir::PlanField::homes];
  homes = different_homes(prepared, homes);
  for (const int word : homes) homes_.push_back(codegen::homes_of(prepared, static_cast<ir::HomesWord>(word)));
  std::uint32_t read_later = 0;
  for (const ir::PlanField axis : axes_of(prepared.skeleton)) {
    Level& level = levels_.emplace_back(Level{axis});
    for (const Dependence& row : dependence_table)
      if (row.axis == axis) level.depends = &row;
    done_ = done_ || axes_[axis].empty();
  }
  for (std::size_t i = levels_.size(); i-- > 0;) {
    levels_[i].forks = (read_later & bit(levels_[i].axis)) != 0;
    if (levels_[i].depends != nullptr) read_later |= levels_[i].depends->on;
  }
  ask_early(in_force);
}

/// Gives each part of a rule to the level at which all that it rests on is fixed.
void Plans::ask_early(std::span<const Rule> in_force) {
  const ir::Skeleton skeleton = prepared_->skeleton;
  for (const Rule& rule : in_force) {
    if (!rule.is_asked_of(skeleton)) continue;
    for (const RulePart& part : rule.parts()) {
      const std::uint32_t behind = fields_behind(part.reads, skeleton);
      std::size_t last = 0;
      for (std::size_t i = 0; i < levels_.size(); ++i)
        if ((behind & bit(levels_[i].axis)) != 0) last = i;
      levels_[last].asked.push_back({&rule, &part});
    }
  }
  std::uint32_t behind_tilings = 0;
  for (int part = 0; part < tiling_parts; ++part)
    behind_tilings |= fields_behind(static_cast<TilingPart>(part), skeleton);
  bool changed = true;
  for (Level& level : levels_) {
    changed = changed || (behind_tilings & bit(level.axis)) != 0;
    const bool wanted = std::any_of(level.asked.begin(), level.asked.end(),
                                    [](const Asked& one) { return one.part->reads.tiling != 0; });
    level.maps = changed && wanted;
    if (level.maps) changed = false;
  }
}

std::int64_t Plans::size() const {
  std::int64_t product = 1;
  for (const Level& level : levels_) product *= static_cast<std::int64_t>(axes_[level.axis].size());
  return product;
}

/// Fixes the axis of a level; false where the value means nothing beside those before.
bool Plans::put(std::size_t depth, std::size_t which) {
  const Level& level = levels_[depth];
  if (level.axis == ir::PlanField::homes) {
    plan_.homes = homes_[which];
    return true;
  }
  std::optional<int> value = axes_[level.axis][which];
  if (level.depends != nullptr) value = level.depends->meaning(plan_, *limits_, *value, which == 0);
  if (value) set_value(plan_, level.axis, *value);
  return value.has_value();
}

/// The first rule that drops what begins like the plan up to this level.
const Rule* Plans::dropping(const Level& level) {
  if (level.maps) {
    tiling_ = tiling_of(*prepared_, plan_, *limits_);
    ++counts_.mappings;
  }
  const Candidate candidate{*prepared_, plan_, *limits_, tiling_};
  for (const Asked& one : level.asked) {
    ++counts_.asked;
    if (one.part->drops(candidate)) return one.rule;
  }
  return nullptr;
}

/// How many plans begin like this one up to the level above. Changes what stands further down.
std::int64_t Plans::plans_below(std::size_t depth) {
  if (depth == levels_.size()) return 1;
  const auto values = static_cast<std::int64_t>(axes_[levels_[depth].axis].size());
  if (levels_[depth].depends == nullptr && !levels_[depth].forks) return values * plans_below(depth + 1);
  std::int64_t plans = 0;
  for (std::int64_t i = 0; i < values; ++i)
    if (put(depth, static_cast<std::size_t>(i))) plans += plans_below(depth + 1);
  return plans;
}

/// Makes the first plan that begins like this one up to the level above; false where there is none.
bool Plans::complete(std::size_t depth) {
  if (depth == levels_.size()) return true;
  for (std::size_t i = 0; i < axes_[levels_[depth].axis].size(); ++i)
    if (put(depth, i) && complete(depth + 1)) return true;
  return false;
}

/// Notes all plans that begin like this one under the rule that drops them.
void Plans::note(const Rule& rule, std::size_t depth) {
  const std::int64_t plans = plans_below(depth + 1);
  if (plans == 0) return;
  passed_ += plans;
  const auto known =
      std::find_if(dropped_.begin(), dropped_.end(), [&](const Dropped& one) { return one.rule == &rule; });
  if (known != dropped_.end()) {
    known->plans += plans;
    return;
  }
  complete(depth + 1);
  dropped_.push_back({&rule, plans, plan_});
}

std::optional<Plan> Plans::next() {
  while (!done_) {
    if (stop_.stop_requested()) {
      done_ = stopped_ = true;
      break;
    }
    Level& level = levels_[depth_];
    if (level.at == axes_[level.axis].size()) {
      done_ = depth_ == 0;
      if (!done_) --depth_;
      continue;
    }
    if (!put(depth_, level.at++)) continue;
    ++counts_.prefixes;
    if (const Rule* rule = dropping(level)) {
      note(*rule, depth_);
      continue;
    }
    if (depth_ + 1 == levels_.size()) {
      ++passed_;
      return plan_;
    }
    levels_[++depth_].at = 0;
  }
  return std::nullopt;
}

}  // namespace tailor::explore
