// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The calls behind ChipHost, one function each. In: names of metrics. Out: CUPTI's answers, each
// with the status of the call. CUPTI takes lists of names as arrays of pointers that it does not
// keep.
#include "profiler/gpu/cupti/chip_host.h"

#include <dlfcn.h>

#include <array>

namespace tailor::gpu {

namespace {

constexpr std::array metric_types = {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT};

/// CUPTI's declarations lack a const; it does not write to the names.
const char** names_for_cupti(std::span<const char* const> names) { return const_cast<const char**>(names.data()); }

}  // namespace

std::string error_text(const Cupti& api, const CuptiStatus& called) {
  return error_text(api, called.result, called.function);
}

void load_metric_library(const Cupti& api) {
  if (api.file.empty()) return;
  static_cast<void>(dlopen((api.file.parent_path() / "libnvperf_host.so").c_str(), RTLD_NOW | RTLD_LOCAL));
}

ChipHost::ChipHost(const Cupti& api, const std::string& chip, std::span<const std::uint8_t> availability) : api_(api) {
  auto params = sized<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  status_ = {"cuptiProfilerHostInitialize", api_.cuptiProfilerHostInitialize(&params)};
  if (status_.ok()) object_ = params.pHostObject;
}

ChipHost::~ChipHost() {
  if (object_ == nullptr) return;
  auto params = sized<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  params.pHostObject = object_;
  api_.cuptiProfilerHostDeinitialize(&params);
}

bool ChipHost::has(const std::string& metric, std::string* unit) const {
  // A base name alone is known to CUPTI too, but cannot be collected.
  if (metric.find('.') == metric.npos) return false;
  auto params =
      sized<CUpti_Profiler_Host_GetMetricProperties_Params>(CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  params.pHostObject = object_;
  params.pMetricName = metric.c_str();
  if (api_.cuptiProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) return false;
  if (unit != nullptr) *unit = params.pDimUnit != nullptr && *params.pDimUnit != '\0' ? params.pDimUnit : "1";
  return true;
}

std::vector<std::string> ChipHost::base_metrics() const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type : metric_types) {
    auto params =
        sized<CUpti_Profiler_Host_GetBaseMetrics_Params>(CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE);
    params.pHostObject = object_;
    params.metricType = type;
    if (api_.cuptiProfilerHostGetBaseMetrics(&params) != CUPTI_SUCCESS) continue;
    names.insert(names.end(), params.ppMetricNames, params.ppMetricNames + params.numMetrics);
  }
  return names;
}

std::vector<std::string> ChipHost::roll_ups(const std::string& base) const {
  for (const CUpti_MetricType type : metric_types) {
    auto params = sized<CUpti_Profiler_Host_GetSubMetrics_Params>(CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE);
    params.pHostObject = object_;
    params.metricType = type;
    params.pMetricName = base.c_str();
    if (api_.cuptiProfilerHostGetSubMetrics(&params) != CUPTI_SUCCESS) continue;
    return {params.ppSubMetrics, params.ppSubMetrics + params.numOfSubmetrics};
  }
  return {};
}

CuptiStatus ChipHost::configuration(std::span<const char* const> metrics, std::vector<std::uint8_t>& image) const {
  auto add =
      sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = object_;
  add.ppMetricNames = names_for_cupti(metrics);
  add.numMetrics = metrics.size();
  if (const CuptiStatus called{"cuptiProfilerHostConfigAddMetrics", api_.cuptiProfilerHostConfigAddMetrics(&add)};
      !called.ok())
    return called;
  auto size =
      sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = object_;
  if (const CuptiStatus called{"cuptiProfilerHostGetConfigImageSize", api_.cuptiProfilerHostGetConfigImageSize(&size)};
      !called.ok())
    return called;
  image.resize(size.configImageSize);
  auto get = sized<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  get.pHostObject = object_;
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  return {"cuptiProfilerHostGetConfigImage", api_.cuptiProfilerHostGetConfigImage(&get)};
}

CuptiStatus ChipHost::passes(std::span<std::uint8_t> image, int& passes) const {
  auto params = sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  const CuptiStatus called{"cuptiProfilerHostGetNumOfPasses", api_.cuptiProfilerHostGetNumOfPasses(&params)};
  passes = called.ok() ? static_cast<int>(params.numOfPasses) : 0;
  return called;
}

CuptiStatus ChipHost::values(std::span<const char* const> metrics, std::span<const std::uint8_t> counters,
                             std::span<double> values) const {
  auto params =
      sized<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  params.pHostObject = object_;
  params.pCounterDataImage = counters.data();
  params.counterDataImageSize = counters.size();
  params.rangeIndex = 0;
  params.ppMetricNames = names_for_cupti(metrics);
  params.numMetrics = metrics.size();
  params.pMetricValues = values.data();
  return {"cuptiProfilerHostEvaluateToGpuValues", api_.cuptiProfilerHostEvaluateToGpuValues(&params)};
}

}  // namespace tailor::gpu
