// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver calls about the library, devices and the primary context, as exported functions. In: what a caller passes.
// Out: numbers of config.h, or the errors that the documentation names. A context that a kernel has ruined stays ruined
// when it is released and retained again: only another process gets a clean one.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

bool is_device(const State& gpu, CUdevice device) {
  return device >= 0 && device < static_cast<int>(gpu.contexts.size());
}

/// An attribute's value as a function of the chip; attributes that are not here read 0.
struct AttributeRow {
  CUdevice_attribute attribute;
  std::int64_t (*value)(const Chip&);
};
constexpr AttributeRow attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, [](const Chip&) -> std::int64_t { return 1024; }},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, [](const Chip&) -> std::int64_t { return 1024; }},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, [](const Chip&) -> std::int64_t { return 1024; }},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, [](const Chip&) -> std::int64_t { return 64; }},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, [](const Chip&) -> std::int64_t { return 2147483647; }},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, [](const Chip&) -> std::int64_t { return 65535; }},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, [](const Chip&) -> std::int64_t { return 65535; }},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, [](const Chip& chip) { return chip.shared_per_block; }},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
     [](const Chip& chip) { return chip.shared_per_block_optin; }},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, [](const Chip& chip) { return chip.shared_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, [](const Chip& chip) { return chip.shared_reserved; }},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, [](const Chip&) -> std::int64_t { return 65536; }},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, [](const Chip&) -> std::int64_t { return 32; }},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
     [](const Chip& chip) -> std::int64_t { return chip.registers_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
     [](const Chip& chip) -> std::int64_t { return chip.registers_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
     [](const Chip& chip) -> std::int64_t { return chip.threads_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
     [](const Chip& chip) -> std::int64_t { return chip.blocks_per_sm; }},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, [](const Chip& chip) { return static_cast<std::int64_t>(chip.sm_clock / 1000); }},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE,
     [](const Chip& chip) { return static_cast<std::int64_t>(chip.dram_clock / 1000); }},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, [](const Chip& chip) -> std::int64_t { return chip.bus_bits; }},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, [](const Chip& chip) -> std::int64_t { return chip.sms; }},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, [](const Chip& chip) { return chip.l2_bytes; }},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
     [](const Chip& chip) -> std::int64_t { return chip.compute_capability / 10; }},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
     [](const Chip& chip) -> std::int64_t { return chip.compute_capability % 10; }},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH,
     [](const Chip& chip) -> std::int64_t { return chip.compute_capability >= 90; }},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, [](const Chip&) -> std::int64_t { return 1; }},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, [](const Chip&) -> std::int64_t { return 3; }},
    {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, [](const Chip&) -> std::int64_t { return 0x19; }},
};

/// "GPU-0123abcd-..." to 16 bytes.
CUuuid uuid_of(const std::string& text, int device) {
  CUuuid made{};
  std::size_t digits = 0;
  for (const char c : text.substr(std::min<std::size_t>(4, text.size()))) {
    const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (value < 0 || digits >= 32) continue;
    made.bytes[digits / 2] = static_cast<char>(made.bytes[digits / 2] << 4 | value);
    ++digits;
  }
  made.bytes[15] = static_cast<char>(made.bytes[15] + device);
  return made;
}

CUresult put_text(char* to, int room, const std::string& text) {
  if (to == nullptr || room <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::strncpy(to, text.c_str(), static_cast<std::size_t>(room));
  to[room - 1] = '\0';
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUresult cuInit(unsigned int flags) {
  return driver_call("cuInit", Needs::nothing, [&](State& gpu) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (gpu.contexts.empty()) return CUDA_ERROR_NO_DEVICE;
    gpu.initialised = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuDriverGetVersion(int* version) {
  return driver_call("cuDriverGetVersion", Needs::nothing, [&](State& gpu) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = gpu.config.chip.driver_api;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return driver_call("cuDeviceGetCount", Needs::init, [&](State& gpu) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(gpu.contexts.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return driver_call("cuDeviceGet", Needs::init, [&](State& gpu) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(gpu, ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int room, CUdevice device) {
  return driver_call("cuDeviceGetName", Needs::init, [&](State& gpu) {
    return is_device(gpu, device) ? put_text(name, room, gpu.config.chip.name) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return driver_call("cuDeviceGetUuid", Needs::init, [&](State& gpu) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(gpu, device)) return CUDA_ERROR_INVALID_DEVICE;
    *uuid = uuid_of(gpu.config.chip.uuid, device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* bus, int room, CUdevice device) {
  return driver_call("cuDeviceGetPCIBusId", Needs::init, [&](State& gpu) {
    return is_device(gpu, device) ? put_text(bus, room, gpu.config.chip.bus) : CUDA_ERROR_INVALID_DEVICE;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return driver_call("cuDeviceGetAttribute", Needs::init, [&](State& gpu) {
    if (value == nullptr || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(gpu, device)) return CUDA_ERROR_INVALID_DEVICE;
    *value = 0;
    for (const AttributeRow& row : attributes)
      if (row.attribute == attribute) *value = static_cast<int>(row.value(gpu.config.chip));
    const auto planted = gpu.config.attributes.find(std::to_string(static_cast<int>(attribute)));
    if (planted != gpu.config.attributes.end()) *value = planted->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  return driver_call("cuDeviceTotalMem", Needs::init, [&](State& gpu) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(gpu, device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = static_cast<size_t>(gpu.config.chip.memory_bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return driver_call("cuDevicePrimaryCtxRetain", Needs::init, [&](State& gpu) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(gpu, device)) return CUDA_ERROR_INVALID_DEVICE;
    Context& primary = gpu.contexts[static_cast<std::size_t>(device)];
    ++primary.retained;
    *context = reinterpret_cast<CUcontext>(&primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return driver_call("cuDevicePrimaryCtxRelease", Needs::init, [&](State& gpu) {
    if (!is_device(gpu, device)) return CUDA_ERROR_INVALID_DEVICE;
    Context& primary = gpu.contexts[static_cast<std::size_t>(device)];
    if (primary.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--primary.retained > 0) return CUDA_SUCCESS;
    gpu.modules.clear();
    gpu.functions.clear();
    gpu.streams.clear();
    gpu.events.clear();
    gpu.graphs.clear();
    gpu.graph_execs.clear();
    gpu.legacy->queue.clear();
    gpu.memory.release_all();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return driver_call("cuCtxSetCurrent", Needs::init, [&](State& gpu) {
    auto* wanted = reinterpret_cast<Context*>(context);
    const bool known = std::any_of(gpu.contexts.begin(), gpu.contexts.end(),
                                   [&](const Context& one) { return &one == wanted && one.retained > 0; });
    if (wanted != nullptr && !known) return CUDA_ERROR_INVALID_CONTEXT;
    current() = wanted;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return driver_call("cuCtxSynchronize", Needs::context, [&](State& gpu) {
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    return drained_all(gpu);
  });
}

}  // extern "C"
