// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// An opened GPU: its libraries, the primary context, one stream, the kernels that measuring needs and the facts about
// it. Everything the answers are made with lies here, in one struct of one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/ask.h"
#include "gpu/cupti_api.h"
#include "gpu/driver.h"
#include "gpu/hold.h"
#include "gpu/nvml.h"
#include "gpu/owned.h"
#include "gpu/trace.h"
#include "gpu/trouble.h"

namespace tailor::gpu {

/// Kernels of kernels.h, loaded.
struct OwnKernels {
  Module module;
  CUfunction touch = nullptr, digest = nullptr, clock = nullptr, empty = nullptr;
};

/// Members are ended in reverse order, so what comes first outlives what was made with it.
struct Opened {
  Places places;
  Driver driver;
  Nvml nvml;
  std::optional<Cupti> cupti;
  std::string cupti_why;  ///< empty when there is CUPTI
  std::string trace_why;  ///< empty, or why kernels cannot be recorded though there is CUPTI
  int ordinal = 0;
  CUdevice device = 0;
  PrimaryContext context;
  CUcontext current = nullptr;  ///< the same, current in the thread that opened
  Stream stream;
  OwnKernels own;
  Hold hold;
  KernelTrace trace;
  DeviceMemory flush_buffer;  ///< allocated when first needed
  std::int64_t flush_bytes = 0;
  DeviceMemory readings;                              ///< of clocks; allocated when first needed
  std::vector<Event> before, after;                   ///< made when first needed
  std::chrono::steady_clock::time_point worked_at{};  ///< when times were last taken
  Facts facts;
  std::uint64_t next_seed = 1;  ///< of the guard zones of what is loaded next
};

/// Opens GPU number `ordinal` into `gpu`, which must stay where it is.
Trouble open(const Places& places, int ordinal, Opened& gpu);

int attribute(const Driver& driver, CUdevice device, CUdevice_attribute which);  ///< 0 when the driver does not tell
/// "GPU-8f6d…", as NVML and nvidia-smi write it; empty when the driver does not tell.
std::string uuid_of(const Driver& driver, CUdevice device);
std::string bus_of(const Driver& driver, CUdevice device);  ///< "0000:1b:00.0"
std::string name_of(const Driver& driver, CUdevice device);

}  // namespace tailor::gpu
