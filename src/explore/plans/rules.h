// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Rules: cheap reasons to drop a plan before it is lowered, as a table. A sound rule drops only what lower drops too
// (proved by exhaustion on small spaces); a heuristic drops legal plans that are not expected to win, and says why.
// Where heuristics would leave no plan of a group, the last rows of the table give way, as few as leave one. In: a
// prepared group, a plan or the first fields of one, limits. Out: the rule that drops it, or none. Asked by walk.cpp,
// which drops with a prefix all plans that start like that, by lists and by tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "codegen/lower/prepare.h"
#include "explore/plans/tiling.h"
#include "ir/device.h"
#include "ir/plan.h"

namespace tailor::explore {

/// What rules look at.
struct Candidate {
  const codegen::Prepared& prepared;
  const ir::Plan& plan;
  const ir::Limits& limits;
  Tiling tiling;
};

/// What a predicate looks at, one bit each: fields of the plan, and parts of its tiling. It says the same of all plans
/// that agree in these, and what else stands in the candidate does not matter: that is how a walk can ask it early.
struct Reads {
  std::uint32_t fields = 0, tiling = 0;
};

/// A reason by itself. A rule with several is parted by what they read, so that each is asked as early as can be.
struct RulePart {
  Reads reads;
  bool (*drops)(const Candidate&) = nullptr;
};

struct Rule {
  std::string_view name;
  bool sound;
  std::string_view reason;     ///< one line: what it drops and the reason
  std::array<RulePart, 2> of;  ///< it drops what one of them drops; the second may be missing

  std::span<const RulePart> parts() const { return std::span(of).first(of[1].drops == nullptr ? 1 : 2); }
  /// The fields it speaks of: it is asked about plans whose skeleton has them all.
  std::uint32_t fields() const { return of[0].reads.fields | of[1].reads.fields; }
  bool is_asked_of(ir::Skeleton skeleton) const { return (fields() & ~row(skeleton).fields) == 0; }
};

/// All fields that the part rests on in plans of a skeleton: those it names, and those behind what it asks of tilings.
std::uint32_t fields_behind(const Reads& reads, ir::Skeleton skeleton);

std::span<const Rule> rules();

/// How many rows are sound: they stand first.
std::size_t sound_rules();

/// Whether one of its parts drops the candidate, whatever skeleton it has.
bool drops(const Rule& rule, const Candidate& candidate);

/// Whether this rule alone drops the plan, whatever others say.
bool drops(const Rule& rule, const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits);

/// The first of the first `in_force` rules that drops the plan, or nullptr.
const Rule* dropped_by(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                       std::size_t in_force = rules().size());

}  // namespace tailor::explore
