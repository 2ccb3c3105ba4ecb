// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Owners of the driver's handles: contexts, modules, streams, events, memory, graphs. Each ends its handle when it
// goes, and says nothing of how that went: after a lost context every end fails, and the process is done with anyway.
// Held by OpenedGpu and LoadedSequence. The table of functions must outlive them.
#pragma once

#include <cstdint>
#include <utility>

#include "profiler/gpu/driver/cuda_status.h"
#include "profiler/gpu/driver/driver.h"

namespace tailor::gpu {

/// One handle and the function that ends it. Empty by default; moved, never copied.
template <class Handle, auto End>
class Owned {
 public:
  Owned() = default;
  Owned(const Driver& driver, Handle handle) : driver_(&driver), handle_(handle) {}
  Owned(Owned&& other) noexcept : driver_(std::exchange(other.driver_, nullptr)), handle_(other.handle_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(driver_, other.driver_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (driver_ != nullptr) static_cast<void>((driver_->*End)(handle_));
  }
  explicit operator bool() const { return driver_ != nullptr; }
  Handle operator*() const { return handle_; }

 private:
  const Driver* driver_ = nullptr;
  Handle handle_ = {};
};

using PrimaryContext = Owned<CUdevice, &Driver::cuDevicePrimaryCtxRelease>;
using Module = Owned<CUmodule, &Driver::cuModuleUnload>;
using Stream = Owned<CUstream, &Driver::cuStreamDestroy>;
using Event = Owned<CUevent, &Driver::cuEventDestroy>;
using DeviceMemory = Owned<CUdeviceptr, &Driver::cuMemFree>;
using PinnedMemory = Owned<void*, &Driver::cuMemFreeHost>;
using Recording = Owned<CUgraph, &Driver::cuGraphDestroy>;
using Replay = Owned<CUgraphExec, &Driver::cuGraphExecDestroy>;

/// Memory of the device. Zero bytes are one.
CudaStatus allocate(const Driver& driver, std::int64_t bytes, DeviceMemory& memory);
CudaStatus create(const Driver& driver, Event& event);

}  // namespace tailor::gpu
