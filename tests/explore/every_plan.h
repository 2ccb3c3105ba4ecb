// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle over a plan space: each plan of one group is lowered, verified, executed by the interpreter and compared
// with the reference evaluator; what the program asked of memory is compared with what both ways of counting say.
// Quick spaces thin the axes, full ones are every plan, heuristics off. Failures are reported where the test stands.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "codegen/lower/prepare.h"
#include "ir/fusion.h"

namespace tailor::explore {

/// Which of a group's loops is meant: that of its structure, its tiles, the one over pieces of its root, over columns
/// in bundles, or over strips of so many results of windows.
enum class Loop : std::uint8_t { own, tiles, pieces, bundles, strips_2, strips_3, strips_4, strips_8 };

struct SpaceCase {
  std::string_view member;  ///< of the group family
  std::int64_t rows = 0, columns = 0;
  Loop loop = Loop::own;
};
/// Those strips; nullptr: the group has none, or another loop is meant.
const codegen::Prepared* strips_in(Loop loop, const codegen::Prepared& prepared);
/// The group as prepared for what is meant.
const codegen::Prepared& structure_of(const SpaceCase& which, const codegen::Prepared& prepared);

/// The cases of both suites: awkward sizes for each member of the family.
const std::vector<SpaceCase>& row_cases();
const std::vector<SpaceCase>& column_cases();
const std::vector<SpaceCase>& map_cases();
const std::vector<SpaceCase>& turned_cases();
const std::vector<SpaceCase>& pieces_cases();
const std::vector<SpaceCase>& strips_cases();
const std::vector<SpaceCase>& bundles_cases();
/// Maps whose broadcast repeats in no short period: fast counting samples some of their programs.
const std::vector<SpaceCase>& sampled_cases();

/// Every n-th plan of a space, chosen by scattering.
struct Thinning {
  int one_in = 1;
};

struct SpaceRun {
  int legal = 0;                ///< plans that lower took
  int programs = 0;             ///< different programs among them: these were executed
  int sampled = 0;              ///< programs whose fast count is a sample
  double worst_sample = 0;      ///< largest relative error of such a count of sectors
  int clustered = 0;            ///< programs whose blocks meet in clusters
  int met = 0;                  ///< programs whose blocks meet in the grid
  int looping = 0;              ///< packs of which a body loops over its blocks
  int programs_of_several = 0;  ///< those of several launches
  std::int64_t shared = 0;      ///< programs whose counts came from other plans of their loop
};

/// Runs the plans; stops at the first program that is wrong.
SpaceRun check_every_plan(const SpaceCase& which, Thinning thinning);
/// The same for a group of the caller's. `cuts`: elements in the middle of what it reads are never read, so fast
/// counting knows a bound of the distinct bytes and not the number.
SpaceRun check_every_plan(const ir::Group& group, Thinning thinning, bool cuts = false, Loop loop = Loop::own);

}  // namespace tailor::explore
