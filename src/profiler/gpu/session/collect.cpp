// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The two callbacks that counting needs: put buffers and caches back, run the launches once. The process was opened to
// count, so that no kernel of it is recorded: CUPTI does one or the other. The sequence runs once uncounted first,
// because what a launch needs for the first time must not fall into a range.
#include "profiler/gpu/session/collect.h"

#include "profiler/gpu/cupti/count.h"
#include "profiler/gpu/session/queue.h"

namespace tailor::gpu {
namespace {

CudaStatus run_once(OpenedGpu& gpu, LoadedSequence& loaded) {
  if (CudaStatus status = queue_launches(gpu, loaded); !status.ok()) return status;
  if (CudaStatus status = finish(gpu, "cuStreamSynchronize after the counted launches"); !status.ok()) return status;
  loaded.ran = true;
  return {};
}

CudaStatus prepare(OpenedGpu& gpu, LoadedSequence& loaded, ir::CacheState cache) {
  if (CudaStatus status = queue_reset(gpu, loaded); !status.ok()) return status;
  if (cache == ir::CacheState::warm) {
    if (CudaStatus status = run_once(gpu, loaded); !status.ok()) return status;
    if (CudaStatus status = queue_reset(gpu, loaded); !status.ok()) return status;
  }
  if (CudaStatus status = queue_cache_state(gpu, loaded, cache); !status.ok()) return status;
  return finish(gpu, "cuStreamSynchronize before the counted launches");
}

}  // namespace

Response collect(OpenedGpu& gpu, LoadedSequence& loaded, const CountRequest& request) {
  if (gpu.use != Use::count)
    return to_response({ir::Outcome::unavailable, "this process takes times; counters need one of their own", false});
  if (transfers(loaded.sequence) > 0)
    return to_response(
        {ir::Outcome::unavailable, "the sequence copies or fills memory, and counters are of kernels alone", false});
  if (!gpu.cupti) return to_response({ir::Outcome::unavailable, gpu.cupti_reason, false});
  // Once without counting: what a launch needs for the first time must not fall into a range.
  if (CudaStatus status = queue_reset(gpu, loaded); !status.ok()) return to_response(status);
  if (CudaStatus status = run_once(gpu, loaded); !status.ok()) return to_response(status);
  CountTask task;
  task.context = gpu.current;
  task.device = gpu.device;
  task.chip = gpu.properties.chip;
  task.metrics = request.metrics;
  task.prepare = [&] { return to_response(prepare(gpu, loaded, request.cache)); };
  task.launch = [&] { return to_response(run_once(gpu, loaded)); };
  if (gpu.counting == nullptr) gpu.counting = std::make_unique<CountSession>(*gpu.cupti);
  Response response = gpu.counting->count(task);
  if (!request.more) gpu.counting->rest();
  return response;
}

}  // namespace tailor::gpu
