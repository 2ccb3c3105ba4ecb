// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The compiler and the GPU as studies use them: where their libraries are looked for, the worker process that owns the
// GPU, and whether it is the GPU that was asked about. Paths that a person named come in, workers and loaded libraries
// go out. Called by measurer.cpp and by the commands that look at a machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "ir/device.h"
#include "profiler/compile/compiler.h"
#include "profiler/compile/nvrtc.h"
#include "profiler/measure/worker.h"

namespace tailor::study {

/// The word with which the program starts itself as a worker (profiler/measure/worker.h). Not a command.
inline constexpr std::string_view worker_flag = "--worker";
/// The same as a compiler (profiler/compile/compiler.h).
inline constexpr std::string_view compiler_flag = "--compiler";

/// Which compiler, and how long it may take.
struct CompilerOptions {
  std::string nvrtc = {};     ///< a library file; empty: the usual places
  double compile_limit = 60;  ///< s of a processor, for one kernel
  bool operator==(const CompilerOptions&) const = default;
};

/// Which GPU and which libraries.
struct GpuOptions {
  std::string driver, cupti, nvml;  ///< library files; empty: the usual places
  std::int64_t gpu = 0;             ///< number of the GPU, as the driver counts
  bool operator==(const GpuOptions&) const = default;
};

/// Where NVRTC is looked for: the named file, else the project's own environment, toolkits, the system's loader.
profiler::NvrtcPaths nvrtc_paths(const std::string& library);
profiler::FoundNvrtc find_compiler(const std::string& library);
/// This program started again for each thread that compiles. Throws Error(usage) for a limit that is none.
profiler::CompilerSetup compiler_setup(const CompilerOptions& options);

/// Where the GPU's libraries are: files that were named, else the usual places.
gpu::LibraryPaths gpu_libraries(const GpuOptions& options);

/// A worker that is this program started again, for one use of the GPU.
profiler::WorkerSetup worker_setup(const GpuOptions& options, gpu::Use use, std::stop_token stop);

/// The use of a worker that takes times by this word of the command line: "events" leaves CUPTI alone.
gpu::Use use_for(std::string_view timed_by);

/// Everything that measuring needs, capability by capability, of two processes: one counts and ends, then one traces.
/// Without a GPU the response says why.
gpu::Response find_capabilities(const GpuOptions& options, std::stop_token stop);

/// Opens the GPU. Throws Error(missing) without one, with what to do, and for one that `device` does not describe.
void require_gpu(profiler::Worker& worker, const ir::Device& device);

/// The file in `data`/devices that describes the GPU found. Throws Error(missing) when none does, or several.
std::string device_of_gpu(profiler::Worker& worker, const std::filesystem::path& data);

}  // namespace tailor::study
