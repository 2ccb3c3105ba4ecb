// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole plan space of every case of every_plan.h, heuristics off: all row groups, all column groups, all map
// groups, and maps whose counts are sampled. The oracles are the reference evaluator and the executed counts. A program
// of its own in the slow suite; lower_oracle_test.cpp asks the same of thinned spaces in the normal one.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "explore/every_plan.h"
#include "support/group_family.h"

using namespace tailor::explore;

namespace {

/// Plans of tiles that are powers of two along each edge, that have no edge twice as long as what it is cut out of or
/// longer, and whose vectors divide both runs: with names for shared values and without. A case of few elements has
/// few of them: nine rows of sixteen 14. Vectors go up to 16 bytes of the narrowest type.
int tiles_that_fit(const SpaceCase& which) {
  const auto group = tailor::ir::make_group(tailor::ir::family_member(which.member), which.rows, which.columns);
  const auto prepared = tailor::codegen::prepare(group);
  const auto& ready = structure_of(which, std::get<tailor::codegen::Prepared>(prepared));
  const std::int64_t written = ready.turn->written.size, read = ready.turn->read.size;
  int tiles = 0;
  for (const int threads : {64, 256})
    for (int lanes = 1; lanes <= threads; lanes *= 2)
      for (int vector = 1; vector <= ready.widest_vector; vector *= 2)
        for (const int at_once : {1, 2, 4, 8}) {
          const std::int64_t wide = std::int64_t{lanes} * vector, deep = std::int64_t{threads / lanes} * at_once;
          const bool whole = written % vector == 0 && read % vector == 0 && deep >= vector;
          tiles += whole && (wide == 1 || wide < 2 * written) && (deep == 1 || deep < 2 * read) ? 1 : 0;
        }
  return 2 * tiles;
}

}  // namespace

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
    CAPTURE(which.rows);
    const SpaceRun run = check_every_plan(which, {1});
    const int tiles = tiles_that_fit(which);  // of persistent blocks, which need more tiles than there are, come others
    CHECK(tiles >= 14);
    CHECK(run.legal >= tiles);
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

TEST_CASE("every plan in strips computes what the evaluator computes and is counted as executed") {
  for (const SpaceCase& which : strips_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 8);
    CHECK(run.sampled == 0);
  }
}

TEST_CASE("every plan in bundles computes what the evaluator computes and is counted as executed") {
  int clustered = 0;
  for (const SpaceCase& which : bundles_cases()) {
    CAPTURE(which.rows);
    const SpaceRun run = check_every_plan(which, {1});
    CHECK(run.legal > 100);
    CHECK(run.met > 0);
    CHECK(run.programs_of_several > 0);
    clustered += run.clustered;
  }
  CHECK(clustered > 0);  // of long columns
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
