// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The calls behind the owners, one function each. In: images and names. Out: the status of each call. A
// range that is open and a pass that was started are remembered, so that the destructor can end them in
// order.
#include "profiler/gpu/cupti/range_profiler.h"

namespace tailor::gpu {

namespace {

constexpr const char* range_name = "sequence";

}  // namespace

Profiling::Profiling(const Cupti& api) : api_(api) {
  auto params = sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  status_ = {"cuptiProfilerInitialize", api_.cuptiProfilerInitialize(&params)};
}

Profiling::~Profiling() {
  if (!status_.ok()) return;
  auto params = sized<CUpti_Profiler_DeInitialize_Params>(CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE);
  api_.cuptiProfilerDeInitialize(&params);
}

RangeProfiler::RangeProfiler(const Cupti& api, CUcontext context) : api_(api) {
  auto params = sized<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  params.ctx = context;
  status_ = {"cuptiRangeProfilerEnable", api_.cuptiRangeProfilerEnable(&params)};
  object_ = params.pRangeProfilerObject;
}

RangeProfiler::~RangeProfiler() {
  if (!status_.ok()) return;
  if (pushed_) static_cast<void>(pop());
  bool ignored = false;
  if (started_) static_cast<void>(stop(ignored));
  auto params = sized<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  api_.cuptiRangeProfilerDisable(&params);
}

CuptiStatus RangeProfiler::size_counters(std::span<const char*> metrics, std::vector<std::uint8_t>& image) const {
  auto size =
      sized<CUpti_RangeProfiler_GetCounterDataSize_Params>(CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = metrics.data();
  size.numMetrics = metrics.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  if (const CuptiStatus called{"cuptiRangeProfilerGetCounterDataSize",
                               api_.cuptiRangeProfilerGetCounterDataSize(&size)};
      !called.ok())
    return called;
  image.resize(size.counterDataSize);
  auto empty = sized<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  empty.pRangeProfilerObject = object_;
  empty.counterDataSize = image.size();
  empty.pCounterData = image.data();
  return {"cuptiRangeProfilerCounterDataImageInitialize", api_.cuptiRangeProfilerCounterDataImageInitialize(&empty)};
}

CuptiStatus RangeProfiler::configure(std::span<const std::uint8_t> schedule, std::span<std::uint8_t> counters) const {
  auto params = sized<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  params.configSize = schedule.size();
  params.pConfig = schedule.data();
  params.counterDataImageSize = counters.size();
  params.pCounterDataImage = counters.data();
  params.range = CUPTI_UserRange;
  params.replayMode = CUPTI_UserReplay;
  params.maxRangesPerPass = 1;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = 1;
  return {"cuptiRangeProfilerSetConfig", api_.cuptiRangeProfilerSetConfig(&params)};
}

CuptiStatus RangeProfiler::start() {
  auto params = sized<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  const CuptiStatus called{"cuptiRangeProfilerStart", api_.cuptiRangeProfilerStart(&params)};
  started_ = called.ok();
  return called;
}

CuptiStatus RangeProfiler::push() {
  auto params = sized<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  params.pRangeName = range_name;
  const CuptiStatus called{"cuptiRangeProfilerPushRange", api_.cuptiRangeProfilerPushRange(&params)};
  pushed_ = called.ok();
  return called;
}

CuptiStatus RangeProfiler::pop() {
  auto params = sized<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  pushed_ = false;
  return {"cuptiRangeProfilerPopRange", api_.cuptiRangeProfilerPopRange(&params)};
}

CuptiStatus RangeProfiler::stop(bool& all_submitted) {
  auto params = sized<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  started_ = false;
  const CuptiStatus called{"cuptiRangeProfilerStop", api_.cuptiRangeProfilerStop(&params)};
  all_submitted = params.isAllPassSubmitted != 0;
  return called;
}

CuptiStatus RangeProfiler::decode(std::size_t& dropped) const {
  auto params = sized<CUpti_RangeProfiler_DecodeData_Params>(CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  params.pRangeProfilerObject = object_;
  const CuptiStatus called{"cuptiRangeProfilerDecodeData", api_.cuptiRangeProfilerDecodeData(&params)};
  dropped = params.numOfRangeDropped;
  return called;
}

}  // namespace tailor::gpu
