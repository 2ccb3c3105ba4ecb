// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver calls about streams and events, as exported functions. In: handles. Out: work in queues, and
// times between events. A stream that waits for a value of the host's memory holds back what comes
// behind it.
#include "fake_gpu/call.h"

namespace tailor::fake {
namespace {

/// Nothing may wait for a stream that is being captured.
CUresult unless_captured(Stream& stream) {
  if (!stream.capture) return CUDA_SUCCESS;
  stream.capture->broken = true;
  return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

/// An event as elapsed times need it.
CUresult usable(const std::shared_ptr<Event>& event) {
  if (!event || (event->flags & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  if (event->captured) return CUDA_ERROR_CAPTURED_EVENT;
  if (event->recorded == 0) return CUDA_ERROR_INVALID_HANDLE;
  return event->reached == event->recorded ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
  return driver_call("cuEventElapsedTime", Needs::context, [&](State& gpu) {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::shared_ptr<Event> first = gpu.events.find(start), last = gpu.events.find(end);
    if (const CUresult wrong = usable(first); wrong != CUDA_SUCCESS) return wrong;
    if (const CUresult wrong = usable(last); wrong != CUDA_SUCCESS) return wrong;
    const std::int64_t tick = gpu.config.chip.tick;
    const std::int64_t ns = last->time / tick * tick - first->time / tick * tick;
    *milliseconds = static_cast<float>(static_cast<double>(ns) * 1e-6);
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace tailor::fake

using namespace tailor::fake;

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return driver_call("cuStreamCreate", Needs::context, [&](State& gpu) {
    if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<Stream>();
    made->flags = flags;
    made->id = ++gpu.ids;
    *stream = reinterpret_cast<CUstream>(gpu.streams.add(std::move(made)));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy(CUstream stream) {
  return driver_call("cuStreamDestroy", Needs::context,
                     [&](State& gpu) { return gpu.streams.remove(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return driver_call("cuStreamSynchronize", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Stream> stream = find_stream(gpu, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (const CUresult captured = unless_captured(*stream); captured != CUDA_SUCCESS) return captured;
    return drained(gpu, *stream);
  });
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
  return driver_call("cuStreamWaitValue32", Needs::context, [&](State& gpu) {
    const void* where = nullptr;
    if (gpu.host.holds(address, 4))
      where = reinterpret_cast<const void*>(address);
    else
      where = gpu.memory.range(address, 4).data();
    if (where == nullptr || address % 4 != 0 || (flags & ~3u) != 0) return CUDA_ERROR_INVALID_VALUE;
    return enqueue(gpu, stream, WaitWork{static_cast<const volatile std::uint32_t*>(where), value, flags});
  });
}

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return driver_call("cuEventCreate", Needs::context, [&](State& gpu) {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
    if (event == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto made = std::make_shared<Event>();
    made->flags = flags;
    *event = reinterpret_cast<CUevent>(gpu.events.add(std::move(made)));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy(CUevent event) {
  return driver_call("cuEventDestroy", Needs::context,
                     [&](State& gpu) { return gpu.events.remove(event) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return driver_call("cuEventRecord", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Event> event = gpu.events.find(handle);
    const std::shared_ptr<Stream> stream = find_stream(gpu, stream_handle);
    if (!event || !stream) return CUDA_ERROR_INVALID_HANDLE;
    event->captured = stream->capture.has_value();
    if (event->captured) return CUDA_SUCCESS;  // only orders the graph's nodes
    return enqueue(gpu, stream_handle, RecordWork{event, ++event->recorded});
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return driver_call("cuEventSynchronize", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Event> event = gpu.events.find(handle);
    if (!event) return CUDA_ERROR_INVALID_HANDLE;
    if (event->captured) return CUDA_ERROR_CAPTURED_EVENT;
    pump(gpu);
    if (gpu.pending != CUDA_SUCCESS) return gpu.sticky = gpu.pending;
    if (event->reached != event->recorded) return not_yet;
    gpu.now = std::max(gpu.now, event->time);
    gpu.spend(gpu.config.chip.sync_time);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

// Drivers before 12.8 have only this one.
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

}  // extern "C"
