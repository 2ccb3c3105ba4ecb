// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The learned residual: trees as text and numbers, the laws that hold with any of them, what is learned from synthetic
// times and in which order, and the residuals that ship. Inputs are random trees, descriptions of kernels and
// data/calibrations; what grows trees is skipped in a build without XGBoost. Part of the suite `calibrate`.
#include "calibrate/learn.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

#include "base/error.h"
#include "calibrate/boosting.h"
#include "calibrate/fit.h"
#include "calibrate/pytorch.h"
#include "costmodel/residual.h"
#include "support/approx.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

const std::string learn_data = source_folder() + "/data";
const std::vector<std::string> learned_devices = {"a100_pcie_40gb", "p100_pcie", "p4", "t4", "v100_pcie"};

ir::Calibration shipped_of(const std::string& device) {
  return ir::find_calibration(device, learn_data + "/calibrations");
}

std::int32_t grow(ir::Tree& tree, std::mt19937_64& random, int depth) {
  const auto draw = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 10000) / 10000;
  };
  const auto at = static_cast<std::int32_t>(tree.size());
  tree.emplace_back();
  if (depth == 0 || random() % 4 == 0) {
    tree.back().value = draw(-0.2, 0.2);
    return at;
  }
  ir::TreeNode node{static_cast<std::int32_t>(random() % 3), draw(-3, 3), 0, 0};
  node.left = grow(tree, random, depth - 1);
  node.right = grow(tree, random, depth - 1);
  tree[static_cast<std::size_t>(at)] = node;
  return at;
}

std::vector<ir::Tree> random_trees(std::mt19937_64& random) {
  std::vector<ir::Tree> trees(1 + random() % 6);
  for (ir::Tree& tree : trees) grow(tree, random, 4);
  return trees;
}

/// Times that the formulas say, off by what the trips of a kernel say.
std::vector<Sample> off_by_trips(const ir::Device& device, const ir::Calibration& calibration) {
  std::vector<Sample> samples;
  const Machine machine(device, calibration);
  const ir::Regime regime{ir::CacheState::warm, ir::Timer::stream, ir::LaunchMode::stream,
                          ir::includes(ir::Timer::stream)};
  for (const std::string_view operation : {"add", "ln"})
    for (std::int64_t rows = 512; rows <= 8192; rows = rows * 3 / 2)
      for (std::int64_t columns = 260; columns <= 3600; columns = columns * 6 / 5) {
        const auto kernel = pytorch_kernel(operation, rows, columns);
        Sample sample = foreign_sample(ir::make_observation(device.name, regime, {1}, {1}, {1}, "made", *kernel));
        const double factor = operation == "ln" && sample.work.critical_path.far > 3.5 ? 1.3 : 1.0;
        sample.of = ir::make_observation(
            device.name, regime,
            {factor * estimate(*costmodel::find_model("projected"), sample, machine.all()).total.value}, {0}, {1},
            "made", *kernel);
        samples.push_back(std::move(sample));
      }
  return samples;
}

double time_with(const ir::ForeignKernel& kernel, const costmodel::CalibratedDevice& device, const ir::Regime& regime) {
  const Sample sample = foreign_sample(ir::make_observation(device.name, regime, {1}, {1}, {1}, "asked", kernel));
  return estimate(*costmodel::find_model("projected"), sample, device).total.value;
}

}  // namespace

TEST_CASE("trees are read back as they are written, and what is none is refused") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i)
    for (const ir::Tree& tree : random_trees(random)) CHECK(ir::parse_tree(ir::text(tree), 3) == tree);
  for (const char* wrong :
       {"", "(", "(0<1 2 3", "(3<1 2 3)", "(-1<1 2 3)", "(0<nan 2 3)", "(0<1 2 3) ", "(0<1 2)", "x"})
    CHECK_THROWS_AS(ir::parse_tree(wrong, 3), Error);
  std::string deep = "1";
  for (int i = 0; i < 40; ++i) deep = "(0<1 1 " + deep + ")";
  CHECK_THROWS_AS(ir::parse_tree(deep, 3), Error);
}

