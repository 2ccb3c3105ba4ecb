// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules: cheap reasons to drop a plan before it is lowered, as a table. A sound rule drops only what lower drops too
// (proved by exhaustion on small spaces); a heuristic drops legal plans that are not expected to win, and says why.
// Where heuristics would leave no plan of a group, the last rows of the table give way, as few as leave one. In: a
// prepared group, a plan, limits. Out: the rule that drops it, or none. Called by tune.cpp for each plan of a space, by
// lists and by tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "codegen/lower/mapping.h"
#include "codegen/lower/prepare.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

/// What rules look at, computed once per plan.
struct Candidate {
  const codegen::Prepared& prepared;
  const ir::Plan& plan;
  const ir::Limits& limits;
  codegen::Tiling tiling;
};

struct Rule {
  std::string_view name;
  bool sound;
  /// The fields it speaks of, one bit each: it is asked about plans whose skeleton has them all.
  std::uint32_t reads;
  std::string_view reason;  ///< one line: what it drops and the reason
  bool (*drops)(const Candidate&);
};

std::span<const Rule> rules();

/// How many rows are sound: they stand first.
std::size_t sound_rules();

/// Whether this rule alone drops the plan, whatever others say.
bool drops(const Rule& rule, const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);

/// The first of the first `in_force` rules that drops the plan, or nullptr.
const Rule* dropped_by(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                       std::size_t in_force = rules().size());

}  // namespace tailor::explore
