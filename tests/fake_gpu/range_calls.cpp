// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's calls on the device's side of counting, as exported functions. In: structures as the header has
// them. Out: what range.h answers. The size that a caller writes into a structure must be that of the header,
// or more.
#include <cupti_target.h>

#include <cstring>

#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

bool initialised = false;

/// A call of the range profiler: its structure checked, the interface begun, a context there.
template <class Params, class Body>
CUptiResult profiler_call(std::string_view name, Params* params, std::size_t size, Body&& body) {
  return cupti_call(name, [&](State& gpu) {
    if (params == nullptr || params->structSize < size) return CUPTI_ERROR_INVALID_PARAMETER;
    if (!initialised) return CUPTI_ERROR_NOT_INITIALIZED;
    return body(gpu);
  });
}

constexpr std::string_view availability = "fake availability";

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  return cupti_call("cuptiProfilerInitialize", [&](State& gpu) {
    if (params == nullptr || params->structSize < CUpti_Profiler_Initialize_Params_STRUCT_SIZE)
      return CUPTI_ERROR_INVALID_PARAMETER;
    if (gpu.contexts.empty()) return CUPTI_ERROR_UNKNOWN;
    initialised = true;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  return profiler_call("cuptiProfilerDeInitialize", params, CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE,
                       [&](State&) {
                         initialised = false;
                         return CUPTI_SUCCESS;
                       });
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  return profiler_call(
      "cuptiProfilerDeviceSupported", params, CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE, [&](State& gpu) {
        if (params->cuDevice < 0 || params->cuDevice >= static_cast<int>(gpu.contexts.size()))
          return CUPTI_ERROR_INVALID_DEVICE;
        constexpr auto yes = CUPTI_PROFILER_CONFIGURATION_SUPPORTED, no = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
        params->architecture = gpu.config.chip.compute_capability >= 70 ? yes : no;
        params->sli = params->vGpu = params->confidentialCompute = params->cmp = params->wsl = yes;
        params->isSupported = gpu.config.mig ? no : params->architecture;
        return CUPTI_SUCCESS;
      });
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  return cupti_call("cuptiDeviceGetChipName", [&](State& gpu) {
    if (params == nullptr || params->structSize < CUpti_Device_GetChipName_Params_STRUCT_SIZE)
      return CUPTI_ERROR_INVALID_PARAMETER;
    if (!gpu.initialised) return CUPTI_ERROR_NOT_INITIALIZED;
    if (params->deviceIndex >= gpu.contexts.size()) return CUPTI_ERROR_INVALID_DEVICE;
    params->pChipName = gpu.config.chip.chip.c_str();
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  return profiler_call("cuptiProfilerGetCounterAvailability", params,
                       CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE, [&](State& gpu) {
                         if (params->ctx == nullptr && current() == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
                         if (!gpu.config.counters_permitted) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
                         if (gpu.config.mig) return CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED;
                         if (gpu.range.enabled()) return CUPTI_ERROR_HARDWARE_BUSY;
                         if (params->pCounterAvailabilityImage != nullptr) {
                           if (params->counterAvailabilityImageSize < availability.size())
                             return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
                           std::memcpy(params->pCounterAvailabilityImage, availability.data(), availability.size());
                         }
                         params->counterAvailabilityImageSize = availability.size();
                         return CUPTI_SUCCESS;
                       });
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  return profiler_call("cuptiRangeProfilerEnable", params, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE,
                       [&](State& gpu) {
                         if (params->ctx == nullptr && current() == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
                         return gpu.range.enable(*params, gpu.activity.records_kernels());
                       });
}

CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  return profiler_call("cuptiRangeProfilerDisable", params, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.disable(params->pRangeProfilerObject); });
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  return profiler_call("cuptiRangeProfilerGetCounterDataSize", params,
                       CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.size(*params); });
}

CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  return profiler_call("cuptiRangeProfilerCounterDataImageInitialize", params,
                       CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.prepare(*params); });
}

CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  return profiler_call("cuptiRangeProfilerSetConfig", params, CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.configure(*params); });
}

CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  return profiler_call("cuptiRangeProfilerStart", params, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.start(params->pRangeProfilerObject); });
}

CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  return profiler_call("cuptiRangeProfilerStop", params, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.stop(*params); });
}

CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  return profiler_call(
      "cuptiRangeProfilerPushRange", params, CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE,
      [&](State& gpu) { return gpu.range.push(params->pRangeProfilerObject, params->pRangeName, gpu.now); });
}

CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  return profiler_call("cuptiRangeProfilerPopRange", params, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.pop(params->pRangeProfilerObject, gpu.now); });
}

CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  return profiler_call("cuptiRangeProfilerDecodeData", params, CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE,
                       [&](State& gpu) { return gpu.range.decode(*params); });
}

CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  return profiler_call("cuptiRangeProfilerGetCounterDataInfo", params,
                       CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE, [&](State&) {
                         const auto image = counter_image(params->pCounterDataImage, params->counterDataImageSize);
                         if (!image) return CUPTI_ERROR_INVALID_PARAMETER;
                         params->numTotalRanges = image->ranges.size();
                         return CUPTI_SUCCESS;
                       });
}

}  // extern "C"