TEST_CASE("a smoothed sum is the mean of the sum, and falls no faster than it may") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    const std::vector<ir::Tree> trees = random_trees(random);
    const double width = std::max(0.1, ir::fall_of(trees) / ir::steepest_fall);
    const double others[] = {static_cast<double>(random() % 600) / 100 - 3,
                             static_cast<double>(random() % 600) / 100 - 3};
    double before = 0;
    for (int step = 0; step <= 400; ++step) {
      const double x = -4 + 0.02 * step;
      const double now = ir::sum_of(trees, std::vector<double>{x, others[0], others[1]}, width);
      if (step > 0) CHECK(now - before >= -ir::steepest_fall * 0.02 * (1 + 1e-9) - 1e-12);
      before = now;
      if (step % 100 != 0) continue;
      double mean = 0;
      constexpr int parts = 2000;
      for (int k = 0; k < parts; ++k)
        mean += ir::sum_of(trees, std::vector<double>{x + width * ((k + 0.5) / parts - 0.5), others[0], others[1]}, 0) /
                parts;
      CHECK(std::abs(mean - now) < 5e-3);
    }
  }
}

TEST_CASE("a residual that could make a longer kernel faster, or is beyond its bounds, is refused by the reader") {
  ir::Calibration calibration = shipped_of("p4");
  REQUIRE(calibration.residual.has_value());
  CHECK(ir::parse_calibration(ir::text(calibration), "p4.json") == calibration);
  const auto refused = [&](auto&& change) {
    ir::Calibration wrong = calibration;
    change(*wrong.residual);
    try {
      ir::parse_calibration(ir::text(wrong), "p4.json");
    } catch (const Error&) {
      return true;
    }
    return false;
  };
  CHECK(refused([](ir::Residual& r) { r.width /= 2; }));
  CHECK(refused([](ir::Residual& r) { r.high = 0.7; }));
  CHECK(refused([](ir::Residual& r) { r.low = 0.1; }));
  CHECK(refused([](ir::Residual& r) { std::swap(r.features[0].low, r.features[0].high); }));
  CHECK_FALSE(refused([](ir::Residual& r) { r.width *= 2; }));
  const ir::Device device = ir::find_device("p4", learn_data + "/devices");
  std::swap(calibration.residual->features[1], calibration.residual->features[2]);
  CHECK_THROWS_AS(costmodel::calibrated(device, calibration), Error);
}

TEST_CASE("with the shipped residuals no time is below the bound, and bytes, bandwidths and clocks keep their laws" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  std::mt19937_64 random(3);
  const auto draw = [&](double low, double high) {
    return std::exp(std::log(low) + std::log(high / low) * static_cast<double>(random() % 100000) / 1e5);
  };
  const costmodel::Model& sol = *costmodel::find_model("sol");
  for (const std::string& name : learned_devices) {
    CAPTURE(name);
    const ir::Device device = ir::find_device(name, learn_data + "/devices");
    const ir::Calibration calibration = shipped_of(name);
    REQUIRE(calibration.residual.has_value());
    const costmodel::CalibratedDevice with = costmodel::calibrated(device, calibration);
    REQUIRE(with.residual != nullptr);
    for (int i = 0; i < 400; ++i) {
      CAPTURE(i);
      const std::string_view operation = i % 3 == 0 ? "ln" : i % 3 == 1 ? "softmax" : "add";
      ir::ForeignKernel kernel = *pytorch_kernel(operation, static_cast<std::int64_t>(draw(16, 60000)),
                                                 static_cast<std::int64_t>(draw(64, 4096)));
      for (const ir::Timer timer : {ir::Timer::host, ir::Timer::activity}) {
        const ir::Regime regime{ir::CacheState::warm, timer, ir::LaunchMode::stream, ir::includes(timer)};
        const double time = time_with(kernel, with, regime);
        const Sample sample = foreign_sample(ir::make_observation(name, regime, {1}, {1}, {1}, "asked", kernel));
        CHECK(time >= estimate(sol, sample, with).total.value * (1 - 1e-12));
        for (const double more : {1.001, 1.03, 1.5, 8.0}) {
          ir::ForeignKernel larger = kernel;
          // Without a residual the law is exact. These were learned before trips hid each other, and take back up to a
          // ten-thousandth of what more bytes add.
          larger.read *= more;
          CHECK(time_with(larger, with, regime) >= time * (1 - 1e-4));
          larger.written *= more;
          CHECK(time_with(larger, with, regime) >= time * (1 - 1e-4));
          costmodel::CalibratedDevice faster = with;
          faster.dram_bandwidth *= more;
          CHECK(time_with(kernel, faster, regime) <= time * (1 + 1e-9));
          faster = with;
          faster.l2_bandwidth *= more;
          CHECK(time_with(kernel, faster, regime) <= time * (1 + 1e-9));
          faster = with;
          faster.clock *= more;
          CHECK(time_with(kernel, faster, regime) <= time * (1 + 1e-9));
        }
      }
    }
  }
}

