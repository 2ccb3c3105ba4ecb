// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// What a machine has of what measuring needs, one layer after the other, each with what to do where it is missing or
// limited. Made for a machine with nothing as much as for one with everything: what cannot be asked is left out.
#pragma once

#include <filesystem>
#include <vector>

#include "gpu/ask.h"
#include "gpu/driver.h"
#include "gpu/nvml.h"

namespace tailor::gpu {

/// All layers, from the driver up. Opens libraries, but no context. `context`: of this process on that GPU, if any.
std::vector<Layer> layers_of(const Places& places, int ordinal, CUcontext context = nullptr);

/// Whether this user may read counters, by the driver's parameters and the process's capabilities. `proc`: /proc.
Layer permission_layer(const std::filesystem::path& proc);

/// ECC, MIG, clocks, power cap, persistence, other processes: those that NVML tells.
std::vector<Layer> state_layers(const Nvml& nvml);

}  // namespace tailor::gpu
