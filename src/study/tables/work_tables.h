// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What one kernel has to do, as tables: how long each part of the machine would take alone, and what each buffer asks
// of memory. In: an estimate, or a candidate whose work is counted. Out: tables of report/table.h, sectors of 32 bytes.
// Called by `tailor explain`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "costmodel/occupancy.h"
#include "ir/estimate.h"
#include "report/table.h"
#include "study/pipeline/candidate.h"

namespace tailor::study {

/// One row: what a model says of a plan, what limits it, and the plan and its program as texts. `bound` is what the
/// group takes at least, `state` what is known of its results.
report::Table estimate_table(const Candidate& one, const ir::Estimate& estimate,
                             const std::optional<ir::Estimate>& compiled, const costmodel::Occupancy& occupancy,
                             Seconds bound, std::span<const std::string> advice, const std::string& state);

/// One row per part: its seconds, and its share of the total. Parts overlap, so shares do not add up to one.
report::Table part_table(const ir::Estimate& estimate);

/// One row per buffer and direction that is asked at all: requests, sectors, bytes asked for and bytes moved once.
report::Table buffer_table(const Candidate& planned);

}  // namespace tailor::study
