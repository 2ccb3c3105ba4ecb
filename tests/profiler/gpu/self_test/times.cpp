// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws that times must obey whatever the GPU: more misses take longer, events see more than the kernel, a graph wastes
// less than a stream. Medians of few samples, so laws have some room. Part of the program gpu_self_test, which suite.h
// describes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.h"
#include "profiler/gpu/self_test/kernels.h"
#include "profiler/gpu/self_test/suite.h"

namespace tailor::tests {

namespace {

using gpu::Response;
using gpu::TimeRequest;
using ir::CacheState;
using ir::LaunchMode;
using ir::Outcome;
using ir::TimedBy;

constexpr int samples = 15, graph_launches = 64;

/// Sorted durations; nothing when something went wrong.
std::vector<double> durations(const Response& response) {
  std::vector<double> all;
  if (response.outcome == Outcome::ok)
    for (const ir::Sample& one : response.samples) all.push_back(one.duration.value);
  std::sort(all.begin(), all.end());
  return all;
}

double middle(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }

/// Two protocols on one sequence: their medians, or what went wrong.
struct Versus {
  std::optional<Observed> trouble;
  double first = 0, second = 0;
};

Versus versus(Subject& subject, const gpu::Sequence& sequence, const TimeRequest& first, const TimeRequest& second) {
  Versus made;
  const Response loaded = subject.load(sequence);
  if (loaded.outcome != Outcome::ok) return {unexpected(loaded), 0, 0};
  for (const auto& [request, median] : {std::pair{&first, &made.first}, std::pair{&second, &made.second}}) {
    const Response timed = subject.call(*request);
    const std::vector<double> all = durations(timed);
    if (all.empty()) return {unexpected(timed), 0, 0};
    *median = middle(all);
  }
  return made;
}

TimeRequest how(CacheState cache, TimedBy by, LaunchMode launch) {
  return {only_id, cache, by, launch, samples, 2, false};
}

/// Activity where the GPU can, else events.
TimedBy best(Subject& subject) { return subject.properties().can_time_activity ? TimedBy::activity : TimedBy::events; }

Observed cold_takes_longer(Subject& subject) {
  const TimedBy by = best(subject);
  const Versus pair = versus(subject, copying(subject.copy_bytes), how(CacheState::cold, by, LaunchMode::stream),
                             how(CacheState::warm, by, LaunchMode::stream));
  if (pair.trouble) return *pair.trouble;
  const double moved = 2 * static_cast<double>(subject.copy_bytes);
  constexpr double least = 1.02;  // more than the grain of timestamps makes
  return seen(pair.first > least * pair.second,
              fmt::format("cold {}, {}/s; warm {}, {}/s", humane_seconds(pair.first), humane_bytes(moved / pair.first),
                          humane_seconds(pair.second), humane_bytes(moved / pair.second)));
}

Observed events_see_more(Subject& subject) {
  if (!subject.properties().can_time_activity) return skipped("CUPTI gives no timestamps here");
  const Versus pair =
      versus(subject, copying(subject.copy_bytes), how(CacheState::cold, TimedBy::events, LaunchMode::stream),
             how(CacheState::cold, TimedBy::activity, LaunchMode::stream));
  if (pair.trouble) return *pair.trouble;
  constexpr double room = 0.98;
  return seen(pair.first >= room * pair.second && pair.first < pair.second + 50e-6,
              fmt::format("events {}, activity {}", humane_seconds(pair.first), humane_seconds(pair.second)));
}

Observed empty_kernel(Subject& subject) {
  if (!subject.properties().can_time_activity) return skipped("CUPTI gives no timestamps here");
  const Response loaded = subject.load(empties(1));
  if (loaded.outcome != Outcome::ok) return unexpected(loaded);
  const Response timed = subject.call(how(CacheState::warm, TimedBy::activity, LaunchMode::stream));
  const std::vector<double> all = durations(timed);
  if (all.empty()) return unexpected(timed);
  return seen(middle(all) > 1e-7 && middle(all) < 1e-5,
              fmt::format("median {}, fastest {}, slowest {}", humane_seconds(middle(all)), humane_seconds(all.front()),
                          humane_seconds(all.back())));
}

Observed graph_wastes_less(Subject& subject) {
  const TimedBy by = best(subject);
  const Versus pair = versus(subject, empties(graph_launches), how(CacheState::warm, by, LaunchMode::graph),
                             how(CacheState::warm, by, LaunchMode::stream));
  if (pair.trouble) return *pair.trouble;
  return seen(pair.first < pair.second,
              fmt::format("a launch: graph {}, stream {}", humane_seconds(pair.first / graph_launches),
                          humane_seconds(pair.second / graph_launches)));
}

Observed launches_have_times(Subject& subject) {
  if (!subject.properties().can_time_activity) return skipped("CUPTI gives no timestamps here");
  constexpr int few = 3;
  const Response loaded = subject.load(empties(few));
  if (loaded.outcome != Outcome::ok) return unexpected(loaded);
  TimeRequest request = how(CacheState::warm, TimedBy::activity, LaunchMode::stream);
  request.per_launch = true;
  const Response timed = subject.call(request);
  if (timed.outcome != Outcome::ok) return unexpected(timed);
  bool right = timed.launches.size() == timed.samples.size();
  for (std::size_t i = 0; right && i < timed.launches.size(); ++i) {
    double sum = 0;
    for (const Seconds one : timed.launches[i]) sum += one.value;
    right = timed.launches[i].size() == few && sum > 0 && sum <= timed.samples[i].duration.value * 1.0001;
  }
  return seen(right, fmt::format("{} samples of {} launches", timed.samples.size(), few));
}

Observed clock_is_plausible(Subject& subject) {
  const Response loaded = subject.load(copying(subject.copy_bytes));
  if (loaded.outcome != Outcome::ok) return unexpected(loaded);
  const Response timed = subject.call(how(CacheState::cold, best(subject), LaunchMode::stream));
  if (timed.outcome != Outcome::ok) return unexpected(timed);
  double low = 1e99, high = 0;
  for (const ir::Sample& one : timed.samples) low = std::min(low, one.sm_clock), high = std::max(high, one.sm_clock);
  const double most = subject.properties().sm_clock_max;
  return seen(low >= 0.2 * most && high <= 1.05 * most,
              fmt::format("{:.0f} to {:.0f} MHz of {:.0f}", low / 1e6, high / 1e6, most / 1e6));
}

Observed state_is_plausible(Subject& subject) {
  const Response response = subject.call(gpu::StateRequest{});
  if (response.outcome != Outcome::ok) return unexpected(response);
  const gpu::GpuState& state = response.state;
  if (state.power_limit <= 0 && state.temperature <= 0) return skipped("NVML tells nothing here");
  const bool plausible = state.sm_clock > 1e8 && state.sm_clock < 1.1 * subject.properties().sm_clock_max &&
                         state.dram_clock > 1e8 && state.temperature > 5 && state.temperature < 110 &&
                         state.power > 1 && state.power < 1.3 * state.power_limit;
  const std::string held = ir::throttle_text(state.throttle);
  return seen(plausible, fmt::format("SM {:.0f} MHz, DRAM {:.0f} MHz, {:.0f} degrees, {:.0f} of {:.0f} W{}",
                                     state.sm_clock / 1e6, state.dram_clock / 1e6, state.temperature, state.power,
                                     state.power_limit, held.empty() ? "" : ", held back by " + held));
}

/// What clean and dirty flushes differ by, for a read of half of L2.
Observed clean_is_no_slower(Subject& subject) {
  const TimedBy by = best(subject);
  const Versus pair = versus(subject, copying(subject.copy_bytes), how(CacheState::cold, by, LaunchMode::stream),
                             how(CacheState::dirty, by, LaunchMode::stream));
  if (pair.trouble) return *pair.trouble;
  constexpr double room = 1.05;
  return seen(pair.first <= room * pair.second,
              fmt::format("clean {}, dirty {}", humane_seconds(pair.first), humane_seconds(pair.second)));
}

/// A question that is answered without the GPU: what every question costs. The state is NVML's, which is asked.
Observed round_trip(Subject& subject) {
  constexpr int questions = 20;
  std::vector<double> took;
  for (int i = 0; i < questions; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const Response response = subject.call(gpu::StateRequest{});
    took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
    if (response.outcome != Outcome::ok) return unexpected(response);
  }
  std::sort(took.begin(), took.end());
  return seen(middle(took) < 0.05,
              fmt::format("median {}, slowest {}", humane_seconds(middle(took)), humane_seconds(took.back())));
}

constexpr SelfTest time_rows[] = {
    {"clean and dirty", "a copy takes no longer, but for 5 %, where nothing must be written back first",
     clean_is_no_slower},
    {"round trip", "a question to the worker and NVML is answered within 50 ms", round_trip},
    {"cold and warm", "a copy takes 1.02 times as long or more when L2 was overwritten", cold_takes_longer},
    {"events and activity", "events show the kernel's time or up to 50 us more", events_see_more},
    {"empty kernel", "between 0.1 and 10 us", empty_kernel},
    {"graph and stream", "64 launches take less time as a graph", graph_wastes_less},
    {"times of launches", "each launch of a sample has a time, together no more than the sample", launches_have_times},
    {"SM clock", "0.2 to 1.05 of the highest", clock_is_plausible},
    {"state", "clocks, temperature and power are those of a GPU at work", state_is_plausible},
};

}  // namespace

std::span<const SelfTest> time_tests() { return time_rows; }

}  // namespace tailor::tests
