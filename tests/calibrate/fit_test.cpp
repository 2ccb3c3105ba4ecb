// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits of synthetic devices: a device with known figures times kernels with seeded noise, and a fit from other figures
// finds them again within its intervals; the order of observations changes nothing, and what is wrong is refused.
// Inputs are descriptions of kernels and a device whose figures are moved here. Part of the suite `calibrate`.
#include "calibrate/fit.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "calibrate/propose.h"
#include "calibrate/pytorch.h"
#include "calibrate/ranges.h"
#include "support/approx.h"
#include "support/thorough.h"
#include "synthetic.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

std::string fit_refusal(std::span<const Sample> samples, const FitOptions& options = {}) {
  try {
    fit(samples, fit_device(), fit_before(), options);
  } catch (const Error& error) {
    return error_text(error);
  }
  return "";
}

const Moved& moved_figure(const Fitted& fitted, const std::string& figure, const std::string& operation = "") {
  for (const Moved& one : fitted.moved)
    if (one.figure == figure && one.operation == operation) return one;
  FAIL("no figure " << figure);
  return fitted.moved.front();
}

}  // namespace

TEST_CASE(
    "the figures of a synthetic device are found again, and predictions on other shapes are as good as the noise") {
  Truth truth;
  truth.set("dram_efficiency", 0.81);
  truth.set("launch_overhead", 5e-6);
  truth.set("dispatch_floor", 30e-6);
  truth.set("dispatch_floor", 45e-6, "ln f32");
  const std::vector<Sample> samples = timed(truth, 60, 0.01, 11);
  const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
  CHECK(moved_figure(fitted, "dram_efficiency").value == approx(0.81).epsilon(0.03));
  CHECK(moved_figure(fitted, "launch_overhead").value == approx(5e-6).epsilon(0.1));
  CHECK(moved_figure(fitted, "dispatch_floor", "ln f32").value == approx(45e-6).epsilon(0.02));
  CHECK(moved_figure(fitted, "dispatch_floor", "add f32").value == approx(30e-6).epsilon(0.02));
  CHECK(fitted.median_after < 0.012);
  CHECK(fitted.median_after < fitted.median_before / 5);
  const Machine machine(fit_device(), fitted.calibration);
  const costmodel::Model& model = *costmodel::find_model("projected");
  std::vector<double> errors;
  double inside = 0, tested = 0;
  for (const Sample& sample : timed(truth, 60, 0.01, 12)) {
    const ir::Estimate e = estimate(model, sample, machine.of(sample.operation));
    errors.push_back(std::abs(e.total.value / sample.of.time.value - 1));
    inside += e.low <= sample.of.time && sample.of.time <= e.high ? 1 : 0;
    ++tested;
  }
  std::sort(errors.begin(), errors.end());
  CHECK(errors[errors.size() / 2] < 0.015);
  CHECK(inside / tested > 0.84);
  CHECK(inside / tested < 0.97);
}

TEST_CASE("of a host with two speeds the one that most calls have is the floor, and not what lies between" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  // Calls take 32 us, or 39 by chance, at all shapes alike: no term of the kernel tells which.
  constexpr double fast = 32e-6, slow = 39e-6;
  Truth usual, other;
  usual.set("dispatch_floor", fast);
  other.set("dispatch_floor", slow);
  for (const double share : {0.2, 0.35}) {
    if (!testing::broad() && share == 0.2) continue;  // the harder one
    std::vector<Sample> samples = timed(usual, 60, 0.005, 13);
    const std::vector<Sample> slower = timed(other, 60, 0.005, 13);  // the same kernels in the same order
    REQUIRE(slower.size() == samples.size());
    std::mt19937_64 random(14);
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (static_cast<double>(random() >> 11) * 0x1p-53 < share) samples[i] = slower[i];
    const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
    CAPTURE(share);
    for (const char* operation : {"add f32", "softmax f32", "ln f32"}) {
      CAPTURE(std::string(operation));
      CHECK(moved_figure(fitted, "dispatch_floor", operation).value == approx(fast).epsilon(0.01));
    }
    CHECK(fitted.weightless > 0);
  }
}

TEST_CASE("intervals of figures hold the truth about as often as they say" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  Truth truth;
  truth.set("dram_efficiency", 0.81);
  truth.set("launch_overhead", 5e-6);
  truth.set("dispatch_floor", 30e-6);
  int inside = 0, all = 0;
  const unsigned fits = testing::effort(6u, 12u, 24u);
  for (unsigned seed = 21; seed < 21 + fits; ++seed) {
    const Fitted fitted = fit(timed(truth, 30, 0.02, seed), fit_device(), fit_before(), {});
    for (const auto& [figure, value] : {std::pair{"dram_efficiency", 0.81}, {"launch_overhead", 5e-6}}) {
      const Moved& moved = moved_figure(fitted, figure);
      inside += moved.low <= value && value <= moved.high ? 1 : 0;
      ++all;
    }
  }
  // 48 trials of nine tenths: below 36 in one of a thousand; of 24: below 18 in one of a hundred; of 12: below 9 in one
  // of forty, but the seeds are the same in each run.
  CHECK(inside >= 0.75 * all);
  CHECK(all == 2 * static_cast<int>(fits));
}

