// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of one thing alone, without a race: samples until a stop rule is content.
#pragma once

#include <optional>
#include <stop_token>
#include <string_view>

#include "ir/measurement.h"
#include "profiler/workbench.h"

namespace tailor::profiler {

/// A measurement of the worker's GPU without samples: protocol, GPU, driver, time of day. By activity where the machine
/// has it, unless `timed_by` is given.
ir::Measurement blank_measurement(Worker& worker, ir::CacheState cache, std::optional<ir::TimedBy> timed_by,
                                  ir::LaunchMode launch, std::string_view stop_rule);

/// Samples sequence `number` of the bench under the protocol of `into` until its stop rule is content, or `stop` asked.
/// What went wrong is the outcome; samples taken before stay.
void sample(Workbench& bench, int number, const std::stop_token& stop, ir::Measurement& into);

}  // namespace tailor::profiler
