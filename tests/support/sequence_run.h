// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// A sequence of launches on the simulator: every image is PTX, buffers have the roles a GPU would give them, and what
// comes back is what a GPU would send: outputs, buffers of both roles and scratch, one after the other. Used in place
// of a GPU by tests of XLA's kernels, of microbenchmarks and of whole models.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "profiler/gpu/request/sequence.h"
#include "profiler/simulator/machine/launch.h"
#include "profiler/simulator/ptx/ptx.h"

namespace tailor::testing {

struct SequenceRun {
  std::vector<std::byte> outputs;
  std::vector<simulator::Finding> findings;
  std::vector<simulator::BufferCounters> buffers;  ///< of the last launch
  std::string reason;                              ///< of the first launch that did not finish
};

/// A copy or a fill, as the driver does it.
inline void transfer(const gpu::Launch& step, simulator::Memory& memory) {
  const auto at = [&](const gpu::Argument& place) {
    return memory.bytes(place.buffer)
        .subspan(static_cast<std::size_t>(place.offset), static_cast<std::size_t>(step.bytes));
  };
  const std::span<std::byte> to = at(step.arguments.front());
  if (step.kind == gpu::StepKind::copy) {
    std::ranges::copy(at(step.arguments.back()), to.begin());
    return;
  }
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<std::byte>(step.word >> 8 * (i % 4));
}

inline SequenceRun run_sequence(const gpu::Sequence& sequence, std::span<const std::byte> inputs,
                                simulator::SimulationOptions options = {}) {
  constexpr simulator::BufferUse uses[] = {simulator::BufferUse::input, simulator::BufferUse::output,
                                           simulator::BufferUse::both, simulator::BufferUse::scratch};
  SequenceRun run;
  simulator::Memory memory;
  std::size_t filled = 0;
  for (const gpu::Buffer& buffer : sequence.buffers) {
    const int at = memory.add(buffer.name, buffer.bytes, 4, uses[static_cast<std::size_t>(buffer.role)]);
    if (buffer.role != gpu::BufferRole::input && buffer.role != gpu::BufferRole::in_place) continue;
    std::copy_n(inputs.begin() + static_cast<std::ptrdiff_t>(filled), buffer.bytes, memory.bytes(at).begin());
    filled += static_cast<std::size_t>(buffer.bytes);
  }
  for (const gpu::Launch& launch : sequence.launches) {
    if (!gpu::is_kernel(launch)) {
      transfer(launch, memory);
      continue;
    }
    const gpu::Image& image = sequence.images[static_cast<std::size_t>(launch.image)];
    std::string ptx(image.code.size(), ' ');
    std::transform(image.code.begin(), image.code.end(), ptx.begin(), [](std::byte b) { return static_cast<char>(b); });
    const simulator::PtxModule module = simulator::parse_ptx(ptx, image.name);
    const simulator::Program program(module, simulator::entry_of(module, launch.entry));
    simulator::Launch mine{launch.grid, launch.block, launch.cluster, launch.dynamic_shared, launch.cooperative, {}};
    for (const gpu::Argument& argument : launch.arguments)
      mine.arguments.push_back({argument.buffer, argument.offset, argument.value});
    const simulator::Simulation done = simulator::simulate(program, mine, memory, options);
    run.findings.insert(run.findings.end(), done.findings.begin(), done.findings.end());
    run.buffers = done.buffers;
    if (done.outcome != simulator::SimulationOutcome::finished && run.reason.empty()) run.reason = done.reason;
  }
  for (int i = 0; i < memory.buffers(); ++i) {
    if (sequence.buffers[static_cast<std::size_t>(i)].role == gpu::BufferRole::input) continue;
    const std::span<const std::byte> bytes = std::as_const(memory).bytes(i);
    run.outputs.insert(run.outputs.end(), bytes.begin(), bytes.end());
  }
  return run;
}

}  // namespace tailor::testing
