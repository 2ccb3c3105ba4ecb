// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A GPU in this process: CUDA's driver library, CUPTI and NVML, loaded at run time, behind one function that serves
// requests (request/request.h). Called by the worker's process (measure/worker_serve.cpp) and by tests. Built without
// CUDA's headers it answers every request with outcome unavailable and the reason. Loading a damaged or wrong kernel
// may lose the context or the process: callers that must go on use a worker process.
#pragma once

#include <memory>
#include <span>

#include "base/clock.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

class Gpu {
 public:
  /// The clock tells how long the GPU was idle and how old what NVML said is.
  explicit Gpu(Clock clock = steady_clock());
  ~Gpu();
  Gpu(Gpu&&) noexcept;
  Gpu& operator=(Gpu&&) noexcept;

  /// `blob` goes with LoadRequest, see there. Never throws for what driver, GPU or kernel do. Always from one thread:
  /// the driver's context is the thread's.
  Response answer(const Request& request, std::span<const std::byte> blob = {});

  struct Body;

 private:
  std::unique_ptr<Body> body_;
};

}  // namespace tailor::gpu
