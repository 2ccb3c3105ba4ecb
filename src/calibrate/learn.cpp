// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The learned residual. Samples and a fitted calibration come in; boosted trees on the logarithm of measured over
// predicted time of the kernel's body go out, if they say times better that they have not seen. Called by fit.cpp.
//
// A time is max(floor, launch + body). What trees learn is ln of the factor on the body that would make the time
// right; a sample weighs as much as that factor moves its time, (body / time)^2, so that calls at the floor teach
// nothing. Features are numbers that the model has of every kernel (costmodel/residual.cpp), never names.
//
// Two cross-validations decide. Folds by shape say how well shapes between those observed are told; families of shapes
// left out one after the other (octaves of the bytes of a block) say what it does where nothing was seen. An operation
// goes without for which the first gains nothing, or both together gain nothing. Of a few numbers of trees the one is
// taken that is best in both; where that gains too little there is no residual.
#include "calibrate/learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/counted.h"
#include "base/stop.h"
#include "calibrate/boosting.h"
#include "costmodel/parts.h"
#include "costmodel/residual.h"

namespace tailor::calibrate {

namespace {

constexpr double lowest = -0.51, highest = 0.336;  // ln 0.6 and ln 1.4
constexpr std::size_t folds = 5, least_samples = 50;
constexpr std::array<std::size_t, 5> tree_counts{5, 10, 20, 40, 80};
/// A residual is worth its file when it takes away so much of the error.
constexpr double least_gain = 0.05;

struct Lesson {
  std::array<double, costmodel::feature_count> features{};
  double launch = 0, floor = 0, body = 0, measured = 0;  ///< s
  double target = 0, weight = 0;
  std::size_t fold = 0;
  int family = 0;
  std::string operation;

