// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's calls that are about the library itself, subscription and activity, as exported functions. In: what a
// caller passes. Out: what the documentation says for it, refusals included. The records themselves are in
// activity.h.
#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

struct ResultRow {
  CUptiResult result;
  const char* text;
};
constexpr ResultRow results[] = {
    {CUPTI_SUCCESS, "CUPTI_SUCCESS"},
    {CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
    {CUPTI_ERROR_INVALID_DEVICE, "CUPTI_ERROR_INVALID_DEVICE"},
    {CUPTI_ERROR_INVALID_CONTEXT, "CUPTI_ERROR_INVALID_CONTEXT"},
    {CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
    {CUPTI_ERROR_OUT_OF_MEMORY, "CUPTI_ERROR_OUT_OF_MEMORY"},
    {CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT"},
    {CUPTI_ERROR_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED"},
    {CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
    {CUPTI_ERROR_INVALID_METRIC_NAME, "CUPTI_ERROR_INVALID_METRIC_NAME"},
    {CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
    {CUPTI_ERROR_HARDWARE_BUSY, "CUPTI_ERROR_HARDWARE_BUSY"},
    {CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, "CUPTI_ERROR_INVALID_CHIP_NAME"},
    {CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
};

/// What a subscription points to; one at a time in a process.
char subscriber = 0;
bool subscribed = false;

CUptiResult subscribe(State& gpu, CUpti_SubscriberHandle* handle) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (gpu.config.other_subscriber || subscribed) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscribed = true;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber);
  return CUPTI_SUCCESS;
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  return cupti_call("cuptiGetVersion", [&](State&) {
    if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  return cupti_call("cuptiGetResultString", [&](State&) {
    if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    for (const ResultRow& row : results)
      if (row.result == result) return *text = row.text, CUPTI_SUCCESS;
    return CUPTI_ERROR_INVALID_PARAMETER;
  });
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc, void*) {
  return cupti_call("cuptiSubscribe", [&](State& gpu) { return subscribe(gpu, handle); });
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc, void*,
                              CUpti_SubscriberParams* params) {
  return cupti_call("cuptiSubscribe_v2", [&](State& gpu) {
    if (params == nullptr || params->structSize < CUpti_SubscriberParams_STRUCT_SIZE)
      return CUPTI_ERROR_INVALID_PARAMETER;
    const CUptiResult result = subscribe(gpu, handle);
    constexpr std::string_view other = "Nsight Systems";
    if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || params->oldSubscriberName == nullptr) return result;
    const std::size_t room = params->oldSubscriberSize;
    if (room > 0) params->oldSubscriberName[other.copy(params->oldSubscriberName, room - 1)] = '\0';
    return result;
  });
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return cupti_call("cuptiUnsubscribe", [&](State&) {
    if (!subscribed || handle != reinterpret_cast<CUpti_SubscriberHandle>(&subscriber))
      return CUPTI_ERROR_INVALID_PARAMETER;
    subscribed = false;
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  return cupti_call("cuptiActivityRegisterCallbacks",
                    [&](State& gpu) { return gpu.activity.register_callbacks(request, complete); });
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return cupti_call("cuptiActivityEnable", [&](State& gpu) {
    if (gpu.config.other_subscriber) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    if (gpu.range.enabled()) return CUPTI_ERROR_NOT_COMPATIBLE;
    return gpu.activity.enable(kind, true);
  });
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return cupti_call("cuptiActivityDisable", [&](State& gpu) { return gpu.activity.enable(kind, false); });
}

CUptiResult cuptiActivityFlushAll(uint32_t) {
  return cupti_call("cuptiActivityFlushAll", [&](State& gpu) { return gpu.activity.flush(); });
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  return cupti_call("cuptiActivityGetNextRecord", [&](State&) { return Activity::next(buffer, valid, record); });
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  return cupti_call("cuptiActivityGetNumDroppedRecords", [&](State& gpu) {
    if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *dropped = gpu.activity.take_dropped();
    return CUPTI_SUCCESS;
  });
}

}  // extern "C"
