// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The order of calls is CUPTI's: ask what this GPU has, schedule passes for it, enable profiling on the context, then
// start, push, launch, pop, stop until every pass was submitted; decode once, evaluate. A session keeps all but the
// passes themselves for the next task of the same metrics; a task that fails ends it. Owners undo in reverse order. A
// call that fails becomes a response with CUPTI's words and, where a person can do something about it, a remedy from a
// table.
#include "profiler/gpu/cupti/count.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/indexed.h"
#include "profiler/gpu/cupti/chip_host.h"
#include "profiler/gpu/cupti/range_profiler.h"

namespace tailor::gpu {

namespace {

constexpr const char* capability_name = "counters";

/// What to do about a failure that a person can do something about.
struct RemedyRow {
  CUptiResult result = CUPTI_SUCCESS;
  std::string_view remedy;
};

constexpr std::string_view permission_remedy =
    "run as root, or with CAP_PERFMON (driver 565 and later) or CAP_SYS_ADMIN, given to a container by its host; or "
    "load the driver with NVreg_RestrictProfilingToAdminUsers=0";
constexpr std::string_view other_profiler_remedy =
    "end the other profiler or debugger (Nsight, cuda-gdb, compute-sanitizer, dcgm), which holds the counters";

constexpr auto remedy_table = std::to_array<RemedyRow>({
    {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, permission_remedy},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, "let the hypervisor allow profiling of this virtual GPU"},
    {CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "use a GPU that is not virtual"},
    {CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, other_profiler_remedy},
    {CUPTI_ERROR_HARDWARE_BUSY, other_profiler_remedy},
    {CUPTI_ERROR_DISABLED, other_profiler_remedy},
    {CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "switch confidential computing off, or to its developer mode"},
    {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "use a GPU without MIG, or a GPU instance with one compute instance"},
    {CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "use another GPU: mining processors have no counters for us"},
    {CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "switch SLI off"},
    {CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "allow GPU performance counters in Windows' NVIDIA control panel"},
    {CUPTI_ERROR_INVALID_CHIP_NAME, "install a CUPTI that knows this chip"},
    {CUPTI_ERROR_NOT_INITIALIZED, "the driver is missing or older than this CUPTI: install one of the same release"},
});

std::string remedy_of(CUptiResult result) {
  const auto named = [&](const RemedyRow& row) { return row.result == result; };
  const auto row = std::find_if(remedy_table.begin(), remedy_table.end(), named);
  return row == remedy_table.end() ? "tailor doctor tells what of CUPTI works" : std::string(row->remedy);
}

Response without_counters(std::string reason, std::string remedy) {
  Response response;
  response.outcome = ir::Outcome::unavailable;
  response.reason = reason;
  response.capabilities.push_back({capability_name, "missing", std::move(reason), std::move(remedy)});
  return response;
}

Response without_counters(const Cupti& api, const CuptiStatus& called) {
  return without_counters(error_text(api, called), remedy_of(called.result));
}

/// What this GPU, user and configuration have of the chip's counters.
CuptiStatus availability(const Cupti& api, CUcontext context, std::vector<std::uint8_t>& image) {
  auto params =
      sized<CUpti_Profiler_GetCounterAvailability_Params>(CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  params.ctx = context;
  const CuptiStatus sizing{"cuptiProfilerGetCounterAvailability", api.cuptiProfilerGetCounterAvailability(&params)};
  if (!sizing.ok()) return sizing;
  image.resize(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  const CuptiStatus called{"cuptiProfilerGetCounterAvailability", api.cuptiProfilerGetCounterAvailability(&params)};
  if (called.ok()) image.resize(std::min(image.size(), params.counterAvailabilityImageSize));
  return called;
}

CuptiStatus ranges_in(const Cupti& api, std::span<const std::uint8_t> counters, std::size_t& ranges) {
  auto params =
      sized<CUpti_RangeProfiler_GetCounterDataInfo_Params>(CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  params.pCounterDataImage = counters.data();
  params.counterDataImageSize = counters.size();
  const CuptiStatus called{"cuptiRangeProfilerGetCounterDataInfo", api.cuptiRangeProfilerGetCounterDataInfo(&params)};
  ranges = called.ok() ? params.numTotalRanges : 0;
  return called;
}

/// Runs passes until CUPTI has all; `planned` of them are expected. Outcome ok with the passes run, or why not.
Response replay(const Cupti& api, RangeProfiler& profiler, const CountTask& task, int planned) {
  Response response;
  for (bool all = false; !all;) {
    if (response.passes > planned)
      return without_counters(fmt::format("CUPTI asks for more than the {} passes it had planned", planned),
                              "install a CUPTI of the driver's release");
    if (const CuptiStatus called = profiler.start(); !called.ok()) return without_counters(api, called);
    if (Response prepared = task.prepare(); prepared.outcome != ir::Outcome::ok) return prepared;
    if (const CuptiStatus called = profiler.push(); !called.ok()) return without_counters(api, called);
    if (Response launched = task.launch(); launched.outcome != ir::Outcome::ok) return launched;
    if (const CuptiStatus called = profiler.pop(); !called.ok()) return without_counters(api, called);
    if (const CuptiStatus called = profiler.stop(all); !called.ok()) return without_counters(api, called);
    ++response.passes;
  }
  return response;
}

/// Decodes the passes and evaluates them into `response`.
Response evaluated(const Cupti& api, RangeProfiler& profiler, const ChipHost& host, std::span<const char*> metrics,
                   std::span<const std::uint8_t> counters, Response response) {
  std::size_t dropped = 0, ranges = 0;
  if (const CuptiStatus called = profiler.decode(dropped); !called.ok()) return without_counters(api, called);
  if (const CuptiStatus called = ranges_in(api, counters, ranges); !called.ok()) return without_counters(api, called);
  if (dropped != 0 || ranges != 1)
    return without_counters(fmt::format("CUPTI dropped {} ranges and kept {}, expected 0 and 1", dropped, ranges),
                            "count again");
  response.values.resize(metrics.size());
  if (const CuptiStatus called = host.values(metrics, counters, response.values); !called.ok())
    return without_counters(api, called);
  return response;
}

/// What of the configuration forbids counting, for people.
struct SupportRow {
  CUpti_Profiler_Support_Level CUpti_Profiler_DeviceSupported_Params::*level;
  CUptiResult result;  ///< whose remedy it is
  std::string_view what;
};
constexpr auto support_table = std::to_array<SupportRow>({
    {&CUpti_Profiler_DeviceSupported_Params::architecture, CUPTI_ERROR_INVALID_CHIP_NAME, "this architecture"},
    {&CUpti_Profiler_DeviceSupported_Params::sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED, "SLI"},
    {&CUpti_Profiler_DeviceSupported_Params::vGpu, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
     "this virtual GPU"},
    {&CUpti_Profiler_DeviceSupported_Params::confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED,
     "confidential computing"},
    {&CUpti_Profiler_DeviceSupported_Params::cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED, "a mining processor"},
    {&CUpti_Profiler_DeviceSupported_Params::wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "WSL"},
});

/// Why the Range Profiler does not work on this device, or an ok capability.
Capability support_capability(const Cupti& api, CUdevice device) {
  auto params = sized<CUpti_Profiler_DeviceSupported_Params>(CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  const CuptiStatus called{"cuptiProfilerDeviceSupported", api.cuptiProfilerDeviceSupported(&params)};
  if (!called.ok()) return {capability_name, "missing", error_text(api, called), remedy_of(called.result)};
  if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED)
    return {capability_name, "ok", "Range Profiler", ""};
  std::vector<std::string_view> against;
  std::string remedy;
  for (const SupportRow& row : support_table) {
    if (params.*row.level == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) continue;
    against.push_back(row.what);
    if (remedy.empty()) remedy = remedy_of(row.result);
  }
  return {capability_name, "missing",
          fmt::format("CUPTI's Range Profiler does not work with {}",
                      against.empty() ? "this device" : fmt::format("{}", fmt::join(against, ", "))),
          remedy.empty() ? remedy_of(CUPTI_ERROR_UNKNOWN) : remedy};
}

/// The first function missing of those that counting needs.
std::string missing_function(const Cupti& api) {
  for (const CuptiPart part : {CuptiPart::host, CuptiPart::range})
    if (!api.has(part)) return row_for(api.missing, part);
  return {};
}

constexpr std::string_view old_remedy = "install CUPTI of CUDA 12.6 or later";

}  // namespace

/// Members are ended in reverse order: the range profiler first, CUPTI's switch last.
struct CountSession::Planned {
  Planned(const Cupti& of, const CountTask& task)
      : api(of), context(task.context), chip(task.chip), metrics(task.metrics), profiling(of) {}

  bool serves(const CountTask& task) const {
    return context == task.context && chip == task.chip && metrics == task.metrics;
  }
  Response plan(CUdevice device);
  Response count(const CountTask& task);

  const Cupti& api;
  const CUcontext context;
  const std::string chip;
  const std::vector<std::string> metrics;
  std::vector<const char*> names;  ///< of the metrics, as CUPTI takes them
  std::vector<std::uint8_t> schedule, counters;
  int passes = 0;
  Profiling profiling;
  std::unique_ptr<ChipHost> host;
  std::unique_ptr<RangeProfiler> profiler;  ///< null: the GPU's counters are not held
};

/// Which passes collect the metrics; outcome ok, or why none do.
Response CountSession::Planned::plan(CUdevice device) {
  if (!profiling.status().ok()) return without_counters(api, profiling.status());
  if (Capability support = support_capability(api, device); support.state != "ok")
    return without_counters(support.detail, support.remedy);
  std::vector<std::uint8_t> available;
  if (const CuptiStatus called = availability(api, context, available); !called.ok())
    return without_counters(api, called);
  host = std::make_unique<ChipHost>(api, chip, available);
  if (!host->status().ok())
    return without_counters(fmt::format("{} on chip '{}'", error_text(api, host->status()), chip),
                            remedy_of(CUPTI_ERROR_INVALID_CHIP_NAME));
  for (const std::string& metric : metrics) {
    if (!host->has(metric))
      return without_counters(fmt::format("{} has no metric '{}'", chip, metric),
                              fmt::format("tailor counters --chip {} lists what it has", chip));
    names.push_back(metric.c_str());
  }
  if (const CuptiStatus called = host->configuration(names, schedule); !called.ok())
    return without_counters(api, called);
  if (const CuptiStatus called = host->passes(schedule, passes); !called.ok()) return without_counters(api, called);
  return {};
}

Response CountSession::Planned::count(const CountTask& task) {
  if (profiler == nullptr) profiler = std::make_unique<RangeProfiler>(api, context);
  if (!profiler->status().ok()) return without_counters(api, profiler->status());
  if (const CuptiStatus called = profiler->size_counters(names, counters); !called.ok())
    return without_counters(api, called);
  if (const CuptiStatus called = profiler->configure(schedule, counters); !called.ok())
    return without_counters(api, called);
  Response response = replay(api, *profiler, task, passes);
  if (response.outcome != ir::Outcome::ok) return response;
  return evaluated(api, *profiler, *host, names, counters, std::move(response));
}

CountSession::CountSession(const Cupti& api) : api_(api) {}
CountSession::~CountSession() = default;

Response CountSession::count(const CountTask& task) {
  if (const std::string missing = missing_function(api_); !missing.empty())
    return without_counters("CUPTI has no " + missing, std::string(old_remedy));
  Response response;
  if (planned_ == nullptr || !planned_->serves(task)) {
    planned_.reset();  // first: two of them would be in each other's way
    load_metric_library(api_);
    planned_ = std::make_unique<Planned>(api_, task);
    response = planned_->plan(task.device);
  }
  if (response.outcome == ir::Outcome::ok) response = planned_->count(task);
  if (response.outcome != ir::Outcome::ok) planned_.reset();
  return response;
}

void CountSession::rest() {
  if (planned_ != nullptr) planned_->profiler.reset();
}

Response counted(const Cupti& api, const CountTask& task) { return CountSession(api).count(task); }

Capability counter_capability(const Cupti& api, CUdevice device, CUcontext context) {
  if (const std::string missing = missing_function(api); !missing.empty())
    return {capability_name, "missing", "CUPTI has no " + missing, std::string(old_remedy)};
  const Profiling profiling(api);
  if (!profiling.status().ok())
    return {capability_name, "missing", error_text(api, profiling.status()), remedy_of(profiling.status().result)};
  Capability capability = support_capability(api, device);
  if (capability.state != "ok" || context == nullptr) return capability;
  std::vector<std::uint8_t> available;
  if (const CuptiStatus called = availability(api, context, available); !called.ok())
    return {capability_name, "missing", error_text(api, called), remedy_of(called.result)};
  const RangeProfiler profiler(api, context);
  if (!profiler.status().ok())
    return {capability_name, "missing", error_text(api, profiler.status()), remedy_of(profiler.status().result)};
  return capability;
}

}  // namespace tailor::gpu
