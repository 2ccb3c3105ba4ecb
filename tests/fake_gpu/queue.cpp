// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams as queues. In: work in the order of the calls. Out: the same work run, in an order that the streams' rules
// allow. Work runs when it is asked for, unless something before it in its stream waits for the host. The legacy stream
// and blocking streams wait for each other in the order of asking. Once a kernel did wrong nothing runs any more, and
// the next call that waits reports it.
#include <algorithm>

#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

bool is_met(const WaitWork& wait) {
  const std::uint32_t found = *wait.where;
  switch (wait.flags & 3u) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<std::int32_t>(found - wait.value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return found == wait.value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (found & wait.value) != 0;
    default:
      return ~(found | wait.value) != 0;
  }
}

bool blocks_with_legacy(const Stream& stream) { return (stream.flags & CU_STREAM_NON_BLOCKING) == 0; }

/// Whether something that was asked for before it, in a stream that it waits for, has not run yet.
bool waits_for_others(const State& gpu, const Stream& stream, std::uint64_t number) {
  const auto earlier = [&](const Stream& other) { return !other.queue.empty() && other.queue.front().number < number; };
  if (&stream != gpu.legacy.get()) return blocks_with_legacy(stream) && earlier(*gpu.legacy);
  return std::any_of(gpu.streams.all().begin(), gpu.streams.all().end(),
                     [&](const auto& one) { return blocks_with_legacy(*one.second) && earlier(*one.second); });
}

std::int64_t latest(const State& gpu) {
  std::int64_t last = gpu.legacy->ready;
  for (const auto& [handle, one] : gpu.streams.all())
    if (blocks_with_legacy(*one)) last = std::max(last, one->ready);
  return last;
}

/// Runs the first piece of the queue if it can run.
bool step(State& gpu, Stream& stream) {
  if (stream.queue.empty() || stream.hung) return false;
  const Queued& first = stream.queue.front();
  if (waits_for_others(gpu, stream, first.number)) return false;
  const auto* wait = std::get_if<WaitWork>(&first.work);
  if (wait != nullptr && !is_met(*wait)) return false;
  const Queued taken = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (&stream == gpu.legacy.get()) stream.ready = latest(gpu);
  if (blocks_with_legacy(stream)) stream.ready = std::max(stream.ready, gpu.legacy->ready);
  if (wait != nullptr)
    stream.ready = std::max(stream.ready, gpu.now);
  else if (gpu.pending == CUDA_SUCCESS)
    run(gpu, stream, taken.work, taken.asked_at);
  return true;
}

CUresult settled(State& gpu) {
  if (gpu.pending != CUDA_SUCCESS) gpu.sticky = gpu.pending;
  return gpu.sticky;
}

}  // namespace

std::shared_ptr<Stream> find_stream(State& gpu, CUstream handle) {
  if (handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) return gpu.legacy;
  return gpu.streams.find(handle);
}

void pump(State& gpu) {
  for (bool moved = true; moved;) {
    moved = false;
    while (step(gpu, *gpu.legacy)) moved = true;
    for (const auto& [handle, one] : gpu.streams.all())
      while (step(gpu, *one)) moved = true;
  }
}

bool must_wait(State& gpu, CUstream handle, bool first_time) {
  const std::shared_ptr<Stream> stream = find_stream(gpu, handle);
  if (!stream || stream->capture) return false;
  pump(gpu);
  if (static_cast<std::int64_t>(stream->queue.size()) >= gpu.config.queue_depth) return true;
  const auto held = [](const Stream& one) { return !one.queue.empty(); };
  return first_time && (held(*gpu.legacy) || std::any_of(gpu.streams.all().begin(), gpu.streams.all().end(),
                                                         [&](const auto& one) { return held(*one.second); }));
}

CUresult enqueue(State& gpu, CUstream handle, AnyWork work) {
  const std::shared_ptr<Stream> stream = find_stream(gpu, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    if (stream->capture->broken) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream->capture->graph.nodes.push_back(std::move(work));
    return CUDA_SUCCESS;
  }
  // The legacy stream would wait for a stream that is being captured, which cannot be.
  if (stream == gpu.legacy)
    for (const auto& [other_handle, other] : gpu.streams.all())
      if (other->capture && blocks_with_legacy(*other)) {
        other->capture->broken = true;
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
      }
  stream->queue.push_back({std::move(work), ++gpu.queued, gpu.now});
  pump(gpu);
  return CUDA_SUCCESS;
}

CUresult unless_capturing(State& gpu) {
  for (const auto& [handle, one] : gpu.streams.all()) {
    if (!one->capture || one->capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED) continue;
    one->capture->broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return CUDA_SUCCESS;
}

CUresult drained(State& gpu, Stream& stream) {
  pump(gpu);
  if (stream.hung || !stream.queue.empty()) return not_yet;
  if (&stream == gpu.legacy.get()) {
    for (const auto& [handle, one] : gpu.streams.all()) {
      if (!blocks_with_legacy(*one)) continue;
      if (one->hung || !one->queue.empty()) return not_yet;
      gpu.activity.waited_for(one->id);
    }
    stream.ready = latest(gpu);
  }
  gpu.now = std::max(gpu.now, stream.ready);
  gpu.spend(gpu.config.chip.sync_time);
  gpu.activity.waited_for(stream.id);
  return settled(gpu);
}

CUresult drained_all(State& gpu) {
  pump(gpu);
  std::int64_t last = gpu.legacy->ready;
  if (gpu.legacy->hung || !gpu.legacy->queue.empty()) return not_yet;
  for (const auto& [handle, one] : gpu.streams.all()) {
    if (one->hung || !one->queue.empty()) return not_yet;
    last = std::max(last, one->ready);
  }
  gpu.now = std::max(gpu.now, last);
  gpu.spend(gpu.config.chip.sync_time);
  gpu.activity.waited_for_all();
  return settled(gpu);
}

}  // namespace tailor::fake
