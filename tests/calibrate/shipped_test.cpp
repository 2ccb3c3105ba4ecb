// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The calibrations that ship: each is possible, obeys the laws of the models, names what it rests on, and where
// third-party data is at hand, says times of other shapes as well as it claims. Inputs are data/calibrations and the
// published tables. Part of the suite `calibrate`.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "calibrate/pytorch.h"
#include "calibrate/read_csv.h"
#include "calibrate/sample.h"
#include "calibrate/validate.h"
#include "support/paths.h"
#include "support/thorough.h"

using namespace tailor;
using namespace tailor::calibrate;

namespace {

const std::string shipped_data = source_folder() + "/data";

struct Shipped {
  ir::Device device;
  ir::Calibration calibration;
};

std::vector<Shipped> shipped_calibrations() {
  std::vector<Shipped> all;
  for (const std::string& name : ir::device_names(shipped_data + "/devices"))
    if (const std::string file = shipped_data + "/calibrations/" + name + ".json";
        std::filesystem::is_regular_file(file))
      all.push_back({ir::find_device(name, shipped_data + "/devices"), ir::read_calibration(file)});
  return all;
}

/// What a calibration reaches on shapes of the test side, as fractions: medians, and means of row-wise operations.
struct Reached {
  std::string_view device;
  double elementwise, norm, norm_mean, softmax, softmax_mean;
};
constexpr Reached reached_table[] = {
    {"a100_pcie_40gb", 0.015, 0.05, 0.08, 0.05, 0.08},
    {"p100_pcie", 0.015, 0.05, 0.08, 0.05, 0.08},
    {"p4", 0.015, 0.05, 0.08, 0.05, 0.08},
    {"t4", 0.015, 0.05, 0.08, 0.05, 0.08},
    {"v100_pcie", 0.015, 0.05, 0.08, 0.05, 0.08},
};
const Reached& reached_by(std::string_view device) {
  for (const Reached& row : reached_table)
    if (row.device == device) return row;
  FAIL("no row for " << device);
  return reached_table[0];
}

ir::Observation shipped_question(const ir::Device& device, const ir::ForeignKernel& kernel, const ir::Regime& regime) {
  return ir::make_observation(device.name, regime, {1}, {1}, {1}, "asked", kernel);
}

}  // namespace

TEST_CASE("shipped calibrations are of the GPUs that public data measured, complete and possible") {
  std::set<std::string> names;
  for (const Shipped& one : shipped_calibrations()) {
    CAPTURE(one.device.name);
    names.insert(one.device.name);
    CHECK(one.calibration.device == one.device.name);
    const costmodel::CalibratedDevice d = costmodel::calibrated(one.device, one.calibration);
    CHECK(d.dram_efficiency < 1);
    CHECK(d.l2_share <= 2.5);
    CHECK(d.l2_latency < d.dram_latency);
    CHECK(d.dispatch_lead < d.dispatch_floor);
    CHECK(d.projected_low < 0.5);
    int fitted = 0;
    for (const ir::Fit& fit : one.calibration.fits) {
      fitted += fit.observations.empty() ? 0 : 1;
      CHECK(fit.interval.has_value() == (!fit.observations.empty() && !fit.figure.starts_with("projected_")));
      CHECK(fit.ranges.empty() == fit.observations.empty());
    }
    CHECK(fitted > 10);
    // Times of a framework's calls say nothing of a launch in a stream, so it is as it was before.
    CHECK(ir::find_fit(one.calibration, one.device.name, "launch_overhead")->observations.empty());
    CHECK(ir::find_fit(one.calibration, one.device.name, "dram_latency")->observations.empty());
  }
  CHECK(names == std::set<std::string>{"a100_pcie_40gb", "p100_pcie", "p4", "t4", "v100_pcie"});
}

