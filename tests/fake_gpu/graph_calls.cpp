// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver calls about stream capture and graphs, as exported functions. In: a stream that captures. Out: a
// graph that holds the captured work in order, as one stream makes it, and that can be launched again and
// again.
#include "fake_gpu/call.h"

using namespace tailor::fake;

extern "C" {

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return driver_call("cuStreamBeginCapture", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Stream> stream = find_stream(gpu, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (stream == gpu.legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
    stream->capture.emplace();
    stream->capture->mode = mode;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return driver_call("cuStreamEndCapture", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Stream> stream = find_stream(gpu, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!stream->capture) return CUDA_ERROR_ILLEGAL_STATE;
    const Capture taken = std::move(*stream->capture);
    stream->capture.reset();
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *graph = nullptr;
    if (taken.broken) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    auto made = std::make_shared<Graph>(taken.graph);
    made->id = ++gpu.ids;
    *graph = reinterpret_cast<CUgraph>(gpu.graphs.add(std::move(made)));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph handle, unsigned long long flags) {
  return driver_call("cuGraphInstantiateWithFlags", Needs::context, [&](State& gpu) {
    const std::shared_ptr<Graph> graph = gpu.graphs.find(handle);
    if (exec == nullptr || !graph || flags > 15) return CUDA_ERROR_INVALID_VALUE;
    *exec = reinterpret_cast<CUgraphExec>(gpu.graph_execs.add(std::make_shared<GraphExec>(GraphExec{graph, false})));
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  return driver_call("cuGraphLaunch", Needs::context, [&](State& gpu) {
    const std::shared_ptr<GraphExec> exec = gpu.graph_execs.find(handle);
    if (!exec) return CUDA_ERROR_INVALID_VALUE;
    if (must_wait(gpu, stream, !exec->launched)) return not_yet;
    exec->launched = true;
    gpu.spend(gpu.config.chip.launch_time);
    return enqueue(gpu, stream, GraphWork{exec->graph});
  });
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  return driver_call("cuGraphExecDestroy", Needs::context, [&](State& gpu) {
    return gpu.graph_execs.remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuGraphDestroy(CUgraph handle) {
  return driver_call("cuGraphDestroy", Needs::context,
                     [&](State& gpu) { return gpu.graphs.remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}

}  // extern "C"
