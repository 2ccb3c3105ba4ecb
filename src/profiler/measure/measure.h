// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The plans of one group on a GPU, from compiled kernels to times that can be believed: each is run on fresh inputs
// between guard zones and held against the reference, at its own shape and at an odd one; those that are right race for
// every cache state that was asked for; the first few are counted, in runs that nobody times. Whatever a kernel does is
// an outcome of that kernel. The same answers come from records instead of a GPU (replayed_group).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "ir/binary.h"
#include "ir/fusion.h"
#include "ir/kernel/kernel.h"
#include "ir/measurement.h"
#include "profiler/gpu/cupti/metrics.h"
#include "profiler/measure/race.h"
#include "profiler/measure/sequence_of.h"
#include "profiler/measure/worker.h"

namespace tailor::profiler {

/// A compiled kernel at one shape. Pointers outlive the call.
struct ShapedKernel {
  const ir::Group* group = nullptr;
  const ir::Kernel* kernel = nullptr;
  const ir::Binary* binary = nullptr;
};

/// One plan of the group.
struct MeasureRequest {
  std::string name;  ///< the plan's text, for messages
  Id kernel_id;
  ShapedKernel own;
  std::optional<ShapedKernel> odd;  ///< checked too, never timed
  std::string odd_is;               ///< "37 of 4,096 rows", or why there is none
};

struct MeasureOptions {
  std::vector<ir::CacheState> caches{ir::CacheState::cold};
  std::optional<ir::TimedBy> timed_by;  ///< empty: activity where the machine has it
  ir::LaunchMode launch = ir::LaunchMode::stream;
  std::string stop_rule = "standard";
  double error = 0.05;        ///< of the race: that a plan is called slower though it is not
  gpu::CountPlan counters;    ///< empty: none are collected
  std::size_t count_top = 4;  ///< plans that are counted, the fastest first
  int checks = 1;             ///< checked runs at each shape, each on inputs of its own
  std::uint64_t seed = 1;
  ImageForm image = ImageForm::cubin;
  Seconds time_limit{10};  ///< of one question to the GPU
  std::stop_token stop = {};
  std::function<void(std::string_view doing)> progress = {};
};

struct CandidateResult {
  ir::Outcome outcome = ir::Outcome::ok;  ///< of the check, or what ended it later
  std::string reason;
  double worst = 0;         ///< largest error over its tolerance
  double judged_share = 0;  ///< fraction of the results that were held against a bound
  bool judged = false;      ///< results were held against a reference; else `reason` or the group's says why not
  std::string checked_on;   ///< "its own shape and 37 of 4,096 rows"
  std::string uncounted;    ///< why counters were asked for and are not there
  gpu::KernelAttributes entry;
  std::vector<ir::Measurement> times;  ///< by MeasureOptions::caches
};

/// One plan a second time in its race, loaded apart from the first: what separates the two is nothing of the plan's.
struct Twin {
  int plan = -1;            ///< -1: there was none
  double ratio = 0;         ///< of its median to that of the plan
  bool told_apart = false;  ///< one of the two dropped out against the other
  int samples = 0;
};

/// Who won under one cache state.
struct Ranking {
  ir::CacheState cache = ir::CacheState::cold;
  std::vector<int> order;  ///< plans, fastest first; those without a time are absent
  std::vector<int> tie;    ///< who may be fastest
  std::string end;         ///< how the race ended
  bool drifted = false;    ///< the GPU's speed changed while it ran
  std::int64_t samples = 0, equal_samples = 0;
  Twin twin = {};
};

/// What a launch that does nothing takes under a protocol, and how much that varies: half of its samples lie within
/// `noise`. Kernels near the floor are launches; differences below the noise are the timer's.
struct LaunchFloor {
  Seconds time, noise;
  int samples = 0;  ///< 0: it could not be measured
};
/// Of a worker's GPU, by 40 samples.
LaunchFloor launch_floor(Worker& worker, ir::TimedBy timed_by, ir::LaunchMode launch, Seconds time_limit);

struct MeasuredGroup {
  std::vector<CandidateResult> plans;  ///< in the order of the candidates
  LaunchFloor floor;                   ///< of the protocol, when a GPU measured
  std::vector<Ranking> rankings;       ///< by MeasureOptions::caches
  std::string unjudged;                ///< why no reference could be had; empty when there is one
};

/// Measures on the workers' GPU: `timing` runs and times, `counting` was opened to count and is started when the races
/// are over, if counters are wanted.
MeasuredGroup measure_group(Worker& timing, Worker& counting, std::span<const MeasureRequest> candidates,
                            const MeasureOptions& options);

/// What was recorded of a kernel under a protocol, or an outcome not_recorded with what there is instead.
using Lookup = std::function<ir::Measurement(Id kernel, const ir::Protocol& protocol)>;
/// The same answers from records. Ranks by medians: plans whose intervals overlap the fastest one's are tied.
MeasuredGroup replayed_group(const Lookup& lookup, std::span<const MeasureRequest> candidates,
                             const MeasureOptions& options);

}  // namespace tailor::profiler
