// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The capabilities that measuring needs, one after the other, each with what to do where it is missing or limited. In:
// where the libraries are. Out: a list for people, which `tailor doctor` prints. Made for a machine with nothing as
// much as for one with everything: what cannot be asked is left out.
#pragma once

#include <filesystem>
#include <vector>

#include "profiler/gpu/driver/driver.h"
#include "profiler/gpu/driver/nvml.h"
#include "profiler/gpu/request/request.h"

namespace tailor::gpu {

/// All capabilities that this use needs, from the driver up. Opens libraries, but no context. `context`: of this
/// process on that GPU, if any.
std::vector<Capability> find_capabilities(const LibraryPaths& paths, int ordinal, Use use, CUcontext context = nullptr);

/// Whether this user may read counters, by the driver's parameters and the process's capabilities. `proc`: /proc.
Capability permission_capability(const std::filesystem::path& proc);

/// ECC, MIG, clocks, power cap, persistence, other processes: those that NVML tells.
std::vector<Capability> state_capabilities(const Nvml& nvml);

}  // namespace tailor::gpu
