// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A part of every plan space of the group family, compiled by NVRTC, executed on the simulator and compared with the
// reference evaluator and with exact counting (plan_oracle.h says how). A program of its own, `simulator_plans`;
// plan_oracle_slow_test.cpp takes the whole spaces.
#include "profiler/simulator/plan_oracle.h"

#include <doctest/doctest.h>

namespace tailor::simulator {

TEST_CASE("compiled plans of row groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::row_cases()) check_plans(which, 29, 6, run);
  CHECK(run.findings == 0);
}

TEST_CASE("compiled plans of column groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::column_cases()) check_plans(which, 17, 6, run);
  CHECK(run.findings == 0);
}

TEST_CASE("compiled plans of map groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::map_cases()) check_plans(which, 5, 6, run);
  CHECK(run.findings == 0);
}

}  // namespace tailor::simulator
