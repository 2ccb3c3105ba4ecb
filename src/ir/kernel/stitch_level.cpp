// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the stitch levels: one array in the order of the enumeration, read in both directions. Its readers are
// the text forms of plans and partitions, the store's columns and every table that shows an edge. A word that is no
// level's reads as nothing; the caller says what it expected.
#include "ir/kernel/stitch_level.h"

#include <array>

#include "base/indexed.h"

namespace tailor::ir {

namespace {

constexpr std::array levels = {StitchLevel::registers, StitchLevel::warp, StitchLevel::block, StitchLevel::cluster,
                               StitchLevel::grid};
constexpr std::array<std::string_view, levels.size()> level_words = {"register", "warp", "block", "cluster", "grid"};

}  // namespace

std::span<const StitchLevel> stitch_levels() { return levels; }

std::string_view name(StitchLevel level) { return row_for(level_words, level); }

std::optional<StitchLevel> stitch_level_named(std::string_view name) {
  for (const StitchLevel level : levels)
    if (row_for(level_words, level) == name) return level;
  return {};
}

}  // namespace tailor::ir
