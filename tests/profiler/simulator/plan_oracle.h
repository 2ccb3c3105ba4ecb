// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle that closes the circle: a plan is lowered, printed, compiled by NVRTC, and its PTX is executed. What comes
// out is compared with the reference evaluator, what the execution counted with what costmodel counts in the program,
// warp by warp. Arithmetic is the compiler's to change: per pipe the factor between both is recorded.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explore/every_plan.h"

namespace tailor::simulator {

/// Executed over counted, of one pipe, over the programs where costmodel counts any.
struct Factor {
  double executed = 0, counted = 0;
  std::vector<double> ratios;  ///< per program
};

struct PlanOracleRun {
  int plans = 0;     ///< that lower took
  int programs = 0;  ///< different ones among them, compiled and executed
  int findings = 0;
  std::vector<std::string> moved;  ///< whose machine code makes other requests than the program
  std::array<Factor, 4> pipes;     ///< fma, alu, xu, conversions
};
inline constexpr std::string_view oracle_pipes[] = {"fma", "alu", "xu", "convert"};

/// Runs about one in `one_in` plans of the space, at most `most_programs`. Complaints become failures of the test.
void check_plans(const explore::SpaceCase& which, int one_in, int most_programs, PlanOracleRun& run);

/// The plan that is as XLA would write the group's kernel on an H200, with that GPU's limits. Returns XLA's emitter;
/// empty where no plan is like it.
std::string check_xla_plan(const ir::Group& group, PlanOracleRun& run);

}  // namespace tailor::simulator
