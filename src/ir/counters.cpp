// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of counts as a table, and the counts of an execution by their names. Takes LaunchCounts, gives named
// values; called where executions are stored and where counts are shown. Counts of a buffer are named by the counter
// and the buffer.
#include "ir/counters.h"

#include <fmt/format.h>

namespace tailor::ir {

namespace {

struct GpuSum {
  std::string_view name, first, second;
};
constexpr auto gpu_sums = std::to_array<GpuSum>({
#define GPU_SUM(name, first, second) {#name, #first, #second},
#include "ir/counters.def"
});

/// `counted`: whether a GPU has a counter of the same name.
constexpr std::array<std::string_view, 2> on_gpu(std::string_view name, bool counted) {
  for (const GpuSum& sum : gpu_sums)
    if (sum.name == name) return {sum.first, sum.second};
  return {counted ? name : std::string_view(), std::string_view()};
}

#define METRIC(tier, metric, scale, note) true
#define NONE false
constexpr auto counter_rows = std::to_array<CounterRow>({
#define LAUNCH_COUNTER(name, unit, model, gpu, meaning) \
  {#name, unit, meaning, &LaunchCounts::name, nullptr, nullptr, on_gpu(#name, gpu)},
#define BUFFER_COUNTER(name, unit, direction, part, gpu, meaning) \
  {#name, unit, meaning, nullptr, &BufferCounts::direction, &AccessCounts::part, on_gpu(#name, gpu)},
#define GPU_COUNTER(name, unit, gpu, meaning) {#name, unit, meaning, nullptr, nullptr, nullptr, on_gpu(#name, gpu)},
#include "ir/counters.def"
});
#undef METRIC
#undef NONE

}  // namespace

std::span<const CounterRow> counter_table() { return counter_rows; }

double value_of(const CounterRow& row, const LaunchCounts& counts) {
  if (row.launch != nullptr) return counts.*row.launch;
  double sum = 0;
  if (row.direction != nullptr)
    for (const BufferCounts& buffer : counts.buffers) sum += buffer.*row.direction.*row.part;
  return sum;
}

std::string buffer_counter(const CounterRow& row, std::string_view buffer) {
  constexpr std::string_view global = "global";
  return fmt::format("{}[{}]{}", global, buffer, row.name.substr(global.size()));
}

std::vector<CounterValue> counter_values(const LaunchCounts& counts, std::span<const std::string> buffers) {
  std::vector<CounterValue> values;
  const auto add = [&](std::string name, double value, std::string_view unit) {
    if (value != 0) values.push_back({std::move(name), value, std::string(unit)});
  };
  for (const CounterRow& row : counter_rows) add(std::string(row.name), value_of(row, counts), row.unit);
  for (std::size_t i = 0; i < counts.buffers.size() && i < buffers.size(); ++i)
    for (const CounterRow& row : counter_rows)
      if (row.direction != nullptr)
        add(buffer_counter(row, buffers[i]), counts.buffers[i].*row.direction.*row.part, row.unit);
  add("standard_error", counts.standard_error, "fraction of the instructions");
  return values;
}

}  // namespace tailor::ir
