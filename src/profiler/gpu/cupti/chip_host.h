// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's host object of one chip: what metrics it has, which passes a set of them needs, and what the counters of a
// run come to. In: a chip's name. Out: answers as values; nothing here throws. Used for planning (metrics.cpp) and for
// counting (count.cpp). Needs neither a GPU nor a driver. Released when it goes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/gpu/cupti/cupti_api.h"

namespace tailor::gpu {

/// What one call to CUPTI came to.
struct [[nodiscard]] CuptiStatus {
  const char* function = "";
  CUptiResult result = CUPTI_SUCCESS;
  bool ok() const { return result == CUPTI_SUCCESS; }
};
/// "cuptiRangeProfilerEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; empty for success.
std::string error_text(const Cupti& api, const CuptiStatus& called);

/// A parameter record of CUPTI's, empty but for its size, by which the library tells what the caller knows.
template <class Params>
Params sized(std::size_t size) {
  Params params = {};
  params.structSize = size;
  return params;
}

/// Loads what the host part needs from beside the library. CUPTI asks the loader for libnvperf_host by its name when it
/// first plans or evaluates a metric, and a wheel's folder is not where the loader looks: loaded here by its full path,
/// it is found. Does nothing for functions that came from no file.
void load_metric_library(const Cupti& api);

class ChipHost {
 public:
  /// `availability`: what the GPU at hand has of the chip's counters (cuptiProfilerGetCounterAvailability); empty: all.
  /// `api` must have its host part and outlive this.
  ChipHost(const Cupti& api, const std::string& chip, std::span<const std::uint8_t> availability = {});
  ~ChipHost();
  ChipHost(const ChipHost&) = delete;
  ChipHost& operator=(const ChipHost&) = delete;

  /// Whether there is an object at all; when not, nothing else may be called.
  const CuptiStatus& status() const { return status_; }

  /// Whether the chip has this metric, roll-up included; fills its unit as CUPTI calls it ("byte", "percent").
  bool has(const std::string& metric, std::string* unit = nullptr) const;
  /// Names without roll-up, of all kinds.
  std::vector<std::string> base_metrics() const;
  /// ".sum", ".avg.per_second", ... of a base metric; none for a stranger.
  std::vector<std::string> roll_ups(const std::string& base) const;

  /// The schedule of passes that collects these metrics. Once per object: CUPTI adds to what was asked before.
  CuptiStatus configuration(std::span<const char* const> metrics, std::vector<std::uint8_t>& image) const;
  CuptiStatus passes(std::span<std::uint8_t> image, int& passes) const;
  /// Values of the metrics in the first range of a decoded counter image.
  CuptiStatus values(std::span<const char* const> metrics, std::span<const std::uint8_t> counters,
                     std::span<double> values) const;

 private:
  const Cupti& api_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
  CuptiStatus status_;
};

}  // namespace tailor::gpu
