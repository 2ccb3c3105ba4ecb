// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's host calls: names of metrics, configurations, values. In: names and images. Out: images and values of
// metrics.h. They work without a GPU and before the interface has begun, as the real ones do; results of wrong names
// and sizes are those that the real library was seen to give.
#include <algorithm>
#include <array>
#include <cstring>

#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

struct HostObject {
  std::vector<std::string> metrics;
};

Registry<HostObject>& objects() {
  static Registry<HostObject>& all = *new Registry<HostObject>;
  return all;
}

constexpr std::array chips = {"TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"};

template <class Params, class Body>
CUptiResult host_call(std::string_view name, Params* params, std::size_t size, Body&& body) {
  return cupti_call(name, [&](State& gpu) {
    if (params == nullptr || params->structSize < size) return CUPTI_ERROR_INVALID_PARAMETER;
    return body(gpu);
  });
}

MetricKind kind_of(CUpti_MetricType type) {
  return type == CUPTI_METRIC_TYPE_COUNTER ? MetricKind::counter
         : type == CUPTI_METRIC_TYPE_RATIO ? MetricKind::ratio
                                           : MetricKind::throughput;
}

CUpti_MetricType type_of(MetricKind kind) {
  return kind == MetricKind::counter ? CUPTI_METRIC_TYPE_COUNTER
         : kind == MetricKind::ratio ? CUPTI_METRIC_TYPE_RATIO
                                     : CUPTI_METRIC_TYPE_THROUGHPUT;
}

/// Base names of a kind that stand for one metric.
std::vector<const char*>& bases(MetricKind kind) {
  static std::array<std::vector<const char*>, 3> all;
  std::vector<const char*>& names = all[static_cast<std::size_t>(kind)];
  if (names.empty())
    for (const Metric& row : metric_table())
      if (row.kind == kind && !row.base.ends_with('_')) names.push_back(row.base.data());
  return names;
}

std::string image_text(const HostObject& object, const Config& config) {
  return text_of(ConfigImage{object.metrics, static_cast<std::size_t>(config.metrics_per_pass)});
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  return host_call("cuptiProfilerHostInitialize", params, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE,
                   [&](State& gpu) {
                     if (params->profilerType != CUPTI_PROFILER_TYPE_RANGE_PROFILER || params->pChipName == nullptr)
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     const std::string_view chip = params->pChipName;
                     if (std::find(chips.begin(), chips.end(), chip) == chips.end() && chip != gpu.config.chip.chip)
                       return CUPTI_ERROR_INVALID_CHIP_NAME;
                     auto* made = objects().add(std::make_shared<HostObject>());
                     params->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(made);
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  return host_call(
      "cuptiProfilerHostDeinitialize", params, CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE,
      [&](State&) { return objects().remove(params->pHostObject) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER; });
}

CUptiResult cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  return host_call("cuptiProfilerHostGetSupportedChips", params,
                   CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE, [&](State&) {
                     params->numChips = chips.size();
                     params->ppChipNames = chips.data();
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  return host_call("cuptiProfilerHostGetBaseMetrics", params, CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE,
                   [&](State&) {
                     if (!objects().find(params->pHostObject) || params->metricType >= CUPTI_METRIC_TYPE__COUNT)
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     std::vector<const char*>& names = bases(kind_of(params->metricType));
                     params->ppMetricNames = names.data();
                     params->numMetrics = names.size();
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  return host_call("cuptiProfilerHostGetSubMetrics", params, CUpti_Profiler_Host_GetSubMetrics_Params_STRUCT_SIZE,
                   [&](State&) {
                     if (!objects().find(params->pHostObject) || params->pMetricName == nullptr)
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     const Metric* metric = find_metric(params->pMetricName);
                     if (metric == nullptr || metric->kind != kind_of(params->metricType))
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     const std::span<const char* const> all = endings(metric->kind);
                     params->numOfSubmetrics = all.size();
                     params->ppSubMetrics = const_cast<const char**>(all.data());
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  return host_call("cuptiProfilerHostGetMetricProperties", params,
                   CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE, [&](State& gpu) {
                     if (!objects().find(params->pHostObject) || params->pMetricName == nullptr)
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     const std::string_view name = params->pMetricName;
                     const Metric* metric = find_metric(name);
                     const bool base = metric != nullptr && name.find('.') == name.npos;
                     if (!base && !is_metric(name, gpu.config)) return CUPTI_ERROR_INVALID_METRIC_NAME;
                     params->pDescription = "as the fake GPU counts it";
                     params->pHwUnit = "fake";
                     params->pDimUnit = metric == nullptr ? "" : metric->unit.data();
                     params->metricType = metric == nullptr ? CUPTI_METRIC_TYPE_COUNTER : type_of(metric->kind);
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  return host_call("cuptiProfilerHostConfigAddMetrics", params, CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE,
                   [&](State& gpu) {
                     const auto object = objects().find(params->pHostObject);
                     if (!object || params->ppMetricNames == nullptr || params->numMetrics == 0)
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     for (std::size_t k = 0; k < params->numMetrics; ++k)
                       if (!is_metric(params->ppMetricNames[k], gpu.config)) return CUPTI_ERROR_INVALID_PARAMETER;
                     for (std::size_t k = 0; k < params->numMetrics; ++k)
                       object->metrics.emplace_back(params->ppMetricNames[k]);
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  return host_call("cuptiProfilerHostGetConfigImageSize", params,
                   CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE, [&](State& gpu) {
                     const auto object = objects().find(params->pHostObject);
                     if (!object) return CUPTI_ERROR_INVALID_PARAMETER;
                     params->configImageSize = image_text(*object, gpu.config).size();
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  return host_call("cuptiProfilerHostGetConfigImage", params, CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE,
                   [&](State& gpu) {
                     const auto object = objects().find(params->pHostObject);
                     if (!object || params->pConfigImage == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
                     const std::string text = image_text(*object, gpu.config);
                     if (params->configImageSize < text.size()) return CUPTI_ERROR_INVALID_PARAMETER;
                     std::memcpy(params->pConfigImage, text.data(), text.size());
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  return host_call("cuptiProfilerHostGetNumOfPasses", params, CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE,
                   [&](State&) {
                     const auto image = config_image(params->pConfigImage, params->configImageSize);
                     if (!image) return CUPTI_ERROR_INVALID_PARAMETER;
                     params->numOfPasses = image->passes();
                     return CUPTI_SUCCESS;
                   });
}

CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  return host_call("cuptiProfilerHostEvaluateToGpuValues", params,
                   CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE, [&](State&) {
                     const auto image = counter_image(params->pCounterDataImage, params->counterDataImageSize);
                     if (!objects().find(params->pHostObject) || !image || params->rangeIndex >= image->ranges.size() ||
                         params->ppMetricNames == nullptr || params->pMetricValues == nullptr)
                       return CUPTI_ERROR_INVALID_PARAMETER;
                     for (std::size_t k = 0; k < params->numMetrics; ++k) {
                       const auto at =
                           std::find(image->metrics.begin(), image->metrics.end(), params->ppMetricNames[k]);
                       if (at == image->metrics.end()) return CUPTI_ERROR_INVALID_METRIC_NAME;
                       const auto m = static_cast<std::size_t>(at - image->metrics.begin());
                       params->pMetricValues[k] = image->values[params->rangeIndex * image->metrics.size() + m];
                     }
                     return CUPTI_SUCCESS;
                   });
}

}  // extern "C"
