// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of the stand-in. Each notes its call in the log, fails when its turn to fail has come, and else checks
// that everything it needs was opened before and that what it ends is open. The state is one global stub, because
// CUPTI's functions take no pointer of the caller's.
#include "profiler/gpu/stub_cupti.h"

#include <algorithm>
#include <string_view>

namespace {

StubCupti* stub = nullptr;

/// Notes a call; what it shall answer.
CUptiResult call(const char* name) {
  stub->log.emplace_back(name);
  const bool fails = static_cast<int>(stub->log.size()) - 1 == stub->fail_at;
  return fails ? stub->failure : CUPTI_SUCCESS;
}

void needs(bool holds, const char* what) {
  if (!holds) stub->wrong.push_back(stub->log.back() + " without " + what);
}

int& opened(const char* what) { return stub->open[what]; }

/// Ends something. A failed end has ended it too.
CUptiResult end(const char* name, const char* what) {
  const CUptiResult result = call(name);
  needs(opened(what) == 1, what);
  --opened(what);
  return result;
}

CUptiResult begin(const char* name, const char* what) {
  const CUptiResult result = call(name);
  needs(opened(what) == 0, "the one before it ended");
  if (result == CUPTI_SUCCESS) ++opened(what);
  return result;
}

template <class Object>
Object* some_object() {
  static int place = 0;
  return reinterpret_cast<Object*>(&place);
}

void fill_host(tailor::gpu::Cupti& api) {
  api.cuptiProfilerHostInitialize = [](CUpti_Profiler_Host_Initialize_Params* params) {
    params->pHostObject = some_object<CUpti_Profiler_Host_Object>();
    const CUptiResult result = begin("ProfilerHostInitialize", "host");
    needs(params->pCounterAvailabilityImage != nullptr, "what the GPU has");
    return result;
  };
  api.cuptiProfilerHostDeinitialize = [](CUpti_Profiler_Host_Deinitialize_Params*) {
    return end("ProfilerHostDeinitialize", "host");
  };
  api.cuptiProfilerHostGetSupportedChips = [](CUpti_Profiler_Host_GetSupportedChips_Params*) {
    return CUPTI_ERROR_UNKNOWN;
  };
  api.cuptiProfilerHostGetBaseMetrics = [](CUpti_Profiler_Host_GetBaseMetrics_Params*) { return CUPTI_ERROR_UNKNOWN; };
  api.cuptiProfilerHostGetSubMetrics = [](CUpti_Profiler_Host_GetSubMetrics_Params*) { return CUPTI_ERROR_UNKNOWN; };
  api.cuptiProfilerHostGetMetricProperties = [](CUpti_Profiler_Host_GetMetricProperties_Params* params) {
    return std::string_view(params->pMetricName).starts_with("stranger") ? CUPTI_ERROR_INVALID_METRIC_NAME
                                                                         : CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostConfigAddMetrics = [](CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
    const CUptiResult result = call("ProfilerHostConfigAddMetrics");
    needs(params->numMetrics > 0, "metrics");
    return result;
  };
  api.cuptiProfilerHostGetConfigImageSize = [](CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
    params->configImageSize = 64;
    return call("ProfilerHostGetConfigImageSize");
  };
  api.cuptiProfilerHostGetConfigImage = [](CUpti_Profiler_Host_GetConfigImage_Params* params) {
    std::fill_n(params->pConfigImage, params->configImageSize, std::uint8_t{7});
    return call("ProfilerHostGetConfigImage");
  };
  api.cuptiProfilerHostGetNumOfPasses = [](CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
    params->numOfPasses = stub->passes;
    return call("ProfilerHostGetNumOfPasses");
  };
  api.cuptiProfilerHostEvaluateToGpuValues = [](CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    const CUptiResult result = call("ProfilerHostEvaluateToGpuValues");
    needs(stub->decoded, "decoded counters");
    for (std::size_t i = 0; i < params->numMetrics; ++i) params->pMetricValues[i] = 100.0 + static_cast<double>(i);
    return result;
  };
}

void fill_device(tailor::gpu::Cupti& api) {
  api.cuptiProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) {
    return begin("ProfilerInitialize", "profiler");
  };
  api.cuptiProfilerDeInitialize = [](CUpti_Profiler_DeInitialize_Params*) {
    return end("ProfilerDeInitialize", "profiler");
  };
  api.cuptiProfilerDeviceSupported = [](CUpti_Profiler_DeviceSupported_Params* params) {
    const CUptiResult result = call("ProfilerDeviceSupported");
    needs(opened("profiler") == 1, "profiler");
    const CUpti_Profiler_DeviceSupported_Params asked = *params;
    *params = stub->support;
    params->structSize = asked.structSize;
    return result;
  };
  api.cuptiDeviceGetChipName = [](CUpti_Device_GetChipName_Params*) { return CUPTI_ERROR_UNKNOWN; };
  api.cuptiProfilerGetCounterAvailability = [](CUpti_Profiler_GetCounterAvailability_Params* params) {
    const CUptiResult result = call("ProfilerGetCounterAvailability");
    needs(opened("range profiler") == 0, "a context that is not profiled");
    params->counterAvailabilityImageSize = 16;
    return result;
  };
}

void fill_ranges(tailor::gpu::Cupti& api) {
  api.cuptiRangeProfilerEnable = [](CUpti_RangeProfiler_Enable_Params* params) {
    params->pRangeProfilerObject = some_object<CUpti_RangeProfiler_Object>();
    return begin("RangeProfilerEnable", "range profiler");
  };
  api.cuptiRangeProfilerDisable = [](CUpti_RangeProfiler_Disable_Params*) {
    return end("RangeProfilerDisable", "range profiler");
  };
  api.cuptiRangeProfilerGetCounterDataSize = [](CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
    const CUptiResult result = call("RangeProfilerGetCounterDataSize");
    needs(params->maxNumRangeTreeNodes >= params->maxNumOfRanges && params->maxNumOfRanges == 1, "room for the range");
    params->counterDataSize = 128;
    return result;
  };
  api.cuptiRangeProfilerCounterDataImageInitialize = [](CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) {
    return call("RangeProfilerCounterDataImageInitialize");
  };
  api.cuptiRangeProfilerSetConfig = [](CUpti_RangeProfiler_SetConfig_Params* params) {
    const CUptiResult result = call("RangeProfilerSetConfig");
    needs(params->range == CUPTI_UserRange && params->replayMode == CUPTI_UserReplay, "our own ranges and replay");
    needs(params->pConfig[0] == 7 && params->counterDataImageSize == 128, "the images made before");
    return result;
  };
  api.cuptiRangeProfilerStart = [](CUpti_RangeProfiler_Start_Params*) {
    const CUptiResult result = begin("RangeProfilerStart", "pass");
    needs(opened("range profiler") == 1, "range profiler");
    return result;
  };
  api.cuptiRangeProfilerStop = [](CUpti_RangeProfiler_Stop_Params* params) {
    params->isAllPassSubmitted = ++stub->submitted >= stub->needed ? 1 : 0;
    const CUptiResult result = end("RangeProfilerStop", "pass");
    needs(opened("range") == 0, "the range ended");
    return result;
  };
  api.cuptiRangeProfilerPushRange = [](CUpti_RangeProfiler_PushRange_Params*) {
    const CUptiResult result = begin("RangeProfilerPushRange", "range");
    needs(opened("pass") == 1, "pass");
    return result;
  };
  api.cuptiRangeProfilerPopRange = [](CUpti_RangeProfiler_PopRange_Params*) {
    return end("RangeProfilerPopRange", "range");
  };
  api.cuptiRangeProfilerDecodeData = [](CUpti_RangeProfiler_DecodeData_Params* params) {
    const CUptiResult result = call("RangeProfilerDecodeData");
    needs(opened("pass") == 0 && stub->submitted >= stub->needed, "all passes");
    params->numOfRangeDropped = stub->dropped;
    stub->decoded = true;
    return result;
  };
  api.cuptiRangeProfilerGetCounterDataInfo = [](CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    params->numTotalRanges = stub->ranges;
    return call("RangeProfilerGetCounterDataInfo");
  };
}

}  // namespace

StubCupti::StubCupti() {
  stub = this;
  support.isSupported = support.architecture = support.sli = support.vGpu = support.confidentialCompute = support.cmp =
      support.wsl = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  api.cuptiGetVersion = [](std::uint32_t* version) {
    *version = 1;
    return CUPTI_SUCCESS;
  };
  api.cuptiGetResultString = [](CUptiResult result, const char** words) {
    *words = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" : "CUPTI_ERROR";
    return CUPTI_SUCCESS;
  };
  fill_host(api);
  fill_device(api);
  fill_ranges(api);
}

StubCupti::~StubCupti() { stub = nullptr; }

bool StubCupti::all_ended() const {
  return std::all_of(open.begin(), open.end(), [](const auto& what) { return what.second == 0; });
}
