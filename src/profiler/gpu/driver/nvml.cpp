// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// One function for each question to NVML, each content with no answer. In: the table of functions. Out: numbers in SI
// units, 0 or nothing where NVML does not tell. Clock types, sensors and event reasons are NVML's own numbers, fixed in
// its reference.
#include "profiler/gpu/driver/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace tailor::gpu {
namespace {

constexpr int success = 0;
constexpr int sm_clock_type = 1, memory_clock_type = 2;
constexpr int gpu_sensor = 0;

/// Clock event reasons, NVML's bit to ours.
constexpr std::array<std::pair<unsigned long long, std::uint32_t>, 7> reasons = {{{0x02, ir::throttle_sync},
                                                                                  {0x04, ir::throttle_power},
                                                                                  {0x08, ir::throttle_hardware},
                                                                                  {0x10, ir::throttle_sync},
                                                                                  {0x20, ir::throttle_thermal},
                                                                                  {0x40, ir::throttle_thermal},
                                                                                  {0x80, ir::throttle_hardware}}};

/// nvmlProcessInfo_t.
struct ProcessRow {
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

template <class Function, class Value, class... Before>
bool asked(const Nvml& nvml, Function function, Value& value, Before... before) {
  return function != nullptr && nvml.device != nullptr && function(nvml.device, before..., &value) == success;
}

template <class Function, class... Before>
double number(const Nvml& nvml, double scale, Function function, Before... before) {
  unsigned value = 0;
  return asked(nvml, function, value, before...) ? value * scale : 0;
}

constexpr double mega = 1e6, milli = 1e-3;

}  // namespace

Nvml open_nvml_device(const Library& library, const std::string& uuid, const std::string& bus) {
  Nvml nvml;
  if (!library) {
    nvml.reason = library.reason;
    return nvml;
  }
#define NVML_FUNCTION(name, parameters) nvml.name = reinterpret_cast<decltype(nvml.name)>(dlsym(library.handle, #name));
#include "profiler/gpu/driver/nvml.def"
#undef NVML_FUNCTION
  if (nvml.nvmlInit_v2 == nullptr || nvml.nvmlInit_v2() != success) {
    nvml.reason = "NVML does not begin";
    return nvml;
  }
  const bool by_uuid = nvml.nvmlDeviceGetHandleByUUID != nullptr && !uuid.empty() &&
                       nvml.nvmlDeviceGetHandleByUUID(uuid.c_str(), &nvml.device) == success;
  if (by_uuid) return nvml;
  const bool by_bus = nvml.nvmlDeviceGetHandleByPciBusId_v2 != nullptr && !bus.empty() &&
                      nvml.nvmlDeviceGetHandleByPciBusId_v2(bus.c_str(), &nvml.device) == success;
  if (by_bus) return nvml;
  nvml.device = nullptr;
  nvml.reason = "NVML knows no GPU " + uuid;
  return nvml;
}

std::uint32_t read_throttle(const Nvml& nvml) {
  unsigned long long bits = 0;
  if (!asked(nvml, nvml.nvmlDeviceGetCurrentClocksEventReasons, bits) &&
      !asked(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, bits))
    return 0;
  std::uint32_t ours = 0;
  for (const auto& [theirs, bit] : reasons) ours |= (bits & theirs) != 0 ? bit : 0;
  return ours;
}

double read_sm_clock(const Nvml& nvml) { return number(nvml, mega, nvml.nvmlDeviceGetClockInfo, sm_clock_type); }

GpuState read_state(const Nvml& nvml) {
  GpuState state;
  state.sm_clock = read_sm_clock(nvml);
  state.dram_clock = number(nvml, mega, nvml.nvmlDeviceGetClockInfo, memory_clock_type);
  state.temperature = number(nvml, 1, nvml.nvmlDeviceGetTemperature, gpu_sensor);
  state.power = number(nvml, milli, nvml.nvmlDeviceGetPowerUsage);
  state.power_limit = number(nvml, milli, nvml.nvmlDeviceGetEnforcedPowerLimit);
  state.throttle = read_throttle(nvml);
  return state;
}

std::string driver_version(const Nvml& nvml) {
  std::array<char, 96> text = {};
  if (nvml.nvmlSystemGetDriverVersion == nullptr || nvml.device == nullptr) return {};
  if (nvml.nvmlSystemGetDriverVersion(text.data(), static_cast<unsigned>(text.size() - 1)) != success) return {};
  return text.data();
}

std::optional<bool> ecc_on(const Nvml& nvml) {
  int current = 0, pending = 0;
  if (nvml.device == nullptr || nvml.nvmlDeviceGetEccMode == nullptr) return {};
  if (nvml.nvmlDeviceGetEccMode(nvml.device, &current, &pending) != success) return {};
  return current != 0;
}

std::optional<bool> mig_on(const Nvml& nvml) {
  unsigned current = 0, pending = 0;
  if (nvml.device == nullptr || nvml.nvmlDeviceGetMigMode == nullptr) return {};
  if (nvml.nvmlDeviceGetMigMode(nvml.device, &current, &pending) != success) return {};
  return current != 0;
}

std::optional<bool> persistence_on(const Nvml& nvml) {
  int mode = 0;
  if (!asked(nvml, nvml.nvmlDeviceGetPersistenceMode, mode)) return {};
  return mode != 0;
}

double sm_clock_max(const Nvml& nvml) { return number(nvml, mega, nvml.nvmlDeviceGetMaxClockInfo, sm_clock_type); }
double dram_clock_max(const Nvml& nvml) {
  return number(nvml, mega, nvml.nvmlDeviceGetMaxClockInfo, memory_clock_type);
}
double power_limit_default(const Nvml& nvml) {
  return number(nvml, milli, nvml.nvmlDeviceGetPowerManagementDefaultLimit);
}

std::optional<std::vector<std::uint32_t>> other_processes(const Nvml& nvml) {
  if (nvml.device == nullptr || nvml.nvmlDeviceGetComputeRunningProcesses_v3 == nullptr) return {};
  std::array<ProcessRow, 64> rows = {};
  unsigned count = rows.size();
  const int result = nvml.nvmlDeviceGetComputeRunningProcesses_v3(nvml.device, &count, rows.data());
  if (result != success) return {};
  std::vector<std::uint32_t> pids;
  for (unsigned i = 0; i < count && i < rows.size(); ++i)
    if (rows[i].pid != static_cast<unsigned>(getpid())) pids.push_back(rows[i].pid);
  return pids;
}

}  // namespace tailor::gpu
