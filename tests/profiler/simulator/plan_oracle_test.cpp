// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A part of every plan space of the group family, compiled by NVRTC, executed on the simulator and compared with the
// reference evaluator and with exact counting (plan_oracle.h says how). A program of its own, `simulator_plans`;
// plan_oracle_slow_test.cpp takes the whole spaces.
#include "profiler/simulator/plan_oracle.h"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <set>
#include <string>
#include <vector>

#include "support/group_family.h"
#include "support/thorough.h"

namespace tailor::simulator {
namespace {

/// Of a member, as the compiler takes most of the time.
int most_programs() { return testing::effort(3, 6, 6); }

}  // namespace

TEST_CASE("compiled plans of row groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::row_cases()) check_plans(which, 29, most_programs(), run);
  CHECK(run.findings == 0);
}

TEST_CASE("compiled plans of column groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::column_cases()) check_plans(which, 17, most_programs(), run);
  CHECK(run.findings == 0);
}

TEST_CASE("compiled plans of map groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::map_cases()) check_plans(which, 5, most_programs(), run);
  CHECK(run.findings == 0);
}

TEST_CASE("compiled plans of turned groups compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::turned_cases()) check_plans(which, 23, most_programs(), run);
  CHECK(run.findings == 0);
  CHECK((run.programs == 0 || run.programs > 10 * most_programs()));
}

TEST_CASE("compiled plans over pieces compute what the evaluator computes and ask what costmodel counts") {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : explore::pieces_cases()) check_plans(which, 2, most_programs(), run);
  for (const explore::SpaceCase& which : explore::strips_cases()) check_plans(which, 2, most_programs(), run);
  for (const explore::SpaceCase& which : explore::bundles_cases()) check_plans(which, 97, most_programs(), run);
  CHECK(run.findings == 0);
  CHECK((run.programs == 0 || run.programs > 10 * most_programs()));
}

TEST_CASE("the plan of every group that is as XLA would write it computes what the evaluator computes") {
  PlanOracleRun run;
  std::set<std::string> emitters;
  std::vector<explore::SpaceCase> all = {
      {"row_sum", 70, 32},   {"row_sum", 5, 1152},     {"row_sum", 3, 15001},       {"row_sum", 600, 3},
      {"column_sum", 70, 8}, {"column_sum", 200, 100}, {"column_sum", 8, 300},      {"column_sum", 512, 64},
      {"full_loss", 9, 140}, {"two_outputs", 64, 257}, {"batched_columns", 23, 20}, {"row_statistics_f16", 40, 1024}};
  for (const auto* cases : {&explore::row_cases(), &explore::column_cases(), &explore::map_cases(),
                            &explore::turned_cases(), &explore::pieces_cases(), &explore::strips_cases()})
    all.insert(all.end(), cases->begin(), cases->end());
  const auto check = [&](const ir::Group& group) {
    if (const std::string emitter = check_xla_plan(group, run); !emitter.empty()) emitters.insert(emitter);
  };
  for (const explore::SpaceCase& which : all)
    check(ir::make_group(ir::family_member(which.member), which.rows, which.columns));
  check(ir::make_group({"update", R"(graph update {
  %cache = parameter 0 : f32[{L},{N}]
  %new = parameter 1 : f32[{R},{N}]
  %at = parameter 2 : s32[]
  %none = constant 0 : s32[]
  %part = negate %new : f32[{R},{N}]
  %u = dynamic_update_slice %cache, %part, %at, %none : f32[{L},{N}]
  output %u
  in_place 0 of 0
})"},
                       5, 70));
  if (emitters.empty()) return;  // no compiler
  CHECK(run.findings == 0);
  CHECK(run.programs > 40);
  CHECK(fmt::format("{}", fmt::join(emitters, ", ")) ==
        "column, concatenate, in-place dynamic-update-slice, loop, multi-row, packed transpose, row, scatter, "
        "small column, transpose");
}

}  // namespace tailor::simulator
