// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stitch levels: every level has a word of its own, the word reads back to the level, and comparing two levels means
// narrow before wide, which strategies and the lowering rely on. Looks at all levels there are. Part of the suite
// `ir`.
#include "ir/kernel/stitch_level.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace tailor::ir;

TEST_CASE("every stitch level has a word of its own that reads back") {
  std::set<std::string> words;
  for (const StitchLevel level : stitch_levels()) {
    words.insert(std::string(name(level)));
    CHECK(stitch_level_named(name(level)) == level);
  }
  CHECK(words.size() == 5);
  CHECK_FALSE(stitch_level_named("thread").has_value());
  CHECK_FALSE(stitch_level_named("").has_value());
  CHECK(StitchLevel::registers < StitchLevel::warp);
  CHECK(StitchLevel::cluster < StitchLevel::grid);
}
