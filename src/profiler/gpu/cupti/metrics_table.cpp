// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a GPU counts: takes the rows of the vocabulary (ir/counters.def) that have a metric of CUPTI's and gives them in
// the order of their tiers, with the names that metrics have on some chips. They are there whatever the program was
// built with: reports name and explain counters that another machine collected.
#include <algorithm>
#include <array>
#include <cmath>

#include "profiler/gpu/cupti/metrics.h"

namespace tailor::gpu {

namespace {

/// How a GPU counts a row of the vocabulary; no metric: it does not.
struct Metric {
  int tier = 0;
  std::string_view name;
  double scale = 1;
  std::string_view note;
};

constexpr CounterRow row(std::string_view name, std::string_view unit, std::string_view meaning, const Metric& metric) {
  return {name, metric.tier, unit, metric.name, metric.scale, metric.note.empty() ? meaning : metric.note};
}

#define METRIC(tier, metric, scale, note) \
  Metric { tier, metric, scale, note }
#define NONE \
  Metric {}
constexpr auto vocabulary = std::to_array<CounterRow>({
#define LAUNCH_COUNTER(name, unit, model, gpu, meaning) row(#name, unit, meaning, gpu),
#define BUFFER_COUNTER(name, unit, direction, part, gpu, meaning) row(#name, unit, meaning, gpu),
#define GPU_COUNTER(name, unit, gpu, meaning) row(#name, unit, meaning, gpu),
#include "ir/counters.def"
});
#undef METRIC
#undef NONE

constexpr auto chip_rows = std::to_array<ChipRow>({
#define CHIP(counter, chip, metric) {#counter, #chip, metric},
#include "profiler/gpu/cupti/chips.def"
#undef CHIP
});

}  // namespace

std::span<const CounterRow> counter_table() {
  static const std::vector<CounterRow> counted = [] {
    std::vector<CounterRow> rows;
    for (const CounterRow& row : vocabulary)
      if (!row.metric.empty()) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CounterRow& a, const CounterRow& b) { return a.tier < b.tier; });
    return rows;
  }();
  return counted;
}
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
