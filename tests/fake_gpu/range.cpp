// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The range profiler's states: enabled, configured, started, a range open. In: calls in any order. Out: counters, or an
// invalid operation for a call out of order. Kernel replay makes all passes of a kernel by itself, user replay one pass
// between start and stop.
#include "fake_gpu/range.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tailor::fake {
namespace {

constexpr double not_counted = std::numeric_limits<double>::quiet_NaN();

/// The one range profiler there is.
CUpti_RangeProfiler_Object* handle() {
  static char object = 0;
  return reinterpret_cast<CUpti_RangeProfiler_Object*>(&object);
}

void add(Work& to, const Work& more) {
  for (const simulator::CounterRow& row : simulator::counter_table())
    to.counters.*row.value += more.counters.*row.value;
  to.dram_read += more.dram_read;
  to.dram_write += more.dram_write;
  to.blocks += more.blocks;
  to.threads_per_block = std::max(to.threads_per_block, more.threads_per_block);
  to.seconds += more.seconds;
  to.elapsed += more.elapsed;
}

}  // namespace

RangeProfiler::Range* RangeProfiler::open_range() {
  if (!started_ || (mode_ == CUPTI_UserRange && !open_)) return nullptr;
  return next_range_ < ranges_.size() ? &ranges_[next_range_] : nullptr;
}

/// Keeps the values of this pass's metrics; of all of them where the profiler replays kernels itself.
void RangeProfiler::keep(Range& range) const {
  for (std::size_t m = 0; m < image_.metrics.size(); ++m)
    if (replay_ == CUPTI_KernelReplay || image_.pass_of(m) == pass_)
      range.values[m] = value_of(image_.metrics[m], range.work, config_);
}

void RangeProfiler::count(const Work& work) {
  if (!started_ || (mode_ == CUPTI_UserRange && !open_)) return;
  Range* range = open_range();
  if (range == nullptr) {
    if (mode_ == CUPTI_AutoRange) ++dropped_;
    return;
  }
  add(range->work, work);
  if (mode_ != CUPTI_AutoRange) return;
  range->name = std::to_string(next_range_);
  keep(*range);
  ++next_range_;
}

