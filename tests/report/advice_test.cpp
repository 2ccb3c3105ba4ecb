// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Advice, sentence by sentence: each rule on a summary that was worked out by hand, in which every number is another
// one and what a rule must not take (one place of a group instead of all, the first group instead of the worst, the
// largest part instead of the one that binds) would give another sentence; and of each rule the change that silences
// it. Part of the suite `report`.
#include "report/advice.h"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "report/overview.h"

using namespace tailor;
using namespace tailor::report;

namespace {

PlanSummary plan(double bound, double predicted, const std::string& binds) {
  PlanSummary made;
  made.estimates = {{"sol", {bound}, {bound}, {bound}, {}, "dram", 0, 0},
                    {"projected", {predicted}, {}, {}, {{"dram", {predicted}}, {binds, {predicted / 2}}}, binds, 0, 0}};
  return made;
}

/// In a run alpha moves 2 MB in 12 us and loses 4 us to its bound, beta 5 MB in 60 us and loses 10 us, though alpha
/// loses more at each place; gamma has no plan and moves 18 MB.
Summary example() {
  Summary s;
  s.chosen = "tailor";
  s.strategies.resize(2);
  s.strategies[0].name = "none", s.strategies[0].kernels = 5000, s.strategies[0].kernel_floor = 7;
  s.strategies[1].name = "tailor", s.strategies[1].kernels = 1210, s.strategies[1].kernel_floor = 200;
  GroupSummary alpha, beta, gamma;
  alpha.name = "alpha", alpha.occurrences = 2, alpha.traffic = {1e6};
  alpha.best = {plan(4e-6, 6e-6, "dram"), plan(4e-6, 7e-6, "dram")};
  alpha.best[0].binary = BinaryState::ok, alpha.best[1].binary = BinaryState::failed;
  alpha.best[0].spill_bytes = 24, alpha.best[0].registers = 40;
  beta.name = "beta", beta.occurrences = 10, beta.traffic = {0.5e6};
  beta.best = {plan(5e-6, 6e-6, "latency")};
  beta.best[0].check = CheckState::not_judged;
  gamma.name = "gamma", gamma.occurrences = 3, gamma.traffic = {6e6}, gamma.lower_bound = Seconds{1e-6};
  gamma.status = GroupStatus::needs_skeleton;
  s.groups = {alpha, beta, gamma};
  return s;
}

const std::vector<std::string> sentences{
    "beta moves most in a run: 20.0 % of the bytes of all fused kernels (5.00 MB of 25.0 MB), in 80.0 % of their "
    "predicted time.",
    "The best plan of beta is predicted at 6.00 us, 1.20 × its speed of light of 5.00 us; latency binds.",
    "1 of 3 groups, 72.0 % of the bytes of all groups (18.0 MB), has no plan because no skeleton fits.",
    "The best plan of alpha spills 24 bytes per thread at 40 registers: a plan with fewer values in flight may win.",
    "1 of 2 listed kernels did not compile: the compiler's words are kept with each plan.",
    "tailor makes 1,210 kernels; no partition has fewer than 200, so at most 1,010 are left to save.",
    "Of 2 best kernels 1 is unchecked: not executed and compared with the reference. Of 2 best kernels 1 is not "
    "judged: "
    "executed, and no result says whether it is right."};

}  // namespace

TEST_CASE("advice on a run worked out by hand, sentence by sentence") { CHECK(advice(example()) == sentences); }

TEST_CASE("each sentence of advice goes when what it is about is mended, and no other one") {
  struct Mended {
    std::size_t sentence;
    std::function<void(Summary&)> how;
  };
  const std::vector<Mended> all{
      {1,
       [](Summary& s) {
         for (GroupSummary& group : s.groups)
           for (PlanSummary& one : group.best) one.estimates[0].total = one.estimates[1].total;
       }},
      {2, [](Summary& s) { s.groups[2].status = GroupStatus::rejected; }},
      {3, [](Summary& s) { s.groups[0].best[0].spill_bytes = 0; }},
      {3, [](Summary& s) { std::swap(s.groups[0].best[0].spill_bytes, s.groups[0].best[1].spill_bytes); }},
      {4, [](Summary& s) { s.groups[0].best[1].binary = BinaryState::ok; }},
      {5, [](Summary& s) { s.strategies[1].kernel_floor.reset(); }},
      {5, [](Summary& s) { s.chosen = "another"; }},
      {6,
       [](Summary& s) {
         for (std::size_t i : {0, 1}) s.groups[i].best[0].check = CheckState::passed;
       }},
  };
  for (const Mended& mended : all) {
    Summary summary = example();
    mended.how(summary);
    std::vector<std::string> expected = sentences;
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(mended.sentence));
    CHECK(advice(summary) == expected);
  }
}

TEST_CASE("of a single group nothing moves most, and at the floor nothing is left to save") {
  Summary one = example();
  one.groups.resize(1);
  for (const std::string& line : advice(one)) CHECK(line.find("moves most") == std::string::npos);
  Summary least = example();
  least.strategies[1].kernels = 200;
  CHECK(advice(least)[5] == "tailor makes 200 kernels; no partition has fewer.");
}

TEST_CASE("a failed best kernel is neither unchecked nor not judged, and each of both stands alone") {
  Summary summary = example();
  summary.groups[0].best[0].check = CheckState::failed;
  CHECK(advice(summary).back() ==
        "Of 2 best kernels 1 is not judged: executed, and no result says whether it is right.");
  summary.groups[1].best[0].check = CheckState::unchecked;
  CHECK(advice(summary).back() == "Of 2 best kernels 1 is unchecked: not executed and compared with the reference.");
}

TEST_CASE("a group without times is said to move most without a share of time") {
  Summary summary = example();
  for (GroupSummary& group : summary.groups) group.best.clear(), group.lower_bound.reset();
  CHECK(advice(summary).front() ==
        "beta moves most in a run: 20.0 % of the bytes of all fused kernels (5.00 MB of 25.0 MB).");
}
