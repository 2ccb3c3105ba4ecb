// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Microbenchmarks as a study: names of families come in; each microbenchmark compiled, run once and checked, sampled
// until its time is known well enough, or answered from records; rows of a database go out. What they are is
// profiler/measure/microbench.h's business. Called by tailor microbench.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ir/binary.h"
#include "ir/measurement.h"
#include "profiler/measure/microbench.h"
#include "profiler/measure/worker.h"
#include "study/pipeline/measurer.h"
#include "study/pipeline/stages.h"

namespace tailor::study {

/// One microbenchmark and what came of it.
struct BenchItem {
  profiler::Microbench bench;
  std::optional<ir::Binary> binary;
  ir::Measurement measured;
  std::optional<profiler::BenchResult> result;
};

/// Those of the families that are named, separated by commas, or of all; without sizes above `most_bytes` (0: all).
/// Throws Error(usage) for a family that there is not.
std::vector<BenchItem> wanted_benches(const std::string& words, std::int64_t most_bytes, const ir::Device& device);

/// Fills the binaries; empty where stopped.
void compile_benches(std::vector<BenchItem>& items, const std::string& arch, const Compiling& how, const Watch& watch);

/// Measures one after the other on the workers' GPU until all are done or somebody asks to stop. `untraced` was opened
/// for events; it runs the families that say so.
void run_benches(std::vector<BenchItem>& items, profiler::Worker& worker, profiler::Worker& untraced,
                 const profiler::MeasureOptions& how, const Watch& watch);

/// Answers from records, by activity where that was recorded. Throws Error(missing) when there are none of the device.
void replay_benches(std::vector<BenchItem>& items, const MeasureWords& words, const std::filesystem::path& data,
                    const ir::Device& device);

/// Stores what was compiled and measured, as a run of its own.
void store_benches(const std::filesystem::path& database, const std::string& command, const Target& target,
                   const std::vector<BenchItem>& items, const gpu::Response& opened);

}  // namespace tailor::study
