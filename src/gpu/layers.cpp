// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver, GPU, NVML, CUPTI, timestamps, other profilers, counters. Above a layer that is missing there is nothing to
// ask.
#include "gpu/layers.h"

#include <fmt/format.h>

#include <fstream>
#include <string_view>
#include <variant>

#include "gpu/count.h"
#include "gpu/open.h"
#include "gpu/trace.h"

namespace tailor::gpu {
namespace {

Layer ok(std::string name, std::string detail) { return {std::move(name), "ok", std::move(detail), {}}; }

std::string cuda_text(int version) { return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10); }

/// The rest of the line of a small file that begins so, without blanks in front; empty when there is none.
std::string line_after(const std::filesystem::path& file, std::string_view key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find_first_not_of(" \t", key.size());
    return value == line.npos ? "" : line.substr(value);
  }
  return {};
}

/// The GPU, or the layer that says why there is none.
std::variant<CUdevice, Layer> device_of(const Driver& driver, int ordinal, int& count) {
  constexpr std::string_view remedy = "look at nvidia-smi; a container must be given the GPU by its host";
  CUdevice device = 0;
  Trouble trouble = told(driver, driver.cuInit(0), "cuInit");
  if (!trouble) trouble = told(driver, driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (!trouble && (ordinal < 0 || ordinal >= count))
    return Layer{"GPU", "missing", fmt::format("there is no GPU number {}: the driver has {}", ordinal, count),
                 std::string(remedy)};
  if (!trouble) trouble = told(driver, driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  if (trouble) return Layer{"GPU", "missing", trouble.reason, std::string(remedy)};
  return device;
}

Layer driver_layer(const Library& library, const Driver& driver) {
  int version = 0;
  static_cast<void>(driver.cuDriverGetVersion(&version));
  return ok("driver", fmt::format("{}, {}", cuda_text(version), library.file.string()));
}

Layer cupti_layer(const Cupti& api) {
  std::string detail = fmt::format("{}, {}", cupti_text(api.version), api.file.string());
  if (api.version >= CUPTI_API_VERSION) return ok("CUPTI", std::move(detail));
  return {"CUPTI", "limited", fmt::format("{}; Tailor was built for {}", detail, cupti_text(CUPTI_API_VERSION)),
          "install CUPTI of the release that Tailor was built with, or a later one"};
}

/// Timestamps, other profilers, counters.
void add_cupti(std::vector<Layer>& layers, const Places& places, CUdevice device, CUcontext context) {
  std::variant<Cupti, Layer> found = find_cupti(places);
  if (Layer* missing = std::get_if<Layer>(&found)) {
    layers.push_back(std::move(*missing));
    return;
  }
  const Cupti& api = std::get<Cupti>(found);
  layers.push_back(cupti_layer(api));
  const std::string& lacks = api.missing[static_cast<std::size_t>(CuptiPart::activity)];
  // Who has recorded kernels in this process is this process: then nobody else can hold CUPTI.
  const std::string other = context == nullptr ? held_by_another(api) : "";
  const std::string remedy =
      "end the other profiler or debugger (Nsight, cuda-gdb, compute-sanitizer), or start Tailor "
      "outside of it";
  if (!lacks.empty())
    layers.push_back({"kernel timestamps", "missing", "CUPTI has no " + lacks, "install CUPTI of CUDA 12 or later"});
  else if (!other.empty())
    layers.push_back({"kernel timestamps", "missing", other, remedy});
  else
    layers.push_back(ok("kernel timestamps", "CUPTI's activity records"));
  layers.push_back(other.empty() ? ok("other profilers", "none") : Layer{"other profilers", "limited", other, remedy});
  layers.push_back(permission_layer("/proc"));
  layers.push_back(counter_layer(api, device, context));
}

}  // namespace

Layer permission_layer(const std::filesystem::path& proc) {
  constexpr int sys_admin = 21, perfmon = 38;  // bits of capabilities (linux/capability.h)
  const std::string restricted = line_after(proc / "driver/nvidia/params", "RmProfilingAdminOnly:");
  const std::string text = line_after(proc / "self/status", "CapEff:");
  const std::uint64_t capabilities = text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 16);
  const auto has = [&](int bit) { return (capabilities >> bit & 1) != 0; };
  const std::string own = has(sys_admin) ? "CAP_SYS_ADMIN" : has(perfmon) ? "CAP_PERFMON" : "";
  if (restricted.empty()) return ok("counter permission", "the driver does not tell who may read counters");
  if (restricted == "0") return ok("counter permission", "every user may read counters");
  if (!own.empty()) return ok("counter permission", "only administrators may read counters; this process has " + own);
  return {"counter permission", "missing", "only administrators may read counters (RmProfilingAdminOnly is 1)",
          "run as root, or with CAP_PERFMON (driver 565 and later) or CAP_SYS_ADMIN, given to a container by its host; "
          "or load the driver with NVreg_RestrictProfilingToAdminUsers=0"};
}

std::vector<Layer> layers_of(const Places& places, int ordinal, CUcontext context) {
  std::vector<Layer> layers;
  const Library library = open_driver(places);
  if (!library) return {{"driver", "missing", library.why, library.remedy}};
  const Driver driver = functions_of_driver(library);
  if (!driver.why.empty()) return {{"driver", "missing", driver.why, driver.remedy}};
  layers.push_back(driver_layer(library, driver));
  int count = 0;
  const std::variant<CUdevice, Layer> found = device_of(driver, ordinal, count);
  if (const Layer* missing = std::get_if<Layer>(&found)) {
    layers.push_back(*missing);
    return layers;
  }
  const CUdevice device = std::get<CUdevice>(found);
  layers.push_back(
      ok("GPU", fmt::format("{}, {}, number {} of {}, sm_{}{}", name_of(driver, device), uuid_of(driver, device),
                            ordinal, count, attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                            attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))));
  const Library nvml_library = open_nvml(places);
  const Nvml nvml = nvml_of(nvml_library, uuid_of(driver, device), bus_of(driver, device));
  if (nvml.device == nullptr)
    layers.push_back({"NVML", "missing", nvml.why + "; clocks, power and throttling are not known",
                      nvml_library ? "look at nvidia-smi" : nvml_library.remedy});
  else
    layers.push_back(ok("NVML", fmt::format("driver {}, {}", driver_version(nvml), nvml_library.file.string())));
  add_cupti(layers, places, device, context);
  for (Layer& layer : state_layers(nvml)) layers.push_back(std::move(layer));
  return layers;
}

}  // namespace tailor::gpu
