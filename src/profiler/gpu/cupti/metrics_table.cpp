// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of counters.def as data. In: a counter and a chip. Out: the metric's name and how its value is scaled.
// The rows are there whatever the program was built with: reports name and explain counters that another machine
// collected.
#include <array>
#include <cmath>

#include "profiler/gpu/cupti/metrics.h"

namespace tailor::gpu {

namespace {

#define CHIP(counter, chip, metric)
constexpr auto counter_rows = std::to_array<CounterRow>({
#define COUNTER(name, tier, unit, metric, scale, meaning) {#name, tier, unit, metric, scale, meaning},
#include "profiler/gpu/cupti/counters.def"
#undef COUNTER
});
#undef CHIP

#define COUNTER(name, tier, unit, metric, scale, meaning)
constexpr auto chip_rows = std::to_array<ChipRow>({
#define CHIP(counter, chip, metric) {#counter, #chip, metric},
#include "profiler/gpu/cupti/counters.def"
#undef CHIP
});
#undef COUNTER

}  // namespace

std::span<const CounterRow> counter_table() { return counter_rows; }
std::span<const ChipRow> chip_table() { return chip_rows; }

std::string_view metric_on(const CounterRow& row, std::string_view chip) {
  for (const ChipRow& other : chip_rows)
    if (other.counter == row.name && other.chip == chip) return other.metric;
  return row.metric;
}

std::vector<ir::CounterValue> counter_values(const CountPlan& plan, std::span<const double> values) {
  std::vector<ir::CounterValue> counters;
  for (std::size_t i = 0; i < plan.counters.size() && i < values.size(); ++i) {
    const PlannedCounter& counter = plan.counters[i];
    if (std::isfinite(values[i])) counters.push_back({counter.name, values[i] * counter.scale, counter.unit});
  }
  return counters;
}

}  // namespace tailor::gpu
