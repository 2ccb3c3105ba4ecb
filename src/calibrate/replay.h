// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Searches replayed on a tuning space that was measured whole: a try looks a time up instead of taking it. In: a space.
// Out: how good a learned model of it is, and how near to the optimum each way of searching comes with so many tries.
// Called by study's replaying.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/space.h"
#include "calibrate/space_model.h"

namespace tailor::calibrate {

/// A median over runs, with the range that the middle eight of ten runs stay in. Of no runs no numbers (NaN).
struct OverRuns {
  double median = 0, low = 0, high = 0;
};
OverRuns over_runs(std::vector<double> values);

/// A space with what searches ask of it again and again; made once, whatever the number of runs.
struct PreparedSpace {
  const TuningSpace& space;  ///< outlives it
  Features features;
  std::vector<std::vector<std::size_t>> steps;  ///< of each configuration those that differ by one step of a parameter
};
PreparedSpace prepared(const TuningSpace& space);

/// Looks a time up, in seconds; infinity where the configuration failed.
using Try = std::function<double(std::size_t configuration)>;

/// A way of searching. It names the configurations that it wants to know, in its order, each once, `budget` of them or
/// all there are; of times it knows only those that it asked for.
struct Searcher {
  std::string_view name;
  void (*search)(const PreparedSpace& prepared, const Try& ask, std::size_t budget, std::mt19937_64& random,
                 const std::stop_token& stop) = nullptr;
  bool learns = false;  ///< needs the library that grows trees
};
std::span<const Searcher> searchers();

struct ReplayOptions {
  std::vector<int> tries{10, 20, 50, 100, 200};  ///< rising; more than the space has count as all of it, once
  int runs = 10;
  std::vector<std::string> searchers;  ///< by name; empty: all
  std::vector<int>
      learn_from{};  ///< configurations, rising; empty: as many as tries, where one of the searchers learns
  std::uint64_t seed = 1;
};

/// The best of so many tries over the optimum: 1 where it was found, infinity where all of them failed.
struct SearchScore {
  std::string_view searcher;
  int tries = 0;
  OverRuns ratio;
};
/// Predictions of many configurations beside their times.
struct Prediction {
  OverRuns rank;  ///< Kendall's tau-b of predicted and measured times, over the runs in which neither are all equal
  OverRuns first, first_five, first_ten;  ///< the best of so many predicted fastest over the fastest of all asked about
  double first_near = 0;                  ///< share of the runs in which the one predicted fastest is within 5 %
};
/// A model learned from so many configurations drawn at random, asked about all others that worked.
struct ModelScore {
  int learned_from = 0;
  Prediction said;
  OverRuns error;  ///< in the median, of predictions of the fastest tenth; over runs in which something was learned
};
/// True times of all configurations that worked, but for an error of this size in the median.
struct NoisyScore {
  double error = 0;
  Prediction said;
};
struct Replay {
  std::vector<SearchScore> searches;  ///< searcher by searcher
  std::vector<ModelScore> models;     ///< empty without the library that grows trees
  std::vector<NoisyScore> noisy;      ///< where there are models
};
/// The number of configurations from which on the one that models predict fastest is within 5 % in the median; 0: none.
int enough_to_learn_from(const Replay& replay);

/// Configurations that a model may learn from: four fifths, so that some are left to ask it about. More count as these.
std::size_t most_learned(const TuningSpace& space);

/// `step` is told after each run how many of how many are done. The same options give the same answer. Throws
/// Error(usage) for a searcher that is none, Error(interrupted). Precondition: tries above 0, runs from 1.
Replay replay(const TuningSpace& space, const ReplayOptions& options, const std::stop_token& stop,
              const std::function<void(int done, int total)>& step = {});

}  // namespace tailor::calibrate
