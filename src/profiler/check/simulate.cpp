// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel and PTX to launch and memory, and back. In: a kernel's buffers and launch shape. Out: the simulator's records:
// one array of memory for each buffer that owns its own, in the order of the kernel's buffers; what is written in place
// gets the address of its input. Afterwards outputs and counters as plain records of `ir`.
#include "profiler/check/simulate.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/stop.h"
#include "ir/graph/number.h"
#include "profiler/check/simulated_launch.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

struct Decoded {
  std::optional<simulator::PtxModule> module;
  std::optional<simulator::Program> program;
  std::string reason;
};

Decoded decoded(const ir::Binary& binary) {
  Decoded result;
  try {
    result.module = simulator::parse_ptx(binary.ptx, binary.entry + ".ptx");
    result.program.emplace(*result.module, simulator::entry_of(*result.module, binary.entry));
    result.reason = result.program->unsupported();
  } catch (const Error& error) {  // one kernel's PTX is not the end of a sweep
    result.reason = error.at.line > 0 ? std::to_string(error.at.line) + ": " + error.message : error.message;
  }
  return result;
}

/// The memory of a kernel, and where in it each of its buffers lies.
struct KernelMemory {
  simulator::Memory memory;
  std::vector<int> place;
};

KernelMemory memory_of(const ir::Kernel& kernel, std::span<const reference::Tensor> inputs,
                       const std::stop_token& stop) {
  KernelMemory made;
  std::size_t input = 0;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    stop_if_asked(stop);
    const ir::Buffer& buffer = kernel.buffers[i];
    const auto id = static_cast<ir::BufferId>(i);
    if (ir::owner(kernel, id) != id) {
      made.place.push_back(made.place[ir::owner(kernel, id)]);
      continue;
    }
    const int size = ir::element_bytes(buffer.dtype);
    made.place.push_back(
        made.memory.add(buffer.name, buffer.elements * size, size, buffer_use(ir::memory_role(kernel, id))));
    if (buffer.role == ir::BufferRole::input)
      reference::to_memory(inputs[input++], made.memory.bytes(made.place.back()));
  }
  return made;
}

std::vector<std::vector<std::byte>> outputs_of(const ir::Kernel& kernel, const KernelMemory& memory,
                                               const std::stop_token& stop) {
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (!is_result(kernel.buffers[i].role)) continue;
    stop_if_asked(stop);
    const std::span<const std::byte> bytes = memory.memory.bytes(memory.place[i]);
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

/// A ticket that is not zero again would make the next launch count from there.
void inspect_tickets(const ir::Kernel& kernel, const KernelMemory& memory, simulator::Simulation& simulation) {
  if (simulation.outcome != simulator::SimulationOutcome::finished || simulation.blocks_run != simulation.blocks_total)
    return;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (kernel.buffers[i].role != ir::BufferRole::ticket) continue;
    const std::span<const std::byte> bytes = memory.memory.bytes(memory.place[i]);
    if (std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{0}; })) continue;
    simulator::Finding finding;
    finding.text = "ticket '" + kernel.buffers[i].name + "' is not zero after the launch";
    finding.buffer = memory.place[i];
    simulation.findings.push_back(std::move(finding));
  }
}

simulator::Launch launch_of(const ir::Kernel& kernel, const KernelMemory& memory) {
  simulator::Launch launch = simulated_launch(launch_shape(kernel));
  for (const int place : memory.place) launch.arguments.push_back({place, 0, {}});
  return launch;
}

}  // namespace

Executor make_simulator(const ir::Kernel& kernel, const ir::Binary& binary) {
  const auto shared = std::make_shared<const Decoded>(decoded(binary));
  return [&kernel, shared](std::span<const reference::Tensor> inputs, const simulator::SimulationOptions& options) {
    Executed executed;
    if (!shared->reason.empty()) {
      executed.simulation.outcome = simulator::SimulationOutcome::unsupported;
      executed.simulation.reason = shared->reason;
      return executed;
    }
    KernelMemory memory = memory_of(kernel, inputs, options.stop);
    executed.before = outputs_of(kernel, memory, options.stop);
    executed.simulation = simulator::simulate(*shared->program, launch_of(kernel, memory), memory.memory, options);
    executed.after = outputs_of(kernel, memory, options.stop);
    inspect_tickets(kernel, memory, executed.simulation);
    return executed;
  };
}

}  // namespace tailor::profiler
