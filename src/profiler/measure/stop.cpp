// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of stop rules, and whether one of them is content. In: samples and the time spent. Out: go on, or why to
// stop. Called by the race, by microbenchmarks and by whoever times a whole model. The precision of "standard" is what
// tells neighbouring plans of one kernel apart; "quick" is for first looks and long lists, "thorough" for figures that
// are published.
//
// A rule asks in a fixed order: is the median's interval narrow enough (after the least number of samples), are the
// samples used up, is the time. Precision speaks first, so a run that ends in its last second is called what it is.
// Stopping where an interval happens to be narrow would wear off its confidence if it were asked after every sample;
// next_batch() therefore grows the batches by half of what was taken, so there are few looks, and a test holds the
// rules to the confidence they promise.
#include "profiler/measure/stop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/indexed.h"
#include "base/text.h"

namespace tailor::profiler {

namespace {

constexpr std::array rules = {
    StopRule{"quick", 0.03, 0.95, 10, 60, {1}, 2, "a first look: 3 % of the median"},
    StopRule{"standard", 0.01, 0.95, 20, 400, {5}, 5, "tells neighbouring plans apart: 1 % of the median"},
    StopRule{"thorough", 0.003, 0.99, 60, 4000, {30}, 20, "for published figures: 0.3 % of the median"},
};

constexpr std::array<std::string_view, 4> stop_words = {"go on", "precise enough", "out of samples", "out of time"};

}  // namespace

std::span<const StopRule> stop_rules() { return rules; }

const StopRule& stop_rule(std::string_view name) {
  const auto* const found = std::find_if(rules.begin(), rules.end(), [&](const StopRule& r) { return r.name == name; });
  if (found != rules.end()) return *found;
  std::vector<std::string_view> names;
  for (const StopRule& rule : rules) names.push_back(rule.name);
  throw Error(Fault::usage, fmt::format("no stop rule is named '{}', expected one of {}", name, fmt::join(names, ", ")),
              suggestion(name, names));
}

std::string_view name(Stop stop) { return row_for(stop_words, stop); }

Stop stop_after(const StopRule& rule, std::span<const double> seconds, Seconds elapsed) {
  const int taken = static_cast<int>(seconds.size());
  if (taken >= rule.min_samples && spread_of(seconds, rule.confidence).relative_half_width() <= rule.half_width)
    return Stop::precise;
  if (taken >= rule.max_samples) return Stop::out_of_samples;
  return elapsed >= rule.max_time ? Stop::out_of_time : Stop::go_on;
}

int next_batch(const StopRule& rule, int taken) {
  const int wanted = std::max(taken < rule.min_samples ? rule.min_samples - taken : taken / 2, 1);
  return std::clamp(rule.max_samples - taken, 0, wanted);
}

std::vector<double> durations(std::span<const ir::Sample> samples) {
  std::vector<double> seconds;
  seconds.reserve(samples.size());
  for (const ir::Sample& sample : samples) seconds.push_back(sample.duration.value);
  return seconds;
}

}  // namespace tailor::profiler
