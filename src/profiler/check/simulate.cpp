// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel and PTX to launch and memory, and back. In: a kernel's buffers and launch shape. Out: the simulator's
// records, filled in the order of the kernel's arguments; afterwards outputs and counters as plain records of
// `ir`.
#include "profiler/check/simulate.h"

#include <memory>
#include <optional>

#include "base/error.h"
#include "ir/number.h"
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

/// Inputs, then outputs, as the kernel's arguments are.
simulator::Memory memory_of(const ir::Kernel& kernel, std::span<const reference::Tensor> inputs) {
  using simulator::BufferUse;
  simulator::Memory memory;
  std::size_t input = 0;
  for (const ir::Buffer& buffer : kernel.buffers) {
    const int size = ir::element_bytes(buffer.dtype);
    // A kernel that adds into its outputs finds zeros there.
    const BufferUse use = !buffer.output      ? BufferUse::input
                          : kernel.idempotent ? BufferUse::output
                                              : BufferUse::scratch;
    const int at = memory.add(buffer.name, buffer.elements * size, size, use);
    if (buffer.output) continue;
    reference::to_memory(inputs[input++], memory.bytes(at));
  }
  return memory;
}

std::vector<std::vector<std::byte>> outputs_of(const ir::Kernel& kernel, const simulator::Memory& memory) {
  std::vector<std::vector<std::byte>> outputs;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (!kernel.buffers[i].output) continue;
    const std::span<const std::byte> bytes = memory.bytes(static_cast<int>(i));
    outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return outputs;
}

simulator::Launch launch_of(const ir::Kernel& kernel) {
  simulator::Launch launch;
  launch.grid[0] = static_cast<std::uint32_t>(kernel.grid);
  launch.block[0] = static_cast<std::uint32_t>(kernel.threads);
  launch.dynamic_shared = kernel.dynamic_shared ? kernel.shared_bytes : 0;
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) launch.arguments.push_back({static_cast<int>(i), 0, {}});
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
    simulator::Memory memory = memory_of(kernel, inputs);
    executed.before = outputs_of(kernel, memory);
    executed.simulation = simulator::simulate(*shared->program, launch_of(kernel), memory, options);
    executed.after = outputs_of(kernel, memory);
    return executed;
  };
}

}  // namespace tailor::profiler
