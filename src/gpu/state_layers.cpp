// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The state that a GPU is in, as layers. All of it is looked at and none changed: clocks, power and modes belong to
// whoever owns the machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "gpu/layers.h"

namespace tailor::gpu {
namespace {

constexpr double mega = 1e6;

Layer clock_layer(const Nvml& nvml, const GpuState& state) {
  Layer layer{"clocks",
              "ok",
              fmt::format("SM {:.0f} MHz of at most {:.0f}, memory {:.0f} MHz of at most {:.0f}", state.sm_clock / mega,
                          sm_clock_max(nvml) / mega, state.dram_clock / mega, dram_clock_max(nvml) / mega),
              {}};
  if (state.throttle != 0) {
    layer.state = "limited";
    layer.detail += "; held back: " + ir::throttle_text(state.throttle);
    layer.remedy = "wait until the GPU is cool and idle; samples are marked with what held them back";
  } else if (geteuid() != 0) {
    layer.state = "limited";
    layer.detail += "; this user cannot lock them";
    layer.remedy = "an administrator may lock them (nvidia-smi --lock-gpu-clocks); without, each sample has its clock";
  } else {
    layer.detail += "; not locked by Tailor";
  }
  return layer;
}

Layer power_layer(const Nvml& nvml, const GpuState& state) {
  const double usual = power_limit_default(nvml);
  Layer layer{"power cap", "ok", fmt::format("{:.0f} W now, {:.0f} W allowed", state.power, state.power_limit), {}};
  if (usual <= 0 || state.power_limit >= usual) return layer;
  layer.state = "limited";
  layer.detail += fmt::format(", {:.0f} W by default", usual);
  layer.remedy = "an administrator may lift the cap (nvidia-smi --power-limit)";
  return layer;
}

Layer switch_layer(std::string name, bool on, bool limits, std::string detail, std::string remedy) {
  const std::string said = fmt::format("{}{}", on ? "on" : "off", limits ? "; " + detail : "");
  return {std::move(name), limits ? "limited" : "ok", said, limits ? std::move(remedy) : ""};
}

}  // namespace

std::vector<Layer> state_layers(const Nvml& nvml) {
  std::vector<Layer> layers;
  if (nvml.device == nullptr) return layers;
  if (const auto on = mig_on(nvml))
    layers.push_back(switch_layer("MIG", *on, *on, "an instance has a part of the GPU, and so do its times",
                                  "measure on a GPU without MIG"));
  if (const auto on = ecc_on(nvml)) layers.push_back(switch_layer("ECC", *on, false, {}, {}));
  const GpuState state = state_of(nvml);
  if (state.sm_clock > 0) layers.push_back(clock_layer(nvml, state));
  if (state.power_limit > 0) layers.push_back(power_layer(nvml, state));
  if (const auto on = persistence_on(nvml))
    layers.push_back(switch_layer("persistence", *on, !*on, "the driver lets go of the GPU between processes",
                                  "an administrator may switch it on (nvidia-smi --persistence-mode=1)"));
  if (const auto others = other_processes(nvml)) {
    if (others->empty())
      layers.push_back({"other processes", "ok", "none", {}});
    else
      layers.push_back({"other processes", "limited", fmt::format("on the GPU: {}", fmt::join(*others, ", ")),
                        "end them, or times are of a shared GPU"});
  }
  return layers;
}

}  // namespace tailor::gpu
