// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Metrics that the fake can tell: how their values follow from what the simulator counted, and the two images that
// travel from CUPTI's host functions to its range profiler and back. Used by host_calls.cpp and range.cpp. Both ends
// are the fake's, so the images' layout is too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fake_gpu/config.h"
#include "fake_gpu/timing.h"

namespace tailor::fake {

enum class MetricKind { counter, ratio, throughput };

struct Metric {
  std::string_view base;  ///< "dram__bytes_read"; one that ends with _ stands for all that start so
  std::string_view unit;
  MetricKind kind = MetricKind::counter;
  double (*total)(const Work&, const Chip&);  ///< the sum over all instances, or the ratio itself
};
std::span<const Metric> metric_table();
/// The endings that metrics of a kind have, with the dot in front: ".sum", ".sum.per_second", ...
std::span<const char* const> endings(MetricKind kind);
/// The row of a base name, or of a name with an ending; null: none.
const Metric* find_metric(std::string_view name);
/// Whether a name with an ending can be collected: of the table, or planted by the configuration.
bool is_metric(std::string_view name, const Config& config);
double value_of(std::string_view name, const Work& work, const Config& config);

/// What a configuration image holds: metrics, each in a pass.
struct ConfigImage {
  std::vector<std::string> metrics;
  std::size_t per_pass = 1;
  std::size_t passes() const { return (metrics.size() + per_pass - 1) / per_pass; }
  std::size_t pass_of(std::size_t metric) const { return metric / per_pass; }
};
std::string text_of(const ConfigImage& image);
/// Nothing for bytes that are not such an image.
std::optional<ConfigImage> config_image(const std::uint8_t* bytes, std::size_t size);

/// What a counter data image holds: values of metrics by range.
struct CounterImage {
  std::vector<std::string> metrics;
  std::vector<std::string> ranges;
  std::vector<double> values;  ///< [range][metric]
};
/// Room for so many ranges.
std::size_t image_bytes(const std::vector<std::string>& metrics, std::size_t ranges);
void put(const CounterImage& image, std::uint8_t* bytes, std::size_t size);
std::optional<CounterImage> counter_image(const std::uint8_t* bytes, std::size_t size);

}  // namespace tailor::fake
