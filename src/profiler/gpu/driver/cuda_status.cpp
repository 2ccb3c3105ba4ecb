// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which CUDA error is which outcome. In: a CUresult and the name of the call. Out: a CudaStatus with the driver's own
// words. Sticky errors are those after which CUDA's documentation says that the process must be ended; ECC and unknown
// errors are taken for such.
#include "profiler/gpu/driver/cuda_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tailor::gpu {
namespace {

using ir::Outcome;

constexpr ErrorRow rows[] = {
    {CUDA_ERROR_INVALID_VALUE, Outcome::refused, false},
    {CUDA_ERROR_OUT_OF_MEMORY, Outcome::no_memory, false},
    {CUDA_ERROR_NOT_INITIALIZED, Outcome::unavailable, false},
    {CUDA_ERROR_DEINITIALIZED, Outcome::unavailable, true},
    {CUDA_ERROR_STUB_LIBRARY, Outcome::unavailable, false},
    {CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, Outcome::unavailable, false},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, Outcome::unavailable, false},
    {CUDA_ERROR_NO_DEVICE, Outcome::unavailable, false},
    {CUDA_ERROR_INVALID_DEVICE, Outcome::unavailable, false},
    {CUDA_ERROR_DEVICE_NOT_LICENSED, Outcome::unavailable, false},
    {CUDA_ERROR_INVALID_IMAGE, Outcome::unloadable, false},
    {CUDA_ERROR_INVALID_CONTEXT, Outcome::unavailable, false},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, Outcome::unloadable, false},
    {CUDA_ERROR_ECC_UNCORRECTABLE, Outcome::crashed, true},
    {CUDA_ERROR_UNSUPPORTED_LIMIT, Outcome::refused, false},
    {CUDA_ERROR_INVALID_PTX, Outcome::unloadable, false},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, Outcome::crashed, true},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, Outcome::unloadable, false},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, Outcome::unloadable, false},
    {CUDA_ERROR_JIT_COMPILATION_DISABLED, Outcome::unloadable, false},
    {CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, Outcome::refused, false},
    {CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC, Outcome::unloadable, false},
    {CUDA_ERROR_CONTAINED, Outcome::crashed, true},
    {CUDA_ERROR_INVALID_SOURCE, Outcome::unloadable, false},
    {CUDA_ERROR_FILE_NOT_FOUND, Outcome::unloadable, false},
    {CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, Outcome::unloadable, false},
    {CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, Outcome::unloadable, false},
    {CUDA_ERROR_OPERATING_SYSTEM, Outcome::unavailable, false},
    {CUDA_ERROR_INVALID_HANDLE, Outcome::refused, false},
    {CUDA_ERROR_ILLEGAL_STATE, Outcome::refused, false},
    {CUDA_ERROR_NOT_FOUND, Outcome::unloadable, false},
    {CUDA_ERROR_NOT_READY, Outcome::refused, false},
    {CUDA_ERROR_ILLEGAL_ADDRESS, Outcome::illegal_access, true},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Outcome::refused, false},
    {CUDA_ERROR_LAUNCH_TIMEOUT, Outcome::timed_out, true},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, Outcome::crashed, true},
    {CUDA_ERROR_ASSERT, Outcome::trapped, true},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, Outcome::trapped, true},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, Outcome::trapped, true},
    {CUDA_ERROR_MISALIGNED_ADDRESS, Outcome::illegal_access, true},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, Outcome::illegal_access, true},
    {CUDA_ERROR_INVALID_PC, Outcome::trapped, true},
    {CUDA_ERROR_LAUNCH_FAILED, Outcome::trapped, true},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, Outcome::refused, false},
    {CUDA_ERROR_TENSOR_MEMORY_LEAK, Outcome::trapped, true},
    {CUDA_ERROR_NOT_PERMITTED, Outcome::refused, false},
    {CUDA_ERROR_NOT_SUPPORTED, Outcome::refused, false},
    {CUDA_ERROR_SYSTEM_NOT_READY, Outcome::unavailable, false},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, Outcome::unavailable, false},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, Outcome::unavailable, false},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, Outcome::unavailable, false},
    {CUDA_ERROR_MPS_RPC_FAILURE, Outcome::unavailable, false},
    {CUDA_ERROR_MPS_SERVER_NOT_READY, Outcome::unavailable, false},
    {CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, Outcome::unavailable, false},
    {CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, Outcome::unavailable, false},
    {CUDA_ERROR_MPS_CLIENT_TERMINATED, Outcome::crashed, true},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, Outcome::refused, false},
    {CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, Outcome::refused, false},
    {CUDA_ERROR_STREAM_CAPTURE_UNJOINED, Outcome::refused, false},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, Outcome::refused, false},
    {CUDA_ERROR_TIMEOUT, Outcome::timed_out, true},
    {CUDA_ERROR_INVALID_CLUSTER_SIZE, Outcome::refused, false},
    {CUDA_ERROR_FUNCTION_NOT_LOADED, Outcome::unloadable, false},
    {CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, Outcome::refused, false},
    {CUDA_ERROR_UNKNOWN, Outcome::crashed, true},
};

/// What the driver calls an error; its number where even that fails.
std::string words(const Driver& driver, CUresult result) {
  const char* name = nullptr;
  const char* text = nullptr;
  if (driver.cuGetErrorName == nullptr || driver.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr)
    return fmt::format("CUDA error {}", static_cast<int>(result));
  if (driver.cuGetErrorString == nullptr || driver.cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr)
    return name;
  return fmt::format("{}, {}", name, text);
}

}  // namespace

std::span<const ErrorRow> error_table() { return rows; }

CudaStatus to_status(const Driver& driver, CUresult result, std::string_view call) {
  if (result == CUDA_SUCCESS) return {};
  const auto row = std::find_if(std::begin(rows), std::end(rows), [&](const ErrorRow& r) { return r.error == result; });
  CudaStatus status{Outcome::crashed, fmt::format("{}: {}", call, words(driver, result)), true};
  if (row == std::end(rows)) return status;
  status.outcome = row->outcome;
  status.context_lost = row->context_lost;
  return status;
}

Response to_response(const CudaStatus& status) {
  Response response;
  response.outcome = status.outcome;
  response.reason = status.reason;
  response.context_lost = status.context_lost;
  return response;
}

}  // namespace tailor::gpu
