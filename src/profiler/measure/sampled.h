// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of one thing alone, without a race. In: a loaded sequence and a protocol. Out: samples, taken until a stop rule
// (stop.h) is content. Called for microbenchmarks, whole modules and XLA's kernels; plans of one group race instead
// (race.h).
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/statistics.h"
#include "ir/measurement.h"
#include "profiler/measure/sequence_cache.h"

namespace tailor::profiler {

/// "NVIDIA H200, GPU-1234", "580.159, driver API 13000, CUPTI 130001": how a GPU and its driver are named in records.
std::string gpu_text(const gpu::GpuProperties& properties);
std::string driver_text(const gpu::GpuProperties& properties);

/// The median of a measurement's samples with the interval that its own stop rule asks for; Spread{} without samples.
Spread time_of(const ir::Measurement& measured);

/// A measurement of the worker's GPU without samples: protocol, GPU, driver, time of day. By activity where the machine
/// has it, unless `timed_by` is given.
ir::Measurement blank_measurement(Worker& worker, ir::CacheState cache, std::optional<ir::TimedBy> timed_by,
                                  ir::LaunchMode launch, std::string_view stop_rule);

/// Samples sequence `number` of the cache under the protocol of `into` until its stop rule is content, or `stop` asked.
/// What went wrong is the outcome; samples taken before stay.
void sample(SequenceCache& sequences, int number, const std::stop_token& stop, ir::Measurement& into);

}  // namespace tailor::profiler
