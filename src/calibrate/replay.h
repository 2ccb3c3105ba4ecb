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

namespace tailor::calibrate {

/// A median over runs, with the range that the middle eight of ten runs stay in. Of no runs no numbers (NaN).
struct OverRuns {
  double median = 0, low = 0, high = 0;
};
OverRuns over_runs(std::vector<double> values);

/// What the learned model knows of each configuration, row by row.
struct Features {
  std::size_t count = 0;  ///< of a configuration
  std::vector<double> rows;
  std::span<const double> of(std::size_t i) const { return std::span(rows).subspan(i * count, count); }
};

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
  std::vector<std::string> searchers;  ///< by name; empty: all. Models are asked where one of them learns
  std::uint64_t seed = 1;
};

/// The best of so many tries over the optimum: 1 where it was found, infinity where all of them failed.
struct SearchScore {
  std::string_view searcher;
  int tries = 0;
  OverRuns ratio;
};
/// A model learned from so many configurations drawn at random, asked about all others that worked.
struct ModelScore {
  int learned_from = 0;
  OverRuns rank;  ///< Kendall's tau-b of predicted and measured times, over the runs in which neither are all equal
  OverRuns regret,
      regret10;  ///< the one, and the best of the ten, predicted fastest over the fastest of those asked about
};
struct Replay {
  std::vector<SearchScore> searches;  ///< searcher by searcher
  std::vector<ModelScore> models;     ///< empty without the library that grows trees
};

/// Configurations that a model may learn from: four fifths, so that some are left to ask it about. More count as these.
std::size_t most_learned(const TuningSpace& space);

/// `step` is told after each run how many of how many are done. The same options give the same answer. Throws
/// Error(usage) for a searcher that is none, Error(interrupted). Precondition: tries above 0, runs from 1.
Replay replay(const TuningSpace& space, const ReplayOptions& options, const std::stop_token& stop,
              const std::function<void(int done, int total)>& step = {});

}  // namespace tailor::calibrate
