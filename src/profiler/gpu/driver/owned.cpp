// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Making what owned.h owns. In: a size. Out: memory, or a status that says why not. Device memory that is not
// there is the most common failure of all, so its sentence has the numbers: how much was wanted and how much is
// free.
#include "profiler/gpu/driver/owned.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace tailor::gpu {

CudaStatus allocate(const Driver& driver, std::int64_t bytes, DeviceMemory& memory) {
  CUdeviceptr address = 0;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  CudaStatus status = to_status(driver, driver.cuMemAlloc(&address, size), "cuMemAlloc");
  if (status.ok()) {
    memory = DeviceMemory(driver, address);
    return status;
  }
  std::size_t free = 0, total = 0;
  if (status.outcome == ir::Outcome::no_memory && driver.cuMemGetInfo(&free, &total) == CUDA_SUCCESS) {
    status.reason += fmt::format("; {} wanted, {} of {} free", humane_bytes(static_cast<double>(size)),
                                 humane_bytes(static_cast<double>(free)), humane_bytes(static_cast<double>(total)));
  }
  return status;
}

CudaStatus create(const Driver& driver, Event& event) {
  CUevent handle = nullptr;
  if (CudaStatus status = to_status(driver, driver.cuEventCreate(&handle, CU_EVENT_DEFAULT), "cuEventCreate");
      !status.ok())
    return status;
  event = Event(driver, handle);
  return {};
}

}  // namespace tailor::gpu
