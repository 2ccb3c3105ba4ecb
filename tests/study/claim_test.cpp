// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Claims of sweeps: every metric says whether library calls are in it, and the judgement is the proportion of sums that
// a person would compute by hand from the strategies' totals. The totals are those of a model of which fused kernels
// alone and whole runs give different answers. Part of the suite `study`.
#include "study/sweep/claim.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

#include "base/error.h"
#include "support/approx.h"

using namespace tailor;
using namespace tailor::study;

namespace {

store::StrategyTotals totals_of(const char* strategy, double launches, double bytes, double seconds) {
  store::StrategyTotals totals;
  totals.strategy = strategy;
  totals.launches = launches;
  totals.dram = {bytes};
  totals.kernel_time = totals.predicted_time = {seconds};
  totals.library_calls = 99;
  totals.library_time = {2e-4};
  return totals;
}

}  // namespace

TEST_CASE("a claim of fused kernels alone can hold where the same one with library calls fails") {
  const std::array strategies{totals_of("unfused", 780, 480e6, 1.97e-3), totals_of("stitch-v1", 107, 60e6, 2.7e-4),
                              totals_of("imported", 780, 480e6, 1.97e-3)};
  const auto value = [&](const char* metric) {
    return judge({"", metric, 5}, strategies, Bytes{200e6}, "unfused").value;
  };
  CHECK(value("launch_reduction_of_kernels") == approx(780.0 / 107));
  CHECK(value("launch_reduction_with_library") == approx(879.0 / 206));
  CHECK(value("traffic_reduction_of_kernels") == approx(8));
  CHECK(value("traffic_reduction_with_library") == approx(680.0 / 260));
  CHECK(value("predicted_speedup_of_kernels") == approx(1.97e-3 / 2.7e-4));
  CHECK(value("predicted_speedup_with_library") == approx(2.17e-3 / 4.7e-4));
  CHECK(judge({"", "launch_reduction_of_kernels", 5}, strategies, {}, "unfused").holds());
  CHECK_FALSE(judge({"", "launch_reduction_with_library", 5}, strategies, {}, "unfused").holds());
}

TEST_CASE("a claim about time leaves out a strategy whose launches have no plan where the baseline's have one") {
  std::array strategies{totals_of("unfused", 5, 1, 3e-5), totals_of("stitch-v1", 1, 1, 4e-6),
                        totals_of("xla", 2, 1, 1.5e-5)};
  strategies[1].launches_without_plan = 1;
  const JudgedClaim time = judge({"", "predicted_speedup_of_kernels", 5}, strategies, {}, "unfused");
  CHECK(time.value == approx(2));
  CHECK(time.left_out == std::vector<std::string>{"stitch-v1"});
  CHECK_FALSE(time.holds());
  CHECK(judge({"", "launch_reduction_of_kernels", 5}, strategies, {}, "unfused").value == approx(5));
  strategies[0].launches = 50;
  strategies[0].launches_without_plan = 1;  // the same bound on both sides, but all that the other one has
  CHECK(judge({"", "predicted_speedup_of_kernels", 5}, strategies, {}, "unfused").value == approx(2));
  strategies[1].launches = 10;
  CHECK(judge({"", "predicted_speedup_of_kernels", 5}, strategies, {}, "unfused").value == approx(7.5));
}

TEST_CASE("a claim about predicted times does not hear what was measured of some of them") {
  std::vector<store::StrategyTotals> strategies{totals_of("unfused", 5, 4e6, 40e-6),
                                                totals_of("tailor", 1, 1e6, 10e-6)};
  const Claim claim{"", "predicted_speedup_of_kernels", 4.5};
  CHECK(judge(claim, strategies, {}, "unfused").value == approx(4));
  strategies[1].kernel_time = {8e-6};  // without the launch
  strategies[1].launches_measured = 1;
  CHECK(judge(claim, strategies, {}, "unfused").value == approx(4));
  CHECK_FALSE(judge(claim, strategies, {}, "unfused").holds());
}

