// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Scores. Samples and predictors come in; each predictor is asked once for each sample, and what it said is held
// against the time in cells: all samples, or those of one operation, size, device or limiter. Called by tailor
// validate.
//
// Ranks are made where they mean something. Over shapes, the achieved bandwidth (bytes over time) of one operation on
// one device: a model that only knows bytes says it is constant. Over plans, the time of kernels that compute the same
// on the same shape, device and regime: what a tuner goes by. Each cell shows the mean of its devices and operations,
// or of its groups, weighted by samples.
#include "calibrate/validate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>

#include "base/hash.h"
#include "base/indexed.h"
#include "base/statistics.h"
#include "base/stop.h"
#include "calibrate/metrics.h"

namespace tailor::calibrate {

namespace {

constexpr std::array by_table = std::to_array<std::string_view>({"nothing", "operation", "size", "device", "limiter"});

/// What one predictor said of all samples, and how long that took.
struct Asked {
  std::vector<Guess> guesses;
  double seconds_per_query = 0;
};

Asked ask(const Contender& contender, std::span<const Sample> samples, const std::stop_token& stop) {
  Asked asked;
  asked.guesses.reserve(samples.size());
  const auto begin = std::chrono::steady_clock::now();
  for (const Sample& sample : samples) {
    asked.guesses.push_back(contender.guess(sample));
    stop_if_asked(stop);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  asked.seconds_per_query = took.count() / static_cast<double>(std::max<std::size_t>(1, samples.size()));
  return asked;
}

std::string cell_of(const Sample& sample, const Guess& first, By by) {
  switch (by) {
    case By::nothing:
      return "";
    case By::operation:
      return sample.operation;
    case By::size:
      return size_class(sample.bytes);
    case By::device:
      return sample.of.device;
    case By::limiter:
      return std::string(first.limiter);
  }
  return "";
}

/// A mean of what some cells have to say, by the samples that say it.
struct Weighted {
  double sum = 0, weight = 0;
  void add(const std::optional<double>& value, std::size_t samples) {
    if (!value) return;
    sum += *value * static_cast<double>(samples);
    weight += static_cast<double>(samples);
  }
  std::optional<double> mean() const { return weight > 0 ? std::optional(sum / weight) : std::nullopt; }
};

struct Lists {
  std::vector<double> predicted, measured;
};

void add_ranks(Score& score, std::span<const Sample> samples, std::span<const std::size_t> members,
               std::span<const Guess> guesses) {
  std::map<std::string, Lists> shapes, plans;
  for (const std::size_t i : members) {
    const Sample& sample = samples[i];
    const double measured = sample.of.time.value, predicted = guesses[i].time;
    const std::string place = sample.of.device + "; " + text(sample.of.regime) + "; ";
    Lists& of_operation = shapes[place + sample.operation];
    of_operation.predicted.push_back(sample.bytes / predicted);
    of_operation.measured.push_back(sample.bytes / measured);
    const auto* own = std::get_if<ir::OwnKernel>(&sample.of.subject);
    const auto* foreign = std::get_if<ir::ForeignKernel>(&sample.of.subject);
    if (foreign != nullptr && foreign->variant.empty()) continue;
    Lists& of_group = plans[place + (own != nullptr ? hex(own->group) : foreign->operation + " on " + foreign->shape)];
    of_group.predicted.push_back(predicted);
    of_group.measured.push_back(measured);
  }
  Weighted bandwidth_rank, bandwidth_tau, plan_rank, plan_tau, regret_1, regret_5, recall_10;
  for (const auto& [place, lists] : shapes) {
    bandwidth_rank.add(rank_correlation(lists.predicted, lists.measured), lists.measured.size());
    bandwidth_tau.add(kendall(lists.predicted, lists.measured), lists.measured.size());
  }
  for (const auto& [place, lists] : plans) {
    if (lists.measured.size() < 3) continue;
    const std::size_t n = lists.measured.size();
    plan_rank.add(rank_correlation(lists.predicted, lists.measured), n);
    plan_tau.add(kendall(lists.predicted, lists.measured), n);
    regret_1.add(regret(lists.predicted, lists.measured, 1), n);
    regret_5.add(regret(lists.predicted, lists.measured, 5), n);
    recall_10.add(recall(lists.predicted, lists.measured, 10), n);
  }
  score.bandwidth_rank = bandwidth_rank.mean();
  score.bandwidth_tau = bandwidth_tau.mean();
  score.plan_rank = plan_rank.mean();
  score.plan_tau = plan_tau.mean();
  score.regret_1 = regret_1.mean();
  score.regret_5 = regret_5.mean();
  score.recall_10 = recall_10.mean();
}

Score score_cell(std::span<const Sample> samples, std::span<const std::size_t> cell, std::span<const Guess> guesses) {
  Score score;
  std::vector<std::size_t> members;
  for (const std::size_t i : cell)
    if (guesses[i].time >= 0) members.push_back(i);
  score.samples = static_cast<std::int64_t>(members.size());
  if (members.empty()) return score;
  std::vector<double> errors;
  double inside = 0, claimed = 0;
  for (const std::size_t i : members) {
    const double measured = samples[i].of.time.value;
    errors.push_back(relative_error(guesses[i].time, measured));
    if (!(guesses[i].high > 0)) continue;
    ++claimed;
    inside += guesses[i].low <= measured && measured <= guesses[i].high ? 1 : 0;
  }
  score.median_error = median_of(errors);
  for (const double error : errors) score.mean_error += error / static_cast<double>(errors.size());
  if (claimed > 0) score.coverage = inside / claimed;
  add_ranks(score, samples, members, guesses);
  return score;
}

}  // namespace

std::string_view name(By by) { return row_for(by_table, by); }
std::span<const std::string_view> by_names() { return by_table; }
std::optional<By> by_named(std::string_view name) {
  for (std::size_t i = 0; i < by_table.size(); ++i)
    if (by_table[i] == name) return static_cast<By>(i);
  return std::nullopt;
}

std::string size_class(double bytes) {
  static constexpr std::array<std::string_view, 5> classes = {"under 1 MB", "1 - 10 MB", "10 - 100 MB", "100 MB - 1 GB",
                                                              "over 1 GB"};
  std::size_t at = 0;
  for (double edge = 1e6; at + 1 < classes.size() && bytes >= edge; edge *= 10) ++at;
  return std::string(classes[at]);
}

std::vector<Score> score(std::span<const Sample> samples, std::span<const Contender> contenders, By by,
                         const std::stop_token& stop) {
  std::vector<Asked> asked;
  for (const Contender& contender : contenders) asked.push_back(ask(contender, samples, stop));
  std::map<std::string, std::vector<std::size_t>> cells;
  for (std::size_t i = 0; i < samples.size(); ++i)
    cells[cell_of(samples[i], asked.empty() ? Guess{} : asked.front().guesses[i], by)].push_back(i);
  std::vector<Score> scores;
  for (const auto& [cell, members] : cells)
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      stop_if_asked(stop);
      Score one = score_cell(samples, members, asked[c].guesses);
      one.contender = contenders[c].name;
      one.cell = cell;
      one.seconds_per_query = asked[c].seconds_per_query;
      scores.push_back(std::move(one));
    }
  return scores;
}

}  // namespace tailor::calibrate
