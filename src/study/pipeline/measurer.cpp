// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Words to options, and the table of profilers. In: the words of a command line or a sweep file. Out: a measurer.
// Every word is checked before anything takes time. Called by profile, explain and sweep. A profiler is one row of the
// table.
#include "study/pipeline/measurer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "profiler/gpu/cupti/metrics.h"
#include "study/pipeline/replay.h"

namespace tailor::study {

namespace {

template <class Enum>
Enum parse_word(std::string_view option, std::string_view word, std::optional<Enum> (*named)(std::string_view),
                std::span<const std::string_view> known) {
  if (const std::optional<Enum> found = named(word)) return *found;
  throw Error(Fault::usage, fmt::format("{}: found '{}', expected one of {}", option, word, fmt::join(known, ", ")),
              suggestion(word, known));
}

Measurer on_gpu(const MeasureWords& options, const std::filesystem::path&, const ir::Device& device,
                const Watch& watch) {
  const auto worker_for = [&](gpu::Use use) {
    return std::make_shared<profiler::Worker>(worker_setup(options.gpu, use, watch.stop));
  };
  const gpu::Use use = use_for(options.timed_by);
  Measurer measurer{"gpu", worker_for(use)};
  measurer.untraced = use == gpu::Use::events ? measurer.worker : worker_for(gpu::Use::events);
  require_gpu(*measurer.worker, device);
  if (options.timed_by == "auto" && !measurer.worker->opened().properties.can_time_activity)
    watch.observer.warning(
        "times are by events, which hold a part of the launch: CUPTI's timestamps cannot be had "
        "(tailor doctor says why)");
  measurer.measure = [timing = measurer.worker, counting = worker_for(gpu::Use::count)](
                         std::span<const profiler::MeasureRequest> candidates, const profiler::MeasureOptions& how) {
    return profiler::measure_group(*timing, *counting, candidates, how);
  };
  return measurer;
}

Measurer from_records(const MeasureWords& options, const std::filesystem::path& data, const ir::Device& device,
                      const Watch&) {
  const profiler::Lookup lookup = recorded_lookup(options.recorded, data, device);
  return {"replay", nullptr, nullptr,
          [lookup](std::span<const profiler::MeasureRequest> candidates, const profiler::MeasureOptions& how) {
            return profiler::replayed_group(lookup, candidates, how);
          }};
}

constexpr std::array profiler_table = std::to_array<ProfilerRow>({
    {"gpu", "runs kernels on a GPU in a worker process: checked, timed, counted", on_gpu},
    {"replay", "answers from what was recorded on GPUs: files of data/recorded, or a database", from_records},
});

bool is_tier(const std::string& words) { return words.find_first_not_of("0123456789") == std::string::npos; }

/// "0", "none", or names.
gpu::CountPlan plan_counters(const MeasureWords& options, const ir::Device& device, const Watch& watch) {
  if (options.counters == "none" || options.profiler != "gpu") return {};
  auto opened = gpu::MetricHost::open(gpu_libraries(options.gpu));
  if (const auto* missing = std::get_if<gpu::Capability>(&opened)) {
    watch.observer.warning(fmt::format("no counters: {}", missing->detail));
    return {};
  }
  const gpu::MetricHost& host = std::get<gpu::MetricHost>(opened);
  check_counters(options.counters);
  if (is_tier(options.counters)) {
    const std::vector<std::string> chips = host.chips();
    if (std::find(chips.begin(), chips.end(), device.chip) == chips.end()) {
      watch.observer.warning(fmt::format("no counters: {} does not know the chip of {}{}", host.name(), device.name,
                                         device.chip.empty() ? "" : ", " + device.chip));
      return {};
    }
    return host.plan(device.chip, std::stoi(options.counters));
  }
  std::vector<std::string> names;
  for (const std::string_view name : split(options.counters, ',')) names.emplace_back(trim(name));
  return host.plan(device.chip, names);
}

}  // namespace

std::vector<ir::CacheState> parse_cache_states(const std::string& words, const std::string& from) {
  std::vector<ir::CacheState> states;
  for (const std::string_view word : split(words, ',')) {
    const ir::CacheState state =
        parse_word(from, trim(word), ir::cache_state_named, ir::cache_state_names());
    if (std::find(states.begin(), states.end(), state) == states.end()) states.push_back(state);
  }
  return states;
}

void check_counters(const std::string& words, std::string_view from) {
  constexpr int highest_tier = 3;
  if (is_tier(words) && (words.size() != 1 || std::stoi(words) > highest_tier))
    throw Error(Fault::usage, fmt::format("{}: found tier {}, expected 0 to {}", from, words, highest_tier),
                "tailor counters lists them");
}

std::optional<ir::TimedBy> parse_timed_by(const std::string& word) {
  constexpr std::array known = std::to_array<std::string_view>({"auto", "activity", "events"});
  if (word == "auto") return {};
  return parse_word("--timed-by", word, ir::timed_by_named, known);
}

std::span<const ProfilerRow> profilers() { return profiler_table; }

gpu::Response Measurer::opened() const {
  if (worker) return worker->opened();
  gpu::Response none;
  none.outcome = ir::Outcome::unavailable;
  return none;
}

Measurer make_measurer(const MeasureWords& options, const std::filesystem::path& data, const ir::Device& device,
                       const Watch& watch) {
  std::vector<std::string_view> known;
  for (const ProfilerRow& row : profiler_table) {
    if (row.name == options.profiler) return row.make(options, data, device, watch);
    known.push_back(row.name);
  }
  throw Error(Fault::usage,
              fmt::format("--profiler: found '{}', expected one of {}", options.profiler, fmt::join(known, ", ")),
              suggestion(options.profiler, known));
}

profiler::MeasureOptions measure_options(const MeasureWords& options, const ir::Device& device, const Watch& watch) {
  profiler::MeasureOptions how;
  how.caches = parse_cache_states(options.cache_states);
  how.timed_by = parse_timed_by(options.timed_by);
  how.launch = options.graph ? ir::LaunchMode::graph : ir::LaunchMode::stream;
  how.stop_rule = profiler::stop_rule(options.stop_rule).name;
  how.checks = static_cast<int>(options.checks);
  how.seed = static_cast<std::uint64_t>(options.seed);
  how.time_limit = {options.time_limit};
  how.stop = watch.stop;
  constexpr std::array forms = std::to_array<std::string_view>({"cubin", "ptx"});
  how.image = parse_word("--image", options.image, profiler::image_form_named, forms);
  how.counters = plan_counters(options, device, watch);
  if (options.checks < 1) throw Error(Fault::usage, "--checks: found 0, expected at least one run that is checked");
  if (!(options.time_limit > 0))
    throw Error(Fault::usage, fmt::format("--time-limit: found {}, expected seconds above 0", options.time_limit));
  return how;
}

}  // namespace tailor::study
