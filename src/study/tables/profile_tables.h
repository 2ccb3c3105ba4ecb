// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What measuring candidates found, as tables: times, races and counters. In: candidates that passed the measure stage,
// with the races of their groups. Out: one row each, in their order. Called by tailor profile and tailor explain,
// which show them as they are.
#pragma once

#include <span>

#include "report/table.h"
#include "study/pipeline/stages.h"

namespace tailor::study {

/// MHz of the SMs while it was measured: the clock in the middle of its samples', else what the driver told before
/// them; nothing without both.
report::Cell clock_of(const ir::Measurement& measurement);

/// What the compiler made of each plan: registers, spills, or why there is nothing.
report::Table compiled_table(std::span<const Candidate> items);
/// One row per plan and cache state. What was predicted is for a time taken as the row's was (predicted_for).
report::Table time_table(std::span<const Candidate> items, std::span<const RacedGroup> groups);
/// One row per group and cache state: who won, by how much, and how far off the model's first choice was.
report::Table race_table(std::span<const Candidate> items, std::span<const RacedGroup> groups);
/// One row per counter of each plan that was counted.
report::Table counter_table(std::span<const Candidate> items);
/// The measurements of one plan: outcome, median, interval, protocol, GPU, driver; and what was predicted for that.
/// Precondition: it was measured.
report::Table measured_plan_table(const Candidate& one);

}  // namespace tailor::study
