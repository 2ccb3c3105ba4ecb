// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An opened GPU: its libraries, the primary context, one stream, the kernels that measuring needs and the facts about
// it. In: where the libraries are and the GPU's number. Out: an OpenedGpu, which everything that serves a request is
// given. It is one struct of one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "profiler/gpu/cupti/count.h"
#include "profiler/gpu/cupti/cupti_api.h"
#include "profiler/gpu/cupti/trace.h"
#include "profiler/gpu/driver/cuda_status.h"
#include "profiler/gpu/driver/driver.h"
#include "profiler/gpu/driver/nvml.h"
#include "profiler/gpu/driver/owned.h"
#include "profiler/gpu/driver/stream_blocker.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// Kernels of kernels.h, loaded.
struct OwnKernels {
  Module module;
  CUfunction touch = nullptr, sweep = nullptr, generate = nullptr, differ = nullptr, digest = nullptr, clock = nullptr,
             empty = nullptr;
};

/// Members are ended in reverse order, so what comes first outlives what was made with it.
struct OpenedGpu {
  LibraryPaths paths;
  Use use = Use::trace;
  Driver driver;
  Nvml nvml;
  std::optional<Cupti> cupti;
  std::string cupti_reason;  ///< empty when there is CUPTI
  std::string trace_reason;  ///< empty, or why kernels are not recorded
  int ordinal = 0;
  CUdevice device = 0;
  PrimaryContext context;
  CUcontext current = nullptr;  ///< the same, current in the thread that opened
  Stream stream;
  OwnKernels own;
  StreamBlocker blocker;
  KernelTrace trace;
  std::unique_ptr<CountSession> counting;   ///< made when first needed
  DeviceMemory flush_buffer, sweep_buffer;  ///< allocated when first needed, of flush_bytes each
  std::int64_t flush_bytes = 0;
  DeviceMemory readings;             ///< of clocks; allocated when first needed
  std::vector<Event> before, after;  ///< made when first needed
  Clock clock;                       ///< whose seconds the next two are
  std::optional<Seconds> worked_at;  ///< when times were last taken
  GpuState state;                    ///< as NVML told at `state_at`
  std::optional<Seconds> state_at;
  GpuProperties properties;
  std::uint64_t next_seed = 1;                 ///< of the guard zones of what is loaded next
  std::set<std::string, std::less<>> entries;  ///< of all kernels that were ever loaded
};

/// Opens the GPU of the request into `gpu`, which must stay where it is.
CudaStatus open(const OpenRequest& request, OpenedGpu& gpu);

int attribute(const Driver& driver, CUdevice device, CUdevice_attribute which);  ///< 0 when the driver does not tell
/// "GPU-8f6d…", as NVML and nvidia-smi write it; empty when the driver does not tell.
std::string uuid_of(const Driver& driver, CUdevice device);
std::string bus_of(const Driver& driver, CUdevice device);  ///< "0000:1b:00.0"
std::string name_of(const Driver& driver, CUdevice device);

}  // namespace tailor::gpu
