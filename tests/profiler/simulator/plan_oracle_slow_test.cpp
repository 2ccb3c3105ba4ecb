// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole plan space of the group family, compiled and executed. Prints the factors by which the compiler's
// arithmetic differs from the program's: the table in docs/model.md is made of them. A program of the slow suite;
// skipped without NVRTC.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "profiler/simulator/plan_oracle.h"

namespace tailor::simulator {
namespace {

void all_plans(const std::vector<explore::SpaceCase>& cases) {
  PlanOracleRun run;
  for (const explore::SpaceCase& which : cases) check_plans(which, 1, 1'000'000, run);
  CHECK(run.findings == 0);
  MESSAGE(fmt::format("{} plans, {} programs, {} findings", run.plans, run.programs, run.findings));
  for (std::size_t p = 0; p < run.pipes.size(); ++p) {
    std::vector<double>& ratios = run.pipes[p].ratios;
    if (ratios.empty()) continue;
    std::sort(ratios.begin(), ratios.end());
    const auto quantile = [&](double q) {
      return ratios[static_cast<std::size_t>(q * static_cast<double>(ratios.size() - 1))];
    };
    MESSAGE(fmt::format("{}: executed over counted {:.2f} in all; per program 5 % {:.2f}, median {:.2f}, 95 % {:.2f}",
                        oracle_pipes[p], run.pipes[p].executed / run.pipes[p].counted, quantile(0.05), quantile(0.5),
                        quantile(0.95)));
  }
}

}  // namespace

TEST_CASE("every compiled plan of every row group") { all_plans(explore::row_cases()); }
TEST_CASE("every compiled plan of every column group") { all_plans(explore::column_cases()); }
TEST_CASE("every compiled plan of every map group") { all_plans(explore::map_cases()); }
TEST_CASE("every compiled plan of every turned group") { all_plans(explore::turned_cases()); }
TEST_CASE("every compiled plan over pieces") { all_plans(explore::pieces_cases()); }
TEST_CASE("every compiled plan in strips") { all_plans(explore::strips_cases()); }
TEST_CASE("every compiled plan in bundles") { all_plans(explore::bundles_cases()); }

}  // namespace tailor::simulator
