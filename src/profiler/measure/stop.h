// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// When to stop taking times of one thing: a table of rules and one question asked after every batch. In: the samples so
// far and the time spent. Out: whether to go on. A rule wants the median known to a fraction of itself, between a
// smallest and a largest number of samples, within a time. The name of the rule is part of a measurement's protocol
// (ir/measurement.h), so a row once published is not changed; a new rule gets a new row.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/statistics.h"
#include "base/units.h"
#include "ir/measurement.h"

namespace tailor::profiler {

struct StopRule {
  std::string_view name;
  double half_width = 0;     ///< wanted: half of the median's interval, as a fraction of the median
  double confidence = 0.95;  ///< of that interval
  int min_samples = 0, max_samples = 0;
  Seconds max_time;  ///< wall time for one thing, with all that surrounds the samples
  int warmup = 0;    ///< untimed runs before the first sample
  std::string_view meaning;
};

std::span<const StopRule> stop_rules();
/// Throws Error(usage) for a name the table lacks, with the nearest.
const StopRule& stop_rule(std::string_view name);

enum class Stop { go_on, precise, out_of_samples, out_of_time };
/// "go on", "precise enough", "out of samples", "out of time".
std::string_view name(Stop stop);

/// After a batch: all samples so far, in the order taken, and the wall time they took. Time is looked at even before
/// min_samples.
Stop stop_after(const StopRule& rule, std::span<const double> seconds, Seconds elapsed);
/// How many samples to take next, after `taken`: min_samples at first, then half as many again as there are, so the
/// question is asked seldom enough not to wear the confidence off. 0: no more may be taken.
int next_batch(const StopRule& rule, int taken);

/// Durations alone, in seconds.
std::vector<double> durations(std::span<const ir::Sample> samples);

}  // namespace tailor::profiler
