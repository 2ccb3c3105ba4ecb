// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening: libraries, device, primary context, stream, our own kernels, facts. The order is that of what may fail for
// the plainest reason first. What of CUPTI is begun follows from the use: to trace, one kernel is launched and must be
// recorded with its name and times, or times by activity are not offered; to count, the Range Profiler is tried; for
// events CUPTI is left alone. Called by gpu.cpp.
#include "profiler/gpu/session/open.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "profiler/gpu/cupti/count.h"
#include "profiler/gpu/cupti/range_profiler.h"
#include "profiler/gpu/session/kernels.h"

namespace tailor::gpu {
namespace {

constexpr double kilo = 1e3;

/// Machine code where it fits, which needs no assembler of the driver's; else text.
CUresult load_own_module(OpenedGpu& gpu, CUmodule& module) {
  constexpr int assembled_for = 90;
  const std::span<const std::byte> code = own_kernels_sm_90();
  if (gpu.properties.compute_capability == assembled_for && !code.empty()) {
    const CUresult result = gpu.driver.cuModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr);
    const bool unfit = result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (!unfit) return result;
  }
  const std::string text(own_kernels());
  return gpu.driver.cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr);
}

CudaStatus load_own_kernels(OpenedGpu& gpu) {
  const Driver& driver = gpu.driver;
  CUmodule module = nullptr;
  if (CudaStatus status = to_status(driver, load_own_module(gpu, module), "cuModuleLoadDataEx of Tailor's own kernels");
      !status.ok())
    return status;
  gpu.own.module = Module(driver, module);
  const std::array<std::pair<CUfunction*, std::string_view>, 7> entries = {{{&gpu.own.touch, touch_name},
                                                                            {&gpu.own.sweep, sweep_name},
                                                                            {&gpu.own.generate, generate_name},
                                                                            {&gpu.own.differ, differ_name},
                                                                            {&gpu.own.digest, digest_name},
                                                                            {&gpu.own.clock, clock_name},
                                                                            {&gpu.own.empty, empty_name}}};
  for (const auto& [function, name] : entries) {
    if (CudaStatus status =
            to_status(driver, driver.cuModuleGetFunction(function, module, name.data()), "cuModuleGetFunction");
        !status.ok())
      return status;
  }
  return {};
}

