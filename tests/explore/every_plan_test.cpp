// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole plan space of every case of every_plan.h, heuristics off: all row groups, all column groups, all map
// groups, and maps whose counts are sampled. The oracles are the reference evaluator and the executed counts. A program
// of its own in the slow suite; lower_oracle_test.cpp asks the same of thinned spaces in the normal one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "explore/every_plan.h"

using namespace tailor::explore;

TEST_CASE("every plan of every row group computes what the evaluator computes and is counted as executed") {
  for (const SpaceCase& which : row_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 20);
    CHECK(run.sampled == 0);
  }
}

TEST_CASE("every plan of every column group computes what the evaluator computes and is counted as executed") {
  for (const SpaceCase& which : column_cases()) {
    CAPTURE(which.member);
    CAPTURE(which.columns);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 20);
    // Lanes that are no power of two meet the ends of runs in long periods: few are sampled, all of them right.
    CHECK(100 * run.sampled < run.programs);
    CHECK(run.worst_sample == 0);
  }
}

TEST_CASE("every plan of every map group computes what the evaluator computes and is counted as executed") {
  for (const SpaceCase& which : map_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 8);
    CHECK(run.sampled == 0);
  }
}

TEST_CASE("every plan of every turned group computes what the evaluator computes and is counted as executed") {
  for (const SpaceCase& which : turned_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 20);
    CHECK(run.sampled == 0);
  }
}

TEST_CASE("every plan over pieces computes what the evaluator computes and is counted as executed") {
  for (const SpaceCase& which : pieces_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 0);
    CHECK(run.sampled == 0);
  }
}

TEST_CASE("programs whose counts are sampled say so and miss few sectors") {
  for (const SpaceCase& which : sampled_cases()) {
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.sampled > 0);
    MESSAGE(fmt::format("{} {}x{}: {} of {} programs sampled, worst error {:.3f}", which.member, which.rows,
                        which.columns, run.sampled, run.programs, run.worst_sample));
    CHECK(run.worst_sample < 0.02);
  }
}
