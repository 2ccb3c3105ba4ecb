// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The launch: what the driver checks before anything runs. In: a function, a shape, arguments. Out: work in a
// stream's queue, or the error that the driver gives. Arguments are copied here, so a caller may reuse its
// room.
#include <algorithm>
#include <cstring>

#include "fake_gpu/call.h"
#include "fake_gpu/module.h"
#include "profiler/simulator/machine/launch_memory.h"

namespace tailor::fake {
namespace {

constexpr std::uint32_t portable_cluster = 8, most_cluster = 16;

CUresult read_attributes(const CUlaunchConfig& config, const Chip& chip, simulator::Launch& launch, bool& early) {
  if (config.numAttrs != 0 && config.attrs == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned k = 0; k < config.numAttrs; ++k) {
    const CUlaunchAttribute& one = config.attrs[k];
    switch (one.id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch.cooperative = one.value.cooperative != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        launch.cluster = {one.value.clusterDim.x, one.value.clusterDim.y, one.value.clusterDim.z};
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:  // here kernels run one after the other all the same
        if (chip.compute_capability < 90) return CUDA_ERROR_NOT_SUPPORTED;
        early = one.value.programmaticStreamSerializationAllowed != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        break;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult read_arguments(const Function& function, void** given, simulator::Launch& launch) {
  const auto& params = function.entry->params;
  if (!params.empty() && given == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t k = 0; k < params.size(); ++k) {
    if (given[k] == nullptr) return CUDA_ERROR_INVALID_VALUE;
    simulator::Argument made;
    made.value.resize(static_cast<std::size_t>(params[k].bytes));
    std::memcpy(made.value.data(), given[k], made.value.size());
    launch.arguments.push_back(std::move(made));
  }
  return CUDA_SUCCESS;
}

std::uint64_t volume(const simulator::Extent3& extent) { return std::uint64_t{extent[0]} * extent[1] * extent[2]; }

CUresult check_cluster(const Function& function, simulator::Launch& launch, const Chip& chip) {
  const simulator::Extent3 none{1, 1, 1};
  simulator::Extent3 wanted = function.entry->cluster;
  for (std::uint32_t& one : wanted) one = std::max(one, 1u);
  if (function.entry->cluster[0] != 0) {
    if (launch.cluster != none && launch.cluster != wanted) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    launch.cluster = wanted;
  }
  if (launch.cluster == none) return CUDA_SUCCESS;
  if (chip.compute_capability < 90) return CUDA_ERROR_NOT_SUPPORTED;
  const std::uint64_t blocks = volume(launch.cluster);
  if (blocks == 0 || blocks > most_cluster || (blocks > portable_cluster && !function.large_clusters))
    return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  for (std::size_t d = 0; d < 3; ++d)
    if (launch.grid[d] % launch.cluster[d] != 0) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

/// Of a launch whose cluster was checked.
int clusters_at_once(const Function& function, const simulator::Launch& launch, const Chip& chip) {
  return resident_clusters(function, static_cast<int>(volume(launch.block)), launch.dynamic_shared,
                           static_cast<std::int64_t>(volume(launch.cluster)), chip);
}

CUresult check(const Function& function, simulator::Launch& launch, const Chip& chip) {
  const std::uint64_t threads = volume(launch.block);
  if (volume(launch.grid) == 0 || threads == 0 || threads > 1024 || launch.block[2] > 64)
    return CUDA_ERROR_INVALID_VALUE;
  if (launch.grid[0] > 0x7fffffffu || launch.grid[1] > 65535 || launch.grid[2] > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (launch.dynamic_shared > function.dynamic_allowed) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult wrong = check_cluster(function, launch, chip); wrong != CUDA_SUCCESS) return wrong;
  const bool bounded = function.entry->reqntid[0] != 0 || function.entry->maxntid[0] != 0;
  if (threads > static_cast<std::uint64_t>(function.threads))
    return bounded ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  const int resident = resident_blocks(function, static_cast<int>(threads), launch.dynamic_shared, chip);
  if (resident == 0) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  if (clusters_at_once(function, launch, chip) == 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
  if (launch.cooperative &&
      volume(launch.grid) > std::uint64_t{static_cast<unsigned>(resident)} * static_cast<unsigned>(chip.sms))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;
namespace simulator = tailor::simulator;

extern "C" {

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction handle, void** arguments, void** extra) {
  return driver_call("cuLaunchKernelEx", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Function> function = gpu.functions.find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (config == nullptr || extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    simulator::Launch launch;
    bool early = false;
    launch.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    launch.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    launch.dynamic_shared = config->sharedMemBytes;
    if (const CUresult wrong = read_attributes(*config, gpu.config.chip, launch, early); wrong != CUDA_SUCCESS)
      return wrong;
    if (const CUresult wrong = check(*function, launch, gpu.config.chip); wrong != CUDA_SUCCESS) return wrong;
    if (const CUresult wrong = read_arguments(*function, arguments, launch); wrong != CUDA_SUCCESS) return wrong;
    if (!function->program->unsupported().empty()) {
      tell("cuLaunchKernelEx", function->program->unsupported());
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    const std::string refused =
        simulator::refusal(function->program->decoded(), launch, gpu.memory.simulated(), launch.cluster, {});
    if (!refused.empty()) return CUDA_ERROR_INVALID_VALUE;
    if (must_wait(gpu, config->hStream, !function->launched)) return not_yet;
    function->launched = true;
    gpu.spend(gpu.config.chip.launch_time);
    return enqueue(gpu, config->hStream, KernelWork{function, std::move(launch), early});
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  return driver_call("cuOccupancyMaxActiveClusters", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Function> function = gpu.functions.find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (clusters == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    simulator::Launch launch;
    bool early = false;
    launch.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    launch.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    launch.dynamic_shared = config->sharedMemBytes;
    if (const CUresult wrong = read_attributes(*config, gpu.config.chip, launch, early); wrong != CUDA_SUCCESS)
      return wrong;
    if (const CUresult wrong = check_cluster(*function, launch, gpu.config.chip); wrong != CUDA_SUCCESS) return wrong;
    *clusters = clusters_at_once(*function, launch, gpu.config.chip);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
