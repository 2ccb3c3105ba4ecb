// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The walk over the plan space of one group: axes with values (space.h) as a tree, depth first, and rules that cut
// branches. In: a prepared group, axes, limits, the rules in force. Out: the plans that mean something and that no rule
// drops, one at a time in the order of the axes, and how many plans each rule dropped. Called by tune.cpp, by tests of
// whole spaces, and for the size of a space.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/lower/prepare.h"
#include "explore/plans/rules.h"
#include "explore/plans/space.h"
#include "explore/plans/tiling.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

/// What values of an axis mean beside the values of axes that stand before it.
struct Dependence {
  ir::PlanField axis;
  std::uint32_t on;  ///< the fields it looks at, one bit each
  std::string_view why;
  bool excludes;  ///< some values mean nothing, and not another one
  /// What a plan says there; nothing where the value means nothing. `first`: no value of the axis was asked before.
  std::optional<int> (*meaning)(const ir::Plan& prefix, const ir::Limits& limits, int value, bool first);
};
std::span<const Dependence> dependences();

/// Plans that one rule dropped.
struct Dropped {
  const Rule* rule = nullptr;
  std::int64_t plans = 0;
  ir::Plan example;  ///< the first
};

/// What a walk has cost.
struct WalkCounts {
  std::int64_t prefixes = 0;  ///< values that were fixed, one after the other
  std::int64_t mappings = 0;
  std::int64_t asked = 0;  ///< parts of rules
};

/// A walk. Copyable: a copy is a bookmark.
class Plans {
 public:
  /// The group, the limits and the rules must outlive the walk. Without rules every plan comes that means something.
  Plans(const codegen::Prepared& prepared, const Axes& axes, const ir::Limits& limits,
        std::span<const Rule> in_force = {}, std::stop_token stop = {});

  /// The next plan, or nothing at the end, or when asked to stop.
  std::optional<ir::Plan> next();
  /// Combinations of all values, meaningless ones included.
  std::int64_t size() const;

  /// Plans so far: those that came and those that were dropped.
  std::int64_t passed() const { return passed_; }
  /// A plan is noted under the first rule that was asked about it and drops it: one that needs the fewest axes, and
  /// among these the first of the table.
  const std::vector<Dropped>& dropped() const { return dropped_; }
  const WalkCounts& counts() const { return counts_; }
  bool stopped() const { return stopped_; }

 private:
  struct Asked {
    const Rule* rule;
    const RulePart* part;
  };
  /// An axis, and what is asked once it is fixed.
  struct Level {
    ir::PlanField axis;
    const Dependence* depends = nullptr;
    bool forks = false;  ///< the values of a later axis depend on it
    bool maps = false;   ///< the mapping has changed since it was last asked, and is asked now
    std::vector<Asked> asked = {};
    std::size_t at = 0;  ///< the value that comes next
  };

  void ask_early(std::span<const Rule> in_force);
  bool put(std::size_t depth, std::size_t which);
  const Rule* dropping(const Level& level);
  std::int64_t plans_below(std::size_t depth);
  bool complete(std::size_t depth);
  void note(const Rule& rule, std::size_t depth);

  const codegen::Prepared* prepared_;
  Axes axes_;
  const ir::Limits* limits_;
  std::stop_token stop_;
  std::vector<std::vector<ir::Home>> homes_;  ///< by value of their axis
  std::vector<Level> levels_;
  std::size_t depth_ = 0;
  ir::Plan plan_;  ///< fixed above depth_; what stands further down is of plans before
  Tiling tiling_;
  std::vector<Dropped> dropped_;
  WalkCounts counts_;
  std::int64_t passed_ = 0;
  bool done_ = false, stopped_ = false;
};

}  // namespace tailor::explore
