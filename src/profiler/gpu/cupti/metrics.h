// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which of CUPTI's metrics tell a logical counter on a chip, in how many passes. In: a chip and a tier, or names of
// counters. Out: a CountPlan. Called by whoever measures with counters and by `tailor counters`. CUPTI's host library
// answers without a GPU or driver, so a set of counters is planned, and its cost known, before anything runs. Logical
// counters are the rows of ir/counters.def that have a metric.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/measurement.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// One logical counter. `metric` is the name on most chips; other chips are rows of the same table.
struct CounterRow {
  std::string_view name;     ///< "dram_read_bytes"
  int tier = 0;              ///< 0 (one pass on most chips) to 3
  std::string_view unit;     ///< "bytes"
  std::string_view metric;   ///< "dram__bytes_read.sum"
  double scale = 1;          ///< logical value = metric * scale (sectors of 32 bytes, percent to fraction)
  std::string_view meaning;  ///< one line
};
std::span<const CounterRow> counter_table();

/// A counter whose metric has another name on this chip.
struct ChipRow {
  std::string_view counter, chip, metric;
};
std::span<const ChipRow> chip_table();
/// The metric of a counter on a chip (rows that name the chip speak first).
std::string_view metric_on(const CounterRow& row, std::string_view chip);

/// One counter as it will be collected: a row of the table, or a metric of CUPTI's under its own name.
struct PlannedCounter {
  std::string name, metric, unit;
  double scale = 1;  ///< value = metric * scale
};

/// What will be collected on a chip.
struct CountPlan {
  std::string chip;
  std::vector<PlannedCounter> counters;  ///< in order of the table, or as they were named
  int passes = 0;
  std::vector<std::string> left_out;  ///< counters of the table that this chip has no metric for
};

/// Values of a plan's metrics, in the plan's order, as logical counters in their units. What is not finite (a ratio of
/// nothing) is dropped.
std::vector<ir::CounterValue> counter_values(const CountPlan& plan, std::span<const double> values);

/// CUPTI's host library, opened once.
class MetricHost {
 public:
  /// Or, in words, why it cannot be had (with what to do).
  static std::variant<MetricHost, Capability> open(const LibraryPaths& paths);
  MetricHost(MetricHost&&) noexcept;
  MetricHost& operator=(MetricHost&&) noexcept;
  ~MetricHost();

  int api_version() const;                 ///< CUPTI_API_VERSION of the library
  std::string name() const;                ///< "CUPTI 13.0.1"
  std::vector<std::string> chips() const;  ///< those it has metrics of
  /// Every counter up to `tier`. Throws Error(usage) for a chip this library does not know (near names).
  CountPlan plan(std::string_view chip, int tier) const;
  /// Named counters, logical or CUPTI's own. Throws Error(usage) for an unknown chip, or a counter that is neither a
  /// row of the table nor a metric of the chip (near names).
  CountPlan plan(std::string_view chip, std::span<const std::string> names) const;

  struct Body;

 private:
  explicit MetricHost(std::unique_ptr<Body> body);
  std::unique_ptr<Body> body_;
};

}  // namespace tailor::gpu