TEST_CASE("under each shipped calibration no time is below the bound, and more bytes or blocks are never faster") {
  const costmodel::Model& projected = *costmodel::find_model("projected");
  const costmodel::Model& sol = *costmodel::find_model("sol");
  for (const Shipped& one : shipped_calibrations()) {
    const Machine machine(one.device, one.calibration);
    for (const ir::Timer timer : {ir::Timer::host, ir::Timer::activity, ir::Timer::stream})
      for (const ir::CacheState cache : {ir::CacheState::cold, ir::CacheState::warm}) {
        const ir::Regime regime{cache, timer, ir::LaunchMode::stream, ir::includes(timer)};
        for (const std::string_view operation : pytorch_operations()) {
          double before = 0;
          for (std::int64_t rows = 16; rows <= 65536; rows *= 4) {
            CAPTURE(operation);
            CAPTURE(rows);
            const Sample sample =
                foreign_sample(shipped_question(one.device, *pytorch_kernel(operation, rows, 1024), regime));
            const costmodel::CalibratedDevice& d = machine.of(sample.operation);
            const ir::Estimate e = estimate(projected, sample, d);
            CHECK(e.total >= estimate(sol, sample, d).total * (1 - 1e-12));
            CHECK(e.total.value >= before * (1 - 1e-12));
            CHECK(e.low <= e.total);
            CHECK(e.total <= e.high);
            before = e.total.value;
          }
        }
      }
  }
}

TEST_CASE("shipped calibrations say times of other shapes as well as they claim" *
          doctest::test_suite(tailor::testing::in_broad_runs)) {
  const std::filesystem::path file =
      std::filesystem::path(third_party_folder()) / "measurements" / "neusight_train.csv";
  if (third_party_folder().empty() || !std::filesystem::exists(file)) {
    MESSAGE("skipped: no third-party data");
    return;
  }
  std::vector<ir::Device> devices;
  for (const Shipped& one : shipped_calibrations()) devices.push_back(one.device);
  const std::vector<ir::Observation> all = read_measurements(file, devices);
  for (const Shipped& one : shipped_calibrations()) {
    CAPTURE(one.device.name);
    const Machine machine(one.device, one.calibration);
    std::set<Id> fitted;
    for (const ir::Fit& fit : one.calibration.fits) fitted.insert(fit.observations.begin(), fit.observations.end());
    std::vector<Sample> samples;
    for (const ir::Observation& observation : all)
      if (observation.device == one.device.name && observation.split == ir::Split::test) {
        CHECK_FALSE(fitted.contains(observation.id));
        samples.push_back(foreign_sample(observation));
        const std::string& operation = samples.back().operation;
        if (operation != "softmax f32" && operation != "ln f32") samples.back().operation = "element-wise";
      }
    const Contender contender{"projected", [&](const Sample& sample) {
                                const auto& kernel = std::get<ir::ForeignKernel>(sample.of.subject);
                                const ir::Estimate e =
                                    estimate(*costmodel::find_model("projected"), sample, machine.of(kernel.operation));
                                return Guess{e.total.value, e.low.value, e.high.value, ""};
                              }};
    for (const Score& score : score(samples, {&contender, 1}, By::operation)) {
      CAPTURE(score.cell);
      CHECK(score.samples > 100);
      const Reached& reached = reached_by(one.device.name);
      const bool elementwise = score.cell == "element-wise", softmax = score.cell == "softmax f32";
      CHECK(score.median_error < (elementwise ? reached.elementwise : softmax ? reached.softmax : reached.norm));
      if (!elementwise) CHECK(score.mean_error < (softmax ? reached.softmax_mean : reached.norm_mean));
      CHECK(score.bandwidth_rank.value_or(0) > 0.8);
      CHECK(score.seconds_per_query > 0);  // how fast is a benchmark's question
    }
    const Score whole = score(samples, {&contender, 1}, By::nothing).front();
    CHECK(whole.coverage.value_or(0) > 0.85);
    CHECK(whole.coverage.value_or(0) < 0.95);
  }
}
