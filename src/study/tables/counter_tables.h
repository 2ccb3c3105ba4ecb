// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What can be counted on a GPU, as tables. In: the table of counters, CUPTI's host library and what it plans for a
// chip. Out: tables; which counters are asked about is the caller's to decide. What the table of counters says stands
// in profiler/gpu. Called by tailor counters.
#pragma once

#include <filesystem>
#include <string>

#include "profiler/gpu/cupti/metrics.h"
#include "report/table.h"

namespace tailor::study {

/// The highest tier of any counter.
int last_counter_tier();
/// Every counter up to `tier`, with the metric that it has on most chips.
report::Table known_counter_table(int tier);
/// Planned counters, then those the chip has no metric for. `library` is CUPTI's, for the title.
report::Table planned_counter_table(const gpu::CountPlan& plan, const std::string& library);
/// How many times a kernel must run for a set of counters: the columns, then a row for each set.
report::Table counter_pass_table();
void add_counter_passes(report::Table& table, std::string set, const gpu::CountPlan& plan);
/// The chips that the library has metrics of, and the devices with each. Throws Error for a device file that cannot be
/// read.
report::Table chip_table(const gpu::MetricHost& host, const std::filesystem::path& data);

}  // namespace tailor::study
