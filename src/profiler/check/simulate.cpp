// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Kernel and PTX to launch and memory, and back. In: a kernel's buffers and launch shape. Out: the simulator's records:
// one array of memory for each buffer that owns its own, in the order of the kernel's buffers; what is written in place
// gets the address of its input. The launches of a program run one behind the other over the same memory. Afterwards
// outputs and counters as plain records of `ir`. Where some blocks run, only
// what they touch is made and handed back.
#include "profiler/check/simulate.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/stop.h"
#include "ir/graph/number.h"
#include "profiler/check/repeats.h"
#include "profiler/check/simulated_launch.h"
#include "profiler/simulator/machine/memory.h"
#include "reference/memory_layout.h"

namespace tailor::profiler {

namespace {

/// The entries of a text, in the order of their launches.
struct Decoded {
  std::optional<simulator::PtxModule> module;
  std::vector<simulator::Program> programs;
  std::string reason;
};

Decoded decoded(const ir::Binary& binary) {
  Decoded result;
  try {
    result.module = simulator::parse_ptx(binary.ptx, binary.entry + ".ptx");
    for (const ir::CompiledEntry& one : entries_of(binary)) {
      result.programs.emplace_back(*result.module, simulator::entry_of(*result.module, one.entry));
      if (result.reason.empty()) result.reason = result.programs.back().unsupported();
    }
  } catch (const Error& error) {  // one kernel's PTX is not the end of a sweep
    result.reason = error.at.line > 0 ? std::to_string(error.at.line) + ": " + error.message : error.message;
  }
  return result;
}

/// What a buffer holds before the launch.
struct Filling {
  RepeatedPlaces places;
  std::span<const std::byte> kept;                    ///< of an input: in the order of memory
  std::shared_ptr<const std::vector<std::byte>> own;  ///< of `kept`, where that is not the order of the tensor
  std::int64_t width = 1;
  bool poison = false;  ///< of an output