TEST_CASE("a residual stays within its bounds, and is nothing where nothing was observed") {
  for (const std::string& name : learned_devices) {
    CAPTURE(name);
    const ir::Device device = ir::find_device(name, learn_data + "/devices");
    const costmodel::CalibratedDevice with = costmodel::calibrated(device, shipped_of(name));
    costmodel::CalibratedDevice without = with;
    without.residual = nullptr;
    CHECK(costmodel::text(with) != costmodel::text(without));
    const ir::Regime warm{ir::CacheState::warm, ir::Timer::activity, ir::LaunchMode::stream,
                          ir::includes(ir::Timer::activity)};
    ir::Regime cold = warm;
    cold.cache = ir::CacheState::cold;
    bool differs = false;
    for (std::int64_t rows = 64; rows <= 16384; rows *= 2)
      for (std::int64_t columns = 300; columns < 4096; columns += 300) {
        const ir::ForeignKernel kernel = *pytorch_kernel("ln", rows, columns);
        const double ratio = time_with(kernel, with, warm) / time_with(kernel, without, warm);
        CHECK(ratio <= 1.4);
        CHECK(ratio >= 0.6);
        differs = differs || std::abs(ratio - 1) > 0.01;
        CHECK(time_with(kernel, with, cold) == time_with(kernel, without, cold));
      }
    CHECK(differs);
    const ir::ForeignKernel vast = *pytorch_kernel("ln", 1 << 23, 4096);
    CHECK(time_with(vast, with, warm) == time_with(vast, without, warm));
    ir::ForeignKernel unlike = *pytorch_kernel("ln", 4096, 1024);
    unlike.barriers = 40;
    CHECK(time_with(unlike, with, warm) == time_with(unlike, without, warm));
  }
}

TEST_CASE("what formulas leave over in some kernels is learned from others, in any order, byte for byte" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  if (boosting_library().empty()) {
    MESSAGE("skipped: no XGBoost");
    return;
  }
  const ir::Device device = ir::find_device("v100_pcie", learn_data + "/devices");
  ir::Calibration calibration = shipped_of("v100_pcie");
  calibration.residual.reset();
  const std::vector<Sample> samples = off_by_trips(device, calibration);
  std::vector<const Sample*> known, unknown;
  for (std::size_t i = 0; i < samples.size(); ++i) (i % 4 == 3 ? unknown : known).push_back(&samples[i]);
  const costmodel::Model& model = *costmodel::find_model("projected");
  const Learned learned = learn(known, device, calibration, model);
  CAPTURE(learned.said);
  REQUIRE(learned.residual.has_value());
  CHECK(learned.shapes_after < 0.5 * learned.shapes_before);
  ir::Calibration with = calibration;
  with.residual = learned.residual;
  CHECK(ir::parse_calibration(ir::text(with), "v100_pcie.json").residual == with.residual);
  const auto error = [&](const ir::Calibration& of) {
    const Machine machine(device, of);
    double sum = 0;
    for (const Sample* one : unknown)
      sum += std::abs(std::log(estimate(model, *one, machine.of(one->operation)).total.value / one->of.time.value));
    return sum / static_cast<double>(unknown.size());
  };
  CHECK(error(with) < 0.5 * error(calibration));
  CHECK(learn(known, device, calibration, model).residual == learned.residual);
  FitOptions options;
  options.residual = true;
  std::vector<Sample> shuffled = samples;
  std::mt19937_64 random(5);
  for (std::size_t i = shuffled.size(); i > 1; --i) std::swap(shuffled[i - 1], shuffled[random() % i]);
  CHECK(ir::text(fit(samples, device, calibration, options).calibration) ==
        ir::text(fit(shuffled, device, calibration, options).calibration));
  // Times that the formulas tell need no residual, and few teach none.
  std::vector<Sample> told = samples;
  const Machine machine(device, calibration);
  std::vector<const Sample*> right;
  for (Sample& one : told) {
    one.of.time = estimate(model, one, machine.all()).total;
    right.push_back(&one);
  }
  CHECK_FALSE(learn(right, device, calibration, model).residual.has_value());
  CHECK_FALSE(learn(std::span(known).first(40), device, calibration, model).residual.has_value());
}

TEST_CASE("a build without the library that grows trees says what is missing") {
  if (!boosting_library().empty()) {
    MESSAGE("skipped: XGBoost is there");
    return;
  }
  CHECK_THROWS_WITH_AS(boosted({}, {}, {}, {}), doctest::Contains("XGBoost"), Error);
}
