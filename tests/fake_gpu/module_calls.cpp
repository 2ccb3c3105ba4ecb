// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver calls about modules and functions, as exported functions: loading, entries, attributes,
// occupancy. In: what a caller passes. Out: handles and numbers, or the errors that the documentation
// names.
#include <algorithm>
#include <cstring>

#include "fake_gpu/call.h"
#include "fake_gpu/module.h"

namespace tailor::fake {
namespace {

/// The buffer and its size that the caller gave for a log; a later option of the same kind wins, as in the driver.
struct LogRoom {
  char* text = nullptr;
  void** size = nullptr;
};

void put_log(const std::string& log, const LogRoom& room) {
  if (room.size == nullptr) return;
  const auto most = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(*room.size));
  const std::size_t written = room.text == nullptr || most == 0 ? 0 : std::min(log.size(), most - 1);
  if (room.text != nullptr && most != 0) {
    std::memcpy(room.text, log.data(), written);
    room.text[written] = '\0';
  }
  *room.size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written == 0 ? 0 : written + 1));
}

CUresult read_options(unsigned count, const CUjit_option* options, void** values, LogRoom& info, LogRoom& error) {
  if (count != 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned k = 0; k < count; ++k) {
    if (options[k] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    if (options[k] == CU_JIT_INFO_LOG_BUFFER) info.text = static_cast<char*>(values[k]);
    if (options[k] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) info.size = &values[k];
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER) error.text = static_cast<char*>(values[k]);
    if (options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) error.size = &values[k];
  }
  return CUDA_SUCCESS;
}

CUresult attribute(const Function& function, CUfunction_attribute which, const Chip& chip, int& value) {
  const std::array<std::uint32_t, 3>& cluster = function.entry->cluster;
  switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return value = function.threads, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      return value = static_cast<int>(static_shared(function)), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      return value = function.registers, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return value = chip.compute_capability, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return value = static_cast<int>(function.dynamic_allowed), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: {
      std::int64_t bytes = 0;
      for (const simulator::PtxVariable& one : function.entry->variables)
        if (one.space == simulator::PtxSpace::local) bytes += one.bytes;
      return value = static_cast<int>(bytes), CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      return value = function.entry->explicit_cluster && cluster[0] == 0, CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      return value = static_cast<int>(cluster[0]), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      return value = static_cast<int>(cluster[1]), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      return value = static_cast<int>(cluster[2]), CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return value = function.large_clusters, CUDA_SUCCESS;
    default:
      value = 0;
      return which < CU_FUNC_ATTRIBUTE_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int count, CUjit_option* options,
                            void** values) {
  return driver_call("cuModuleLoadDataEx", Needs::context, [&](State& gpu) {
    if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult captured = unless_capturing(gpu); captured != CUDA_SUCCESS) return captured;
    LogRoom info, error;
    if (const CUresult wrong = read_options(count, options, values, info, error); wrong != CUDA_SUCCESS) return wrong;
    const Loaded loaded = load(image, gpu.config.chip);
    put_log("", info);
    put_log(loaded.log, error);
    if (loaded.result != CUDA_SUCCESS) return loaded.result;
    for (const std::shared_ptr<Function>& one : loaded.module->functions) gpu.functions.add(one);
    *module = reinterpret_cast<CUmodule>(gpu.modules.add(loaded.module));
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleUnload(CUmodule handle) {
  return driver_call("cuModuleUnload", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Module> module = gpu.modules.find(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    for (const std::shared_ptr<Function>& one : module->functions) gpu.functions.remove(one.get());
    gpu.modules.remove(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return driver_call("cuModuleGetFunction", Needs::context, [&](State& gpu) {
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<Module> module = gpu.modules.find(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    for (const std::shared_ptr<Function>& one : module->functions) {
      if (one->entry->name != name) continue;
      *function = reinterpret_cast<CUfunction>(one.get());
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction handle) {
  return driver_call("cuFuncGetAttribute", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Function> function = gpu.functions.find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return attribute(*function, which, gpu.config.chip, *value);
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute which, int value) {
  return driver_call("cuFuncSetAttribute", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Function> function = gpu.functions.find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    switch (which) {
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value + static_shared(*function) > gpu.config.chip.shared_per_block_optin)
          return CUDA_ERROR_INVALID_VALUE;
        function->dynamic_allowed = value;
        return CUDA_SUCCESS;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->large_clusters = value != 0;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* size) {
  return driver_call("cuFuncGetParamInfo", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Function> function = gpu.functions.find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    const auto& params = function->entry->params;
    if (offset == nullptr || index >= params.size()) return CUDA_ERROR_INVALID_VALUE;
    std::size_t at = 0;
    for (std::size_t k = 0; k <= index; ++k) {
      const std::size_t align = std::max(params[k].align, params[k].element_bytes);
      at = (at + align - 1) / align * align;
      *offset = at;
      at += static_cast<std::size_t>(params[k].bytes);
    }
    if (size != nullptr) *size = static_cast<std::size_t>(params[index].bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int threads, size_t dynamic) {
  return driver_call("cuOccupancyMaxActiveBlocksPerMultiprocessor", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Function> function = gpu.functions.find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (blocks == nullptr || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    *blocks = resident_blocks(*function, threads, static_cast<std::int64_t>(dynamic), gpu.config.chip);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