CUptiResult RangeProfiler::enable(CUpti_RangeProfiler_Enable_Params& params, bool recording) {
  if (recording) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (!config_.counters_permitted) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (config_.mig) return CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED;
  if (enabled_) return CUPTI_ERROR_INVALID_OPERATION;
  enabled_ = true;
  configured_ = started_ = open_ = false;
  params.pRangeProfilerObject = handle();
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::disable(const void* object) {
  if (object != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!enabled_) return CUPTI_ERROR_INVALID_OPERATION;
  enabled_ = configured_ = started_ = open_ = false;
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::size(CUpti_RangeProfiler_GetCounterDataSize_Params& params) {
  if (params.pRangeProfilerObject != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!enabled_) return CUPTI_ERROR_INVALID_OPERATION;
  if (params.pMetricNames == nullptr || params.numMetrics == 0 || params.maxNumOfRanges == 0 ||
      params.maxNumRangeTreeNodes < params.maxNumOfRanges)
    return CUPTI_ERROR_INVALID_PARAMETER;
  sized_ = {};
  for (std::size_t m = 0; m < params.numMetrics; ++m) {
    if (!is_metric(params.pMetricNames[m], config_)) return CUPTI_ERROR_INVALID_METRIC_NAME;
    sized_.metrics.emplace_back(params.pMetricNames[m]);
  }
  sized_ranges_ = params.maxNumOfRanges;
  params.counterDataSize = image_bytes(sized_.metrics, sized_ranges_);
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::prepare(const CUpti_RangeProfiler_CounterDataImage_Initialize_Params& params) {
  if (params.pRangeProfilerObject != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!enabled_) return CUPTI_ERROR_INVALID_OPERATION;
  const std::size_t needed = image_bytes(sized_.metrics, sized_ranges_);
  if (sized_.metrics.empty() || params.pCounterData == nullptr || params.counterDataSize < needed)
    return CUPTI_ERROR_INVALID_PARAMETER;
  put(sized_, params.pCounterData, params.counterDataSize);
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::configure(const CUpti_RangeProfiler_SetConfig_Params& params) {
  if (params.pRangeProfilerObject != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!enabled_ || started_) return CUPTI_ERROR_INVALID_OPERATION;
  if (config_.other_profiler) return CUPTI_ERROR_HARDWARE_BUSY;
  const auto image = config_image(params.pConfig, params.configSize);
  const auto counters = counter_image(params.pCounterDataImage, params.counterDataImageSize);
  const bool levels = params.numNestingLevels >= 1 && params.minNestingLevel >= 1;
  const bool modes = params.range < CUPTI_Range_COUNT && params.replayMode < CUPTI_Replay_COUNT &&
                     !(params.range == CUPTI_UserRange && params.replayMode == CUPTI_KernelReplay);
  if (!image || !counters || !levels || !modes || params.maxRangesPerPass == 0 || params.passIndex >= image->passes())
    return CUPTI_ERROR_INVALID_PARAMETER;
  image_ = *image;
  mode_ = params.range;
  replay_ = params.replayMode;
  data_ = params.pCounterDataImage;
  data_bytes_ = params.counterDataImageSize;
  pass_ = params.passIndex;
  ranges_.assign(std::min(params.maxRangesPerPass, sized_ranges_),
                 Range{{}, {}, std::vector<double>(image_.metrics.size(), not_counted)});
  used_ = dropped_ = 0;
  configured_ = true;
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::start(const void* object) {
  if (object != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!configured_ || started_ || pass_ >= image_.passes()) return CUPTI_ERROR_INVALID_OPERATION;
  started_ = true;
  next_range_ = 0;
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::stop(CUpti_RangeProfiler_Stop_Params& params) {
  if (params.pRangeProfilerObject != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!started_ || open_) return CUPTI_ERROR_INVALID_OPERATION;
  started_ = false;
  used_ = std::max(used_, std::min(next_range_, ranges_.size()));
  pass_ = replay_ == CUPTI_KernelReplay ? image_.passes() : pass_ + 1;
  params.passIndex = pass_;
  params.targetNestingLevel = 1;
  params.isAllPassSubmitted = pass_ >= image_.passes() ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::push(const void* object, const char* name, std::int64_t now) {
  if (object != handle() || name == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!started_ || open_ || mode_ != CUPTI_UserRange) return CUPTI_ERROR_INVALID_OPERATION;
  open_ = true;
  pushed_at_ = now;
  if (Range* range = open_range()) {
    range->name = name;
    range->work = {};
  } else {
    ++dropped_;
  }
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::pop(const void* object, std::int64_t now) {
  if (object != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!open_) return CUPTI_ERROR_INVALID_OPERATION;
  if (Range* range = open_range()) {
    range->work.elapsed = static_cast<double>(now - pushed_at_) * 1e-9;
    keep(*range);
  }
  open_ = false;
  ++next_range_;
  return CUPTI_SUCCESS;
}

CUptiResult RangeProfiler::decode(CUpti_RangeProfiler_DecodeData_Params& params) {
  if (params.pRangeProfilerObject != handle()) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!configured_ || started_) return CUPTI_ERROR_INVALID_OPERATION;
  CounterImage image;
  image.metrics = image_.metrics;
  for (std::size_t r = 0; r < used_; ++r) {
    image.ranges.push_back(ranges_[r].name);
    image.values.insert(image.values.end(), ranges_[r].values.begin(), ranges_[r].values.end());
  }
  if (image_bytes(image.metrics, used_) > data_bytes_) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  put(image, data_, data_bytes_);
  params.numOfRangeDropped = dropped_;
  return CUPTI_SUCCESS;
}

}  // namespace tailor::fake
