// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of the table of rules. In: rows, written in rules_sound.cpp, rules_blocks.cpp and rules_threads.cpp by
// means of asks(). Out: a table of each, in the order in which they are asked. Called by rules.cpp, which joins them,
// and by nobody else.
#pragma once

#include <initializer_list>
#include <span>

#include "explore/plans/rules.h"

namespace tailor::explore {

/// A part of a rule: all fields and parts of the tiling that it looks at in whatever branch, and what it drops.
constexpr RulePart asks(std::initializer_list<ir::PlanField> fields, std::initializer_list<TilingPart> parts,
                        bool (*drops)(const Candidate&)) {
  Reads reads{ir::field_bits(fields), 0};
  for (const TilingPart part : parts) reads.tiling |= std::uint32_t{1} << static_cast<int>(part);
  return {reads, drops};
}

std::span<const Rule> sound_rule_table();
std::span<const Rule> block_rule_table();
std::span<const Rule> thread_rule_table();

}  // namespace tailor::explore
