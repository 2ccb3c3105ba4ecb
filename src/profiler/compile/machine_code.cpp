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

#include "profiler/compile/operation.h"

namespace tailor::profiler {

namespace {

constexpr int scoreboards = 6;

}  // namespace

MachineCode read_machine_code(std::span<const std::byte> code, int arch) {
  MachineCode made;
  if (arch < first_decoded_arch || code.size() % instruction_bytes != 0) return made;
  std::array<std::int64_t, scoreboards> raised{};
  for (std::size_t number = 0; number < code.size() / instruction_bytes; ++number) {
    const Instruction one = instruction_at(code, number);
    if (one.base() == bases::nop) continue;
    ++made.instructions;
    const unsigned waits = one.bits(116, 6), raises = one.bits(110, 3);
    for (unsigned i = 0; i < scoreboards; ++i)
      if ((waits >> i & 1) != 0) raised[i] = 0;
    if (one.base() != bases::ldg) continue;
    ++made.global_loads;
    if (raises < scoreboards) ++raised[raises];
    std::int64_t outstanding = 0;
    for (const std::int64_t loads : raised) outstanding += loads;
    made.loads_outstanding = std::max(made.loads_outstanding, outstanding);
  }
  return made;
}

}  // namespace tailor::profiler
