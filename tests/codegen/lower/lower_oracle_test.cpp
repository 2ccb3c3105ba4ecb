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
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "codegen/lower/lower.h"
#include "explore/every_plan.h"
#include "explore/plans/rules.h"
#include "explore/plans/walk.h"
#include "ir/device.h"
#include "ir/graph/graph.h"
#include "support/group_family.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::explore;

namespace {

/// Programs of a share of a member's plans: one in so many, and three times as many until they are twenty or one in
/// ten. Of sixty programs, as most members have in a broad run, what is wrong with a tenth is missed once in 500 times;
/// of twenty, what is wrong with a quarter. A quick run has a third of these, of as many members.
int programs_of(const SpaceCase& which, int one_in) {
  const int programs = check_every_plan(which, {one_in}).programs;
  return programs < testing::effort(5, 20, 20) && one_in > 30 ? programs_of(which, one_in / 3) : programs;
}
/// Of the plans that are only asked about.
std::uint64_t one_of_the_whole() { return testing::effort(23u, 11u, 11u); }

/// One or two pads of an array of one to three dimensions, with all that a pad may do: grow, cut, and put padding
/// between elements.
ir::Group random_pads(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  std::vector<std::int64_t> dims;
  for (int rank = pick(1, 3); rank > 0; --rank) dims.push_back(pick(3, rank == 1 ? 24 : 6));
  const auto type = [&] { return fmt::format("f32[{}]", fmt::join(dims, ",")); };
  std::string body = fmt::format("graph pads {{\n  %p0 = parameter 0 : {}\n  %z = constant 3 : f32[]\n", type());
  const int pads = pick(1, 2);
  for (int pad = 0; pad < pads; ++pad) {
    std::vector<std::string> ranges;
    for (std::int64_t& d : dims) {
      const int low = pick(-2, 3), interior = pick(0, 2);
      const std::int64_t inside = d + (d - 1) * interior + low;
      const auto high = std::max<std::int64_t>(pick(-2, 2), 1 - inside);
      d = inside + high;
      ranges.push_back(fmt::format("{}:{}:{}", low, high, interior));
    }
    body += fmt::format("  %p{} = pad %p{}, %z, ranges={{{}}} : {}\n", pad + 1, pad, fmt::join(ranges, ", "), type());
  }
  body += fmt::format("  %y = negate %p{} : {}\n  output %y\n}}\n", pads, type());
  ir::Group group;
  group.graph = ir::parse_graph(body);
  ir::verify(group.graph);
  group.id = id_of(std::string_view(ir::canonical_text(group.graph)));
  return group;
}

}  // namespace

TEST_CASE("pads that grow, cut and put padding between elements compute what the evaluator computes, as counted") {
  int programs = 0;
  std::int64_t shared = 0;
  for (unsigned seed = 1; seed <= testing::effort(24u, 60u); ++seed) {
    CAPTURE(seed);
    const SpaceRun run = check_every_plan(random_pads(seed), {3}, true);
    programs += run.programs;
    shared += run.shared;
  }
  CHECK(programs > testing::effort(120, 300));
  CHECK(shared > testing::effort(40, 100));
}

TEST_CASE("plans of every row group compute what the evaluator computes and are counted as executed") {
  int number = 0;
  for (const SpaceCase& which : row_cases()) {
    if (!testing::broad() && ++number % 2 == 0) continue;  // most members have two sizes
    CAPTURE(which.member);
    CHECK(programs_of(which, testing::effort(211, 97, 5)) > 4);
  }
}

TEST_CASE("what rows in flight read together is read whether or not they begin at whole vectors") {
  for (const std::int64_t length : {29, 32}) {
    const SpaceCase which{"batch_scaled", 3, length};
    CHECK(check_every_plan(which, {testing::effort(7, 3, 1)}).programs > 4);
  }
}

TEST_CASE("plans of every column group compute what the evaluator computes and are counted as executed") {
  for (const SpaceCase& which : column_cases()) {
    CAPTURE(which.member);
    CHECK(programs_of(which, testing::effort(97, 43, 5)) > 4);
  }
}

