// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver calls about memory, as exported functions. In: addresses and sizes. Out: bytes copied or filled, or the
// driver's errors. Copies to and from the host wait for the legacy stream and all that it waits for, so what a kernel
// did wrong comes out of them too. Work on other, non-blocking streams is not waited for, as on hardware.
#include <cstring>

#include "fake_gpu/call.h"

using namespace tailor::fake;

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* to, size_t bytes) {
  return driver_call("cuMemAlloc", Needs::context, [&](State& gpu) {
    if (to == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    const auto address = gpu.memory.add(bytes, gpu.config.chip.memory_bytes);
    if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
    *to = *address;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree(CUdeviceptr address) {
  return driver_call("cuMemFree", Needs::context, [&](State& gpu) {
    if (address == 0) return CUDA_SUCCESS;
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    // It may only free what no kernel uses, so it waits for all of them.
    if (const CUresult before = drained_all(gpu); before != CUDA_SUCCESS) return before;
    const int allocation = gpu.memory.holding(address);
    const std::int64_t bytes = allocation < 0 ? 0 : gpu.memory.bytes(allocation);
    if (!gpu.memory.release(address)) return CUDA_ERROR_INVALID_VALUE;
    gpu.timing.cache().forget(address, address + static_cast<std::uint64_t>(bytes));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  return driver_call("cuMemGetInfo", Needs::context, [&](State& gpu) {
    if (free_bytes == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *total = static_cast<size_t>(gpu.config.chip.memory_bytes);
    *free_bytes = static_cast<size_t>(gpu.config.chip.memory_bytes - gpu.memory.used());
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostAlloc(void** to, size_t bytes, unsigned int flags) {
  return driver_call("cuMemHostAlloc", Needs::context, [&](State& gpu) {
    constexpr unsigned known = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (to == nullptr || bytes == 0 || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    *to = gpu.host.add(bytes);
    return *to == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
  });
}

CUresult cuMemFreeHost(void* at) {
  return driver_call("cuMemFreeHost", Needs::context, [&](State& gpu) {
    if (at == nullptr) return CUDA_SUCCESS;
    if (const CUresult before = drained_all(gpu); before != CUDA_SUCCESS) return before;
    return gpu.host.release(at) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* to, void* at, unsigned int flags) {
  return driver_call("cuMemHostGetDevicePointer", Needs::context, [&](State& gpu) {
    const auto address = reinterpret_cast<std::uint64_t>(at);
    if (to == nullptr || flags != 0 || !gpu.host.holds(address, 1)) return CUDA_ERROR_INVALID_VALUE;
    *to = address;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return driver_call("cuMemcpyHtoD", Needs::context, [&](State& gpu) {
    if (bytes == 0) return CUDA_SUCCESS;
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    const std::span<std::byte> room = gpu.memory.range(to, bytes);
    if (from == nullptr || room.data() == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult before = drained(gpu, *gpu.legacy); before != CUDA_SUCCESS) return before;
    std::memcpy(room.data(), from, bytes);
    gpu.memory.uniform(gpu.memory.holding(to), -1);
    gpu.spend(gpu.timing.moved(to, static_cast<std::int64_t>(bytes), true));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return driver_call("cuMemcpyDtoH", Needs::context, [&](State& gpu) {
    if (bytes == 0) return CUDA_SUCCESS;
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    const std::span<std::byte> source = gpu.memory.range(from, bytes);
    if (to == nullptr || source.data() == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult before = drained(gpu, *gpu.legacy); before != CUDA_SUCCESS) return before;
    std::memcpy(to, source.data(), bytes);
    gpu.spend(gpu.timing.moved(from, static_cast<std::int64_t>(bytes), false));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return driver_call("cuMemcpyDtoDAsync", Needs::context, [&](State& gpu) {
    if (bytes == 0) return CUDA_SUCCESS;
    if (gpu.memory.range(to, bytes).data() == nullptr || gpu.memory.range(from, bytes).data() == nullptr)
      return CUDA_ERROR_INVALID_VALUE;
    return enqueue(gpu, stream, CopyWork{to, from, bytes});
  });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return driver_call("cuMemsetD8Async", Needs::context, [&](State& gpu) {
    if (count == 0) return CUDA_SUCCESS;
    if (gpu.memory.range(to, count).data() == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(gpu, stream, FillWork{to, count, 1, value});
  });
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
  return driver_call("cuMemsetD32Async", Needs::context, [&](State& gpu) {
    if (count == 0) return CUDA_SUCCESS;
    if (to % 4 != 0 || gpu.memory.range(to, count * 4).data() == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(gpu, stream, FillWork{to, count, 4, value});
  });
}

}  // extern "C"
