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
// The model. Boosted trees on the logarithm of the time. Its features are the parameters, and the products of any two
// that have more than two values and stay above 0, because launches multiply (threads are width by height, a tile is
// threads by outputs of each). A failed configuration counts as a little slower than the slowest known one, so that the
// search keeps away from it. There is no physics in it: a space has parameters only.
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

// ---- the learned model ----------------------------------------------------------------------------------------------

Features features_of(const TuningSpace& space) {
  const std::size_t parameters = space.parameters.size();
  std::vector<std::size_t> factors;
  for (std::size_t p = 0; p < parameters; ++p) {
    std::set<double> values;
    for (std::size_t i = 0; i < space.size(); ++i) values.insert(space.of(i)[p]);
    if (values.size() > 2 && *values.begin() > 0) factors.push_back(p);
  }
  Features out;
  out.count = parameters + factors.size() * (factors.size() - (factors.empty() ? 0 : 1)) / 2;
  out.rows.reserve(space.size() * out.count);
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto values = space.of(i);
    out.rows.insert(out.rows.end(), values.begin(), values.end());
    for (std::size_t a = 0; a < factors.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) out.rows.push_back(values[factors[a]] * values[factors[b]]);
  }
  return out;
}

struct Known {
  std::vector<std::size_t> configurations;
  std::vector<double> times;  ///< s; infinity: failed
};

/// Trees on the logarithm of the time, about its mean; nothing where all that is known failed.
std::vector<ir::Tree> learned(const Features& features, const Known& known, const std::stop_token& stop) {
  double slowest = 0;
  for (const double time : known.times)
    if (std::isfinite(time)) slowest = std::max(slowest, time);
  if (slowest == 0) return {};
  constexpr double slower_than_all = 1.5;
  std::vector<double> rows, targets;
  for (std::size_t i = 0; i < known.times.size(); ++i) {
    const auto row = features.of(known.configurations[i]);
    rows.insert(rows.end(), row.begin(), row.end());
    targets.push_back(std::log(std::isfinite(known.times[i]) ? known.times[i] : slower_than_all * slowest));
  }
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) / static_cast<double>(targets.size());
  for (double& target : targets) target -= mean;
  Boosting options;
  options.trees = 150;
  options.depth = 6;
  options.rate = 0.1;
  options.least_weight = 1;
  options.laws.assign(features.count, 0);
  return boosted(rows, targets, std::vector<double>(targets.size(), 1.0), options, stop);
}

/// Smaller is faster.
double predicted(const std::vector<ir::Tree>& trees, std::span<const double> features) {
  double sum = 0;
  for (const ir::Tree& tree : trees) {
    const ir::TreeNode* node = tree.data();
    while (node->feature >= 0)
      node = &tree[static_cast<std::size_t>(
          features[static_cast<std::size_t>(node->feature)] < node->value ? node->left : node->right)];
    sum += node->value;
  }
  return sum;
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
    const std::vector<ir::Tree> trees = learned(features, known, stop);
    std::vector<double> said(space.size());
    std::vector<std::size_t> ahead;  // of equal predictions not always the first of the table
    for (const std::size_t i : order) {
      said[i] = predicted(trees, features.of(i));
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

struct Asked {
  std::optional<double> rank;  ///< nothing where all times, or all predictions, are equal
  double regret = 0, regret10 = 0;
};

/// Learns from the first n of a random order, and asks about all others that worked.
Asked ask_model(const TuningSpace& space, const Features& features, const std::vector<std::size_t>& order,
                std::size_t n, const std::stop_token& stop) {
  Known known;
  for (std::size_t i = 0; i < n; ++i) {
    known.configurations.push_back(order[i]);
    known.times.push_back(space.times[order[i]]);
  }
  const std::vector<ir::Tree> trees = learned(features, known, stop);
  std::vector<double> said, measured;
  for (std::size_t i = n; i < order.size(); ++i) {
    if (!std::isfinite(space.times[order[i]])) continue;
    said.push_back(predicted(trees, features.of(order[i])));
    measured.push_back(space.times[order[i]]);
  }
  constexpr std::size_t few = 10;
  return {kendall(said, measured), regret(said, measured, 1).value_or(1), regret(said, measured, few).value_or(1)};
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
  const bool learns = std::any_of(used.begin(), used.end(), [](const Searcher* one) { return one->learns; });
  const double optimum = space.best();
  const std::vector<int> tries = at_most(options.tries, space.size());
  const auto budget = static_cast<std::size_t>(tries.back());
  const PreparedSpace ready = prepared(space);
  const int total = options.runs * static_cast<int>(used.size() + (learns ? 1 : 0));
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
  if (!learns) return out;
  const std::vector<int> counts = at_most(options.tries, most_learned(space));
  std::vector<std::array<std::vector<double>, 3>> asked(counts.size());
  for (int run = 0; run < options.runs; ++run) {
    std::mt19937_64 random(options.seed * 1000003 + static_cast<std::uint64_t>(run));
    const std::vector<std::size_t> order = shuffled(space.size(), random);
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const Asked one = ask_model(space, ready.features, order, static_cast<std::size_t>(counts[t]), stop);
      if (one.rank) asked[t][0].push_back(*one.rank);
      asked[t][1].push_back(one.regret);
      asked[t][2].push_back(one.regret10);
    }
    advance();
  }
  for (std::size_t t = 0; t < counts.size(); ++t)
    out.models.push_back({counts[t], over_runs(asked[t][0]), over_runs(asked[t][1]), over_runs(asked[t][2])});
  return out;
}

}  // namespace tailor::calibrate
