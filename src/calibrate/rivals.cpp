// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of rivals. Samples of one device and one operation come in; a predictor goes out. Called by validation.
//
// bytes over bandwidth: no fit at all, the data sheet's bandwidth. Two parameters: t = a + b V of least relative
// squared error; a or b that would be negative is 0 and the other fitted alone. Two regimes: the greater of a constant
// and such a line, where the volume at which one gives way to the other is tried at each quantile: what a launch or a
// framework costs, then what bandwidth costs. The same launch: what another call took that moves as many bytes, within
// half a percent, in as many blocks of as many threads. It knows all that can be known of a launch but its noise, and
// has that of two observations in it: the noise of one is its error over the root of two, and no predictor is better.
#include "calibrate/rivals.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/statistics.h"

namespace tailor::calibrate {

namespace {

Predictor bytes_over_bandwidth(std::span<const Sample* const>, const ir::Device& device) {
  const double bandwidth = device.dram_bandwidth.value;
  return [bandwidth](const Sample& sample) { return sample.bytes / bandwidth; };
}

struct Points {
  std::vector<double> bytes, times;  ///< by bytes
};
Points points_of(std::span<const Sample* const> samples) {
  std::vector<const Sample*> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end(), [](const Sample* a, const Sample* b) {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->of.id < b->of.id;
  });
  Points points;
  for (const Sample* sample : sorted) {
    points.bytes.push_back(sample->bytes);
    points.times.push_back(sample->of.time.value);
  }
  return points;
}

Predictor two_parameters(std::span<const Sample* const> train, const ir::Device&) {
  const Points points = points_of(train);
  const Line line = fit_line(points.bytes, points.times);
  return [line](const Sample& sample) { return line.a + line.b * sample.bytes; };
}

Predictor two_regimes(std::span<const Sample* const> train, const ir::Device&) {
  const Points points = points_of(train);
  const std::span<const double> bytes(points.bytes), times(points.times);
  struct Regimes {
    double floor = 0;
    Line line;
    double error = INFINITY;
  } best;
  const auto total_error = [&](double floor, const Line& line) {
    double sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      sum += std::abs(std::max(floor, line.a + line.b * bytes[i]) - times[i]) / times[i];
    return sum;
  };
  constexpr std::size_t steps = 20;
  for (std::size_t step = 0; step <= steps; ++step) {
    const std::size_t cut = bytes.size() * step / steps;
    const double floor = cut == 0 ? 0 : median_of(times.first(cut));
    const Line line = cut == bytes.size() ? Line{} : fit_line(bytes.subspan(cut), times.subspan(cut));
    if (const double error = total_error(floor, line); error < best.error) best = {floor, line, error};
  }
  return [best](const Sample& sample) { return std::max(best.floor, best.line.a + best.line.b * sample.bytes); };
}

Predictor same_launch(std::span<const Sample* const> train, const ir::Device&) {
  std::vector<Sample> sorted;
  for (const Sample* sample : train) sorted.push_back(*sample);
  std::sort(sorted.begin(), sorted.end(), [](const Sample& a, const Sample& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.of.id < b.of.id;
  });
  return [sorted = std::move(sorted)](const Sample& sample) {
    constexpr double alike = 0.005;
    const auto by_bytes = [](const Sample& a, double bytes) { return a.bytes < bytes; };
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), sample.bytes * (1 - alike), by_bytes);
    const Sample* nearest = nullptr;
    const auto apart = [&](const Sample& one) { return std::abs(one.bytes - sample.bytes); };
    for (auto one = first; one != sorted.end() && one->bytes <= sample.bytes * (1 + alike); ++one) {
      const bool same = one->work.grid == sample.work.grid && one->work.threads == sample.work.threads &&
                        one->of.regime == sample.of.regime && one->of.id != sample.of.id;
      if (same && (nearest == nullptr || apart(*one) < apart(*nearest))) nearest = &*one;
    }
    return nearest == nullptr ? -1.0 : nearest->of.time.value;
  };
}

constexpr std::array table = std::to_array<Rival>({
    {"bytes / bandwidth", "bytes once over the data sheet's bandwidth; nothing is fitted", bytes_over_bandwidth},
    {"a + b bytes", "two parameters for each GPU and operation", two_parameters},
    {"max(f, a + b bytes)", "a floor and two parameters for each GPU and operation", two_regimes},
    {"the same launch", "another call that launched as many threads for as many bytes, where there was one",
     same_launch},
});

constexpr std::string_view neusight_source =
    "NeuSight (ASPLOS 2025), relative errors computed from its published summary of 54 inference cases on other shapes";
constexpr std::array published_table = std::to_array<Published>({
    {"NeuSight", "softmax f32", 0.20, 0.18, neusight_source},
    {"NeuSight", "ln f32", 0.40, 0.19, neusight_source},
    {"NeuSight", "add f32", 0.16, 0.08, neusight_source},
});

}  // namespace

Line fit_line(std::span<const double> bytes, std::span<const double> times) {
  // Relative errors: each point weighs 1 / t^2.
  double s0 = 0, sx = 0, sxx = 0, st = 0, sxt = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double w = 1 / (times[i] * times[i]);
    s0 += w;
    sx += w * bytes[i];
    sxx += w * bytes[i] * bytes[i];
    st += w * times[i];
    sxt += w * bytes[i] * times[i];
  }
  const double determinant = s0 * sxx - sx * sx;
  if (determinant > 1e-12 * s0 * sxx) {
    const Line both{(sxx * st - sx * sxt) / determinant, (s0 * sxt - sx * st) / determinant};
    if (both.a >= 0 && both.b >= 0) return both;
    if (both.a < 0 && sxx > 0) return {0, sxt / sxx};
  }
  return {s0 > 0 ? st / s0 : 0, 0};
}

std::span<const Rival> rivals() { return table; }

std::span<const Published> published() { return published_table; }

Predictor fitted_rival(const Rival& rival, std::span<const Sample> train, std::span<const ir::Device> devices) {
  using Key = std::pair<std::string, std::string>;
  std::map<Key, std::vector<const Sample*>> cells;
  for (const Sample& sample : train) cells[{sample.of.device, sample.operation}].push_back(&sample);
  std::map<Key, Predictor> fitted;
  for (const auto& [key, samples] : cells)
    for (const ir::Device& device : devices)
      if (device.name == key.first) fitted[key] = rival.fit(samples, device);
  return [fitted = std::move(fitted)](const Sample& sample) {
    const auto at = fitted.find({sample.of.device, sample.operation});
    return at == fitted.end() ? -1.0 : at->second(sample);
  };
}

}  // namespace tailor::calibrate
