// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Driver, GPU, NVML, CUPTI, timestamps, other profilers, counters, then the state the GPU is in: ECC, MIG, clocks,
// power, other processes. Where a capability is missing, those that need it are not asked for. All of it is looked at
// and none changed: clocks, power and modes belong to whoever owns the machine. Called by gpu.cpp.
#include "profiler/gpu/session/capabilities.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <fstream>
#include <string_view>
#include <variant>

#include "base/indexed.h"
#include "profiler/gpu/cupti/count.h"
#include "profiler/gpu/cupti/trace.h"
#include "profiler/gpu/session/open.h"

namespace tailor::gpu {
namespace {

Capability ok(std::string name, std::string detail) { return {std::move(name), "ok", std::move(detail), {}}; }

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
std::variant<CUdevice, Capability> device_of(const Driver& driver, int ordinal, int& count) {
  constexpr std::string_view remedy = "look at nvidia-smi; a container must be given the GPU by its host";
  CUdevice device = 0;
  CudaStatus status = to_status(driver, driver.cuInit(0), "cuInit");
  if (status.ok()) status = to_status(driver, driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (status.ok() && (ordinal < 0 || ordinal >= count))
    return Capability{"GPU", "missing", fmt::format("there is no GPU number {}: the driver has {}", ordinal, count),
                      std::string(remedy)};
  if (status.ok()) status = to_status(driver, driver.cuDeviceGet(&device, ordinal), "cuDeviceGet");
  if (!status.ok()) return Capability{"GPU", "missing", status.reason, std::string(remedy)};
  return device;
}

Capability driver_layer(const Library& library, const Driver& driver) {
  int version = 0;
  static_cast<void>(driver.cuDriverGetVersion(&version));
  return ok("driver", fmt::format("{}, {}", cuda_text(version), library.file.string()));
}

Capability cupti_layer(const Cupti& api) {
  std::string detail = fmt::format("{}, {}", cupti_text(api.version), api.file.string());
  if (api.version >= CUPTI_API_VERSION) return ok("CUPTI", std::move(detail));
  return {"CUPTI", "limited", fmt::format("{}; Tailor was built for {}", detail, cupti_text(CUPTI_API_VERSION)),
          "install CUPTI of the release that Tailor was built with, or a later one"};
}

/// To trace: timestamps, other profilers. To count: permission, counters.
void add_cupti(std::vector<Capability>& capabilities, const LibraryPaths& paths, Use use, CUdevice device,
               CUcontext context) {
  std::variant<Cupti, Capability> found = find_cupti(paths);
  if (Capability* missing = std::get_if<Capability>(&found)) {
    capabilities.push_back(std::move(*missing));
    return;
  }
  const Cupti& api = std::get<Cupti>(found);
  capabilities.push_back(cupti_layer(api));
  if (use == Use::count) {
    capabilities.push_back(permission_capability("/proc"));
    capabilities.push_back(counter_capability(api, device, context));
    return;
  }
  const std::string& lacks = row_for(api.missing, CuptiPart::activity);
  // Who has recorded kernels in this process is this process: then nobody else can hold CUPTI.
  const std::string other = context == nullptr ? held_by_another(api) : "";
  const std::string remedy =
      "end the other profiler or debugger (Nsight, cuda-gdb, compute-sanitizer), or start Tailor "
      "outside of it";
  if (!lacks.empty())
    capabilities.push_back(
        {"kernel timestamps", "missing", "CUPTI has no " + lacks, "install CUPTI of CUDA 12 or later"});
  else if (!other.empty())
    capabilities.push_back({"kernel timestamps", "missing", other, remedy});
  else
    capabilities.push_back(ok("kernel timestamps", "CUPTI's activity records"));
  capabilities.push_back(other.empty() ? ok("other profilers", "none")
                                       : Capability{"other profilers", "limited", other, remedy});
}

constexpr double mega = 1e6;

Capability clock_capability(const Nvml& nvml, const GpuState& state) {
  Capability capability{
      "clocks",
      "ok",
      fmt::format("SM {:.0f} MHz of at most {:.0f}, memory {:.0f} MHz of at most {:.0f}", state.sm_clock / mega,
                  sm_clock_max(nvml) / mega, state.dram_clock / mega, dram_clock_max(nvml) / mega),
      {}};
  if (state.throttle != 0) {
    capability.state = "limited";
    capability.detail += "; held back: " + ir::throttle_text(state.throttle);
    capability.remedy = "wait until the GPU is cool and idle; samples are marked with what held them back";
  } else if (geteuid() != 0) {
    capability.state = "limited";
    capability.detail += "; this user cannot lock them";
    capability.remedy =
        "an administrator may lock them (nvidia-smi --lock-gpu-clocks); without, each sample has its clock";
  } else {
    capability.detail += "; not locked by Tailor";
  }
  return capability;
}

Capability power_capability(const Nvml& nvml, const GpuState& state) {
  const double usual = power_limit_default(nvml);
  Capability capability{
      "power cap", "ok", fmt::format("{:.0f} W now, {:.0f} W allowed", state.power, state.power_limit), {}};
  if (usual <= 0 || state.power_limit >= usual) return capability;
  capability.state = "limited";
  capability.detail += fmt::format(", {:.0f} W by default", usual);
  capability.remedy = "an administrator may lift the cap (nvidia-smi --power-limit)";
  return capability;
}

Capability switch_capability(std::string name, bool on, bool limits, std::string detail, std::string remedy) {
  const std::string said = fmt::format("{}{}", on ? "on" : "off", limits ? "; " + detail : "");
  return {std::move(name), limits ? "limited" : "ok", said, limits ? std::move(remedy) : ""};
}

}  // namespace

Capability permission_capability(const std::filesystem::path& proc) {
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

std::vector<Capability> state_capabilities(const Nvml& nvml) {
  std::vector<Capability> capabilities;
  if (nvml.device == nullptr) return capabilities;
  if (const auto on = mig_on(nvml))
    capabilities.push_back(switch_capability("MIG", *on, *on, "an instance has a part of the GPU, and so do its times",
                                             "measure on a GPU without MIG"));
  if (const auto on = ecc_on(nvml)) capabilities.push_back(switch_capability("ECC", *on, false, {}, {}));
  const GpuState state = read_state(nvml);
  if (state.sm_clock > 0) capabilities.push_back(clock_capability(nvml, state));
  if (state.power_limit > 0) capabilities.push_back(power_capability(nvml, state));
  if (const auto on = persistence_on(nvml))
    capabilities.push_back(switch_capability("persistence", *on, !*on,
                                             "the driver lets go of the GPU between processes",
                                             "an administrator may switch it on (nvidia-smi --persistence-mode=1)"));
  if (const auto others = other_processes(nvml)) {
    if (others->empty())
      capabilities.push_back({"other processes", "ok", "none", {}});
    else
      capabilities.push_back({"other processes", "limited", fmt::format("on the GPU: {}", fmt::join(*others, ", ")),
                              "end them, or times are of a shared GPU"});
  }
  return capabilities;
}

std::vector<Capability> find_capabilities(const LibraryPaths& paths, int ordinal, Use use, CUcontext context) {
  std::vector<Capability> capabilities;
  const Library library = open_driver(paths);
  if (!library) return {{"driver", "missing", library.reason, library.remedy}};
  const Driver driver = load_driver_functions(library);
  if (!driver.reason.empty()) return {{"driver", "missing", driver.reason, driver.remedy}};
  capabilities.push_back(driver_layer(library, driver));
  int count = 0;
  const std::variant<CUdevice, Capability> found = device_of(driver, ordinal, count);
  if (const Capability* missing = std::get_if<Capability>(&found)) {
    capabilities.push_back(*missing);
    return capabilities;
  }
  const CUdevice device = std::get<CUdevice>(found);
  capabilities.push_back(
      ok("GPU", fmt::format("{}, {}, number {} of {}, sm_{}{}", name_of(driver, device), uuid_of(driver, device),
                            ordinal, count, attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                            attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))));
  const Library nvml_library = open_nvml(paths);
  const Nvml nvml = open_nvml_device(nvml_library, uuid_of(driver, device), bus_of(driver, device));
  if (nvml.device == nullptr)
    capabilities.push_back({"NVML", "missing", nvml.reason + "; clocks, power and throttling are not known",
                            nvml_library ? "look at nvidia-smi" : nvml_library.remedy});
  else
    capabilities.push_back(ok("NVML", fmt::format("driver {}, {}", driver_version(nvml), nvml_library.file.string())));
  if (use != Use::events) add_cupti(capabilities, paths, use, device, context);
  for (Capability& capability : state_capabilities(nvml)) capabilities.push_back(std::move(capability));
  return capabilities;
}

}  // namespace tailor::gpu
