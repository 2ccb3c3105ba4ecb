// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// NVML's calls, as exported functions. In: a device. Out: clocks, power, temperature and modes of config.h. Results,
// clock types, sensors and reasons are NVML's own numbers, which are fixed in its reference; no package of CUDA's
// headers declares them.
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

enum Result { success = 0, uninitialized = 1, invalid_argument = 2, not_supported = 3, not_found = 6, too_small = 7 };
enum Clock { graphics = 0, sm = 1, memory = 2, video = 3 };

/// The devices' handles.
char devices[64];

/// nvmlProcessInfo_t.
struct ProcessRow {
  unsigned pid = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0xffffffffu, compute_instance = 0xffffffffu;
};

template <class Body>
int device_call(std::string_view name, const void* device, const void* out, Body&& body) {
  return nvml_call(name, [&](State& gpu) -> int {
    if (gpu.nvml_users == 0) return uninitialized;
    const auto* at = static_cast<const char*>(device);
    if (at < devices || at >= devices + gpu.contexts.size() || out == nullptr) return invalid_argument;
    return body(gpu);
  });
}

unsigned megahertz(double hertz) { return static_cast<unsigned>(std::lround(hertz / 1e6)); }
unsigned milliwatts(double watts) { return static_cast<unsigned>(std::lround(watts * 1e3)); }

int reasons_of(std::string_view name, void* device, unsigned long long* reasons) {
  return device_call(name, device, reasons, [&](State& gpu) {
    // Nothing runs while somebody asks, so an idle GPU says so (bit 1) unless the script says more.
    const std::uint64_t scripted = gpu.timing.throttle().reasons;
    *reasons = scripted != 0 ? scripted : 1;
    return success;
  });
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char* version, unsigned length);
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device);
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device);
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz);
int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* mhz);
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons);
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius);
int nvmlDeviceGetPowerUsage(void* device, unsigned* power);
int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* power);
int nvmlDeviceGetPowerManagementDefaultLimit(void* device, unsigned* power);
int nvmlDeviceGetEccMode(void* device, int* current_mode, int* pending);
int nvmlDeviceGetMigMode(void* device, unsigned* current_mode, unsigned* pending);
int nvmlDeviceGetPersistenceMode(void* device, int* mode);
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* processes);

int nvmlInit_v2() {
  return nvml_call("nvmlInit_v2", [](State& gpu) -> int {
    ++gpu.nvml_users;
    return success;
  });
}

int nvmlShutdown() {
  return nvml_call("nvmlShutdown", [](State& gpu) -> int {
    if (gpu.nvml_users == 0) return uninitialized;
    --gpu.nvml_users;
    return success;
  });
}

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  return nvml_call("nvmlSystemGetDriverVersion", [&](State& gpu) -> int {
    if (gpu.nvml_users == 0) return uninitialized;
    if (version == nullptr) return invalid_argument;
    const std::string& text = gpu.config.chip.driver;
    if (text.size() >= length) return too_small;
    std::memcpy(version, text.c_str(), text.size() + 1);
    return success;
  });
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  return nvml_call("nvmlDeviceGetHandleByUUID", [&](State& gpu) -> int {
    if (gpu.nvml_users == 0) return uninitialized;
    if (uuid == nullptr || device == nullptr) return invalid_argument;
    if (gpu.contexts.empty() || gpu.config.chip.uuid != uuid) return not_found;
    *device = devices;
    return success;
  });
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  return nvml_call("nvmlDeviceGetHandleByPciBusId_v2", [&](State& gpu) -> int {
    if (gpu.nvml_users == 0) return uninitialized;
    if (bus == nullptr || device == nullptr) return invalid_argument;
    if (gpu.contexts.empty() || gpu.config.chip.bus != bus) return not_found;
    *device = devices;
    return success;
  });
}

int nvmlDeviceGetClockInfo(void* device, int type, unsigned* mhz) {
  return device_call("nvmlDeviceGetClockInfo", device, mhz, [&](State& gpu) -> int {
    if (type < graphics || type > video) return invalid_argument;
    if (!gpu.config.nvml_clocks) return not_supported;
    *mhz = megahertz(type == memory ? gpu.config.chip.dram_clock : gpu.timing.sm_clock());
    return success;
  });
}

int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* mhz) {
  return device_call("nvmlDeviceGetMaxClockInfo", device, mhz, [&](State& gpu) -> int {
    if (type < graphics || type > video) return invalid_argument;
    if (!gpu.config.nvml_clocks) return not_supported;
    *mhz = megahertz(type == memory ? gpu.config.chip.dram_clock : gpu.config.chip.sm_clock);
    return success;
  });
}

int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return reasons_of("nvmlDeviceGetCurrentClocksEventReasons", device, reasons);
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  return reasons_of("nvmlDeviceGetCurrentClocksThrottleReasons", device, reasons);
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* celsius) {
  return device_call("nvmlDeviceGetTemperature", device, celsius, [&](State& gpu) -> int {
    if (sensor != 0) return invalid_argument;
    *celsius = static_cast<unsigned>(std::lround(gpu.config.temperature));
    return success;
  });
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* power) {
  return device_call("nvmlDeviceGetPowerUsage", device, power, [&](State& gpu) -> int {
    *power = milliwatts(gpu.config.power);
    return success;
  });
}

int nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* power) {
  return device_call("nvmlDeviceGetEnforcedPowerLimit", device, power, [&](State& gpu) -> int {
    *power = milliwatts(gpu.config.power_limit);
    return success;
  });
}

int nvmlDeviceGetPowerManagementDefaultLimit(void* device, unsigned* power) {
  return device_call("nvmlDeviceGetPowerManagementDefaultLimit", device, power, [&](State& gpu) -> int {
    *power = milliwatts(gpu.config.power_limit_default);
    return success;
  });
}

int nvmlDeviceGetEccMode(void* device, int* current_mode, int* pending) {
  return device_call("nvmlDeviceGetEccMode", device, current_mode, [&](State& gpu) -> int {
    if (pending == nullptr) return invalid_argument;
    *current_mode = *pending = gpu.config.ecc ? 1 : 0;
    return success;
  });
}

int nvmlDeviceGetMigMode(void* device, unsigned* current_mode, unsigned* pending) {
  return device_call("nvmlDeviceGetMigMode", device, current_mode, [&](State& gpu) -> int {
    if (pending == nullptr) return invalid_argument;
    *current_mode = *pending = gpu.config.mig ? 1 : 0;
    return success;
  });
}

int nvmlDeviceGetPersistenceMode(void* device, int* mode) {
  return device_call("nvmlDeviceGetPersistenceMode", device, mode, [&](State& gpu) -> int {
    *mode = gpu.config.persistence ? 1 : 0;
    return success;
  });
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* processes) {
  return device_call("nvmlDeviceGetComputeRunningProcesses_v3", device, count, [&](State& gpu) -> int {
    const bool own = gpu.contexts[0].retained > 0;
    const unsigned needed = static_cast<unsigned>(gpu.config.other_processes) + (own ? 1 : 0);
    const unsigned room = *count;
    *count = needed;
    if (needed > room) return too_small;
    if (needed == 0) return success;
    if (processes == nullptr) return invalid_argument;
    auto* rows = static_cast<char*>(processes);
    for (unsigned k = 0; k < needed; ++k) {
      ProcessRow row;
      row.pid = own && k == 0 ? static_cast<unsigned>(getpid()) : 4'000'000 + k;
      std::memcpy(rows + k * sizeof row, &row, sizeof row);
    }
    return success;
  });
}

}  // extern "C"
