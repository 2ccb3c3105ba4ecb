// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Which function serves which request. In: a request. Out: a response. The first response that loses the context is the
// last one but for what the machine can do: everything the context held is gone, and the driver would only repeat
// itself.
#include "profiler/gpu/session/gpu.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "profiler/gpu/session/capabilities.h"
#include "profiler/gpu/session/collect.h"
#include "profiler/gpu/session/loaded.h"
#include "profiler/gpu/session/open.h"
#include "profiler/gpu/session/run.h"
#include "profiler/gpu/session/sampling.h"

namespace tailor::gpu {

/// LoadedSequence sequences go before the GPU they lie on.
struct Gpu::Body {
  Clock clock;
  std::unique_ptr<OpenedGpu> gpu;
  std::map<int, std::unique_ptr<LoadedSequence>> loaded;
  std::map<int, std::weak_ptr<ArenaMemory>> arenas;  ///< shared ones, which last as long as a sequence lies there
  std::string lost;                                  ///< empty, or what lost the context

  Response operator()(const OpenRequest& request);
  Response operator()(const CapabilitiesRequest& request);
  Response operator()(const LoadRequest& request);
  Response operator()(const RunRequest& request);
  Response operator()(const TimeRequest& request);
  Response operator()(const CountRequest& request);
  Response operator()(const StateRequest& request);
  Response operator()(const UnloadRequest& request);

  CudaStatus ready() const;
  /// The sequence of that number, or why there is none.
  std::pair<LoadedSequence*, CudaStatus> sequence(int id) const;

  std::span<const std::byte> blob;  ///< of the question being answered
};

CudaStatus Gpu::Body::ready() const {
  if (!lost.empty()) return {ir::Outcome::unavailable, fmt::format("the context was lost earlier ({})", lost), true};
  if (gpu == nullptr) return {ir::Outcome::unavailable, "no GPU was opened", false};
  return {};
}

std::pair<LoadedSequence*, CudaStatus> Gpu::Body::sequence(int id) const {
  if (CudaStatus status = ready(); !status.ok()) return {nullptr, status};
  const auto found = loaded.find(id);
  if (found == loaded.end())
    return {nullptr, {ir::Outcome::unavailable, fmt::format("no sequence was loaded as number {}", id), false}};
  return {found->second.get(), {}};
}

Response Gpu::Body::operator()(const OpenRequest& request) {
  if (!lost.empty()) return to_response(ready());
  loaded.clear();
  gpu = std::make_unique<OpenedGpu>();
  gpu->clock = clock;
  if (CudaStatus status = open(request, *gpu); !status.ok()) {
    gpu.reset();
    return to_response(status);
  }
  Response response;
  response.properties = gpu->properties;
  response.capabilities = find_capabilities(request.paths, request.ordinal, request.use, gpu->current);
  for (Capability& capability : response.capabilities) {
    if (capability.name != "kernel timestamps" || capability.state != "ok" || gpu->trace_reason.empty()) continue;
    capability = {capability.name, "missing", gpu->trace_reason, "times by events (--timed-by events) need no CUPTI"};
  }
  return response;
}

Response Gpu::Body::operator()(const CapabilitiesRequest& request) {
  Response response;
  const bool same = gpu != nullptr && lost.empty() && gpu->ordinal == request.ordinal;
  // What this process is for is settled when it opens a GPU.
  const Use use = gpu == nullptr ? request.use : gpu->use;
  response.capabilities = find_capabilities(request.paths, request.ordinal, use, same ? gpu->current : nullptr);
  return response;
}

Response Gpu::Body::operator()(const LoadRequest& request) {
  if (CudaStatus status = ready(); !status.ok()) return to_response(status);
  loaded.erase(request.id);  // first, so that its memory is there for the new one
  auto made = std::make_unique<LoadedSequence>();
  std::shared_ptr<ArenaMemory> shared;
  if (request.arena >= 0) {
    shared = arenas[request.arena].lock();
    if (shared == nullptr) arenas[request.arena] = shared = std::make_shared<ArenaMemory>();
  }
  if (CudaStatus status = load(*gpu, request, blob, std::move(shared), *made); !status.ok()) return to_response(status);
  Response response;
  response.entries = made->entries;
  loaded[request.id] = std::move(made);
  return response;
}

Response Gpu::Body::operator()(const RunRequest& request) {
  const auto [found, status] = sequence(request.id);
  return found == nullptr ? to_response(status) : run(*gpu, *found, request);
}

Response Gpu::Body::operator()(const TimeRequest& request) {
  const auto [found, status] = sequence(request.id);
  return found == nullptr ? to_response(status) : take_times(*gpu, *found, request);
}

Response Gpu::Body::operator()(const CountRequest& request) {
  const auto [found, status] = sequence(request.id);
  return found == nullptr ? to_response(status) : collect(*gpu, *found, request);
}

Response Gpu::Body::operator()(const StateRequest&) {
  Response response = to_response(ready());
  if (gpu != nullptr) response.state = read_state(gpu->nvml);
  return response;
}

Response Gpu::Body::operator()(const UnloadRequest& request) {
  Response response = to_response(ready());
  loaded.erase(request.id);
  return response;
}

Gpu::Gpu(Clock clock) : body_(std::make_unique<Body>()) { body_->clock = std::move(clock); }
Gpu::~Gpu() = default;
Gpu::Gpu(Gpu&&) noexcept = default;
Gpu& Gpu::operator=(Gpu&&) noexcept = default;

Response Gpu::answer(const Request& request, std::span<const std::byte> blob) {
  body_->blob = blob;
  Response response = std::visit(*body_, request);
  if (response.context_lost && body_->lost.empty()) body_->lost = response.reason;
  body_->blob = {};
  return response;
}

}  // namespace tailor::gpu
