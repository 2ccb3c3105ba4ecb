// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Stitch levels: the words read back, and the order is from narrow to wide.
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
