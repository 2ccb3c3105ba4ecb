// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Priors from neighbours. Calibrations of other GPUs come in; for each figure the median over them and how far they are
// from one another go out. Called before a fit to few observations.
//
// A figure that was not fitted on a neighbour says nothing. Shares, exponents and times are taken as they are; rates of
// a chip are taken per SM and clock, because that is what a generation has in common. Values are compared in the scale
// in which a fit moves them, and the width is never below a tenth of what is believed without neighbours: four GPUs
// that agree do not make a fifth one certain. What a call of an operation costs more than another one is a property of
// the framework, and is taken as a ratio to the GPU's common value. What a call costs at all is the host's, and no GPU
// tells of the next one's host: there neighbours give the middle, and the width is what is believed without them. Nor
// do they tell which version of the framework it runs, which may launch an operation in another way.
#include "calibrate/transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/statistics.h"

namespace tailor::calibrate {

namespace {

double distance(const ir::Device& a, const ir::Device& b) {
  double sum = 0;
  for (ir::Figure ir::Device::*const fact :
       {&ir::Device::dram_bandwidth, &ir::Device::l2_bytes, &ir::Device::sms, &ir::Device::clock}) {
    const double d = std::log((a.*fact).value / (b.*fact).value);
    sum += d * d;
  }
  return sum;
}

/// What a rate of a chip is proportional to, and a clock to the data sheet's; 1 for what is no rate.
double reference(std::string_view unit, const ir::Device& device) {
  return unit == "B/s" ? device.sms.value * device.clock.value : unit == "Hz" ? device.clock.value : 1;
}

struct Around {
  double middle = 0, width = 0;
};
Around spread_over(std::vector<double> values, double least) {
  const double middle = median_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - middle) * (value - middle);
  // Few values: the spread of the next one is wider than theirs.
  const auto n = static_cast<double>(values.size());
  const double width = n > 1 ? std::sqrt(sum / (n - 1) * (n + 1) / n) : 0;
  return {middle, std::max(width, least)};
}

bool was_fitted(const ir::Fit* fit) { return fit != nullptr && !fit->observations.empty(); }

}  // namespace

std::vector<Neighbour> nearest(const ir::Device& device, std::span<const Neighbour> others, std::size_t count) {
  std::vector<Neighbour> sorted;
  for (const Neighbour& one : others)
    if (one.device.name != device.name) sorted.push_back(one);
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Neighbour& a, const Neighbour& b) {
    return distance(device, a.device) < distance(device, b.device);
  });
  sorted.resize(std::min(count, sorted.size()));
  return sorted;
}

std::map<std::string, Prior> priors_from(const ir::Device& device, std::span<const Neighbour> neighbours) {
  std::map<std::string, Prior> priors;
  for (const Parameter& parameter : parameters()) {
    const std::string figure(parameter.figure);
    const std::string_view unit = ir::find_figure(figure)->unit;
    std::vector<double> values;
    std::map<std::string, std::vector<double>> ratios;
    for (const Neighbour& one : neighbours) {
      const ir::Fit* common = ir::find_fit(one.calibration, one.device.name, figure);
      if (!was_fitted(common)) continue;
      values.push_back(scaled(parameter, common->value * reference(unit, device) / reference(unit, one.device)));
      for (const ir::Fit& fit : one.calibration.fits)
        if (fit.figure == figure && !fit.operation.empty() && was_fitted(&fit))
          ratios[fit.operation].push_back(scaled(parameter, fit.value) - scaled(parameter, common->value));
    }
    if (values.empty()) continue;
    const bool of_host = parameter.extent == Extent::operation;
    const Around common = spread_over(values, of_host ? parameter.width : parameter.width / 10);
    const double value = std::clamp(unscaled(parameter, common.middle), parameter.low, parameter.high);
    priors[figure] = {value, common.width, fmt::format("{} calibrated GPUs", values.size())};
    for (const auto& [operation, of_operation] : ratios) {
      constexpr double between_versions = 0.4;  // of that width
      const Around own = spread_over(of_operation, parameter.width * between_versions);
      priors[fmt::format("{} of {}", figure, operation)] = {unscaled(parameter, scaled(parameter, value) + own.middle),
                                                            own.width, ""};
    }
  }
  return priors;
}

}  // namespace tailor::calibrate
