// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The state that a GPU is in, as layers. All of it is looked at and none changed: clocks, power and modes belong to
// whoever owns the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "profiler/gpu/capabilities.h"

namespace tailor::gpu {
namespace {

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

}  // namespace tailor::gpu
