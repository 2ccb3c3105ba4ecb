// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Robust bounded least squares with priors. In: residuals as a function of a few unknowns, the range and the prior of
// each unknown. Out: the unknowns of least cost, their covariance, how large residuals usually are. Called by fit.cpp
// and propose.cpp; least_squares.cpp alone knows the library of linear algebra.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

namespace tailor::calibrate {

struct Unknown {
  double start = 0;
  double low = 0, high = 0;        ///< it stays between
  double prior = 0, width = 1;     ///< mean and standard deviation of what is believed before
  std::vector<std::size_t> moves;  ///< residuals that depend on it, ascending; empty: all
};

/// Fills `out` with the residuals named in `which`, at `x`: differences of logarithms, so that equal relative errors
/// count equally. The same `x` gives the same residuals.
using Residuals =
    std::function<void(std::span<const double> x, std::span<const std::size_t> which, std::span<double> out)>;

struct Solution {
  std::vector<double> x;
  std::vector<double> covariance;  ///< x.size() squared, by rows
  double scale = 0;                ///< standard deviation of the residuals, robust
  int steps = 0;
  std::size_t weightless = 0;  ///< residuals so far off that they have no weight
  double deviation(std::size_t i) const;
};

/// What a large residual costs. `huber`: as much more as it is longer. `biweight`: from some length on no more, so that
/// of two levels one is chosen; it begins where the other ends.
enum class Loss { huber, biweight };

/// Precondition: every unknown has low <= start <= high and width > 0. Deterministic. Throws Error(interrupted).
/// `least_scale`: residuals are taken to spread by this at least; few of them would be explained away otherwise.
Solution solve(std::span<const Unknown> unknowns, std::size_t residuals, const Residuals& evaluate,
               const std::stop_token& stop = {}, double least_scale = 2e-3, Loss loss = Loss::huber);

/// d residual / d unknown by central differences at `x`, residuals.size() x unknowns, by rows.
std::vector<double> jacobian(std::span<const Unknown> unknowns, std::size_t residuals, const Residuals& evaluate,
                             std::span<const double> x, const std::stop_token& stop = {});

/// The order in which rows (of `unknowns` numbers each) say most about all rows that may be chosen: each next one
/// lowers the variance of what is predicted for these most, mean over them (I-optimal, greedily). What is known begins
/// with the priors and the first `known` rows, which are never chosen. `noise`: standard deviation of a residual.
/// Beside each row the standard deviation, as a root mean square over all rows that may be chosen, that predictions
/// have once it and those before it were observed.
struct Choice {
  std::size_t row = 0;
  double expected_deviation = 0;
};
struct Order {
  std::vector<Choice> chosen;
  double deviation_before = 0;
};
Order most_informative(std::span<const double> rows, std::span<const Unknown> unknowns, double noise, std::size_t known,
                       std::size_t count);

}  // namespace tailor::calibrate
