// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel timestamps: CUPTI's activity records of kernels, from when they are asked for until they are taken. In: a
// Cupti. Out: a span of time for each kernel that ran. Held by OpenedGpu, used by session/sampling.cpp. CUPTI hands
// records to functions that know nothing of who asked, on threads of its own, so what they fill is one for the process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/gpu/cupti/cupti_api.h"
#include "profiler/gpu/cupti/timing.h"
#include "profiler/gpu/driver/cuda_status.h"

namespace tailor::gpu {

/// Whether CUPTI serves this process: nothing, or who holds it instead, with CUPTI's words. Leaves nothing behind.
std::string held_by_another(const Cupti& api);

class KernelTrace {
 public:
  KernelTrace() = default;
  ~KernelTrace();
  KernelTrace(const KernelTrace&) = delete;
  KernelTrace& operator=(const KernelTrace&) = delete;

  /// From now on kernels are recorded; nothing when they are already. `api` must outlive this.
  CudaStatus begin(const Cupti& api);
  /// Kernels run without being recorded again. A release of CUPTI that may hang here goes on recording.
  void end();
  bool on() const { return api_ != nullptr; }

  /// Forgets what was recorded up to now.
  CudaStatus clear();
  /// What was recorded since clear(); precondition: on(), and the GPU has been waited for. CUPTI is pressed when there
  /// are fewer than `expected`.
  CudaStatus take(std::size_t expected, std::vector<KernelSpan>& spans);

 private:
  CudaStatus flush(std::uint32_t flag);

  const Cupti* api_ = nullptr;
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

}  // namespace tailor::gpu
