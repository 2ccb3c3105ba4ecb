// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernels are not recorded while they are counted: both want the GPU's profiling for themselves.
#include "gpu/collect.h"

#include "gpu/count.h"

namespace tailor::gpu {
namespace {

Trouble run_once(Opened& gpu, LoadedSequence& loaded) {
  if (Trouble trouble = queue_launches(gpu, loaded)) return trouble;
  if (Trouble trouble = finish(gpu, "cuStreamSynchronize after the counted launches")) return trouble;
  loaded.ran = true;
  return {};
}

Trouble prepare(Opened& gpu, LoadedSequence& loaded, ir::CacheState cache) {
  if (Trouble trouble = queue_reset(gpu, loaded)) return trouble;
  if (cache == ir::CacheState::warm) {
    if (Trouble trouble = run_once(gpu, loaded)) return trouble;
    if (Trouble trouble = queue_reset(gpu, loaded)) return trouble;
  }
  if (Trouble trouble = queue_cache_state(gpu, loaded, cache)) return trouble;
  return finish(gpu, "cuStreamSynchronize before the counted launches");
}

}  // namespace

Answer collect(Opened& gpu, LoadedSequence& loaded, const AskCount& ask) {
  if (!gpu.cupti) return answer_of({ir::Outcome::unavailable, gpu.cupti_why, false});
  gpu.trace.end();
  // Once without counting: what a launch needs for the first time must not fall into a range.
  if (Trouble trouble = queue_reset(gpu, loaded)) return answer_of(trouble);
  if (Trouble trouble = run_once(gpu, loaded)) return answer_of(trouble);
  CountTask task;
  task.context = gpu.current;
  task.device = gpu.device;
  task.chip = gpu.facts.chip;
  task.metrics = ask.metrics;
  task.prepare = [&] { return answer_of(prepare(gpu, loaded, ask.cache)); };
  task.launch = [&] { return answer_of(run_once(gpu, loaded)); };
  return counted(*gpu.cupti, task);
}

}  // namespace tailor::gpu
