// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of rules, joined of its parts: rules_sound.cpp, rules_blocks.cpp, rules_threads.cpp. In: a prepared group,
// a plan or the first fields of one, limits. Out: the rule that drops it, or none. Asked by walk.cpp before a plan is
// lowered, which costs a hundred times as much.
//
// A rule asks fields of the plan and parts of its tiling (explore/plans/tiling.def), never the skeleton; so it holds
// for every skeleton that has those fields, and a plan whose skeleton lacks one of them is not asked. It names all that
// it looks at, in whatever branch: the walk asks it as soon as the fields behind that are fixed, while later ones hold
// what the plan before had. Tests put odd values there and see no verdict change. So a rule is parted in two where one
// reason needs fewer fields than the other, or one is for lanes across columns, whose blocks are known earlier.
//
// Sound rules come first. Each repeats a condition under which lower() refuses, in terms of the tiling; that they
// never drop a legal plan is tested over whole plan spaces (tests/explore). They only save time.
//
// Heuristics drop legal plans that are not expected to win, and change what a search finds. Sources of their figures:
// the padding and coalescing limits are those that public row-kernel libraries converge on (QuACK, nvFuser, CUB); the
// limits on registers and bytes in flight say when more of them cannot hide more latency. Each is a proportion or a
// count, not a property of one GPU.
#include "explore/plans/rules.h"

#include <algorithm>
#include <vector>

#include "explore/plans/rule_tables.h"

namespace tailor::explore {

namespace {

const std::vector<Rule>& whole_table() {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> all;
    for (const std::span<const Rule> part : {sound_rule_table(), block_rule_table(), thread_rule_table()})
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }();
  return table;
}

}  // namespace

std::span<const Rule> rules() { return whole_table(); }

std::size_t sound_rules() { return sound_rule_table().size(); }

std::uint32_t fields_behind(const Reads& reads, ir::Skeleton skeleton) {
  std::uint32_t fields = reads.fields;
  for (int part = 0; part < tiling_parts; ++part)
    if ((reads.tiling >> part & 1) != 0) fields |= fields_behind(static_cast<TilingPart>(part), skeleton);
  return fields;
}

bool drops(const Rule& rule, const Candidate& candidate) {
  const std::span<const RulePart> parts = rule.parts();
  return std::any_of(parts.begin(), parts.end(), [&](const RulePart& part) { return part.drops(candidate); });
}

bool drops(const Rule& rule, const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits) {
  return rule.is_asked_of(plan.skeleton) &&
         drops(rule, Candidate{prepared, plan, limits, tiling_of(prepared, plan, limits)});
}

const Rule* dropped_by(const codegen::Prepared& prepared, const ir::Plan& plan, const ir::Limits& limits,
                       std::size_t in_force) {
  const Candidate candidate{prepared, plan, limits, tiling_of(prepared, plan, limits)};
  for (const Rule& rule : rules().first(in_force))
    if (rule.is_asked_of(plan.skeleton) && drops(rule, candidate)) return &rule;
  return nullptr;
}

}  // namespace tailor::explore
