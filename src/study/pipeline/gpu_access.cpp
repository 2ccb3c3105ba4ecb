// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Opening a GPU, and refusing the wrong one. In: libraries, a number, the device that was named. Out: a worker that
// has the GPU open, or an Error with every figure that differs. Called by the measurers and by doctor. A GPU whose
// figures differ from the device file's would make every prediction about it wrong without a word, so it is refused.
#include "study/pipeline/gpu_access.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/installation.h"
#include "profiler/gpu/request/library_paths.h"
#include "profiler/measure/gpu_match.h"

namespace tailor::study {

namespace {

const gpu::GpuProperties& opened_properties(profiler::Worker& worker) {
  const gpu::Response& opened = worker.opened();
  if (opened.outcome == ir::Outcome::stopped) throw Error(Fault::interrupted, "interrupted");
  if (opened.outcome != ir::Outcome::ok) {
    std::string remedy = "tailor doctor says what is missing; commands with --profiler replay answer from records";
    for (const gpu::Capability& capability : opened.capabilities)
      if (capability.state == "missing" && !capability.remedy.empty()) {
        remedy = capability.remedy;
        break;
      }
    throw Error(Fault::missing, "no GPU to measure on: " + opened.reason, remedy);
  }
  return opened.properties;
}

}  // namespace

profiler::NvrtcPaths nvrtc_paths(const std::string& library) {
  profiler::NvrtcPaths paths = profiler::default_nvrtc_paths(own_installation().environments);
  paths.library = library;
  return paths;
}

profiler::FoundNvrtc find_compiler(const std::string& library) { return profiler::find_nvrtc(nvrtc_paths(library)); }

profiler::CompilerSetup compiler_setup(const CompilerOptions& options) {
  if (!(options.compile_limit > 0))
    throw Error(Fault::usage,
                fmt::format("--compile-limit: found {}, expected seconds above 0", options.compile_limit));
  return {own_command({std::string(compiler_flag)}), {options.compile_limit}};
}

gpu::LibraryPaths gpu_libraries(const GpuOptions& options) {
  gpu::LibraryPaths paths = gpu::default_library_paths(own_installation().environments);
  paths.cupti = options.cupti;
  paths.driver = options.driver;
  paths.nvml = options.nvml;
  return paths;
}

profiler::WorkerSetup worker_setup(const GpuOptions& options, gpu::Use use, std::stop_token stop) {
  profiler::WorkerSetup setup;
  setup.use = use;
  setup.command = own_command({std::string(worker_flag)});
  setup.paths = gpu_libraries(options);
  setup.ordinal = static_cast<int>(options.gpu);
  setup.stop = std::move(stop);
  return setup;
}

gpu::Use use_for(std::string_view timed_by) {
  return timed_by == ir::name(ir::TimedBy::events) ? gpu::Use::events : gpu::Use::trace;
}

gpu::Response find_capabilities(const GpuOptions& options, std::stop_token stop) {
  constexpr Seconds patience{30};
  const auto asked = [&](gpu::Use use) {
    profiler::WorkerSetup setup = worker_setup(options, use, stop);
    const gpu::CapabilitiesRequest request{setup.paths, setup.ordinal, use};
    return profiler::Worker(std::move(setup)).call(request, {}, patience);
  };
  const gpu::Response counting = asked(gpu::Use::count);
  gpu::Response all = asked(gpu::Use::trace);
  const auto known = [&](const gpu::Capability& one) {
    return std::any_of(all.capabilities.begin(), all.capabilities.end(),
                       [&](const gpu::Capability& other) { return other.name == one.name; });
  };
  // After what CUPTI can record comes what it can count.
  const auto after = std::find_if(all.capabilities.begin(), all.capabilities.end(),
                                  [](const gpu::Capability& one) { return one.name == "other profilers"; });
  if (after == all.capabilities.end()) return all;
  std::vector<gpu::Capability> more;
  for (const gpu::Capability& one : counting.capabilities)
    if (!known(one)) more.push_back(one);
  all.capabilities.insert(after + 1, more.begin(), more.end());
  return all;
}

void require_gpu(profiler::Worker& worker, const ir::Device& device) {
  const gpu::GpuProperties& properties = opened_properties(worker);
  const std::vector<std::string> differ = profiler::mismatches(device, properties);
  if (differ.empty()) return;
  throw Error(Fault::missing,
              fmt::format("the GPU is a {}, which is not what {} describes: {}", properties.name, device.name,
                          fmt::join(differ, "; ")),
              "--device names the file of the GPU that measures; tailor devices lists them");
}

std::string device_of_gpu(profiler::Worker& worker, const std::filesystem::path& data) {
  const gpu::GpuProperties& properties = opened_properties(worker);
  std::vector<std::string> fitting;
  const std::string folder = (data / "devices").string();
  for (const std::string& name : ir::device_names(folder))
    if (profiler::mismatches(ir::find_device(name, folder), properties).empty()) fitting.push_back(name);
  if (fitting.size() == 1) return fitting.front();
  throw Error(Fault::missing,
              fitting.empty() ? fmt::format("no file in {} describes the GPU found, a {}", folder, properties.name)
                              : fmt::format("several files describe the GPU found, a {}: {}", properties.name,
                                            fmt::join(fitting, ", ")),
              "--device names the file");
}

}  // namespace tailor::study
