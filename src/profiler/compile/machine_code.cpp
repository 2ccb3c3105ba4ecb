// SPDX-FileCopyrightText: 2026 The Tailor authors
// SPDX-License-Identifier: Apache-2.0
//
// In: the bytes of a .text section. Out: counts of its loads. Called by compile.cpp.
//
// From sm_70 on an instruction has 128 bits. The low 12 are the operation with the form of its operands. Results of
// loads arrive at no fixed time, so the hardware has six counters, the scoreboards: a load names one that it raises
// until its data is there, and an instruction that needs the data says in a mask of six bits which scoreboards must
// be down before it may issue. The assembler writes both into the upper half of each instruction:
//
//   bits 105-108  cycles to the next instruction      110-112  scoreboard raised until the result is written (7: none)
//   bit  109      yield                               113-115  scoreboard raised until the operands are read
//                                                     116-121  scoreboards to wait for before this one issues
//
// So the loads that are outstanding are those whose scoreboard nobody has waited for. The code is read once from its
// first to its last byte: every branch is taken to fall through, and a loop is passed once. That is exact for the
// straight code between two waits, which is what a flight of loads is.
//
// The layout was read off cubins for sm_80 to sm_120 with NVIDIA's disassembler; it is the one that published
// microbenchmarks of Volta and Turing describe (Jia et al., arXiv:1804.06826, arXiv:1903.07486).
#include "profiler/compile/machine_code.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tailor::profiler {

namespace {

constexpr std::size_t instruction_bytes = 16;
constexpr int first_arch = 70;  // with instructions of 128 bits
constexpr int scoreboards = 6;

constexpr std::uint64_t no_operation = 0x918;
/// Loads from global memory: the address in a register, and in a register with a descriptor.
constexpr std::array<std::uint64_t, 2> load_global = {0x381, 0x981};

struct Instruction {
  std::uint64_t operation = 0;
  unsigned waits = 0;   ///< a bit for each scoreboard
  unsigned raises = 0;  ///< until the result is written; 7: none
};

Instruction instruction_at(std::span<const std::byte> code, std::size_t at) {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, code.data() + at, sizeof low);
  std::memcpy(&high, code.data() + at + sizeof low, sizeof high);
  return {low & 0xfff, static_cast<unsigned>(high >> (116 - 64)) & 0x3f,
          static_cast<unsigned>(high >> (110 - 64)) & 0x7};
}

}  // namespace

MachineCode read_machine_code(std::span<const std::byte> code, int arch) {
  MachineCode made;
  if (arch < first_arch || code.size() % instruction_bytes != 0) return made;
  std::array<std::int64_t, scoreboards> raised{};
  for (std::size_t at = 0; at < code.size(); at += instruction_bytes) {
    const Instruction instruction = instruction_at(code, at);
    if (instruction.operation == no_operation) continue;
    ++made.instructions;
    for (unsigned i = 0; i < scoreboards; ++i)
      if ((instruction.waits >> i & 1) != 0) raised[i] = 0;
    if (std::find(load_global.begin(), load_global.end(), instruction.operation) == load_global.end()) continue;
    ++made.global_loads;
    if (instruction.raises < scoreboards) ++raised[instruction.raises];
    std::int64_t outstanding = 0;
    for (const std::int64_t loads : raised) outstanding += loads;
    made.loads_outstanding = std::max(made.loads_outstanding, outstanding);
  }
  return made;
}

}  // namespace tailor::profiler
