// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Searches replayed. In: a tuning space with all its times. Out: what each way of searching found after so many tries,
// and how well a learned model tells what it has not seen. Called through replay.h.
//
// Ways of searching. `random` is what every other one must beat. `neighbours` goes downhill: from a random
// configuration it tries those that differ by one step of one parameter, goes to the first that is faster, and starts
// anew where none is. `learned` begins with random tries, then learns a model of what it knows, tries what it predicts
// to be fastest in a small batch that grows with what is known, one of eight at random, and learns again.
//
// The model (space_model.h) is also asked alone: learned from some configurations drawn at random, it says of all
// others which are fastest. Beside it stands what could be expected: predictions that are the true times but for an
// error drawn for each configuration, the logarithm of which is normal. So the error that a model may have is seen.
#include "calibrate/replay.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "calibrate/boosting.h"
#include "calibrate/metrics.h"

namespace tailor::calibrate {

namespace {

constexpr double failed = std::numeric_limits<double>::infinity();

/// A permutation of all configurations. (Not std::shuffle, whose draws differ between libraries.)
std::vector<std::size_t> shuffled(std::size_t count, std::mt19937_64& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

// ---- ways of searching ----------------------------------------------------------------------------------------------

void search_random(const PreparedSpace& prepared, const Try& ask, std::size_t budget, std::mt19937_64& random,
                   const std::stop_token&) {
  const std::vector<std::size_t> order = shuffled(prepared.space.size(), random);
  for (std::size_t i = 0; i < std::min(budget, order.size()); ++i) ask(order[i]);
}

/// For each configuration those that differ from it by one step of one parameter: the next value that this parameter
/// has anywhere, with all others equal; where that one is not in the space there is no step.
std::vector<std::vector<std::size_t>> steps_of(const TuningSpace& space) {
  const std::size_t parameters = space.parameters.size();
  std::vector<std::set<double>> values(parameters);
  std::map<std::vector<double>, std::size_t> place;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto row = space.of(i);
    place.emplace(std::vector<double>(row.begin(), row.end()), i);
    for (std::size_t p = 0; p < parameters; ++p) values[p].insert(row[p]);
  }
  std::vector<std::vector<std::size_t>> steps(space.size());
  for (const auto& [row, i] : place)
    for (std::size_t p = 0; p < parameters; ++p) {
      const auto next = values[p].upper_bound(row[p]);
      if (next == values[p].end()) continue;
      std::vector<double> other = row;
      other[p] = *next;
      const auto found = place.find(other);
      if (found == place.end()) continue;
      steps[i].push_back(found->second);
      steps[found->second].push_back(i);
    }
  return steps;
}

void search_neighbours(const PreparedSpace& prepared, const Try& ask, std::size_t budget, std::mt19937_64& random,
                       const std::stop_token& stop) {
  const TuningSpace& space = prepared.space;
  const std::vector<std::vector<std::size_t>>& steps = prepared.steps;
  std::vector<std::optional<double>> known(space.size());
  std::size_t left = std::min(budget, space.size());
  const auto time_of = [&](std::size_t i) {
    if (!known[i]) {
      known[i] = ask(i);
      --left;
    }
    return *known[i];
  };
  const std::vector<std::size_t> starts = shuffled(space.size(), random);
  for (std::size_t s = 0; s < starts.size() && left > 0; ++s) {
    stop_if_asked(stop);
    std::size_t at = starts[s];
    if (known[at]) continue;
    double time = time_of(at);
    for (bool moved = true; moved && left > 0;) {
      moved = false;
      for (const std::size_t k : shuffled(steps[at].size(), random)) {
        if (left == 0) break;
        const std::size_t next = steps[at][k];
        if (const double other = time_of(next); other < time) {
          at = next;
          time = other;
          moved = true;
          break;
        }
      }
    }
  }
}

void search_learned(const PreparedSpace& prepared, const Try& ask, std::size_t budget, std::mt19937_64& random,
                    const std::stop_token& stop) {
  constexpr std::size_t first = 10, share = 8;
  const TuningSpace& space = prepared.space;
  const Features& features = prepared.features;
  const std::vector<std::size_t> order = shuffled(space.size(), random);
  std::vector<char> tried(space.size(), 0);
  std::size_t drawn = 0;
  Known known;
  const std::size_t all = std::min(budget, space.size());
  const auto try_one = [&](std::size_t i) {
    tried[i] = 1;
    known.configurations.push_back(i);
    known.times.push_back(ask(i));
  };
  const auto try_random = [&] {
    while (drawn < order.size() && tried[order[drawn]] != 0) ++drawn;
    if (drawn < order.size()) try_one(order[drawn]);
  };
  while (known.times.size() < std::min(first, all)) try_random();
  while (known.times.size() < all) {
    stop_if_asked(stop);
    const SpaceModel model = learned(features, known, stop);
    std::vector<double> said(space.size());
    std::vector<std::size_t> ahead;  // of equal predictions not always the first of the table
    for (const std::size_t i : order) {
      said[i] = model.log_time(features.of(i));
      if (tried[i] == 0) ahead.push_back(i);
    }
    const auto sooner = [&](std::size_t a, std::size_t b) { return said[a] < said[b]; };
    const std::size_t batch =
        std::min({std::max<std::size_t>(1, known.times.size() / share), ahead.size(), all - known.times.size()});
    std::partial_sort(ahead.begin(), ahead.begin() + static_cast<std::ptrdiff_t>(batch), ahead.end(), sooner);
    for (std::size_t i = 0; i < batch; ++i) {
      if (random() % share == 0 || tried[ahead[i]] != 0) {
        try_random();
      } else {
        try_one(ahead[i]);
      }
    }
  }
}

constexpr auto searcher_table = std::to_array<Searcher>({
    {"random", search_random, false},
    {"neighbours", search_neighbours, false},
    {"learned", search_learned, true},
});

/// Of the times in the order of the tries: the best of the first n over the optimum, for each n.
std::vector<double> best_ratios(const std::vector<double>& times, const std::vector<int>& tries, double optimum) {
  std::vector<double> out;
  double best = failed;
  std::size_t at = 0;
  for (const int n : tries) {
    for (; at < std::min(times.size(), static_cast<std::size_t>(n)); ++at) best = std::min(best, times[at]);
    out.push_back(best / optimum);
  }
  return out;
}

/// Those of these names, or all; without the library that grows trees none that learns.
std::vector<const Searcher*> searchers_called(const std::vector<std::string>& names) {
  std::vector<std::string_view> known;
  for (const Searcher& searcher : searchers()) known.emplace_back(searcher.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(Fault::usage, fmt::format("found searcher '{}', expected one of {}", name, fmt::join(known, ", ")),
                  suggestion(name, known));
  std::vector<const Searcher*> used;
  for (const Searcher& searcher : searchers()) {
    const bool wanted = names.empty() || std::find(names.begin(), names.end(), searcher.name) != names.end();
    if (wanted && (!searcher.learns || !boosting_library().empty())) used.push_back(&searcher);
  }
  return used;
}

/// Each at most `most`, and each once.
std::vector<int> at_most(std::vector<int> counts, std::size_t most) {
  for (int& count : counts) count = static_cast<int>(std::min(static_cast<std::size_t>(count), most));
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

constexpr double near = 1.05;  ///< of the optimum

/// Numbers of runs, one by one.
struct Runs {
  std::vector<double> rank, error, first, first_five, first_ten;

  /// Predictions and times of the configurations that were asked about. Nothing to rank by: all, or none, are equal.
  void add(std::span<const double> said, std::span<const double> measured) {
    if (const auto one = kendall(said, measured)) rank.push_back(*one);
    first.push_back(regret(said, measured, 1).value_or(1));
    first_five.push_back(regret(said, measured, 5).value_or(1));
    first_ten.push_back(regret(said, measured, 10).value_or(1));
  }
  Prediction all() const {
    const auto within = std::count_if(first.begin(), first.end(), [](double ratio) { return ratio <= near; });
    return {over_runs(rank), over_runs(first), over_runs(first_five), over_runs(first_ten),
            first.empty() ? 0 : static_cast<double>(within) / static_cast<double>(first.size())};
  }
};

/// By how much predictions of the fastest tenth are off, in the median.
double error_where_fast(const std::vector<double>& said_logs, const std::vector<double>& measured) {
  std::vector<std::size_t> order(measured.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t tenth = (order.size() + 9) / 10;
  if (tenth == 0) return 0;
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(tenth), order.end(),
                    [&](std::size_t a, std::size_t b) { return measured[a] < measured[b]; });
  std::vector<double> errors;
  for (std::size_t i = 0; i < tenth; ++i)
    errors.push_back(relative_error(std::exp(said_logs[order[i]]), measured[order[i]]));
  return over_runs(errors).median;
}

/// Learns from the first n of a random order, and asks about all others that worked.
void ask_model(const TuningSpace& space, const Features& features, const std::vector<std::size_t>& order, std::size_t n,
               Runs& runs, const std::stop_token& stop) {
  Known known;
  for (std::size_t i = 0; i < n; ++i) {
    known.configurations.push_back(order[i]);
    known.times.push_back(space.times[order[i]]);
  }
  const SpaceModel model = learned(features, known, stop);
  std::vector<double> said, measured;
  for (std::size_t i = n; i < order.size(); ++i) {
    if (!std::isfinite(space.times[order[i]])) continue;
    said.push_back(model.log_time(features.of(order[i])));
    measured.push_back(space.times[order[i]]);
  }
  runs.add(said, measured);
  if (!model.trees.empty()) runs.error.push_back(error_where_fast(said, measured));
}

/// A draw from a normal distribution by its sum of twelve. (Not the library's, which differs between libraries.)
double normal(std::mt19937_64& random) {
  double sum = -6;
  for (int k = 0; k < 12; ++k) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

/// What would be predicted by one who knows the times of all but for an error.
std::vector<NoisyScore> noisy_scores(const TuningSpace& space, const ReplayOptions& options,
                                     const std::stop_token& stop) {
  std::vector<double> measured;
  std::copy_if(space.times.begin(), space.times.end(), std::back_inserter(measured),
               [](double time) { return std::isfinite(time); });
  std::vector<NoisyScore> scores;
  for (const double error : {0.01, 0.02, 0.05, 0.1, 0.2, 0.4}) {
    Runs runs;
    for (int run = 0; run < options.runs; ++run) {
      stop_if_asked(stop);
      std::mt19937_64 random(options.seed * 1000003 + static_cast<std::uint64_t>(run));
      std::vector<double> said;
      constexpr double median_of_normal = 0.67449;  // of its size
      for (const double time : measured)
        said.push_back(std::log(time) + std::log1p(error) / median_of_normal * normal(random));
      runs.add(said, measured);
    }
    scores.push_back({error, runs.all()});
  }
  return scores;
}

}  // namespace

std::span<const Searcher> searchers() { return searcher_table; }

std::size_t most_learned(const TuningSpace& space) { return space.size() * 4 / 5; }

PreparedSpace prepared(const TuningSpace& space) { return {space, features_of(space), steps_of(space)}; }

OverRuns over_runs(std::vector<double> values) {
  if (values.empty()) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    return {none, none, none};
  }
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size(), cut = count / 10;
  const double median = count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
  return {median, values[cut], values[count - 1 - cut]};
}

Replay replay(const TuningSpace& space, const ReplayOptions& options, const std::stop_token& stop,
              const std::function<void(int done, int total)>& step) {
  const std::vector<const Searcher*> used = searchers_called(options.searchers);
  const bool asks = !boosting_library().empty() &&
                    (!options.learn_from.empty() ||
                     std::any_of(used.begin(), used.end(), [](const Searcher* one) { return one->learns; }));
  const double optimum = space.best();
  const std::vector<int> tries = at_most(options.tries, space.size());
  const auto budget = static_cast<std::size_t>(tries.back());
  const PreparedSpace ready = prepared(space);
  const std::vector<int> counts =
      at_most(options.learn_from.empty() ? options.tries : options.learn_from, most_learned(space));
  const int total = options.runs * static_cast<int>(used.size() + (asks ? 1 : 0));
  int done = 0;
  const auto advance = [&] {
    stop_if_asked(stop);
    if (step) step(++done, total);
  };
  Replay out;
  for (const Searcher* searcher : used) {
    std::vector<std::vector<double>> by_tries(tries.size());
    for (int run = 0; run < options.runs; ++run) {
      std::mt19937_64 random(options.seed * 1000003 + static_cast<std::uint64_t>(run));
      std::vector<double> times;
      searcher->search(
          ready,
          [&](std::size_t i) {
            times.push_back(space.times[i]);
            return space.times[i];
          },
          budget, random, stop);
      const std::vector<double> ratios = best_ratios(times, tries, optimum);
      for (std::size_t t = 0; t < ratios.size(); ++t) by_tries[t].push_back(ratios[t]);
      advance();
    }
    for (std::size_t t = 0; t < tries.size(); ++t)
      out.searches.push_back({searcher->name, tries[t], over_runs(by_tries[t])});
  }
  if (!asks) return out;
  std::vector<Runs> asked(counts.size());
  for (int run = 0; run < options.runs; ++run) {
    std::mt19937_64 random(options.seed * 1000003 + static_cast<std::uint64_t>(run));
    const std::vector<std::size_t> order = shuffled(space.size(), random);
    for (std::size_t t = 0; t < counts.size(); ++t)
      ask_model(space, ready.features, order, static_cast<std::size_t>(counts[t]), asked[t], stop);
    advance();
  }
  for (std::size_t t = 0; t < counts.size(); ++t)
    out.models.push_back({counts[t], asked[t].all(), over_runs(asked[t].error)});
  out.noisy = noisy_scores(space, options, stop);
  return out;
}

int enough_to_learn_from(const Replay& replay) {
  int enough = 0;
  for (auto one = replay.models.rbegin(); one != replay.models.rend() && one->said.first.median <= near; ++one)
    enough = one->learned_from;
  return enough;
}

}  // namespace tailor::calibrate
