// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the simulator: whatever text the PTX reader accepts is either refused with an Error, said to be unsupported,
// or runs to an outcome, the same with the fastest and the plainest handlers. Anything else (a crash, another
// exception, a leak, no end) is a bug. Two blocks of 64 threads run each entry with the sanitizers on; 8-byte
// parameters point to four small buffers in turn, others hold small numbers. Texts that declare much memory are left
// alone: that they take it is no bug.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "profiler/simulator/decode/opcode.h"
#include "profiler/simulator/machine/launch.h"

namespace {

using namespace tailor::simulator;

constexpr std::int64_t most_declared = 1 << 20, buffer_bytes = 1024;

bool modest(const PtxModule& module) {
  std::int64_t bytes = 0;
  const auto add = [&](const std::vector<PtxVariable>& variables) {
    for (const PtxVariable& one : variables)
      bytes = std::min(bytes + std::clamp<std::int64_t>(one.bytes, 0, most_declared) +
                           std::clamp<std::int64_t>(one.align, 0, most_declared),
                       most_declared);
  };
  add(module.variables);
  for (const PtxFunction& function : module.functions) {
    add(function.params);
    add(function.results);
    add(function.variables);
  }
  return bytes < most_declared;
}

/// What the launch left and said, as one text.
std::string run(const PtxModule& module, const PtxFunction& entry, std::string_view instruction_set) {
  const Program program(module, entry, instruction_set);
  Memory memory;
  Launch launch;
  launch.grid = {2, 1, 1};
  launch.block = {64, 1, 1};
  for (std::size_t d = 0; d < 3; ++d)
    if (entry.reqntid[0] != 0) launch.block[d] = std::clamp<std::uint32_t>(entry.reqntid[d], 1, d == 0 ? 64 : 2);
  launch.dynamic_shared = 256;
  for (std::size_t i = 0; i < 4; ++i) {
    const int made = memory.add("buffer", buffer_bytes, 4, i == 0 ? BufferUse::input : BufferUse::both);
    std::memset(memory.bytes(made).data(), static_cast<int>(i), buffer_bytes);
  }
  int pointers = 0;
  for (const PtxVariable& one : entry.params) {
    Argument made;
    if (one.bytes == 8) {
      made.buffer = pointers++ % 4;
    } else {
      made.value.assign(static_cast<std::size_t>(one.bytes), std::byte{0});
      if (!made.value.empty()) made.value[0] = std::byte{3};
    }
    launch.arguments.push_back(std::move(made));
  }
  SimulationOptions options;
  options.warp_instructions = 2000;
  options.machine.sms = 2;
  options.count_cache = true;
  const Simulation done = simulate(program, launch, memory, options);
  if (!program.unsupported().empty() && done.outcome == SimulationOutcome::finished) std::abort();
  std::string said = done.reason;
  for (const Finding& one : done.findings) said += describe(one);
  for (const CounterRow& row : counter_table()) said += std::to_string(done.counters.*row.value) + " ";
  for (int i = 0; i < memory.buffers(); ++i) {
    const auto bytes = memory.bytes(i);
    said.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return said;
}

void check(const PtxModule& module, const PtxFunction& entry) {
  const std::vector<std::string_view> sets = lane_table_names();
  if (run(module, entry, sets.front()) != run(module, entry, sets.back())) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const auto module = parse_ptx({reinterpret_cast<const char*>(bytes), size}, "fuzz.ptx");
    if (!modest(module)) return 0;
    for (const PtxFunction& one : module.functions)
      if (one.entry) check(module, one);
  } catch (const tailor::Error&) {
  }
  return 0;
}
