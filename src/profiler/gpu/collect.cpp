// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels are not recorded while they are counted: both want the GPU's profiling for themselves.
#include "profiler/gpu/collect.h"

#include "profiler/gpu/count.h"

namespace tailor::gpu {
namespace {

CudaStatus run_once(OpenedGpu& gpu, LoadedSequence& loaded) {
  if (CudaStatus status = queue_launches(gpu, loaded)) return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after the counted launches")) return status;
  loaded.ran = true;
  return {};
}

CudaStatus prepare(OpenedGpu& gpu, LoadedSequence& loaded, ir::CacheState cache) {
  if (CudaStatus status = queue_reset(gpu, loaded)) return status;
  if (cache == ir::CacheState::warm) {
    if (CudaStatus status = run_once(gpu, loaded)) return status;
    if (CudaStatus status = queue_reset(gpu, loaded)) return status;
  }
  if (CudaStatus status = queue_cache_state(gpu, loaded, cache)) return status;
  return finish(gpu, "cuStreamSynchronize before the counted launches");
}

}  // namespace

Response collect(OpenedGpu& gpu, LoadedSequence& loaded, const CountRequest& request) {
  if (!gpu.cupti) return to_response({ir::Outcome::unavailable, gpu.cupti_reason, false});
  gpu.trace.end();
  // Once without counting: what a launch needs for the first time must not fall into a range.
  if (CudaStatus status = queue_reset(gpu, loaded)) return to_response(status);
  if (CudaStatus status = run_once(gpu, loaded)) return to_response(status);
  CountTask task;
  task.context = gpu.current;
  task.device = gpu.device;
  task.chip = gpu.properties.chip;
  task.metrics = request.metrics;
  task.prepare = [&] { return to_response(prepare(gpu, loaded, request.cache)); };
  task.launch = [&] { return to_response(run_once(gpu, loaded)); };
  return counted(*gpu.cupti, task);
}

}  // namespace tailor::gpu
