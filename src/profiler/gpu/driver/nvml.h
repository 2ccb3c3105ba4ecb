// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// NVML, the driver's library of clocks, power and temperatures, and the one GPU of it that was opened. In: an opened
// library and the GPU's UUID or bus. Out: the GPU's state now. Called when a GPU is opened, before and after every
// batch of samples, and for the capabilities. Every function is optional: what cannot be asked is not known, and
// nothing depends on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/gpu/driver/library.h"

namespace tailor::gpu {

struct Nvml {
#define NVML_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "profiler/gpu/driver/nvml.def"
#undef NVML_FUNCTION
  void* device = nullptr;  ///< nullptr: not found, or NVML could not begin
  std::string reason;      ///< empty when there is a device
};

/// Begins NVML and finds a GPU by UUID ("GPU-…"), else by its bus ("0000:1b:00.0").
Nvml open_nvml_device(const Library& library, const std::string& uuid, const std::string& bus);

/// What NVML tells of the GPU; what it does not tell is left at its default.
GpuState read_state(const Nvml& nvml);
/// Its part that changes within a millisecond, for a fraction of the time that asking for all takes.
std::uint32_t read_throttle(const Nvml& nvml);
double read_sm_clock(const Nvml& nvml);  ///< Hz; 0: not known
std::string driver_version(const Nvml& nvml);
std::optional<bool> ecc_on(const Nvml& nvml);
std::optional<bool> mig_on(const Nvml& nvml);
std::optional<bool> persistence_on(const Nvml& nvml);
double sm_clock_max(const Nvml& nvml);         ///< Hz; 0: not known
double dram_clock_max(const Nvml& nvml);       ///< Hz; 0: not known
double power_limit_default(const Nvml& nvml);  ///< W; 0: not known
/// Processes that have a context on the GPU, this one not among them; nothing when NVML does not tell.
std::optional<std::vector<std::uint32_t>> other_processes(const Nvml& nvml);

}  // namespace tailor::gpu
