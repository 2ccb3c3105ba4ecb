// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The GPU as the commands use it: which libraries, which worker, and whether it is the one that was asked about.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "cli/commands.h"
#include "ir/device.h"
#include "profiler/measure/worker.h"

namespace tailor::cli {

/// Where the libraries are: files that were named, else the usual places.
gpu::LibraryPaths gpu_libraries(const GpuOptions& options);

/// A worker that is this program started again.
profiler::WorkerSetup worker_setup(const GpuOptions& options, std::stop_token stop);

/// Opens the GPU. Throws Error(missing) without one, with what to do, and for one that `device` does not describe.
void require_gpu(profiler::Worker& worker, const ir::Device& device);

/// The file in `data`/devices that describes the GPU found. Throws Error(missing) when none does, or several.
std::string device_of_gpu(profiler::Worker& worker, const Context& context);

}  // namespace tailor::cli
