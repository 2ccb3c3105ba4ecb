// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening: libraries, device, primary context, stream, our own kernels, facts. The order is that of what may fail for
// the plainest reason first.
#include "gpu/open.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "gpu/count.h"
#include "gpu/kernels.h"
#include "gpu/range_profiler.h"

namespace tailor::gpu {
namespace {

constexpr double kilo = 1e3;

Trouble load_own_kernels(Opened& gpu) {
  const Driver& driver = gpu.driver;
  const std::string text(own_kernels());
  CUmodule module = nullptr;
  if (Trouble trouble = told(driver, driver.cuModuleLoadDataEx(&module, text.c_str(), 0, nullptr, nullptr),
                             "cuModuleLoadDataEx of Tailor's own kernels"))
    return trouble;
  gpu.own.module = Module(driver, module);
  const std::array<std::pair<CUfunction*, std::string_view>, 4> entries = {{{&gpu.own.touch, touch_name},
                                                                            {&gpu.own.digest, digest_name},
                                                                            {&gpu.own.clock, clock_name},
                                                                            {&gpu.own.empty, empty_name}}};
  for (const auto& [function, name] : entries) {
    if (Trouble trouble =
            told(driver, driver.cuModuleGetFunction(function, module, name.data()), "cuModuleGetFunction"))
      return trouble;
  }
  return {};
}

Trouble make_context(Opened& gpu) {
  const Driver& driver = gpu.driver;
  CUcontext context = nullptr;
  if (Trouble trouble = told(driver, driver.cuDevicePrimaryCtxRetain(&context, gpu.device), "cuDevicePrimaryCtxRetain"))
    return trouble;
  gpu.context = PrimaryContext(driver, gpu.device);
  gpu.current = context;
  if (Trouble trouble = told(driver, driver.cuCtxSetCurrent(context), "cuCtxSetCurrent")) return trouble;
  CUstream stream = nullptr;
  if (Trouble trouble = told(driver, driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"))
    return trouble;
  gpu.stream = Stream(driver, stream);
  return {};
}

Trouble queue_empty(Opened& gpu) {
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  config.hStream = *gpu.stream;
  return told(gpu.driver, gpu.driver.cuLaunchKernelEx(&config, gpu.own.empty, nullptr, nullptr), "cuLaunchKernelEx");
}

std::string chip_of(const Cupti& api, int ordinal) {
  if (!api.has(CuptiPart::host) || !api.has(CuptiPart::range)) return {};
  const Profiling profiling(api);
  auto parameters = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  parameters.deviceIndex = static_cast<std::size_t>(ordinal);
  if (!profiling.made() || api.cuptiDeviceGetChipName(&parameters) != CUPTI_SUCCESS) return {};
  return parameters.pChipName == nullptr ? "" : parameters.pChipName;
}

/// CUPTI and what it can do here; kernels are recorded from now on, so that CUPTI knows all modules by name. Nothing of
/// it is needed to open a GPU.
void find_profilers(Opened& gpu) {
  std::variant<Cupti, Layer> found = find_cupti(gpu.places);
  if (const Layer* missing = std::get_if<Layer>(&found)) {
    gpu.cupti_why = gpu.trace_why = missing->detail;
    return;
  }
  gpu.cupti = std::move(std::get<Cupti>(found));
  gpu.facts.cupti_api = static_cast<int>(gpu.cupti->version);
  gpu.facts.chip = chip_of(*gpu.cupti, gpu.ordinal);
  gpu.facts.can_count = counter_layer(*gpu.cupti, gpu.device, gpu.current).state == "ok";
  gpu.trace_why = gpu.trace.begin(*gpu.cupti).reason;
}

/// Whether a kernel that ran is recorded with its name and times.
Trouble try_trace(Opened& gpu) {
  if (Trouble trouble = gpu.trace.clear()) return trouble;
  if (Trouble trouble = queue_empty(gpu)) return trouble;
  if (Trouble trouble = told(gpu.driver, gpu.driver.cuStreamSynchronize(*gpu.stream), "cuStreamSynchronize"))
    return trouble;
  std::vector<KernelSpan> spans;
  if (Trouble trouble = gpu.trace.take(1, spans)) return trouble;
  if (spans.size() == 1 && spans[0].name == empty_name && spans[0].start > 0 && spans[0].end >= spans[0].start)
    return {};
  return {ir::Outcome::unavailable,
          fmt::format("CUPTI recorded {} kernels where 1 ran{}", spans.size(),
                      spans.empty() ? "" : ", without times or as '" + spans[0].name + "'"),
          false};
}

void tell_facts(Opened& gpu) {
  const auto number = [&](CUdevice_attribute which) { return attribute(gpu.driver, gpu.device, which); };
  Facts& facts = gpu.facts;
  facts.name = name_of(gpu.driver, gpu.device);
  facts.uuid = uuid_of(gpu.driver, gpu.device);
  facts.driver = driver_version(gpu.nvml);
  static_cast<void>(gpu.driver.cuDriverGetVersion(&facts.driver_api));
  facts.compute_capability =
      10 * number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) + number(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts.sms = number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  std::size_t bytes = 0;
  static_cast<void>(gpu.driver.cuDeviceTotalMem(&bytes, gpu.device));
  facts.memory_bytes = static_cast<std::int64_t>(bytes);
  facts.l2_bytes = number(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  facts.shared_per_sm = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts.shared_per_block_optin = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts.registers_per_sm = number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  facts.threads_per_sm = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  // The driver tells clocks in kHz, and what it calls typical; NVML knows the highest.
  facts.sm_clock_max = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * kilo;
  facts.dram_clock_max = number(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * kilo;
  if (const double clock = sm_clock_max(gpu.nvml); clock > 0) facts.sm_clock_max = clock;
  if (const double clock = dram_clock_max(gpu.nvml); clock > 0) facts.dram_clock_max = clock;
  facts.bus_bits = number(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  facts.ecc = ecc_on(gpu.nvml).value_or(number(CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0);
  facts.mig = mig_on(gpu.nvml).value_or(false);
}

Trouble find_device(const Places& places, int ordinal, Opened& gpu) {
  const Library library = open_driver(places);
  if (!library) return {ir::Outcome::unavailable, library.why, false};
  gpu.driver = functions_of_driver(library);
  const Driver& driver = gpu.driver;
  if (!driver.why.empty()) return {ir::Outcome::unavailable, driver.why, false};
  int count = 0;
  if (Trouble trouble = told(driver, driver.cuInit(0), "cuInit")) return trouble;
  if (Trouble trouble = told(driver, driver.cuDeviceGetCount(&count), "cuDeviceGetCount")) return trouble;
  if (ordinal < 0 || ordinal >= count)
    return {ir::Outcome::unavailable, fmt::format("there is no GPU number {}: the driver has {}", ordinal, count),
            false};
  if (Trouble trouble = told(driver, driver.cuDeviceGet(&gpu.device, ordinal), "cuDeviceGet")) return trouble;
  gpu.nvml = nvml_of(open_nvml(places), uuid_of(driver, gpu.device), bus_of(driver, gpu.device));
  return {};
}

Trouble open_all(const Places& places, int ordinal, Opened& gpu) {
  gpu.places = places;
  gpu.ordinal = ordinal;
  if (Trouble trouble = find_device(places, ordinal, gpu)) return trouble;
  if (Trouble trouble = make_context(gpu)) return trouble;
  tell_facts(gpu);
  find_profilers(gpu);
  if (Trouble trouble = load_own_kernels(gpu)) return trouble;
  gpu.hold.prepare(gpu.driver, *gpu.stream);
  if (gpu.trace.on()) {
    const Trouble untraced = try_trace(gpu);
    if (untraced.context_lost) return untraced;
    gpu.trace_why = untraced.reason;
    if (untraced) gpu.trace.end();
  }
  gpu.facts.can_time_activity = gpu.trace_why.empty();
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

Trouble open(const Places& places, int ordinal, Opened& gpu) {
  Trouble trouble = open_all(places, ordinal, gpu);
  // Nothing was launched yet, so whatever the error is elsewhere, here it says that there is no GPU to be had.
  if (trouble && trouble.outcome != ir::Outcome::no_memory) trouble.outcome = ir::Outcome::unavailable;
  return trouble;
}

}  // namespace tailor::gpu
