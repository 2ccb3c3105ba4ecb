// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The keys of steps. In: what a sweep asks. Out: texts. Called by the check and profile steps and by run_sweep(). The
// settings of a step are taken apart by structured bindings: a new member does not compile until somebody decided here
// whether it decides results.
#include "study/sweep/step_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "study/pipeline/to_rows.h"

namespace tailor::study {

std::string work_space(const SweepConfig& config) {
  const std::string key = fmt::format(
      "{} {}{} {}", hex(plan_space_id(config)), config.shortlist,
      config.profile.random > 0 ? fmt::format("+{} seed {}", config.profile.random, config.seed) : "", config.arch);
  return hex(tailor::id_of(std::string_view(key)));
}

Checking make_checking(const SweepConfig& config) {
  Checking how;
  how.each.seed = static_cast<std::uint64_t>(config.seed);
  how.each.sample_blocks = config.check.blocks.value_or(0);
  how.each.most_elements = config.check.blocks ? 0 : profiler::default_most_elements;
  how.each.has_limits = false;
  how.each.may_shrink = !config.check.small_shape;
  how.seeds = static_cast<int>(config.check.seeds);
  return how;
}

std::string make_method(const SweepConfig& config, const ir::Device& device, const std::string& checked) {
  return fmt::format("{}, {}", checked, config.arch == "auto" ? device.arch : config.arch);
}

namespace {

/// How times will be taken, where that is not the usual way; in which order is nobody's concern.
std::string predicted_for(const ProfileConfig& config) {
  const ProfileConfig usual;
  std::vector<std::string> caches = config.cache;
  std::sort(caches.begin(), caches.end());
  if (caches == usual.cache && config.graph == usual.graph) return {};
  return fmt::format(", for times {}{}", fmt::join(caches, "+"), config.graph ? ", graph" : "");
}

}  // namespace

std::string check_key(const SweepConfig& config, const ir::Device& device) {
  const auto& [top, seeds, blocks, small_shape] = config.check;
  const Checking how = make_checking(config);
  return fmt::format("check, top {}, {}{}{}{}", top.value_or(0),
                     make_method(config, device, check_method(how.each, static_cast<int>(seeds))),
                     blocks == 0 ? ", all blocks" : "",  // without a number those of a large launch are sampled
                     small_shape ? ", fewer rows where they can be" : "", predicted_for(config.profile));
}

std::string profile_key(const SweepConfig& config, const SweepMeasurer& by, std::string_view recorded) {
  const auto& [top, random, cache, stop, counters, graph, checks] = config.profile;
  const profiler::MeasureOptions usual;
  return fmt::format(
      "profile, {}, top {}{}, {}, stop {}, counters {}{}, seed {}{}{}{}{}", by.who.name, top.value_or(0),
      random > 0 ? fmt::format(" and {} random", random) : "", fmt::join(cache, "+"), stop, counters,
      graph ? ", graph" : "", config.seed, checks > 1 ? fmt::format(", checks {}", checks) : "",
      by.how.image == usual.image ? "" : ", image ptx",
      by.how.time_limit == usual.time_limit ? "" : fmt::format(", time limit {} s", by.how.time_limit.value),
      recorded.empty() ? "" : fmt::format(", from {}", recorded));
}

}  // namespace tailor::study
