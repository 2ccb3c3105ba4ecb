// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Gradient-boosted trees. In: rows of features, a target and a weight for each row. Out: trees as plain numbers, which
// ir/residual.h evaluates. Called by learn.cpp; boosting.cpp alone knows the library that grows the
// trees (XGBoost), and a build without it says so. The same rows in the same order give the same trees.
#pragma once

#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ir/residual.h"

namespace tailor::calibrate {

/// "XGBoost 1.7.4"; empty in a build without it, and where the library is not found.
std::string boosting_library();
/// What a person does about that.
std::string boosting_remedy();

struct Boosting {
  int trees = 80, depth = 4;
  double rate = 0.15;       ///< of what a tree finds, the share that is added
  double least_weight = 4;  ///< of the rows of a leaf
  std::vector<int> laws;    ///< for each feature: 1 rising, 0 free
};

/// Rows of `laws.size()` features each. Features and targets are kept with the precision of f32, thresholds and leaves
/// with five digits. Throws Error(missing) without the library, Error(interrupted). Precondition: a target
/// and a weight from 0 up for each row, at least one above 0.
std::vector<ir::Tree> boosted(std::span<const double> rows, std::span<const double> targets,
                              std::span<const double> weights, const Boosting& options,
                              const std::stop_token& stop = {});

}  // namespace tailor::calibrate
