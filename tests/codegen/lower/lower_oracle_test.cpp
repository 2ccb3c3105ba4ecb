// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The strongest test of the lowering and of counting: for a family of small groups at awkward sizes, plans of the whole
// space, heuristics off, are lowered, verified, executed by the interpreter and compared with the reference evaluator.
// No access may leave its buffer, nothing uninitialised may be read, no race or divergent barrier may show. Requests,
// sectors, bytes, shuffles and barriers that were executed equal those counted exactly, and fast counting equals exact
// counting. And the rules: what a sound rule drops, lower refuses. Here some plans of each space; the slow suite runs
// them all.
#include <doctest/doctest.h>

#include "explore/every_plan.h"

using namespace tailor::explore;

namespace {

constexpr Thinning thinning{5};

}  // namespace

TEST_CASE("plans of every row group compute what the evaluator computes and are counted as executed") {
  for (const SpaceCase& which : row_cases()) {
    CAPTURE(which.member);
    CHECK(check_every_plan(which, thinning).programs > 4);
  }
}

TEST_CASE("plans of every map group compute what the evaluator computes and are counted as executed") {
  for (const SpaceCase& which : map_cases()) {
    CAPTURE(which.member);
    CHECK(check_every_plan(which, {1}).programs > 4);
  }
}
