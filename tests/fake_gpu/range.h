// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's range profiler. In: a configuration, passes, launches. Out: an image of counters. Between push and pop the
// work of launches adds up, and in each pass only the metrics that the configuration puts into that pass are kept. The
// time of a range that the caller names is the host's between the two calls, launch and waiting included. So
// whoever runs too few passes has no value for some metrics, and whoever runs different launches in each pass gets
// metrics that do not fit together, as on hardware.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fake_gpu/metrics.h"

namespace tailor::fake {

class RangeProfiler {
 public:
  explicit RangeProfiler(const Config& config) : config_(config) {}

  /// A kernel ran.
  void count(const Work& work);

  /// `recording`: kernels are being recorded in this process, beside which CUPTI does not count.
  CUptiResult enable(CUpti_RangeProfiler_Enable_Params& params, bool recording);
  CUptiResult disable(const void* object);
  CUptiResult size(CUpti_RangeProfiler_GetCounterDataSize_Params& params);
  CUptiResult prepare(const CUpti_RangeProfiler_CounterDataImage_Initialize_Params& params);
  CUptiResult configure(const CUpti_RangeProfiler_SetConfig_Params& params);
  CUptiResult start(const void* object);
  CUptiResult stop(CUpti_RangeProfiler_Stop_Params& params);
  CUptiResult push(const void* object, const char* name, std::int64_t now);  ///< ns of the host
  CUptiResult pop(const void* object, std::int64_t now);
  CUptiResult decode(CUpti_RangeProfiler_DecodeData_Params& params);

  bool enabled() const { return enabled_; }
  bool started() const { return started_; }

 private:
  struct Range {
    std::string name;
    Work work;
    std::vector<double> values;  ///< by metric; not a number: not counted
  };
  Range* open_range();
  void keep(Range& range) const;

  const Config& config_;
  bool enabled_ = false, configured_ = false, started_ = false, open_ = false;
  CUpti_ProfilerRange mode_ = CUPTI_UserRange;
  CUpti_ProfilerReplayMode replay_ = CUPTI_UserReplay;
  ConfigImage image_;
  std::uint8_t* data_ = nullptr;
  CounterImage sized_;  ///< as the last question for a size named the metrics
  std::size_t sized_ranges_ = 0, data_bytes_ = 0;
  std::int64_t pushed_at_ = 0;  ///< ns of the host
  std::size_t pass_ = 0, next_range_ = 0, used_ = 0, dropped_ = 0;
  std::vector<Range> ranges_;
};

}  // namespace tailor::fake
