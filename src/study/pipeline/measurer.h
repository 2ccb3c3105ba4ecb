// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Who measures, and how: the words of a command line or a sweep file come in, the options of the measuring stage and
// somebody who measures (a worker that owns a GPU, or records) go out. Called by everything that measures; the table of
// profilers is what `tailor list profilers` shows.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/device.h"
#include "profiler/measure/worker.h"
#include "study/pipeline/gpu_access.h"
#include "study/pipeline/observer.h"
#include "study/pipeline/stages.h"

namespace tailor::study {

/// How measuring is asked for, in words.
struct MeasureWords {
  std::string profiler = "gpu";  ///< gpu, replay
  std::string recorded;          ///< of replay: a recorded file or a database; empty: the folder data/recorded
  std::string cache_states = "cold";
  std::string timed_by = "auto";  ///< auto, activity, events
  bool graph = false;             ///< launch as a CUDA graph
  std::string stop_rule = "standard";
  std::string counters = "0";  ///< highest tier that is collected, names, or none
  std::int64_t seed = 1, checks = 1;
  double time_limit = 10;       ///< s, of one question to the GPU
  std::string image = "cubin";  ///< or ptx
  GpuOptions gpu;
};

/// "cold,produced" as states, each once. Throws Error(usage) with the nearest; `from` says where the words stand.
std::vector<ir::CacheState> parse_cache_states(const std::string& words, const std::string& from = "--cache-state");
/// Throws Error(usage) for a number that is no tier; names of counters are known to GPUs alone.
void check_counters(const std::string& words, std::string_view from = "--counters");
/// "auto" is nothing. Throws Error(usage).
std::optional<ir::TimedBy> parse_timed_by(const std::string& word);

/// Who measures.
struct Measurer {
  std::string name;  ///< "gpu", "replay"
  /// Null for records. `worker` takes times as the words ask, `untraced` by events without CUPTI (the same one where
  /// that is what they ask); who counts is a third. Processes start when first asked.
  std::shared_ptr<profiler::Worker> worker = nullptr, untraced = nullptr;
  MeasureGroup measure = {};

  /// The GPU's answer when it was opened; an outcome that is not ok for records.
  gpu::Response opened() const;
};

/// A row of the table of profilers.
struct ProfilerRow {
  std::string_view name, what;
  Measurer (*make)(const MeasureWords& words, const std::filesystem::path& data, const ir::Device& device,
                   const Watch& watch);
};
std::span<const ProfilerRow> profilers();
/// Throws Error(usage) for a name that no row has, Error(missing) for a GPU or records that are not there.
Measurer make_measurer(const MeasureWords& words, const std::filesystem::path& data, const ir::Device& device,
                       const Watch& watch);

/// Checks every word; counters are planned for the chip of the device without a GPU. Throws Error(usage).
profiler::MeasureOptions measure_options(const MeasureWords& words, const ir::Device& device, const Watch& watch);

}  // namespace tailor::study