CudaStatus make_context(OpenedGpu& gpu) {
  const Driver& driver = gpu.driver;
  CUcontext context = nullptr;
  if (CudaStatus status =
          to_status(driver, driver.cuDevicePrimaryCtxRetain(&context, gpu.device), "cuDevicePrimaryCtxRetain");
      !status.ok())
    return status;
  gpu.context = PrimaryContext(driver, gpu.device);
  gpu.current = context;
  if (CudaStatus status = to_status(driver, driver.cuCtxSetCurrent(context), "cuCtxSetCurrent"); !status.ok())
    return status;
  CUstream stream = nullptr;
  if (CudaStatus status = to_status(driver, driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
      !status.ok())
    return status;
  gpu.stream = Stream(driver, stream);
  return {};
}

CudaStatus queue_empty(OpenedGpu& gpu) {
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = *gpu.stream;
  return to_status(gpu.driver, gpu.driver.cuLaunchKernelEx(&config, gpu.own.empty, nullptr, nullptr),
                   "cuLaunchKernelEx");
}

std::string chip_of(const Cupti& api, int ordinal) {
  if (!api.has(CuptiPart::host) || !api.has(CuptiPart::range)) return {};
  const Profiling profiling(api);
  auto parameters = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  parameters.deviceIndex = static_cast<std::size_t>(ordinal);
  if (!profiling.status().ok() || api.cuptiDeviceGetChipName(&parameters) != CUPTI_SUCCESS) return {};
  return parameters.pChipName == nullptr ? "" : parameters.pChipName;
}

/// CUPTI and what it can do for this use; to trace, kernels are recorded from now on, so that CUPTI knows all modules
/// by name. Nothing of it is needed to open a GPU.
void find_profilers(OpenedGpu& gpu) {
  if (gpu.use == Use::events) {
    gpu.cupti_reason = gpu.trace_reason = "this process was opened for times by events, without CUPTI";
    return;
  }
  std::variant<Cupti, Capability> found = find_cupti(gpu.paths);
  if (const Capability* missing = std::get_if<Capability>(&found)) {
    gpu.cupti_reason = gpu.trace_reason = missing->detail;
    return;
  }
  gpu.cupti = std::move(std::get<Cupti>(found));
  gpu.properties.cupti_api = static_cast<int>(gpu.cupti->version);
  if (gpu.use == Use::trace) {
    gpu.trace_reason = gpu.trace.begin(*gpu.cupti).reason;
    return;
  }
  gpu.trace_reason = "this process counts, and CUPTI does not record kernels beside that";
  gpu.properties.chip = chip_of(*gpu.cupti, gpu.ordinal);
  gpu.properties.can_count = counter_capability(*gpu.cupti, gpu.device, gpu.current).state == "ok";
}

/// Whether a kernel that ran is recorded with its name and times.
CudaStatus try_trace(OpenedGpu& gpu) {
  if (CudaStatus status = gpu.trace.clear(); !status.ok()) return status;
  if (CudaStatus status = queue_empty(gpu); !status.ok()) return status;
  if (CudaStatus status = to_status(gpu.driver, gpu.driver.cuStreamSynchronize(*gpu.stream), "cuStreamSynchronize");
      !status.ok())
    return status;
  std::vector<KernelSpan> spans;
  if (CudaStatus status = gpu.trace.take(1, spans); !status.ok()) return status;
  if (spans.size() == 1 && spans[0].name == empty_name && spans[0].start > 0 && spans[0].end >= spans[0].start)
    return {};
  return {ir::Outcome::unavailable,
          fmt::format("CUPTI recorded {} kernels where 1 ran{}", spans.size(),
                      spans.empty() ? "" : ", without times or as '" + spans[0].name + "'"),
          false};
}

void tell_facts(OpenedGpu& gpu) {
  const auto number = [&](CUdevice_attribute which) { return attribute(gpu.driver, gpu.device, which); };
  GpuProperties& properties = gpu.properties;
  properties.name = name_of(gpu.driver, gpu.device);
  properties.uuid = uuid_of(gpu.driver, gpu.device);
  properties.driver = driver_version(gpu.nvml);
  static_cast<void>(gpu.driver.cuDriverGetVersion(&properties.driver_api));
  properties.compute_capability =
      10 * number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) + number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  properties.sms = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  std::size_t bytes = 0;
  static_cast<void>(gpu.driver.cuDeviceTotalMem(&bytes, gpu.device));
  properties.memory_bytes = static_cast<std::int64_t>(bytes);
  properties.l2_bytes = number(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  properties.shared_per_sm = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  properties.shared_per_block_optin = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  properties.registers_per_sm = number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  properties.threads_per_sm = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  // The driver tells clocks in kHz, and what it calls typical; NVML knows the highest.
  properties.sm_clock_max = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * kilo;
  properties.dram_clock_max = number(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * kilo;
  if (const double clock = sm_clock_max(gpu.nvml); clock > 0) properties.sm_clock_max = clock;
  if (const double clock = dram_clock_max(gpu.nvml); clock > 0) properties.dram_clock_max = clock;
  properties.bus_bits = number(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  properties.ecc = ecc_on(gpu.nvml).value_or(number(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0);
  properties.mig = mig_on(gpu.nvml).value_or(false);
}

CudaStatus find_device(const LibraryPaths& paths, int ordinal, OpenedGpu& gpu) {
  const Library library = open_driver(paths);
  if (!library) return {ir::Outcome::unavailable, library.reason, false};
  gpu.driver = load_driver_functions(library);
  const Driver& driver = gpu.driver;
  if (!driver.reason.empty()) return {ir::Outcome::unavailable, driver.reason, false};
  int count = 0;
  if (CudaStatus status = to_status(driver, driver.cuInit(0), "cuInit"); !status.ok()) return status;
  if (CudaStatus status = to_status(driver, driver.cuDeviceGetCount(&count), "cuDeviceGetCount"); !status.ok())
    return status;
  if (ordinal < 0 || ordinal >= count)
    return {ir::Outcome::unavailable, fmt::format("there is no GPU number {}: the driver has {}", ordinal, count),
            false};
  if (CudaStatus status = to_status(driver, driver.cuDeviceGet(&gpu.device, ordinal), "cuDeviceGet"); !status.ok())
    return status;
  gpu.nvml = open_nvml_device(open_nvml(paths), uuid_of(driver, gpu.device), bus_of(driver, gpu.device));
  return {};
}

CudaStatus open_all(const OpenRequest& request, OpenedGpu& gpu) {
  gpu.paths = request.paths;
  gpu.ordinal = request.ordinal;
  gpu.use = request.use;
  if (CudaStatus status = find_device(request.paths, request.ordinal, gpu); !status.ok()) return status;
  if (CudaStatus status = make_context(gpu); !status.ok()) return status;
  tell_facts(gpu);
  find_profilers(gpu);
  if (CudaStatus status = load_own_kernels(gpu); !status.ok()) return status;
  gpu.blocker.prepare(gpu.driver, *gpu.stream);
  if (gpu.trace.on()) {
    const CudaStatus untraced = try_trace(gpu);
    if (untraced.context_lost) return untraced;
    gpu.trace_reason = untraced.reason;
    if (!untraced.ok()) gpu.trace.end();
  }
  gpu.properties.can_time_activity = gpu.trace_reason.empty();
  return {};
}

}  // namespace

int attribute(const Driver& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  return driver.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

std::string name_of(const Driver& driver, CUdevice device) {
  std::array<char, 256> name = {};
  if (driver.cuDeviceGetName(name.data(), static_cast<int>(name.size() - 1), device) != CUDA_SUCCESS) return {};
  return name.data();
}

std::string uuid_of(const Driver& driver, CUdevice device) {
  CUuuid uuid = {};
  if (driver.cuDeviceGetUuid(&uuid, device) != CUDA_SUCCESS) return {};
  std::string text = "GPU";
  for (std::size_t i = 0; i < sizeof uuid.bytes; ++i) {
    const bool dash = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += fmt::format("{}{:02x}", dash ? "-" : "", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

std::string bus_of(const Driver& driver, CUdevice device) {
  std::array<char, 32> bus = {};
  if (driver.cuDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size() - 1), device) != CUDA_SUCCESS) return {};
  return bus.data();
}

CudaStatus open(const OpenRequest& request, OpenedGpu& gpu) {
  CudaStatus status = open_all(request, gpu);
  // Nothing was launched yet, so whatever the error is elsewhere, here it says that there is no GPU to be had.
  if (!status.ok() && status.outcome != ir::Outcome::no_memory) status.outcome = ir::Outcome::unavailable;
  return status;
}

}  // namespace tailor::gpu
