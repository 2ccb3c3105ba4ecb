// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Synthetic noise of a GPU's timer: a stream of factors about 1, one for each sample taken, whoever takes it. So two
// kernels that run one after the other see the same burst, hump or drift, as they do on a machine. Used by the tests
// of statistics, stop rules and races.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>

namespace tailor::testing {

enum class NoiseKind { normal, skewed, heavy, two_humps, resembling, spiky_drift };
constexpr std::string_view noise_names[] = {"normal",    "skewed",     "heavy tails",
                                            "two humps", "resembling", "spiky drift"};

/// Factors whose median is 1 (spiky_drift: at its start).
class Noise {
 public:
  Noise(NoiseKind kind, double size, std::uint64_t seed) : kind_(kind), size_(size), random_(seed) {}

  double next() {
    const double z = normal_(random_), u = uniform_(random_);
    switch (kind_) {
      case NoiseKind::normal:
        return 1 + size_ * z;
      case NoiseKind::skewed:
        return 1 + size_ * (std::exp(z) - 1);
      case NoiseKind::heavy:
        return 1 + size_ * std::tan(3.141592653589793 * (u - 0.5));  // Cauchy: no mean
      case NoiseKind::two_humps:
        return 1 + size_ * (u < 0.5 ? -1 : 1) + 0.1 * size_ * z;
      case NoiseKind::resembling:
        level_ = correlation * level_ + std::sqrt(1 - correlation * correlation) * z;
        return 1 + size_ * level_;
      case NoiseKind::spiky_drift:  // clocks wander, neighbours come in bursts, now and then a far outlier
        level_ += 0.2 * size_ * normal_(random_);
        burst_ = burst_ > 0 ? burst_ - 1 : (u < 0.02 ? 8 : 0);
        return 1 + level_ + size_ * (std::exp(z) - 1) + (burst_ > 0 ? 10 * size_ : 0) + (u > 0.99 ? 1.0 : 0.0);
    }
    return 1;
  }

  static constexpr double correlation = 0.7;  ///< of neighbours, kind resembling

 private:
  NoiseKind kind_;
  double size_;
  double level_ = 0;
  int burst_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
};

}  // namespace tailor::testing