TEST_CASE("a pad that puts padding between elements is added up over all its dimensions") {
  struct Padded {
    std::string_view from, ranges, to;
  };
  // Cut or not in front and behind: a name of a coordinate has a wider range there than what it stands for.
  for (const Padded& pad : {Padded{"[5,1]", "{0:0:0, 1:4:1}", "[5,6]"}, Padded{"[3,3]", "{-1:2:1, 1:-1:1}", "[6,5]"},
                            Padded{"[3,3]", "{0:0:0, 2:-1:3}", "[3,10]"}}) {
    CAPTURE(pad.ranges);
    const ir::Group group =
        ir::make_group({"padded", fmt::format("graph padded {{\n  %x = parameter 0 : f32{}\n  %c = constant 1 : f32[]\n"
                                              "  %z = constant 0 : f32[]\n  %p = pad %x, %c, ranges={} : f32{}\n"
                                              "  %r = reduce add %p, %z, axes={{0,1}} : f32[]\n  output %r\n}}",
                                              pad.from, pad.ranges, pad.to)},
                       1, 1);
    CHECK(check_every_plan(group, {testing::effort(11, 3)}).programs > 0);
  }
}

TEST_CASE("what a sound rule drops lower refuses, on the whole axes, and each sound rule drops something") {
  // A real GPU's axes, with so few SMs that persistent grids loop over small shapes.
  ir::Limits limits = ir::limits(ir::find_device("h200", source_folder() + "/data/devices"));
  limits.sms = 2;
  std::map<std::string_view, int> dropped;
  codegen::LowerScratch scratch;
  for (const std::vector<SpaceCase>* cases : {&row_cases(), &column_cases(), &map_cases(), &turned_cases(),
                                              &pieces_cases(), &strips_cases(), &bundles_cases()})
    for (const SpaceCase& which : *cases) {
      const ir::Group group = ir::make_group(ir::family_member(which.member), which.rows, which.columns);
      const auto whole = std::get<codegen::Prepared>(codegen::prepare(group));
      const codegen::Prepared& prepared = structure_of(which, whole);
      const Axes axes = default_axes(prepared, limits);
      Plans plans(prepared, axes, limits);
      std::uint64_t number = 0;
      while (auto plan = plans.next()) {
        const std::uint64_t scattered = ++number * 0x9e3779b97f4a7c15ULL >> 33;
        if (scattered % one_of_the_whole() != 0) continue;
        // The enumeration asks for as many resident blocks as fit; a plan that somebody wrote may ask for more.
        if (scattered / one_of_the_whole() % 2 == 0) plan->blocks_per_sm *= 4;
        // It asks for no launches that end to meet either.
        if (plan->meet == ir::Meeting::grid && scattered / one_of_the_whole() % 3 == 0)
          plan->meet = ir::Meeting::kernel;
        const Candidate candidate{prepared, *plan, limits, tiling_of(prepared, *plan, limits)};
        std::optional<bool> legal;
        for (const Rule& rule : rules()) {
          if (!rule.sound || !rule.is_asked_of(plan->skeleton) || !drops(rule, candidate)) continue;
          ++dropped[rule.name];
          if (!legal) legal = std::holds_alternative<ir::Kernel>(codegen::lower(prepared, *plan, limits, scratch));
          CHECK_MESSAGE(!*legal, fmt::format("sound rule {} drops a legal plan: {}", rule.name, text(*plan)));
        }
      }
    }
  for (const Rule& rule : rules()) {
    INFO(rule.name);
    CHECK((dropped[rule.name] > 0) == rule.sound);
  }
}

TEST_CASE("plans of every turned group compute what the evaluator computes and are counted as executed") {
  int programs = 0;
  for (const SpaceCase& which : turned_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {testing::effort(3, 1)});
    CHECK(run.programs > 4);
    programs += run.programs;
  }
  CHECK(programs > testing::effort(500, 1500));
}

TEST_CASE("plans over pieces of every joined group compute what the evaluator computes and are counted as executed") {
  int programs = 0;
  for (const SpaceCase& which : pieces_cases()) {
    CAPTURE(which.member);
    programs += check_every_plan(which, {1}).programs;
    // The loop over the result is one of them too.
    programs += check_every_plan({which.member, which.rows, which.columns}, {3}).programs;
  }
  CHECK(programs > 400);
}

TEST_CASE("plans of every map group compute what the evaluator computes and are counted as executed") {
  std::int64_t programs = 0, shared = 0;
  for (const SpaceCase& which : map_cases()) {
    CAPTURE(which.member);
    const SpaceRun run = check_every_plan(which, {testing::effort(2, 1, 1)});
    CHECK(run.programs > 4);
    programs += run.programs;
    shared += run.shared;
  }
  CHECK(3 * shared > programs);
}
