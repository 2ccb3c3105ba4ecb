// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of models. In: a model's name. Out: its row: what it sees, what it accounts for, its function. Called by
// the commands that rank, by sweeps and by `tailor list models`. A row's function is in a file of its own (sol,
// projected, counted, library).
#include "costmodel/model.h"

#include <algorithm>
#include <array>

namespace tailor::costmodel {

namespace {

constexpr std::array table = std::to_array<Model>({
    {"sol", ir::Level::sol, "group, device", "bytes once, operations, launch", true,
     [](const ModelInputs& inputs) { return sol(*inputs.group, *inputs.device, inputs.regime); }},
    {"group", ir::Level::sol, "summary of a group, device",
     "bytes once, operations, launch, grid barriers, values that cross them", false,
     [](const ModelInputs& inputs) { return group(*inputs.summary, *inputs.device, inputs.regime); }},
    {"projected", ir::Level::projected, "kernel, device",
     "pipes, registers, occupancy, waves, warp latency, bytes in flight, L2 residency, barriers, atomics, launch", true,
     [](const ModelInputs& inputs) { return projected(*inputs.work, *inputs.device, inputs.regime); }},
    {"compiled", ir::Level::compiled, "kernel, binary, device",
     "as projected, with real registers and spills, and instructions as the machine code executes them", false,
     [](const ModelInputs& inputs) {
       return compiled(*inputs.work, *inputs.binary, *inputs.device, inputs.regime, inputs.machine);
     }},
    {"counted", ir::Level::counted, "kernel, binary, counters, device",
     "as compiled, with requests, sectors, wavefronts, shuffles, barriers and instructions as executed", false,
     [](const ModelInputs& inputs) {
       return counted(*inputs.work, *inputs.binary, *inputs.counts, *inputs.device, inputs.regime);
     }},
    {"library", ir::Level::sol, "library call, device", "bytes once, launch", false,
     [](const ModelInputs& inputs) { return library(*inputs.library, *inputs.device, inputs.regime); }},
    {"xla-model", ir::Level::sol, "graph of a group, XLA's description of the device",
     "what XLA's performance model does: its emitters' launches, bytes with repeats, its costs per operation", false,
     [](const ModelInputs& inputs) { return xla_model(*inputs.graph, *inputs.device, inputs.regime); }},
});

}  // namespace

std::span<const Model> models() { return table; }

const Model* find_model(std::string_view name) {
  const auto at = std::find_if(table.begin(), table.end(), [&](const Model& model) { return model.name == name; });
  return at == table.end() ? nullptr : &*at;
}

}  // namespace tailor::costmodel
