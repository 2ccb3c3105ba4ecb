// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A model of a tuning space from some of its times. In: parameters, times. Out: trees. Called through space_model.h.
//
// Boosted trees on the logarithm of the time. Trees split one number at a time, so what launches do with parameters is
// told to them: products of any two that have more than two values and stay above 0 (threads are width by height, a
// tile is threads by outputs of each). Of whole numbers among these also the largest power of two that divides them,
// because lanes, banks and lines come in powers of two and a remainder costs; and where the sizes of the problem are
// known (space.h), how much more than the size whole pieces of so many cover. All of it holds for any kernel. A
// threshold is all that trees read off a number, so logarithms and quotients by a constant would tell them nothing.
//
// A row weighs as much as it is fast: what is slow need not be told from what is slower. A failed configuration counts
// as a little slower than the slowest known one, so that a search keeps away from it.
#include "calibrate/space_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "calibrate/boosting.h"

namespace tailor::calibrate {

namespace {

/// A number of each configuration.
struct Feature {
  std::string name;
  std::vector<double> values;
};

std::vector<Feature> parameters_of(const TuningSpace& space) {
  std::vector<Feature> all;
  for (std::size_t p = 0; p < space.parameters.size(); ++p) {
    Feature one{space.parameters[p], {}};
    one.values.reserve(space.size());
    for (std::size_t i = 0; i < space.size(); ++i) one.values.push_back(space.of(i)[p]);
    all.push_back(std::move(one));
  }
  return all;
}

/// Words and switches multiply nothing: a factor has more than two values, all above 0.
std::vector<Feature> factors_of(const std::vector<Feature>& parameters) {
  std::vector<Feature> factors;
  for (const Feature& one : parameters) {
    const std::set<double> values(one.values.begin(), one.values.end());
    if (values.size() > 2 && *values.begin() > 0) factors.push_back(one);
  }
  return factors;
}

Feature product_of(const Feature& a, const Feature& b) {
  Feature made{a.name + " * " + b.name, a.values};
  for (std::size_t i = 0; i < made.values.size(); ++i) made.values[i] *= b.values[i];
  return made;
}

bool is_whole(const Feature& one) {
  constexpr double most = 0x1p52;
  return std::all_of(one.values.begin(), one.values.end(),
                     [](double value) { return value == std::floor(value) && value < most; });
}

Feature power_of_two_in(const Feature& one) {
  Feature made{"power of two in " + one.name, {}};
  made.values.reserve(one.values.size());
  for (const double value : one.values) {
    const auto whole = static_cast<std::uint64_t>(value);
    made.values.push_back(static_cast<double>(whole & (~whole + 1)));
  }
  return made;
}

/// What whole pieces of so many cover, over the size.
Feature cover_of(double size, const Feature& piece) {
  Feature made{fmt::format("cover of {} by {}", size, piece.name), {}};
  made.values.reserve(piece.values.size());
  for (const double value : piece.values) made.values.push_back(std::ceil(size / value) * value / size);
  return made;
}

bool varies(const Feature& one) {
  return std::adjacent_find(one.values.begin(), one.values.end(), std::not_equal_to<>()) != one.values.end();
}

}  // namespace

Features features_of(const TuningSpace& space) {
  std::vector<Feature> all = parameters_of(space);
  std::vector<Feature> pieces = factors_of(all);
  const std::size_t factors = pieces.size();
  for (std::size_t a = 0; a < factors; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      pieces.push_back(product_of(pieces[a], pieces[b]));
      all.push_back(pieces.back());
    }
  for (const Feature& one : pieces)
    if (is_whole(one)) all.push_back(power_of_two_in(one));
  for (const double size : std::set<double>(space.problem.begin(), space.problem.end()))
    for (const Feature& one : pieces) all.push_back(cover_of(size, one));
  std::erase_if(all, [](const Feature& one) { return !varies(one); });
  Features out;
  for (Feature& one : all) out.names.push_back(std::move(one.name));
  out.rows.reserve(space.size() * all.size());
  for (std::size_t i = 0; i < space.size(); ++i)
    for (const Feature& one : all) out.rows.push_back(one.values[i]);
  return out;
}

double SpaceModel::log_time(std::span<const double> features) const {
  double sum = log_scale;
  for (const ir::Tree& tree : trees) {
    const ir::TreeNode* node = tree.data();
    while (node->feature >= 0)
      node = &tree[static_cast<std::size_t>(
          features[static_cast<std::size_t>(node->feature)] < node->value ? node->left : node->right)];
    sum += node->value;
  }
  return sum;
}

SpaceModel learned(const Features& features, const Known& known, const std::stop_token& stop) {
  double slowest = 0, fastest = std::numeric_limits<double>::infinity();
  for (const double time : known.times) {
    if (std::isfinite(time)) slowest = std::max(slowest, time);
    fastest = std::min(fastest, time);
  }
  if (slowest == 0) return {};
  constexpr double slower_than_all = 1.5;
  std::vector<double> rows, targets, weights;
  for (std::size_t i = 0; i < known.times.size(); ++i) {
    const auto row = features.of(known.configurations[i]);
    rows.insert(rows.end(), row.begin(), row.end());
    const double time = std::isfinite(known.times[i]) ? known.times[i] : slower_than_all * slowest;
    targets.push_back(std::log(time));
    weights.push_back(fastest / time);
  }
  SpaceModel model;
  model.log_scale = std::inner_product(targets.begin(), targets.end(), weights.begin(), 0.0) /
                    std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& target : targets) target -= model.log_scale;
  Boosting options;
  options.trees = 150;
  options.depth = 6;
  options.rate = 0.1;
  options.least_weight = 1;
  options.laws.assign(features.count(), 0);
  model.trees = boosted(rows, targets, weights, options, stop);
  return model;
}

}  // namespace tailor::calibrate