TEST_CASE("a claim about nothing is not judged: no kernels anywhere, or bounds alone") {
  std::array strategies{totals_of("unfused", 0, 0, 0), totals_of("tailor", 0, 0, 0)};
  for (const char* metric : {"predicted_speedup_with_library", "launch_reduction_with_library"}) {
    const JudgedClaim idle = judge({"", metric, 1}, strategies, Bytes{10}, "unfused");
    CHECK(idle.not_judged == "no strategy makes a kernel, so there is nothing to fuse");
    CHECK_FALSE(idle.holds());
  }
  strategies = {totals_of("unfused", 2, 1, 3e-5), totals_of("tailor", 1, 1, 1e-5)};
  strategies[0].launches_without_plan = 2;
  strategies[1].launches_without_plan = 1;
  const JudgedClaim bounds = judge({"", "predicted_speedup_of_kernels", 2}, strategies, {}, "unfused");
  CHECK(bounds.not_judged == "2 of 2 launches of the baseline have no plan, and a bound is no prediction");
  CHECK_FALSE(bounds.holds());
  CHECK(judge({"", "launch_reduction_of_kernels", 2}, strategies, {}, "unfused").holds());  // counts need no plan
  strategies[0].launches_without_plan = 1;  // a half: neither that it holds nor that it fails is told by it
  CHECK_FALSE(judge({"", "predicted_speedup_of_kernels", 9}, strategies, {}, "unfused").not_judged.empty());
  strategies[0].launches_without_plan = 0;  // and the only other one has a bound for a time
  const JudgedClaim alone = judge({"", "predicted_speedup_of_kernels", 2}, strategies, {}, "unfused");
  CHECK(alone.not_judged ==
        "nothing is left to compare with: of tailor, a tenth of the launches have no plan, or more of them than of "
        "unfused");
  CHECK_FALSE(alone.holds());
}

TEST_CASE("what has no plan is counted by launches: a group that runs in a loop weighs as often as it runs") {
  std::array strategies{totals_of("unfused", 500, 1, 3e-5), totals_of("stitch-v1", 100, 1, 4e-6)};
  strategies[0].groups_without_plan = 1;  // it runs 50 times
  strategies[0].launches_without_plan = 50;
  strategies[1].groups_without_plan = 2;  // each runs once
  strategies[1].launches_without_plan = 2;
  CHECK(judge({"", "predicted_speedup_of_kernels", 5}, strategies, {}, "unfused").left_out.empty());
  std::swap(strategies[0].launches_without_plan, strategies[1].launches_without_plan);
  std::swap(strategies[0].groups_without_plan, strategies[1].groups_without_plan);
  CHECK(judge({"", "predicted_speedup_of_kernels", 5}, strategies, {}, "unfused").left_out ==
        std::vector<std::string>{"stitch-v1"});
}

TEST_CASE("every figure of every model is added up, and the best of the other strategies is claimed") {
  // Two models; sums of none: launches 12, calls 70, bytes 300, kernels 60 s, library 5 s, others as they stand.
  const auto row = [](const char* strategy, double launches, double calls, double bytes, double kernels,
                      double library) {
    store::StrategyTotals totals = totals_of(strategy, launches, bytes, kernels);
    totals.library_calls = calls;
    totals.library_time = {library};
    return totals;
  };
  const std::array strategies{row("none", 8, 30, 100, 20, 1), row("none", 4, 40, 200, 40, 4),
                              row("a", 2, 30, 50, 10, 1),     row("a", 1, 40, 100, 10, 4),
                              row("b", 4, 30, 20, 5, 1),      row("b", 2, 40, 30, 25, 4)};
  const auto value = [&](const char* metric) { return judge({"", metric, 1}, strategies, Bytes{50}, "none").value; };
  CHECK(value("launch_reduction_of_kernels") == approx(12.0 / 3));
  CHECK(value("launch_reduction_with_library") == approx(82.0 / 73));
  CHECK(value("traffic_reduction_of_kernels") == approx(300.0 / 50));
  CHECK(value("traffic_reduction_with_library") == approx(350.0 / 100));
  CHECK(value("predicted_speedup_of_kernels") == approx(60.0 / 20));
  CHECK(value("predicted_speedup_with_library") == approx(65.0 / 25));
  const JudgedClaim at_threshold = judge({"", "predicted_speedup_of_kernels", 3}, strategies, {}, "none");
  CHECK(at_threshold.holds());
}

TEST_CASE("models and devices are added up before the proportion is taken") {
  const std::array strategies{totals_of("unfused", 10, 1, 1), totals_of("stitch-v1", 1, 1, 1),
                              totals_of("unfused", 30, 1, 1), totals_of("stitch-v1", 19, 1, 1)};
  CHECK(judge({"", "launch_reduction_of_kernels", 2}, strategies, {}, "unfused").value == approx(2));
}

TEST_CASE("every metric says by its ending what it looks at, and a name without one is asked for it") {
  int of_kernels = 0, with_library = 0;
  for (const ClaimMetric& metric : claim_metrics()) {
    of_kernels += metric.name.ends_with("_of_kernels") ? 1 : 0;
    with_library += metric.name.ends_with("_with_library") ? 1 : 0;
    CHECK(&find_metric(std::string(metric.name)) == &metric);
  }
  CHECK(of_kernels + with_library == static_cast<int>(claim_metrics().size()));
  CHECK(of_kernels == with_library);
  for (const char* name : {"launch_reduction", "predicted_speedup", "traffic_reduction"}) {
    try {
      find_metric(name);
      FAIL("a metric that does not say what it looks at was taken");
    } catch (const Error& error) {
      CHECK(error.fault == Fault::usage);
      CHECK(error.hint == "say which: " + std::string(name) + "_of_kernels or " + name + "_with_library");
    }
  }
}
