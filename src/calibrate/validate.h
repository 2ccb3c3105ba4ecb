// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Validation: any predictors on any samples, in one table. In: samples, predictors of times with what they claim about
// themselves (interval, limiter). Out: scores by operation, size, device or limiter: errors, ranks, regret, coverage,
// the time of a question. Called by tailor validate and by tests. Whoever calls leaves out what a predictor was fitted
// to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/sample.h"

namespace tailor::calibrate {

/// What a predictor says of a sample.
struct Guess {
  double time = 0;           ///< s; below 0: it has nothing to say, and the sample does not count for it
  double low = 0, high = 0;  ///< interval it claims; 0 and 0: none
  std::string_view limiter;  ///< what it thinks binds; may be empty
};

struct Contender {
  std::string name;
  std::function<Guess(const Sample&)> guess;
};

/// What the rows of a table are apart by.
enum class By : std::uint8_t { nothing, operation, size, device, limiter };
std::string_view name(By by);
std::optional<By> by_named(std::string_view name);
std::span<const std::string_view> by_names();

/// "1 - 10 MB": decades of the bytes moved once.
std::string size_class(double bytes);

/// How one predictor did on the samples of one cell.
struct Score {
  std::string contender;
  std::string cell;  ///< the operation, size, device or limiter; empty: all
  std::int64_t samples = 0;
  double median_error = 0, mean_error = 0;  ///< relative
  /// How achieved bandwidth is ranked over the shapes of one device and operation, the mean of all such; plans of one
  /// group by time, the mean of all groups with three plans or more.
  std::optional<double> bandwidth_rank, bandwidth_tau, plan_rank, plan_tau;
  std::optional<double> regret_1, regret_5, recall_10;  ///< of plans of one group, mean over groups
  std::optional<double> coverage;                       ///< share of times in the interval claimed
  double seconds_per_query = 0;
};

/// In the order of cells by name, of contenders as given. Limiters are those of the first contender. Throws
/// Error(interrupted).
std::vector<Score> score(std::span<const Sample> samples, std::span<const Contender> contenders, By by,
                         const std::stop_token& stop = {});

}  // namespace tailor::calibrate