TEST_CASE("a fit is the same byte for byte, whatever the order of the observations, and reads back equal") {
  Truth truth;
  truth.set("dram_efficiency", 0.81);
  truth.set("dispatch_floor", 30e-6);
  std::vector<Sample> samples = timed(truth, 20, 0.02, 5);
  const Fitted first = fit(samples, fit_device(), fit_before(), {});
  std::reverse(samples.begin(), samples.end());
  const Fitted again = fit(samples, fit_device(), fit_before(), {});
  CHECK(text(first.calibration) == text(again.calibration));
  ir::Calibration read = ir::parse_calibration(text(first.calibration), "v100_pcie.json");
  read.name = first.calibration.name;
  CHECK(text(read) == text(first.calibration));
  CHECK(read == first.calibration);
  // A fit that begins where another ended stays there.
  const Fitted second = fit(samples, fit_device(), first.calibration, {});
  CHECK(moved_figure(second, "dram_efficiency").value ==
        approx(moved_figure(first, "dram_efficiency").value).epsilon(0.02));
}

TEST_CASE("what no observation tells stays as it was and is named") {
  Truth truth;
  truth.set("dram_efficiency", 0.81);
  truth.set("dispatch_floor", 30e-6);
  std::vector<Sample> samples = timed(truth, 20, 0.02, 6);
  std::erase_if(samples, [](const Sample& one) { return !one.of.regime.includes.dispatch_floor; });
  const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
  CHECK(std::find(fitted.left.begin(), fitted.left.end(), "launch_overhead") != fitted.left.end());
  const ir::Calibration before = fit_before();
  CHECK(ir::find_fit(fitted.calibration, "v100_pcie", "launch_overhead")->value ==
        ir::find_fit(before, "v100_pcie", "launch_overhead")->value);
  CHECK(ir::find_fit(fitted.calibration, "v100_pcie", "launch_overhead")->observations.empty());
}

TEST_CASE("too few observations, those of another GPU and contradictions are refused with what is needed") {
  Truth truth;
  truth.set("dispatch_floor", 30e-6);
  std::vector<Sample> samples = timed(truth, 20, 0.02, 7);
  std::vector<Sample> few;
  for (const Sample& one : samples)
    if (one.of.split == ir::Split::train && few.size() < 5) few.push_back(one);
  const std::string said = fit_refusal(few);
  CHECK(said.find("found 5 observations of 'v100_pcie'") != std::string::npos);
  CHECK(said.find("expected at least") != std::string::npos);
  FitOptions lenient;
  lenient.few = true;
  CHECK(fit_refusal(few, lenient).empty());
  CHECK(fit_refusal({}).find("found 0 observations") != std::string::npos);
  std::vector<Sample> other = samples;
  other[3].of.device = "t4";
  CHECK(fit_refusal(other).find("an observation is of 't4'") != std::string::npos);
  const Sample& once = few.front();
  for (const double times : {1000.0, 0.001}) {
    const Seconds other_time = once.of.time * times;
    std::vector<Sample> contradicted = samples;
    contradicted.push_back(foreign_sample(ir::make_observation(once.of.device, once.of.regime, other_time, other_time,
                                                               other_time, "other line 2", once.of.subject)));
    INFO(times);
    CHECK(fit_refusal(contradicted).find("contradict each other") != std::string::npos);
  }
}

TEST_CASE("a kernel outside of what was observed is beyond the calibration, one inside is not") {
  Truth truth;
  truth.set("dispatch_floor", 30e-6);
  const std::vector<Sample> samples = timed(truth, 20, 0.02, 8);
  const Fitted fitted = fit(samples, fit_device(), fit_before(), {});
  CHECK(beyond(fitted.calibration, "v100_pcie", samples.front().work).empty());
  CHECK(beyond(fit_before(), "v100_pcie", samples.front().work).empty());
  costmodel::Work large = samples.front().work;
  large.buffers[0].read_bytes = std::int64_t{1} << 50;
  const std::vector<std::string> said = beyond(fitted.calibration, "v100_pcie", large);
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("observed were") != std::string::npos);
}

TEST_CASE("proposals look where something is left to learn, and what is expected after them falls") {
  Truth truth;
  truth.set("dispatch_floor", 30e-6);
  std::vector<Sample> candidates = timed(truth, 12, 0.0, 9);
  std::erase_if(candidates, [](const Sample& one) { return one.of.regime.includes.dispatch_floor; });
  const Proposals first = propose(candidates, {}, fit_device(), fit_before(), {}, 8);
  REQUIRE(first.chosen.size() == 8);
  double before = first.error_before;
  for (const Proposal& one : first.chosen) {
    CHECK(one.expected_error <= before);
    before = one.expected_error;
  }
  CHECK(before < 0.6 * first.error_before);
  CHECK(std::find(first.left.begin(), first.left.end(), "dispatch_floor") != first.left.end());
  // The eight that say most leave less open than eight that were drawn.
  const std::span<const Sample> drawn = std::span(candidates).last(8);
  const Proposals after = propose(candidates, drawn, fit_device(), fit_before(), {}, 1);
  CHECK(before < after.error_before);
}
