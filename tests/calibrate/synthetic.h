// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Synthetic GPUs: a calibration of which some figures are not those that a fit begins with, and kernels timed by it
// with noise that is the same on every machine. In: figures, a number of shapes, a seed. Out: samples. Called by the
// tests of fits in this folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "calibrate/fit.h"
#include "calibrate/pytorch.h"
#include "support/paths.h"

namespace tailor::calibrate {

inline const std::string fit_data = source_folder() + "/data";

inline ir::Device fit_device() { return ir::find_device("v100_pcie", fit_data + "/devices"); }
inline ir::Calibration fit_before() { return ir::find_calibration("uncalibrated", fit_data + "/calibrations"); }

/// What a device is that no file describes: some figures are not those that a fit begins with.
struct Truth {
  ir::Calibration calibration = fit_before();
  void set(const std::string& figure, double value, const std::string& operation = "") {
    const ir::FigureName* row = ir::find_figure(figure);
    calibration.device = fit_device().name;
    std::erase_if(calibration.fits, [&](const ir::Fit& one) {
      return one.figure == figure && one.operation == operation && !one.device.empty();
    });
    std::erase_if(calibration.fits, [](const ir::Fit& one) { return !one.device.empty(); });
    calibration.fits.push_back({"", figure, value, std::string(row->unit), {}, "truth", {}, {}, operation});
    const auto first = std::find_if(calibration.fits.begin(), calibration.fits.end(), [&](const ir::Fit& one) {
      return one.figure == figure && one.operation == operation;
    });
    first->value = value;
  }
};

inline double normal(std::mt19937_64& random) {
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

/// Streams, sums of rows and calls of a framework, timed by the truth with relative noise.
inline std::vector<Sample> timed(const Truth& truth, int shapes, double noise, unsigned seed) {
  std::mt19937_64 random(seed);
  const ir::Device device = fit_device();
  const Machine machine(device, truth.calibration);
  const costmodel::Model& model = *costmodel::find_model("projected");
  std::vector<Sample> samples;
  const auto add = [&](const ir::Regime& regime, const ir::ForeignKernel& kernel) {
    ir::Observation one = ir::make_observation(device.name, regime, {1}, {1}, {1}, "synthetic", kernel);
    Sample sample = foreign_sample(one);
    const double time =
        estimate(model, sample, machine.of(sample.operation)).total.value * std::exp(noise * normal(random));
    samples.push_back(foreign_sample(ir::make_observation(device.name, regime, {time}, {time}, {time},
                                                          "synthetic line " + std::to_string(samples.size()), kernel)));
  };
  ir::Regime host{ir::CacheState::warm, ir::Timer::host, ir::LaunchMode::stream, ir::includes(ir::Timer::host)};
  ir::Regime cold;
  for (int i = 0; i < shapes; ++i) {
    const auto rows = static_cast<std::int64_t>(64 << (random() % 9)),
               columns = static_cast<std::int64_t>(256 + random() % 3800);
    for (const char* operation : {"add", "softmax", "ln"}) {
      add(host, *pytorch_kernel(operation, rows, columns));
      add(cold, *pytorch_kernel(operation, rows, columns));
    }
  }
  return samples;
}

}  // namespace tailor::calibrate