  void operator()(std::int64_t first, std::span<std::byte> to) const {
    if (poison)
      std::fill(to.begin(), to.end(), simulator::poison_byte);
    else if (!kept.empty())  // a buffer may be longer than what it holds
      copy_repeated(places, kept, width, first,
                    to.first(static_cast<std::size_t>(
                        std::clamp<std::int64_t>(places.elements * width - first, 0, std::ssize(to)))));
  }
};

/// The memory of a kernel, and where in it each of its buffers lies.
struct KernelMemory {
  simulator::Memory memory;
  std::vector<int> place;
  std::vector<Filling> fillings;  ///< by place
};

Filling filling_of_input(const GivenInputs& given, std::size_t input, std::int64_t width) {
  const reference::Tensor& tensor = given.tensors[input];
  Filling filling;
  filling.width = width;
  if (given.repeats != nullptr) {
    const Repeats& repeats = *given.repeats;
    const ir::Graph& graph = repeats.parts.graph;
    filling.places = repeated_places(graph[parameters(graph)[input]].shape, repeats.parts.input_dims[input],
                                     repeats.parts.extent.steps, repeats.kept);
  } else {
    filling.places = repeated_places(tensor.shape, -1, 1, 1);
  }
  filling.kept = tensor.bytes;
  if (!ir::is_row_major(tensor.shape)) {
    const auto own = std::make_shared<std::vector<std::byte>>(tensor.bytes.size());
    reference::to_memory(tensor, *own);
    filling.own = own;
    filling.kept = *own;
  }
  return filling;
}

/// `lazily`: only what the launch touches is made.
KernelMemory memory_of(const ir::Kernel& kernel, const GivenInputs& given, bool lazily, const std::stop_token& stop) {
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
    const std::int64_t bytes = buffer.elements * size;
    // What may hold anything is poisoned as an output is: what a block loads there before it was stored is found.
    const simulator::BufferUse use =
        ir::holds_anything(kernel, id) ? simulator::BufferUse::output : buffer_use(ir::memory_role(kernel, id));
    Filling filling;
    filling.poison = use == simulator::BufferUse::output;
    if (buffer.role == ir::BufferRole::input) filling = filling_of_input(given, input++, size);
    if (lazily) {
      made.place.push_back(made.memory.add_lazily(buffer.name, bytes, size, use, filling));
    } else {
      made.place.push_back(made.memory.add(buffer.name, bytes, size, use));
      constexpr std::int64_t at_once = 1 << 24;  // between two looks at the token
      const std::span<std::byte> all = made.memory.bytes(made.place.back());
      for (std::int64_t first = 0; !filling.kept.empty() && first < bytes; first += at_once) {
        stop_if_asked(stop);
        const std::int64_t count = std::min(at_once, bytes - first);
        filling(first, all.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
      }
    }
    made.fillings.push_back(std::move(filling));
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

/// The pieces of the outputs that the launch touched, before and after.
void add_pieces(const ir::Kernel& kernel, const KernelMemory& memory, const std::stop_token& stop, Executed& to) {
  for (std::size_t i = 0; i < kernel.buffers.size(); ++i) {
    if (!is_result(kernel.buffers[i].role)) continue;
    const int place = memory.place[i];
    const std::span<const std::byte> bytes = memory.memory.bytes(place);
    std::vector<std::byte>&before = to.before.emplace_back(), &after = to.after.emplace_back();
    for (const simulator::ByteRange& piece : to.pieces.emplace_back(memory.memory.touched(place))) {
      stop_if_asked(stop);
      const auto first = static_cast<std::size_t>(piece.first), count = static_cast<std::size_t>(piece.bytes);
      const std::size_t at = after.size();
      after.insert(after.end(), bytes.begin() + piece.first, bytes.begin() + static_cast<std::int64_t>(first + count));
      before.resize(at + count);
      memory.fillings[static_cast<std::size_t>(place)](piece.first, std::span(before).subspan(at));
    }
  }
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

simulator::Launch launch_of(const ir::LaunchShape& shape, const KernelMemory& memory) {
  simulator::Launch launch = simulated_launch(shape);
  for (const int place : memory.place) launch.arguments.push_back({place, 0, {}});
  return launch;
}

/// Adds what a later launch of the same program did; it ends as that one did.
void add_launch(simulator::Simulation& all, simulator::Simulation&& more) {
  all.outcome = more.outcome;
  all.reason = std::move(more.reason);
  std::move(more.findings.begin(), more.findings.end(), std::back_inserter(all.findings));
  for (const simulator::CounterRow& row : simulator::counter_table())
    all.counters.*row.value += more.counters.*row.value;
  for (std::size_t i = 0; i < all.buffers.size() && i < more.buffers.size(); ++i)
    simulator::add(all.buffers[i], more.buffers[i]);
  all.unwritten = std::move(more.unwritten);
  all.printed += more.printed;
  all.printed_all = all.printed_all && more.printed_all;
  all.blocks_run += more.blocks_run;
  all.blocks_total += more.blocks_total;
  all.time += more.time;
}

/// One launch behind the other over the same memory, as far as they finish. What they ask of a cache is counted from an
/// empty one in each.
simulator::Simulation simulate_all(const std::vector<simulator::Program>& programs,
                                   const std::vector<ir::LaunchShape>& shapes, KernelMemory& memory,
                                   simulator::SimulationOptions options) {
  simulator::Simulation all;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    simulator::Simulation one = simulator::simulate(programs[i], launch_of(shapes[i], memory), memory.memory, options);
    options.time_limit.value = std::max(options.time_limit.value - one.time.value, 0.0);
    options.machine.blocks_per_sm = 0;  // the plan says it of its first kernel
    if (i == 0)
      all = std::move(one);
    else
      add_launch(all, std::move(one));
    if (all.outcome != simulator::SimulationOutcome::finished) break;
  }
  return all;
}

}  // namespace

Executor make_simulator(const ir::Kernel& kernel, const ir::Binary& binary) {
  std::vector<ir::LaunchShape> shapes;
  for (const Chain<ir::Kernel>& launch : launches_of(kernel)) shapes.push_back(launch_shape(launch));
  return make_simulator_of(kernel, binary, std::move(shapes));
}

Executor make_simulator_of(const ir::Kernel& kernel, const ir::Binary& binary, std::vector<ir::LaunchShape> shapes) {
  auto made = std::make_shared<Decoded>(decoded(binary));
  if (made->reason.empty() && made->programs.size() != shapes.size())
    made->reason = "a binary with another number of kernels than its program";
  const std::shared_ptr<const Decoded> shared = std::move(made);
  return [&kernel, shared, shapes](const GivenInputs& given, const simulator::SimulationOptions& options) {
    Executed executed;
    if (!shared->reason.empty()) {
      executed.simulation.outcome = simulator::SimulationOutcome::unsupported;
      executed.simulation.reason = shared->reason;
      return executed;
    }
    const bool some = !options.blocks.empty();
    KernelMemory memory = memory_of(kernel, given, some, options.stop);
    if (!some) executed.before = outputs_of(kernel, memory, options.stop);
    executed.simulation = simulate_all(shared->programs, shapes, memory, options);
    if (some)
      add_pieces(kernel, memory, options.stop, executed);
    else
      executed.after = outputs_of(kernel, memory, options.stop);
    inspect_tickets(kernel, memory, executed.simulation);
    return executed;
  };
}

}  // namespace tailor::profiler
