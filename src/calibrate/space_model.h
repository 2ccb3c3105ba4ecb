// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A learned model of a tuning space: what it knows of a configuration, and what it says of one that nobody tried. In: a
// space, and the times of some of its configurations. Out: times. Called by replay.cpp. There is no physics in it: a
// space has parameters only.
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/space.h"
#include "ir/residual.h"

namespace tailor::calibrate {

/// What the learned model knows of each configuration, row by row.
struct Features {
  std::vector<std::string> names;
  std::vector<double> rows;
  std::size_t count() const { return names.size(); }
  std::span<const double> of(std::size_t i) const { return std::span(rows).subspan(i * count(), count()); }
};
Features features_of(const TuningSpace& space);

/// Configurations whose times are known.
struct Known {
  std::vector<std::size_t> configurations;
  std::vector<double> times;  ///< s; infinity: failed
};

struct SpaceModel {
  std::vector<ir::Tree> trees;  ///< empty: all that was known failed, and nothing is said of any
  double log_scale = 0;
  /// The logarithm of the time in seconds.
  double log_time(std::span<const double> features) const;
};

/// Needs the library that grows trees. Throws Error(interrupted). Precondition: one known configuration or more.
SpaceModel learned(const Features& features, const Known& known, const std::stop_token& stop = {});

}  // namespace tailor::calibrate