  double error(double log_factor) const {
    return std::abs(std::log(std::max(floor, launch + body * std::exp(log_factor)) / measured));
  }
};

Lesson lesson_of(const Sample& sample, const costmodel::Model& model, const costmodel::CalibratedDevice& device) {
  Lesson lesson;
  Sample alone = sample;  // the body alone: nothing else is in its time
  alone.of.regime.includes = {};
  const ir::Estimate estimate = calibrate::estimate(model, alone, device);
  const ir::Estimate whole = calibrate::estimate(model, sample, device);
  lesson.body = estimate.total.value;
  lesson.measured = sample.of.time.value;
  const ir::Includes& includes = sample.of.regime.includes;
  lesson.floor = includes.dispatch_floor ? device.dispatch_floor : 0;
  // Code that comes again is the body's, code that comes first is not.
  lesson.launch = (costmodel::part(whole, ir::Part::launch) + costmodel::part(whole, ir::Part::code) -
                   costmodel::part(estimate, ir::Part::code))
                      .value;
  lesson.features = costmodel::features_of({sample.work, estimate, lesson.body});
  const double rest = lesson.measured - lesson.launch;
  // A residual is of one kernel: the time of a program does not tell which of its kernels takes it.
  const bool tells = rest > 0 && lesson.measured > lesson.floor && sample.work.followers.empty();
  lesson.target = tells ? std::clamp(std::log(rest / lesson.body), 1.5 * lowest, 1.5 * highest) : 0;
  const double share = lesson.body / whole.total.value;
  lesson.weight = tells ? share * share : 0;
  const double block_bytes = sample.bytes / static_cast<double>(std::max<std::int64_t>(1, sample.work.virtual_blocks));
  lesson.family = static_cast<int>(std::floor(std::log2(std::max(1.0, block_bytes))));
  // A shape falls into one fold on all operations' terms: by what split_of() hashes, whatever the order.
  const auto* foreign = std::get_if<ir::ForeignKernel>(&sample.of.subject);
  const auto* own = std::get_if<ir::OwnKernel>(&sample.of.subject);
  const std::string shape = own != nullptr ? hex(own->group) : foreign->operation + " on " + foreign->shape;
  lesson.fold = static_cast<std::size_t>(id_of(std::string_view(shape)).low % folds);
  lesson.operation = sample.operation;
  return lesson;
}

std::vector<ir::Tree> trees_of(std::span<const Lesson* const> lessons, std::size_t count, const std::stop_token& stop) {
  std::vector<double> rows, targets, weights;
  for (const Lesson* one : lessons) {
    if (one->weight <= 0) continue;
    rows.insert(rows.end(), one->features.begin(), one->features.end());
    targets.push_back(one->target);
    weights.push_back(one->weight);
  }
  if (targets.empty()) return {};
  Boosting options;
  options.trees = static_cast<int>(count);
  for (const costmodel::Feature& feature : costmodel::residual_features())
    options.laws.push_back(feature.law == costmodel::Law::rising ? 1 : 0);
  return boosted(rows, targets, weights, options, stop);
}

/// Over how much of ln(body) trees are smoothed, rounded up.
double width_of(std::span<const ir::Tree> trees) {
  constexpr double least = 0.1;
  return std::max(least, std::ceil(ir::fall_of(trees) / ir::steepest_fall * 1e3) / 1e3);
}

/// Bounds, ranges and the first `count` trees, as they will be evaluated.
ir::Residual residual_of(std::span<const Lesson* const> lessons, std::vector<ir::Tree> trees, std::size_t count) {
  ir::Residual residual;
  residual.model = "projected";
  residual.low = lowest;
  residual.high = highest;
  for (std::size_t i = 0; i < costmodel::feature_count; ++i) {
    ir::FeatureRange range{std::string(costmodel::residual_features()[i].name), INFINITY, -INFINITY};
    for (const Lesson* one : lessons) {
      range.low = std::min(range.low, one->features[i]);
      range.high = std::max(range.high, one->features[i]);
    }
    // Three decimals, outwards: what was observed is inside.
    range.low = std::floor(range.low * 1e3) / 1e3;
    range.high = std::ceil(range.high * 1e3) / 1e3;
    residual.features.push_back(range);
  }
  trees.resize(std::min(trees.size(), count));
  residual.trees = std::move(trees);
  residual.width = width_of(residual.trees);
  return residual;
}

/// Of each lesson, what a residual says that was learned from the others: for each of tree_counts.
using Told = std::vector<std::array<double, tree_counts.size()>>;

/// `part`: of each lesson; those of one part are told by what was learned from all other parts.
Told told_by_others(std::span<const Lesson> lessons, std::span<const int> part, const std::stop_token& stop) {
  Told told(lessons.size());
  for (const int out : std::set<int>(part.begin(), part.end())) {
    stop_if_asked(stop);
    std::vector<const Lesson*> others;
    for (std::size_t i = 0; i < lessons.size(); ++i)
      if (part[i] != out) others.push_back(&lessons[i]);
    if (others.empty()) continue;
    const std::vector<ir::Tree> trees = trees_of(others, tree_counts.back(), stop);
    for (std::size_t n = 0; n < tree_counts.size(); ++n) {
      const ir::Residual residual = residual_of(others, trees, tree_counts[n]);
      for (std::size_t i = 0; i < lessons.size(); ++i)
        if (part[i] == out) told[i][n] = costmodel::log_correction(residual, lessons[i].features);
    }
  }
  return told;
}

/// Operations in `off` go without.
double mean_error(std::span<const Lesson> lessons, const Told& told, std::size_t n,
                  const std::vector<std::string>& off) {
  double sum = 0;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    const bool on = !told.empty() && std::find(off.begin(), off.end(), lessons[i].operation) == off.end();
    sum += lessons[i].error(on ? told[i][n] : 0);
  }
  return sum / static_cast<double>(lessons.size());
}

/// Operations for which folds by shape, or both cross-validations together, gain nothing.
std::vector<std::string> without_gain(std::span<const Lesson> lessons, const Told& by_shape, const Told& by_family,
                                      std::size_t n) {
  struct Sums {
    double before = 0, shapes = 0, families = 0;
  };
  std::map<std::string, Sums> sums;
  for (std::size_t i = 0; i < lessons.size(); ++i) {
    Sums& of = sums[lessons[i].operation];
    of.before += lessons[i].error(0);
    of.shapes += lessons[i].error(by_shape[i][n]);
    of.families += lessons[i].error(by_family[i][n]);
  }
  std::vector<std::string> off;
  for (const auto& [operation, of] : sums) {
    if (of.shapes >= of.before || of.shapes + of.families >= 2 * of.before) off.push_back(operation);
  }
  return off;
}

ir::Residual made(std::span<const Lesson> lessons, std::span<const Sample* const> samples, std::vector<std::string> off,
                  std::size_t trees, const std::stop_token& stop) {
  std::vector<const Lesson*> all;
  for (const Lesson& one : lessons) all.push_back(&one);
  ir::Residual residual = residual_of(all, trees_of(all, trees, stop), trees);
  std::set<std::string> caches;
  for (const Sample* sample : samples) {
    caches.emplace(ir::name(sample->of.regime.cache));
    residual.observations.push_back(sample->of.id);
  }
  residual.caches.assign(caches.begin(), caches.end());
  std::sort(residual.observations.begin(), residual.observations.end());
  residual.off = std::move(off);
  return residual;
}

}  // namespace

