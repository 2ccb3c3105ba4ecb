// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A part of every plan space of the group family, compiled and executed (all of it: plan_oracle_slow_test.cpp).
#include "profiler/simulator/plan_oracle.h"

#include <doctest/doctest.h>

namespace tailor::simulator {

TEST_CASE("compiled plans of row groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::row_cases()) check_plans(which, 29, 6, run);
  CHECK(run.findings == 0);
}

TEST_CASE("compiled plans of map groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::map_cases()) check_plans(which, 5, 6, run);
  CHECK(run.findings == 0);
}

}  // namespace tailor::simulator
