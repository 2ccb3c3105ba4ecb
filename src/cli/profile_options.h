// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What tailor profile's words mean: cache states, stop rules, counters, who measures.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "cli/commands.h"
#include "cli/profiling.h"
#include "ir/device.h"
#include "profiler/measure/worker.h"

namespace tailor::cli {

/// "cold,produced" as states, each once. Throws Error(usage) with the nearest.
std::vector<ir::CacheState> parse_cache_states(const std::string& words);
/// "auto" is nothing. Throws Error(usage).
std::optional<ir::TimedBy> parse_timed_by(const std::string& word);

/// Who measures. `worker` is null for records.
struct Measurer {
  std::string name;  ///< "gpu", "replay"
  std::unique_ptr<profiler::Worker> worker;
  MeasureGroup measure;
};

/// A row of the table of profilers.
struct ProfilerRow {
  std::string_view name, what;
  Measurer (*make)(const ProfileCommand& options, const Context& context, const ir::Device& device,
                   std::stop_token stop);
};
std::span<const ProfilerRow> profilers();
/// Throws Error(usage) for a name that no row has, Error(missing) for a GPU or records that are not there.
Measurer make_measurer(const ProfileCommand& options, const Context& context, const ir::Device& device,
                       std::stop_token stop);

/// Checks every word; counters are planned for the chip of the device without a GPU. Throws Error(usage).
profiler::MeasureOptions measure_options(const ProfileCommand& options, const Context& context,
                                         const ir::Device& device, std::stop_token stop);

}  // namespace tailor::cli