Learned learn(std::span<const Sample* const> samples, const ir::Device& device, const ir::Calibration& calibration,
              const costmodel::Model& model, const std::stop_token& stop) {
  Learned learned;
  if (samples.size() < least_samples) {
    learned.said = fmt::format("{} no residual: {} are the least",
                               counted(samples.size(), "observation", "teaches", "teach"), least_samples);
    return learned;
  }
  const Machine machine(device, calibration);
  std::vector<Lesson> lessons;
  std::vector<int> fold, family;
  for (const Sample* sample : samples) {
    lessons.push_back(lesson_of(*sample, model, machine.of(sample->operation)));
    fold.push_back(static_cast<int>(lessons.back().fold));
    family.push_back(lessons.back().family);
  }
  const Told by_shape = told_by_others(lessons, fold, stop), by_family = told_by_others(lessons, family, stop);
  learned.shapes_before = learned.families_before = mean_error(lessons, {}, 0, {});
  std::optional<std::size_t> best;
  double closest = INFINITY, least = INFINITY;  // of shapes left out, and of the sum of both
  for (std::size_t n = 0; n < tree_counts.size(); ++n) {
    const std::vector<std::string> off = without_gain(lessons, by_shape, by_family, n);
    const double shapes = mean_error(lessons, by_shape, n, off), families = mean_error(lessons, by_family, n, off);
    closest = std::min(closest, shapes);
    if (shapes >= learned.shapes_before * (1 - least_gain) || shapes + families >= least) continue;
    best = n;
    least = shapes + families;
    learned.shapes_after = shapes;
    learned.families_after = families;
  }
  if (!best) {
    learned.shapes_after = closest;
    learned.said = fmt::format(
        "cross-validation gains too little ({:.2f} % to {:.2f} %, mean of shapes left out) or "
        "harms unseen families: no residual",
        100 * learned.shapes_before, 100 * closest);
    return learned;
  }
  learned.trees = tree_counts[*best];
  learned.residual = made(lessons, samples, without_gain(lessons, by_shape, by_family, *best), learned.trees, stop);
  learned.said = fmt::format(
      "{} trees; mean error of shapes left out {:.2f} % to {:.2f} %, of families of shapes left out {:.2f} % to {:.2f} "
      "%",
      learned.trees, 100 * learned.shapes_before, 100 * learned.shapes_after, 100 * learned.families_before,
      100 * learned.families_after);
  learned.residual->source =
      fmt::format("boosted trees on {}: {}", counted(samples.size(), "observation"), learned.said);
  return learned;
}

}  // namespace tailor::calibrate
